"""Where does a study keep what it asked and what was answered? In SQLite or PostgreSQL; whatever a method returned from is on disk.

Answers are appended, never changed: whoever changes an answer gives another one, and the latest counts. Every method that acts for an annotator sees the rows of
this annotator only; an attempt at another's raises RefusedError and is logged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

import sqlalchemy as sa

from evenhand.study import tables as t
from evenhand.study import views
from evenhand.study.databases import Database, Statement, open_engine
from evenhand.study.migrations import upgrade
from evenhand.people.questions import Question
from evenhand.study.registry import LONGEST, Registry, is_plain
from evenhand.study.rows import Annotator, Asked, Event, Invitation, Part, Progress, RefusedError
from evenhand.core.errors import EvenhandError

if TYPE_CHECKING:
    import polars as pl

    from evenhand.people.scoring import Scored

__all__ = [
    "Annotator",
    "Asked",
    "Event",
    "Invitation",
    "Part",
    "Progress",
    "RefusedError",
    "Store",
    "Verdict",
]


class Verdict(NamedTuple):
    """How a part ends: `passed` or `failed`, and by which shares (NaN: no such controls)."""

    state: str
    accuracy: float
    consistency: float

    def to_row(self) -> dict[str, Any]:
        """The columns that it fills."""
        if self.state not in t.OUTCOMES:
            raise EvenhandError(f"a part ends as {' or '.join(t.OUTCOMES)}, not '{self.state}'")
        shares = {"accuracy": self.accuracy, "consistency": self.consistency}
        return {"state": self.state} | {
            name: None if math.isnan(share) else share for name, share in shares.items()
        }


class Store(Registry):
    """The database of one study."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__(database, clock)
        dialect = database.engine.dialect
        self._answering = Statement(dialect, views.insert_answer(self._insert))
        orders = (views.ASKED, views.ASKED_AT, views.NEXT, views.OPEN_PART)
        self._asking, self._placed, self._following, self._opened = (
            Statement(dialect, order) for order in orders
        )
        # annotator -> part, attempt and a place before which every question has its answer; once true it stays so, as no answer is deleted
        self._reached: dict[str, tuple[str, int, int]] = {}

    @classmethod
    def open(cls, url: str, *, clock: Callable[[], datetime] | None = None) -> Self:
        """The store behind a SQLAlchemy URL, created or brought up to date where need be."""
        engine = open_engine(url)
        try:
            upgrade(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(Database(engine), clock)

    def close(self) -> None:
        """Finish what is being written and let go of the database."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def keep_study(self, name: str, suite: str, settings: Mapping[str, Any]) -> None:
        """Remember what this store belongs to, and each change of the settings; refuse another study or other sentences."""
        row = {
            "name": name,
            "suite": suite,
            "settings": json.dumps(settings, ensure_ascii=False, sort_keys=True, default=str),
            "since": self._now(),
        }

        def work(connection: sa.Connection) -> None:
            last = (
                connection.execute(sa.select(t.study).order_by(t.study.c.id.desc()).limit(1))
                .mappings()
                .first()
            )
            for column, what in (("name", "study"), ("suite", "sentences")):
                if last is not None and last[column] != row[column]:
                    raise EvenhandError(
                        f"this store belongs to the {what} '{last[column]}', not '{row[column]}'; give the study a store of its own"
                    )
            if last is None or last["settings"] != row["settings"]:
                connection.execute(t.study.insert(), row)

        self.database.write(work)

    def begin_part(
        self, annotator: str, part: str, attempt: int, questions: Sequence[Question]
    ) -> bool:
        """Put questions to an annotator; False where this very part was begun before (its questions stay as they were)."""
        self.annotator(annotator)
        if not questions:
            raise EvenhandError(
                f"{part} has no questions; give the study more sentences or a smaller batch"
            )
        own = {"annotator": annotator, "part": part, "attempt": attempt}
        rows = [
            {**own, "place": place, **views.question_row(question)}
            for place, question in enumerate(questions)
        ]
        head = {**own, "state": t.OPEN, "size": len(rows), "started": self._now()}

        def work(connection: sa.Connection) -> bool | Part:
            before = views.parts(connection, annotator)
            if any((p.part, p.attempt) == (part, attempt) for p in before):
                return False
            if another := next((p for p in before if p.is_open), None):
                return another
            connection.execute(t.parts.insert(), head)
            connection.execute(t.questions.insert(), rows)
            return True

        try:
            begun = self.database.write(work)
        except sa.exc.IntegrityError as error:
            if any((p.part, p.attempt) == (part, attempt) for p in self.parts(annotator)):
                return False  # another device was faster
            raise EvenhandError(
                f"{part} (attempt {attempt}) of '{annotator}' cannot begin: {error.orig}; see that no question comes twice"
            ) from error
        if isinstance(begun, Part):
            self._refuse(
                "another part",
                annotator,
                f"{begun.part} (attempt {begun.attempt}) is not finished; finish it first",
            )
        return begun

    def parts(self, annotator: str) -> list[Part]:
        """What an annotator has begun, oldest first."""
        return self.database.read(lambda c: views.parts(c, annotator))

    def next_question(self, annotator: str) -> Asked | None:
        """The first question of the open part that has no answer; None where all have, or no part is open."""
        part, attempt, reached = self._reached.get(annotator, ("", 0, 0))
        found = self._next(annotator, part, attempt, reached) if part else None
        if found is None:  # another part is open now, or none
            row = self.database.read_one(self._opened, {"a": annotator})
            if row is None:
                return None
            found = self._next(annotator, row["part"], row["attempt"], 0)
        if found is not None:
            self._reached[annotator] = (found.part, found.attempt, found.place)
        return found

    def _next(self, annotator: str, part: str, attempt: int, reached: int) -> Asked | None:
        return views.asked(
            self.database.read_one(
                self._following,
                {"a": annotator, "part": part, "attempt": attempt, "reached": reached},
            )
        )

    def question(self, annotator: str, question: str) -> Asked:
        """A question of this annotator with the latest answer to it; refused where it is another's."""
        found = (
            self.database.read_one(self._asking, {"a": annotator, "q": question})
            if is_plain(question)
            else None
        )
        return views.asked(found) or self._refuse_question(annotator, question)

    def question_at(self, annotator: str, place: int) -> Asked | None:
        """The question at a place of the open part, if the annotator has come so far: to look at an answer again and change it."""
        reached = self.next_question(annotator)
        if place < 0 or (reached is not None and place > reached.place):
            return None
        return views.asked(self.database.read_one(self._placed, {"a": annotator, "place": place}))

    def finish_part(
        self,
        annotator: str,
        part: str,
        attempt: int,
        *,
        state: str,
        accuracy: float,
        consistency: float,
    ) -> None:
        """Close a part with a verdict that was found elsewhere."""
        self.judge_part(annotator, part, attempt, lambda _: Verdict(state, accuracy, consistency))

    def judge_part(
        self, annotator: str, part: str, attempt: int, judge: Callable[[Sequence[Scored]], Verdict]
    ) -> None:
        """Close a part by what `judge` says of its answers; refused while a question has no answer, or where it is closed already.

        The part is locked first: an answer that is changed meanwhile, on another device, is judged with the others or refused.
        """
        held = t.parts.c
        is_this = (
            (held.annotator == annotator)
            & (held.part == part)
            & (held.attempt == attempt)
            & (held.state == t.OPEN)
        )

        def work(connection: sa.Connection) -> int | None:
            row = (
                connection.execute(sa.select(t.parts).where(is_this).with_for_update())
                .mappings()
                .first()
            )
            if row is None:
                return None
            if (left := views.count_unanswered(connection, row)) == 0:
                verdict = judge(
                    views.scored(connection, annotator=annotator, part=part, attempt=attempt)
                )
                connection.execute(
                    t.parts.update().where(is_this).values(finished=self._now(), **verdict.to_row())
                )
            return left

        left = self.database.write(work)
        if left is None:
            self._refuse("no open part", annotator, f"{part} (attempt {attempt}) is not open")
        if left:
            self._refuse(
                "unfinished part", annotator, f"{left} questions of {part} have no answer yet"
            )

    def give_answer(
        self,
        annotator: str,
        question: str,
        payload: Mapping[str, Any],
        *,
        fine: float,
        coarse: float,
        seconds: float,
        key: str,
    ) -> bool:
        """Store an answer, durable on return; False where `key` has stored this very answer before (a replay).

        Refused: another's question, a question of a part that is closed, a key that stored a different answer.
        """
        if not (
            math.isfinite(fine)
            and math.isfinite(coarse)
            and math.isfinite(seconds)
            and seconds >= 0
        ):
            raise EvenhandError(
                f"fine {fine}, coarse {coarse}, seconds {seconds}: scores are finite and a question takes no less than 0 seconds"
            )
        if not is_plain(question):
            self._refuse_question(annotator, question)
        if not is_plain(key):
            self._refuse(
                "bad key", annotator, "the key of the form is not valid; load the page again", key
            )
        said = json.dumps(payload, allow_nan=False, sort_keys=True)
        row = {
            "a": annotator,
            "q": question,
            "given_at": self._now(),
            "seconds": float(seconds),
            "payload": said,
            "fine": float(fine),
            "coarse": float(coarse),
            "key": key,
        }
        if self.database.write_one(self._answering, row) is not None:
            return True
        return self._why_not(annotator, question, said, key)

    def _why_not(self, annotator: str, question: str, said: str, key: str) -> bool:
        """Nothing was stored: False for a replay, else a refusal."""
        held = t.answers.c
        query = sa.select(held.question, held.payload).where(
            held.annotator == annotator, held.key == key
        )
        before = self.database.read(lambda c: c.execute(query).first())
        if before is not None:
            if tuple(before) == (question, said):
                return False
            self._refuse(
                "used key",
                annotator,
                "this form was sent before with another answer; load the page again",
                question,
            )
        self.question(annotator, question)
        return self._refuse(
            "closed part",
            annotator,
            "this part is finished; its answers can no longer be changed",
            question,
        )

    def _refuse_question(self, annotator: str, question: str) -> NoReturn:
        query = sa.select(t.questions.c.id).where(t.questions.c.id == question).limit(1)
        is_there = (
            is_plain(question)
            and self.database.read(lambda c: c.execute(query).first()) is not None
        )
        # one message for both: nobody learns which questions others have
        message = "there is no such question for you; load the page again"
        self._refuse(
            "foreign question" if is_there else "unknown question", annotator, message, question
        )

    def scored(
        self, annotator: str | None = None, part: str | None = None, attempt: int | None = None
    ) -> list[Scored]:
        """The latest answer to each question, as `evenhand.people.scoring` takes them."""
        return self.database.read(
            lambda c: views.scored(c, annotator=annotator, part=part, attempt=attempt)
        )

    def answer_inventory(
        self, annotator: str, inventory: str, values: Mapping[str, float], key: str
    ) -> bool:
        """Store what somebody said to the items of an inventory, together; False for a replay."""
        if not is_plain(key) or len(key) > LONGEST // 2:
            self._refuse(
                "bad key", annotator, "the key of the form is not valid; load the page again", key
            )
        self.annotator(annotator)
        own = {"annotator": annotator, "inventory": inventory, "given_at": self._now()}
        rows = [
            {**own, "item": item, "value": float(value), "key": f"{key}/{place}"}
            for place, (item, value) in enumerate(values.items())
        ]
        held = t.inventory_answers.c
        seen = sa.select(sa.func.count()).where(held.annotator == annotator, held.key == f"{key}/0")

        def work(connection: sa.Connection) -> bool:
            if not rows or connection.execute(seen).scalar():
                return False
            connection.execute(t.inventory_answers.insert(), rows)
            return True

        try:
            return self.database.write(work)
        except sa.exc.IntegrityError:
            return False  # the same form at the same moment from another device

    def inventory_answers(self, annotator: str, inventory: str) -> dict[str, float]:
        """Item -> the latest value that somebody gave."""
        return self.database.read(lambda c: views.inventory_answers(c, annotator, inventory))

    def progress(self) -> list[Progress]:
        """How far everybody is, part by part."""
        return self.database.read(views.progress)

    def paces(self) -> dict[tuple[str, str, int], float]:
        """Annotator, part and attempt -> the median seconds on an answer: a page that was left open over night moves a mean, not this."""
        return self.database.read(views.paces)

    def answers_table(self) -> pl.DataFrame:
        """Every answer ever given, all versions, beside what was asked: one row each, oldest first."""
        return self.database.read(views.answers_table)

    def inventory_table(self) -> pl.DataFrame:
        """Every answer to an inventory, oldest first."""
        return self.database.read(views.inventory_table)
