"""Which tables do runs on StereoSet, word tests and tasks have besides the scores?"""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.estimate import Interval
from evenhand.core.run import Run
from evenhand.report.estimates import estimate_of, short_title
from evenhand.report.numbers import MISSING, interval_of, percent
from evenhand.report.stereoset_figures import FEW, directions, groups_by, names
from evenhand.report.tables import Cell, Listing
from evenhand.report.tasks import golds, told_label
from evenhand.report.word_figures import tag_of
from evenhand.report.word_sides import Side, sides_by, words_of


def stereoset_listings(run: Run) -> Iterator[Listing]:
    """Domains, and every target."""
    above = directions(run)[1].strip("→ ")
    for by, name, heading in (
        ("domain", "domains", "By domain"),
        ("target", "targets", "By target"),
    ):
        found = groups_by(run, by)
        if "ss" not in found:
            continue
        order = sorted(
            found["ss"].values(),
            key=lambda g: (g.probes < FEW, -abs(g.interval.value - 0.5), g.name),
        )
        wholes = {q: estimate_of(run, names(run)[q]) for q in found}
        rows: list[tuple[Cell, ...]] = [
            (
                "all",
                f"{sum(g.probes for g in order):,}",
                *(interval_of(e) if e else MISSING for e in wholes.values()),
            )
        ]
        for g in order:
            rows.append(
                (
                    g.name,
                    f"{g.probes:,}",
                    *(found[q][g.name].interval if g.name in found[q] else MISSING for q in found),
                )
            )
        last = (
            f" Targets with fewer than {FEW} items stand last."
            if order and order[-1].probes < FEW and by == "target"
            else ""
        )
        yield Listing(
            name=name,
            title=heading,
            heads=(by, "items", *(short_title(names(run)[q]) for q in found)),
            rows=tuple(rows),
            note=f"SS: 0.5 is no preference, above it {above}. LMS and iCAT: 1 is best.{last}",
            far="farthest from 0.5",
        )


def _row(side: Side, *cells: str) -> tuple[Cell, ...]:
    return (side.name, *cells, f"{side.comparisons:,}", side.interval)


def word_listings(run: Run) -> Iterator[Listing]:
    """Words, sorts of words and pairs of gendered words by the share that the male word wins; recognition by gender."""
    by = tag_of(run)
    if by:
        words = sorted(words_of(run), key=lambda s: (-abs(s.interval.value - 0.5), s.name))
        count = sum(s.comparisons for s in words)
        whole = next(
            (
                e
                for e in run.estimates
                if "fairness" in e.measure and not e.measure.endswith("_discrete")
            ),
            None,
        )
        male: Cell = whole.parts["male"] if whole else MISSING
        note = "Share of comparisons that the male word wins, ties half; 0.5 is fair."
        sort = "stereotype" if by == "lean" else "emotion"
        groups = [
            g
            for tag in ((by, "sort") if by == "emotion" else (by,))
            for g in sides_by(run, tag, "word")
        ]
        yield Listing(
            name="sorts",
            title=f"By {sort}" + (" and sort" if by == "emotion" else ""),
            heads=(sort, "comparisons", "male word wins"),
            rows=(("all", f"{count:,}", male), *(_row(g) for g in groups)),
            note=note,
        )
        both = [
            (s, ", ".join(filter(None, (s.tags.get(by, ""), s.tags.get("sort", "")))))
            for s in words
        ]
        yield Listing(
            name="words",
            title="By word",
            heads=("word", sort, "comparisons", "male word wins"),
            is_quoted=True,
            far="farthest from 0.5",
            note=note,
            rows=(("all", "", f"{count:,}", male), *(_row(s, about) for s, about in both)),
        )
        pairs = sorted(
            sides_by(run, "pair", "word"), key=lambda s: (-abs(s.interval.value - 0.5), s.name)
        )
        yield Listing(
            name="pairs",
            title="By pair of gendered words",
            heads=("pair", "comparisons", "male word wins"),
            is_quoted=True,
            far="most one-sided",
            rows=(("all", f"{count:,}", male), *map(_row, pairs)),
            note=f"{note} A pair that one side wins beside nearly every word says more about the pair than about the words.",
        )
    known = [
        (label, e)
        for label, name in (("by score", "recognition"), ("by label", "recognition_discrete"))
        if (e := estimate_of(run, name))
    ]
    if known:
        parts = ("male", "female", "deviation", "ties")
        rows: list[tuple[Cell, ...]] = [
            (label, interval_of(e), *(_share(e.parts.get(p), p) for p in parts))
            for label, e in known
        ]
        yield Listing(
            name="recognised",
            title="Recognition by gender",
            heads=("recognition", "all words", "male words", "female words", "deviation", "ties"),
            rows=tuple(rows),
            note="Deviation of the two genders with n - 1, as published. Ties count half.",
        )


def _share(part: Interval | None, name: str) -> Cell:
    return MISSING if part is None else percent(part.value, 1) if name == "ties" else part


def task_listings(run: Run) -> Iterator[Listing]:
    """What the model says where what is right."""
    found = golds(run)
    if found:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                told_label(g.label),
                f"{g.items:,}",
                *(percent(s, 1) for s in g.shares.values()),
                g.recall,
            )
            for g in found
        )
        yield Listing(
            name="recalls",
            title="What the model says, by gold label",
            heads=("gold label", "items", *map(told_label, run.answers.labels), "right"),
            rows=rows,
        )
