"""Which answers were spoken, how sure the words are, and how long they took to say."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("utterances", sa.Column("spoken", sa.Boolean(), nullable=True))
    op.add_column("utterances", sa.Column("confidence", sa.Double(), nullable=True))
    op.add_column("utterances", sa.Column("speech_ms", sa.Integer(), nullable=True))
    op.execute(sa.update(sa.table("utterances", sa.column("spoken", sa.Boolean()))).values(spoken=False))
    with op.batch_alter_table("utterances") as utterances:
        utterances.alter_column("spoken", existing_type=sa.Boolean(), nullable=False)


def downgrade() -> None:
    with op.batch_alter_table("utterances") as utterances:
        for name in ("speech_ms", "confidence", "spoken"):
            utterances.drop_column(name)
