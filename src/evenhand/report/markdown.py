"""What goes into a readme, an issue or a model card? The run as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand import __version__
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
    ties_of,
    title,
)
from evenhand.report.evidence import evidence
from evenhand.report.figures import view_by
from evenhand.report.labour import in_percent, paper_table
from evenhand.report.listings import listings, shortened, told
from evenhand.report.numbers import amount, bounds, interval_of, number, percent, plain, with_bounds
from evenhand.report.shares import shown_strata

OCCUPATIONS = 10


def escaped(text: str) -> str:
    """Text that Markdown leaves as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))


def make_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, the first column to the left, numbers to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _scores(run: Run) -> str:
    rows = []
    heads = {s.estimates[0].measure: s.title for s in sheaves(run)} if len(sheaves(run)) > 1 else {}
    for found in (*ordered(run), *checks(run)):
        if found.measure in heads:
            rows.append([f"*{heads[found.measure]}*", *[""] * 9])
        rules = (
            ["–", "–"]
            if found in checks(run)
            else [baseline_number(run, rule, found.measure) for rule in BASELINE_TITLES]
        )
        counts = [
            f"{found.probes:,}",
            f"{found.clusters:,}",
            percent(found.coverage, 1),
            f"{ties_of(run, found):,}",
        ]
        name, best = escaped(title(found.measure)), plain(fair(found.measure))
        rows.append(
            [name, f"**{number(found.value)}**", bounds(interval_of(found)), best, *rules, *counts]
        )
    return make_table(
        [
            "measure",
            "value",
            f"{run.estimates[0].level * 100:g} % interval",
            best_head(run),
            "random",
            "constant",
            "probes",
            "clusters",
            "coverage",
            "ties",
        ],
        rows,
    )


def _shares(run: Run) -> str:
    rows = []
    for row in shown_strata(run):
        cells = [
            f"**{percent(s, 1)}**" if label in row.counted else percent(s, 1)
            for label, s in row.shares.items()
        ]
        against = (
            with_bounds(row.component) if row.counted and not row.note else escaped(row.note) or "–"
        )
        name = f"{row.stratum} {row.title}" if row.title != row.stratum else row.title
        rows.append([escaped(name), f"{row.answered:,}", *cells, against])
    return make_table(
        [
            "stratum",
            "answered",
            *(escaped(label) for label in run.answers.labels),
            "counts against",
        ],
        rows,
    )


def _worst(run: Run) -> str:
    view = view_by(run, "occupation")
    if view is None:
        return ""
    rows = [
        [escaped(g.name), escaped(g.tags.get("lean", "")), with_bounds(g.interval), str(g.probes)]
        for g in view.groups[:OCCUPATIONS]
    ]
    head = f"### The {amount(len(rows), 'occupation')} farthest from the fair value, of {len(view.groups):,}"
    return (
        head
        + "\n\n"
        + make_table(["occupation", "lean", escaped(title(view.measure)), "pairs"], rows)
    )


def to_markdown(run: Run) -> str:
    """The run as a Markdown document."""
    card, first = run.suite.card, ordered(run)[0]
    signatures = "\n".join(" ".join(e.signature.split()) for e in (*ordered(run), *checks(run)))
    said = [
        f"# {escaped(run.answers.respondent)} on {escaped(card.name)} {escaped(card.version)} ({card.language})",
        f"**{escaped(title(first.measure))} {with_bounds(interval_of(first))}.** {escaped(wording.summary(run))}",
        "## Scores",
        _scores(run),
    ]
    if shown_strata(run):
        said += ["## Label shares", _shares(run), "Shares in bold count against the model."]
    heads, rows = paper_table(run)
    if rows:
        said += [
            "## By the gender of the workers, percent",
            make_table(
                ["occupations", *heads],
                [[label, *(in_percent(i) for i in cells)] for label, cells in rows],
            ),
        ]
    for relation in run.relations:
        said.append(
            f"{title(relation.measure)} against the share of women: Pearson {with_bounds(relation.pearson)}, Spearman {with_bounds(relation.spearman)}."
        )
    for listing in map(shortened, listings(run)):
        body = [
            [escaped(cell) if isinstance(cell, str) else told(cell) for cell in row]
            for row in listing.rows
        ]
        said += [
            f"### {escaped(listing.title)}",
            make_table([escaped(h) for h in listing.heads], body),
            escaped(listing.note),
        ]
    for shown in evidence(run):
        said += [
            f"### {escaped(shown.title)}",
            escaped(shown.note),
            "\n".join(f"- {escaped(item.text)}: {escaped(item.told)}" for item in shown.items),
        ]
    said += [_worst(run), "## Method", escaped(" ".join(wording.method(run)))]
    said += [
        "## What this number does not say",
        "\n".join(f"- {escaped(line)}" for line in wording.limits(run)),
    ]
    if wording.notes(run):
        said += [
            "## Missing and noteworthy",
            "\n".join(f"- {escaped(line)}" for line in wording.notes(run)),
        ]
    said += [
        "## Signatures",
        f"```text\n{signatures}\n```",
        f"Suite: {escaped(card.citation)}; licence {escaped(card.licence)}. evenhand {__version__}.",
    ]
    return "\n\n".join(part for part in said if part) + "\n"
