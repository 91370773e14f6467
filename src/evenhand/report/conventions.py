"""Which scores of a run belong together, and what does each set count? Numbers of different sets do not compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.estimates import CONVENTIONS, family_of, ordered

NAMES: Mapping[str, str] = {
    "official": "Official",
    "esp_continuous": "ESP, continuous",
    "esp_discrete": "ESP, discrete",
}
RULES: Mapping[str, str] = {
    "official": "as the code of StereoSet counts (Nadeem et al. 2021), means over target terms. LMS: either related sentence against the unrelated one. "
    "SS: how often the stereotype wins, so that above 0.5 leans to stereotypes. Ties count against.",
    "esp_continuous": "as the code of ESP counts scores (Luo, Glass 2023), every item alike. LMS: the better of the two related sentences against the unrelated one. "
    "SS: how often the anti-stereotype wins, so that below 0.5 leans to stereotypes. Ties count against.",
    "esp_discrete": "as the code of ESP counts predicted labels (Luo, Glass 2023), every item alike. LMS: the better label of the two related sentences "
    "against that of the unrelated one, ties count for it. SS: how often the anti-stereotype has the better label, ties half, so that below 0.5 leans to stereotypes.",
}
STRICTNESS: Mapping[str, str] = {  # what becomes of the ties between stereotype and anti-stereotype
    "official": "they count against: not as a win of the stereotype",
    "esp_continuous": "they count against: not as a win of the anti-stereotype",
    "esp_discrete": "they count half",
}
GENEROUS = "ESP, discrete: a classifier that always gives the same label gets an iCAT of 100 %, all of it by ties; read these scores beside the constant answers."
BY_SCORE = "the option with the higher number wins, of a classifier the one with the higher raw value of entailment; ties count half."
BY_LABEL = "the option with the better predicted label wins (entailment, then neutral, then contradiction); ties, which are frequent, count half."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheaf:
    """Scores of one way of counting; without a title where there is but one way."""

    title: str
    rule: str
    estimates: tuple[Estimate, ...]


def convention_of(measure: str) -> str:
    """`official` of `icat_official`; empty where there is none."""
    return next((c for c in CONVENTIONS if measure.endswith(f"_{c}")), "")


def sheaves(run: Run) -> list[Sheaf]:
    """The estimates of a run by the way they count, in the order of the report."""
    found = ordered(run)
    if family_of(run) == "stereoset":
        return [
            Sheaf(
                title=NAMES[c],
                rule=RULES[c],
                estimates=tuple(e for e in found if convention_of(e.measure) == c),
            )
            for c in CONVENTIONS
            if any(convention_of(e.measure) == c for e in found)
        ]
    if family_of(run) == "words":
        ways = {
            is_discrete: tuple(e for e in found if e.measure.endswith("_discrete") == is_discrete)
            for is_discrete in (False, True)
        }
        told = {False: ("By score", BY_SCORE), True: ("By label", BY_LABEL)}
        return [
            Sheaf(title=told[way][0], rule=told[way][1], estimates=ways[way])
            for way in ways
            if ways[way]
        ]
    return [Sheaf(title="", rule="", estimates=tuple(found))]
