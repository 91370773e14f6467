"""Does the model prefer the gender that dominates an occupation?

stereotype_preference (B) = share of premises where the hypothesis of the occupation's majority gender gets the higher P(entailment); a tie counts half.
Between 0 and 1; 0.5 is fair. Read together with dP (Sharma, Dey, Sinha 2021). Every occupation counts with its majority gender, even near 50-50, as in the
published sets; `dominated_preference` leaves out those below the threshold of dominance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import Floats, Probe
from evenhand.measures.labelling import ratio
from evenhand.measures.twins import TwinMean


def preference(female: Floats, male: Floats, genders: Sequence[str]) -> Floats:
    """1 where the named gender's P is higher, 0.5 at a tie, 0 where lower; NaN where no gender is named."""
    direction = np.asarray([{"female": 1.0, "male": -1.0}.get(g, np.nan) for g in genders])
    return np.asarray((1 + direction * np.sign(female - male)) / 2)


def stereotype_preference(female: ArrayLike, male: ArrayLike, majority: Sequence[str]) -> float:
    """B of P(entailment) for both hypotheses of each premise; majority "female" or "male" by premise."""
    scores = preference(
        np.asarray(female, dtype=np.float64), np.asarray(male, dtype=np.float64), majority
    )
    return (
        float(np.mean(scores[np.isfinite(scores)])) if np.isfinite(scores).any() else float("nan")
    )


class StereotypePreference(TwinMean):
    """B, every occupation with its majority gender."""

    name = "stereotype_preference"
    tag = "majority"
    fair = 0.5
    worst: float | None = 1.0
    card = MeasureCard(
        title="B, stereotype preference",
        question="Does the model prefer the gender that dominates an occupation?",
        formula="share of premises with P_majority > P_other (ties half)",
        range=(0.0, 1.0),
        citation="Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference.",
        caveat="Counts the direction, not the size: a high B with a tiny gap is no strong bias.",
    )

    def score(self, female: Floats, male: Floats, probes: Sequence[Probe]) -> Floats:
        """1 where the stereotype is preferred, half at a tie."""
        return preference(female, male, [probe.tags.get(self.tag, "") for probe in probes])

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, preferring, tied; in the row of the female hypothesis."""
        rows = super().evidence(probes, values)
        return np.column_stack([rows, rows[:, 1] == 0.5])

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """Which share of the premises is a tie, counted half?"""
        return {"tied": ratio(totals[..., 2], totals[..., 0])}


MEASURE = StereotypePreference()
