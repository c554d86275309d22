"""Every table of the store.

`sessions` and what hangs below it are projections of the journal; `session_snapshots` is the latest whole state of
each session, from which it can be continued. Rows below a session go with it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from server.store.types import UtcTime

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}

Id = String(64)
Name = String(100)


class Base(DeclarativeBase):
    """Base of all tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {
        datetime: UtcTime,
        dict[str, Any]: JSON,
        list[Any]: JSON,
        bytes: LargeBinary,
        str: Text,
    }


def _session_id() -> Mapped[str]:
    return mapped_column(Id, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)


class SessionRow(Base):
    """One interview. `seed` is text because it may exceed what a signed integer holds."""

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    concept_id: Mapped[str] = mapped_column(Name)
    concept_name: Mapped[str]
    methodology: Mapped[str] = mapped_column(Name)
    engine: Mapped[str] = mapped_column(Name)
    language: Mapped[str] = mapped_column(Name)
    max_turns: Mapped[int]
    seed: Mapped[str] = mapped_column(String(40))
    config_hash: Mapped[str] = mapped_column(String(128))
    respondent_ref: Mapped[str | None]
    pilot: Mapped[bool]
    state: Mapped[str] = mapped_column(String(20))
    state_reason: Mapped[str]
    paused_by: Mapped[str | None] = mapped_column(String(20))
    claimed_by: Mapped[str | None]
    rev: Mapped[int] = mapped_column(BigInteger)
    turn_count: Mapped[int]
    node_count: Mapped[int]
    edge_count: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    settings: Mapped[dict[str, Any]]
    question: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    node_tracker_state: Mapped[dict[str, Any]]
    focus_history: Mapped[list[Any]]
    strategy_history: Mapped[list[Any]]
    depths: Mapped[list[Any]]
    engagements: Mapped[list[Any]] = mapped_column(server_default=text("'[]'"))
    phase: Mapped[str | None] = mapped_column(Name)
    saturation_score: Mapped[float | None]
    device: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    eligibility: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    surface_velocity: Mapped[dict[str, Any]]
    canonical_velocity: Mapped[dict[str, Any]]
    saturation: Mapped[dict[str, Any]]
    slot_backlog: Mapped[list[Any]]

    __table_args__ = (
        Index(None, "created_at", "id"),
        Index(None, "concept_id", "created_at"),
        Index(None, "state", "updated_at"),
    )


class UtteranceRow(Base):
    """Something said. `speaker` is interviewer, respondent or moderator; `position` counts from 0.

    Of spoken answers, `confidence` is the mean of their words in [0, 1], and `speech_ms` how long they took to say.
    """

    __tablename__ = "utterances"

    session_id: Mapped[str] = _session_id()
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    position: Mapped[int]
    turn_number: Mapped[int]
    speaker: Mapped[str] = mapped_column(String(20))
    kind: Mapped[str] = mapped_column(String(30))
    text: Mapped[str]
    strategy: Mapped[str | None]
    focus_key: Mapped[str | None] = mapped_column(Id)
    fallback: Mapped[bool]
    corrects: Mapped[str | None] = mapped_column(Id)
    spoken: Mapped[bool]
    confidence: Mapped[float | None]
    speech_ms: Mapped[int | None]
    recorded_at: Mapped[datetime]


class AnswerRow(Base):
    """An accepted answer under its turn key. `status`: pending, failed, superseded, committed."""

    __tablename__ = "answers"

    session_id: Mapped[str] = _session_id()
    turn_key: Mapped[str] = mapped_column(String(100), primary_key=True)
    turn_number: Mapped[int]
    status: Mapped[str] = mapped_column(String(20))
    digest: Mapped[str] = mapped_column(String(128))
    attempt: Mapped[int]
    rev: Mapped[int] = mapped_column(BigInteger)
    payload: Mapped[bytes]
    receipt: Mapped[bytes | None]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    accepted_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class NodeRow(Base):
    """A node of the surface graph."""

    __tablename__ = "kg_nodes"

    session_id: Mapped[str] = _session_id()
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    label: Mapped[str]
    node_type: Mapped[str] = mapped_column(Name)
    type_alternatives: Mapped[list[Any]]
    mentions: Mapped[list[Any]]
    source_utterance_ids: Mapped[list[Any]]
    confidence: Mapped[float]
    stance: Mapped[int]
    created_turn: Mapped[int]
    last_mention_turn: Mapped[int]
    sequence: Mapped[int]
    mention_sequence: Mapped[int]
    mention_count: Mapped[int]
    element_ids: Mapped[list[Any]]
    lemmas: Mapped[list[Any]]
    superseded_by: Mapped[str | None] = mapped_column(Id)


class EdgeRow(Base):
    """An edge of the surface graph."""

    __tablename__ = "kg_edges"

    session_id: Mapped[str] = _session_id()
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    source_id: Mapped[str] = mapped_column(Id)
    target_id: Mapped[str] = mapped_column(Id)
    edge_type: Mapped[str] = mapped_column(Name)
    mentions: Mapped[list[Any]]
    source_utterance_ids: Mapped[list[Any]]
    confidence: Mapped[float]
    stance: Mapped[int]
    created_turn: Mapped[int]
    sequence: Mapped[int]

    __table_args__ = (
        ForeignKeyConstraint(
            ["session_id", "source_id"],
            ["kg_nodes.session_id", "kg_nodes.id"],
            ondelete="CASCADE",
            name="fk_kg_edges_source_id",
        ),
        ForeignKeyConstraint(
            ["session_id", "target_id"],
            ["kg_nodes.session_id", "kg_nodes.id"],
            ondelete="CASCADE",
            name="fk_kg_edges_target_id",
        ),
        Index(None, "session_id", "source_id"),
        Index(None, "session_id", "target_id"),
    )


class SlotRow(Base):
    """A slot of the canonical graph."""

    __tablename__ = "canonical_slots"

    session_id: Mapped[str] = _session_id()
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    slot_name: Mapped[str]
    description: Mapped[str]
    node_type: Mapped[str] = mapped_column(Name)
    status: Mapped[str] = mapped_column(String(20))
    support_count: Mapped[int]
    first_seen_turn: Mapped[int]
    promoted_turn: Mapped[int | None]


class MappingRow(Base):
    """Which slot a surface node belongs to."""

    __tablename__ = "surface_to_slot_mapping"

    session_id: Mapped[str] = _session_id()
    surface_node_id: Mapped[str] = mapped_column(Id, primary_key=True)
    canonical_slot_id: Mapped[str] = mapped_column(Id)
    similarity: Mapped[float]
    assigned_turn: Mapped[int]

    __table_args__ = (
        ForeignKeyConstraint(
            ["session_id", "surface_node_id"],
            ["kg_nodes.session_id", "kg_nodes.id"],
            ondelete="CASCADE",
            name="fk_surface_to_slot_mapping_surface_node_id",
        ),
        ForeignKeyConstraint(
            ["session_id", "canonical_slot_id"],
            ["canonical_slots.session_id", "canonical_slots.id"],
            ondelete="CASCADE",
            name="fk_surface_to_slot_mapping_canonical_slot_id",
        ),
        Index(None, "session_id", "canonical_slot_id"),
    )


class CanonicalEdgeRow(Base):
    """An edge of the canonical graph."""

    __tablename__ = "canonical_edges"

    session_id: Mapped[str] = _session_id()
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    source_slot_id: Mapped[str] = mapped_column(Id)
    target_slot_id: Mapped[str] = mapped_column(Id)
    edge_type: Mapped[str] = mapped_column(Name)
    support_count: Mapped[int]
    surface_edge_ids: Mapped[list[Any]]

    __table_args__ = (
        ForeignKeyConstraint(
            ["session_id", "source_slot_id"],
            ["canonical_slots.session_id", "canonical_slots.id"],
            ondelete="CASCADE",
            name="fk_canonical_edges_source_slot_id",
        ),
        ForeignKeyConstraint(
            ["session_id", "target_slot_id"],
            ["canonical_slots.session_id", "canonical_slots.id"],
            ondelete="CASCADE",
            name="fk_canonical_edges_target_slot_id",
        ),
        Index(None, "session_id", "source_slot_id"),
        Index(None, "session_id", "target_slot_id"),
    )


class TensionRow(Base):
    """Something the methodology's schema had no place for."""

    __tablename__ = "schema_tensions"

    session_id: Mapped[str] = _session_id()
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    position: Mapped[int]
    turn_number: Mapped[int]
    utterance_id: Mapped[str] = mapped_column(Id)
    source: Mapped[str]
    target: Mapped[str | None]
    type: Mapped[str] = mapped_column(Name)
    quote: Mapped[str]
    reason: Mapped[str]


class ConsentRow(Base):
    """What the respondent agreed to, per version of the text."""

    __tablename__ = "consents"

    session_id: Mapped[str] = _session_id()
    version: Mapped[str] = mapped_column(Name, primary_key=True)
    choices: Mapped[dict[str, Any]]
    given_at: Mapped[datetime]


class ScoringRow(Base):
    """What was decided in a turn, with the decomposition of the first candidates."""

    __tablename__ = "scoring_history"

    session_id: Mapped[str] = _session_id()
    turn_number: Mapped[int] = mapped_column(primary_key=True)
    turn_key: Mapped[str] = mapped_column(String(100))
    recorded_at: Mapped[datetime]
    strategy: Mapped[str | None]
    node_key: Mapped[str | None] = mapped_column(Id)
    node_id: Mapped[str | None] = mapped_column(Id)
    phase: Mapped[str | None] = mapped_column(Name)
    depth_score: Mapped[float | None]
    saturation_score: Mapped[float | None]
    has_methodology_signals: Mapped[bool]
    should_continue: Mapped[bool]
    reason: Mapped[str]
    candidates: Mapped[list[Any]]
    candidate_count: Mapped[int]
    ratings: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    saturation: Mapped[dict[str, Any]]
    stages_ms: Mapped[dict[str, Any]]
    fallback: Mapped[bool]
    fallbacks: Mapped[list[Any]]
    directive: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))


class SignalsRow(Base):
    """The signal matrix of a turn: enough to make the same choice again."""

    __tablename__ = "signals"

    session_id: Mapped[str] = _session_id()
    turn_number: Mapped[int] = mapped_column(primary_key=True)
    matrix: Mapped[dict[str, Any]]


class LLMCallRow(Base):
    """One call of a language model. `turn_number` is that of the write which put it on record, 0 for the opening.

    `ordinal` is its place among the calls that were put on record together; tokens are None where the provider told
    none, `cost` is None for a model without a price.
    """

    __tablename__ = "llm_calls"

    session_id: Mapped[str] = _session_id()
    id: Mapped[str] = mapped_column(Id, primary_key=True)
    turn_number: Mapped[int | None]
    ordinal: Mapped[int]
    role: Mapped[str] = mapped_column(Name)
    task: Mapped[str] = mapped_column(Name)
    provider: Mapped[str] = mapped_column(Name)
    model: Mapped[str]
    attempt: Mapped[int]
    outcome: Mapped[str] = mapped_column(String(20))
    error: Mapped[str | None]
    input_tokens: Mapped[int | None] = mapped_column(BigInteger)
    output_tokens: Mapped[int | None] = mapped_column(BigInteger)
    cached_tokens: Mapped[int | None] = mapped_column(BigInteger)
    latency_ms: Mapped[float]
    first_token_ms: Mapped[float | None]
    cost: Mapped[float | None]
    currency: Mapped[str | None] = mapped_column(String(20))
    recorded_at: Mapped[datetime]


class ModeratorActionRow(Base):
    """What a moderator did, who and when."""

    __tablename__ = "moderator_actions"

    session_id: Mapped[str] = _session_id()
    command_id: Mapped[str] = mapped_column(String(100), primary_key=True)
    action: Mapped[str] = mapped_column(Name)
    moderator: Mapped[str]
    turn_number: Mapped[int | None]
    recorded_at: Mapped[datetime]
    details: Mapped[dict[str, Any]]


class TokenRow(Base):
    """A token, of which only the hash is kept.

    `concepts` limits it, None stands for all. A respondent's token is made before the session's row is there, so
    `session_id` is no foreign key; erasing removes it by name.
    """

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(Id, primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str]
    session_id: Mapped[str | None] = mapped_column(Id, index=True)
    concepts: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class ConfigurationRow(Base):
    """A configuration that sessions are pinned to, by its content hash."""

    __tablename__ = "configurations"

    hash: Mapped[str] = mapped_column(String(128), primary_key=True)
    content: Mapped[str]
    created_at: Mapped[datetime]


class SnapshotRow(Base):
    """The latest whole state of a session, packed as in the journal."""

    __tablename__ = "session_snapshots"

    session_id: Mapped[str] = _session_id()
    rev: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[bytes]


class PositionRow(Base):
    """How far a partition's journal is stored; moves by compare-and-set in the transaction of the rows."""

    __tablename__ = "journal_position"

    partition: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    last_id: Mapped[str] = mapped_column(String(64))


class DeadRow(Base):
    """A journal record that could not be stored, as it was; `error` says why in the program's words."""

    __tablename__ = "journal_dead"

    partition: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    session_id: Mapped[str] = mapped_column(Id, index=True)
    kind: Mapped[str] = mapped_column(String(20))
    rev: Mapped[int] = mapped_column(BigInteger)
    turn_key: Mapped[str] = mapped_column(String(100))
    error: Mapped[str]
    payload: Mapped[bytes]
    packed_state: Mapped[bytes]
    packed_data: Mapped[bytes]
    failed_at: Mapped[datetime]
