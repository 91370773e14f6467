"""How does the placing of words look? A panel a model: gendered words, professions and emotions in a plane, the numbers of the space above it.

Drawn by hand and not by Altair, for every mark has a title: the word shows under the pointer, without a script.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from evenhand.core.probe import Floats
from evenhand.picture.place import Picture
from evenhand.picture.scene import Scene, Word
from evenhand.report.canvas import SIZE, shortened, width_of
from evenhand.report.numbers import number, with_bounds
from evenhand.report.picture import NARROW, WIDE, Figure
from evenhand.report.svg import COLOURS

GAP, EDGE, MARK, SMALL = (
    20,
    12,
    4.2,
    11,
)  # pixels between panels, inside one's frame, half a mark, of a letter of a label
LINE = 17
SHAPES = {
    "male": "M-1 -1H1V1H-1Z",
    "female": "M0 -1.35L1.35 0L0 1.35L-1.35 0Z",
    "emotion": "M0 -1.3L1.25 1H-1.25Z",
    "profession": "M-1.15 0A1.15 1.15 0 1 0 1.15 0A1.15 1.15 0 1 0 -1.15 0Z",
}
MEANINGS = {
    "male": "male word",
    "female": "female word",
    "profession-male": "profession that leans male",
    "profession-female": "profession that leans female",
    "profession-none": "other profession",
    "emotion": "emotion",
}
PLURALS = {"profession": "professions", "emotion": "emotions"}


def _tone(name: str) -> str:
    return f"var(--{name}, {COLOURS[name][1]})"


def _kind(word: Word) -> str:
    """Which entry of the legend is a word?"""
    return (
        f"profession-{word.lean if word.lean in ('male', 'female') else 'none'}"
        if word.sense == "profession"
        else word.sense
    )


def _mark(kind: str, x: float, y: float, told: str = "") -> str:
    shape, _, lean = kind.partition("-")
    tone = _tone("contradiction" if shape == "emotion" else lean or shape)
    paint = (
        f'fill="{tone}" fill-opacity="0.3" stroke="{tone}" stroke-width="0.35"'
        if lean
        else f'fill="{tone}" stroke="{_tone("paper")}" stroke-width="0.2"'
    )
    title = f"<title>{escape(told)}</title>" if told else ""
    return f'<path d="{SHAPES[shape]}" transform="translate({x:.1f} {y:.1f}) scale({MARK})" {paint}>{title}</path>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    tone: str = "ink",
    size: int = SIZE,
    anchor: str = "start",
    weight: str = "normal",
) -> str:
    rim = f'stroke="{_tone("paper")}" stroke-width="3" fill="{_tone(tone)}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" {rim}>{escape(text)}</text>'


def told(word: Word, distance: float) -> str:
    """What shows under the pointer."""
    side = (
        ""
        if not math.isfinite(distance)
        else f": {abs(distance):.2f} to the {'female' if distance > 0 else 'male'} side"
    )
    share = f", {word.share:g} % women" if math.isfinite(word.share) else ""
    return f"{word.name} ({word.sense}{share}){side}"


def facts(found: Picture) -> list[str]:
    """The numbers above a panel."""
    lines = [
        f"SVM accuracy, unseen words {with_bounds(found.accuracy)}",
        f"genders shuffled {number(found.shuffled)}; in this plane {number(found.plane_accuracy)}{'' if found.line else ', no line'}",
        f"neighbours of own gender {with_bounds(found.purity)}",
    ]
    for sort in found.sorts:
        lines.append(f"{PLURALS[sort.name]} on the male side {with_bounds(sort.male_side)}")
        if math.isfinite(sort.share["pearson"].value):
            lines.append(f"r with share of women {with_bounds(sort.share['pearson'])}")
    return lines


def clip(
    line: tuple[float, float, float], low: Floats, high: Floats
) -> tuple[Floats, Floats] | None:
    """Where the line a x + b y + c = 0 enters and leaves the box; None where it misses it."""
    a, b, c = line
    ends = []
    for x in (low[0], high[0]):
        if b and low[1] <= (y := -(a * x + c) / b) <= high[1]:
            ends.append((x, y))
    for y in (low[1], high[1]):
        if a and low[0] <= (x := -(b * y + c) / a) <= high[0]:
            ends.append((x, y))
    if len(ends) < 2:
        return None
    return np.asarray(min(ends)), np.asarray(max(ends))


def name_places(
    points: Floats, names: Sequence[str], order: Sequence[int], size: tuple[float, float]
) -> list[tuple[int, float, float, str]]:
    """Names beside their marks (row, x, y, anchor), those first in `order` first, none on another name or on another mark."""
    taken = [(x - MARK, y - MARK, x + MARK, y + MARK) for x, y in points]
    found = []
    for row in order:
        x, y = points[row]
        wide, gap = width_of(names[row]) * 1.1 * SMALL / SIZE, MARK + 3
        options = (
            (x + gap, y + 4, "start", x + gap),
            (x - gap, y + 4, "end", x - gap - wide),
            (x, y - gap, "middle", x - wide / 2),
            (x, y + gap + 8, "middle", x - wide / 2),
        )
        for tx, ty, anchor, left in options:
            box = (left, ty - SMALL + 2, left + wide, ty + 2)
            is_inside = box[0] >= 2 and box[2] <= size[0] - 2 and box[1] >= 0 and box[3] <= size[1]
            hits = (
                i
                for i, t in enumerate(taken)
                if i != row and box[0] < t[2] and t[0] < box[2] and box[1] < t[3] and t[1] < box[3]
            )
            if is_inside and next(hits, None) is None:
                taken.append(box)
                found.append((row, tx, ty, anchor))
                break
    return found


def tallness(found: Picture, side: float) -> float:
    """How tall is a plane that is `side` wide? As its points are, within reason."""
    spans = np.ptp(found.plane, axis=0)
    return min(max(float(spans[1] / max(spans[0], 1e-9)), 0.6), 1.0) * side


def _panel(
    scene: Scene, found: Picture, left: float, top: float, size: tuple[float, float]
) -> list[str]:
    """The plane of one model in a frame; both directions on the same scale."""
    low, high = found.plane.min(axis=0), found.plane.max(axis=0)
    scale = float(((np.asarray(size) - 2 * EDGE) / np.maximum(high - low, 1e-9)).min())
    middle, half = (low + high) / 2, np.asarray(size) / 2 / scale

    def place(points: Floats) -> Floats:
        return np.asarray((points - middle) * [scale, -scale] + np.asarray(size) / 2)

    parts = [
        f'<rect width="{size[0]:.1f}" height="{size[1]:.1f}" fill="none" stroke="{_tone("line")}"/>'
    ]
    spots = place(found.plane)
    for cluster in found.clusters:
        corner = spots[list(cluster)]
        centre = corner.mean(axis=0)
        if np.linalg.norm(corner - centre, axis=1).max() > size[0] / 6:
            continue  # the plane tore it apart
        round_about = corner[np.argsort(np.arctan2(*(corner - centre).T))]
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in round_about) + "Z"
        paint = f'fill="{_tone("soft")}" stroke="{_tone("soft")}" stroke-width="16" stroke-linejoin="round" opacity="0.13"'
        parts.append(
            f'<path d="{d}" {paint}><title>{escape(", ".join(scene.words[i].name for i in cluster))}</title></path>'
        )
    ends = clip(found.line, middle - half, middle + half) if found.line else None
    if ends is not None:
        (x1, y1), (x2, y2) = place(np.asarray(ends))
        parts.append(
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{_tone("ink")}" stroke-width="1.6" stroke-dasharray="6 4"/>'
        )
    far = np.nan_to_num(np.abs(found.distances))
    order = sorted(
        range(len(spots)), key=lambda i: (scene.words[i].sense in ("male", "female"), -far[i], i)
    )
    parts += [
        _mark(_kind(w), x, y, told(w, d))
        for w, (x, y), d in zip(scene.words, spots, found.distances, strict=True)
    ]
    for row, x, y, anchor in name_places(spots, [w.name for w in scene.words], order, size):
        parts.append(_text(x, y, scene.words[row].name, size=SMALL, anchor=anchor))
    return [f'<g transform="translate({left:.1f} {top:.1f})">', *parts, "</g>"]


def _legend(
    scene: Scene, pictures: Sequence[Picture], width: int, top: float
) -> tuple[list[str], float]:
    """Marks and their meaning, in as many lines as they need; the parts and where they end."""
    there = {_kind(w) for w in scene.words}
    items = [(kind, meaning) for kind, meaning in MEANINGS.items() if kind in there]
    items += [("line", "boundary learned in this plane")] if any(p.line for p in pictures) else []
    items += (
        [("cluster", "neutral words near one another in the space")]
        if any(p.clusters for p in pictures)
        else []
    )
    parts, x, y = [], 0.0, top
    for kind, meaning in items:
        wide = 22 + width_of(meaning) + 18
        if x and x + wide - 18 > width:
            x, y = 0.0, y + LINE + 3
        if kind == "line":
            parts.append(
                f'<path d="M{x:.1f} {y - 4:.1f}h16" stroke="{_tone("ink")}" stroke-width="1.6" stroke-dasharray="6 4"/>'
            )
        elif kind == "cluster":
            parts.append(
                f'<rect x="{x:.1f}" y="{y - 11:.1f}" width="16" height="13" rx="6" fill="{_tone("soft")}" opacity="0.2"/>'
            )
        else:
            parts.append(_mark(kind, x + 8, y - 4))
        parts.append(_text(x + 22, y, meaning, tone="soft"))
        x += wide
    return parts, y


def _draw(
    scene: Scene, pictures: Sequence[Picture], width: int, kind: str, heading: str, description: str
) -> str:
    columns = min(2 if width > 400 else 1, len(pictures))
    side = (width - GAP * (columns - 1)) / columns if columns > 1 or width < 400 else width * 0.75
    lines = max(len(facts(p)) for p in pictures) + 1
    tall = max(tallness(p, side) for p in pictures)
    step = lines * LINE + 10 + tall + GAP
    parts: list[str] = []
    for place, found in enumerate(pictures):
        row, column = divmod(place, columns)
        left, top = column * (side + GAP), row * step
        parts.append(_text(left, top + SIZE, shortened(found.model, side), weight="bold"))
        parts += [
            _text(left, top + SIZE + LINE * i, line, size=12)
            for i, line in enumerate(facts(found), 1)
        ]
        parts += _panel(scene, found, left, top + lines * LINE + 10, (side, tall))
    keys, end = _legend(scene, pictures, width, math.ceil(len(pictures) / columns) * step + 4)
    head = f'<svg class="{kind}" viewBox="0 0 {width} {end + 10:.0f}" width="{width}" role="img" aria-label="{escape(heading)}">'
    return f"{head}<title>{escape(heading)}</title><desc>{escape(description)}</desc>{''.join(parts + keys)}</svg>"


def words_figure(scene: Scene, pictures: Sequence[Picture]) -> Figure:
    """Every model's panel, in two widths."""
    heading = f"Where models place gendered words{', ' if len(scene.sorts) > 1 else ' and '}{' and '.join(PLURALS[s] for s in scene.sorts)}"
    description = "; ".join(f"{p.model}: {', '.join(facts(p))}" for p in pictures)
    wide, narrow = (
        _draw(scene, pictures, width, kind, heading, description)
        for width, kind in ((WIDE, "wide"), (NARROW, "narrow"))
    )
    return Figure(name="picture", heading=heading, wide=wide, narrow=narrow, legend=())
