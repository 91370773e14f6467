"""The first tables of a study, and triggers that refuse to change questions and answers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from evenhand.core.errors import EvenhandError

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_APPEND_ONLY = ("answers", "inventory_answers", "questions", "events")
_REFUSAL = (
    "{0} are append-only: what was stored is neither changed nor deleted; store a new row instead"
)


def _text(name: str, *, is_key: bool = False, is_needed: bool = True) -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=is_key, nullable=not (is_needed or is_key))


def _counter() -> sa.Column[int]:
    return sa.Column("id", _COUNTER, primary_key=True, autoincrement=True)


def upgrade() -> None:
    """Create everything."""
    _create_people()
    _create_questions()
    _create_answers()
    _create_triggers()


def _create_people() -> None:
    op.create_table(
        "study", _counter(), _text("name"), _text("suite"), _text("settings"), _text("since")
    )
    op.create_table("annotators", _text("id", is_key=True), _text("state"), _text("created"))
    op.create_table("owners", _text("name", is_key=True), _text("hash"), _text("changed"))
    op.create_table(
        "invitations",
        _text("id", is_key=True),
        _text("annotator"),
        _text("created"),
        _text("expires"),
        _text("revoked", is_needed=False),
        sa.ForeignKeyConstraint(["annotator"], ["annotators.id"]),
    )
    op.create_index("ix_invitations_annotator", "invitations", ["annotator"])
    op.create_table(
        "events",
        _counter(),
        _text("at"),
        _text("kind"),
        _text("annotator", is_needed=False),
        _text("detail"),
        sqlite_autoincrement=True,
    )


def _create_questions() -> None:
    op.create_table(
        "parts",
        _text("annotator", is_key=True),
        _text("part", is_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        _text("state"),
        sa.Column("size", sa.Integer, nullable=False),
        _text("started"),
        _text("finished", is_needed=False),
        sa.Column("accuracy", sa.Double),
        sa.Column("consistency", sa.Double),
        sa.ForeignKeyConstraint(["annotator"], ["annotators.id"]),
    )
    is_open = sa.text("state = 'open'")
    op.create_index(
        "one_open_part",
        "parts",
        ["annotator"],
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.create_table(
        "questions",
        _text("annotator", is_key=True),
        _text("id", is_key=True),
        _text("part"),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        _text("type"),
        _text("role"),
        _text("probe"),
        _text("shown"),
        _text("options"),
        _text("gender"),
        _text("span"),
        sa.ForeignKeyConstraint(
            ["annotator", "part", "attempt"], ["parts.annotator", "parts.part", "parts.attempt"]
        ),
        sa.UniqueConstraint("annotator", "part", "attempt", "place", name="one_question_a_place"),
    )
    op.create_index("questions_by_id", "questions", ["id"])


def _create_answers() -> None:
    op.create_table(
        "answers",
        _counter(),
        _text("annotator"),
        _text("question"),
        _text("given_at"),
        sa.Column("seconds", sa.Double, nullable=False),
        _text("payload"),
        sa.Column("fine", sa.Double, nullable=False),
        sa.Column("coarse", sa.Double, nullable=False),
        _text("key"),
        sa.ForeignKeyConstraint(["annotator", "question"], ["questions.annotator", "questions.id"]),
        sa.UniqueConstraint("annotator", "key", name="one_answer_a_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("answers_by_question", "answers", ["annotator", "question", "id"])
    op.create_table(
        "inventory_answers",
        _counter(),
        _text("annotator"),
        _text("inventory"),
        _text("item"),
        sa.Column("value", sa.Double, nullable=False),
        _text("given_at"),
        _text("key"),
        sa.ForeignKeyConstraint(["annotator"], ["annotators.id"]),
        sa.UniqueConstraint("annotator", "key", name="one_inventory_answer_a_key"),
        sqlite_autoincrement=True,
    )


def _create_triggers() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION '% are append-only: what was stored is neither changed nor deleted; "
            "store a new row instead', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END $$"
        )
        for table in _APPEND_ONLY:
            op.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE "
                f"ON {table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )
        return
    for table in _APPEND_ONLY:
        for operation in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{operation.lower()} BEFORE {operation} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL.format(table)}'); END"
            )
    # INSERT OR REPLACE deletes without asking a trigger for deletes, unless the connection asks for
    # it; here the old row stays.
    ignore = "RAISE(IGNORE)"  # a key that comes again is a replay, which stores nothing
    _keep("answers", "id = NEW.id OR (annotator = NEW.annotator AND key = NEW.key)", ignore)
    _keep(
        "inventory_answers", "id = NEW.id OR (annotator = NEW.annotator AND key = NEW.key)", ignore
    )
    _keep(
        "questions",
        "annotator = NEW.annotator AND (id = NEW.id OR "
        "(part = NEW.part AND attempt = NEW.attempt AND place = NEW.place))",
    )
    _keep("events", "id = NEW.id")


def _keep(
    table: str,
    is_same: str,
    action: str = "RAISE(ABORT, 'this row is there already; nothing is replaced')",
) -> None:
    """Create a trigger that does `action` instead of replacing a row that exists already."""
    op.execute(
        f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
        f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {is_same}) BEGIN SELECT {action}; END"
    )


def downgrade() -> None:
    """There is nothing before the first revision: answers are not deleted."""
    raise EvenhandError(
        "the first revision is not taken back; delete the database yourself if you mean to"
    )
