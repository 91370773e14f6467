"""How is a mitigation shown in a terminal, a readme and a paper? In the shape of the paper's Table 7: models down, Acc, S, ΔP, B across, percent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand import __version__
from evenhand.core.estimate import Interval
from evenhand.mitigate.records import ACCURACY, BEFORE, Asked, Mitigation
from evenhand.report import mitigation_values as told
from evenhand.report import mitigation_wording as wording
from evenhand.report.latex import commented, floating, tabular
from evenhand.report.latex import escaped as tex
from evenhand.report.markdown import escaped as plain_text
from evenhand.report.markdown import make_table as markdown_table
from evenhand.report.numbers import MISSING, amount
from evenhand.report.terminal import add_row, make_table

if TYPE_CHECKING:
    from rich.console import Console

ROOMY = 110  # columns from which intervals stand in the tables
ARROWS = {
    ACCURACY: "↑",
    "same_label": "↑",
    "person_entailment": "↑",
    "stereotype_preference": "→50",
}  # else the lower the better


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A value in percent; of a method also the change and whether it is shown."""

    value: str
    bounds: str
    change: str = ""
    is_shown: bool = False

    @property
    def text(self) -> str:
        """All of it on one line."""
        star = "*" if self.is_shown else ""
        return (
            f"{self.value} ({self.change}){star}"
            if self.change
            else f"{self.value} {self.bounds}".strip()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The table of one suite."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]  # model, cells


def _cell(found: Mitigation, asked: Asked, measure: str, model: str) -> Cell:
    score = found.score(asked.name, asked.part, measure, model)
    if score is None:
        return Cell(value=MISSING, bounds="")
    change = (
        None if model == BEFORE else found.change(asked.name, asked.part, measure, model, BEFORE)
    )
    return Cell(
        value=told.percent(score.value),
        bounds=_bounds(score.interval),
        change=told.points(change.interval) if change else "",
        is_shown=change is not None and told.is_shown(found, change),
    )


def _bounds(found: Interval) -> str:
    return f"[{told.percent(found.low)}, {told.percent(found.high)}]"


def head(measure: str) -> str:
    """`ΔP (↓)`."""
    return f"{told.SHORT[measure]} ({ARROWS.get(measure, '↓')})"


def grids(found: Mitigation) -> Iterator[Grid]:
    """One table a suite, then one of its unseen occupations; accuracy on the first held-out file beside each, on all of them in the last."""
    held = told.suites(found, "dev")
    for asked in (*told.suites(found), *told.suites(found, "unseen")):
        columns = [
            *((held[0], ACCURACY) for _ in held[:1]),
            *((asked, m) for m in told.measures_on(found, asked)),
        ]
        about = f"{told.where(asked)}: {amount(asked.probes, 'pair')}, {amount(asked.clusters, 'occupation')}"
        yield _grid(found, about, columns, [head(m) for _, m in columns])
    if len(held) > 1:
        about = f"Accuracy on held-out pairs: {', '.join(f'{a.name} {a.probes:,}' for a in held)}"
        yield _grid(found, about, [(a, ACCURACY) for a in held], [a.name for a in held])


def _grid(
    found: Mitigation, title: str, columns: list[tuple[Asked, str]], heads: list[str]
) -> Grid:
    rows = tuple(
        (model, tuple(_cell(found, a, m, model) for a, m in columns))
        for model in told.models(found)
    )
    return Grid(title=title, heads=("model", *heads), rows=rows)


def trained_rows(found: Mitigation) -> list[list[str]]:
    """What was trained: method, pairs, added, twins, steps, minutes."""
    return [
        [
            t.method,
            f"{t.pairs:,}",
            f"{t.added:,}",
            f"{t.twins:,}",
            f"{t.steps:,}",
            f"{t.seconds / 60:.1f}",
        ]
        for t in found.trained
    ]


TRAINED = ("method", "pairs", "added", "twins", "steps", "minutes")


def print_mitigation(found: Mitigation, console: Console) -> None:
    """Print what can be said, and the tables: value, and change with its interval."""
    from rich.text import Text

    console.print()
    for line in wording.lead(found):
        console.print(Text(line, style="bold"))
    console.print()
    for grid in grids(found):
        console.print(Text(grid.title, style="bold"))
        table = make_table(*grid.heads)
        table.columns[0].min_width = max(len(model) for model, _ in grid.rows)
        for model, cells in grid.rows:
            bold = {i for i, c in enumerate(cells, 1) if c.is_shown}
            add_row(
                table,
                model,
                *(_under(c, is_roomy=console.width >= ROOMY) for c in cells),
                bold=bold,
            )
        console.print(table)
        console.print()
    for line in (*wording.generality(found), *wording.not_shown(found)):
        console.print(Text(f"! {line}", style="yellow"))
    console.print(
        Text(
            f"* the change is shown: adjusted p at most {1 - found.level:.2g}. Percent; changes in points against before.",
            style="dim",
        )
    )


def _under(cell: Cell, *, is_roomy: bool) -> str:
    """The value, and under it what there is room for: change and interval, or the change alone."""
    told_of = cell.change or cell.bounds if is_roomy else cell.change.partition(" ")[0]
    return f"{cell.value}\n{told_of}{'*' if cell.is_shown else ''}"


def to_markdown(found: Mitigation) -> str:
    """The mitigation as a Markdown document."""
    said = [
        f"# Mitigation of {plain_text(found.model)}",
        *(plain_text(line) for line in wording.lead(found)),
        "## Method by method",
    ]
    for model in told.models(found)[1:]:
        said += [f"### {plain_text(model)}", _listed(wording.summary(found, model))]
    said.append("## Before and after, percent")
    for grid in grids(found):
        rows = [
            [plain_text(model), *(plain_text(c.text) for c in cells)] for model, cells in grid.rows
        ]
        said += [
            f"### {plain_text(grid.title)}",
            markdown_table([plain_text(h) for h in grid.heads], rows),
        ]
    said.append(
        f"In parentheses the change against before, in points, with its {found.level * 100:g} % interval; \\* shown (adjusted p at most {1 - found.level:.2g})."
    )
    said += [
        "## Does it hold elsewhere?",
        _listed(wording.generality(found)),
        "## What is not shown",
        _listed(wording.not_shown(found)),
    ]
    said += [
        "## What was trained",
        markdown_table(
            list(TRAINED), [[plain_text(c) for c in row] for row in trained_rows(found)]
        ),
    ]
    said += ["## Method", plain_text(" ".join(wording.method(found)))]
    if words := found.occupations:
        said += [
            f"Anchors: {plain_text(', '.join(words['anchors']))}.",
            f"Not anchors: {plain_text(', '.join(words['unseen']))}.",
        ]
    return (
        "\n\n".join(
            (*said, f"Model of before: {plain_text(found.identity)}. evenhand {__version__}.")
        )
        + "\n"
    )


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {plain_text(line)}" for line in lines)


def to_latex(found: Mitigation) -> str:
    r"""The tables as LaTeX, to be pulled in by `\input{mitigation.tex}`."""
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
        commented(f"model of before {found.identity}"),
    ]
    lines += [commented(line) for line in wording.lead(found)]
    for number, grid in enumerate(grids(found), 1):
        heads = [
            tex(h.replace("Δ", "@D@").replace("↑", "@U@").replace("↓", "@L@").replace("→", "to "))
            for h in grid.heads
        ]
        heads = [
            h.replace("@D@", r"$\Delta$")
            .replace("@U@", r"$\uparrow$")
            .replace("@L@", r"$\downarrow$")
            for h in heads
        ]
        rows = [[tex(model), *(tex(c.text) for c in cells)] for model, cells in grid.rows]
        fitted = [
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            *tabular("l" + "r" * (len(heads) - 1), heads, rows),
            "}",
        ]
        caption = (
            f"{tex(found.model)} before and after mitigation, {tex(grid.title)}. Percent; in parentheses the change in points with its "
            rf"{found.level * 100:g}\,\% interval; * adjusted $p\le{1 - found.level:.2g}$."
        )
        lines += ["", *floating(fitted, caption, f"tab:evenhand-mitigation-{number}")]
    return "\n".join(lines) + "\n"
