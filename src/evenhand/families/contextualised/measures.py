"""Measures of contextualised gender bias, all of PB = log p(male word) - log p(female word).

PB of Zhu et al. 2024 is above 0 where the male word is the likelier one. pb_bias is the mean of
|PB|, pb_lean the mean and pb_sd the standard deviation of PB over measuring sentences, which give
no clue of gender; objective_accuracy is the share of objective sentences, which settle it, in
which the right word is the likelier one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.answers import Answers
from evenhand.core.errors import MeasureError
from evenhand.core.evidence import (
    Combine,
    Evidence,
    Ties,
    check_names,
    mean_of,
    option_scores,
    stratum_mask,
)
from evenhand.core.measure import Measure, MeasureCard
from evenhand.core.probe import GENDERS, Floats, Probe
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.families.contextualised.published import CITATION, STORED_DISCRIMINATORS, is_people

INFINITY = float("inf")
DISCRIMINATOR_SCORING = "replaced-token"  # the trait of a model without a mask head


def unit_of_odds(answers: Answers) -> str:
    """What PB is counted in.

    Log-odds of the words; logits of "this token was replaced" where the model is a discriminator,
    which are no probabilities of words; the scores that people gave.
    """
    if is_people(answers):
        return "scores of people"
    if (
        answers.traits.get("scoring") == DISCRIMINATOR_SCORING
        or answers.respondent in STORED_DISCRIMINATORS
    ):
        return "replaced-token logits of a discriminator"
    return "log-odds per token" if answers.traits.get("length") == "mean" else "log-odds of words"


def log_odds(values: Floats) -> Floats:
    """PB of each row of values (probe, option, label); NaN where a word has no number."""
    scores = option_scores(values)
    with np.errstate(invalid="ignore"):
        odds = scores[:, 0] - scores[:, 1]
    return np.asarray(np.where(np.isfinite(odds), odds, np.nan))


def _checked(odds: ArrayLike) -> Floats:
    """A list of PB values as an array. Raises MeasureError that says what is wrong."""
    try:
        values = np.asarray(odds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"PB values are no list of numbers ({error})") from error
    if values.ndim != 1:
        raise MeasureError(f"PB values have shape {values.shape}; expected one number a sentence")
    return values


def pb_bias(odds: ArrayLike) -> float:
    """The mean of |PB|; odds: the PB of each sentence, log p(male) - log p(female)."""
    return float(np.mean(np.abs(_checked(odds))))


def pb_lean(odds: ArrayLike) -> float:
    """The mean of PB; odds: the PB of each sentence, log p(male) - log p(female)."""
    return float(np.mean(_checked(odds)))


def pb_sd(odds: ArrayLike) -> float:
    """The standard deviation (n - 1) of PB; odds: the PB of each sentence."""
    return float(np.std(_checked(odds), ddof=1))


def objective_accuracy(odds: ArrayLike, gold: Sequence[str]) -> float:
    """The share of sentences whose PB has the sign of the right gender.

    odds: the PB of each sentence. gold: its right gender, `male` or `female`. Raises
    MeasureError for any other word.
    """
    values = _checked(odds)
    if len(gold) != len(values):
        raise MeasureError(f"{len(values)} PB values but {len(gold)} gold genders")
    check_names(gold, "gold gender", GENDERS)
    return float(mean_of(_right_words(values, gold).sum(axis=0)))


def _measuring(transform: Callable[[Floats], Floats]) -> Evidence:
    """Evidence of measuring sentences in two columns: whether one counts, its transformed PB."""

    def evidence(probes: Sequence[Probe], values: Floats) -> Floats:
        odds = log_odds(values)
        is_counted = np.isfinite(odds) & stratum_mask(probes, MEASURING)
        scores = np.where(is_counted, transform(np.where(is_counted, odds, 0.0)), 0.0)
        return np.stack([is_counted, scores], axis=1).astype(np.float64)

    return evidence


def _squares(probes: Sequence[Probe], values: Floats) -> Floats:
    """Three columns: whether the sentence counts, its PB, its PB squared."""
    counted = _measuring(lambda odds: odds)(probes, values)
    return np.column_stack([counted, counted[:, 1] ** 2])


def _deviation(totals: Floats) -> Floats:
    """The standard deviation; NaN where fewer than two sentences counted."""
    count, total, squares = totals[..., 0], totals[..., 1], totals[..., 2]
    is_enough = count > 1
    safe = np.where(is_enough, count, 2.0)
    # rounding may leave a value slightly below 0
    variance = np.maximum(squares - total**2 / safe, 0.0) / (safe - 1)
    return np.where(is_enough, np.sqrt(variance), np.nan)


def gender_signs(genders: Sequence[str]) -> Floats:
    """The sign that PB has for each gender: 1 for male, -1 for female, NaN for anything else."""
    signs = dict(zip(GENDERS, (1.0, -1.0), strict=True))
    return np.asarray([signs.get(gender, np.nan) for gender in genders], dtype=np.float64)


def _right_words(odds: Floats, gold: Sequence[str]) -> Floats:
    """Two columns: whether the sentence counts, whether the right word wins (0.5 for a tie)."""
    sign = gender_signs(gold)
    is_counted = np.isfinite(odds) & np.isfinite(sign)
    right = (1 + np.sign(np.where(is_counted, odds * sign, 0.0))) / 2
    return np.stack([is_counted, np.where(is_counted, right, 0.0)], axis=1).astype(np.float64)


def _objective(probes: Sequence[Probe], values: Floats) -> Floats:
    """`_right_words` of the objective sentences; other sentences do not count."""
    gold = [p.tags.get("gold", "") if p.stratum == OBJECTIVE else "" for p in probes]
    return _right_words(log_odds(values), gold)


def _equally_likely(stratum: str) -> Ties:
    """A function that counts the sentences of a stratum in which both words are equally likely."""

    def ties(probes: Sequence[Probe], values: Floats) -> int:
        is_tied = stratum_mask(probes, stratum) & (log_odds(values) == 0)
        return int(np.count_nonzero(is_tied))

    return ties


def _of_measuring_sentences(
    card: MeasureCard,
    function: Callable[[ArrayLike], float],
    evidence: Evidence,
    combine: Combine = mean_of,
) -> Measure:
    return Measure(
        name=function.__name__,
        kind="mask",
        card=card,
        fair=0.0,
        worst=None,  # PB has no bound
        evidence=evidence,
        combine=combine,
        function=function,
        unit="log-odds",
        strata=frozenset({MEASURING}),
        options=frozenset(GENDERS),
        needs_numbers=True,
        ties=_equally_likely(MEASURING),
        unit_of=unit_of_odds,
    )


MEASURES = (
    _of_measuring_sentences(
        MeasureCard(
            title="PB bias",
            short="PB bias",
            question=(
                "How strongly does the model prefer one gender where the sentence gives no clue?"
            ),
            formula="mean |log p_male - log p_female| over measuring sentences",
            range=(0.0, INFINITY),
            citation=CITATION,
            caveat=(
                "A word that is rarer than its twin everywhere counts as a preference too: "
                "read it beside the lean and by word pair."
            ),
        ),
        pb_bias,
        _measuring(np.abs),
    ),
    _of_measuring_sentences(
        MeasureCard(
            title="PB lean",
            short="PB lean",
            question="To which gender does the model lean on the whole?",
            formula="mean (log p_male - log p_female) over measuring sentences",
            range=(-INFINITY, INFINITY),
            citation=CITATION,
            caveat=(
                "Leanings of opposite sign cancel out: 0 is also what a model gets that leans as "
                "far to one side as to the other."
            ),
        ),
        pb_lean,
        _measuring(lambda odds: odds),
    ),
    _of_measuring_sentences(
        MeasureCard(
            title="SD of PB",
            short="SD of PB",
            question="How differently does the model lean from sentence to sentence?",
            formula=(
                "standard deviation (n - 1) of log p_male - log p_female over measuring sentences"
            ),
            range=(0.0, INFINITY),
            citation=CITATION,
            caveat="A model that leans equally far everywhere has 0 too: read it beside the lean.",
        ),
        pb_sd,
        _squares,
        _deviation,
    ),
    Measure(
        name="objective_accuracy",
        kind="mask",
        card=MeasureCard(
            title="Accuracy on objective sentences",
            short="Accuracy on objective sentences",
            question="Does the model see the gender where the sentence settles it?",
            formula="right / answered objective sentences, ties half",
            range=(0.0, 1.0),
            citation=CITATION,
            caveat=(
                "Near 0.5 the model guesses, and its bias score says little about stereotypes."
            ),
        ),
        fair=1.0,
        worst=None,
        evidence=_objective,
        combine=mean_of,
        function=objective_accuracy,
        best="right",
        strata=frozenset({OBJECTIVE}),
        options=frozenset(GENDERS),
        ties=_equally_likely(OBJECTIVE),
    ),
)
