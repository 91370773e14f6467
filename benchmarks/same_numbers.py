"""Are the numbers of two checkouts the same? Estimates, intervals and signatures, byte by byte.

    python benchmarks/same_numbers.py BEFORE AFTER --data DIR [--work DIR] [--only NAME ...]

BEFORE and AFTER are checkouts (folders with src/evenhand). Each run is made in both with the
Python that runs this script; the models `minilm` and `albert-tiny-zh` come in packages. What may
differ is said in ALLOWED.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RUNS = {
    "occupation-nli": ("default", "--suite", "occupation-nli"),
    "gendered-entailment": ("default", "--suite", "gendered-entailment"),
    "nli-coal": ("default", "--suite", "nli-coal"),
    "sharma2021": ("default", "--suite", "sharma2021"),
    "stereoset": ("default", "--suite", "stereoset"),
    "profession": ("minilm", "--suite", "profession"),
    "emotion": ("minilm", "--suite", "emotion"),
    "gender-recognition": ("minilm", "--suite", "gender-recognition"),
    "contextualised": ("albert-tiny-zh", "--suite", "contextualised", "--lang", "zh"),
}
FIELDS = ("value", "low", "high", "level", "probes", "clusters", "coverage", "note", "parts")
ALLOWED = "evenhand:"  # the version, the last field of a signature


def run_in(checkout: Path, words: tuple[str, ...], out: Path, data: Path) -> Any:
    """The JSON that a command prints, run with one checkout's code."""
    env = {
        **os.environ,
        "PYTHONPATH": str(checkout.resolve() / "src"),
        "EVENHAND_CACHE": str(out / "cache"),
        "EVENHAND_OFFLINE": "1",
        "EVENHAND_DATA": str(data.resolve()),
    }
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", *words, "--json"],
        cwd=out,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed in {checkout}: {done.stderr[-800:]}")
    return json.loads(done.stdout)


def signature(text: str) -> str:
    """A signature without the version."""
    return "|".join(f for f in text.split("|") if not f.startswith(ALLOWED))


def estimates(results: Any) -> dict[str, Any]:
    """Every number of a run with its signature, by measure; of the checks and baselines too."""
    groups = {"": results["estimates"], "check ": results["sanity"]}
    groups |= {f"{rule} ": rows for rule, rows in results["baselines"].items()}
    return {
        f"{prefix}{row['measure']} {row.get('items', '')}".strip(): {
            **{field: row[field] for field in FIELDS},
            "signature": signature(row["signature"]),
        }
        for prefix, rows in groups.items()
        for row in rows
    }


def breakdowns(results: Any) -> dict[str, Any]:
    """Every interval of every group."""
    return {
        f"{view['measure']} by {view['by']}: {group['name']}": [
            group[field] for field in ("value", "low", "high", "probes")
        ]
        for view in results["breakdowns"]
        for group in view["groups"]
    }


def printed_numbers(results: Any) -> dict[str, Any]:
    """The rows of a reproduction; what is computed was once called found."""
    return {
        f"{row['where']} {row['what']}": row.get("computed", row.get("found"))
        for row in results["rows"]
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is missing or different; more than before is no difference."""
    lines = []
    for name, value in before.items():
        if name not in after:
            lines.append(f"  {name}: missing")
        elif json.dumps(value, sort_keys=True) != json.dumps(after[name], sort_keys=True):
            lines.append(f"  {name}:\n    before {value}\n    after  {after[name]}")
    return lines


def main() -> int:
    """Print a line for each run; exit code 1 if a number differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, default=Path("runs/same-numbers"))
    parser.add_argument("--only", nargs="*", default=[])
    chosen = parser.parse_args()
    work = chosen.work.resolve()
    is_same = True
    for name, words in {**RUNS, "reproduce cgb": ()}.items():
        if chosen.only and name not in chosen.only:
            continue
        command = ("audit", *words) if words else ("reproduce", "cgb")
        results = [
            run_in(checkout, command, work / side, chosen.data)
            for side, checkout in (("before", chosen.before), ("after", chosen.after))
        ]
        parts = (
            {"numbers": estimates, "groups": breakdowns} if words else {"numbers": printed_numbers}
        )
        for part, of in parts.items():
            before, after = (of(r) for r in results)
            lines = differences(before, after)
            is_same &= not lines
            state = "equal" if not lines else f"{len(lines)} differ"
            print(f"{name}: {len(before)} {part}, {state}", *lines[:20], sep="\n", flush=True)
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
