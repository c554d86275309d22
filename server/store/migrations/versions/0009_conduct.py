"""Dialogue acts, replies of the interviewer, and what an interview remembers of its conduct."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("utterances", sa.Column("acts", sa.JSON(), nullable=False, server_default=sa.text("'[]'")))
    op.add_column("utterances", sa.Column("replies_to", sa.String(30), nullable=True))
    op.add_column("sessions", sa.Column("conduct", sa.JSON(), nullable=False, server_default=sa.text("'{}'")))
    op.add_column("sessions", sa.Column("stopped_question", sa.JSON(), nullable=True))


def downgrade() -> None:
    for table, name in (
        ("sessions", "stopped_question"),
        ("sessions", "conduct"),
        ("utterances", "replies_to"),
        ("utterances", "acts"),
    ):
        op.drop_column(table, name)
