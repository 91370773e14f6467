"""The measured numbers of the documentation, written into the pages from docs/records.

    python docs/docs_numbers.py                       write them
    python docs/docs_numbers.py --check               fail where a page or a measurement differs
    python docs/docs_numbers.py --measure embedded    measure the embedded model again, then write
    python docs/docs_numbers.py --measure NAME ...    measure these records again, then write
    python docs/docs_numbers.py --training RUNS       what evenhand.train.default wrote, then write

A page has `<!-- numbers: NAME -->` and `<!-- end -->`; between them stands what the function of
that name in number_tables.py makes of the records. Published data: --data or EVENHAND_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import paper_tables  # noqa: F401  (adds its blocks)
from measure_records import MEASURED as RUNS
from measure_records import CommandError, Plain, embedded_training, measured
from measure_tables import TABLES
from number_tables import BLOCKS, MissingRecordError, Records, embedded_in
from tutorial_record import PAGES

MEASURED = {**RUNS, **TABLES, **PAGES}
ROOT = Path(__file__).resolve().parent.parent
CARD = Path("src/evenhand/models/default/MODEL_CARD.md")
MARKED = re.compile(r"<!-- numbers: (\S+) -->\n(.*?)<!-- end -->", re.DOTALL)
TOLERANCE = 1e-3  # between two measurements: about the last digit that is printed
EMBEDDED = "embedded"  # --measure: all records about the embedded model
TRAINING = "embedded-training"  # the record of how it was trained


def records_of(root: Path) -> Records:
    """The records of a checkout."""
    return Records(root / "docs" / "records")


def pages_of(root: Path) -> list[Path]:
    """The pages of a checkout that may have blocks."""
    return [*sorted((root / "docs").glob("*.md")), root / CARD]


def rendered(text: str, records: Records) -> str:
    """A page with its blocks written anew. Raises KeyError for a name without a function."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- numbers: {match[1]} -->\n{BLOCKS[match[1]](records)}\n<!-- end -->"

    return MARKED.sub(fill, text)


def stale_pages(root: Path) -> dict[Path, str]:
    """The pages that do not say what the records say, with what they should say."""
    texts = {path: path.read_text(encoding="utf-8") for path in pages_of(root)}
    written = {path: rendered(text, records_of(root)) for path, text in texts.items()}
    return {path: text for path, text in written.items() if text != texts[path]}


def differences(old: Any, new: Any, where: str = "") -> list[str]:
    """What differs between two records by more than the tolerance, one line for each."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        return [d for k in keys for d in differences(old.get(k), new.get(k), f"{where}/{k}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{where}/{i}")]
    if isinstance(old, float) and isinstance(new, float | int) and abs(old - new) <= TOLERANCE:
        return []
    return [] if old == new else [f"{where}: {old} is now {new}"]


def earlier_records(records: Records, embedded: str) -> list[str]:
    """The records about the embedded model that were measured with another one."""
    lines = []
    for name, how in MEASURED.items():
        if how.is_embedded and (old := embedded_in(records.record(name))) != embedded:
            lines.append(f"{name}: measured with {old or 'no model'}, not with {embedded}")
    return lines


def outdated_records(records: Records) -> list[str]:
    """Where a quick measurement differs from its record, and records of an earlier model."""
    lines, embedded = [], ""
    for name, how in MEASURED.items():
        if how.is_quick:
            new = measured(how)
            embedded = embedded_in(new)
            lines += differences(records[name], new["numbers"], name)
    return lines + earlier_records(records, embedded)


def measure(names: list[str], records: Records) -> None:
    """Measure records again and write them."""
    for name, how in MEASURED.items():
        if name in names or (EMBEDDED in names and how.is_embedded):
            print(name, file=sys.stderr)
            write_record(records.path(name), measured(how))


def write_record(path: Path, record: Plain) -> None:
    """Write a record in the place of the one before."""
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Write, check or measure; 1 where the check fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    parser.add_argument(
        "--measure",
        nargs="+",
        metavar="NAME",
        choices=[EMBEDDED, *MEASURED],
        default=[],
        help=f"{EMBEDDED} (all about the embedded model), {', '.join(MEASURED)}",
    )
    parser.add_argument(
        "--training", type=Path, metavar="RUNS", help="folder that evenhand.train.default wrote"
    )
    parser.add_argument("--data", type=Path, help="folder of published data")
    args = parser.parse_args()
    if args.data:
        os.environ["EVENHAND_DATA"] = str(args.data.resolve())
    records = records_of(ROOT)
    try:
        if args.training:
            earlier = records.record(TRAINING)
            write_record(records.path(TRAINING), embedded_training(args.training, earlier))
        measure(args.measure, records)
        wrong = outdated_records(records) if args.check else []
        stale = stale_pages(ROOT)
    except (CommandError, MissingRecordError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if args.check:
        wrong += [f"{path.relative_to(ROOT)}: differs from docs/records" for path in stale]
        print("\n".join([*wrong, "run `make docs-numbers`"]) if wrong else "docs: up to date")
        return int(bool(wrong))
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
        print(f"written: {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
