"""The record of a mitigation: what was trained, every value before and after, every change."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from evenhand.core.errors import InputError
from evenhand.core.estimate import Interval
from evenhand.core.files import read_text
from evenhand.core.plain import plain
from evenhand.families.ordinary.measures import ACCURACY as ACCURACY_MEASURE

# a whole suite; its occupations that were not anchors; held-out ordinary pairs
Part = Literal["all", "unseen", "dev"]
ACCURACY = ACCURACY_MEASURE.name
BEFORE = "before"  # the model that every method starts from
NONE = "none"  # the control: trained further with nothing changed
FILE = "mitigation.json"
Record = TypeVar("Record")


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
    """What one measure says of one model on a suite or file of held-out pairs."""

    asked: str
    part: Part
    measure: str
    model: str  # `before`, or the name of a method
    value: float
    low: float
    high: float
    signature: str = ""
    note: str = ""
    run: int = 0  # of the method's training runs; only the first is compared and has an interval

    @property
    def interval(self) -> Interval:
        """The value with its bounds."""
        return Interval(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How far a method's model is from another one, on the same probes.

    The other is the model before mitigation, or the control. nearer_low, nearer_high: bounds of
    |model - fair| - |against - fair|; where both are below 0, the model is nearer to fair.
    """

    asked: str
    part: Part
    measure: str
    model: str
    against: str
    value: float  # model - against
    low: float
    high: float
    nearer_low: float
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
    identity: str  # of the resulting model
    folder: str
    pairs: int
    added: int  # of these, by the method
    twins: int  # that have a gender-swapped twin in the training
    steps: int
    seconds: float
    run: int = 0  # each has a seed of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Mitigation:
    """The result of one `evenhand mitigate run`."""

    model: str  # as the user named it
    identity: str
    language: str
    level: float
    tests: int  # p values of one reference that were adjusted together
    settings: Mapping[str, Any]  # files with their digests, recipe, shares, seed, versions
    occupations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # anchors, unseen
    asked: tuple[Asked, ...] = ()
    trained: tuple[Trained, ...] = ()
    scores: tuple[Score, ...] = ()
    changes: tuple[Change, ...] = ()

    def score(self, asked: str, part: Part, measure: str, model: str) -> Score | None:
        """The value of the first training run; None where it was not measured."""
        return next((s for s in self.runs(asked, part, measure, model) if not s.run), None)

    def runs(self, asked: str, part: Part, measure: str, model: str) -> list[Score]:
        """The values of all training runs."""
        wanted = (asked, part, measure, model)
        return [s for s in self.scores if (s.asked, s.part, s.measure, s.model) == wanted]

    def change(
        self, asked: str, part: Part, measure: str, model: str, against: str = BEFORE
    ) -> Change | None:
        """One change; None where it was not measured."""
        wanted = (asked, part, measure, model, against)
        return next(
            (c for c in self.changes if (c.asked, c.part, c.measure, c.model, c.against) == wanted),
            None,
        )

    def to_json(self) -> dict[str, Any]:
        """The record as plain data; NaN becomes null."""
        return dict(plain(self))

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Mitigation:
        """The record in plain data; what a report has added is ignored.

        Raises KeyError or TypeError where the data are something else.
        """
        return cls(
            model=row["model"],
            identity=row["identity"],
            language=row["language"],
            level=row["level"],
            tests=row["tests"],
            settings=row["settings"],
            occupations={name: tuple(words) for name, words in row["occupations"].items()},
            asked=tuple(_record(Asked, fields_) for fields_ in row["asked"]),
            trained=tuple(_record(Trained, fields_) for fields_ in row["trained"]),
            scores=tuple(_record(Score, fields_) for fields_ in row["scores"]),
            changes=tuple(_record(Change, fields_) for fields_ in row["changes"]),
        )


def read_mitigation(path: Path) -> Mitigation:
    """The record in a file mitigation.json; raises InputError where it holds none."""
    try:
        return Mitigation.from_json(json.loads(read_text(path)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"is no record of `evenhand mitigate run` ({error})") from error


def _record(kind: type[Record], row: Mapping[str, Any]) -> Record:
    """A record of one kind; null in place of a number is NaN."""
    numbers = {f.name for f in fields(kind) if f.type == "float"}  # type: ignore[arg-type]
    return kind(**{k: math.nan if v is None and k in numbers else v for k, v in row.items()})
