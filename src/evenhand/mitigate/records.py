"""What came of a mitigation? Every value before and after, every change with its interval, and what was trained: plain data that a page can be made from again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from evenhand.core.errors import InputError
from evenhand.core.estimate import Interval
from evenhand.core.files import read_text

Part = Literal["all", "unseen", "dev"]
PARTS: tuple[Part, ...] = (
    "all",
    "unseen",
    "dev",
)  # a suite, its occupations that were no anchors, ordinary pairs that were held out
ACCURACY = "accuracy"
BEFORE, NONE = (
    "before",
    "none",
)  # the model that is started from, and the control: trained on with nothing changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A suite, or a file of held-out pairs, that every model was asked."""

    name: str
    part: Part
    reference: str  # name@version#digest
    probes: int
    clusters: int
    is_published: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one measure says of one model on one of them."""

    asked: str
    part: Part
    measure: str
    model: str  # `before`, or the name of a method
    value: float
    low: float
    high: float
    signature: str = ""
    note: str = ""

    @property
    def interval(self) -> Interval:
        """The value with its bounds."""
        return Interval(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How far is a method's model from another one (that of before, or the control), on the same probes?"""

    asked: str
    part: Part
    measure: str
    model: str
    against: str
    value: float  # model - against
    low: float
    high: float
    nearer_low: float  # bounds of |model - fair| - |against - fair|: both below 0, the model is nearer to fair
    nearer_high: float
    p: float
    adjusted: float
    note: str = ""

    @property
    def interval(self) -> Interval:
        """The change with its bounds."""
        return Interval(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What one method was trained on, and for how long."""

    method: str
    description: str
    identity: str  # of the model that came of it
    folder: str
    pairs: int
    added: int  # of these, by the method
    twins: int  # that have a gender-swapped twin in the training
    steps: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mitigation:
    """All of it."""

    model: str  # as the user named it
    identity: str
    language: str
    level: float
    tests: int  # p values of one reference that were adjusted together
    settings: Mapping[
        str, Any
    ]  # files with their digests, recipe, shares, seed, resamples, permutations, versions
    occupations: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # anchors, unseen; empty where there were no anchors
    asked: tuple[Asked, ...] = ()
    trained: tuple[Trained, ...] = ()
    scores: tuple[Score, ...] = ()
    changes: tuple[Change, ...] = ()

    def score(self, asked: str, part: Part, measure: str, model: str) -> Score | None:
        """One value; None where it was not measured."""
        wanted = (asked, part, measure, model)
        return next(
            (s for s in self.scores if (s.asked, s.part, s.measure, s.model) == wanted), None
        )

    def change(
        self, asked: str, part: Part, measure: str, model: str, against: str
    ) -> Change | None:
        """One change; None where it was not measured."""
        wanted = (asked, part, measure, model, against)
        return next(
            (c for c in self.changes if (c.asked, c.part, c.measure, c.model, c.against) == wanted),
            None,
        )

    def to_json(self) -> dict[str, Any]:
        """The record as plain data; what is no number is null."""
        return dict(_plain(asdict(self)))

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Mitigation:
        """The record that plain data describe; KeyError or TypeError where they describe none."""
        parts: dict[str, type[Any]] = {
            "asked": Asked,
            "trained": Trained,
            "scores": Score,
            "changes": Change,
        }
        told: dict[str, Any] = {
            name: tuple(kind(**_numbers(kind, found)) for found in row[name])
            for name, kind in parts.items()
        }
        words = {name: tuple(found) for name, found in row["occupations"].items()}
        known: dict[str, Any] = {
            name: row[name]
            for name in ("model", "identity", "language", "level", "tests", "settings")
        }  # a report adds its own words
        return cls(**known, **told, occupations=words)


def read_mitigation(path: Path) -> Mitigation:
    """The record in a file mitigation.json."""
    try:
        return Mitigation.from_json(json.loads(read_text(path)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"is no record of `evenhand mitigate run` ({error})") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(kind: type[Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """A number that is missing in JSON was none."""
    return {
        name: math.nan
        if value is None and kind.__dataclass_fields__[name].type == "float"
        else value
        for name, value in row.items()
    }
