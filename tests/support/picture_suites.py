"""Suites of professions and emotions against invented pairs of gendered words."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.probe import Probe
from evenhand.core.suite import Suite, SuiteCard
from evenhand.picture.scene import Sense

PAIRS = tuple((f"he{i}", f"she{i}") for i in range(12))
JOBS = (
    ("nurse", "female"),
    ("carpenter", "male"),
    ("janitor", "none"),
    ("pilot", "male"),
    ("wizard", ""),
)


def make_suite(
    pairs: Sequence[tuple[str, str]] = PAIRS,
    jobs: Sequence[tuple[str, str]] = JOBS,
    sense: Sense = "profession",
    options: tuple[str, ...] = ("male", "female"),
) -> Suite:
    """Every profession against every pair, and one probe of another stratum."""
    verb = "is a" if sense == "profession" else "feels"
    probes = [
        Probe(
            id=f"{job}/{male}",
            kind="choice",
            language="en",
            texts=(
                f"The person {verb} {job}.",
                f"The person is {male}.",
                f"The person is {female}.",
            ),
            stratum=sense,
            cluster=job,
            tags={"word": job, "pair": f"{male}/{female}", **({"lean": lean} if lean else {})},
        )
        for job, lean in jobs
        for male, female in pairs
    ]
    aside = Probe(
        id="r",
        kind="choice",
        language="en",
        texts=("The person is he0.", "masculine", "feminine"),
        stratum="recognition",
    )
    card = SuiteCard(
        name=sense,
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        options=options,
    )
    return Suite(card=card, probes=(*probes, aside))
