"""What a moderator's overview shows of a session, and what a moderator asked for in a turn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # SQLite would make `sessions` anew for a change in place, and what refers to its rows would go with them.
    op.add_column("sessions", sa.Column("engagements", sa.JSON(), nullable=False, server_default=sa.text("'[]'")))
    op.add_column("sessions", sa.Column("phase", sa.String(100), nullable=True))
    op.add_column("sessions", sa.Column("saturation_score", sa.Double(), nullable=True))
    op.add_column("sessions", sa.Column("device", sa.JSON(), nullable=True))
    op.add_column("scoring_history", sa.Column("directive", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("scoring_history", "directive")
    for name in ("device", "saturation_score", "phase", "engagements"):
        op.drop_column("sessions", name)
