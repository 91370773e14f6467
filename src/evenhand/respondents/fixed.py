"""Rules that answer without a model: the baselines of every report, the yardstick of the tests.

random: any answer, the same for the same text and seed. constant: always the first label; every
option of a choice alike; the first candidate of a blank e times as likely as any other. fair: what
a fair respondent says. stereotyped: what a fully stereotyped one says. male-default: everybody is a
man, whatever the text says: a hypothesis about a man is entailed and one about a woman
contradicted, the male option wins, the male word of a blank is e times as likely. female-default:
the mirror image. All but random and constant read the probe's tags; without them they do not
answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import (
    CONTRADICTION,
    ENTAILMENT,
    GENDERS,
    KINDS,
    NLI_LABELS,
    SCORE,
    Floats,
    Kind,
    Probe,
)
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.replies import collect, no_answer

_DEFAULTS = {f"{gender}-default": gender for gender in GENDERS}  # rule -> whom it sees everywhere
RULES = ("random", "constant", "fair", "stereotyped", *_DEFAULTS)
SURE, REST = 0.0, -750.0  # log-probabilities of as good as one and as good as nothing
ODDS = 1.0  # by how much a constant or default respondent favours a candidate, on the log scale
_MOST_PERMUTED = 3  # labels or options; of more, the permutations are too many
_EQUAL = "equal"  # no preference


class FixedRespondent:
    """A rule that answers every kind of probe.

    labels: those with which it answers a pair or a choice, where it is the baseline of a
    classifier; empty for three labels of a pair and one score per option.
    """

    kinds: frozenset[Kind] = frozenset(KINDS)
    is_cacheable = False
    reads_tags = True

    def __init__(self, rule: str, seed: int = 0, labels: tuple[str, ...] = ()) -> None:
        self.rule, self.seed, self.labels = rule, seed, labels
        self.identity = f"fixed:{rule}" + (f"@{seed}" if rule == "random" else "")
        self.traits: Mapping[str, str] = {
            "labels": "e0n1c2",
            "scoring": "rule",
            "precision": "exact",
        }
        self.silence = no_answer(f"the probe does not say what a {rule} respondent answers")

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """Those it was opened with; else three labels for a pair and one score otherwise."""
        if kind == "pair":
            return self.labels or NLI_LABELS
        return self.labels if kind == "choice" and self.labels else (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Log-probabilities by the rule."""
        labels = max((len(self.labels_for(p.kind)) for p in probes), default=len(NLI_LABELS))
        return collect(probes, labels, [self._answer(p) for p in probes])

    def _answer(self, probe: Probe) -> Floats | Silence:
        """(option, label)."""
        if probe.kind == "pair":
            return self._distribute(probe, len(self.labels_for("pair")), (1, -1))
        if probe.kind == "choice" and len(self.labels) > 1:
            return self._classify(probe)
        return self._distribute(probe, probe.option_count, (-1, 1))

    def _wanted(self, probe: Probe) -> str:
        """The label or the position that the rule prefers, `equal` for none; empty: unknown."""
        if self.rule == "constant":
            return _EQUAL if probe.kind == "choice" else "0"
        if (gender := _DEFAULTS.get(self.rule)) is None:
            return probe.tags.get(self.rule, "")
        if probe.kind != "pair":
            is_gendered = probe.tags.get("pair", "").count("/") == 1
            return str(GENDERS.index(gender)) if is_gendered else ""
        named = probe.tags.get("gender", "")
        if named not in GENDERS:
            return ""
        return ENTAILMENT if named == gender else CONTRADICTION

    def _classify(self, probe: Probe) -> Floats | Silence:
        """A choice answered as a classifier does: labels for every option."""
        options, labels = probe.option_count, len(self.labels)
        if self.rule == "random":
            return np.stack([self._draw(probe, labels, f"{i}") for i in range(options)])
        wanted = ENTAILMENT if self.rule == "constant" else self._wanted(probe)
        if not wanted.isdigit() and wanted not in (_EQUAL, ENTAILMENT):
            return self.silence
        chosen = [0 if wanted in (ENTAILMENT, str(i)) else labels - 1 for i in range(options)]
        if wanted == _EQUAL:
            chosen = [min(1, labels - 1)] * options
        values = np.full((options, labels), REST)
        values[np.arange(options), chosen] = SURE
        return values

    def _draw(self, probe: Probe, count: int, option: str = "") -> Floats:
        """Random log-probabilities that depend on the seed and the texts alone."""
        place = (option,) if option else ()
        text = "\0".join((str(self.seed), probe.kind, *place, *probe.texts))
        state = hashlib.blake2b(text.encode(), digest_size=8).digest()
        rng = np.random.default_rng(int.from_bytes(state))
        return np.asarray(np.log(rng.dirichlet(np.ones(count))))

    def _distribute(self, probe: Probe, count: int, shape: tuple[int, int]) -> Floats | Silence:
        """Log-probabilities over `count` labels or options, that sum to one."""
        if self.rule == "random":
            return self._draw(probe, count).reshape(shape)
        wanted = self._wanted(probe)
        if wanted == _EQUAL:
            return np.full(count, -np.log(count)).reshape(shape)
        # of two labels, the second stands for neutral and contradiction
        position = min(NLI_LABELS.index(wanted), count - 1) if wanted in NLI_LABELS else None
        if wanted.isdigit():
            position = int(wanted)
        if position is None or position >= count:
            return self.silence
        if probe.kind == "mask" and (self.rule == "constant" or self.rule in _DEFAULTS):
            # log-odds have no bound, so "always this word" must say how far
            odds = np.zeros(count)
            odds[position] = ODDS
            return np.asarray(odds - np.log(np.exp(odds).sum())).reshape(shape)
        values = np.full(count, REST - np.log(max(count - 1, 1)))
        values[position] = SURE
        return values.reshape(shape)


def random_draws(
    probes: Sequence[Probe], labels: int, count: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """`count` times what a random respondent answers to all probes: (probe, option, label).

    Within a draw equal texts get equal numbers. Numbers that were drawn come back in every order of
    the labels of a pair, or of the options of a mask or choice (where there are at most three of
    them), and where there are twins, each time also with the second twin turned around: over such
    a round of at most 12 draws, the mean of a share is exactly its expected value.
    labels: how many numbers an option has; 1 for a single score.
    """
    place_of: dict[tuple[str, ...], int] = {}
    places = [place_of.setdefault((p.kind, *p.texts), len(place_of)) for p in probes]
    counts = np.asarray([p.option_count for p in probes], dtype=np.intp)
    options = int(counts.max(initial=1))
    is_beyond = np.arange(options) >= counts[:, None]
    ordered = 2 if options == 1 else 1  # the axis that is put into another order
    width = (options, labels)[ordered - 1]
    orders = [tuple(range(width))]
    if width <= _MOST_PERMUTED and not is_beyond.any():
        orders = list(permutations(range(width)))
    seconds = _second_twins(probes)
    whole_round = len(orders) * (2 if seconds else 1)
    for draw in range(count):
        if (turn := draw % whole_round) == 0:
            weights = rng.exponential(size=(len(place_of), options, labels))[places]
            weights[is_beyond] = np.nan
            # over the labels of an option, or over the options where each has a single score
            whole = np.nansum(weights, axis=2 if labels > 1 else 1, keepdims=True)
            drawn = np.log(weights / whole)
        order = orders[turn % len(orders)]
        values = np.take(drawn, order, axis=ordered)
        if turn >= len(orders):
            values[seconds] = np.flip(values[seconds], axis=ordered)
        yield values


def _second_twins(probes: Sequence[Probe]) -> list[int]:
    """The rows of probes whose twin stands in an earlier row."""
    row_of = {probe.id: row for row, probe in enumerate(probes)}
    return [row for row, p in enumerate(probes) if row_of.get(p.twin or "", row) < row]


class FixedSource:
    """`fixed:random` and the other rules of RULES."""

    name = "fixed"
    kinds: frozenset[Kind] = frozenset(KINDS)
    description = f"Rules that need no model: {', '.join(RULES)}."
    examples = tuple(f"fixed:{rule}" for rule in RULES)

    def claims(self, reference: str) -> bool:
        """Anything that starts with `fixed:`."""
        return reference.startswith("fixed:")

    def open(self, reference: str, options: RespondentOptions) -> FixedRespondent:
        """The rule after the colon."""
        rule = reference.partition(":")[2]
        if rule not in RULES:
            raise UnknownNameError("fixed respondent", rule, RULES)
        return FixedRespondent(rule, options.seed, options.labels)


RESPONDENT = FixedSource()
