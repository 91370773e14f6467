"""A model in the user's own Python program: a function from pairs to three scores each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.core.answers import Replies
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import NLI_LABELS, Kind, Probe
from evenhand.respondents.replies import no_answer

_NO_NUMBERS = no_answer("the function returned no finite numbers")


class FunctionRespondent:
    """A callable on (premise, hypothesis) pairs; columns entailment, neutral, contradiction."""

    kinds: frozenset[Kind] = frozenset({"pair"})
    reads_tags = False
    is_cacheable = False  # a function has no revision

    def __init__(self, function: Callable[[list[tuple[str, str]]], Any]) -> None:
        self.function = function
        self.identity = f"function:{getattr(function, '__qualname__', type(function).__name__)}"
        self.traits: Mapping[str, str] = {
            "labels": "e0n1c2",
            "scoring": "argmax",
            "precision": "as given",
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """Entailment, neutral, contradiction."""
        return NLI_LABELS

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """What the function returns; raises EvenhandError where its shape is wrong."""
        values = np.asarray(
            self.function([(p.texts[0], p.texts[1]) for p in probes]), dtype=np.float64
        )
        if values.shape != (len(probes), len(NLI_LABELS)):
            raise EvenhandError(
                f"{self.identity} returned shape {values.shape} for {len(probes)} pairs; "
                f"expected ({len(probes)}, 3)"
            )
        silent = np.flatnonzero((~np.isfinite(values)).any(axis=1))
        silences = {int(row): _NO_NUMBERS for row in silent}
        return Replies(values=values[:, np.newaxis, :], silences=silences)
