"""The measures of the word tests: recognition, fairness and iCAT, in four ways of comparing.

There are two options, the male one first. By score, the option with the higher number wins (for a
classifier: the higher raw entailment value); by label (`_discrete`), the option with the lower
predicted label wins (entailment 0, neutral 1, contradiction 2); `_neutral` and `_contradiction`
compare the raw value of that label, of contradiction the lower one wins. All come from one asking.
A tie counts half for either side, and the part `ties` is the share of comparisons that tie.

The part `esp_code` of every score that is not by label counts as the released code of Luo and Glass
does: a tie is no win of the male option, so that it is right for a feminine sentence and wrong for
a masculine one; `esp_code_deviation` is its deviation. By label that code counts ties half too. It
asks the other way round: see the suites' variant `published-code`.

Recognition: share of gendered words whose own gender wins; 0.5 is guessing. It says nothing about
bias, but without it balance cannot be distinguished from ignorance. Its part `deviation` is that
between male and female words. Fairness of a word (profession, emotion): min(c, 1 - c) / 0.5, where
c is the share of its pairs of gendered words whose male word wins; the score is the mean over
words. iCAT is recognition times fairness. Luo and Glass 2023.

The cluster of a probe is its word; evidence is one row per word and pair, so that words and pairs
can be reweighted, and a word's fairness is computed from its sums. A word with a single pair
answered does not count: one comparison cannot be balanced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import MeasureError
from evenhand.core.evidence import (
    Combine,
    Evidence,
    Parts,
    check_names,
    compared_options,
    ratio,
    stratum_mask,
)
from evenhand.core.measure import Best, Measure, MeasureCard
from evenhand.core.probe import CONTRADICTION, GENDERS, NEUTRAL, NLI_LABELS, Floats, Probe
from evenhand.families.choices import label_scores
from evenhand.families.word_tests.suite import CITATION, EMOTION, PROFESSION, RECOGNITION
from evenhand.stats.bootstrap import cluster_totals

BY_LABEL = "_discrete"  # the end of the names of measures that compare predicted labels
CODE, CODE_DEVIATION = "esp_code", "esp_code_deviation"  # parts: ties as the released code has
_KNOWN, _RIGHT, _MALES, _MALES_RIGHT, _TIED, _MALES_TIED, _RECOGNITION_WIDTH = range(7)
_COUNT, _WINS, _TIED_PAIRS, _DISTINCT, _PAIR_WIDTH = range(5)  # of a comparison
# of a word
_WORDS, _FAIRNESS, _SQUARES, _MALE, _COMPARED, _TIES, _CODE, _CODE_SQUARES = range(8)


def male_wins(values: Floats, *, is_by_label: bool, label: str = "") -> Floats:
    """1 where the male option wins, 0 where the female one does, 0.5 for a tie; NaN unanswered.

    values: (comparisons, 2 options, labels). label: the one whose raw value is compared; empty:
    entailment, or the single score.
    """
    if label:
        scores = label_scores(values, label)
    else:
        scores = compared_options(values, is_by_label=is_by_label)
    male, female = scores[:, 0], scores[:, 1]
    lead = female - male if is_by_label else male - female  # a lower label is nearer to entailment
    return np.asarray((1 + np.sign(lead)) / 2)


def _recognition_rows(wins: Floats, gold: Sequence[str]) -> Floats:
    """Six columns: counted, right, of them male words, right ones among these, ties, male ties.

    Zeros where `gold` is not a gender or there is no answer.
    """
    is_male = np.asarray([g == GENDERS[0] for g in gold], dtype=bool)
    is_gendered = np.asarray([g in GENDERS for g in gold], dtype=bool)
    is_counted = is_gendered & np.isfinite(wins)
    right = np.where(is_counted, np.where(is_male, wins, 1 - wins), 0.0)
    is_tie = is_counted & (wins == 0.5)
    columns = [
        is_counted,
        right,
        is_counted & is_male,
        right * is_male,
        is_tie,
        is_tie & is_male,
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _fairness_rows(wins: Floats, words: Sequence[str], pairs: Sequence[object]) -> Floats:
    """Four columns; rows without a word or an answer are zeros.

    Whether the comparison counts, whether male wins, whether it ties, whether it is the first of
    its word and pair.
    """
    is_counted = np.isfinite(wins) & np.asarray([bool(word) for word in words], dtype=bool)
    seen: set[tuple[str, object]] = set()
    is_first = np.zeros(len(wins), dtype=bool)
    for row in np.flatnonzero(is_counted).tolist():
        key = words[row], pairs[row]
        is_first[row] = key not in seen
        seen.add(key)
    columns = [is_counted, np.where(is_counted, wins, 0.0), is_counted & (wins == 0.5), is_first]
    return np.stack(columns, axis=1).astype(np.float64)


def fairness_of_words(sums: Floats) -> Floats:
    """The sums (..., 4) of the comparisons of a word to eight numbers that add up over words.

    1, the word's fairness, its square, c, the number of comparisons, the number of ties, and the
    fairness with ties as no win of the male word, and its square; zeros for a word with a single
    pair: one comparison cannot be balanced.
    """
    count, distinct = sums[..., _COUNT], sums[..., _DISTINCT]
    is_counted = distinct > 1
    share = np.where(is_counted, sums[..., _WINS] / np.where(count > 0, count, 1.0), 0.0)
    fairness = np.where(is_counted, np.minimum(share, 1 - share) / 0.5, 0.0)
    ties = np.where(is_counted, sums[..., _TIED_PAIRS], 0.0)
    compared = np.where(is_counted, count, 0.0)
    strict = share - ties / 2 / np.where(count > 0, count, 1.0)
    code = np.where(is_counted, np.minimum(strict, 1 - strict) / 0.5, 0.0)
    one = is_counted.astype(np.float64)
    columns = [one, fairness, fairness**2, share, compared, ties, code, code**2]
    return np.stack(columns, axis=-1)


def _both_of_words(sums: Floats) -> Floats:
    """Recognition as it is, fairness by word."""
    fairness = fairness_of_words(sums[..., _RECOGNITION_WIDTH:])
    return np.concatenate([sums[..., :_RECOGNITION_WIDTH], fairness], axis=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How two options are compared, with the texts for the cards."""

    suffix: str  # the end of the measures' names
    title: str  # the end of their titles
    better: str  # what the option that wins has
    respondent: str  # who may answer
    numbers: str  # what a row of values holds
    label: str = ""  # the one whose raw value is compared; empty: entailment, or the score

    @property
    def is_by_label(self) -> bool:
        """Whether predicted labels are compared and not numbers."""
        return self.suffix == BY_LABEL

    @property
    def compared(self) -> str:
        """What is compared of a classifier, for a signature."""
        if self.is_by_label:
            return "argmax"
        return f"{self.label or 'entailment'} logit{', negated' * (self.label == CONTRADICTION)}"

    @property
    def labels(self) -> frozenset[str]:
        """The labels that an answer must have."""
        return frozenset(NLI_LABELS if self.is_by_label or self.label else ())

    def wins(self, values: Floats) -> Floats:
        """`male_wins` as this way compares."""
        return male_wins(values, is_by_label=self.is_by_label, label=self.label)


_SIX = (
    "six numbers a row: entailment, neutral, contradiction of the male option, then of the female "
    "one"
)


WAYS = (
    Way(
        suffix="",
        title="",
        better="higher score",
        respondent="respondent",
        numbers="one number an option, male then female, or one a label each",
    ),
    Way(
        suffix=BY_LABEL,
        title=", discrete",
        better="lower label",
        respondent="classifier",
        numbers=_SIX,
    ),
    Way(
        suffix="_neutral",
        title=" by neutral",
        better="higher raw value of neutral",
        respondent="classifier",
        numbers=_SIX,
        label=NEUTRAL,
    ),
    Way(
        suffix="_contradiction",
        title=" by contradiction",
        better="lower raw value of contradiction",
        respondent="classifier",
        numbers=_SIX,
        label=CONTRADICTION,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the words of a stratum are."""

    stratum: str
    noun: str  # what a sentence names: a profession, a feeling
    words: str  # what the mean is over


SUBJECTS = (
    Subject(stratum=PROFESSION, noun="a profession", words="professions"),
    Subject(stratum=EMOTION, noun="a feeling", words="states and situations"),
)


def _recognition_evidence(way: Way, probes: Sequence[Probe], values: Floats) -> Floats:
    """The evidence of recognition, one row per gendered word."""
    gold = [p.tags.get("gold", "") if p.stratum == RECOGNITION else "" for p in probes]
    return _recognition_rows(way.wins(values), gold)


def _fairness_evidence(stratum: str, way: Way, probes: Sequence[Probe], values: Floats) -> Floats:
    """The evidence of fairness, one row per word and pair."""
    words = [p.cluster if p.stratum == stratum else "" for p in probes]
    return _fairness_rows(way.wins(values), words, [p.texts for p in probes])


def _icat_evidence(stratum: str, way: Way, probes: Sequence[Probe], values: Floats) -> Floats:
    """Recognition in the first columns, fairness in the rest."""
    recognition = _recognition_evidence(way, probes, values)
    return np.concatenate([recognition, _fairness_evidence(stratum, way, probes, values)], axis=1)


def known_share(totals: Floats) -> Floats:
    """Recognition: the share of words whose gender is known."""
    return ratio(totals[..., _RIGHT], totals[..., _KNOWN])


def mean_fairness(totals: Floats) -> Floats:
    """The mean fairness of the words."""
    return ratio(totals[..., _FAIRNESS], totals[..., _WORDS])


def _icat(totals: Floats) -> Floats:
    """Recognition times fairness."""
    recognition = known_share(totals[..., :_RECOGNITION_WIDTH])
    return np.asarray(recognition * mean_fairness(totals[..., _RECOGNITION_WIDTH:]))


def _code_recognition(totals: Floats) -> tuple[Floats, Floats]:
    """Recognition of male and of female words as the released code counts ties."""
    males, ties = totals[..., _MALES], totals[..., _MALES_TIED]
    female_right = totals[..., _RIGHT] - totals[..., _MALES_RIGHT]
    male = ratio(totals[..., _MALES_RIGHT] - ties / 2, males)
    female = ratio(female_right + (totals[..., _TIED] - ties) / 2, totals[..., _KNOWN] - males)
    return male, female


def _code_recognition_parts(totals: Floats) -> Mapping[str, Floats]:
    """The mean of both genders, and their deviation with n - 1, as the released code has them."""
    male, female = _code_recognition(totals)
    return {CODE: (male + female) / 2, CODE_DEVIATION: np.abs(male - female) / np.sqrt(2)}


def _code_fairness_parts(totals: Floats) -> Mapping[str, Floats]:
    """Mean and deviation of the fairness as the released code counts ties."""
    count = totals[..., _WORDS]
    mean = ratio(totals[..., _CODE], count)
    rest = totals[..., _CODE_SQUARES] - totals[..., _CODE] * mean
    return {CODE: mean, CODE_DEVIATION: np.sqrt(ratio(np.maximum(rest, 0.0), count - 1))}


def _code_icat_parts(totals: Floats) -> Mapping[str, Floats]:
    """The product of the two means as the released code counts ties."""
    recognition = _code_recognition_parts(totals[..., :_RECOGNITION_WIDTH])[CODE]
    fairness = _code_fairness_parts(totals[..., _RECOGNITION_WIDTH:])[CODE]
    return {CODE: np.asarray(recognition * fairness)}


def _with_code(way: Way, own: Parts, code: Parts) -> Parts:
    """The parts of a score; by label the released code counts as evenhand does."""
    if way.is_by_label:
        return own
    return lambda totals: {**own(totals), **code(totals)}


def _recognition_parts(totals: Floats) -> Mapping[str, Floats]:
    """Male words, female words, their deviation with n - 1 (as published), the share of ties."""
    right, known = totals[..., _RIGHT], totals[..., _KNOWN]
    male = ratio(totals[..., _MALES_RIGHT], totals[..., _MALES])
    female = ratio(right - totals[..., _MALES_RIGHT], known - totals[..., _MALES])
    return {
        "male": male,
        "female": female,
        "deviation": np.abs(male - female) / np.sqrt(2),
        "ties": ratio(totals[..., _TIED], known),
    }


def _fairness_parts(totals: Floats) -> Mapping[str, Floats]:
    """The deviation over words with n - 1, the mean share of male wins, the share of ties."""
    count = totals[..., _WORDS]
    rest = totals[..., _SQUARES] - totals[..., _FAIRNESS] * mean_fairness(totals)
    return {
        "deviation": np.sqrt(ratio(np.maximum(rest, 0.0), count - 1)),
        "male": ratio(totals[..., _MALE], count),
        "ties": ratio(totals[..., _TIES], totals[..., _COMPARED]),
    }


def _icat_parts(totals: Floats) -> Mapping[str, Floats]:
    """The two factors."""
    return {
        "recognition": known_share(totals[..., :_RECOGNITION_WIDTH]),
        "fairness": mean_fairness(totals[..., _RECOGNITION_WIDTH:]),
    }


def _ties(strata: frozenset[str], way: Way, probes: Sequence[Probe], values: Floats) -> int:
    """In how many comparisons of these strata the two options tie."""
    wins = way.wins(values[stratum_mask(probes, *strata)])
    return int(np.count_nonzero(wins == 0.5))


def checked_wins(values: ArrayLike, beside: Sequence[str], what: str, way: Way) -> Floats:
    """`male_wins` of a table of two options.

    beside: a list with one entry per row; what: its name in an error. Raises MeasureError where the
    shape is wrong or the lengths differ.
    """
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"values are no table of numbers ({error})") from error
    widths = (len(GENDERS) * len(NLI_LABELS),) if way.labels else (2, 4, 6)
    if table.ndim != 2 or table.shape[1] not in widths:
        wanted = " or ".join(f"(comparisons, {n})" for n in widths)
        raise MeasureError(
            f"values have shape {table.shape}; expected {wanted}: male option, then female "
            "option, one number or one a label each"
        )
    if len(beside) != len(table):
        raise MeasureError(f"{len(table)} rows of values but {len(beside)} {what}")
    options = table.reshape(len(table), len(GENDERS), table.shape[1] // len(GENDERS))
    return way.wins(options)


def named(function: Callable[..., float], name: str, text: str) -> Callable[..., float]:
    """The function with its own name and documentation."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def _recognition_function(way: Way) -> Callable[..., float]:
    def recognition(values: ArrayLike, gold: Sequence[str]) -> float:
        wins = checked_wins(values, gold, "gold genders", way)
        check_names(gold, "gold gender", GENDERS)
        return float(known_share(_recognition_rows(wins, gold).sum(axis=0)))

    text = (
        'Share of rows whose gold gender wins. gold: "male" or "female" for each row. '
        f"values: {way.numbers}."
    )
    return named(recognition, f"{RECOGNITION}{way.suffix}", text)


def _fairness_function(subject: Subject, way: Way) -> Callable[..., float]:
    def fairness(values: ArrayLike, words: Sequence[str]) -> float:
        wins = checked_wins(values, words, "words", way)
        check_names(words, "word")
        rows = _fairness_rows(wins, words, range(len(wins)))
        totals = cluster_totals(rows, words)
        return float(mean_fairness(fairness_of_words(totals).sum(axis=0)))

    text = (
        "Mean fairness of the words. words: the word of each row, one row for each word and pair. "
        f"values: {way.numbers}."
    )
    return named(fairness, f"{subject.stratum}_fairness{way.suffix}", text)


def _icat_function(subject: Subject, way: Way) -> Callable[..., float]:
    def icat(recognition: float, fairness: float) -> float:
        for what, share in (("recognition", recognition), ("fairness", fairness)):
            if share < 0 or share > 1:
                raise MeasureError(f"{what} is {share}; give a share from 0 to 1, not percent")
        return recognition * fairness

    text = (
        f"The product of two shares; NaN where one of them is. recognition: "
        f"`recognition{way.suffix}`. fairness: `{subject.stratum}_fairness{way.suffix}`."
    )
    return named(icat, f"{subject.stratum}_icat{way.suffix}", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score:
    """What distinguishes one measure from the others."""

    way: Way
    title: str
    short: str
    question: str
    formula: str
    caveat: str
    strata: frozenset[str]
    evidence: Evidence
    combine: Combine
    parts: Parts
    function: Callable[..., float]
    best: Best
    per_cluster: Combine | None = None


def _recognition_score(way: Way) -> _Score:
    return _Score(
        way=way,
        title="Gender recognition",
        short="Recognition",
        question="Does the model know which gender a word like aunt or king has?",
        formula=f"gendered words whose own gender has the {way.better} / answered words, ties half",
        caveat=f"A random {way.respondent} gets about 0.5, and so does a constant one, by ties "
        "only: read it beside the part `ties`.",
        strata=frozenset({RECOGNITION}),
        evidence=partial(_recognition_evidence, way),
        combine=known_share,
        parts=_with_code(way, _recognition_parts, _code_recognition_parts),
        function=_recognition_function(way),
        best="right",
    )


def _fairness_score(subject: Subject, way: Way) -> _Score:
    return _Score(
        way=way,
        title=f"{subject.stratum.capitalize()} fairness",
        short="Fairness",
        question=f"Does the model go with one gender where {subject.noun} is all that it is told?",
        formula=f"mean over {subject.words} of min(c, 1 - c) / 0.5, c = share of pairs whose male "
        f"word has the {way.better}, ties half",
        caveat="A respondent that always says the same gets 1, all of it by ties, and a random "
        "one about 0.9: read it beside recognition and the part `ties`.",
        strata=frozenset({subject.stratum}),
        evidence=partial(_fairness_evidence, subject.stratum, way),
        combine=mean_fairness,
        parts=_with_code(way, _fairness_parts, _code_fairness_parts),
        function=_fairness_function(subject, way),
        best="fair",
        per_cluster=fairness_of_words,
    )


def _icat_score(subject: Subject, way: Way) -> _Score:
    return _Score(
        way=way,
        title=f"{subject.stratum.capitalize()} iCAT",
        short="iCAT",
        question="Does the model know the gender of words, and yet go with neither where "
        f"{subject.noun} is all that it is told?",
        formula=f"recognition{way.suffix} * {subject.stratum}_fairness{way.suffix}",
        caveat="A respondent that always says the same gets 0.5 (recognition 0.5, fairness 1, all "
        "by ties), a random one about 0.45.",
        strata=frozenset({RECOGNITION, subject.stratum}),
        evidence=partial(_icat_evidence, subject.stratum, way),
        combine=_icat,
        parts=_with_code(way, _icat_parts, _code_icat_parts),
        function=_icat_function(subject, way),
        best="ideal",
        per_cluster=_both_of_words,
    )


def _make_measure(score: _Score) -> Measure:
    is_recognition = score.strata == {RECOGNITION}
    return Measure(
        name=score.function.__name__,
        kind="choice",
        card=MeasureCard(
            title=f"{score.title}{score.way.title}",
            short=f"{score.short}{score.way.title}",
            question=score.question,
            formula=score.formula,
            range=(0.0, 1.0),
            citation=CITATION,
            caveat=score.caveat,
        ),
        fair=1.0,
        # what is said by entailment and contradiction does not show in the neutral value
        worst=None if is_recognition or score.way.label == NEUTRAL else 0.0,
        best=score.best,
        strata=score.strata,
        # the recognition probes are in several suites; a product needs both of its strata
        required=frozenset() if is_recognition else score.strata,
        options=frozenset(GENDERS),
        labels=score.way.labels,
        needs_numbers=not score.way.is_by_label,
        evidence=score.evidence,
        combine=score.combine,
        per_cluster=score.per_cluster,
        parts=score.parts,
        scoring=score.way.compared,
        ties=partial(_ties, score.strata, score.way),
        function=score.function,
    )


def _scores(way: Way) -> list[_Score]:
    """The scores of one way of comparing, in the order of a report."""
    both = (make(s, way) for s in SUBJECTS for make in (_fairness_score, _icat_score))
    return [*both, _recognition_score(way)]


MEASURES = tuple(_make_measure(score) for way in WAYS for score in _scores(way))


def way_of(measure: str) -> Way:
    """The way in which a measure compares."""
    return next((way for way in WAYS if way.suffix and measure.endswith(way.suffix)), WAYS[0])


def is_by_label(measure: str) -> bool:
    """Whether a measure compares predicted labels."""
    return measure.endswith(BY_LABEL)
