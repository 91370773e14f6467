"""The Document of the embedding picture: the numbers of every model, and its plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand import __version__
from evenhand.core.chart import DotRow, PlaneChart, PlanePanel, PlanePoint
from evenhand.core.document import Callout, Column, Document, Row, Section, Table
from evenhand.core.plain import plain
from evenhand.core.settings import Settings
from evenhand.core.text import listed, number, signed_with_bounds, with_bounds
from evenhand.picture.place import Picture
from evenhand.picture.scene import Scene, Word

PLURALS = {"profession": "professions", "emotion": "emotions"}
MEANINGS = {
    "male": "male word",
    "female": "female word",
    "profession-male": "profession that leans male",
    "profession-female": "profession that leans female",
    "profession-none": "other profession",
    "emotion": "emotion",
}
FARTHEST = 5  # how many words are named at either end


def hover_text(word: Word, distance: float) -> str:
    """The text that is shown under the pointer."""
    side = ""
    if math.isfinite(distance):
        side = f": {abs(distance):.2f} to the {'female' if distance > 0 else 'male'} side"
    share = f", {word.share:g} % women" if math.isfinite(word.share) else ""
    return f"{word.name} ({word.sense}{share}){side}"


def panel_facts(picture: Picture) -> list[str]:
    """The numbers above a panel."""
    lines = [
        f"SVM accuracy, unseen words {with_bounds(picture.accuracy)}",
        f"genders shuffled {number(picture.shuffled)}",
        f"neighbours of own gender {with_bounds(picture.purity)}",
    ]
    for sort in picture.sorts:
        lines.append(f"{PLURALS[sort.name]} on the male side {with_bounds(sort.male_side)}")
        if math.isfinite(sort.by_share["pearson"].value):
            lines.append(f"r with share of women {with_bounds(sort.by_share['pearson'])}")
    return lines


def plane_note(picture: Picture) -> str:
    """How well a boundary in the plane tells unseen words apart, and whether one is drawn."""
    accuracy = (
        f"accuracy of a boundary in this plane, unseen words {with_bounds(picture.plane_accuracy)}"
    )
    return accuracy if picture.line else f"{accuracy}: may be chance, so none is drawn"


def _distances(scene: Scene, picture: Picture) -> tuple[DotRow, ...]:
    """Every kind of word: the signed distances of its words, and their mean with its interval."""
    rows = []
    for kind, words in scene.kinds.items():
        interval = picture.kinds[kind]
        if not math.isfinite(interval.value):
            continue
        rows.append(
            DotRow(
                label=f"{MEANINGS[kind]}, n = {len(words)}",
                interval=interval,
                mark=kind,
                note=signed_with_bounds(interval),
                swarm=tuple(float(picture.distances[i]) for i in words),
                swarm_names=tuple(scene.words[i].name for i in words),
            )
        )
    return tuple(rows)


def _panel(scene: Scene, picture: Picture) -> PlanePanel:
    far = np.nan_to_num(np.abs(picture.distances))
    order = sorted(
        range(len(scene.words)),
        key=lambda i: (scene.words[i].sense in ("male", "female"), -far[i], i),
    )
    rank = {row: place for place, row in enumerate(order)}
    points = tuple(
        PlanePoint(
            name=word.name,
            x=float(x),
            y=float(y),
            mark=word.kind,
            hover=hover_text(word, float(distance)),
            rank=rank[row],
        )
        for row, (word, (x, y), distance) in enumerate(
            zip(scene.words, picture.plane, picture.distances, strict=True)
        )
    )
    return PlanePanel(
        title=picture.model,
        facts=tuple(panel_facts(picture)),
        points=points,
        boundary=picture.line,
        clusters=picture.clusters,
        distances=_distances(scene, picture),
        note=plane_note(picture),
    )


def plane_chart(scene: Scene, pictures: Sequence[Picture]) -> PlaneChart:
    """Of every model, the signed distances of unseen words first, and its plane beside them."""
    legend = [(kind, MEANINGS[kind]) for kind in scene.kinds]
    legend.append(("model", "mean of a kind, with interval"))
    if any(p.line for p in pictures):
        legend.append(("boundary", "boundary learned in this plane"))
    if any(p.clusters for p in pictures):
        legend.append(("cluster", "neutral words near one another in the space"))
    sorts = [PLURALS[s] for s in scene.sorts]
    words = "; ".join(_in_words(scene, picture) for picture in pictures)
    return PlaneChart(
        name="picture",
        title=f"Where models place {listed(['gendered words', *sorts])}",
        description=words,
        legend=tuple(legend),
        panels=tuple(_panel(scene, p) for p in pictures),
        axis="signed distance to the boundary, in deviations of gendered words",
        sides=("← male side", "female side →"),
    )


def _in_words(scene: Scene, picture: Picture) -> str:
    distances = (f"{row.label} at {row.note}" for row in _distances(scene, picture))
    return f"{picture.model}: {', '.join((*panel_facts(picture), *distances, plane_note(picture)))}"


def _numbers_table(scene: Scene, pictures: Sequence[Picture]) -> Table:
    """One column per model."""
    rows: list[tuple[str, list[str]]] = [
        ("vector", [p.about for p in pictures]),
        ("SVM accuracy, words not seen", [with_bounds(p.accuracy) for p in pictures]),
        ("genders shuffled", [number(p.shuffled) for p in pictures]),
        ("in the plane, words not seen", [with_bounds(p.plane_accuracy) for p in pictures]),
        ("neighbours of own gender", [with_bounds(p.purity) for p in pictures]),
        ("by chance", [number(p.chance) for p in pictures]),
    ]
    for place, sort in enumerate(scene.sorts):
        rows += _sort_rows(scene, pictures, place)
        for end, sign in (("male", 1), ("female", -1)):
            ends = []
            for picture in pictures:
                key = sign * picture.distances
                first = sorted(scene.rows(sort), key=lambda i: key[i])[:FARTHEST]
                ends.append(", ".join(scene.words[i].name for i in first))
            rows.append((f"{PLURALS[sort]} farthest to the {end} side", ends))
    return Table(
        name="picture",
        title="Numbers of the space",
        columns=(Column(title=""), *(Column(title=p.model) for p in pictures)),
        rows=tuple(Row(cells=(name, *cells)) for name, cells in rows),
        note=f"{len(scene.pairs)} pairs of gendered words; "
        "positive distances are on the female side.",
    )


def _sort_rows(
    scene: Scene, pictures: Sequence[Picture], place: int
) -> list[tuple[str, list[str]]]:
    sorts = [p.sorts[place] for p in pictures]
    name = PLURALS[scene.sorts[place]]
    rows = [(f"{name} on the male side", [with_bounds(s.male_side) for s in sorts])]
    figures = (
        ("share of women", sorts[0].with_share, [s.by_share for s in sorts]),
        ("lean", sorts[0].with_lean, [s.by_lean for s in sorts]),
    )
    for figure, count, coefficients in figures:
        for kind in ("pearson", "spearman") if count >= 3 else ():
            label = f"{name}, distance and {figure}, {kind.capitalize()} (n = {count})"
            rows.append((label, [with_bounds(c[kind]) for c in coefficients]))
    return rows


def picture_document(scene: Scene, pictures: Sequence[Picture], language: str) -> Document:
    """The Document: the numbers first, then the plane."""
    chart = plane_chart(scene, pictures)
    notes = [f"{p.model}: {note}" for p in pictures for note in p.notes]
    sections = [
        Section(
            name="numbers",
            title="Numbers",
            blocks=(_numbers_table(scene, pictures),),
            is_brief=True,
        ),
        Section(name="plane", title="Distances and plane", blocks=(chart,)),
    ]
    if notes:
        callouts = tuple(Callout(text=note) for note in notes)
        sections.append(Section(name="notes", title="Notes", blocks=callouts, is_brief=True))
    return Document(
        name="picture",
        title=chart.title,
        subtitle=", ".join(scene.suites),
        lead=(
            "A linear SVM tells male from female words; its accuracy is that on words it has "
            "not seen. Every word stands at its signed distance to the boundary of a fit without "
            "it. The plane beside is t-SNE, for the eye only.",
        ),
        sections=tuple(sections),
        language=language,
    )


def picture_fields(scene: Scene, picture: Picture, settings: Settings) -> dict[str, Any]:
    """The picture of one model as plain data."""
    words = [
        {
            "word": word.name,
            "sentence": word.sentence,
            "sense": word.sense,
            "lean": word.lean or None,
            "share_women": word.share,
            "distance": float(distance),
            "plane": [float(x), float(y)],
        }
        for word, distance, (x, y) in zip(
            scene.words, picture.distances, picture.plane, strict=True
        )
    ]
    sorts = {
        s.name: {
            "words": s.words,
            "male_side": s.male_side,
            "share_women": {**s.by_share, "words": s.with_share},
            "lean": {**s.by_lean, "words": s.with_lean},
        }
        for s in picture.sorts
    }
    fields = {
        "model": picture.model,
        "vectors": picture.about,
        "suites": scene.suites,
        "version": __version__,
        "seed": settings.seed,
        "level": settings.level,
        "pairs": len(scene.pairs),
        "groups": len(set(scene.groups)),
        "accuracy": picture.accuracy,
        "accuracy_shuffled": picture.shuffled,
        "purity": picture.purity,
        "purity_chance": picture.chance,
        "accuracy_in_plane": picture.plane_accuracy,
        "distances": picture.kinds,
        "sorts": sorts,
        "clusters": [[scene.words[i].name for i in c] for c in picture.clusters],
        "notes": picture.notes,
        "words": words,
    }
    return dict(plain(fields))
