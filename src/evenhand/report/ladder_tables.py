"""How is a ladder shown in a terminal, a readme and a paper? The standings in one table, what was found in words, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand import __version__
from evenhand.meta.ranking import Standing
from evenhand.meta.records import Ladder
from evenhand.report import ladder as told
from evenhand.report.comparison import chance
from evenhand.report.html import language_name
from evenhand.report.ladder_languages import coefficient, table2
from evenhand.report.latex import commented, floating, tabular
from evenhand.report.latex import escaped as tex
from evenhand.report.markdown import escaped as plain_text
from evenhand.report.markdown import make_table as markdown_table
from evenhand.report.numbers import amount, bounds, number, percent
from evenhand.report.terminal import add_row, make_table

if TYPE_CHECKING:
    from rich.console import Console

ROOMY = 118  # columns from which everything stands in one table
HEADS = ("measure", "suite", "Pearson", "Spearman", "Kendall", "bias", "seeds", "errors", "verdict")


def row_of(standing: Standing) -> list[str]:
    """A standing in one line."""
    r = standing.pearson
    pearson = (
        f"{number(r.value)} {bounds(r.interval)}"
        if math.isfinite(r.value)
        else coefficient(standing)
    )
    return [
        told.title(standing.measure),
        standing.suite,
        pearson,
        number(standing.spearman.value),
        number(standing.kendall.value),
        number(standing.signal),
        number(standing.noise),
        number(standing.leak),
        told.verdict(standing),
    ]


def about(ladder: Ladder) -> str:
    """`English, default, 51 models`."""
    models = len({r.rung.name for r in ladder.readings})
    return (
        f"{language_name(ladder.language)}, {Path(ladder.encoder).name}, {amount(models, 'model')}"
    )


def facts(ladder: Ladder) -> list[tuple[str, str]]:
    """How was it made? Names and values, in the order of a reader's questions."""
    rungs = [r.rung for r in ladder.readings]
    rates, errors = ([r for r in rungs if r.ladder == name] for name in ("rate", "errors"))
    found = [("language", language_name(ladder.language)), ("encoder", Path(ladder.encoder).name)]
    found += [(f"words, {lean}", ", ".join(words)) for lean, words in ladder.words.items()]
    found.append(("bias rates", _steps([r.step for r in rates])))
    if errors:
        fixed = ", ".join(f"{r:g}" for r in sorted({r.rate for r in errors}))
        found.append(
            ("shares of errors", f"{_steps([r.step for r in errors])}, at bias rate {fixed}")
        )
    found.append(("seeds", ", ".join(map(str, sorted({r.seed for r in rungs})))))
    found += [
        (key.replace("_", " "), _value(value))
        for key, value in ladder.settings.items()
        if key != "seeds"
    ]
    known = [v for v in ladder.accuracy.values() if math.isfinite(v)]
    if known:
        mean = sum(known) / len(known)
        found.append(
            (
                "accuracy on own dev pairs",
                f"{percent(mean, 1)} on average, {percent(min(known), 1)} to {percent(max(known), 1)}",
            )
        )
    return [*found, ("time", told.seconds_told(ladder.seconds))]


def _steps(steps: Sequence[float]) -> str:
    return ", ".join(f"{s:g}" for s in sorted({round(s, 6) for s in steps})) or "none"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{str(k).replace('_', ' ')} {_value(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    return (
        f"{value:,}"
        if isinstance(value, int) and not isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def print_ladder(ladder: Ladder, standings: Sequence[Standing], console: Console) -> None:
    """Print what was found, the standings, and what is missing."""
    from rich.table import Table
    from rich.text import Text

    console.print()
    console.print(
        Text.assemble(
            ("A ladder of models of known bias", "bold"),
            f"  {about(ladder)}, {told.seconds_told(ladder.seconds)}",
        )
    )
    console.print()
    for sentence in (
        *told.summary(ladder, standings),
        *([told.accuracy_told(ladder)] if told.has_learnt(ladder) else []),
    ):
        console.print(Text(sentence))
    console.print()
    cuts = [range(len(HEADS))] if console.width >= ROOMY else [(0, 1, 2, 8), (0, 3, 4, 5, 6, 7)]
    for cut in cuts if standings else ():
        table = make_table("", *(HEADS[i] for i in cut))
        for s in standings:
            cells = row_of(s)
            add_row(
                table,
                str(s.rank),
                *(cells[i] for i in cut),
                bold={list(cut).index(2) + 1} if 2 in cut and s.finding == "found" else (),
            )
        for column in (1, 2 if 1 in cut else 1):
            table.columns[column].justify = "left"
            table.columns[column].no_wrap = False
            table.columns[column].overflow = "fold"
        console.print(table)
        console.print()
    if standings:
        key = f"{standings[0].level * 100:g} % intervals. bias, errors: range of the mean score along either ladder. seeds: SD over seeds. -: constant score."
        console.print(Text(key, style="dim"))
    if lines := told.notes(standings):
        marked = Table.grid(padding=(0, 1))
        for line in lines:
            marked.add_row("!", Text(line), style="yellow")
        console.print(marked)


def to_markdown(ladder: Ladder, standings: Sequence[Standing]) -> str:
    """The ladder as a Markdown document."""
    said = [f"# Which measures find a known bias? {plain_text(about(ladder))}"]
    said += [plain_text(line) for line in told.summary(ladder, standings)]
    if told.has_learnt(ladder):
        said.append(plain_text(told.accuracy_told(ladder)))
    if standings:
        rows = [[str(s.rank), *(plain_text(cell) for cell in row_of(s))] for s in standings]
        said.append(
            markdown_table(["", *HEADS], rows).replace(
                "| --- | ---: | ---: |", "| ---: | --- | --- |", 1
            )
        )
        said += [
            "## Pearson's r, in the shape of the paper's Table 2",
            table2([ladder], [standings]).markdown.rstrip(),
        ]
        seeds = [
            [plain_text(told.title(s.measure)), plain_text(s.suite), *_seeds(s)] for s in standings
        ]
        heads = [
            "measure",
            "suite",
            "each seed alone",
            "their mean",
            "p",
            "either way",
            "errors: r",
            "errors: p",
        ]
        said += ["## Seed by seed", markdown_table(heads, seeds)]
    if lines := told.notes(standings):
        said += ["## Missing and noteworthy", "\n".join(f"- {plain_text(line)}" for line in lines)]
    said += [
        "## How it was made",
        "\n".join(f"- {plain_text(k)}: {plain_text(v)}" for k, v in facts(ladder)),
    ]
    said += [
        "## Method",
        "\n\n".join(map(plain_text, told.method(standings))),
        f"evenhand {__version__}.",
    ]
    return "\n\n".join(said) + "\n"


def _seeds(standing: Standing) -> list[str]:
    r = standing.pearson
    each = ", ".join(number(v) for v in r.by_seed.values())
    return [
        each,
        number(r.mean_of_seeds),
        chance(r.p),
        number(standing.strength.value),
        number(standing.leak_pearson.value),
        chance(standing.leak_p),
    ]


def to_latex(ladder: Ladder, standings: Sequence[Standing]) -> str:
    r"""The ladder as LaTeX, to be pulled in by `\input{ladder.tex}`: the paper's Table 2, then the standings."""
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
        commented(about(ladder)),
        *(commented(f"note {n}") for n in told.notes(standings)),
    ]
    if not standings:
        return "\n".join(lines) + "\n"
    rows = [[tex(cell) for cell in row_of(s)] for s in standings]
    inside = tabular("llrrrrrrl", [tex(h) for h in HEADS], rows)
    fitted = [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%", *inside, "}"]
    caption = (
        f"Measures on a ladder of models of known bias ({tex(about(ladder))}): correlation of the bias rate with the mean score over seeds "
        f"({standings[0].level * 100:g}\\,\\% intervals by Fisher's $z$); range of the mean score along the bias rates (bias) and along mere errors (errors); SD over seeds."
    )
    return (
        "\n".join(
            [
                *lines,
                "",
                table2([ladder], [standings]).latex,
                *floating(fitted, caption, "tab:evenhand-ladder"),
            ]
        )
        + "\n"
    )
