"""How do people and models look side by side? Who agrees with whom (the paper's Figure 3), people against each model (Figure 4), and both with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from evenhand.people.agreement import AgreementReport
from evenhand.people.compare import PeopleComparison
from evenhand.report.canvas import (
    EDGE,
    SIZE,
    down,
    finished,
    plane,
    shortened,
    spanning,
    width_of,
    words,
)
from evenhand.report.dots import Row, dots
from evenhand.report.numbers import interval_of, number, percent, with_bounds
from evenhand.report.people import people_figure
from evenhand.report.people_wording import STRATA, unit_noun
from evenhand.report.picture import NARROW, WIDE, Figure, make_figure
from evenhand.report.svg import colour

GAP, HEAD, LARGEST, LEGIBLE = (
    36,
    46,
    92,
    44,
)  # pixels between two grids, above a grid, of a cell at most, of a cell that holds its number
SHADES = 5
PEOPLE = 24  # up to which each has a line of its own beside the models


def _short(names: Sequence[str]) -> list[str]:
    """What is left of the names without what all begin with; numbers where nothing is left."""
    alike = [len(set(letters)) == 1 for letters in zip(*names, strict=False)]
    shared = 0 if len(names) < 2 else alike.index(False) if False in alike else len(alike)
    bare = [n[shared:] for n in names]
    return (
        bare
        if all(bare) and max(map(len, bare)) <= 4
        else [str(i) for i in range(1, len(names) + 1)]
    )


def _grid(found: AgreementReport, stratum: str, left: float, top: float, cell: float) -> list[Any]:
    """Pearson's r between every two, shaded by its size."""
    names = found.names
    values = {
        (a, b): 1.0 if a == b else found.pair(stratum, x, y).pearson.value
        for a, x in enumerate(names)
        for b, y in enumerate(names)
    }
    x, layers = (alt.X("px:Q", scale=None, axis=None)), []
    boxes = [
        {
            "px": left + b * cell + 1,
            "to": left + (b + 1) * cell - 1,
            "y": top + a * cell + 1,
            "end": top + (a + 1) * cell - 1,
            "r": r,
        }
        for (a, b), r in values.items()
    ]
    frame = plane(boxes).mark_rect(fillOpacity=0, stroke=colour("line"), strokeWidth=1)
    layers.append(frame.encode(x=x, x2="to:Q", y=down(), y2="end:Q"))
    for shade in range(1, SHADES + 1):
        for tone, side in (("entailment", 1), ("contradiction", -1)):
            if rows := [
                b
                for b in boxes
                if math.isfinite(b["r"]) and math.ceil(b["r"] * side * SHADES) == shade
            ]:
                mark = plane(rows).mark_rect(
                    color=colour(tone), opacity=0.12 + 0.78 * (shade - 1) / (SHADES - 1)
                )
                layers.append(mark.encode(x=x, x2="to:Q", y=down(), y2="end:Q"))
    if cell >= LEGIBLE:
        for tone, is_strong in (("on", True), ("ink", False)):
            told = [
                {
                    "px": (b["px"] + b["to"]) / 2,
                    "y": (b["y"] + b["end"]) / 2,
                    "text": f"{b['r']:.2f}" if math.isfinite(b["r"]) else "n/a",
                }
                for b in boxes
                if (abs(b["r"]) > 3 / SHADES) is is_strong
            ]
            if told:
                layers.append(words(told, align="center", tone=tone, is_clear=False))
    elif negative := [
        {"px": (b["px"] + b["to"]) / 2, "y": (b["y"] + b["end"]) / 2, "text": "−"}
        for b in boxes
        if b["r"] < 0
    ]:
        layers.append(words(negative, align="center", is_clear=False))  # not by colour alone
    if cell >= SIZE:
        heads = [
            {"px": left + (i + 0.5) * cell, "y": top - 10, "text": shortened(s, cell)}
            for i, s in enumerate(_short(names))
        ]
        layers.append(words(heads, align="center", tone="soft", is_clear=False))
    alpha = found.alpha(stratum)
    layers.append(
        words(
            [
                {
                    "px": left,
                    "y": top - 32,
                    "text": f"{STRATA[stratum]}, alpha {number(alpha.interval.value)}",
                }
            ],
            weight="bold",
        )
    )
    return layers


def _grids(found: AgreementReport, width: int) -> Any:
    gutter = min(int(max(map(width_of, found.names))) + 16, width // 4)
    inner = width - gutter - EDGE
    beside = width > NARROW
    cell = min(((inner - GAP) / 2 if beside else inner) / len(found.names), LARGEST)
    tall = cell * len(found.names)
    layers: list[Any] = []
    for place, stratum in enumerate(STRATA):
        left, top = (
            (place * (tall + GAP), HEAD) if beside else (0, HEAD + place * (tall + HEAD + 8))
        )
        layers += _grid(found, stratum, left, top, cell)
        if (not beside or not place) and cell >= SIZE:
            labels = [
                {"px": -8, "y": top + (i + 0.5) * cell, "text": shortened(n, gutter - 10)}
                for i, n in enumerate(found.names)
            ]
            layers.append(words(labels, align="right", is_clear=False))
    return finished(layers, width, int(HEAD + tall if beside else 2 * (HEAD + tall) + 8), gutter)


def agreement_figure(found: PeopleComparison) -> Figure | None:
    """Figure 3 of the paper: Pearson's r between every two people, measuring and objective sentences; none where fewer than two are known."""
    agreement = found.agreement
    if agreement is None or len(agreement.names) < 2:
        return None
    told = "; ".join(
        f"{p.first} and {p.second}, {STRATA[p.stratum]} sentences: r = {with_bounds(p.pearson)}"
        for p in agreement.pairs
    )
    legend = [
        ("density", "Pearson's r of fine scores, the stronger the colour the nearer to 1"),
        ("whole", "the same below 0, with a minus"),
    ]
    has_negative = any(p.pearson.value < 0 for p in agreement.pairs)
    return make_figure(
        "people-agreement",
        "How far people agree with one another",
        told,
        lambda w: _grids(agreement, w),
        legend if has_negative else legend[:1],
    )


def _rows(rows: Sequence[Row], width: int, domain: tuple[float, float], **settings: Any) -> Any:
    gutter = (
        0 if width == NARROW else min(int(max(width_of(r.label) for r in rows)) + 24, WIDE * 2 // 5)
    )
    shown = [
        Row(
            label=r.label,
            interval=r.interval,
            mark=r.mark,
            note="" if gutter else r.note,
            others=r.others,
            gap=r.gap,
        )
        for r in rows
    ]
    return dots(shown, width=width, gutter=gutter, domain=domain, **settings)


def correlation_figure(found: PeopleComparison) -> Figure:
    """Pearson's r of every model with the people, and of each person with the others."""
    rows = [
        Row(label=m.name, interval=m.pearson.interval, note=with_bounds(m.pearson.interval))
        for m in found.models
    ]
    legend = [("model", f"model and people, interval over {unit_noun(found)}s")]
    if found.agreement is not None and 0 < len(found.agreement.others) <= PEOPLE:
        legend.append(("random", "a person and the mean of the others, likewise"))
        for place, p in enumerate(found.agreement.others):
            rows.append(
                Row(
                    label=p.first,
                    interval=p.pearson,
                    mark="random",
                    note=with_bounds(p.pearson),
                    gap=0 if place else 10,
                )
            )
    domain = spanning([v for r in rows for v in r.interval])
    told = "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows)
    return make_figure(
        "people-correlations",
        "Pearson's r with what people say",
        told,
        lambda w: _rows(rows, w, domain, base=0.0, sides=("against", "with the people")),
        [*legend, ("fair", "0: no relation")],
    )


def accuracy_figure(found: PeopleComparison) -> Figure | None:
    """Who is right where the sentence settles the gender? None where nobody was asked such sentences."""
    names = [
        "people together",
        *(found.people.annotators if len(found.people.annotators) <= PEOPLE else ()),
    ]
    rows = [
        Row(label=n, interval=interval_of(e), mark="random", note=percent(e.value, 1))
        for n, e in zip(names, found.accuracies, strict=False)
    ]
    rows += [
        Row(
            label=m.name,
            interval=interval_of(m.accuracy),
            note=percent(m.accuracy.value, 1),
            gap=0 if i else 10,
        )
        for i, m in enumerate(found.models)
    ]
    if not any(math.isfinite(r.interval.value) for r in rows):
        return None
    told = "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows)
    legend = [
        ("random", "people, with interval over word pairs"),
        ("model", "model, likewise"),
        ("reference", "0.5: guessing"),
    ]
    return make_figure(
        "people-accuracy",
        "Right where the sentence settles the gender",
        told,
        lambda w: _rows(rows, w, (0.0, 1.0), reference=0.5),
        legend,
    )


def scatter_figure(found: PeopleComparison) -> Figure | None:
    """Figure 4 of the paper: what people say against PB, a panel for each model; none where no sentence was answered by both."""
    series = [(m.name, m.people, m.odds) for m in found.models if len(m.people)]
    return people_figure(series, name="people-models") if series else None


def figures(found: PeopleComparison) -> list[Figure]:
    """All that there is to draw."""
    drawn = [
        correlation_figure(found),
        scatter_figure(found),
        agreement_figure(found),
        accuracy_figure(found),
    ]
    return [f for f in drawn if f is not None]
