"""Runs the code blocks of a page of the documentation, in order and in one folder.

`console` blocks are commands of evenhand (or `python FILE`, `pytest ...`), one in each line;
`python` blocks share their names. A comment before a block says what else is to be known of it:

    <!-- needs: data -->      only where the published data is; the word DIR is its folder
    <!-- needs: torch -->     only where torch is
    <!-- exit: 1 -->          the exit codes that are right, 0 where nothing is said
    <!-- file: NAME -->       not run: the block is written to a file of this name
    <!-- not run: WHY -->     not run

A `text` block that follows a block at once, or stands in a block of numbers, is what that printed:
every line must come in this order, `...` stands for anything.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from commands import Outcome, evenhand

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs"
COLUMNS = 100  # of the terminal, as in docs/tutorial_record.py
_PART = re.compile(
    r"^```(?P<kind>\w*)\n(?P<body>.*?)^```$|^<!-- (?P<key>[a-z ]+): (?P<value>.*?) -->$",
    re.MULTILINE | re.DOTALL,
)


class PageError(AssertionError):
    """A block that does not do what its page says."""


class Ran(NamedTuple):
    """A command or a block of Python, and what it printed."""

    code: str
    out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A block of a page with what the page says of it."""

    kind: str  # console, python, text, or another language
    body: str
    needs: frozenset[str] = frozenset()
    codes: frozenset[int] = frozenset({0})
    file: str = ""
    is_run: bool = True
    is_output: bool = False  # whether it is what the block before it printed


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a page in their order."""
    said: dict[str, str] = {}
    end = -1  # of the last block, as long as nothing but a comment followed it
    for part in _PART.finditer(text):
        if part["key"]:
            said[part["key"]] = part["value"]
            continue
        follows = end >= 0 and not text[end : part.start()].strip()
        yield Block(
            kind=part["kind"],
            body=part["body"],
            needs=frozenset(said.get("needs", "").split()),
            codes=frozenset(map(int, said.get("exit", "0").split())),
            file=said.get("file", ""),
            is_run=part["kind"] in ("console", "python") and not {"file", "not run"} & said.keys(),
            is_output=part["kind"] == "text" and (follows or "numbers" in said),
        )
        said, end = {}, part.end()


def check_output(expected: str, printed: str) -> None:
    """Raise PageError where a line of the page was not printed, or not in this order."""
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for line in expected.splitlines():
        wanted = " ".join(line.split())
        if wanted in ("", "..."):
            continue
        pattern = re.compile(".*".join(map(re.escape, wanted.split("..."))))
        if not any(pattern.fullmatch(line) for line in lines):
            raise PageError(f"the page says '{wanted}', but printed was:\n{printed}")


def has(need: str, data: Path | None) -> bool:
    """Whether this machine has what a block needs."""
    return data is not None if need == "data" else importlib.util.find_spec(need) is not None


def run_page(page: str | Path, *, data: Path | None = None) -> list[Ran]:
    """Run the blocks of a page in the current folder.

    page: its name in docs, or its path. data: the folder of published data, None where there is
    none. Raises PageError where a command ends with another exit code than the page says, or
    prints something else.
    """
    text = (PAGES / page).read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    ran: list[Ran] = []
    is_skipped = False  # whether the block before was not run
    for block in blocks_of(text):
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.body, encoding="utf-8")
        elif block.is_output and ran and not is_skipped:
            check_output(block.body, ran[-1].out)
        elif block.is_run:
            is_skipped = not all(has(need, data) for need in block.needs)
            if not is_skipped:
                ran += _python(block, names) if block.kind == "python" else _console(block, data)
        elif block.kind in ("console", "python"):
            is_skipped = True
    return ran


def _python(block: Block, names: dict[str, object]) -> list[Ran]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.body, "a block of the page", "exec"), names)
    return [Ran(block.body, out.getvalue())]


def _console(block: Block, data: Path | None) -> list[Ran]:
    ran = []
    for line in block.body.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words or words[0] == "pip":
            continue
        program, *words = [str(data) if word == "DIR" else word for word in words]
        if program == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                runpy.run_path(words[0], run_name="__main__")
            ran.append(Ran(line, out.getvalue()))
            continue
        if program == "pytest":
            done = _pytest(words)
        elif program == "evenhand":
            done = evenhand(*words, columns=COLUMNS)
        else:
            raise PageError(f"a page may run evenhand, python, pytest and pip, not '{line}'")
        if done.code not in block.codes:
            raise PageError(f"{line}\nended with {done.code}\n{done.err}{done.out}")
        ran.append(Ran(line, done.out))
    return ran


def _pytest(words: Sequence[str]) -> Outcome:
    """Pytest in a process of its own, with the plug-in of evenhand alone."""
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *words],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
