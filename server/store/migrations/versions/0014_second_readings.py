"""What was understood otherwise when a spoken answer was read once more as a whole."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("utterances", sa.Column("second_reading", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("utterances") as utterances:
        utterances.drop_column("second_reading")
