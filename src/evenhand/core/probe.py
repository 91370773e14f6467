"""Probe: one question put to a respondent, and the names that kinds, labels and options have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Kind = Literal["pair", "mask", "choice"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
NLI_LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)
NOT_ENTAILMENT = "not_entailment"
SCORE = "score"  # the one label of a respondent that gives a single number per option
HYPOTHESIS = "hypothesis"  # the one option of a pair
BLANK = "[BLANK]"  # where a candidate goes in the sentence of a mask probe
CLUSTER = "cluster"  # the factor that every suite has
GENDERS = ("male", "female")  # the one order of genders: options, columns, tables
PREFERENCES = ("stereotypical", "anti-stereotypical")  # the options of a choice of two sentences
DEFAULT_OPTIONS: Mapping[Kind, tuple[str, ...]] = {
    "pair": (HYPOTHESIS,),
    "mask": GENDERS,
    "choice": PREFERENCES,
}

_NO_TAGS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question put to a respondent.

    texts: (premise, hypothesis) of a pair; (sentence with a blank, candidates ...) of a mask;
    (context, options ...) of a choice.
    tags: what the probe is about. Some have a fixed meaning: `fair` and `stereotyped` name the
    label (of a pair) or the position (of a candidate or option) that a fair or a fully
    stereotyped respondent gives, `equal` meaning no preference; `gender` names whom the hypothesis
    of a pair speaks of; `pair` (`man/woman`) says that a mask or choice has a male option and then
    a female one; `scoring` names the way in which a language model weighs a sentence where the
    suite and not the user decides it; `prompt` names the wordings in which a model that is asked
    in words is asked, where those of the probe's kind do not fit.
    """

    id: str
    kind: Kind
    language: str
    texts: tuple[str, ...]
    stratum: str = ""
    cluster: str = ""
    twin: str | None = None
    tags: Mapping[str, str] = field(default_factory=lambda: _NO_TAGS)

    @property
    def option_count(self) -> int:
        """How many options an answer has: 1 for a pair, else its candidates or options."""
        return 1 if self.kind == "pair" else len(self.texts) - 1

    @property
    def around_blank(self) -> tuple[str, str]:
        """The text before and after the blank of a mask."""
        before, _, after = self.texts[0].partition(BLANK)
        return before, after

    def to_json(self) -> dict[str, Any]:
        """The probe as plain data, keys in a fixed order: what a suite's digest is made of."""
        return {
            "id": self.id,
            "kind": self.kind,
            "language": self.language,
            "texts": list(self.texts),
            "stratum": self.stratum,
            "cluster": self.cluster,
            "twin": self.twin,
            "tags": dict(sorted(self.tags.items())),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Probe:
        """The probe that plain data describe.

        Raises KeyError, TypeError or ValueError where they do not describe a probe.
        """
        kind, texts = row["kind"], row["texts"]
        if kind not in KINDS:
            raise ValueError(f"kind is {kind!r}, not one of {', '.join(KINDS)}")
        if not isinstance(texts, list | tuple):
            raise TypeError(f"texts is {texts!r}, not a list")
        if (kind == "pair" and len(texts) != 2) or len(texts) < 2:
            raise ValueError(f"{len(texts)} texts; a pair has 2, a mask or choice at least 2")
        if kind == "mask":
            check_blank([str(t) for t in texts])
        return cls(
            id=str(row["id"]),
            kind=kind,
            language=str(row["language"]),
            texts=tuple(str(t) for t in texts),
            stratum=str(row["stratum"]),
            cluster=str(row["cluster"]),
            twin=row.get("twin"),
            tags=dict(row.get("tags") or {}),
        )


def group_rows(
    probes: Sequence[Probe], name_of: Callable[[Probe], str | None]
) -> dict[str, list[int]]:
    """The rows of the probes of each group, groups in the order of their names.

    name_of: the group of a probe, None for a probe that belongs to none.
    """
    rows_of: dict[str, list[int]] = {}
    for row, probe in enumerate(probes):
        if (name := name_of(probe)) is not None:
            rows_of.setdefault(name, []).append(row)
    return dict(sorted(rows_of.items()))


def shared_tags(probes: Sequence[Probe]) -> dict[str, str]:
    """The tags that all of these probes have with the same value; none where there is no probe."""
    first = probes[0].tags if probes else {}
    return {k: v for k, v in first.items() if all(p.tags.get(k) == v for p in probes)}


def check_blank(texts: Sequence[str]) -> None:
    """Raise ValueError unless a mask has exactly one blank and two or more candidates."""
    if (count := texts[0].count(BLANK)) != 1:
        raise ValueError(f"{count} blanks in {texts[0]!r}; a sentence has exactly one {BLANK}")
    if len(texts) < 3:
        raise ValueError(f"{len(texts) - 1} candidate; a mask has at least 2")
    if any(not text.strip() for text in texts[1:]):
        raise ValueError(f"an empty candidate in {list(texts[1:])}")
