"""What edges rest on, and how salient and how moving concepts are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("kg_edges", sa.Column("basis", sa.String(16), nullable=False, server_default="unrecorded"))
    op.add_column("kg_edges", sa.Column("skips", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("kg_nodes", sa.Column("salience", sa.Integer(), nullable=True))
    op.add_column("kg_nodes", sa.Column("emotion", sa.Integer(), nullable=True))


def downgrade() -> None:
    for table, name in (
        ("kg_nodes", "emotion"),
        ("kg_nodes", "salience"),
        ("kg_edges", "skips"),
        ("kg_edges", "basis"),
    ):
        op.drop_column(table, name)
