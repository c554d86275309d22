"""What was confirmed of respondents before their interviews, and interviews that go from machine to machine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    # SQLite would make `sessions` anew for a change in place, and what refers to its rows would go with them.
    op.add_column("sessions", sa.Column("eligibility", sa.JSON(), nullable=False, server_default=sa.text("'{}'")))
    op.create_table(
        "sync_sent",
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("target", sa.String(500), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("call_count", sa.Integer(), nullable=False),
        sa.Column("confirmed_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_sync_sent_session_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session_id", "target", name="pk_sync_sent"),
    )
    op.create_table(
        "sync_received",
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("device_id", sa.String(64), nullable=False),
        sa.Column("device_name", sa.Text(), nullable=False),
        sa.Column("clock_skew_s", sa.Double(), nullable=True),
        sa.Column("received_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("session_id", name="pk_sync_received"),
    )
    op.create_table(
        "sync_uploads",
        sa.Column("device_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("received", sa.BigInteger(), nullable=False),
        sa.Column("clock_skew_s", sa.Double(), nullable=True),
        sa.Column("touched_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("device_id", "session_id", "digest", name="pk_sync_uploads"),
    )
    op.create_index("ix_sync_uploads_touched_at", "sync_uploads", ["touched_at"])
    op.create_index("ix_sync_uploads_session_id", "sync_uploads", ["session_id"])
    op.create_table(
        "sync_chunks",
        sa.Column("device_id", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("start", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_id", "session_id", "digest"],
            ["sync_uploads.device_id", "sync_uploads.session_id", "sync_uploads.digest"],
            name="fk_sync_chunks_device_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("device_id", "session_id", "digest", "start", name="pk_sync_chunks"),
    )


def downgrade() -> None:
    for name in ("sync_chunks", "sync_uploads", "sync_received", "sync_sent"):
        op.drop_table(name)
    op.drop_column("sessions", "eligibility")
