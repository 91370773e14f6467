"""What the owner decided where raters of objective sentences disagree; append-only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from evenhand.core.errors import EvenhandError

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TABLE = "resolutions"
_COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_REFUSAL = (
    "are append-only: what was stored is neither changed nor deleted; store a new row instead"
)


def upgrade() -> None:
    """Add the table, empty, and the triggers that keep its rows as they are."""
    op.create_table(
        _TABLE,
        sa.Column("id", _COUNTER, primary_key=True, autoincrement=True),
        sa.Column("probe", sa.Text, nullable=False),
        sa.Column("verdict", sa.Text, nullable=False),
        sa.Column("given_at", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    if op.get_bind().dialect.name == "postgresql":
        # the function is that of the first revision
        op.execute(
            f"CREATE TRIGGER {_TABLE}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE "
            f"ON {_TABLE} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        return
    for operation in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {_TABLE}_no_{operation.lower()} BEFORE {operation} ON {_TABLE} "
            f"BEGIN SELECT RAISE(ABORT, '{_TABLE} {_REFUSAL}'); END"
        )
    op.execute(
        f"CREATE TRIGGER {_TABLE}_no_replace BEFORE INSERT ON {_TABLE} "
        f"WHEN EXISTS (SELECT 1 FROM {_TABLE} WHERE id = NEW.id) "
        "BEGIN SELECT RAISE(ABORT, 'this row is there already; nothing is replaced'); END"
    )


def downgrade() -> None:
    """Decisions are part of the data, and data are not deleted."""
    raise EvenhandError("decisions on sentences are not deleted; keep this revision")
