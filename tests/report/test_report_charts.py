"""Charts draw what their data say: marks at the right places, every text, nothing outside."""

from __future__ import annotations

import html
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from documents import (
    about,
    charts,
    density_chart,
    dot_chart,
    grid_chart,
    histogram_chart,
    line_chart,
    plane_chart,
    scatter_chart,
    share_chart,
)

from evenhand.core.chart import Chart, DotRow, GridPanel, ScatterChart
from evenhand.core.estimate import NO_INTERVAL
from evenhand.report.charts import NARROW, WIDE, draw, signs
from evenhand.report.charts.canvas import (
    COLOURS,
    EDGE,
    MARKS,
    SHAPES,
    Scale,
    look_of,
    room_about,
    shortened,
    sign,
    ticks,
    width_of,
)
from evenhand.report.charts.dots import swarm
from evenhand.report.charts.grid import short_names
from evenhand.report.charts.histogram import share_ticks
from evenhand.report.charts.plane import clip, name_places
from evenhand.report.charts.scatter import FEW
from evenhand.report.charts.scatter import name_places as scatter_names

WIDTHS = (WIDE, NARROW)
HARD = DotRow(label="x" * 90, interval=about(3.0), note="n" * 60, swarm=(0.1,) * 200)


def texts(picture: str) -> list[str]:
    return [html.unescape(t) for t in re.findall(r"<text [^>]*>(.*?)</text>", picture)]


def marks(picture: str, mark: str) -> list[tuple[float, float]]:
    """Where the marks of a kind are: by shape and colour."""
    look = look_of(mark)
    side = "fill" if look.is_filled else "stroke"
    colour = re.escape(f'{side}="var(--{look.colour}, {COLOURS[look.colour]})"')
    place = r'transform="translate\((\S+) (\S+)\) scale\(\S+\)"'
    pattern = rf'<path d="{re.escape(SHAPES[look.shape])}" {place} [^>]*{colour}'
    return [(float(x), float(y)) for x, y in re.findall(pattern, picture)]


def rects(picture: str, colour: str) -> list[dict[str, float]]:
    tags = re.findall(rf'<rect ([^>]*) fill="var\(--{colour}, #\w+\)"', picture)
    return [{k: float(v) for k, v in re.findall(r'(\w+)="(\S+?)"', tag)} for tag in tags]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_every_picture_has_its_words_and_its_size(chart: Chart, width: int) -> None:
    picture = draw(chart, width)
    kind = "wide" if width == WIDE else "narrow"
    head = rf'<svg class="{kind}" viewBox="0 0 {width} (\d+)" width="{width}" role="img" '
    size = re.match(head + rf'aria-label="{chart.title}"', picture)
    assert size is not None
    assert 40 < int(size[1]) < 900
    assert f"<title>{chart.title}</title><desc>{chart.description}</desc>" in picture
    assert picture.endswith("</svg>")
    assert not re.search(r"\bnan\b|\binf\b", picture)
    colours = set(re.findall(r"#[0-9a-f]{3,6}\b", re.sub(r"var\(--\w+, #\w+\)", "", picture)))
    assert not colours  # every colour follows the page


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_no_text_leaves_the_picture(chart: Chart, width: int) -> None:
    picture = re.sub(r"<g .*?</g>", "", draw(chart, width))
    for tag, text in re.findall(r"<text ([^>]*)>(.*?)</text>", picture):
        attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
        wide = width_of(html.unescape(text))
        shift = {"end": wide, "middle": wide / 2}.get(attributes.get("text-anchor", ""), 0.0)
        left = float(attributes["x"]) - shift
        assert left >= -2
        assert left + wide <= width + 2


def test_dots_lie_where_their_values_are() -> None:
    picture = draw(dot_chart(), WIDE)
    inner = WIDE - 2 * EDGE
    assert [x for x, _ in marks(picture, "model")] == [
        pytest.approx(EDGE + 0.4 * inner, abs=0.1),
        pytest.approx(EDGE + 0.7 * inner, abs=0.1),
    ]
    assert len(marks(picture, "fair")) == len(marks(picture, "random")) == 1
    assert {"tilt", "0.400", "lean", "0.700", "gone", "n/a", "0", "1"} <= set(texts(picture))
    rows = [y for _, y in marks(picture, "model")]
    apart = replace(dot_chart().rows[1], is_apart=True)
    farther = draw(replace(dot_chart(), rows=(dot_chart().rows[0], apart)), WIDE)
    assert marks(farther, "model")[1][1] == rows[1] + 18


def test_a_value_beyond_the_axis_is_drawn_at_its_end() -> None:
    rows = (replace(dot_chart().rows[0], interval=about(7.0)),)
    picture = draw(replace(dot_chart(), rows=rows), WIDE)
    assert marks(picture, "model")[0][0] == WIDE - EDGE


def test_dense_rows_have_their_labels_at_the_left() -> None:
    dense = replace(dot_chart(), is_dense=True, base=0.5, sides=("lower", "higher"), reference=0.6)
    picture = draw(dense, WIDE)
    assert 'text-anchor="end"' in re.findall(r"<text [^>]*>tilt<", picture)[0]
    assert "0.400" not in texts(picture)  # there is no room beside them
    assert "n/a" in texts(picture)  # but where there is no value it says why
    assert {"lower", "higher"} <= set(texts(picture))
    assert picture.count('stroke-dasharray="3 3"') == 1
    assert "0.400" in texts(draw(dense, NARROW))
    bare = replace(dense, rows=tuple(replace(row, note="") for row in dense.rows))
    assert 'text-anchor="end"' in re.findall(r"<text [^>]*>tilt<", draw(bare, NARROW))[0]


def test_a_long_note_has_a_line_of_its_own_in_a_narrow_picture() -> None:
    note = "30 occupations, 0.420 [0.370, 0.470]"
    rows = (replace(dot_chart().rows[0], label="occupations that lean", note=note),)
    picture = draw(replace(dot_chart(), rows=rows), NARROW)
    assert {"occupations that lean", note} <= set(texts(picture))
    heights = [float(y) for y in re.findall(r'<text x="0" y="(\S+)"', picture)]
    assert heights[1] - heights[0] == pytest.approx(18)


def test_a_swarm_has_a_dot_for_every_value() -> None:
    scale = Scale((0.0, 1.0), 0.0, 700.0)
    values = [0.5] * 30 + [0.1, math.nan]
    places = swarm(values, 100.0, scale, 56)
    assert len(places) == len(set(places)) == 31
    assert all(abs(y - 100) <= 28 for _, y in places)
    assert all(abs(x - 350) <= 7 for x, _ in places[1:])
    rows = (DotRow(label="a", interval=about(0.5), mark="female", swarm=(0.1, 0.2, 0.9)),)
    picture = draw(replace(dot_chart(), rows=rows), WIDE)
    assert len(marks(picture, "female")) == 3
    assert len(marks(picture, "model")) == 1


def test_shares_fill_their_bar() -> None:
    picture = draw(share_chart(), WIDE)
    inner = WIDE - 2 * EDGE
    (entailment,) = rects(picture, "entailment")
    assert entailment["x"] == EDGE
    assert entailment["width"] == pytest.approx(0.6 * inner, abs=0.1)
    (contradiction,) = rects(picture, "contradiction")
    assert contradiction["x"] + contradiction["width"] == pytest.approx(WIDE - EDGE, abs=0.1)
    assert len(rects(picture, "neutral")) == 3  # neutral, and two labels without a colour
    assert {"entailment 60 %", "neutral 30 %", "PS", "10 pairs", "yes 50 %"} <= set(texts(picture))
    assert picture.count('stroke-width="1.6"') == 2  # what counts has a frame


def test_bars_of_a_histogram_are_as_tall_as_their_shares() -> None:
    picture = draw(histogram_chart(), WIDE)
    heights = [rect["height"] for rect in rects(picture, "male")]
    (highest,) = rects(picture, "none")
    assert heights == [
        pytest.approx(highest["height"] * 0.5, abs=0.1),
        pytest.approx(highest["height"] * 0.75, abs=0.1),
    ]
    assert len(rects(picture, "female")) == 1  # a bin without values has no bar
    assert {"left 10 %", "middle 40 %", "right 50 %", "20 %"} <= set(texts(picture))
    assert share_ticks(0.4) == [0.2, 0.4]
    assert share_ticks(0.0035) == [0.001, 0.002, 0.003]
    assert draw(replace(histogram_chart(), bins=()), NARROW).startswith("<svg")


def test_points_of_a_scatter_have_names_and_intervals() -> None:
    picture = draw(scatter_chart(), WIDE)
    assert len(marks(picture, "female")) == 3
    assert {"point 0", "point 1", "point 2", "across", "up"} <= set(texts(picture))
    assert picture.count('stroke-dasharray="5 4"') == 1
    assert picture.count('stroke-dasharray="3 3"') == 1
    places = marks(picture, "female")
    assert places[1][0] - places[0][0] == pytest.approx(places[2][0] - places[1][0], abs=0.1)
    assert places[0][1] > places[1][1] > places[2][1]
    gone = replace(scatter_chart().points[0], y=NO_INTERVAL)
    assert len(marks(draw(replace(scatter_chart(), points=(gone,)), WIDE), "female")) == 0
    assert "point 0" not in texts(draw(replace(scatter_chart(), has_names=False), WIDE))


def test_names_of_a_scatter_never_lie_on_one_another() -> None:
    x, y = Scale((0.0, 1.0), 40.0, 700.0), Scale((0.0, 1.0), 340.0, 20.0)
    places = np.random.default_rng(0).random((60, 2))
    many = [
        replace(point, x=about(across), y=about(up))
        for point, (across, up) in zip(scatter_chart(60).points, places.tolist(), strict=True)
    ]
    placed = scatter_names(many, x, y)
    boxes = [(px, py - 6, px + width_of(name, 12), py + 6) for (px, py), name in placed]
    assert 10 < len(boxes) < 60
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            is_apart = one[2] <= other[0] or other[2] <= one[0]
            assert is_apart or one[3] <= other[1] or other[3] <= one[1]
    assert len(scatter_names(many[:FEW], x, y)) == FEW  # few of them all have their name


def test_lines_have_a_panel_each() -> None:
    picture = draw(line_chart(), WIDE)
    assert len(marks(picture, "series-0")) == 2 * (5 + 2)  # means and single values
    assert picture.count('opacity="0.35"') == 4
    assert picture.count('stroke-dasharray="3 3"') == 2
    assert texts(picture).count("r = 1") == 2
    shared = replace(line_chart(), has_shared_axis=True)
    assert texts(draw(shared, WIDE)).count("0.5") == texts(picture).count("0.5") - 1


def test_density_has_cells_means_and_zero_lines() -> None:
    picture = draw(density_chart(), WIDE)
    assert len(rects(picture, "entailment")) == 2
    assert re.findall(r'fill-opacity="(\S+)"', picture) == ["0.8", "0.08"]
    assert len(marks(picture, "model")) == 1
    assert {"model", "r = 0.5", "people"} <= set(texts(picture))


def test_a_grid_tells_every_pair() -> None:
    picture = draw(grid_chart(), WIDE)
    assert texts(picture).count("1.00") == 3
    assert texts(picture).count("0.50") == texts(picture).count("-0.30") == 2
    assert texts(picture).count("n/a") == 2
    assert len(rects(picture, "entailment")) == 5
    assert len(rects(picture, "contradiction")) == 2
    assert {"person a", "a", "alpha 0.4"} <= set(texts(picture))
    names = tuple(f"p{i:02}" for i in range(30))
    values = tuple(tuple(-0.5 for _ in names) for _ in names)
    small = replace(grid_chart(), names=names, panels=(GridPanel(title="t", values=values),) * 2)
    assert texts(draw(small, NARROW)).count("−") == 1800  # not by colour alone
    assert short_names(["a 1", "a 2"]) == ["1", "2"]
    assert short_names(["anna", "b"]) == ["anna", "b"]
    assert short_names(["annabelle", "b"]) == ["1", "2"]
    assert short_names(["same", "same"]) == ["1", "2"]
    assert short_names([]) == []


def test_a_plane_names_its_words_and_draws_the_boundary() -> None:
    picture = draw(plane_chart(), WIDE)
    assert {"man", "woman", "nurse", "joy", "accuracy 0.9"} <= set(texts(picture))
    assert "<title>nurse is here</title>" in picture
    assert "<title>nurse, joy</title>" in picture
    assert picture.count('stroke-dasharray="6 4"') == 1
    nowhere = replace(plane_chart().panels[0], boundary=None, clusters=())
    assert "6 4" not in draw(replace(plane_chart(), panels=(nowhere,)), WIDE)
    empty = replace(nowhere, points=())
    assert draw(replace(plane_chart(), panels=(empty,)), NARROW).startswith("<svg")


def test_a_line_is_cut_where_it_leaves_the_box() -> None:
    low, high = np.asarray([-1.0, -1.0]), np.asarray([1.0, 1.0])
    ends = clip((1.0, -1.0, 0.0), low, high)
    assert ends is not None
    assert [tuple(map(float, end)) for end in ends] == [(-1.0, -1.0), (1.0, 1.0)]
    upright = clip((1.0, 0.0, -0.5), low, high)
    assert upright is not None
    assert [tuple(map(float, end)) for end in upright] == [(0.5, -1.0), (0.5, 1.0)]
    assert clip((1.0, 0.0, -5.0), low, high) is None


def test_names_in_a_plane_give_way_to_those_before_them() -> None:
    points = np.asarray([[100.0, 100.0], [104.0, 100.0], [300.0, 100.0]])
    placed = name_places(points, ["first", "second", "third"], [2, 0, 1], (340.0, 200.0))
    assert [row for row, *_ in placed][:2] == [2, 0]
    crowd = np.asarray([[100.0, 100.0]] * 3 + [[100.0, 100.0 + 3 * i] for i in range(12)])
    names = [f"a long name {i}" for i in range(len(crowd))]
    assert len(name_places(crowd, names, range(len(crowd)), (340.0, 200.0))) < len(crowd)


@pytest.mark.parametrize("width", WIDTHS)
def test_hard_data_are_drawn_too(width: int) -> None:
    for chart in (
        replace(dot_chart(), rows=(HARD, replace(HARD, interval=NO_INTERVAL)), domain=(1.0, 1.0)),
        replace(dot_chart(), rows=(), is_dense=True),
        replace(dot_chart(), rows=(HARD,) * 60, is_dense=True),
        replace(share_chart(), bars=()),
        replace(line_chart(), panels=()),
        replace(density_chart(), panels=()),
        replace(grid_chart(), panels=(), names=()),
        replace(plane_chart(), panels=()),
        ScatterChart(
            name="none",
            title="t",
            description="d",
            points=(),
            x=scatter_chart().x,
            y=scatter_chart().y,
        ),
    ):
        picture = draw(chart, width)
        assert picture.startswith(f'<svg class="{"wide" if width == WIDE else "narrow"}"')
        assert not re.search(r"\bnan\b|\binf\b", picture)


def test_no_two_marks_differ_by_colour_alone() -> None:
    groups = (("model", "random", "constant", "fair"), ("female", "male", "none"))
    for group in (*groups, ("first", "second", "third"), [f"series-{i}" for i in range(5)]):
        shapes = [(look_of(mark).shape, look_of(mark).is_filled) for mark in group]
        assert len(set(shapes)) == len(shapes)
    assert look_of("series-5") == look_of("series-0")


def test_every_mark_has_a_sign() -> None:
    known = (*MARKS, "series-3", "entailment", "counted", "reference", "density", "mean", "zero")
    for mark in (*known, "plain", "bar-female", "boundary", "cluster", "level"):
        assert "var(--" in sign(mark)
    assert "--female" in sign("bar-female")
    assert "--neutral" in sign("whatever")
    drawn = {meaning: shape for shape, meaning in signs(line_chart())}
    assert drawn["fair value"] == sign("level")  # a level line, as in the picture
    drawn = {meaning: shape for shape, meaning in signs(plane_chart())}
    assert SHAPES["circle"] in drawn["job"]
    assert drawn["boundary"] == sign("boundary")


@pytest.mark.parametrize(
    ("domain", "count", "expected"),
    [
        ((0.0, 1.0), 3, [0, 0.5, 1]),
        ((-1.0, 1.0), 3, [-1, 0, 1]),
        ((-0.3, 7.6), 3, [0, 5]),
        ((0.0, 1.0), 5, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ((0.0, 100.0), 5, [0, 20, 40, 60, 80, 100]),
        ((-5.1, 5.1), 5, [-4, -2, 0, 2, 4]),
        ((2.0, 2.0), 5, []),
    ],
)
def test_an_axis_has_round_numbers(
    domain: tuple[float, float], count: int, expected: list[float]
) -> None:
    assert ticks(domain, count) == expected


def test_texts_are_measured_and_cut() -> None:
    assert width_of("女女") == 26
    assert width_of("ab") == pytest.approx(14.3)
    assert shortened("short", 100) == "short"
    cut = shortened("a long label that has to go", 80)
    assert cut.endswith("…")
    assert width_of(cut) <= 80
    assert room_about([1.0, 3.0, math.nan], 0.1) == (0.8, 3.2)
    assert room_about([]) == (0.0, 1.0)
