"""What does the store hand out? A question with its place, an invitation, how far a part is; and the refusal that it raises and logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.people.questions import Question
from evenhand.study.tables import OPEN
from evenhand.core.errors import EvenhandError


class RefusedError(EvenhandError):
    """Something that this annotator may not do. It is in the log before it is raised; `kind` names it there."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it was put to one annotator: where it stands in its part, and what was answered last."""

    question: Question
    part: str
    attempt: int
    place: int  # from 0
    size: int  # questions in the part
    payload: Mapping[str, Any] | None = None  # None: not answered yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A link that was given out."""

    id: str
    annotator: str
    created: str
    expires: str
    revoked: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """A person, known by a random id."""

    id: str
    number: int  # from 1, in the order of coming
    state: str
    created: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A trial or batch of one annotator."""

    annotator: str
    part: str
    attempt: int
    state: str
    size: int
    started: str
    finished: str | None
    accuracy: float | None
    consistency: float | None

    @property
    def is_open(self) -> bool:
        """Is it being answered?"""
        return self.state == OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far somebody is in a part."""

    part: Part
    answered: int  # questions
    changed: int  # answers that replaced an earlier one
    seconds: float  # on all of them
    last: str | None  # when the last answer came


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A line of the log."""

    id: int
    at: str
    kind: str
    annotator: str | None
    detail: str
