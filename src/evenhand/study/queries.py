"""Queries of the store, always with parameters; each function takes an open connection.

The constants without an underscore are run for every answer, so the store compiles them once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from evenhand.people.quality import Reply, pressed_places
from evenhand.people.questions import Question
from evenhand.people.scoring import Scored
from evenhand.study import tables as t
from evenhand.study.tables import Annotator, Asked, Event, Invitation, Part, PartProgress

if TYPE_CHECKING:
    import polars as pl

_P, _Q, _A = t.parts.c, t.questions.c, t.answers.c
_OF_PART = (_Q.annotator == _P.annotator) & (_Q.part == _P.part) & (_Q.attempt == _P.attempt)
_WITHDRAWN = sa.select(t.annotators.c.id).where(t.annotators.c.state == t.WITHDRAWN)
_OF_QUESTION = (_A.annotator == _Q.annotator) & (_A.question == _Q.id)
_ME = sa.bindparam("a", type_=sa.Text)
_THIS = sa.bindparam("q", type_=sa.Text)
_IN_PART = (
    _Q.annotator == _ME,
    _Q.part == sa.bindparam("part", type_=sa.Text),
    _Q.attempt == sa.bindparam("attempt", type_=sa.Integer),
)
_IS_UNANSWERED = ~sa.exists().where(_OF_QUESTION)


def _latest(column: sa.Column[Any]) -> Any:
    """A column of the latest answer to a question."""
    newest = sa.select(column).where(_OF_QUESTION).order_by(_A.id.desc()).limit(1)
    return newest.correlate(t.questions).scalar_subquery()


OPEN_PART = sa.select(_P.part, _P.attempt).where(_P.annotator == _ME, _P.state == t.OPEN)
_OTHERS = t.annotators.alias()
_CAME_BEFORE = sa.select(sa.func.count()).where(
    sa.tuple_(_OTHERS.c.created, _OTHERS.c.id)
    <= sa.tuple_(t.annotators.c.created, t.annotators.c.id)
)
_EVERYBODY = sa.select(t.annotators, _CAME_BEFORE.scalar_subquery().label("number"))
ANNOTATOR = _EVERYBODY.where(t.annotators.c.id == _ME)
INVITATION = sa.select(t.invitations).where(t.invitations.c.id == sa.bindparam("i", type_=sa.Text))
# the first unanswered question from a place on, if the part is open
NEXT = (
    sa.select(t.questions, _P.size, sa.null().label("latest"), sa.null().label("reason"))
    .join(t.parts, _OF_PART)
    .where(
        *_IN_PART,
        _P.state == t.OPEN,
        _Q.place >= sa.bindparam("reached", type_=sa.Integer),
        _IS_UNANSWERED,
    )
    .order_by(_Q.place)
    .limit(1)
)
_LEFT = sa.select(sa.func.count()).select_from(t.questions).where(*_IN_PART, _IS_UNANSWERED)
_ASKED = (
    sa.select(
        t.questions,
        _P.size,
        _latest(_A.payload).label("latest"),
        _latest(_A.reason).label("reason"),
    )
    .join(t.parts, _OF_PART)
    .where(_Q.annotator == _ME)
)
ASKED = _ASKED.where(_Q.id == _THIS)
ASKED_AT = _ASKED.where(_P.state == t.OPEN, _Q.place == sa.bindparam("place", type_=sa.Integer))

# Every column of questions and answers; `version` numbers the answers to one question, of which the
# last is the valid one.
COLUMNS: Mapping[str, str] = {
    "id": "int",
    "annotator": "text",
    "part": "text",
    "attempt": "int",
    "part_state": "text",
    "place": "int",
    "question": "text",
    "probe": "text",
    "type": "text",
    "role": "text",
    "shown": "text",
    "options": "text",
    "gender": "text",
    "span": "text",
    "given_at": "text",
    "seconds": "float",
    "payload": "text",
    "fine": "float",
    "coarse": "float",
    "key": "text",
    "reason": "text",
    "version": "int",
    "is_latest": "bool",
}
INVENTORY_COLUMNS: Mapping[str, str] = {
    "id": "int",
    "annotator": "text",
    "inventory": "text",
    "item": "text",
    "value": "float",
    "given_at": "text",
    "key": "text",
}


def schema(columns: Mapping[str, str]) -> pl.Schema:
    """The types of the columns, for polars."""
    import polars as pl

    kinds = {"int": pl.Int64, "text": pl.String, "float": pl.Float64, "bool": pl.Boolean}
    return pl.Schema({name: kinds[kind] for name, kind in columns.items()})


def insert_answer(insert: Callable[..., Any]) -> Any:
    """The statement that stores an answer and gives its id, else nothing.

    It stores only if the question is this annotator's, its part is open and the key is new. The
    part is locked against closing meanwhile (PostgreSQL; SQLite has one writer).
    """
    given = ("given_at", "seconds", "payload", "fine", "coarse", "key", "reason")
    source = sa.select(_ME, _THIS, *(sa.bindparam(name, type_=_A[name].type) for name in given))
    source = source.select_from(t.questions.join(t.parts, _OF_PART)).where(
        _Q.annotator == _ME, _Q.id == _THIS, _P.state == t.OPEN
    )
    statement = insert(t.answers).from_select(
        ["annotator", "question", *given], source.with_for_update(read=True, of=t.parts)
    )
    return statement.on_conflict_do_nothing(index_elements=["annotator", "key"]).returning(_A.id)


def question_row(question: Question) -> dict[str, Any]:
    """The columns that a question fills."""
    row = question.to_json()
    options = json.dumps(row["options"], ensure_ascii=False)
    return {**row, "options": options, "span": json.dumps(row["span"])}


def asked(row: Mapping[str, Any] | None) -> Asked | None:
    """The question in a row of ASKED, ASKED_AT or NEXT."""
    if row is None:
        return None
    return Asked(
        question=Question.from_json({**row, "span": json.loads(row["span"])}),
        part=row["part"],
        attempt=row["attempt"],
        place=row["place"],
        size=row["size"],
        payload=None if row["latest"] is None else json.loads(row["latest"]),
        reason=row["reason"] or "",
    )


def count_unanswered(connection: sa.Connection, part: Mapping[str, Any]) -> int:
    """How many questions of a part have no answer."""
    values = {"a": part["annotator"], "part": part["part"], "attempt": part["attempt"]}
    return int(connection.execute(_LEFT, values).scalar_one())


def _all(connection: sa.Connection, query: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(query).mappings()]


def annotators(connection: sa.Connection) -> list[Annotator]:
    """Everybody in the order of coming."""
    query = _EVERYBODY.order_by(t.annotators.c.created, t.annotators.c.id)
    return [Annotator(**row) for row in _all(connection, query)]


def invitations(connection: sa.Connection, annotator: str | None = None) -> list[Invitation]:
    """Invitations, oldest first."""
    columns = t.invitations.c
    query = sa.select(t.invitations).order_by(columns.created, columns.id)
    if annotator is not None:
        query = query.where(columns.annotator == annotator)
    return [Invitation(**row) for row in _all(connection, query)]


def parts(connection: sa.Connection, annotator: str | None = None) -> list[Part]:
    """Parts that were begun, oldest first."""
    query = sa.select(t.parts).order_by(_P.started, _P.annotator, _P.attempt)
    if annotator is not None:
        query = query.where(_P.annotator == annotator)
    return [Part(**row) for row in _all(connection, query)]


def progress(connection: sa.Connection) -> list[PartProgress]:
    """How far everybody is."""
    part_key = (_Q.annotator, _Q.part, _Q.attempt)
    query = (
        sa.select(
            *part_key,
            sa.func.count(sa.distinct(_Q.id)),
            sa.func.count(),
            sa.func.sum(_A.seconds),
            sa.func.max(_A.given_at),
        )
        .select_from(t.questions.join(t.answers, _OF_QUESTION))
        .group_by(*part_key)
    )
    counts = {tuple(row[:3]): tuple(row[3:]) for row in connection.execute(query)}
    rows = []
    for part in parts(connection):
        key = (part.annotator, part.part, part.attempt)
        answered, given, seconds, last = counts.get(key, (0, 0, 0.0, None))
        rows.append(
            PartProgress(
                part=part, answered=answered, changed=given - answered, seconds=seconds, last=last
            )
        )
    return rows


def paces(connection: sa.Connection) -> dict[tuple[str, str, int], float]:
    """The median seconds on an answer of each part."""
    part = (_Q.annotator, _Q.part, _Q.attempt)
    rank = sa.func.row_number().over(partition_by=part, order_by=_A.seconds)
    ranked = sa.select(
        *part,
        _A.seconds,
        (2 * rank).label("twice"),
        sa.func.count().over(partition_by=part).label("all"),
    )
    columns = ranked.select_from(t.questions.join(t.answers, _OF_QUESTION)).subquery().c
    key = (columns.annotator, columns.part, columns.attempt)
    middle = sa.select(*key, sa.func.avg(columns.seconds)).where(
        columns.twice.between(columns.all, columns.all + 2)
    )
    rows = connection.execute(middle.group_by(*key))
    return {(annotator, name, attempt): float(median) for annotator, name, attempt, median in rows}


def events(connection: sa.Connection, limit: int | None) -> list[Event]:
    """The log, newest first."""
    query = sa.select(t.events).order_by(t.events.c.id.desc()).limit(limit)
    return [Event(**row) for row in _all(connection, query)]


def scored(
    connection: sa.Connection,
    annotator: str | None = None,
    part: str | None = None,
    attempt: int | None = None,
) -> list[Scored]:
    """The latest answer to each question, in the order of the questions.

    Of one annotator, part or attempt where it is named; of nobody who has withdrawn.
    """
    newest = sa.select(sa.func.max(_A.id)).group_by(_A.annotator, _A.question)
    if annotator is not None:
        newest = newest.where(_A.annotator == annotator)
    chosen = {_Q.annotator: annotator, _Q.part: part, _Q.attempt: attempt}
    query = (
        sa.select(_Q.annotator, _Q.probe, _Q.type, _Q.role, _A.fine, _A.coarse, _Q.part, _Q.attempt)
        .join(t.questions, _OF_QUESTION)
        .where(
            _A.id.in_(newest),
            _A.annotator.not_in(_WITHDRAWN),
            *(column == value for column, value in chosen.items() if value is not None),
        )
        .order_by(_Q.annotator, _Q.part, _Q.attempt, _Q.place)
    )
    return [Scored(*row) for row in connection.execute(query)]


def replies(connection: sa.Connection) -> list[Reply]:
    """What was pressed last at each question, in the order of the questions.

    Of nobody who has withdrawn. The time is that of all answers to the question.
    """
    spent = (
        sa.select(
            _A.annotator,
            _A.question,
            sa.func.sum(_A.seconds).label("seconds"),
            sa.func.max(_A.id).label("newest"),
        )
        .group_by(_A.annotator, _A.question)
        .subquery()
    )
    query = (
        sa.select(t.questions, spent.c.seconds.label("spent"), _A.payload)
        .join(t.answers, _OF_QUESTION)
        .join(spent, _A.id == spent.c.newest)
        .where(_A.annotator.not_in(_WITHDRAWN))
        .order_by(_Q.annotator, _Q.part, _Q.attempt, _Q.place)
    )
    rows = []
    for row in connection.execute(query).mappings():
        question = Question.from_json({**row, "span": json.loads(row["span"])})
        rows.append(
            Reply(
                annotator=row["annotator"],
                part=row["part"],
                attempt=row["attempt"],
                question=question.id,
                type=question.type,
                text=question.shown,
                seconds=float(row["spent"]),
                pressed=pressed_places(question, json.loads(row["payload"])),
            )
        )
    return rows


def resolutions(connection: sa.Connection) -> dict[str, str]:
    """Probe -> the owner's latest decision."""
    columns = t.resolutions.c
    query = sa.select(columns.probe, columns.verdict).order_by(columns.id)
    return dict(tuple(row) for row in connection.execute(query))


def inventory_answers(
    connection: sa.Connection, annotator: str, inventory: str
) -> dict[str, float]:
    """Item -> latest value."""
    columns = t.inventory_answers.c
    query = (
        sa.select(columns.item, columns.value)
        .where(columns.annotator == annotator, columns.inventory == inventory)
        .order_by(columns.id)
    )
    return dict(tuple(row) for row in connection.execute(query))


def columns_of(table: sa.Table) -> dict[str, str]:
    """The columns of a table of the store and their kinds."""
    kinds = {int: "int", str: "text", float: "float"}
    return {column.name: kinds[column.type.python_type] for column in table.columns}


def whole_table(connection: sa.Connection, table: sa.Table) -> pl.DataFrame:
    """All of a table, sorted by its key in the same way for every database."""
    import polars as pl

    columns = columns_of(table)
    result = connection.execute(sa.select(table).execution_options(yield_per=10_000))
    frames = [_frame(columns, rows) for rows in result.partitions()]
    whole = pl.concat([_frame(columns, []), *frames])
    return whole.sort(*(column.name for column in table.primary_key))


def _frame(columns: Mapping[str, str], rows: Sequence[Any]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([tuple(row) for row in rows], schema=schema(columns), orient="row")


def answers_table(connection: sa.Connection) -> pl.DataFrame:
    """Every version of every answer beside its question."""
    import polars as pl

    stored = [c for c in COLUMNS if c not in ("version", "is_latest")]
    answer_columns = ("id", "given_at", "seconds", "payload", "fine", "coarse", "key", "reason")
    columns = {"part_state": _P.state, "question": _Q.id}
    columns |= {name: _A[name] for name in answer_columns}
    query = (
        sa.select(*(columns.get(name, _Q.get(name)).label(name) for name in stored))
        .join(t.questions, _OF_QUESTION)
        .join(t.parts, _OF_PART)
        .where(_A.annotator.not_in(_WITHDRAWN))
        .order_by(_A.id)
    )
    table = _frame({name: COLUMNS[name] for name in stored}, connection.execute(query).all())
    same = ("annotator", "question")
    return table.with_columns(
        pl.col("reason").fill_null(""),
        pl.col("id").rank("ordinal").over(same).cast(pl.Int64).alias("version"),
        (pl.col("id") == pl.col("id").max().over(same)).alias("is_latest"),
    )


def inventory_table(connection: sa.Connection) -> pl.DataFrame:
    """Every answer to an inventory."""
    columns = t.inventory_answers.c
    query = (
        sa.select(*(columns[name] for name in INVENTORY_COLUMNS))
        .where(columns.annotator.not_in(_WITHDRAWN))
        .order_by(columns.id)
    )
    return _frame(INVENTORY_COLUMNS, connection.execute(query).all())
