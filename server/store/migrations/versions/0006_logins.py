"""Who made a token, and logins of moderators that end at once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("tokens", sa.Column("created_by", sa.String(64), nullable=True))
    op.create_index("ix_tokens_created_by", "tokens", ["created_by"])
    op.create_table(
        "logins",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("token_id", sa.String(64), nullable=False),
        sa.Column("token_digest", sa.String(64), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_logins"),
        sa.UniqueConstraint("digest", name="uq_logins_digest"),
    )
    op.create_index("ix_logins_token_id", "logins", ["token_id"])
    op.create_index("ix_logins_expires_at", "logins", ["expires_at"])


def downgrade() -> None:
    op.drop_table("logins")
    op.drop_index("ix_tokens_created_by", "tokens")
    op.drop_column("tokens", "created_by")
