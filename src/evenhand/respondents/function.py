"""A model in the user's own Python program: a function that answers pairs, blanks or choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.probe import NLI_LABELS, SCORE, Floats, Kind, Probe
from evenhand.respondents.replies import collect, no_answer

Asked = Literal["pairs", "blanks", "choices"]
KINDS: Mapping[str, Kind] = {"pairs": "pair", "blanks": "mask", "choices": "choice"}
_NO_NUMBERS = no_answer("the function returned no finite numbers")


class FunctionRespondent:
    """A callable on lists of questions; see `function` for what it is given and returns."""

    reads_tags = False

    def __init__(
        self, function: Callable[[list[Any]], Any], kind: Asked = "pairs", name: str = ""
    ) -> None:
        if kind not in KINDS:
            raise UnknownNameError("kind of question", kind, get_args(Asked))
        if not callable(function):
            raise EvenhandError(
                f"{function!r} is not a function; give one that takes a list of {kind}"
            )
        self.function, self.asked = function, kind
        self.kinds: frozenset[Kind] = frozenset({KINDS[kind]})
        own_name = getattr(function, "__qualname__", type(function).__name__)
        self.identity = f"function:{name or own_name}"
        self.is_cacheable = bool(name)  # a function has no revision but the name it is given
        self.traits: Mapping[str, str] = {
            **({"labels": "e0n1c2", "scoring": "argmax"} if kind == "pairs" else {}),
            **({"scoring": "as given"} if kind != "pairs" else {}),
            "precision": "as given",
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """Entailment, neutral, contradiction for a pair; one score for an option."""
        return NLI_LABELS if kind == "pair" else (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """What the function returns; raises EvenhandError where its shape is wrong."""
        given = self.function([self._question(probe) for probe in probes])
        try:
            rows = [np.asarray(row, dtype=np.float64) for row in given]
        except (TypeError, ValueError) as error:
            raise EvenhandError(
                f"{self.identity} returned no rows of numbers ({error}); give one row for each of "
                f"the {self.asked}"
            ) from error
        if len(rows) != len(probes):
            raise EvenhandError(
                f"{self.identity} returned {len(rows)} rows for {len(probes)} {self.asked}; give "
                "one row for each"
            )
        answers = [self._checked(row, p) for row, p in zip(rows, probes, strict=True)]
        return collect(probes, len(self.labels_for(next(iter(self.kinds)))), answers)

    def _question(self, probe: Probe) -> tuple[str, Any]:
        first, *options = probe.texts[: 1 + probe.option_count]
        return (first, options[0]) if self.asked == "pairs" else (first, tuple(options))

    def _checked(self, row: Floats, probe: Probe) -> Floats | Silence:
        """The numbers (option, label) of one probe, or that there are none."""
        width = len(NLI_LABELS) if self.asked == "pairs" else probe.option_count
        if row.shape != (width,):
            what = ", ".join(NLI_LABELS) if self.asked == "pairs" else "one for each option"
            raise EvenhandError(
                f"{self.identity} returned shape {row.shape} for '{probe.id}'; expected {width} "
                f"numbers: {what}"
            )
        if not np.isfinite(row).all():
            return _NO_NUMBERS
        return row[np.newaxis, :] if self.asked == "pairs" else row[:, np.newaxis]


def function(
    answer: Callable[[list[Any]], Any], kind: Asked = "pairs", name: str = ""
) -> FunctionRespondent:
    """A function as a model that `audit` and `compare` take.

    answer: gets a list of questions and returns a row of numbers for each. kind: what it answers.
    "pairs": (premise, hypothesis), three numbers: entailment, neutral, contradiction. "blanks":
    (sentence with [BLANK], words), the log-probability of each word. "choices": (context, options),
    a number for each option, the higher the more it is preferred. A row that is not finite is no
    answer. name: answers are kept under it, and not asked again; give another name when the
    function changes. Without one they are not kept. Raises EvenhandError for another kind.
    """
    return FunctionRespondent(answer, kind, name)
