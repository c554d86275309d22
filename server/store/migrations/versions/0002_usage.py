"""What language models cost, call by call; tasks that another provider did.

Both directions make `llm_calls` anew: the first schema's table was never written to, and going back loses the calls.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_table("llm_calls")
    op.create_table(
        "llm_calls",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=100), nullable=False),
        sa.Column("task", sa.String(length=100), nullable=False),
        sa.Column("provider", sa.String(length=100), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cached_tokens", sa.BigInteger(), nullable=True),
        sa.Column("latency_ms", sa.Double(), nullable=False),
        sa.Column("first_token_ms", sa.Double(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=True),
        sa.Column("currency", sa.String(length=20), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_llm_calls_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_llm_calls")),
    )
    op.add_column("scoring_history", sa.Column("fallbacks", sa.JSON(), nullable=True))
    op.execute("UPDATE scoring_history SET fallbacks = '[]'")
    with op.batch_alter_table("scoring_history") as scoring:
        scoring.alter_column("fallbacks", existing_type=sa.JSON(), nullable=False)


def downgrade() -> None:
    with op.batch_alter_table("scoring_history") as scoring:
        scoring.drop_column("fallbacks")
    op.drop_table("llm_calls")
    op.create_table(
        "llm_calls",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=100), nullable=True),
        sa.Column("provider", sa.String(length=100), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("latency_ms", sa.Double(), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_llm_calls_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "turn_number", "ordinal", name=op.f("pk_llm_calls")),
    )
