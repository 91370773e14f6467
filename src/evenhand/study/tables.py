"""Tables of a study and the records that are read from them, the same on SQLite and PostgreSQL.

Moments are text (UTC, ISO 8601, microseconds), so that they sort, compare and travel through every
form of file as they are. JSON is text for the same reason. Questions and answers are append-only:
triggers of the migration refuse to change or delete them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from evenhand.core.errors import EvenhandError
from evenhand.people.questions import Question

MODEL = sa.MetaData()
# SQLite counts up only a column that is called INTEGER
COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
OPEN, PASSED, FAILED = "open", "passed", "failed"  # the states of a part
OUTCOMES = (PASSED, FAILED)
WITHDRAWN = "withdrawn"  # the state of an annotator who took the consent back

study = sa.Table(
    "study",
    MODEL,
    sa.Column("id", COUNTER, primary_key=True, autoincrement=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("suite", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("since", sa.Text, nullable=False),
)

annotators = sa.Table(
    "annotators",
    MODEL,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
)

invitations = sa.Table(
    "invitations",
    MODEL,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("annotator", sa.Text, sa.ForeignKey("annotators.id"), nullable=False, index=True),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("expires", sa.Text, nullable=False),
    sa.Column("revoked", sa.Text),
)

parts = sa.Table(
    "parts",
    MODEL,
    sa.Column("annotator", sa.Text, sa.ForeignKey("annotators.id"), primary_key=True),
    sa.Column("part", sa.Text, primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("started", sa.Text, nullable=False),
    sa.Column("finished", sa.Text),
    sa.Column("accuracy", sa.Double),
    sa.Column("consistency", sa.Double),
)

questions = sa.Table(
    "questions",
    MODEL,
    sa.Column("annotator", sa.Text, primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("part", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("probe", sa.Text, nullable=False),
    sa.Column("shown", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),  # JSON: key and text of each, in displayed order
    sa.Column("gender", sa.Text, nullable=False),
    sa.Column("span", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(
        ["annotator", "part", "attempt"], ["parts.annotator", "parts.part", "parts.attempt"]
    ),
    sa.UniqueConstraint("annotator", "part", "attempt", "place", name="one_question_a_place"),
    sa.Index("questions_by_id", "id"),
)

answers = sa.Table(
    "answers",
    MODEL,
    sa.Column("id", COUNTER, primary_key=True, autoincrement=True),
    sa.Column("annotator", sa.Text, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("given_at", sa.Text, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("fine", sa.Double, nullable=False),
    sa.Column("coarse", sa.Double, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),  # in the annotator's own words; NULL: none was given
    # of both columns, so that the database itself refuses an answer to another's question
    sa.ForeignKeyConstraint(["annotator", "question"], ["questions.annotator", "questions.id"]),
    sa.UniqueConstraint("annotator", "key", name="one_answer_a_key"),
    sa.Index("answers_by_question", "annotator", "question", "id"),
    sqlite_autoincrement=True,
)

inventory_answers = sa.Table(
    "inventory_answers",
    MODEL,
    sa.Column("id", COUNTER, primary_key=True, autoincrement=True),
    sa.Column("annotator", sa.Text, sa.ForeignKey("annotators.id"), nullable=False),
    sa.Column("inventory", sa.Text, nullable=False),
    sa.Column("item", sa.Text, nullable=False),
    sa.Column("value", sa.Double, nullable=False),
    sa.Column("given_at", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.UniqueConstraint("annotator", "key", name="one_inventory_answer_a_key"),
    sqlite_autoincrement=True,
)

# What the owner decided where raters of objective sentences disagree; the latest counts.
resolutions = sa.Table(
    "resolutions",
    MODEL,
    sa.Column("id", COUNTER, primary_key=True, autoincrement=True),
    sa.Column("probe", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("given_at", sa.Text, nullable=False),
    sqlite_autoincrement=True,
)

owners = sa.Table(
    "owners",
    MODEL,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("changed", sa.Text, nullable=False),
)

events = sa.Table(
    "events",
    MODEL,
    sa.Column("id", COUNTER, primary_key=True, autoincrement=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("annotator", sa.Text),  # no foreign key: a refused request may name nobody who exists
    sa.Column("detail", sa.Text, nullable=False),
    sqlite_autoincrement=True,
)

# One part at a time: two devices that begin at once cannot begin two.
sa.Index(
    "one_open_part",
    parts.c.annotator,
    unique=True,
    sqlite_where=parts.c.state == OPEN,
    postgresql_where=parts.c.state == OPEN,
)


class RefusedError(EvenhandError):
    """Something that this annotator may not do.

    It is logged before it is raised; `kind` is its name in the log.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it was put to one annotator, and what was answered last."""

    question: Question
    part: str
    attempt: int
    place: int  # from 0
    size: int  # questions in the part
    payload: Mapping[str, Any] | None = None  # None: not answered yet
    reason: str = ""  # given with it


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAnswer:
    """An answer as it is stored; `key` stores the same form once, however often it is sent."""

    payload: Mapping[str, Any]
    fine: float
    coarse: float
    seconds: float
    key: str
    reason: str = ""  # in the annotator's own words


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

    @property
    def name(self) -> str:
        """annotator-1, annotator-2 ..."""
        return f"annotator-{self.number}"


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
        """Whether it is being answered."""
        return self.state == OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class PartProgress:
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
