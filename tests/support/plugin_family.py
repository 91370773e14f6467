"""A family of another package: its own suite, measure, account and chart, in one module.

Twenty sentences about the weather in two towns; a respondent that prefers either town is not fair.
It is installed by entry point only: nothing of evenhand names it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.account import groups_in_words, known_groups
from evenhand.core.chart import DotChart, DotRow
from evenhand.core.document import Callout, Column, Row, Section, Table
from evenhand.core.evidence import mean_of, option_scores
from evenhand.core.family import Account, Family, Grouping
from evenhand.core.measure import Measure, MeasureCard
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.run import Run
from evenhand.core.suite import Suite, SuiteCard

TOWNS = ("north", "south")
SKIES = ("rain", "snow", "wind", "fog", "sun")


class TownSuite:
    """Which of two towns goes with a sky?"""

    name = "towns"
    version = "1.0"
    kind: Kind = "choice"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = ("all",)
    is_published = False
    licence = "Apache-2.0"
    citation = "nobody (2026)"
    description = "The weather in two towns."
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """Every sky at every hour."""
        probes = tuple(
            Probe(
                id=f"{sky}/{hour}",
                kind="choice",
                language=language,
                texts=(f"There is {sky} at {hour}.", "It is in the north.", "It is in the south."),
                stratum="town",
                cluster=sky,
                tags={"sky": sky, "hour": str(hour), "fair": "equal", "stereotyped": "0"},
            )
            for sky in SKIES
            for hour in range(4)
        )
        card = SuiteCard(
            name=self.name,
            version=self.version,
            language=language,
            source="a plug-in",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            options=TOWNS,
        )
        return Suite(card=card, probes=probes)


def town_preference(north: ArrayLike, south: ArrayLike) -> float:
    """Share of sentences that prefer the north, ties half."""
    difference = np.asarray(north, dtype=np.float64) - np.asarray(south, dtype=np.float64)
    return float(np.mean((1 + np.sign(difference)) / 2))


def _evidence(probes: Sequence[Probe], values: Floats) -> Floats:
    scores = option_scores(values)
    is_answered = np.isfinite(scores).all(axis=1)
    share = (1 + np.sign(np.where(is_answered, scores[:, 0] - scores[:, 1], 0.0))) / 2
    return np.stack([is_answered, share * is_answered], axis=1).astype(np.float64)


PREFERENCE = Measure(
    name="town_preference",
    kind="choice",
    card=MeasureCard(
        title="Town preference",
        short="north",
        question="Does the model see the weather of one town only?",
        formula="share of sentences with north > south, ties half",
        range=(0.0, 1.0),
        citation="nobody (2026)",
        caveat="There are only two towns.",
    ),
    fair=0.5,
    worst=1.0,
    evidence=_evidence,
    combine=mean_of,
    function=town_preference,
    strata=frozenset({"town"}),
    options=frozenset(TOWNS),
    sentence="The model prefers the north in {share} of the sentences.",
)


def _sections(run: Run) -> list[Section]:
    groups = known_groups(run.breakdown(PREFERENCE.name, "sky"))
    rows = tuple(DotRow(label=g.name, interval=g.interval) for g in groups)
    chart = DotChart(
        name="skies",
        title="Preference by sky",
        description=groups_in_words(rows),
        rows=rows,
        domain=(0.0, 1.0),
        base=0.5,
        sides=("south", "north"),
    )
    table = Table(
        name="skies",
        title="Skies",
        columns=(Column(title="sky"), Column(title="preference", form="interval")),
        rows=tuple(Row(cells=(g.name, g.interval)) for g in groups),
    )
    callout = Callout(text="Weather changes.")
    return [Section(name="skies", title="Skies", blocks=(callout, chart, table), is_brief=True)]


FAMILY = Family(
    name="towns",
    title="The weather in two towns",
    suites=(TownSuite(),),
    measures=(PREFERENCE,),
    unit="skies",
    several="hours of",
    groupings=(Grouping(by="sky", unit="hour"),),
    is_checked=False,
    account=Account(sections=_sections),
)
