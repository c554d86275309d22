"""How each question came about: refused wordings, and what the writer thought of the one that was asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    column = sa.Column("question", sa.JSON(), nullable=False, server_default=sa.text("'{}'"))
    op.add_column("scoring_history", column)


def downgrade() -> None:
    op.drop_column("scoring_history", "question")
