"""What passes between the parts of the program? Probes, suites, answers, estimates: frozen, slotted, keyword-only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

Kind = Literal["pair", "mask", "choice"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Floats = NDArray[np.float64]

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
NLI_LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)
NOT_ENTAILMENT = "not_entailment"
BLANK = "[BLANK]"  # where a candidate goes in the sentence of a mask probe
GENDERS = ("male", "female")  # the candidates of a gendered mask probe, in this order
PREFERENCES = ("stereotypical", "anti-stereotypical")  # the options of a choice between two sentences, in this order
LABELS: Mapping[Kind, tuple[str, ...]] = {"pair": NLI_LABELS, "mask": GENDERS, "choice": PREFERENCES}  # where a card names none

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question put to a respondent.

    texts: (premise, hypothesis) of a pair; (sentence with a blank, candidates ...) of a mask; (context, options ...) of a choice.
    tags: what the probe is about. Three have a fixed meaning: `fair` and `stereotyped` name the label (of a pair) or the position (of a
    candidate or option) that a fair or a fully stereotyped respondent gives, `equal` means no preference; `scoring` names the way in which
    a language model is to weigh a sentence, where the suite and not the user decides it.
    """

    id: str
    kind: Kind
    language: str
    texts: tuple[str, ...]
    stratum: str = ""
    cluster: str = ""
    twin: str | None = None
    tags: Mapping[str, str] = field(default_factory=lambda: _NONE)

    @property
    def width(self) -> int:
        """How many values does an answer to this probe have?"""
        return len(NLI_LABELS) if self.kind == "pair" else len(self.texts) - 1

    @property
    def around(self) -> tuple[str, str]:
        """What stands before the blank of a mask and after it."""
        before, _, after = self.texts[0].partition(BLANK)
        return before, after

    def to_json(self) -> dict[str, Any]:
        """The probe as plain data, keys in a fixed order."""
        return {
            "id": self.id, "kind": self.kind, "language": self.language, "texts": list(self.texts), "stratum": self.stratum,
            "cluster": self.cluster, "twin": self.twin, "tags": dict(sorted(self.tags.items())),
        }  # fmt: skip

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Probe:
        """The probe that plain data describe; KeyError or TypeError where they describe none."""
        if row["kind"] not in KINDS:
            raise ValueError(f"kind is {row['kind']!r}, not one of {', '.join(KINDS)}")
        if not isinstance(row["texts"], list | tuple):
            raise TypeError(f"texts is {row['texts']!r}, not a list")
        if (row["kind"] == "pair" and len(row["texts"]) != 2) or len(row["texts"]) < 2:
            raise ValueError(f"{len(row['texts'])} texts; a pair has 2, a mask or choice at least 2")
        if row["kind"] == "mask":
            check_blank([str(t) for t in row["texts"]])
        return cls(
            id=str(row["id"]), kind=row["kind"], language=str(row["language"]), texts=tuple(str(t) for t in row["texts"]),
            stratum=str(row["stratum"]), cluster=str(row["cluster"]), twin=row.get("twin"), tags=dict(row.get("tags") or {}),
        )  # fmt: skip


def check_blank(texts: Sequence[str]) -> None:
    """ValueError where the sentence of a mask probe has not exactly one blank, or a candidate is empty."""
    if (count := texts[0].count(BLANK)) != 1:
        raise ValueError(f"{count} blanks in {texts[0]!r}; a sentence has exactly one {BLANK}")
    if len(texts) < 3:
        raise ValueError(f"{len(texts) - 1} candidate; a mask has at least 2")
    if any(not text.strip() for text in texts[1:]):
        raise ValueError(f"an empty candidate in {list(texts[1:])}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteCard:
    """Where does a suite come from, and what may be done with it?"""

    name: str
    version: str
    language: str
    source: str
    licence: str
    citation: str
    description: str
    labels: tuple[str, ...] = NLI_LABELS  # what the values of an answer stand for; pairs are answered with the model's own labels


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A versioned set of probes."""

    card: SuiteCard
    probes: tuple[Probe, ...]
    limit: int | None = None  # how many probes were kept of a larger suite

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with any word of any probe."""
        state = hashlib.sha256()
        for probe in self.probes:
            state.update(json.dumps(probe.to_json(), ensure_ascii=False, sort_keys=True).encode())
        return state.hexdigest()[:12]

    @property
    def reference(self) -> str:
        """name@version#digest, and how many probes were kept where it was cut."""
        return f"{self.card.name}@{self.card.version}#{self.digest}" + (f"/{self.limit}" if self.limit else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a respondent said: one row per probe, raw (logits or log-probabilities), NaN where there is no answer."""

    respondent: str
    suite: str  # name@version#digest
    labels: tuple[str, ...]
    probes: tuple[Probe, ...]
    values: Floats
    scale: str = "logits"
    traits: Mapping[str, str] = field(default_factory=lambda: _NONE)  # label order, precision, scoring: what the signature names
    unanswered: Mapping[str, int] = field(default_factory=dict)  # reason -> count

    @property
    def coverage(self) -> float:
        """Which share of the probes was answered?"""
        return float(np.isfinite(self.values).all(axis=1).mean()) if len(self.values) else float("nan")


class Interval(NamedTuple):
    """A value and the range that is compatible with the data."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measure's value with its interval, and why it is NaN where it is."""

    measure: str
    value: float
    low: float
    high: float
    level: float
    probes: int
    clusters: int
    coverage: float
    ties: int
    signature: str
    note: str = ""
    parts: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One row of a breakdown: an occupation, a frame, a gender word."""

    name: str
    tags: Mapping[str, str]
    interval: Interval
    probes: int  # that have an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """A measure seen group by group, worst first."""

    measure: str
    by: str
    unit: str  # what was resampled within a group
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A measure's values group by group against a figure of the real world."""

    measure: str
    by: str
    against: str
    points: tuple[Group, ...]
    pearson: Interval
    spearman: Interval
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that one audit found."""

    suite: Suite
    answers: Answers
    estimates: tuple[Estimate, ...]
    baselines: Mapping[str, tuple[Estimate, ...]]  # respondent -> estimates on the same probes
    sanity: tuple[Estimate, ...]  # accuracy on ordinary pairs
    breakdowns: tuple[Breakdown, ...]
    seed: int
    resamples: int
    relations: tuple[Relation, ...] = ()
    timing: Mapping[str, float] = field(default_factory=dict)
