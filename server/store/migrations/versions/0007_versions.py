"""Earlier states of interviews that a device sent again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("sync_received", sa.Column("recordings", sa.JSON(), nullable=False, server_default=sa.text("'[]'")))
    op.create_table(
        "sync_versions",
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("device_id", sa.String(64), nullable=False),
        sa.Column("device_name", sa.Text(), nullable=False),
        sa.Column("received_at", _MOMENT, nullable=False),
        sa.Column("kept_at", _MOMENT, nullable=False),
        sa.Column("recordings", sa.JSON(), nullable=False),
        sa.Column("packed_rows", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("session_id", "digest", name="pk_sync_versions"),
    )


def downgrade() -> None:
    op.drop_table("sync_versions")
    op.drop_column("sync_received", "recordings")
