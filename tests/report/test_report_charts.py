"""Charts are Vega-Lite specifications of what their data say, and become pictures of it."""

from __future__ import annotations

import html
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
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

from evenhand.core.chart import Chart, DotChart, DotRow, GridPanel, Point, ScatterChart
from evenhand.core.estimate import NO_INTERVAL
from evenhand.report.charts import NARROW, WIDE, draw, series_of, sign_svg, signs
from evenhand.report.charts import spec_of as raw_spec_of
from evenhand.report.charts.dots import apart, outliers, swarm
from evenhand.report.charts.panels import short_names
from evenhand.report.charts.plane import clip, name_places
from evenhand.report.charts.scatter import FEW, Scale, overlap
from evenhand.report.charts.scatter import name_places as scatter_names
from evenhand.report.charts.theme import (
    COLOURS,
    MARKS,
    SHAPES,
    axis_title,
    look_of,
    paint,
    room_about,
    shortened,
    sign_of,
    width_of,
    wrapped,
)

SCHEMA = json.loads(
    (files("altair.vegalite.v6.schema") / "vega-lite-schema.json").read_text(encoding="utf-8")
)
WIDTHS = (WIDE, NARROW)
HARD = DotRow(label="x" * 90, interval=about(3.0), note="n" * 60, swarm=(0.1,) * 200)
Spec = dict[str, Any]


def spec_of(chart: Chart, width: int = WIDE) -> Spec:
    """The specification of a chart, with the data in the layers that show them."""
    spec = raw_spec_of(chart, width)
    datasets = spec.pop("datasets", {})
    for unit in units(spec):
        if "name" in unit.get("data", {}):
            unit["data"] = {"values": datasets[unit["data"]["name"]]}
    return spec


def units(spec: Spec) -> Iterator[Spec]:
    """Every layer of a specification, in the order in which they are drawn."""
    parts = spec.get("layer") or spec.get("concat")
    if parts is None:
        yield spec
    else:
        for part in parts:
            yield from units(part)


def values(spec: Spec, mark: str, *fields: str) -> list[Spec]:
    """The data of all layers of a kind of mark whose rows have these fields."""
    return [
        row
        for unit in units(spec)
        if unit["mark"]["type"] == mark
        for row in unit["data"]["values"]
        if set(fields) <= set(row)
    ]


def channel(spec: Spec, name: str) -> Spec:
    """The first encoding of a channel by a field."""
    found = (u["encoding"][name] for u in units(spec) if "field" in u["encoding"].get(name, {}))
    return dict(next(found))


def words(spec: Spec) -> list[str]:
    """The texts that are set as marks."""
    return [str(row.get("text") or row.get("caption")) for row in values(spec, "text")]


def texts(picture: str) -> list[str]:
    return [html.unescape(t) for t in re.findall(r"<text [^>]*>(.*?)</text>", picture)]


@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_every_specification_is_vega_lite(chart: Chart) -> None:
    for width in WIDTHS:
        spec = raw_spec_of(chart, width)
        jsonschema.validate(spec, SCHEMA)
        assert json.loads(json.dumps(spec, allow_nan=False)) == spec


@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_every_picture_has_its_words_and_its_size(chart: Chart) -> None:
    for width in WIDTHS:
        picture = draw(chart, width)
        kind = "wide" if width == WIDE else "narrow"
        head = rf'<svg class="{kind}" viewBox="0 0 (\S+) (\S+)" width="\1" '
        head += r'style="max-width:\1px" role="img" '
        size = re.match(head + rf'aria-label="{chart.title}"', picture)
        assert size is not None
        assert float(size[1]) <= width + 8
        assert 40 < float(size[2]) < 900
        assert f"<title>{chart.title}</title><desc>{chart.description}</desc>" in picture
        assert picture.endswith("</svg>")
        assert not re.search(r"\bnan\b|\binf\b|undefined|null", picture, re.IGNORECASE)
        bare = re.sub(r"var\(--\w+, #\w+\)", "", picture)
        assert not re.search(r"#[0-9a-f]{3,6}\b|fill=\"(?:white|black)", bare)  # follow the page


@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_every_axis_of_numbers_has_a_title(chart: Chart) -> None:
    titles = []
    for unit in units(spec_of(chart)):
        for name in ("x", "y"):
            encoded = unit["encoding"].get(name, {})
            axis = encoded.get("axis")
            if encoded.get("type") == "quantitative" and axis and axis.get("labels", True):
                titles.append(axis["title"])
    assert all(titles) or chart.name == "lines"  # panels beside the first have none
    assert titles or chart.name in ("grid", "plane")


def test_dots_lie_where_their_values_are() -> None:
    spec = spec_of(dot_chart())
    rows = values(spec, "point", "x")
    own = [row for row in rows if row["mark"] == "model"]
    assert [(row["row"], row["x"], row["interval"]) for row in own] == [
        ("0", 0.4, "[0.380, 0.420]"),
        ("1", 0.7, "[0.680, 0.720]"),
    ]
    assert [(row["row"], row["x"]) for row in rows if row["mark"] == "random"] == [("1", 0.5)]
    bounds = [(row["x"], row["x2"]) for row in values(spec, "rule", "x2")]
    assert bounds == [pytest.approx((0.38, 0.42)), pytest.approx((0.68, 0.72))]
    assert channel(spec, "x")["scale"]["domain"] == [0.0, 1.0]
    assert {"tilt", "0.400", "lean", "0.700", "gone", "n/a"} <= set(words(spec))
    assert {"tilt", "n/a", "0.0", "1.0", "value"} <= set(texts(draw(dot_chart())))


def test_groups_stand_apart() -> None:
    rows = (dot_chart().rows[0], replace(dot_chart().rows[1], is_apart=True))
    assert channel(spec_of(replace(dot_chart(), rows=rows)), "y")["scale"]["domain"] == [
        "0",
        "above 1",
        "1",
    ]


def test_a_value_beyond_the_axis_is_drawn_at_its_end_and_lines_are_clipped() -> None:
    rows = (replace(dot_chart().rows[0], interval=about(7.0)),)
    spec = spec_of(replace(dot_chart(), rows=rows))
    (point,) = [row for row in values(spec, "point", "x") if row["mark"] == "model"]
    assert (point["x"], point["value"]) == (1.0, "7.000")
    for chart in (dot_chart(), scatter_chart(), line_chart(), density_chart(), plane_chart()):
        lines = [u["mark"] for u in units(spec_of(chart)) if u["mark"]["type"] in ("rule", "line")]
        drawn = [mark for mark in lines if "strokeJoin" not in mark or "clip" in mark]
        assert drawn
        assert all(mark["clip"] for mark in drawn)


@pytest.mark.parametrize(
    ("fair", "best", "expected"),
    [
        (0.0, "fair value", "← fairer"),
        (0.5, "0.5 is fair", "→ fairer ←"),
        (1.0, "best", "better →"),
    ],
)
def test_the_fair_end_is_marked(fair: float, best: str, expected: str) -> None:
    rows = (replace(dot_chart().rows[0], others=((fair, "fair"),)),)
    chart = replace(dot_chart(), rows=rows, legend=(("model", "m"), ("fair", best)))
    spec = spec_of(chart)
    assert expected in words(spec)
    assert fair in [row["x"] for row in values(spec, "rule", "x") if "x2" not in row]
    same = replace(chart, rows=(replace(rows[0], others=()),), fair=fair)
    assert expected in words(spec_of(same))
    assert not {"← fairer", "better →"} & set(words(spec_of(replace(same, fair=math.nan))))


def mixed_chart() -> DotChart:
    """Two measures with different fair values."""
    rows = (
        DotRow(label="coal", interval=about(0.4), others=((0.0, "fair"), (0.3, "random"))),
        DotRow(label="share", interval=about(0.7), others=((0.5, "fair"),), swarm=(0.6,)),
    )
    return replace(dot_chart(), rows=rows)


def test_measures_with_different_fair_values_stand_at_their_distance_from_fair() -> None:
    shown = mixed_chart().on_common_axis()
    assert [row.interval.value for row in shown.rows] == pytest.approx([0.4, 0.2])
    assert list(shown.rows[1].interval) == pytest.approx([0.2, 0.18, 0.22])
    assert shown.rows[1].swarm == pytest.approx((0.1,))
    assert shown.common_fair == 0.0
    assert shown.domain == pytest.approx((-0.42 * 0.04, 0.42 * 1.04))
    spec = spec_of(mixed_chart())
    (point,) = [r for r in values(spec, "point", "x") if (r["row"], r["label"]) == ("1", "share")][
        -1:
    ]
    assert (point["x"], point["value"]) == (pytest.approx(0.2), "0.700")  # the hover tells itself
    assert "distance from the fair value" in " ".join(channel(spec, "x")["axis"]["title"])
    assert "← fairer" in words(spec)
    unknown = replace(mixed_chart(), rows=(*mixed_chart().rows, dot_chart().rows[2]))
    assert unknown.on_common_axis() is unknown  # a row without a fair value has no distance
    assert dot_chart().on_common_axis().domain == (0.0, 1.0)


def test_dense_rows_have_their_labels_at_the_left() -> None:
    dense = replace(dot_chart(), is_dense=True, base=0.5, sides=("lower", "higher"), reference=0.6)
    spec = spec_of(dense)
    assert channel(spec, "y")["axis"]["labelExpr"].startswith('["tilt", "lean", "gone"]')
    assert "0.400" not in words(spec)  # there is no room beside them
    assert "n/a" in words(spec)  # but where there is no value it says why
    assert {"lower", "higher"} <= set(words(spec))
    dashed = [u for u in units(spec) if u["mark"].get("strokeDash") == [3, 3]]
    assert [u["data"]["values"][0]["x"] for u in dashed] == [0.6]
    assert "0.400" in words(spec_of(dense, NARROW))
    bare = replace(dense, rows=tuple(replace(row, note="") for row in dense.rows))
    assert '"tilt"' in channel(spec_of(bare, NARROW), "y")["axis"]["labelExpr"]


def test_a_long_note_has_a_line_of_its_own_in_a_narrow_picture() -> None:
    note = "30 occupations, 0.420 [0.370, 0.470]"
    rows = (replace(dot_chart().rows[0], label="occupations that lean", note=note),)
    spec = spec_of(replace(dot_chart(), rows=rows), NARROW)
    assert {"occupations that lean", note} <= set(words(spec))
    label, second = [u["mark"]["dy"] for u in units(spec) if "dy" in u["mark"]][:2]
    assert second - label == 18


def test_marks_on_the_same_value_make_way_for_the_last() -> None:
    assert apart([0.5, 0.2, 0.5], (0.0, 1.0)) == [-0.16, 0.0, 0.0]
    assert apart([0.5, 0.5, 0.5], (0.0, 1.0)) == [0.16, -0.16, 0.0]


def test_a_swarm_has_a_dot_for_every_value_and_names_its_outliers() -> None:
    places = swarm([0.5] * 30 + [0.1, math.nan], (0.0, 1.0), 700, 56)
    assert len(places) == len(set(places)) == 31
    assert all(abs(up) <= 28 for _, up in places)
    assert len({up for place, up in places if place < 30}) == 30
    row = DotRow(
        label="a",
        interval=about(0.5),
        mark="female",
        swarm=(0.9, 0.1, 0.5, 0.45, 0.55),
        swarm_names=("high", "low", "m", "m", "m"),
        shows="lean=female",
    )
    spec = spec_of(replace(dot_chart(), rows=(row,)))
    dots = [r for r in values(spec, "point", "x") if r["mark"] == "female"]
    assert [(r["label"], r["x"], r["shows"]) for r in dots][:2] == [
        ("low", 0.1, "lean=female"),
        ("m", 0.45, "lean=female"),
    ]
    assert len(dots) == 5
    single = replace(row, swarm_shows=("word=high", "word=low", "word=m1", "word=m2", "word=m3"))
    own = values(spec_of(replace(dot_chart(), rows=(single,))), "point", "x")
    assert [r["shows"] for r in own if r["mark"] == "female"][:2] == ["word=low", "word=m2"]
    assert {"high", "low"} <= set(words(spec))
    crowd = replace(row, swarm=(0.1, 0.11), swarm_names=("one long name", "another long name"))
    assert [r["text"] for r in outliers([crowd], 300, (0.0, 1.0))] == ["one long name"]
    tied = replace(row, swarm=(0.1, 0.1, 0.1, 0.9), swarm_names=("a", "b", "c", "far"))
    assert [r["text"] for r in outliers([tied], 300, (0.0, 1.0))] == ["far"]


def test_shares_fill_their_bar() -> None:
    spec = spec_of(share_chart())
    rows = {(r["bar"], r["part"]): r for r in values(spec, "bar")}
    assert (rows["0", "entailment"]["start"], rows["0", "entailment"]["end"]) == (0.0, 0.6)
    assert rows["0", "contradiction"]["end"] == pytest.approx(1.0)
    colours = channel(spec, "color")["scale"]
    assert dict(zip(colours["domain"], colours["range"], strict=True)) == {
        "entailment": paint("entailment"),
        "neutral": paint("neutral"),
        "contradiction": paint("contradiction"),
        "yes": paint("neutral"),
        "no": paint("neutral"),
    }
    framed = [u for u in units(spec) if u["mark"].get("stroke") == paint("ink")]
    assert [[r["part"] for r in u["data"]["values"]] for u in framed] == [["entailment", "no"]]
    assert {"PS", "10 pairs", "entailment 60 %", "neutral 30 %", "yes 50 %"} <= set(words(spec))
    assert "60 %" in texts(draw(share_chart()))


def test_bars_of_a_histogram_are_as_tall_as_their_shares() -> None:
    spec = spec_of(histogram_chart())
    tall = {(r["low"], r["mark"]): r["top"] - r["floor"] for r in values(spec, "bar")}
    assert tall == {
        (-2.5, "female"): 0.1,
        (-0.5, "none"): 0.4,
        (0.5, "male"): 0.2,
        (1.5, "male"): 0.3,
    }
    assert channel(spec, "x")["scale"]["domain"] == [-2.5, 2.5]
    assert {"left 10 %", "middle 40 %", "right 50 %"} <= set(words(spec))
    assert draw(replace(histogram_chart(), bins=()), NARROW).startswith("<svg")


def test_points_of_a_scatter_have_names_and_intervals() -> None:
    spec = spec_of(scatter_chart())
    points = values(spec, "point", "x")
    assert [(p["label"], p["x"], p["y"]) for p in points] == [
        ("point 0", 0, 0.0),
        ("point 1", 1, 0.1),
        ("point 2", 2, 0.2),
    ]
    spans = [(r["y_low"], r["y_high"]) for r in values(spec, "rule", "y_low")]
    assert spans[2] == pytest.approx((0.18, 0.22))
    assert len(spans) == 3  # across they have no extent
    assert [r["x"] for r in values(spec, "line")] == [0.0, 1.0]
    assert [r["y"] for r in values(spec, "rule") if set(r) == {"y"}] == [0.05]
    assert {"point 0", "point 1", "point 2"} <= set(words(spec))
    assert channel(spec, "x")["axis"]["title"] == ["across"]
    gone = replace(scatter_chart().points[0], y=NO_INTERVAL)
    assert values(spec_of(replace(scatter_chart(), points=(gone,))), "point", "x") == []
    assert not words(spec_of(replace(scatter_chart(), has_names=False)))


def test_names_of_a_scatter_never_lie_on_one_another() -> None:
    x, y = Scale((0.0, 1.0), 0.0, 660.0), Scale((0.0, 1.0), 320.0, 0.0)
    places = np.random.default_rng(0).random((60, 2))
    many = [
        replace(point, x=about(across), y=about(up))
        for point, (across, up) in zip(scatter_chart(60).points, places.tolist(), strict=True)
    ]
    placed = scatter_names(many, x, y, most=14)
    assert len(placed) == 14
    boxes = [
        (x(p["x"]), y(p["y"]) - 6, x(p["x"]) + width_of(p["text"], 11.5), y(p["y"]) + 6)
        for p in placed
    ]
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    middle = float(np.median(places[:, 1]))
    far = {p.label: abs(p.y.value - middle) for p in many}
    named = {p["text"] for p in placed}  # outliers are named, the others tell it under the pointer
    assert min(far[name] for name in named) > np.median([far[p.label] for p in many])
    assert len(scatter_names(many[:FEW], x, y, most=1)) == FEW  # few of them all have their name


def test_lines_have_a_panel_each() -> None:
    spec = spec_of(line_chart())
    assert [panel["title"]["text"] for panel in spec["concat"]] == [["panel 0"], ["panel 1"]]
    assert [panel["title"]["subtitle"] for panel in spec["concat"]] == [["r = 1"]] * 2
    assert len(values(spec, "point", "x")) == 2 * (5 + 2)  # means and single values
    assert [r["y"] for r in values(spec, "line")] == [0, 0.25, 0.5, 0.75, 1.0] * 2
    pale = [u for u in units(spec) if u["mark"].get("opacity") == 0.35]
    assert [len(u["data"]["values"]) for u in pale] == [2, 2]
    assert [r["y"] for r in values(spec, "rule")] == [0.5, 0.5]
    shared = spec_of(replace(line_chart(), has_shared_axis=True))
    axes = [panel["layer"][0]["encoding"]["y"]["axis"] for panel in shared["concat"]]
    assert [axis["labels"] for axis in axes] == [True, False]


def test_density_has_cells_means_and_zero_lines() -> None:
    spec = spec_of(density_chart())
    assert [r["weight"] for r in values(spec, "rect")] == [1.0, 0.1]
    assert [(r["x"], r["y"], r["interval"]) for r in values(spec, "point", "about")] == [
        (0.5, 0.2, "[0.180, 0.220]")
    ]
    lines = [r for r in values(spec, "rule") if len(r) == 1]
    assert lines == [{"x": 0}, {"y": 0}]
    assert channel(spec, "x")["axis"]["title"] == ["people"]
    assert {"model", "r = 0.5", "people"} <= set(texts(draw(density_chart())))


def test_a_grid_tells_every_pair() -> None:
    spec = spec_of(grid_chart())
    told = words(spec)
    assert told.count("1.00") == 3
    assert told.count("0.50") == told.count("-0.30") == told.count("n/a") == 2
    signed = [r["sign"] for r in values(spec, "rect")]
    assert (signed.count("positive"), signed.count("negative"), signed.count("none")) == (5, 2, 2)
    assert {"person a", "a", "alpha 0.4"} <= set(texts(draw(grid_chart())))
    names = tuple(f"p{i:02}" for i in range(30))
    square = tuple(tuple(-0.5 for _ in names) for _ in names)
    small = replace(grid_chart(), names=names, panels=(GridPanel(title="t", values=square),) * 2)
    assert words(spec_of(small, NARROW)).count("−") == 1800  # not by colour alone
    assert short_names(["a 1", "a 2"]) == ["1", "2"]
    assert short_names(["anna", "b"]) == ["anna", "b"]
    assert short_names(["annabelle", "b"]) == ["1", "2"]
    assert short_names(["same", "same"]) == ["1", "2"]
    assert short_names([]) == []


def test_a_plane_names_its_words_and_draws_the_boundary() -> None:
    spec = spec_of(plane_chart())
    assert {"man", "woman", "nurse", "joy"} <= set(words(spec))
    dashed = [u for u in units(spec) if u["mark"].get("strokeDash") == [6, 4]]
    assert [[r["x"] for r in u["data"]["values"]] for u in dashed] == [[0.0, 0.0]]
    picture = draw(plane_chart())
    assert "<title>nurse is here</title>" in picture  # under the pointer, without a script
    assert "accuracy 0.9" in texts(picture)
    nowhere = replace(plane_chart().panels[0], boundary=None, clusters=(), note="none is drawn")
    bare = spec_of(replace(plane_chart(), panels=(nowhere,)))
    assert not [u for u in units(bare) if u["mark"].get("strokeDash") == [6, 4]]
    assert "none is drawn" in bare["concat"][0]["title"]["subtitle"]
    empty = replace(nowhere, points=())
    assert draw(replace(plane_chart(), panels=(empty,)), NARROW).startswith("<svg")


def test_a_plane_leads_with_signed_distances() -> None:
    row = DotRow(
        label="jobs",
        interval=about(0.3),
        mark="job-female",
        swarm=(0.1, 0.5),
        swarm_names=("clerk", "nurse"),
    )
    panel = replace(plane_chart().panels[0], distances=(row,))
    chart = replace(plane_chart(), panels=(panel,), axis="distance", sides=("male", "female"))
    for width in WIDTHS:
        spec = spec_of(chart, width)
        assert spec["columns"] == (2 if width == WIDE else 1)
        distances, plane = spec["concat"]
        points = [(r["label"], r["x"], r["mark"]) for r in values(distances, "point", "x")]
        assert points == [
            ("clerk", 0.1, "job-female"),
            ("nurse", 0.5, "job-female"),
            ("jobs", 0.3, "model"),
        ]
        assert channel(distances, "x")["axis"]["title"] == ["distance"]
        assert {"male", "female"} <= set(words(distances))
        assert 0.0 in [r["x"] for r in values(distances, "rule", "x")]  # the boundary
        assert len(values(plane, "point", "x")) == 4


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


@pytest.mark.parametrize(
    "chart",
    [
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
    ],
    ids=["far", "no rows", "many", "no bars", "no lines", "no cells", "no names", "no plane", "no"],
)
def test_hard_data_are_drawn_too(chart: Chart) -> None:
    for width in WIDTHS:
        picture = draw(chart, width)
        assert picture.startswith(f'<svg class="{"wide" if width == WIDE else "narrow"}"')
        assert not re.search(r"\bnan\b|\binf\b", picture, re.IGNORECASE)


ODD = "a\x00b\x1b[31m\ud800\ufffe\uffff\u202ec\nd"
DRAWN = """
from dataclasses import replace
from documents import dot_chart, grid_chart
from evenhand.report.charts import draw, picture_file
odd = {odd!a}
rows = tuple(replace(row, label=odd, note=odd) for row in dot_chart().rows)
legend = (("model", odd),)
chart = replace(dot_chart(), rows=rows, title=odd, description=odd, legend=legend)
assert "a\\ufffdb" in draw(chart)
assert picture_file(chart, ".png").startswith(b"\\x89PNG")
draw(replace(grid_chart(), names=(odd, odd + "1", odd + "2")))
print("drawn")
"""


def test_characters_that_no_picture_can_show_do_not_end_the_process() -> None:
    rows = tuple(replace(row, label=ODD, note=ODD) for row in dot_chart().rows)
    spec = spec_of(replace(dot_chart(), rows=rows, title=ODD))
    assert not re.search(r"\\u(?:00[01]|d8|fff[ef])", json.dumps(spec))
    done = subprocess.run(
        [sys.executable, "-c", DRAWN.format(odd=ODD)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert (done.returncode, done.stdout) == (0, "drawn\n"), done.stderr[-500:]


def test_the_same_chart_is_drawn_the_same_again() -> None:
    assert draw(dot_chart()) == draw(dot_chart())


def test_marks_carry_the_probes_behind_them() -> None:
    row = replace(dot_chart().rows[0], shows="occupation=nurse&lean=female")
    spec = spec_of(replace(dot_chart(), rows=(row,)))
    assert {r["shows"] for r in values(spec, "point", "about")} == {"occupation=nurse&lean=female"}
    bar = replace(share_chart().bars[0], shows="stratum=PS")
    spec = spec_of(replace(share_chart(), bars=(bar,)))
    assert {r["shows"] for r in values(spec, "bar")} == {"stratum=PS"}
    point = replace(scatter_chart().points[0], shows="occupation=clerk")
    spec = spec_of(replace(scatter_chart(), points=(point,)))
    assert [r["shows"] for r in values(spec, "point", "about")] == ["occupation=clerk"]


def test_a_line_of_reference_stays_beside_the_marks_of_its_rows() -> None:
    fair = replace(dot_chart(), base=0.5)
    line = next(u for u in units(spec_of(fair)) if u["mark"].get("strokeWidth") == 1.4)
    assert [(r["row"], r["x"]) for r in line["data"]["values"]] == [
        ("0", 0.5),
        ("1", 0.5),
        ("2", 0.5),
    ]
    top, bottom = (line["encoding"][name]["bandPosition"] for name in ("y", "y2"))
    assert (top, bottom) == pytest.approx((0.5 - 12 / 46, 0.5 + 14 / 46))  # labels are 20 above
    whole = next(
        u
        for u in units(spec_of(replace(fair, is_dense=True)))
        if u["mark"].get("strokeWidth") == 1.4
    )
    assert "y" not in whole["encoding"]
    assert len(whole["data"]["values"]) == 1


def test_the_title_of_an_axis_is_broken_after_a_comma() -> None:
    title = "PB of the model, above 0 male"
    assert axis_title(title, 300) == [title]
    assert axis_title(title, 170) == ["PB of the model,", "above 0 male"]
    assert axis_title(title, 60) == ["PB of the", "model,", "above 0", "male"]


def test_panels_have_titles_at_one_height_and_whole() -> None:
    shared = replace(line_chart(), has_shared_axis=True)
    tops = [
        float(up)
        for up in re.findall(r'translate\(\S+,(\S+)\)"[^>]*font-weight="bold"', draw(shared))
    ]
    assert len(tops) == 2
    assert tops[0] == tops[1]
    long = replace(shared.panels[0], title="B, stereotype preference of every occupation", x="own")
    spec = spec_of(replace(shared, panels=(long, *shared.panels[1:])), NARROW)
    title = spec["concat"][0]["title"]["text"]
    assert len(title) > 1
    assert " ".join(title) == long.title
    axes = [panel["layer"][0]["encoding"]["x"]["axis"]["title"] for panel in spec["concat"]]
    assert axes == [["own"], ["rate, a share"]]


def test_names_keep_off_the_lines_of_reference() -> None:
    point = Point(label="none", x=about(0.5), y=about(0.5))
    scales = Scale((0.0, 1.0), 0, 400), Scale((0.0, 1.0), 300, 0)
    (free,) = scatter_names([point], *scales, most=1)
    (line,) = scatter_names([point], *scales, most=1, references=(math.nan, 0.54))
    assert scales[1](free["y"]) == pytest.approx(140)  # the line would cross it at 138
    assert scales[1](line["y"]) == pytest.approx(162)


def test_a_series_can_stand_out() -> None:
    spec = spec_of(dot_chart())
    assert series_of(dot_chart(), spec) == {"model": "model", "random": "random"}
    assert spec["params"] == [{"name": "series", "value": ""}]
    dots = [u for u in units(spec) if u["mark"]["type"] == "point" and "shape" in u["encoding"]]
    assert [u["encoding"]["opacity"]["condition"]["value"] for u in dots] == [1, 1]
    assert {u["encoding"]["opacity"]["value"] for u in dots} == {0.15}
    alone = replace(dot_chart(), legend=(("model", "m"), ("fair", "fair value")))
    assert series_of(alone, spec_of(alone)) == {}
    assert "params" not in spec_of(alone)
    bars = replace(share_chart(), legend=(("entailment", "e"), ("neutral", "n"), ("counted", "c")))
    assert set(series_of(bars, spec_of(bars))) == {"entailment", "neutral"}


def test_no_two_marks_differ_by_colour_alone() -> None:
    groups = (("model", "random", "constant", "fair"), ("female", "male", "none"))
    for group in (*groups, ("first", "second", "third"), [f"series-{i}" for i in range(5)]):
        shapes = [(look_of(mark).shape, look_of(mark).is_filled) for mark in group]
        assert len(set(shapes)) == len(shapes)
    assert look_of("series-5") == look_of("series-0")


def test_a_mark_has_the_same_colour_and_shape_in_every_chart() -> None:
    rows = (replace(dot_chart().rows[0], mark="female"),)
    scatter, dots = spec_of(scatter_chart()), spec_of(replace(dot_chart(), rows=rows))
    for name, expected in (("fill", paint("female")), ("shape", SHAPES["circle"])):
        for spec in (scatter, dots):
            scale = channel(spec, name)["scale"]
            assert dict(zip(scale["domain"], scale["range"], strict=True))["female"] == expected


def test_every_mark_has_a_sign() -> None:
    known = (*MARKS, "series-3", "entailment", "counted", "reference", "density", "mean", "zero")
    for mark in (*known, "plain", "bar-female", "boundary", "cluster", "level"):
        assert "var(--" in sign_svg(sign_of(mark))
    assert sign_of("bar-female").fill == "female"
    assert sign_of("whatever").fill == "neutral"
    drawn = {meaning: sign for sign, meaning in signs(line_chart())}
    assert drawn["fair value"] == sign_of("level")  # a level line, as in the picture
    drawn = {meaning: sign for sign, meaning in signs(plane_chart())}
    assert drawn["job"].path == SHAPES["circle"]
    assert drawn["boundary"] == sign_of("boundary")
    assert set(COLOURS) >= {drawn["job"].stroke, drawn["male word"].fill}


def test_texts_are_measured_cut_and_wrapped() -> None:
    assert width_of("女女") == 26
    assert width_of("ab") == pytest.approx(14.3)
    assert shortened("short", 100) == "short"
    cut = shortened("a long label that has to go", 80)
    assert cut.endswith("…")
    assert width_of(cut) <= 80
    lines = wrapped("a long label that has to go", 80)
    assert " ".join(lines) == "a long label that has to go"
    assert all(width_of(line) <= 80 for line in lines)
    assert wrapped("", 80) == [""]
    assert room_about([1.0, 3.0, math.nan], 0.1) == (0.8, 3.2)
    assert room_about([]) == (0.0, 1.0)
