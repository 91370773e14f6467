"""How is a model asked that lives in the user's own Python program? As a function from (premise, hypothesis) pairs to three scores each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import NLI_LABELS, Floats, Kind, Probe


class FunctionRespondent:
    """A callable; columns entailment, neutral, contradiction. It has no revision, so its answers are not cached."""

    kinds: frozenset[Kind] = frozenset({"pair"})
    labels: tuple[str, ...] = NLI_LABELS

    def __init__(self, function: Callable[[list[tuple[str, str]]], Any]) -> None:
        self.function = function
        self.identity = f"function:{getattr(function, '__qualname__', type(function).__name__)}"
        self.traits: Mapping[str, str] = {
            "labels": "e0n1c2",
            "scoring": "argmax",
            "precision": "as given",
        }
        self.unanswered: dict[str, int] = {}

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """What the function returns, checked."""
        values = np.asarray(
            self.function([(p.texts[0], p.texts[1]) for p in probes]), dtype=np.float64
        )
        if values.shape != (len(probes), len(NLI_LABELS)):
            raise EvenhandError(
                f"{self.identity} returned shape {values.shape} for {len(probes)} pairs; expected ({len(probes)}, 3)"
            )
        if silent := int((~np.isfinite(values)).any(axis=1).sum()):
            reason = "the function returned no finite numbers"
            self.unanswered[reason] = self.unanswered.get(reason, 0) + silent
        return values
