"""What would someone score who answers by a rule? The baselines of every report and the backbone of the tests.

random: any answer, the same for the same text and seed. constant: always the first label; every option of a choice alike; the first candidate of a blank e times as likely as
any other. fair: what a fair respondent says. stereotyped: what a fully stereotyped one says. Fair and stereotyped read the probe's tags; without them they do not answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import KINDS, NLI_LABELS, Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions

RULES = ("random", "constant", "fair", "stereotyped")
SURE, REST = 0.0, -750.0  # log-probabilities of as good as one and as good as nothing
ODDS = 1.0  # by how much the constant respondent favours the first candidate of a blank, on the log scale


class FixedRespondent:
    """A rule that answers every kind of probe."""

    kinds: frozenset[Kind] = frozenset(KINDS)
    labels: tuple[str, ...] = NLI_LABELS

    def __init__(self, rule: str, seed: int = 0, spread: int = 1) -> None:
        self.rule = rule
        self.spread = spread  # numbers for each option of a choice: more than one where the model beside it is a classifier
        self.seed = seed
        self.identity = f"fixed:{rule}" + (f"@{seed}" if rule == "random" else "")
        self.traits: Mapping[str, str] = {
            "labels": "e0n1c2",
            "scoring": "rule",
            "precision": "exact",
        }
        self.unanswered: dict[str, int] = {}

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """Log-probabilities by the rule."""
        width = max((self._width(p) for p in probes), default=len(NLI_LABELS))
        values = np.full((len(probes), width), np.nan)
        for row, probe in zip(values, probes, strict=True):
            row[: self._width(probe)] = (
                self._labelled(probe) if self._width(probe) > probe.width else self._one(probe)
            )
        if silent := int(np.isnan(values[:, :1]).sum()):
            reason = f"the probe does not say what a {self.rule} respondent answers"
            self.unanswered[reason] = self.unanswered.get(reason, 0) + silent
        return values

    def _width(self, probe: Probe) -> int:
        return probe.width * (self.spread if probe.kind == "choice" else 1)

    def _labelled(self, probe: Probe) -> Floats:
        """A choice answered as a classifier does: for every option entailment, (neutral,) contradiction."""
        if self.rule == "random":
            return np.concatenate(
                [self._drawn(f"{i}", probe, self.spread) for i in range(probe.width)]
            )
        told = "entailment" if self.rule == "constant" else probe.tags.get(self.rule, "")
        if not told.isdigit() and told not in ("equal", "entailment"):
            return np.full(probe.width * self.spread, np.nan)
        said = [
            0 if told == "entailment" or told == str(i) else self.spread - 1
            for i in range(probe.width)
        ]
        if told == "equal":
            said = [min(1, self.spread - 1)] * probe.width
        values = np.full((probe.width, self.spread), REST)
        values[np.arange(probe.width), said] = SURE
        return values.reshape(-1)

    def _drawn(self, place: str, probe: Probe, count: int) -> Floats:
        text = "\0".join(
            (str(self.seed), probe.kind, place, *probe.texts)
            if place
            else (str(self.seed), probe.kind, *probe.texts)
        )
        state = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return np.asarray(
            np.log(np.random.default_rng(int.from_bytes(state)).dirichlet(np.ones(count)))
        )

    def _one(self, probe: Probe) -> Floats:
        if self.rule == "random":
            return self._drawn("", probe, probe.width)
        told = (
            ("equal" if probe.kind == "choice" else "0")
            if self.rule == "constant"
            else probe.tags.get(self.rule, "")
        )
        if told == "equal":
            return np.full(probe.width, -np.log(probe.width))
        position = (
            NLI_LABELS.index(told) if told in NLI_LABELS else int(told) if told.isdigit() else None
        )
        if position is None or position >= probe.width:
            return np.full(probe.width, np.nan)
        if (
            self.rule == "constant" and probe.kind == "mask"
        ):  # log-odds have no bound, so "always the first" must say how far
            odds = np.zeros(probe.width)
            odds[position] = ODDS
            return np.asarray(odds - np.log(np.exp(odds).sum()))
        values = np.full(probe.width, REST - np.log(max(probe.width - 1, 1)))
        values[position] = SURE
        return values


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
        """The rule behind the colon."""
        rule = reference.partition(":")[2]
        if rule not in RULES:
            raise UnknownNameError("fixed respondent", rule, RULES)
        return FixedRespondent(rule, options.seed, options.spread)


RESPONDENT = FixedSource()
