"""Do measures find the bias in every language? Pearson's r by measure and language, in the shape of the paper's Table 2 and beside its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evenhand.meta.climb import CONSTANT
from evenhand.meta.ranking import Standing, rank
from evenhand.meta.records import Ladder
from evenhand.report import ladder as told
from evenhand.report.html import language_name
from evenhand.report.latex import escaped as tex
from evenhand.report.latex import floating, tabular
from evenhand.report.markdown import escaped as plain_text
from evenhand.report.markdown import make_table as markdown_table
from evenhand.report.numbers import MISSING, number

# Anantaprayoon, Kaneko, Okazaki (2024), Table 2; None: no correlation, a constant score
PUBLISHED: dict[str, dict[str, float | None]] = {
    "nli_coal": {"en": 0.999, "ja": 1.000, "zh": 0.997},
    "fraction_neutral": {"en": -0.263, "ja": None, "zh": -0.535},
}


class Tables(NamedTuple):
    """One table in two forms."""

    markdown: str
    latex: str


def published(measure: str, language: str) -> str:
    """What the paper prints: `0.999`, `-` for a constant score, nothing where it prints nothing."""
    row = PUBLISHED.get(measure, {})
    if language not in row:
        return ""
    value = row[language]
    return "-" if value is None else number(value)


def coefficient(standing: Standing) -> str:
    """Pearson's r; `-` for a constant score, `n/a` where it cannot be told for another reason."""
    return (
        number(standing.pearson.value)
        if not standing.pearson.note
        else "-"
        if standing.pearson.note == CONSTANT
        else MISSING
    )


def table2(
    ladders: Sequence[Ladder], standings: Sequence[Sequence[Standing]] | None = None
) -> Tables:
    """Pearson's r of every measure in every language, beside the values of the paper; `standings` where they were reckoned already."""
    ranked = standings or [rank(ladder) for ladder in ladders]
    found = [{(s.suite, s.measure): s for s in mine} for mine in ranked]
    order = {
        key: place for place, key in enumerate(dict.fromkeys(key for mine in found for key in mine))
    }
    keys = sorted(
        order,
        key=lambda k: (
            list(PUBLISHED).index(k[1]) if k[1] in PUBLISHED else len(PUBLISHED),
            order[k],
        ),
    )
    has_suites = len({suite for suite, _ in keys}) > 1
    rows, is_constant, done = [], False, set()
    for suite, measure in keys:
        cells = [
            coefficient(mine[suite, measure]) if (suite, measure) in mine else "" for mine in found
        ]
        is_constant |= "-" in cells
        rows.append([told.title(measure) + (f" ({suite})" if has_suites else ""), *cells])
        if measure in PUBLISHED and measure not in done:
            done.add(measure)
            theirs = [published(measure, ladder.language) for ladder in ladders]
            if any(theirs):
                rows.append([f"{told.title(measure)}, as published", *theirs])
                is_constant |= "-" in theirs
    heads = ["measure", *(language_name(ladder.language) for ladder in ladders)]
    note = "-: constant score, no correlation." if is_constant else ""
    markdown = markdown_table(
        [plain_text(h) for h in heads], [[plain_text(c) for c in row] for row in rows]
    )
    caption = f"Pearson's $r$ between the bias rate of the models of a ladder and the score of each measure. {_minus(note)}".strip()
    codes = [
        "measure",
        *(ladder.language for ladder in ladders),
    ]  # names of languages in themselves need fonts of their own
    inside = tabular(
        "l" + "r" * len(ladders),
        [tex(h) for h in codes],
        [[_minus(c) for c in row] for row in rows],
    )
    latex = (
        "\n".join(
            [r"% needs \usepackage{booktabs}", *floating(inside, caption, "tab:evenhand-table2")]
        )
        + "\n"
    )
    return Tables(markdown + (f"\n\n{note}" if note else "") + "\n", latex)


def _minus(text: str) -> str:
    """A sign before a number, a dash before anything else."""
    sign = "$-$" if text[1:2].isdigit() else "--"
    return sign + tex(text[1:]) if text.startswith("-") else tex(text)
