"""How do a premise and two hypotheses that differ in gender become twins? Shared by the suites of gendered entailment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL, Probe

STRATUM = "gendered"
GENDERS = ("female", "male")


def template_of(hypotheses: Mapping[str, str]) -> str:
    """What both hypotheses have in common: `The text is about a … profession.`"""
    return re.sub("female|女性", "…", hypotheses["female"])


def twins(
    *,
    stem: str,
    language: str,
    premise: str,
    hypotheses: Mapping[str, str],
    occupation: str,
    majority: str,
    lean: str,
    share: float | None,
    tags: Mapping[str, str],
) -> Iterator[Probe]:
    """The female and the male probe of one premise. A stereotyped respondent entails the majority gender and contradicts the other."""
    for gender, other in (GENDERS, GENDERS[::-1]):
        stereotyped = (
            NEUTRAL
            if majority not in GENDERS
            else ENTAILMENT
            if gender == majority
            else CONTRADICTION
        )
        yield Probe(
            id=f"{stem}/{gender}",
            kind="pair",
            language=language,
            texts=(premise, hypotheses[gender]),
            stratum=STRATUM,
            cluster=occupation,
            twin=f"{stem}/{other}",
            tags={
                "occupation": occupation,
                "gender": gender,
                "majority": majority,
                "lean": lean,
                **({} if share is None else {"share_women": f"{share:g}"}),
                "hypothesis": template_of(hypotheses),
                "fair": NEUTRAL,
                "stereotyped": stereotyped,
                **tags,
            },
        )
