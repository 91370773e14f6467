"""How is a comparison shown in a terminal, a readme and a paper? One table a model: values, difference, p, and which is nearer to fair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand import __version__
from evenhand.engine.differing import Comparison, Difference
from evenhand.report import comparison as told
from evenhand.report.estimates import title
from evenhand.report.latex import commented, floating, tabular
from evenhand.report.latex import escaped as tex
from evenhand.report.markdown import escaped as plain_text
from evenhand.report.markdown import make_table as markdown_table
from evenhand.report.numbers import amount, bounds, interval_of, number
from evenhand.report.terminal import add_row, folded, make_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

ROOMY = 118  # columns from which values and differences stand in one table
HEADS = ("difference", "p", "adjusted p", "to fair")


def _values(found: Difference) -> list[str]:
    return [f"{number(e.value)} {bounds(interval_of(e))}" for e in (found.reference, found.other)]


def _tests(comparison: Comparison, found: Difference) -> list[str]:
    star = "*" if told.is_shown(comparison, found) else ""
    apart = f"{told.signed(found.difference.value)} {bounds(found.difference)}"
    return [
        apart,
        told.chance(found.p),
        told.chance(found.adjusted) + star,
        told.nearness(found).partition(" ")[0],
    ]


def _rows(comparison: Comparison, name: str) -> list[list[str]]:
    return [
        [title(d.measure), *_values(d), *_tests(comparison, d)]
        for d in told.ordered(comparison, name)
    ]


def _heads(comparison: Comparison, name: str) -> list[str]:
    return ["measure", comparison.reference.name, name, *HEADS]


def _tables(comparison: Comparison, name: str, width: int) -> list[Table]:
    """One table where there is room, else the values in one and the differences in another."""
    heads, rows = _heads(comparison, name), _rows(comparison, name)
    cuts = [range(7)] if width >= ROOMY else [range(3), (0, *range(3, 7))]
    tables = []
    for cut in cuts:
        tables.append(make_table(*(heads[i] for i in cut)))
        for row in rows:
            add_row(
                tables[-1],
                *(row[i] for i in cut),
                bold={list(cut).index(3)} if 3 in cut and row[5].endswith("*") else (),
            )
    return tables if rows else []


def _about(comparison: Comparison) -> str:
    card = comparison.suite.card
    of = amount(len(comparison.suite.probes), "probe") + (
        " of a larger suite" if comparison.suite.limit is not None else ""
    )
    return f"{card.name} {card.version}, {card.language}, {of}"


def _differing(comparison: Comparison, name: str) -> str:
    fields = told.differing(comparison, name)
    return "; ".join(f"{k} {a} / {b}" for k, (a, b) in fields.items()) or "nothing"


def _signatures(comparison: Comparison) -> list[str]:
    return [line for lines in told.signatures(comparison).values() for line in lines]


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print the comparison: for each model what can be said, and the table; what is missing; signatures."""
    from rich.table import Table
    from rich.text import Text

    console.print()
    for other in comparison.models[1:]:
        console.print(
            Text.assemble(
                (other.name, "bold"),
                " against ",
                (comparison.reference.name, "bold"),
                f"  on {_about(comparison)}",
            )
        )
        console.print()
        console.print(Text(told.summary(comparison, other.name)))
        console.print()
        for table in _tables(comparison, other.name, console.width):
            console.print(table)
            console.print()
        differing = f"The signatures differ in: {_differing(comparison, other.name)}."
        console.print(
            Text(f"* adjusted p at most {1 - comparison.level:.2g}. {differing}", style="dim")
        )
        console.print()
    if notes := told.notes(comparison):
        marked = Table.grid(padding=(0, 1))
        for note in notes:
            marked.add_row("!", Text(note), style="yellow")
        console.print(marked)
        console.print()
    for line in (d.signature for d in comparison.differences):
        console.print(
            Text(folded(line, console.width) if console.is_terminal else line, style="dim"),
            soft_wrap=True,
        )


def to_markdown(comparisons: Sequence[Comparison]) -> str:
    """The comparisons as a Markdown document."""
    first = comparisons[0]
    said = [
        f"# {plain_text(', '.join(c.name for c in first.models[1:]))} against {plain_text(first.reference.name)}"
    ]
    for comparison in comparisons:
        said.append(f"## {plain_text(_about(comparison))}")
        for other in comparison.models[1:]:
            rows = [[plain_text(c) for c in row] for row in _rows(comparison, other.name)]
            said += [
                f"### {plain_text(other.name)} against {plain_text(comparison.reference.name)}",
                plain_text(told.summary(comparison, other.name)),
            ]
            if rows:
                said.append(
                    markdown_table([plain_text(h) for h in _heads(comparison, other.name)], rows)
                )
            said.append(
                f"The signatures differ in: {plain_text(_differing(comparison, other.name))}."
            )
        if notes := told.notes(comparison):
            said += [
                "### Missing and noteworthy",
                "\n".join(f"- {plain_text(line)}" for line in notes),
            ]
        lines = "\n".join(" ".join(line.split()) for line in _signatures(comparison))
        names = [
            f"- {plain_text(c.name)}: {plain_text(c.answers.respondent)}" for c in comparison.models
        ]
        said += ["### Models", "\n".join(names), "### Signatures", f"```text\n{lines}\n```"]
    said += ["## Method", plain_text(" ".join(told.method(first))), f"evenhand {__version__}."]
    return "\n\n".join(said) + "\n"


def to_latex(comparisons: Sequence[Comparison]) -> str:
    r"""The comparisons as LaTeX, to be pulled in by `\input{comparison.tex}`: one table a model and suite."""
    lines = [r"% needs \usepackage{booktabs,graphicx}"]
    for count, comparison in enumerate(comparisons, 1):
        lines += [commented(f"signature {line}") for line in _signatures(comparison)] + [
            commented(f"note {note}") for note in told.notes(comparison)
        ]
        for place, other in enumerate(comparison.models[1:], 1):
            rows = [[tex(c) for c in row] for row in _rows(comparison, other.name)]
            if not rows:
                continue
            caption = f"{tex(other.name)} against {tex(comparison.reference.name)} on {tex(_about(comparison))}. {tex(told.summary(comparison, other.name))}"
            inside = tabular("lrrrrrl", [tex(h) for h in _heads(comparison, other.name)], rows)
            # wider than a column: as large as fits, never larger
            fitted = [
                r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
                *inside,
                "}",
            ]
            lines += ["", *floating(fitted, caption, f"tab:evenhand-comparison-{count}-{place}")]
    return "\n".join(lines) + "\n"
