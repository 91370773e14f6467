"""Which tables do runs on blanks and choices have besides the scores? The same in every form of the report."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.estimate import Breakdown
from evenhand.core.run import Run
from evenhand.report.blank_figures import NOUNS, view_of
from evenhand.report.blanks import NEAR, leaning_by, leaning_of, measuring
from evenhand.report.choice_figures import by_type
from evenhand.report.choices import tally
from evenhand.report.estimates import estimate_of, family_of, kind_of, ordered, title
from evenhand.report.numbers import MISSING, interval_of, percent
from evenhand.report.option_listings import stereoset_listings, task_listings, word_listings
from evenhand.report.tables import Cell, Listing, shortened, told

__all__ = ["Listing", "listings", "shortened", "told"]
OTHERS = {"stereoset": stereoset_listings, "words": word_listings, "task": task_listings}


def _leans(run: Run, by: str) -> Listing | None:
    view, whole = view_of(run, "pb_lean", by), estimate_of(run, "pb_lean")
    if view is None or whole is None:
        return None
    shares = {"": leaning_of(measuring(run)[1]), **leaning_by(run, by)}
    groups = [("", interval_of(whole)), *((g.name, g.interval) for g in view.groups)]
    rows = [
        (
            name or "all",
            f"{found.sentences:,}",
            interval,
            percent(found.female, 1),
            percent(found.near, 1),
            percent(found.male, 1),
        )
        for name, interval in groups
        if (found := shares.get(name)) is not None
    ]
    return Listing(
        name=f"lean-{by}",
        title=f"PB lean by {NOUNS[by]}",
        heads=(NOUNS[by], "sentences", "PB lean", "female", "near 0", "male"),
        rows=tuple(rows),
        note=f"PB above 0 leans male. Female, near 0, male: shares of the sentences with PB of -{NEAR:g} and below, between, {NEAR:g} and above.",
        is_quoted=by == "pair",
    )


def _plain(
    view: Breakdown | None, name: str, heading: str, heads: tuple[str, ...]
) -> Listing | None:
    if view is None:
        return None
    rows = tuple(
        (g.name, f"{g.probes:,}", g.interval) for g in sorted(view.groups, key=lambda g: g.name)
    )
    return Listing(name=name, title=heading, heads=heads, rows=rows)


def _outcomes(run: Run) -> Iterator[Listing]:
    found = [(e, t) for e in ordered(run) if (t := tally(run, e)) is not None]
    if not found:
        return
    rows = [
        (_short(e.measure), f"{t.pairs:,}", f"{t.first:,}", f"{t.ties:,}", f"{t.second:,}")
        for e, t in found
    ]
    heads = ("score", "pairs", "stereotypical likelier", "ties", "other likelier")
    yield Listing(
        name="outcomes", title="What the scores are counted from", heads=heads, rows=tuple(rows)
    )
    names = list(dict.fromkeys(name for e, _ in found for name in e.parts))
    if names:
        parts: list[tuple[Cell, ...]] = [
            (_short(e.measure), *(e.parts.get(n, MISSING) for n in names)) for e, _ in found
        ]
        yield Listing(
            name="parts",
            title="The published form and the two directions",
            heads=("score", *names),
            rows=tuple(parts),
            note="official: ties count against. stereo, antistereo: pairs written as stereotypes and against them, ties left out.",
        )


def _short(measure: str) -> str:
    """`shared tokens` of `CrowS-Pairs, shared tokens`."""
    return title(measure).rpartition(", ")[2]


def _types(run: Run) -> Listing | None:
    measures, groups = by_type(run)
    if not groups:
        return None
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, f"{pairs:,}", *values) for name, pairs, values in groups
    )
    return Listing(
        name="types",
        title="By kind of bias",
        heads=("kind of bias", "pairs", *map(_short, measures)),
        rows=rows,
        note="0.5 is fair.",
    )


def listings(run: Run) -> list[Listing]:
    """The tables of this run; none for pairs, whose report has its own."""
    found: list[Listing | None] = []
    if kind_of(run) == "mask":
        right = view_of(run, "objective_accuracy", "type")
        found = [
            _leans(run, "pair"),
            _leans(run, "topic"),
            _plain(
                right,
                "settled",
                "Right where the sentence settles the gender, by what settles it",
                ("type", "sentences", "accuracy"),
            ),
        ]
    elif (others := OTHERS.get(family_of(run))) is not None:
        found = list(others(run))
    elif kind_of(run) == "choice":
        found = [*_outcomes(run), _types(run)]
    return [listing for listing in found if listing is not None]
