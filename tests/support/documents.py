"""A small document with every kind of block and of chart."""

from __future__ import annotations

import math

from evenhand.core.chart import (
    Axis,
    Bin,
    Chart,
    DensityCell,
    DensityChart,
    DensityPanel,
    DotChart,
    DotRow,
    GridChart,
    GridPanel,
    HistogramChart,
    Line,
    LineChart,
    LinePanel,
    PlaneChart,
    PlanePanel,
    PlanePoint,
    Point,
    ScatterChart,
    ShareBar,
    ShareChart,
)
from evenhand.core.document import (
    Answer,
    Block,
    Callout,
    Column,
    Document,
    Exhibit,
    Facts,
    Headline,
    Prose,
    Row,
    Section,
    Signatures,
    Specimen,
    Table,
)
from evenhand.core.estimate import NO_INTERVAL, Interval

SIGNATURE = "measure:tilt|suite:towns@1#abc|model:" + "m" * 40 + "|seed:0|evenhand:1"


def about(value: float, half: float = 0.02) -> Interval:
    """An interval around a value."""
    return Interval(value, value - half, value + half)


def dot_chart() -> DotChart:
    """Two scores, and one that is missing."""
    rows = (
        DotRow(label="tilt", interval=about(0.4), note="0.400", others=((0.0, "fair"),)),
        DotRow(label="lean", interval=about(0.7), note="0.700", others=((0.5, "random"),)),
        DotRow(label="gone", interval=NO_INTERVAL, note="n/a"),
    )
    return DotChart(
        name="scores",
        title="Scores against fair and random",
        description="tilt 0.400, lean 0.700",
        legend=(("model", "this model"), ("fair", "fair value"), ("random", "random answers")),
        rows=rows,
        domain=(0.0, 1.0),
    )


def share_chart() -> ShareChart:
    """One bar of three labels, one of two."""
    three = (("entailment", 0.6, True), ("neutral", 0.3, False), ("contradiction", 0.1, False))
    return ShareChart(
        name="shares",
        title="Shares of labels",
        description="entailment 60 %",
        bars=(
            ShareBar(label="PS", note="10 pairs", parts=three),
            ShareBar(label="two", note="4 pairs", parts=(("yes", 0.5, False), ("no", 0.5, True))),
        ),
    )


def histogram_chart() -> HistogramChart:
    """Five bins, four of them with values."""
    shares = (0.1, 0.0, 0.4, 0.2, 0.3)
    marks = ("female", "female", "none", "male", "male")
    return HistogramChart(
        name="spread",
        title="Spread",
        description="five bins",
        bins=tuple(
            Bin(low=i - 2.5, high=i - 1.5, shares=((mark, share),))
            for i, (mark, share) in enumerate(zip(marks, shares, strict=True))
        ),
        heads=("left 10 %", "middle 40 %", "right 50 %"),
    )


def scatter_chart(count: int = 3) -> ScatterChart:
    """Points on a line, with a fit."""
    points = tuple(
        Point(label=f"point {i}", x=about(i, 0), y=about(i / 10), mark="female")
        for i in range(count)
    )
    return ScatterChart(
        name="scatter",
        title="Scatter",
        description="a line",
        points=points,
        x=Axis(title="across", domain=(0.0, float(count))),
        y=Axis(title="up"),
        fits=(("model", (0.0, 0.0), (1.0, 0.1)),),
        reference_y=0.05,
    )


def line_chart(panels: int = 2) -> LineChart:
    """The same line in every panel."""
    means = tuple((i / 4, i / 4) for i in range(5))
    line = Line(mark="series-0", means=means, singles=((0.5, 0.4), (0.5, 0.6)))
    return LineChart(
        name="lines",
        title="Lines",
        description="rising",
        legend=(("series-0", "as it rises"), ("fair", "fair value")),
        panels=tuple(
            LinePanel(title=f"panel {i}", subtitle="r = 1", lines=(line,), domain=(0, 1), fair=0.5)
            for i in range(panels)
        ),
        x="rate, a share",
        y="score",
        columns=2,
    )


def density_chart() -> DensityChart:
    """Two cells and a mean."""
    cells = (
        DensityCell(x=(-1, 0), y=(-1, 0), weight=1.0),
        DensityCell(x=(0, 1), y=(0, 1), weight=0.1),
    )
    panel = DensityPanel(title="model", subtitle="r = 0.5", cells=cells, means=((0.5, about(0.2)),))
    return DensityChart(
        name="density",
        title="Density",
        description="two cells",
        panels=(panel,),
        x=Axis(title="people", domain=(-2, 2)),
        y=Axis(title="model"),
    )


def grid_chart() -> GridChart:
    """Three people, one pair unknown, one below 0."""
    values = ((1.0, 0.5, -0.3), (0.5, 1.0, math.nan), (-0.3, math.nan, 1.0))
    return GridChart(
        name="grid",
        title="Grid",
        description="three people",
        names=("person a", "person b", "person c"),
        panels=(GridPanel(title="alpha 0.4", values=values),),
    )


def plane_chart() -> PlaneChart:
    """Four words on both sides of a boundary."""
    words = (
        ("man", -1.0, "male"),
        ("woman", 1.0, "female"),
        ("nurse", 0.5, "job-female"),
        ("joy", 0.0, "feeling"),
    )
    points = tuple(
        PlanePoint(name=name, x=x, y=i * 0.5, mark=mark, hover=f"{name} is here", rank=i)
        for i, (name, x, mark) in enumerate(words)
    )
    panel = PlanePanel(
        title="model",
        facts=("accuracy 0.9",),
        points=points,
        boundary=(1.0, 0.0, 0.0),
        clusters=((2, 3),),
    )
    return PlaneChart(
        name="plane",
        title="Plane",
        description="four words",
        legend=(("male", "male word"), ("job-female", "job"), ("boundary", "boundary")),
        panels=(panel,),
    )


def charts() -> list[Chart]:
    """A chart of every kind."""
    return [
        dot_chart(),
        share_chart(),
        histogram_chart(),
        scatter_chart(),
        line_chart(),
        density_chart(),
        grid_chart(),
        plane_chart(),
    ]


def score_table() -> Table:
    """Two groups of scores; one is missing."""
    return Table(
        name="scores",
        title="Scores",
        columns=(
            Column(title="measure"),
            Column(title="value", form="number"),
            Column(title="95 % interval", form="bounds"),
            Column(title="probes", form="count"),
            Column(title="answered", form="percent"),
        ),
        rows=(
            Row(cells=("One way",), is_heading=True, note="Counted so."),
            Row(cells=("tilt", 0.452, about(0.452), 1410, 0.9999), strong=frozenset({1})),
            Row(cells=("gone", math.nan, NO_INTERVAL, 0, math.nan), strong=frozenset({1})),
        ),
        note="A note below.",
    )


def word_table(count: int = 30) -> Table:
    """A long table of words that is cut where there is little room."""
    rows = [Row(cells=("all", about(0.5), 300), is_total=True)]
    rows += [Row(cells=(f"word {i}", about(i / 100), 10)) for i in range(count)]
    return Table(
        name="words",
        title="Words",
        columns=(
            Column(title="word", is_quoted=True),
            Column(title="tilt", form="interval"),
            Column(title="pairs", form="count"),
        ),
        rows=tuple(rows),
        limit=25,
        cut="farthest from 0",
        is_folded=True,
    )


def exhibit() -> Exhibit:
    """A pair with a bar, a blank with a summary, and weighed options."""
    chances = (
        Answer(label="yes", text="yes 0.900", share=0.9, mark="entailment", is_chosen=True),
        Answer(label="no", text="no 0.100", share=0.1, mark="contradiction"),
    )
    words = (
        Answer(label="he", text="", share=0.2, mark="male"),
        Answer(label="she", text="", share=0.8, mark="female", is_chosen=True),
    )
    options = (Answer(label="people", text="0.5, rather he"), Answer(label="PB", text="1.2"))
    return Exhibit(
        name="worst",
        title="The worst",
        note="Three of them.",
        specimens=(
            Specimen(
                id="1",
                language="en",
                lines=("A nurse waits.", "A woman waits."),
                summary="yes 0.900, no 0.100",
                answers=chances,
                tag="PS",
                quiet=frozenset({1}),
            ),
            Specimen(
                id="2",
                language="zh",
                lines=("[BLANK]是护士。",),
                summary="她 4 times as likely as 他",
                answers=words,
                tag="job",
            ),
            Specimen(
                id="3",
                language="en",
                lines=("It rains.", "They stay."),
                summary="people 0.5, rather he; PB 1.2",
                answers=options,
                strong=frozenset({1}),
            ),
        ),
    )


def document(*blocks: Block, name: str = "report", language: str = "en") -> Document:
    """A document with the given blocks in a brief section, else with a block of every kind."""
    if blocks:
        sections: tuple[Section, ...] = (
            Section(name="part", title="Part", blocks=blocks, is_brief=True),
        )
    else:
        sections = (
            Section(name="scores", title="Scores", blocks=(score_table(),), is_brief=True),
            Section(name="words", title="Words", blocks=(word_table(),), is_brief=True),
            Section(name="figures", title="Figures", blocks=tuple(charts())),
            Section(name="worst", title="The worst", blocks=(exhibit(),)),
            Section(name="how", title="How", blocks=(Prose(lines=("It was asked.", "Twice.")),)),
            Section(
                name="limits",
                title="Limits",
                blocks=(Prose(lines=("Not all.", "Not always."), is_list=True),),
                is_beside=True,
            ),
            Section(
                name="notes",
                title="Notes",
                blocks=(Callout(text="3 probes gone."), Callout(text="Cut.", tone="warning")),
                is_brief=True,
            ),
            Section(
                name="signatures",
                title="Signatures",
                blocks=(
                    Signatures(lines=(SIGNATURE,)),
                    Signatures(lines=("hidden:1",), is_folded=True),
                ),
                is_brief=True,
            ),
            Section(name="facts", title="Facts", blocks=(Facts(rows=(("licence", "CC0"),)),)),
        )
    return Document(
        name=name,
        title="org/model-a@1",
        subtitle="towns 1, English, 20 probes",
        lead=("It tilts in 45 % of cases.", "0 is fair."),
        sections=sections,
        headline=Headline(title="Tilt", interval=about(0.452), level=0.95, best="0 is fair"),
        language=language,
        facts={"model": "org/model-a"},
    )
