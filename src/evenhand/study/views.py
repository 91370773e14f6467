"""What does the database know? The questions that the store puts to it, always by parameters; each takes an open connection.

Those in capitals without an underscore are on the way of every answer; the store compiles them once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from evenhand.study import tables as t
from evenhand.people.questions import Question
from evenhand.study.rows import Annotator, Asked, Event, Invitation, Part, Progress

if TYPE_CHECKING:
    import polars as pl

    from evenhand.people.scoring import Scored

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
_LATEST = (
    sa.select(_A.payload)
    .where(_OF_QUESTION)
    .order_by(_A.id.desc())
    .limit(1)
    .correlate(t.questions)
    .scalar_subquery()
)
OPEN_PART = sa.select(_P.part, _P.attempt).where(_P.annotator == _ME, _P.state == t.OPEN)
_OTHERS = t.annotators.alias()
_CAME = sa.select(sa.func.count()).where(
    sa.tuple_(_OTHERS.c.created, _OTHERS.c.id)
    <= sa.tuple_(t.annotators.c.created, t.annotators.c.id)
)
_EVERYBODY = sa.select(t.annotators, _CAME.scalar_subquery().label("number"))
ANNOTATOR = _EVERYBODY.where(t.annotators.c.id == _ME)
INVITATION = sa.select(t.invitations).where(t.invitations.c.id == sa.bindparam("i", type_=sa.Text))
# the first question from a place on that has no answer, if the part is open
NEXT = (
    sa.select(t.questions, _P.size, sa.null().label("said"))
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
    sa.select(t.questions, _P.size, _LATEST.label("said"))
    .join(t.parts, _OF_PART)
    .where(_Q.annotator == _ME)
)
ASKED = _ASKED.where(_Q.id == _THIS)
ASKED_AT = _ASKED.where(_P.state == t.OPEN, _Q.place == sa.bindparam("place", type_=sa.Integer))

# Every column of what was asked and what was said; `version` counts the answers to one question, the last of which counts.
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
    """The order that stores an answer if the question is this annotator's, its part is open and the key is new; gives the answer's id, else nothing.

    The part is locked against closing meanwhile (PostgreSQL; SQLite has one writer).
    """
    given = ("given_at", "seconds", "payload", "fine", "coarse", "key")
    source = sa.select(_ME, _THIS, *(sa.bindparam(name, type_=_A[name].type) for name in given))
    source = source.select_from(t.questions.join(t.parts, _OF_PART)).where(
        _Q.annotator == _ME, _Q.id == _THIS, _P.state == t.OPEN
    )
    order = insert(t.answers).from_select(
        ["annotator", "question", *given], source.with_for_update(read=True, of=t.parts)
    )
    return order.on_conflict_do_nothing(index_elements=["annotator", "key"]).returning(_A.id)


def question_row(question: Question) -> dict[str, Any]:
    """The columns that a question fills."""
    row = question.to_json()
    return {
        **row,
        "options": json.dumps(row["options"], ensure_ascii=False),
        "span": json.dumps(row["span"]),
    }


def asked(row: Mapping[str, Any] | None) -> Asked | None:
    """The question in a row of ASKED, ASKED_AT or NEXT."""
    if row is None:
        return None
    question = Question.from_json({**row, "span": json.loads(row["span"])})
    payload = None if row["said"] is None else json.loads(row["said"])
    return Asked(
        question=question,
        part=row["part"],
        attempt=row["attempt"],
        place=row["place"],
        size=row["size"],
        payload=payload,
    )


def count_unanswered(connection: sa.Connection, part: Mapping[str, Any]) -> int:
    """How many questions of a part have no answer?"""
    return int(
        connection.execute(
            _LEFT, {"a": part["annotator"], "part": part["part"], "attempt": part["attempt"]}
        ).scalar_one()
    )


def _all(connection: sa.Connection, query: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(query).mappings()]


def annotators(connection: sa.Connection) -> list[Annotator]:
    """Everybody in the order of coming."""
    return [
        Annotator(**row)
        for row in _all(connection, _EVERYBODY.order_by(t.annotators.c.created, t.annotators.c.id))
    ]


def invitations(connection: sa.Connection, annotator: str | None = None) -> list[Invitation]:
    """Invitations, oldest first."""
    held = t.invitations.c
    query = sa.select(t.invitations).order_by(held.created, held.id)
    return [
        Invitation(**row)
        for row in _all(
            connection, query if annotator is None else query.where(held.annotator == annotator)
        )
    ]


def parts(connection: sa.Connection, annotator: str | None = None) -> list[Part]:
    """Parts that were begun, oldest first."""
    query = sa.select(t.parts).order_by(_P.started, _P.annotator, _P.attempt)
    return [
        Part(**row)
        for row in _all(
            connection, query if annotator is None else query.where(_P.annotator == annotator)
        )
    ]


def progress(connection: sa.Connection) -> list[Progress]:
    """How far everybody is."""
    count = sa.func.count
    query = sa.select(
        _Q.annotator,
        _Q.part,
        _Q.attempt,
        count(sa.distinct(_Q.id)),
        count(),
        sa.func.sum(_A.seconds),
        sa.func.max(_A.given_at),
    )
    query = query.select_from(t.questions.join(t.answers, _OF_QUESTION)).group_by(
        _Q.annotator, _Q.part, _Q.attempt
    )
    found = {tuple(row[:3]): tuple(row[3:]) for row in connection.execute(query)}
    told = [
        (part, found.get((part.annotator, part.part, part.attempt), (0, 0, 0.0, None)))
        for part in parts(connection)
    ]
    return [
        Progress(part=p, answered=n, changed=given - n, seconds=seconds, last=last)
        for p, (n, given, seconds, last) in told
    ]


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
    held = ranked.select_from(t.questions.join(t.answers, _OF_QUESTION)).subquery().c
    middle = sa.select(held.annotator, held.part, held.attempt, sa.func.avg(held.seconds)).where(
        held.twice.between(held.all, held.all + 2)
    )
    rows = connection.execute(middle.group_by(held.annotator, held.part, held.attempt))
    return {(annotator, name, attempt): float(median) for annotator, name, attempt, median in rows}


def events(connection: sa.Connection, limit: int | None) -> list[Event]:
    """The log, newest first."""
    return [
        Event(**row)
        for row in _all(connection, sa.select(t.events).order_by(t.events.c.id.desc()).limit(limit))
    ]


def scored(connection: sa.Connection, **where: str | int | None) -> list[Scored]:
    """The latest answer to each question, in the order of the questions."""
    from evenhand.people.scoring import Scored

    newest = sa.select(sa.func.max(_A.id)).group_by(_A.annotator, _A.question)
    if where.get("annotator") is not None:
        newest = newest.where(_A.annotator == where["annotator"])
    query = sa.select(
        _Q.annotator, _Q.probe, _Q.type, _Q.role, _A.fine, _A.coarse, _Q.part, _Q.attempt
    ).join(t.questions, _OF_QUESTION)
    query = query.where(
        _A.id.in_(newest),
        _A.annotator.not_in(_WITHDRAWN),
        *(_Q[name] == value for name, value in where.items() if value is not None),
    )
    return [
        Scored(*row)
        for row in connection.execute(query.order_by(_Q.annotator, _Q.part, _Q.attempt, _Q.place))
    ]


def inventory_answers(
    connection: sa.Connection, annotator: str, inventory: str
) -> dict[str, float]:
    """Item -> latest value."""
    held = t.inventory_answers.c
    query = (
        sa.select(held.item, held.value)
        .where(held.annotator == annotator, held.inventory == inventory)
        .order_by(held.id)
    )
    return dict(tuple(row) for row in connection.execute(query))


def columns_of(table: sa.Table) -> dict[str, str]:
    """The columns of a table of the store and their kinds."""
    kinds = {int: "int", str: "text", float: "float"}
    return {column.name: kinds[column.type.python_type] for column in table.columns}


def whole_table(connection: sa.Connection, table: sa.Table) -> pl.DataFrame:
    """All of a table by its key, in the same order whatever the database sorts by."""
    import polars as pl

    columns, found = (
        columns_of(table),
        connection.execute(sa.select(table).execution_options(yield_per=10_000)),
    )
    frames = [_frame(columns, rows) for rows in found.partitions()]
    return pl.concat([_frame(columns, []), *frames]).sort(
        *(column.name for column in table.primary_key)
    )


def _frame(columns: Mapping[str, str], rows: Sequence[Any]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([tuple(row) for row in rows], schema=schema(columns), orient="row")


def answers_table(connection: sa.Connection) -> pl.DataFrame:
    """Every version of every answer beside its question."""
    import polars as pl

    drawn = [c for c in COLUMNS if c not in ("version", "is_latest")]
    held = {
        "part_state": _P.state,
        "question": _Q.id,
        **{
            name: _A[name]
            for name in ("id", "given_at", "seconds", "payload", "fine", "coarse", "key")
        },
    }
    query = (
        sa.select(*(held.get(name, _Q.get(name)).label(name) for name in drawn))
        .join(t.questions, _OF_QUESTION)
        .join(t.parts, _OF_PART)
    )
    found = _frame(
        {name: COLUMNS[name] for name in drawn},
        connection.execute(query.where(_A.annotator.not_in(_WITHDRAWN)).order_by(_A.id)).all(),
    )
    same = ("annotator", "question")
    version = pl.col("id").rank("ordinal").over(same).cast(pl.Int64).alias("version")
    return found.with_columns(
        version, (pl.col("id") == pl.col("id").max().over(same)).alias("is_latest")
    )


def inventory_table(connection: sa.Connection) -> pl.DataFrame:
    """Every answer to an inventory."""
    held = t.inventory_answers.c
    query = (
        sa.select(*(held[name] for name in INVENTORY_COLUMNS))
        .where(held.annotator.not_in(_WITHDRAWN))
        .order_by(held.id)
    )
    return _frame(INVENTORY_COLUMNS, connection.execute(query).all())
