"""Table 2 of the paper: Pearson's r by measure and language, beside the published values."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core import catalog
from evenhand.core.document import Column, Row, Table
from evenhand.core.text import MISSING, number
from evenhand.meta.ladder import Ladder
from evenhand.meta.ranking import CONSTANT, Standing
from evenhand.meta.wording import title

# Anantaprayoon, Kaneko, Okazaki (2024), Table 2; None: no correlation, a constant score
PUBLISHED: dict[str, dict[str, float | None]] = {
    "nli_coal": {"en": 0.999, "ja": 1.000, "zh": 0.997},
    "fraction_neutral": {"en": -0.263, "ja": None, "zh": -0.535},
}
PAPER = tuple(PUBLISHED)  # the measures that the paper compares, in its order
NO_CORRELATION = "-"  # of a constant score


def coefficient(standing: Standing) -> float | str:
    """Pearson's r; `-` for a constant score, `n/a` where it is not known for another reason."""
    if not standing.pearson.note:
        return standing.pearson.value
    return NO_CORRELATION if standing.pearson.note == CONSTANT else MISSING


def published(measure: str, language: str) -> float | str:
    """What the paper prints: `-` for a constant score, nothing where it prints nothing."""
    row = PUBLISHED.get(measure, {})
    if language not in row:
        return ""
    value = row[language]
    return NO_CORRELATION if value is None else value


def table2(ladders: Sequence[Ladder], ranked: Sequence[Sequence[Standing]]) -> Table:
    """Pearson's r of every measure in every language, beside the values of the paper.

    ranked: the standings of each ladder.
    """
    columns = [{(s.suite, s.measure): s for s in standings} for standings in ranked]
    keys = list(dict.fromkeys(key for column in columns for key in column))
    keys.sort(key=lambda key: PAPER.index(key[1]) if key[1] in PAPER else len(PAPER))
    has_suites = len({suite for suite, _ in keys}) > 1
    rows: list[Row] = []
    done = set()
    for suite, measure in keys:
        name = title(measure) + (f" ({suite})" if has_suites else "")
        cells = [
            coefficient(column[suite, measure]) if (suite, measure) in column else ""
            for column in columns
        ]
        rows.append(Row(cells=(name, *cells)))
        printed = [published(measure, ladder.language) for ladder in ladders]
        if measure not in done and any(cell != "" for cell in printed):
            rows.append(Row(cells=(f"{title(measure)}, as published", *printed)))
        done.add(measure)
    languages = (catalog.language_name(ladder.language) for ladder in ladders)
    is_constant = any(NO_CORRELATION in row.cells[1:] for row in rows)
    return Table(
        name="table2",
        title="Pearson's r between the bias rate of the models of a ladder and the score of each "
        "measure",
        columns=(
            Column(title="measure"),
            *(Column(title=language, form="number") for language in languages),
        ),
        rows=tuple(rows),
        note="-: constant score, no correlation." if is_constant else "",
    )


def beside_paper(ladder: Ladder, standings: Sequence[Standing]) -> str:
    """Pearson's r here and in the paper, where the paper has the language; else nothing."""
    texts = []
    for measure in PAPER:
        own = next((s for s in standings if s.measure == measure), None)
        printed = published(measure, ladder.language)
        if own is not None and printed != "":
            here, there = (_coefficient_words(c) for c in (coefficient(own), printed))
            texts.append(f"{title(measure)} {here} here, {there} there")
    if not texts:
        return ""
    return (
        "Pearson's r here and in the paper (BERT base of the language, Anantaprayoon et al. 2024, "
        f"Table 2): {'; '.join(texts)}."
    )


def _coefficient_words(value: float | str) -> str:
    if value == NO_CORRELATION:
        return "none (constant score)"
    return value if isinstance(value, str) else number(value)
