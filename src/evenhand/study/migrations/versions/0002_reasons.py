"""Why somebody answered as they did: a free text beside an answer, which may be left out."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from evenhand.core.errors import EvenhandError

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; answers that were given before have none."""
    op.add_column("answers", sa.Column("reason", sa.Text))


def downgrade() -> None:
    """Reasons are part of an answer, and answers are not deleted."""
    raise EvenhandError("reasons that people gave are not deleted; keep this revision")
