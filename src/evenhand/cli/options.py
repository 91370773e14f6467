"""Which options do several verbs share?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.core.errors import EvenhandError

Lang = Annotated[str, typer.Option("--lang", "-l", help="Language of the suite: en, ja, ko, zh.")]
Seed = Annotated[
    int,
    typer.Option(
        min=0,
        help="Seed of everything random: the suite's choice of words, `--limit`, the bootstrap.",
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(help="Folder with published data sets (else EVENHAND_DATA, else fetched)."),
]
Captions = Annotated[
    list[Path] | None,
    typer.Option(
        help="Mine the frames from these captions (.txt, .jsonl, .csv) instead of the built-in ones."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Shares = Annotated[
    Path | None,
    typer.Option(
        help="Table of occupation and share of women in percent (.csv, .tsv, .jsonl) instead of the built-in 2019 figures."
    ),
]
Dominance = Annotated[
    float,
    typer.Option(
        min=50,
        max=99.9,
        help="Percent of the workers that make an occupation male- or female-dominated.",
    ),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="Masked models: how a word of several tokens is scored: together (default), left-to-right, within-word, one-by-one."
    ),
]
Length = Annotated[
    str,
    typer.Option(
        help="Masked models: how words of unequal length are compared: auto (sum if equally long, else mean), sum, mean."
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        help="Classifiers asked to choose: pair (default), or a supposition: clean, esp, or your own text with {h} and {p}."
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(help="Encoders: mean or cls [default: what the model's folder says, else mean]."),
]
Similarity = Annotated[str, typer.Option(help="Encoders: cosine, dot or distance (negative).")]
Level = Annotated[float, typer.Option(help="Level of the intervals.")]
Resamples = Annotated[int, typer.Option(min=100, help="Resamples of the cluster bootstrap.")]
Method = Annotated[str, typer.Option(help="Interval: bca or percentile.")]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure", "-m", help="Only this measure (repeatable); all that fit by default."
    ),
]


def parse_label_map(text: str | None) -> dict[str, int] | None:
    """`entailment=0,neutral=1,contradiction=2` as a table."""
    if text is None:
        return None
    table: dict[str, int] = {}
    for part in text.split(","):
        name, _, column = part.partition("=")
        if not column.strip().isdigit() or name.strip() in table:
            raise EvenhandError(
                f"label map '{text}': '{part}' is not of the form name=number, each name once, for example entailment=0,neutral=1,contradiction=2"
            )
        table[name.strip()] = int(column)
    return table
