"""How are people and models shown in a terminal, a readme and a paper? Tables of correlations, agreement, leanings and right answers; lists of sentences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand import __version__
from evenhand.people.beside import Beside, Correlation
from evenhand.people.compare import PeopleComparison
from evenhand.people.sentence_lists import Listed, Sentence
from evenhand.report import people_wording as wording
from evenhand.report.blanks import times
from evenhand.report.comparison import chance
from evenhand.report.latex import commented, floating, tabular
from evenhand.report.latex import escaped as tex
from evenhand.report.markdown import escaped as plain_text
from evenhand.report.markdown import make_table as markdown_table
from evenhand.report.numbers import amount, interval_of, number, percent, with_bounds
from evenhand.report.terminal import add_row, folded, make_table

if TYPE_CHECKING:
    from rich.console import Console

MOST = 200  # rows of every two people that a table has; more are in people.json only
PAIRS = 30  # of people, up to which every pair has a row in a terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table: its first column names the row; `bold` are the rows that are shown."""

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bold: frozenset[int] = frozenset()
    note: str = ""


def _correlations(found: PeopleComparison) -> Iterator[Grid]:
    note = (
        f"Intervals and p over {max(m.clusters for m in found.models):,} {wording.unit_noun(found)}s; bold: shown, adjusted p at most {1 - found.level:.2g}. "
        "p of sentences: every sentence for itself."
    )
    coefficients = (
        ("pearson", "Pearson's r of models with people", "r"),
        ("spearman", "Spearman's rho of models with people", "rho"),
    )
    for name, title, sign in coefficients:
        told: list[tuple[str, Correlation]] = [(m.name, getattr(m, name)) for m in found.models]
        rows = tuple(
            (who, with_bounds(c.interval), chance(c.p), chance(c.adjusted), chance(c.p_sentences))
            for who, c in told
        )
        bold = frozenset(i for i, (_, c) in enumerate(told) if c.adjusted <= 1 - found.level)
        yield Grid(
            name=name,
            title=title,
            heads=("model", sign, "p", "adjusted p", "p of sentences"),
            rows=rows,
            note=note,
            bold=bold,
        )
    sides = [
        (
            m.name,
            percent(m.same_side, 1),
            f"{len(m.people):,}",
            f"{m.asked:,}",
            percent(m.coverage, 1),
        )
        for m in found.models
    ]
    heads = ("model", "same side", "answered by both", "by people", "coverage")
    yield Grid(
        name="sides",
        title="How often do model and people lean to one side?",
        heads=heads,
        rows=tuple(sides),
    )


def _agreement(found: PeopleComparison) -> Iterator[Grid]:
    if (told := found.agreement) is None:
        return
    rows = [
        (wording.STRATA[a.stratum], with_bounds(a.interval), f"{a.sentences:,}")
        for a in told.alphas
    ]
    yield Grid(
        name="alpha",
        title="Krippendorff's alpha of the people",
        heads=("sentences", "alpha", "judged by two or more"),
        rows=tuple(rows),
        note=f"Nominal, of the signs of scores; what somebody was not asked is missing and no category. {wording.drawn(found)}",
    )
    if told.pairs:
        shown = (*told.pairs, *told.others) if len(told.pairs) <= MOST else told.others
        pairs = [
            (
                f"{p.first}, {p.second}",
                wording.STRATA[p.stratum],
                with_bounds(p.pearson),
                chance(p.p),
                f"{p.sentences:,}",
            )
            for p in shown
        ]
        yield Grid(
            name="pairs",
            title="Pearson's r between people",
            heads=("people", "sentences", "r", "p of sentences", "shared"),
            rows=tuple(pairs),
            note=f"{wording.drawn(found) if told.is_drawn else 'Intervals of every two people: Fisher z, every sentence for itself.'}"
            + (
                ""
                if len(told.pairs) <= MOST
                else f" All {len(told.pairs):,} pairs of people are in people.json."
            ),
        )
    leanings = [
        (
            lean.name,
            f"{lean.sentences:,}",
            with_bounds(lean.mean),
            *(percent(lean.shares[s], 1) for s in ("female", "neutral", "male")),
        )
        for lean in (told.everybody, *told.leanings)
    ]
    heads = ("who", "sentences", "mean score", "female", "neutral", "male")
    yield Grid(
        name="leanings",
        title="What people say of measuring sentences",
        heads=heads,
        rows=tuple(leanings),
        note=f"Shares by the sign of the score. {wording.drawn(found)}",
    )


def _accuracies(found: PeopleComparison) -> Grid:
    names = ["people together", *found.people.annotators]
    people = list(zip(names, found.accuracies, strict=True))
    rows = [
        (name, with_bounds(interval_of(e)), f"{e.probes:,}", percent(e.coverage, 1))
        for name, e in (*people, *((m.name, m.accuracy) for m in found.models))
    ]
    return Grid(
        name="accuracy",
        title="Right where the sentence settles the gender",
        heads=("who", "right", "objective sentences", "answered"),
        rows=tuple(rows),
        note="0 counts half; intervals over word pairs.",
    )


def grids(found: PeopleComparison) -> list[Grid]:
    """Every table, in the order of the report."""
    return [*_correlations(found), *_agreement(found), _accuracies(found)]


def model_says(sentence: Sentence) -> str:
    """`奶奶 28 times as likely as 爷爷`."""
    male, female = sentence.probe.texts[1:3]
    if times(sentence.odds) == "1.00":
        return f"{male} and {female} equally likely"
    return (
        f"{male} {times(sentence.odds)} times as likely as {female}"
        if sentence.odds > 0
        else f"{female} {times(sentence.odds)} times as likely as {male}"
    )


def people_say(sentence: Sentence) -> str:
    """The word that people lean to."""
    male, female = sentence.probe.texts[1:3]
    return (
        f"{male} and {female} alike"
        if sentence.people == 0
        else f"rather {male if sentence.people > 0 else female}"
    )


def lists_of(model: Beside) -> list[tuple[str, Listed]]:
    """The four lists by name."""
    return [(name, getattr(model.lists, name)) for name in wording.LISTS]


def signatures(found: PeopleComparison) -> list[str]:
    """The signatures of all numbers, each once."""
    lines = [
        line
        for m in found.models
        for line in (m.pearson.signature, m.spearman.signature, m.accuracy.signature)
    ]
    return list(dict.fromkeys([*lines, *(e.signature for e in found.accuracies)]))


def about(found: PeopleComparison) -> str:
    """Who was asked what?"""
    card, who = found.people.suite.card, found.people.annotators
    kinds = [
        f"{sum(s == k for s in found.people.strata):,} {name}" for k, name in wording.STRATA.items()
    ]
    people = f", {len(who):,} {'person' if len(who) == 1 else 'people'}" if who else ""
    return f"{found.people.name}{people}, on {card.name} {card.version}, {card.language}, {' and '.join(kinds)} sentences"


def print_people(found: PeopleComparison, console: Console) -> None:
    """Print what can be said, the tables and the strongest sentence of each list."""
    from rich.text import Text

    console.print()
    console.print(Text(about(found), style="bold"))
    console.print()
    for line in wording.lead(found):
        console.print(Text(line))
    console.print()
    for grid in grids(found):
        rows = grid.rows[:PAIRS]
        console.print(Text(grid.title, style="bold"))
        table = make_table(*grid.heads)
        for place, row in enumerate(rows):
            add_row(table, *row, bold={1} if place in grid.bold else ())
        console.print(table)
        more = (
            f"{len(grid.rows) - PAIRS:,} more rows are in the report. "
            if len(grid.rows) > PAIRS
            else ""
        )
        if more or grid.note:
            console.print(Text(more + grid.note, style="dim"))
        console.print()
    told = wording.definitions(found)
    for model in found.models:
        console.print(Text(model.name, style="bold"))
        for name, listing in lists_of(model):
            console.print(Text(f"{wording.LISTS[name]}: {amount(listing.total, 'sentence')}"))
            for s in listing.sentences[:1]:
                console.print(
                    Text(
                        f"  {number(s.people)} / {number(s.odds)}  {s.text}  {s.probe.texts[1]}/{s.probe.texts[2]}"
                    )
                )
        console.print()
    for name, line in told.items():
        console.print(Text(f"{wording.LISTS[name]}: {line}", style="dim"))
    console.print()
    for line in wording.notes(found):
        console.print(Text(f"! {line}", style="yellow"))
    console.print()
    for line in (
        line for m in found.models for line in (m.pearson.signature, m.spearman.signature)
    ):
        console.print(
            Text(folded(line, console.width) if console.is_terminal else line, style="dim"),
            soft_wrap=True,
        )


def _markdown_list(listing: Listed) -> str:
    lines = [
        f"- {plain_text(s.text)} (people {number(s.people)}, {plain_text(people_say(s))}; PB {number(s.odds)}, {plain_text(model_says(s))})"
        for s in listing.sentences
    ]
    return "\n".join(lines) or "None."


def to_markdown(found: PeopleComparison) -> str:
    """The comparison as a Markdown document."""
    said = [
        "# People and models on the same sentences",
        plain_text(about(found)),
        *map(plain_text, wording.lead(found)),
    ]
    for grid in grids(found):
        rows = [
            [
                f"**{plain_text(c)}**" if i in grid.bold and j == 1 else plain_text(c)
                for j, c in enumerate(row)
            ]
            for i, row in enumerate(grid.rows)
        ]
        said += [
            f"## {plain_text(grid.title)}",
            markdown_table([plain_text(h) for h in grid.heads], rows),
        ]
        said += [plain_text(grid.note)] if grid.note else []
    told = wording.definitions(found)
    for model in found.models:
        said.append(f"## {plain_text(model.name)} beside the people")
        for name, listing in lists_of(model):
            said += [
                f"### {wording.LISTS[name]} ({amount(listing.total, 'sentence')})",
                plain_text(told[name]),
                _markdown_list(listing),
            ]
    said += [
        "## Method",
        *map(plain_text, wording.method(found)),
        "## Missing and not shown",
        "\n".join(f"- {plain_text(n)}" for n in wording.notes(found)),
    ]
    lines = "\n".join(signatures(found))
    return (
        "\n\n".join([*said, "## Signatures", f"```text\n{lines}\n```", f"evenhand {__version__}."])
        + "\n"
    )


def to_latex(found: PeopleComparison) -> str:
    r"""The tables as LaTeX, to be pulled in by `\input{people.tex}`."""
    lines = [
        r"% needs \usepackage{booktabs,graphicx}",
        *(commented(line) for line in wording.lead(found)),
    ]
    lines += [commented(f"signature {line}") for line in signatures(found)]
    for grid in grids(found):
        rows = [
            [
                rf"\textbf{{{tex(c)}}}" if i in grid.bold and j == 1 else tex(c)
                for j, c in enumerate(row)
            ]
            for i, row in enumerate(grid.rows)
        ]
        inside = tabular("l" + "r" * (len(grid.heads) - 1), [tex(h) for h in grid.heads], rows)
        fitted = [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%", *inside, "}"]
        caption = f"{tex(grid.title)}: {tex(about(found))}. {tex(grid.note)}".strip()
        lines += ["", *floating(fitted, caption, f"tab:evenhand-people-{grid.name}")]
    return "\n".join(lines) + "\n"
