"""First schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "configurations",
        sa.Column("hash", sa.String(length=128), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_configurations")),
    )
    op.create_table(
        "journal_dead",
        sa.Column("partition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("turn_key", sa.String(length=100), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("packed_state", sa.LargeBinary(), nullable=False),
        sa.Column("packed_data", sa.LargeBinary(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("partition", "id", name=op.f("pk_journal_dead")),
    )
    op.create_index(op.f("ix_journal_dead_session_id"), "journal_dead", ["session_id"], unique=False)
    op.create_table(
        "journal_position",
        sa.Column("partition", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("partition", name=op.f("pk_journal_position")),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("concept_id", sa.String(length=100), nullable=False),
        sa.Column("concept_name", sa.Text(), nullable=False),
        sa.Column("methodology", sa.String(length=100), nullable=False),
        sa.Column("engine", sa.String(length=100), nullable=False),
        sa.Column("language", sa.String(length=100), nullable=False),
        sa.Column("max_turns", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(length=40), nullable=False),
        sa.Column("config_hash", sa.String(length=128), nullable=False),
        sa.Column("respondent_ref", sa.Text(), nullable=True),
        sa.Column("pilot", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("state_reason", sa.Text(), nullable=False),
        sa.Column("paused_by", sa.String(length=20), nullable=True),
        sa.Column("claimed_by", sa.Text(), nullable=True),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("turn_count", sa.Integer(), nullable=False),
        sa.Column("node_count", sa.Integer(), nullable=False),
        sa.Column("edge_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=True),
        sa.Column("node_tracker_state", sa.JSON(), nullable=False),
        sa.Column("focus_history", sa.JSON(), nullable=False),
        sa.Column("strategy_history", sa.JSON(), nullable=False),
        sa.Column("depths", sa.JSON(), nullable=False),
        sa.Column("surface_velocity", sa.JSON(), nullable=False),
        sa.Column("canonical_velocity", sa.JSON(), nullable=False),
        sa.Column("saturation", sa.JSON(), nullable=False),
        sa.Column("slot_backlog", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_concept_id_created_at"), "sessions", ["concept_id", "created_at"], unique=False)
    op.create_index(op.f("ix_sessions_created_at_id"), "sessions", ["created_at", "id"], unique=False)
    op.create_index(op.f("ix_sessions_state_updated_at"), "sessions", ["state", "updated_at"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=True),
        sa.Column("concepts", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    op.create_index(op.f("ix_tokens_session_id"), "tokens", ["session_id"], unique=False)
    op.create_table(
        "answers",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("turn_key", sa.String(length=100), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("digest", sa.String(length=128), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("receipt", sa.LargeBinary(), nullable=True),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_answers_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "turn_key", name=op.f("pk_answers")),
    )
    op.create_table(
        "canonical_slots",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("slot_name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("node_type", sa.String(length=100), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("support_count", sa.Integer(), nullable=False),
        sa.Column("first_seen_turn", sa.Integer(), nullable=False),
        sa.Column("promoted_turn", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_canonical_slots_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_canonical_slots")),
    )
    op.create_table(
        "consents",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=100), nullable=False),
        sa.Column("choices", sa.JSON(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_consents_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "version", name=op.f("pk_consents")),
    )
    op.create_table(
        "kg_nodes",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("node_type", sa.String(length=100), nullable=False),
        sa.Column("type_alternatives", sa.JSON(), nullable=False),
        sa.Column("mentions", sa.JSON(), nullable=False),
        sa.Column("source_utterance_ids", sa.JSON(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("stance", sa.Integer(), nullable=False),
        sa.Column("created_turn", sa.Integer(), nullable=False),
        sa.Column("last_mention_turn", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("mention_sequence", sa.Integer(), nullable=False),
        sa.Column("mention_count", sa.Integer(), nullable=False),
        sa.Column("element_ids", sa.JSON(), nullable=False),
        sa.Column("lemmas", sa.JSON(), nullable=False),
        sa.Column("superseded_by", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_kg_nodes_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_kg_nodes")),
    )
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
    op.create_table(
        "moderator_actions",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("command_id", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=100), nullable=False),
        sa.Column("moderator", sa.Text(), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_moderator_actions_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "command_id", name=op.f("pk_moderator_actions")),
    )
    op.create_table(
        "schema_tensions",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("utterance_id", sa.String(length=64), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=True),
        sa.Column("type", sa.String(length=100), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_schema_tensions_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_schema_tensions")),
    )
    op.create_table(
        "scoring_history",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("turn_key", sa.String(length=100), nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=True),
        sa.Column("node_key", sa.String(length=64), nullable=True),
        sa.Column("node_id", sa.String(length=64), nullable=True),
        sa.Column("phase", sa.String(length=100), nullable=True),
        sa.Column("depth_score", sa.Double(), nullable=True),
        sa.Column("saturation_score", sa.Double(), nullable=True),
        sa.Column("has_methodology_signals", sa.Boolean(), nullable=False),
        sa.Column("should_continue", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("candidates", sa.JSON(), nullable=False),
        sa.Column("candidate_count", sa.Integer(), nullable=False),
        sa.Column("ratings", sa.JSON(), nullable=True),
        sa.Column("saturation", sa.JSON(), nullable=False),
        sa.Column("stages_ms", sa.JSON(), nullable=False),
        sa.Column("fallback", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_scoring_history_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "turn_number", name=op.f("pk_scoring_history")),
    )
    op.create_table(
        "session_snapshots",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_session_snapshots_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_session_snapshots")),
    )
    op.create_table(
        "signals",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("matrix", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_signals_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "turn_number", name=op.f("pk_signals")),
    )
    op.create_table(
        "utterances",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("turn_number", sa.Integer(), nullable=False),
        sa.Column("speaker", sa.String(length=20), nullable=False),
        sa.Column("kind", sa.String(length=30), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=True),
        sa.Column("focus_key", sa.String(length=64), nullable=True),
        sa.Column("fallback", sa.Boolean(), nullable=False),
        sa.Column("corrects", sa.String(length=64), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_utterances_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_utterances")),
    )
    op.create_table(
        "canonical_edges",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("source_slot_id", sa.String(length=64), nullable=False),
        sa.Column("target_slot_id", sa.String(length=64), nullable=False),
        sa.Column("edge_type", sa.String(length=100), nullable=False),
        sa.Column("support_count", sa.Integer(), nullable=False),
        sa.Column("surface_edge_ids", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id", "source_slot_id"],
            ["canonical_slots.session_id", "canonical_slots.id"],
            name="fk_canonical_edges_source_slot_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id", "target_slot_id"],
            ["canonical_slots.session_id", "canonical_slots.id"],
            name="fk_canonical_edges_target_slot_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_canonical_edges_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_canonical_edges")),
    )
    op.create_index(
        op.f("ix_canonical_edges_session_id_source_slot_id"),
        "canonical_edges",
        ["session_id", "source_slot_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_canonical_edges_session_id_target_slot_id"),
        "canonical_edges",
        ["session_id", "target_slot_id"],
        unique=False,
    )
    op.create_table(
        "kg_edges",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("source_id", sa.String(length=64), nullable=False),
        sa.Column("target_id", sa.String(length=64), nullable=False),
        sa.Column("edge_type", sa.String(length=100), nullable=False),
        sa.Column("mentions", sa.JSON(), nullable=False),
        sa.Column("source_utterance_ids", sa.JSON(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("stance", sa.Integer(), nullable=False),
        sa.Column("created_turn", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id", "source_id"],
            ["kg_nodes.session_id", "kg_nodes.id"],
            name="fk_kg_edges_source_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id", "target_id"],
            ["kg_nodes.session_id", "kg_nodes.id"],
            name="fk_kg_edges_target_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_kg_edges_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_kg_edges")),
    )
    op.create_index(op.f("ix_kg_edges_session_id_source_id"), "kg_edges", ["session_id", "source_id"], unique=False)
    op.create_index(op.f("ix_kg_edges_session_id_target_id"), "kg_edges", ["session_id", "target_id"], unique=False)
    op.create_table(
        "surface_to_slot_mapping",
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("surface_node_id", sa.String(length=64), nullable=False),
        sa.Column("canonical_slot_id", sa.String(length=64), nullable=False),
        sa.Column("similarity", sa.Double(), nullable=False),
        sa.Column("assigned_turn", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id", "canonical_slot_id"],
            ["canonical_slots.session_id", "canonical_slots.id"],
            name="fk_surface_to_slot_mapping_canonical_slot_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id", "surface_node_id"],
            ["kg_nodes.session_id", "kg_nodes.id"],
            name="fk_surface_to_slot_mapping_surface_node_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name=op.f("fk_surface_to_slot_mapping_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_id", "surface_node_id", name=op.f("pk_surface_to_slot_mapping")),
    )
    op.create_index(
        op.f("ix_surface_to_slot_mapping_session_id_canonical_slot_id"),
        "surface_to_slot_mapping",
        ["session_id", "canonical_slot_id"],
        unique=False,
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_surface_to_slot_mapping_session_id_canonical_slot_id"), table_name="surface_to_slot_mapping")
    op.drop_table("surface_to_slot_mapping")
    op.drop_index(op.f("ix_kg_edges_session_id_target_id"), table_name="kg_edges")
    op.drop_index(op.f("ix_kg_edges_session_id_source_id"), table_name="kg_edges")
    op.drop_table("kg_edges")
    op.drop_index(op.f("ix_canonical_edges_session_id_target_slot_id"), table_name="canonical_edges")
    op.drop_index(op.f("ix_canonical_edges_session_id_source_slot_id"), table_name="canonical_edges")
    op.drop_table("canonical_edges")
    op.drop_table("utterances")
    op.drop_table("signals")
    op.drop_table("session_snapshots")
    op.drop_table("scoring_history")
    op.drop_table("schema_tensions")
    op.drop_table("moderator_actions")
    op.drop_table("llm_calls")
    op.drop_table("kg_nodes")
    op.drop_table("consents")
    op.drop_table("canonical_slots")
    op.drop_table("answers")
    op.drop_index(op.f("ix_tokens_session_id"), table_name="tokens")
    op.drop_table("tokens")
    op.drop_index(op.f("ix_sessions_state_updated_at"), table_name="sessions")
    op.drop_index(op.f("ix_sessions_created_at_id"), table_name="sessions")
    op.drop_index(op.f("ix_sessions_concept_id_created_at"), table_name="sessions")
    op.drop_table("sessions")
    op.drop_table("journal_position")
    op.drop_index(op.f("ix_journal_dead_session_id"), table_name="journal_dead")
    op.drop_table("journal_dead")
    op.drop_table("configurations")
