"""Runs the code blocks of a page of the documentation, in order and in one folder."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from commands import evenhand

PAGES = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Ran(NamedTuple):
    """A command or a block of Python, and what it printed."""

    code: str
    out: str


def run_page(name: str, *, skip: tuple[str, ...] = ("pip ",)) -> list[Ran]:
    """Run every `console` and `python` block of a page in the current folder.

    skip: how commands begin that are not run. A command that fails is an error of the test.
    """
    text = (PAGES / name).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    ran = []
    for kind, body in BLOCK.findall(text):
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(body, name, "exec"), names)
            ran.append(Ran(body, out.getvalue()))
            continue
        for line in body.splitlines():
            if not line.startswith(skip):
                program, *words = shlex.split(line)
                assert program == "evenhand", line
                done = evenhand(*words)
                assert done.code == 0, f"{line}\n{done.err}"
                ran.append(Ran(line, done.out))
    return ran
