"""What did a model or a person say who answered long ago? Published files carry their answers; `stored:NAME` gives them again.

A suite that holds such answers keeps them in the tags `said.NAME` of its probes: one log-ratio (or score) a sentence, above 0 for the first candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions

TAG = "said."


class StoredRespondent:
    """One column of a published file."""

    kinds: frozenset[Kind] = frozenset({"mask"})
    labels: tuple[str, ...] = ()

    def __init__(self, column: str) -> None:
        self.column = column
        self.identity = f"stored:{column}"
        self.traits: Mapping[str, str] = {"scoring": "as published", "precision": "as published"}
        self.unanswered: dict[str, int] = {}

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """The stored number for the first candidate, 0 for the second: only their difference is known."""
        told = [p.tags.get(TAG + self.column) for p in probes]
        if told and not any(told):
            known = sorted(
                {t.removeprefix(TAG) for p in probes for t in p.tags if t.startswith(TAG)}
            )
            raise LoadError(
                f"the suite has no stored answers of '{self.column}'. It has: {', '.join(known) or 'none; try --suite cgb'}"
            )
        if silent := sum(not t for t in told):
            reason = "no stored answer"
            self.unanswered[reason] = self.unanswered.get(reason, 0) + silent
        return np.asarray([[float(t), 0.0] if t else [np.nan, np.nan] for t in told]).reshape(-1, 2)


class StoredSource:
    """`stored:BERT`, `stored:Annotators`."""

    name = "stored"
    kinds: frozenset[Kind] = frozenset({"mask"})
    description = "Models and people whose answers a published file carries: give the suite that has them, `--suite cgb`."
    examples = ("stored:BERT", "stored:Annotators")

    def claims(self, reference: str) -> bool:
        """Anything that starts with `stored:`."""
        return reference.startswith("stored:")

    def open(self, reference: str, options: RespondentOptions) -> StoredRespondent:
        """The column behind the colon."""
        return StoredRespondent(reference.partition(":")[2])


RESPONDENT = StoredSource()
