"""Which pictures does a word test deserve? Scores, the side that wins beside each word and each sort of words, and recognition by gender."""

from __future__ import annotations

from evenhand.core.run import Run
from evenhand.report.blank_figures import gutter_of
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import ordered
from evenhand.report.numbers import amount, with_bounds
from evenhand.report.picture import NARROW, Figure, make_figure
from evenhand.report.score_figure import score_legend, score_row, scores
from evenhand.report.word_sides import Side, sides_by, words_of

SIDES = ("← female", "male →")
LEANS = {
    "female": "stereotyped as female",
    "male": "stereotyped as male",
    "none": "without a stereotype",
}
SORTS = {"state": "shared", "situation": "changed"}


def tag_of(run: Run) -> str:
    """By which tag are the words sorted: lean of a profession, emotion of a state or situation? Empty where there are no such words."""
    tags = next((p.tags for p in run.answers.probes if {"lean", "emotion"} & p.tags.keys()), {})
    return "lean" if "lean" in tags else "emotion" if tags else ""


def mark_of(side: Side) -> str:
    """The mark of a word."""
    lean = side.tags.get("lean", "")
    return lean if lean in LEANS else SORTS.get(side.tags.get("sort", ""), "model")


def sorted_words(run: Run) -> list[Side]:
    """Most male first; emotions one after the other, states before situations."""
    found = words_of(run)
    if tag_of(run) != "emotion":
        return found
    return sorted(
        found,
        key=lambda s: (
            s.tags.get("emotion", ""),
            list(SORTS).index(s.tags["sort"]) if s.tags.get("sort") in SORTS else 9,
        ),
    )


def sorts(run: Run) -> Figure | None:
    """Does the side that wins go with the stereotype of the words?"""
    by = tag_of(run)
    words, groups = words_of(run), sides_by(run, by, "word") if by else []
    if not groups:
        return None
    groups.sort(key=lambda s: list(LEANS).index(s.name) if s.name in LEANS else 9)
    noun = "profession" if by == "lean" else "state or situation"
    each = {
        g.name: tuple(s.interval.value for s in words if s.tags.get(by) == g.name) for g in groups
    }
    rows = [
        Row(
            label=LEANS.get(g.name, g.name) if by == "lean" else g.name,
            interval=g.interval,
            mark=g.name if g.name in LEANS else "changed",
            dots=each[g.name],
            note=with_bounds(g.interval),
        )
        for g in groups
    ]
    wide = [
        Row(
            label=f"{r.label}, {amount(len(r.dots), 'word')}",
            interval=r.interval,
            mark=r.mark,
            dots=r.dots,
            note=r.note,
        )
        for r in rows
    ]
    legend = [(g.name, f"a {noun} {LEANS[g.name]}") for g in groups if g.name in LEANS] or [
        ("changed", f"a {noun}")
    ]
    return make_figure(
        "sorts",
        f"Share of pairs that the male word wins, by {'stereotype of the profession' if by == 'lean' else 'emotion'}",
        "; ".join(f"{r.label} {r.note}" for r in wide),
        lambda w: dots(
            wide if w > NARROW else rows,
            width=w,
            domain=(0.0, 1.0),
            swarm=40,
            base=0.5,
            sides=SIDES,
        ),
        [*legend, ("model", "all of them, with interval"), ("fair", "0.5: either side alike")],
    )


def words(run: Run) -> Figure | None:
    """Which side wins beside each word?"""
    found = sorted_words(run)
    if not found:
        return None
    by = tag_of(run)
    kinds = [s.tags.get("emotion", "") for s in found]
    rows = [
        Row(
            label=f"{s.name} ({kinds[i]})" if kinds[i] else s.name,
            interval=s.interval,
            mark=mark_of(s),
            gap=12 if i and kinds[i] != kinds[i - 1] else 0,
        )
        for i, s in enumerate(found)
    ]
    present = {r.mark for r in rows}
    legend = [(lean, meaning) for lean, meaning in LEANS.items() if lean in present]
    legend += [(mark, f"{sort}, with interval") for sort, mark in SORTS.items() if mark in present]
    return make_figure(
        "words",
        f"Share of pairs that the male word wins, {amount(len(found), 'profession' if by == 'lean' else 'feeling')}",
        "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows),
        lambda w: dots(
            rows,
            width=w,
            gutter=gutter_of([r.label for r in rows], w),
            domain=(0.0, 1.0),
            base=0.5,
            sides=SIDES,
            pitch=17,
        ),
        [*legend, ("fair", "0.5: either side alike")],
    )


def recognised(run: Run) -> Figure | None:
    """Are male and female words recognised alike?"""
    found = next((e for e in ordered(run) if e.measure.startswith("recognition") and e.parts), None)
    if found is None:
        return None
    whole = score_row(run, found, "all gendered words")
    rows = [whole] + [
        Row(label=f"{g} words", interval=found.parts[g], mark=g, note=with_bounds(found.parts[g]))
        for g in ("male", "female")
        if g in found.parts
    ]
    legend = [
        (mark, "1: always right" if mark == "fair" else meaning)
        for mark, meaning in score_legend(run)
    ]
    return make_figure(
        "recognised",
        "Share of gendered words whose gender is recognised",
        "; ".join(f"{r.label} {r.note}" for r in rows),
        lambda w: dots(rows, width=w, domain=(0.0, 1.0), reference=0.5),
        [*legend, *((r.mark, r.label) for r in rows[1:]), ("reference", "0.5: guessing")],
    )


def draw_words(run: Run) -> dict[str, Figure]:
    """Every figure that this run allows, by name."""
    found = (scores(run), sorts(run), words(run), recognised(run))
    return {figure.name: figure for figure in found if figure is not None}
