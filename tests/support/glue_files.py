"""Real pairs written as GLUE writes its files: MNLI with its columns, RTE with two labels."""

from __future__ import annotations

import json
from pathlib import Path

MNLI = (
    "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse sentence1_parse "
    "sentence2_parse sentence1 sentence2 label1 gold_label"
).split()
RTE = ("index", "sentence1", "sentence2", "label")
Pair = tuple[str, str, str]  # premise, hypothesis, label


def read_pairs(path: Path, count: int) -> list[Pair]:
    """The first pairs of a .jsonl file, without tabs and line breaks."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:count]]
    return [
        (" ".join(row["premise"].split()), " ".join(row["hypothesis"].split()), row["label"])
        for row in rows
    ]


def _write(path: Path, rows: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def write_glue(folder: Path, nli: Path, count: int = 200) -> Path:
    """A folder with MNLI, matched and mismatched, and RTE, from real pairs."""
    sources = {"matched": "en.mnli-dev-matched.jsonl", "mismatched": "en.xnli-dev.jsonl"}
    for name, file in sources.items():
        rows = [
            [str(i), "1", "1e", "x", "( )", "( )", "(R)", "(R)", premise, hypothesis, label, label]
            for i, (premise, hypothesis, label) in enumerate(read_pairs(nli / file, count))
        ]
        _write(folder / "MNLI" / f"dev_{name}.tsv", [MNLI, *rows])
    two = [
        [str(i), premise, hypothesis, label if label == "entailment" else "not_entailment"]
        for i, (premise, hypothesis, label) in enumerate(
            read_pairs(nli / "en.snli-dev.jsonl", count)
        )
    ]
    _write(folder / "RTE" / "dev.tsv", [[*RTE], *two])
    return folder
