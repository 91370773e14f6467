"""Store: what a study asked and what was answered, in SQLite or PostgreSQL.

When a method has returned, what it wrote is on disk. Answers are appended, never changed: to change
an answer is to give another one, and the latest counts. Every method that acts for an annotator
sees the rows of this annotator only; an attempt at another's raises RefusedError and is logged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self

import sqlalchemy as sa

from evenhand.core.errors import EvenhandError
from evenhand.people.quality import Reply
from evenhand.people.questions import Question
from evenhand.people.scoring import Scored
from evenhand.study import queries
from evenhand.study import tables as t
from evenhand.study.database import Database, Statement, open_engine
from evenhand.study.migrations import upgrade
from evenhand.study.registry import LONGEST, Registry, is_plain
from evenhand.study.tables import Asked, GivenAnswer, Part, PartProgress

if TYPE_CHECKING:
    import polars as pl

BAD_KEY = "the key of the form is not valid; load the page again"


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
        known = {name: None if math.isnan(share) else share for name, share in shares.items()}
        return {"state": self.state, **known}


class Store(Registry):
    """The database of one study."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__(database, clock)
        dialect = database.engine.dialect
        self._insert_answer = Statement(dialect, queries.insert_answer(self._insert))
        self._find_question = Statement(dialect, queries.ASKED)
        self._find_place = Statement(dialect, queries.ASKED_AT)
        self._find_next = Statement(dialect, queries.NEXT)
        self._find_part = Statement(dialect, queries.OPEN_PART)
        # annotator -> part, attempt and a place before which every question has its answer; once
        # true it stays so, as no answer is deleted
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
        """Finish what is being written, and close the database."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def keep_study(self, name: str, suite: str, settings: Mapping[str, Any]) -> None:
        """Remember what this store belongs to, and each change of the settings.

        Raises EvenhandError for another study or other sentences.
        """
        row = {
            "name": name,
            "suite": suite,
            "settings": json.dumps(settings, ensure_ascii=False, sort_keys=True, default=str),
            "since": self._now(),
        }
        newest = sa.select(t.study).order_by(t.study.c.id.desc()).limit(1)

        def work(connection: sa.Connection) -> None:
            last = connection.execute(newest).mappings().first()
            for column, noun in (("name", "study"), ("suite", "sentences")):
                if last is not None and last[column] != row[column]:
                    raise EvenhandError(
                        f"this store belongs to the {noun} '{last[column]}', not "
                        f"'{row[column]}'; give the study a store of its own"
                    )
            if last is None or last["settings"] != row["settings"]:
                connection.execute(t.study.insert(), row)

        self.database.write(work)

    def begin_part(
        self, annotator: str, part: str, attempt: int, questions: Sequence[Question]
    ) -> bool:
        """Put questions to an annotator.

        False where this very part was begun before (its questions stay as they were); refused
        while another part is open.
        """
        self.annotator(annotator)
        if not questions:
            raise EvenhandError(
                f"{part} has no questions; give the study more sentences or a smaller batch"
            )
        own = {"annotator": annotator, "part": part, "attempt": attempt}
        rows = [
            {**own, "place": place, **queries.question_row(question)}
            for place, question in enumerate(questions)
        ]
        head = {**own, "state": t.OPEN, "size": len(rows), "started": self._now()}

        def work(connection: sa.Connection) -> bool | Part:
            before = queries.parts(connection, annotator)
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
                f"{part} (attempt {attempt}) of '{annotator}' cannot begin: {error.orig}; "
                "see that no question comes twice"
            ) from error
        if isinstance(begun, Part):
            message = f"{begun.part} (attempt {begun.attempt}) is not finished; finish it first"
            self._refuse("another part", annotator, message)
        return begun

    def parts(self, annotator: str) -> list[Part]:
        """What an annotator has begun, oldest first."""
        return self.database.read(lambda c: queries.parts(c, annotator))

    def next_question(self, annotator: str) -> Asked | None:
        """The first question of the open part that has no answer.

        None where all have, or no part is open.
        """
        part, attempt, reached = self._reached.get(annotator, ("", 0, 0))
        asked = self._next(annotator, part, attempt, reached) if part else None
        if asked is None:  # another part is open now, or none
            row = self.database.read_one(self._find_part, {"a": annotator})
            if row is None:
                return None
            asked = self._next(annotator, row["part"], row["attempt"], 0)
        if asked is not None:
            self._reached[annotator] = (asked.part, asked.attempt, asked.place)
        return asked

    def _next(self, annotator: str, part: str, attempt: int, reached: int) -> Asked | None:
        values = {"a": annotator, "part": part, "attempt": attempt, "reached": reached}
        return queries.asked(self.database.read_one(self._find_next, values))

    def question(self, annotator: str, question: str) -> Asked:
        """A question of this annotator with its latest answer; refused where it is another's."""
        row = None
        if is_plain(question):
            row = self.database.read_one(self._find_question, {"a": annotator, "q": question})
        return queries.asked(row) or self._refuse_question(annotator, question)

    def question_at(self, annotator: str, place: int) -> Asked | None:
        """The question at a place of the open part, to look at its answer again and change it.

        None where the annotator has not reached it yet.
        """
        reached = self.next_question(annotator)
        if place < 0 or (reached is not None and place > reached.place):
            return None
        row = self.database.read_one(self._find_place, {"a": annotator, "place": place})
        return queries.asked(row)

    def finish_part(self, annotator: str, part: str, attempt: int, verdict: Verdict) -> None:
        """Close a part with a verdict that was reached elsewhere."""
        self.judge_part(annotator, part, attempt, lambda _: verdict)

    def judge_part(
        self, annotator: str, part: str, attempt: int, judge: Callable[[Sequence[Scored]], Verdict]
    ) -> None:
        """Close a part by what `judge` says of its answers.

        Refused while a question has no answer, or where it is closed already. The part is locked
        first: an answer that is changed meanwhile, on another device, is judged with the others or
        refused.
        """
        columns = t.parts.c
        is_this = (
            (columns.annotator == annotator)
            & (columns.part == part)
            & (columns.attempt == attempt)
            & (columns.state == t.OPEN)
        )
        locked = sa.select(t.parts).where(is_this).with_for_update()

        def work(connection: sa.Connection) -> int | None:
            row = connection.execute(locked).mappings().first()
            if row is None:
                return None
            if (left := queries.count_unanswered(connection, row)) == 0:
                verdict = judge(queries.scored(connection, annotator, part, attempt))
                closed = {"finished": self._now(), **verdict.to_row()}
                connection.execute(t.parts.update().where(is_this).values(**closed))
            return left

        left = self.database.write(work)
        if left is None:
            self._refuse("no open part", annotator, f"{part} (attempt {attempt}) is not open")
        if left:
            message = f"{left} questions of {part} have no answer yet"
            self._refuse("unfinished part", annotator, message)

    def give_answer(self, annotator: str, question: str, answer: GivenAnswer) -> bool:
        """Store an answer, durable on return.

        False where its key has stored this very answer before (a replay). Refused: another's
        question, a question of a part that is closed, a key that stored a different answer.
        """
        numbers = (answer.fine, answer.coarse, answer.seconds)
        if not all(map(math.isfinite, numbers)) or answer.seconds < 0:
            raise EvenhandError(
                f"fine {answer.fine}, coarse {answer.coarse}, seconds {answer.seconds}: scores are "
                "finite and a question takes no less than 0 seconds"
            )
        if not is_plain(question):
            self._refuse_question(annotator, question)
        if not is_plain(answer.key):
            self._refuse("bad key", annotator, BAD_KEY, answer.key)
        payload = json.dumps(answer.payload, allow_nan=False, sort_keys=True)
        row = {
            "a": annotator,
            "q": question,
            "given_at": self._now(),
            "seconds": float(answer.seconds),
            "payload": payload,
            "fine": float(answer.fine),
            "coarse": float(answer.coarse),
            "key": answer.key,
            "reason": answer.reason or None,
        }
        if self.database.write_one(self._insert_answer, row) is not None:
            return True
        return self._why_not_stored(annotator, row)

    def _why_not_stored(self, annotator: str, row: Mapping[str, Any]) -> bool:
        """Nothing was stored: False for a replay, else a refusal."""
        columns, question, key = t.answers.c, row["q"], row["key"]
        query = sa.select(columns.question, columns.payload, columns.reason).where(
            columns.annotator == annotator, columns.key == key
        )
        before = self.database.read(lambda c: c.execute(query).first())
        if before is not None:
            if tuple(before) == (question, row["payload"], row["reason"]):
                return False
            message = "this form was sent before with another answer; load the page again"
            self._refuse("used key", annotator, message, question)
        self.question(annotator, question)
        message = "this part is finished; its answers can no longer be changed"
        return self._refuse("closed part", annotator, message, question)

    def _refuse_question(self, annotator: str, question: str) -> NoReturn:
        query = sa.select(t.questions.c.id).where(t.questions.c.id == question).limit(1)
        is_there = is_plain(question) and self.database.read(
            lambda c: c.execute(query).first() is not None
        )
        # one message for both: nobody learns which questions others have
        message = "there is no such question for you; load the page again"
        kind = "foreign question" if is_there else "unknown question"
        self._refuse(kind, annotator, message, question)

    def scored(
        self, annotator: str | None = None, part: str | None = None, attempt: int | None = None
    ) -> list[Scored]:
        """The latest answer to each question, as `evenhand.people.scoring` takes them."""
        return self.database.read(lambda c: queries.scored(c, annotator, part, attempt))

    def replies(self) -> list[Reply]:
        """What was pressed last at each question, as `evenhand.people.quality` takes it."""
        return self.database.read(queries.replies)

    def resolve(self, probe: str, verdict: str) -> bool:
        """Store the owner's decision on a sentence, durable on return.

        False where it was decided so before, as a form that is sent twice does.
        """
        columns = t.resolutions.c
        latest = (
            sa.select(columns.verdict)
            .where(columns.probe == probe)
            .order_by(columns.id.desc())
            .limit(1)
        )
        row = {"probe": probe, "verdict": verdict, "given_at": self._now()}

        def work(connection: sa.Connection) -> bool:
            if connection.execute(latest).scalar() == verdict:
                return False
            connection.execute(t.resolutions.insert(), row)
            return True

        return self.database.write(work)

    def resolutions(self) -> dict[str, str]:
        """Probe id -> what the owner decided last."""
        return self.database.read(queries.resolutions)

    def answer_inventory(
        self, annotator: str, inventory: str, values: Mapping[str, float], key: str
    ) -> bool:
        """Store somebody's answers to items of an inventory, together; False for a replay."""
        if not is_plain(key) or len(key) > LONGEST // 2:
            self._refuse("bad key", annotator, BAD_KEY, key)
        self.annotator(annotator)
        own = {"annotator": annotator, "inventory": inventory, "given_at": self._now()}
        rows = [
            {**own, "item": item, "value": float(value), "key": f"{key}/{place}"}
            for place, (item, value) in enumerate(values.items())
        ]
        columns = t.inventory_answers.c
        is_first = (columns.annotator == annotator) & (columns.key == f"{key}/0")
        seen = sa.select(sa.func.count()).where(is_first)

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
        return self.database.read(lambda c: queries.inventory_answers(c, annotator, inventory))

    def progress(self) -> list[PartProgress]:
        """How far everybody is, part by part."""
        return self.database.read(queries.progress)

    def paces(self) -> dict[tuple[str, str, int], float]:
        """Annotator, part and attempt -> the median seconds on an answer.

        A page that was left open over night moves a mean, not this.
        """
        return self.database.read(queries.paces)

    def answers_table(self) -> pl.DataFrame:
        """Every answer ever given, all versions, beside what was asked, oldest first."""
        return self.database.read(queries.answers_table)

    def inventory_table(self) -> pl.DataFrame:
        """Every answer to an inventory, oldest first."""
        return self.database.read(queries.inventory_table)
