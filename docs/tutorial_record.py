"""What the commands of docs/tutorial.md print: the record behind its blocks of output.

The commands are read from the page, so that page and record cannot say different things:
`python docs/docs_numbers.py --measure tutorial` runs them and writes what they print.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from measure_records import Bench, Measured, Plain
from number_tables import Records, block, paragraphs

PAGE = Path(__file__).resolve().parent / "tutorial.md"
COLUMNS = 100  # of the terminal
KEPT = 24  # lines of an output that the page shows
_PART = re.compile(
    r"^```console\nevenhand (?P<words>.*)\n```|<!-- numbers: (?P<name>\S+) -->", re.M
)


def tutorial(bench: Bench) -> Plain:
    """What the commands of the tutorial print."""
    os.environ |= {"COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    numbers: Plain = {}
    words: list[str] = []
    for part in _PART.finditer(PAGE.read_text(encoding="utf-8")):
        if part["words"]:
            words = part["words"].split()
            continue
        out = bench.evenhand(*words, highest=3)
        bench.models |= set(re.findall(r"default@[0-9a-f]{12}", out))
        numbers[part["name"]] = shortened(out)
    return numbers


def shortened(out: str) -> str:
    """The first lines of an output, `...` where there are more."""
    lines = [line.rstrip() for line in out.strip().splitlines()]
    return "\n".join([*lines[:KEPT], "..."] if len(lines) > KEPT + 1 else lines)


def _output(records: Records, name: str) -> str:
    """An output as a block, and when it was printed."""
    return paragraphs(f"```text\n{records['tutorial'][name]}\n```", records.source("tutorial"))


@block
def tutorial_audit(records: Records) -> str:
    """The audit."""
    return _output(records, "tutorial-audit")


@block
def tutorial_gate(records: Records) -> str:
    """The gate that fails."""
    return _output(records, "tutorial-gate")


@block
def tutorial_compare(records: Records) -> str:
    """The comparison with guessing."""
    return _output(records, "tutorial-compare")


PAGES = {"tutorial": Measured(measure=tutorial, is_embedded=True)}
