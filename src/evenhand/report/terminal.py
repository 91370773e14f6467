"""What should a person at a terminal see? Scores beside what a fair, a guessing and a constant respondent get, and the shares they come from."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from evenhand.core.run import Run
from evenhand.report import wording
from evenhand.report.conventions import sheaves
from evenhand.report.estimates import (
    BASELINE_TITLES,
    baseline_number,
    best_head,
    checks,
    fair,
    ordered,
    short_title,
    ties_of,
)
from evenhand.report.listings import Listing, listings, shortened, told
from evenhand.report.numbers import (
    MISSING,
    amount,
    bounds,
    interval_of,
    number,
    percent,
    plain,
    with_bounds,
)
from evenhand.report.shares import shown_strata

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

ROOMY = 118  # columns from which the counts stand beside the scores
TITLED = 92  # columns from which a stratum is named in full


def make_table(*heads: str) -> Table:
    """An empty table: the first column to the left, numbers to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for i, head in enumerate(heads):
        table.add_column(head, justify="right" if i else "left", no_wrap=i > 0, overflow="fold")
    return table


def add_row(table: Table, *cells: str, bold: Collection[int] = ()) -> None:
    """Add a row of plain texts: `[n/a]` must not be taken for markup."""
    from rich.text import Text

    table.add_row(*(Text(cell, style="bold" if i in bold else "") for i, cell in enumerate(cells)))


def _scores(run: Run, width: int) -> list[Table]:
    """One table where there is room, else the counts in a second one."""
    heads, counts = (
        ("measure", "value", "interval", best_head(run), "random", "constant"),
        ("probes", "clusters", "coverage", "ties"),
    )
    is_roomy = width >= ROOMY
    first = make_table(*heads, *(counts if is_roomy else ()))
    second = make_table("measure", *counts)
    heads_of = (
        {s.estimates[0].measure: s.title for s in sheaves(run)} if len(sheaves(run)) > 1 else {}
    )
    for found in (*ordered(run), *checks(run)):
        name, best = short_title(found.measure), plain(fair(found.measure))
        if heads_of.get(found.measure) and found not in checks(run):
            add_row(first, f"{heads_of[found.measure]}", *[""] * (len(first.columns) - 1), bold={0})
        rules = (
            ["-", "-"]
            if found in checks(run)
            else [baseline_number(run, rule, found.measure) for rule in BASELINE_TITLES]
        )
        counted = [
            f"{found.probes:,}",
            f"{found.clusters:,}",
            percent(found.coverage, 1),
            f"{ties_of(run, found):,}",
        ]
        add_row(
            first,
            name,
            number(found.value),
            bounds(interval_of(found)),
            best,
            *rules,
            *(counted if is_roomy else ()),
            bold={1},
        )
        add_row(second, name, *counted)
    return [first] if is_roomy else [first, second]


def _shares(run: Run, width: int) -> Table:
    """The share of each label in each stratum; those that count against the model have a star."""
    labels = run.answers.labels
    table = make_table(
        "stratum", "pairs", *(label.replace("_", " ") for label in labels), "counts against"
    )
    for row in shown_strata(run):
        cells = [
            f"*{percent(s, 1)}" if label in row.counted else percent(s, 1)
            for label, s in row.shares.items()
        ]
        name = (
            f"{row.stratum} {row.title}"
            if row.title != row.stratum and width >= TITLED
            else row.stratum or row.title
        )
        against = with_bounds(row.component) if row.counted else MISSING if row.note else "-"
        pairs = f"{row.answered:,}" + (f"/{row.probes:,}" if row.answered < row.probes else "")
        add_row(
            table,
            name,
            pairs,
            *cells,
            against,
            bold={i + 2 for i, label in enumerate(labels) if label in row.counted},
        )
    return table


def _listed(listing: Listing, width: int) -> tuple[Table, str]:
    """A table of the report, without intervals where these do not fit, and the words below it."""
    full = [[told(cell) for cell in row] for row in listing.rows]
    sizes = [max(len(cell) for cell in column) for column in zip(listing.heads, *full, strict=True)]
    is_short = sum(sizes) + 3 * (len(sizes) - 1) > width
    table = make_table(*listing.heads)
    for row in listing.rows:
        add_row(table, *(told(cell, is_short=is_short) for cell in row))
    has_dropped = is_short and any(
        told(cell) != told(cell, is_short=True) for row in listing.rows for cell in row
    )
    return table, " ".join(
        filter(None, (listing.note, "The intervals are in the report." if has_dropped else ""))
    )


def _key(run: Run, width: int) -> str:
    """What do the star and the short names mean?"""
    rows = shown_strata(run)
    star = "* counts against the model" if any(row.counted for row in rows) else ""
    names = (
        "; ".join(f"{row.stratum} {row.title}" for row in rows if row.title != row.stratum)
        if width < TITLED
        else ""
    )
    return ". ".join(filter(None, (star, names)))


def folded(signature: str, width: int) -> str:
    """The signature in lines of at most `width`, broken between fields where that is possible."""
    lines = [""]
    for i, field in enumerate(signature.split("|")):
        piece = f"|{field}" if i else field
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("  ")
        lines[-1] += piece
    return "\n".join(lines)


def print_run(run: Run, console: Console) -> None:
    """Print the run: verdict, scores, label shares, what is missing, signatures."""
    from rich.table import Table
    from rich.text import Text

    card = run.suite.card
    of = amount(len(run.suite.probes), "probe") + (
        " of a larger suite" if run.suite.limit is not None else ""
    )
    console.print()
    console.print(
        Text.assemble(
            (run.answers.respondent, "bold"),
            f"  on {card.name} {card.version}, {card.language}, {of}",
        )
    )
    console.print()
    console.print(Text(wording.summary(run)))
    console.print()
    for table in _scores(run, console.width):
        console.print(table)
        console.print()
    if shown_strata(run):
        console.print(_shares(run, console.width))
        if key := _key(run, console.width):
            console.print(Text(key, style="dim"))
        console.print()
    for listing in map(shortened, listings(run)):
        console.print(Text(listing.title, style="bold"))
        table, under = _listed(listing, console.width)
        console.print(table)
        if under:
            console.print(Text(under, style="dim"))
        console.print()
    if notes := wording.notes(run):
        marked = Table.grid(padding=(0, 1))
        for note in notes:
            marked.add_row("!", Text(note), style="yellow")
        console.print(marked)
        console.print()
    for found in (*ordered(run), *checks(run)):
        # a terminal folds between fields; a file gets one line each, to be copied or searched
        line = folded(found.signature, console.width) if console.is_terminal else found.signature
        console.print(Text(line, style="dim"), soft_wrap=True)
