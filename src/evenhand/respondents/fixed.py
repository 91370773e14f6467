"""Rules that answer without a model: the baselines of every report, the yardstick of the tests.

random: any answer, the same for the same text and seed. constant: always the first label; every
option of a choice alike; the first candidate of a blank e times as likely as any other. fair: what
a fair respondent says. stereotyped: what a fully stereotyped one says. Fair and stereotyped read
the probe's tags; without them they do not answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import ENTAILMENT, KINDS, NLI_LABELS, SCORE, Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.replies import collect, no_answer

RULES = ("random", "constant", "fair", "stereotyped")
SURE, REST = 0.0, -750.0  # log-probabilities of as good as one and as good as nothing
ODDS = 1.0  # by how much the constant respondent favours the first candidate, on the log scale
_EQUAL = "equal"  # no preference


class FixedRespondent:
    """A rule that answers every kind of probe.

    labels: those with which it answers a choice, where it is the baseline of a classifier;
    empty for one score per option.
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
        """Three labels for a pair; for a choice those it was opened with, else one score."""
        if kind == "pair":
            return NLI_LABELS
        return self.labels if kind == "choice" and self.labels else (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Log-probabilities by the rule."""
        labels = max((len(self.labels_for(p.kind)) for p in probes), default=len(NLI_LABELS))
        return collect(probes, labels, [self._answer(p) for p in probes])

    def _answer(self, probe: Probe) -> Floats | Silence:
        """(option, label)."""
        if probe.kind == "pair":
            return self._distribute(probe, len(NLI_LABELS), (1, -1))
        if probe.kind == "choice" and len(self.labels) > 1:
            return self._classify(probe)
        return self._distribute(probe, probe.option_count, (-1, 1))

    def _classify(self, probe: Probe) -> Floats | Silence:
        """A choice answered as a classifier does: labels for every option."""
        options, labels = probe.option_count, len(self.labels)
        if self.rule == "random":
            return np.stack([self._draw(probe, labels, f"{i}") for i in range(options)])
        wanted = ENTAILMENT if self.rule == "constant" else probe.tags.get(self.rule, "")
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
        wanted = probe.tags.get(self.rule, "")
        if self.rule == "constant":
            wanted = _EQUAL if probe.kind == "choice" else "0"
        if wanted == _EQUAL:
            return np.full(count, -np.log(count)).reshape(shape)
        position = NLI_LABELS.index(wanted) if wanted in NLI_LABELS else None
        if wanted.isdigit():
            position = int(wanted)
        if position is None or position >= count:
            return self.silence
        if self.rule == "constant" and probe.kind == "mask":
            # log-odds have no bound, so "always the first" must say how far
            odds = np.zeros(count)
            odds[position] = ODDS
            return np.asarray(odds - np.log(np.exp(odds).sum())).reshape(shape)
        values = np.full(count, REST - np.log(max(count - 1, 1)))
        values[position] = SURE
        return values.reshape(shape)


class FixedSource:
    """`fixed:random`, `fixed:constant`, `fixed:fair`, `fixed:stereotyped`."""

    name = "fixed"
    kinds: frozenset[Kind] = frozenset(KINDS)
    description = "Rules that need no model: random, constant, fair, stereotyped."
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
