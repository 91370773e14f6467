"""Models and people whose answers were published: `stored:NAME` reads them from the suite's file.

A suite that holds such answers keeps them in the tags `said.NAME` of its probes: one log-ratio (or
score) per sentence, above 0 for the first candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.core.answers import Replies
from evenhand.core.errors import LoadError
from evenhand.core.probe import SCORE, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.replies import collect, no_answer

TAG = "said."
_MISSING = no_answer("no stored answer")


class StoredRespondent:
    """One column of a published file."""

    kinds: frozenset[Kind] = frozenset({"mask"})
    is_cacheable = False
    reads_tags = True

    def __init__(self, column: str) -> None:
        self.column = column
        self.identity = f"stored:{column}"
        self.traits: Mapping[str, str] = {"scoring": "as published", "precision": "as published"}

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """One score."""
        return (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """The stored number for the first candidate, 0 for the second.

        Only their difference is known. Raises LoadError where no probe has such an answer.
        """
        numbers = [p.tags.get(TAG + self.column) for p in probes]
        if numbers and not any(numbers):
            tags = {t for p in probes for t in p.tags if t.startswith(TAG)}
            known = ", ".join(sorted(t.removeprefix(TAG) for t in tags))
            raise LoadError(
                f"the suite has no stored answers of '{self.column}'. "
                f"It has: {known or 'none; try --suite cgb'}"
            )
        answers = [np.asarray([[float(n)], [0.0]]) if n else _MISSING for n in numbers]
        return collect(probes, 1, answers)


class StoredSource:
    """`stored:BERT`, `stored:Annotators`."""

    name = "stored"
    kinds: frozenset[Kind] = frozenset({"mask"})
    description = (
        "Models and people whose answers a published file carries: "
        "give the suite that has them, `--suite cgb`."
    )
    examples = ("stored:BERT", "stored:Annotators")

    def claims(self, reference: str) -> bool:
        """Anything that starts with `stored:`."""
        return reference.startswith("stored:")

    def open(self, reference: str, options: RespondentOptions) -> StoredRespondent:
        """The column after the colon."""
        return StoredRespondent(reference.partition(":")[2])


RESPONDENT = StoredSource()
