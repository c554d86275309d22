"""Every table of the store.

`sessions` and the tables that refer to it are projections of the journal; `session_snapshots` holds the latest whole
state of each session, from which it can be continued. Rows that refer to a session are deleted with it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

Row = dict[str, Any]
"""A row by column name."""

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Id = String(64)
Name = String(100)
NullableJson = JSON(none_as_null=True)
Digest = String(64)


class UtcTime(TypeDecorator[datetime]):
    """A moment with time zone; kept in UTC, also where the database knows no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC. Raises ValueError for one without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without time zone can't be stored")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment in UTC."""
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


def _session_id() -> Column[Any]:
    return Column("session_id", Id, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True)


def _reference(owner: str, column: str, target: str) -> ForeignKeyConstraint:
    """A column of `owner` holds the id of a row of `target` that belongs to the same session."""
    return ForeignKeyConstraint(
        ["session_id", column],
        [f"{target}.session_id", f"{target}.id"],
        ondelete="CASCADE",
        name=f"fk_{owner}_{column}",
    )


SESSIONS = Table(
    "sessions",
    METADATA,
    Column("id", Id, primary_key=True),
    Column("concept_id", Name, nullable=False),
    Column("concept_name", Text, nullable=False),
    Column("methodology", Name, nullable=False),
    Column("engine", Name, nullable=False),
    Column("language", Name, nullable=False),
    Column("max_turns", Integer, nullable=False),
    Column("seed", String(40), nullable=False),
    Column("config_hash", String(128), nullable=False),
    Column("respondent_ref", Text),
    Column("pilot", Boolean, nullable=False),
    Column("state", String(20), nullable=False),
    Column("state_reason", Text, nullable=False),
    Column("paused_by", String(20)),
    Column("claimed_by", Text),
    Column("rev", BigInteger, nullable=False),
    Column("turn_count", Integer, nullable=False),
    Column("node_count", Integer, nullable=False),
    Column("edge_count", Integer, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("settings", JSON, nullable=False),
    Column("question", NullableJson),
    Column("node_tracker_state", JSON, nullable=False),
    Column("focus_history", JSON, nullable=False),
    Column("strategy_history", JSON, nullable=False),
    Column("depths", JSON, nullable=False),
    Column("engagements", JSON, nullable=False, server_default=text("'[]'")),
    Column("phase", Name),
    Column("saturation_score", Double),
    Column("device", NullableJson),
    Column("eligibility", JSON, nullable=False, server_default=text("'{}'")),
    Column("surface_velocity", JSON, nullable=False),
    Column("canonical_velocity", JSON, nullable=False),
    Column("saturation", JSON, nullable=False),
    Column("slot_backlog", JSON, nullable=False),
    *(
        Column(name, JSON, nullable=False, server_default=text("'[]'"))
        for name in ("qualities", "coverage", "threads", "guide")
    ),
    *(Column(name, JSON, nullable=False, server_default=text("'{}'")) for name in ("momentum", "engine_state", "grid")),
    Column("conduct", JSON, nullable=False, server_default=text("'{}'")),
    Column("stopped_question", NullableJson),
    Index(None, "created_at", "id"),
    Index(None, "concept_id", "created_at"),
    Index(None, "state", "updated_at"),
)
"""One interview. `seed` is text because it may exceed what a signed integer holds."""

UTTERANCES = Table(
    "utterances",
    METADATA,
    _session_id(),
    Column("id", Id, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("turn_number", Integer, nullable=False),
    Column("speaker", String(20), nullable=False),
    Column("kind", String(30), nullable=False),
    Column("text", Text, nullable=False),
    Column("strategy", Text),
    Column("focus_key", Id),
    Column("fallback", Boolean, nullable=False),
    Column("corrects", Id),
    Column("spoken", Boolean, nullable=False),
    Column("confidence", Double),
    Column("speech_ms", Integer),
    Column("second_reading", Text),
    Column("recorded_at", UtcTime, nullable=False),
    Column("acts", JSON, nullable=False, server_default=text("'[]'")),
    Column("replies_to", String(30)),
)
"""Something said. `speaker` is interviewer, respondent or moderator; `position` counts from 0.

Of spoken answers, `confidence` is the mean of their words in [0, 1], `speech_ms` how long they took to say, and
`second_reading` what was understood otherwise when the whole was read once more.
"""

ANSWERS = Table(
    "answers",
    METADATA,
    _session_id(),
    Column("turn_key", String(100), primary_key=True),
    Column("turn_number", Integer, nullable=False),
    Column("status", String(20), nullable=False),
    Column("digest", String(128), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("rev", BigInteger, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("receipt", LargeBinary),
    Column("error", NullableJson),
    Column("accepted_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
)
"""An accepted answer under its turn key. `status`: pending, failed, superseded, committed."""

NODES = Table(
    "kg_nodes",
    METADATA,
    _session_id(),
    Column("id", Id, primary_key=True),
    Column("label", Text, nullable=False),
    Column("node_type", Name, nullable=False),
    Column("type_alternatives", JSON, nullable=False),
    Column("mentions", JSON, nullable=False),
    Column("source_utterance_ids", JSON, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("stance", Integer, nullable=False),
    Column("salience", Integer),
    Column("emotion", Integer),
    Column("created_turn", Integer, nullable=False),
    Column("last_mention_turn", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("mention_sequence", Integer, nullable=False),
    Column("mention_count", Integer, nullable=False),
    Column("element_ids", JSON, nullable=False),
    Column("lemmas", JSON, nullable=False),
    Column("superseded_by", Id),
)
"""A node of the surface graph."""

EDGES = Table(
    "kg_edges",
    METADATA,
    _session_id(),
    Column("id", Id, primary_key=True),
    Column("source_id", Id, nullable=False),
    Column("target_id", Id, nullable=False),
    Column("edge_type", Name, nullable=False),
    Column("mentions", JSON, nullable=False),
    Column("source_utterance_ids", JSON, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("basis", String(16), nullable=False, server_default="unrecorded"),
    Column("skips", Boolean, nullable=False, server_default=false()),
    Column("stance", Integer, nullable=False),
    Column("created_turn", Integer, nullable=False),
    Column("sequence", Integer, nullable=False),
    _reference("kg_edges", "source_id", "kg_nodes"),
    _reference("kg_edges", "target_id", "kg_nodes"),
    Index(None, "session_id", "source_id"),
    Index(None, "session_id", "target_id"),
)
"""An edge of the surface graph."""

SLOTS = Table(
    "canonical_slots",
    METADATA,
    _session_id(),
    Column("id", Id, primary_key=True),
    Column("slot_name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("node_type", Name, nullable=False),
    Column("status", String(20), nullable=False),
    Column("support_count", Integer, nullable=False),
    Column("first_seen_turn", Integer, nullable=False),
    Column("promoted_turn", Integer),
)
"""A slot of the canonical graph."""

MAPPINGS = Table(
    "surface_to_slot_mapping",
    METADATA,
    _session_id(),
    Column("surface_node_id", Id, primary_key=True),
    Column("canonical_slot_id", Id, nullable=False),
    Column("similarity", Double, nullable=False),
    Column("assigned_turn", Integer, nullable=False),
    _reference("surface_to_slot_mapping", "surface_node_id", "kg_nodes"),
    _reference("surface_to_slot_mapping", "canonical_slot_id", "canonical_slots"),
    Index(None, "session_id", "canonical_slot_id"),
)
"""Which slot a surface node belongs to."""

CANONICAL_EDGES = Table(
    "canonical_edges",
    METADATA,
    _session_id(),
    Column("id", Id, primary_key=True),
    Column("source_slot_id", Id, nullable=False),
    Column("target_slot_id", Id, nullable=False),
    Column("edge_type", Name, nullable=False),
    Column("support_count", Integer, nullable=False),
    Column("surface_edge_ids", JSON, nullable=False),
    _reference("canonical_edges", "source_slot_id", "canonical_slots"),
    _reference("canonical_edges", "target_slot_id", "canonical_slots"),
    Index(None, "session_id", "source_slot_id"),
    Index(None, "session_id", "target_slot_id"),
)
"""An edge of the canonical graph."""

TENSIONS = Table(
    "schema_tensions",
    METADATA,
    _session_id(),
    Column("id", Id, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("turn_number", Integer, nullable=False),
    Column("utterance_id", Id, nullable=False),
    Column("source", Text, nullable=False),
    Column("target", Text),
    Column("type", Name, nullable=False),
    Column("quote", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("node_ids", JSON, nullable=False, server_default=text("'[]'")),
)
"""Something said that the methodology's schema has no type for."""

CONSENTS = Table(
    "consents",
    METADATA,
    _session_id(),
    Column("version", Name, primary_key=True),
    Column("choices", JSON, nullable=False),
    Column("given_at", UtcTime, nullable=False),
)
"""What the respondent agreed to, per version of the text."""

SCORING = Table(
    "scoring_history",
    METADATA,
    _session_id(),
    Column("turn_number", Integer, primary_key=True),
    Column("turn_key", String(100), nullable=False),
    Column("recorded_at", UtcTime, nullable=False),
    Column("strategy", Text),
    Column("node_key", Id),
    Column("node_id", Id),
    Column("phase", Name),
    Column("depth_score", Double),
    Column("saturation_score", Double),
    Column("has_methodology_signals", Boolean, nullable=False),
    Column("should_continue", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("candidates", JSON, nullable=False),
    Column("candidate_count", Integer, nullable=False),
    Column("ratings", NullableJson),
    Column("saturation", JSON, nullable=False),
    Column("stages_ms", JSON, nullable=False),
    Column("fallback", Boolean, nullable=False),
    Column("fallbacks", JSON, nullable=False),
    Column("directive", NullableJson),
    Column("target", NullableJson),
    Column("tactic", Text, nullable=False, server_default=text("''")),
    Column("scores", JSON, nullable=False, server_default=text("'{}'")),
    Column("inputs", JSON, nullable=False, server_default=text("'{}'")),
    Column("question", JSON, nullable=False, server_default=text("'{}'")),
)
"""What was decided in a turn, with the decomposition of the first candidates."""

SIGNALS = Table(
    "signals",
    METADATA,
    _session_id(),
    Column("turn_number", Integer, primary_key=True),
    Column("matrix", JSON, nullable=False),
)
"""The signal matrix of a turn: enough to make the same choice again."""

LLM_CALLS = Table(
    "llm_calls",
    METADATA,
    _session_id(),
    Column("id", Id, primary_key=True),
    Column("turn_number", Integer),
    Column("ordinal", Integer, nullable=False),
    Column("role", Name, nullable=False),
    Column("task", Name, nullable=False),
    Column("provider", Name, nullable=False),
    Column("model", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("error", Text),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cached_tokens", BigInteger),
    Column("latency_ms", Double, nullable=False),
    Column("first_token_ms", Double),
    Column("cost", Double),
    Column("currency", String(20)),
    Column("recorded_at", UtcTime, nullable=False),
)
"""One call of a language model. `turn_number` is that of the write which put it on record, 0 for the opening.

`ordinal` is its place among the calls that were put on record together; tokens are None where the provider told
none, `cost` is None for a model without a price.
"""

MODERATOR_ACTIONS = Table(
    "moderator_actions",
    METADATA,
    _session_id(),
    Column("command_id", String(100), primary_key=True),
    Column("action", Name, nullable=False),
    Column("moderator", Text, nullable=False),
    Column("turn_number", Integer),
    Column("recorded_at", UtcTime, nullable=False),
    Column("details", JSON, nullable=False),
)
"""What a moderator did, who and when."""

TOKENS = Table(
    "tokens",
    METADATA,
    Column("id", Id, primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("session_id", Id, index=True),
    Column("concepts", NullableJson),
    Column("created_at", UtcTime, nullable=False),
    Column("revoked_at", UtcTime),
    Column("created_by", Id, index=True),
)
"""A token, of which only the hash is kept. `created_by` is the id of the token with which it was made, `root` for the
installation's own; None for respondents' tokens.

`concepts` limits it, None stands for all. A respondent's token is made before the session's row is there, so
`session_id` is no foreign key; erasing removes it by name.
"""

LOGINS = Table(
    "logins",
    METADATA,
    Column("id", Id, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("token_id", Id, nullable=False, index=True),
    Column("token_digest", String(64), nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime, nullable=False, index=True),
)
"""A login of a moderator: the hash of its cookie, and the token that it was made with. Its end is its removal."""

CONFIGURATIONS = Table(
    "configurations",
    METADATA,
    Column("hash", String(128), primary_key=True),
    Column("content", Text, nullable=False),
    Column("created_at", UtcTime, nullable=False),
)
"""A configuration that sessions are pinned to, by its content hash."""

SNAPSHOTS = Table(
    "session_snapshots",
    METADATA,
    _session_id(),
    Column("rev", BigInteger, nullable=False),
    Column("state", LargeBinary, nullable=False),
)
"""The latest whole state of a session, packed as in the journal."""

JOURNAL_POSITIONS = Table(
    "journal_position",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("last_id", String(64), nullable=False),
)
"""How far a partition's journal is stored; moves by compare-and-set in the transaction of the rows."""

DEAD_RECORDS = Table(
    "journal_dead",
    METADATA,
    Column("partition", Integer, primary_key=True, autoincrement=False),
    Column("id", String(64), primary_key=True),
    Column("session_id", Id, nullable=False, index=True),
    Column("kind", String(20), nullable=False),
    Column("rev", BigInteger, nullable=False),
    Column("turn_key", String(100), nullable=False),
    Column("error", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("packed_state", LargeBinary, nullable=False),
    Column("packed_data", LargeBinary, nullable=False),
    Column("failed_at", UtcTime, nullable=False),
)
"""A journal record that could not be stored, as it was; `error` says why in the program's words."""

SYNC_SENT = Table(
    "sync_sent",
    METADATA,
    Column("session_id", Id, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("target", String(500), primary_key=True),
    Column("digest", Digest, nullable=False),
    Column("rev", BigInteger, nullable=False),
    Column("call_count", Integer, nullable=False),
    Column("confirmed_at", UtcTime, nullable=False),
)
"""A session as another server confirmed to have it: at this revision, with so many calls on record."""

SYNC_RECEIVED = Table(
    "sync_received",
    METADATA,
    Column("session_id", Id, primary_key=True),
    Column("digest", Digest, nullable=False),
    Column("rev", BigInteger, nullable=False),
    Column("device_id", Id, nullable=False),
    Column("device_name", Text, nullable=False),
    Column("clock_skew_s", Double),
    Column("received_at", UtcTime, nullable=False),
    Column("recordings", JSON, nullable=False, server_default=text("'[]'")),
)
"""A session that came from a device. It stays, without content, when the session is erased.

`clock_skew_s` is by how much the device's clock was ahead of ours, `recordings` are the names of its files.
"""

SYNC_VERSIONS = Table(
    "sync_versions",
    METADATA,
    Column("session_id", Id, primary_key=True),
    Column("digest", Digest, primary_key=True),
    Column("rev", BigInteger, nullable=False),
    Column("device_id", Id, nullable=False),
    Column("device_name", Text, nullable=False),
    Column("received_at", UtcTime, nullable=False),
    Column("kept_at", UtcTime, nullable=False),
    Column("recordings", JSON, nullable=False),
    Column("packed_rows", LargeBinary, nullable=False),
)
"""A session as a device sent it, where it also sent a later state of it, which is the one in `sessions`.

`digest` is that of its bundle, `kept_at` when the later state came, or this one after it. `packed_rows` are its rows as
compressed lines of JSON, `recordings` the names of its files. It goes with the session when that is erased; it is no
row below `sessions`, because its session is written anew when a later state comes.
"""

SYNC_UPLOADS = Table(
    "sync_uploads",
    METADATA,
    Column("device_id", Id, primary_key=True),
    Column("session_id", Id, primary_key=True),
    Column("digest", Digest, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("received", BigInteger, nullable=False),
    Column("clock_skew_s", Double),
    Column("touched_at", UtcTime, nullable=False),
    Index(None, "touched_at"),
    Index(None, "session_id"),
)
"""A session on its way here: of `size` bytes the first `received` are there, as chunks."""

SYNC_CHUNKS = Table(
    "sync_chunks",
    METADATA,
    Column("device_id", Id, primary_key=True),
    Column("session_id", Id, primary_key=True),
    Column("digest", Digest, primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["device_id", "session_id", "digest"],
        ["sync_uploads.device_id", "sync_uploads.session_id", "sync_uploads.digest"],
        ondelete="CASCADE",
        name="fk_sync_chunks_device_id",
    ),
)
"""A piece of a session on its way here, which begins at byte `start`."""
