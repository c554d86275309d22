"""Which rows follow from a session's state and from the record of a turn. Pure functions: no database is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Table

from pipeline.state import InterviewState
from server.store.tables import (
    CANONICAL_EDGES,
    CONSENTS,
    EDGES,
    MAPPINGS,
    MODERATOR_ACTIONS,
    NODES,
    SCORING,
    SESSIONS,
    SIGNALS,
    SLOTS,
    TENSIONS,
    UTTERANCES,
    Row,
)

_MAX_INT = 2**31 - 1
_MAX_TOKENS = 2**53 - 1
_MAX_WORDS = 500
_MAX_NUMBER = 1e15


@dataclass(frozen=True, slots=True)
class RowChange:
    """What to write into and to remove from one table; removals are primary keys."""

    table: Table
    upserts: list[Row] = field(default_factory=list)
    removals: list[Row] = field(default_factory=list)


def changes(before: InterviewState | None, after: InterviewState) -> list[RowChange]:
    """What turns the rows of `before` into those of `after`, in the order of PROJECTED; all rows without `before`.

    A consent is never removed: what was agreed to stays on record when another version is agreed to.
    """
    if before == after:
        return []
    found: list[RowChange] = []
    for part in _PROJECTIONS:
        known = part.known(before)
        new = part.known(after)
        upserts = [part.row(after, *entry) for key, entry in new.items() if known.get(key) != entry]
        gone = () if part.kept else (key for key in known if key not in new)
        removals = [{"session_id": after.session_id, part.key: key} for key in gone]
        if upserts or removals:
            found.append(RowChange(part.table, upserts, removals))
    return found


def turn_rows(session_id: str, turn: Mapping[str, Any]) -> list[RowChange]:
    """The rows of one turn's record, as JSON: decision and signals.

    Raises:
        KeyError, TypeError, ValueError: it is no turn record.
    """
    number = int(turn["turn_number"])
    scoring = {
        "session_id": session_id,
        "turn_number": number,
        "turn_key": turn["turn_key"],
        "recorded_at": datetime.fromisoformat(turn["recorded_at"]),
        **{name: turn.get(name) for name in ("strategy", "node_key", "node_id", "phase", "depth_score")},
        **{name: turn.get(name) for name in ("saturation_score", "ratings")},
        "has_methodology_signals": bool(turn.get("has_methodology_signals")),
        "should_continue": bool(turn["should_continue"]),
        "reason": turn.get("reason") or "",
        "candidates": list(turn.get("candidates") or ()),
        "candidate_count": int(turn.get("candidate_count") or 0),
        "saturation": turn.get("saturation") or {},
        "stages_ms": turn.get("stages_ms") or {},
        "fallback": bool(turn.get("fallback")),
        "fallbacks": list(turn.get("fallbacks") or ()),
        "directive": turn.get("directive"),
        "target": turn.get("target"),
        "tactic": turn.get("tactic") or "",
        "scores": turn.get("scores") or {},
        "inputs": turn.get("inputs") or {},
        "question": turn.get("question") or {},
    }
    found = [RowChange(SCORING, [scoring])]
    if turn.get("signals"):
        row = {"session_id": session_id, "turn_number": number, "matrix": turn["signals"]}
        found.append(RowChange(SIGNALS, [row]))
    return found


def call_rows(session_id: str, calls: Sequence[Mapping[str, Any]], turn_number: int | None, at: datetime) -> list[Row]:
    """The rows of calls of language models.

    What providers report is cut to what the columns hold, so that it can't keep a turn from being stored.

    Args:
        session_id: the session.
        calls: `pipeline.calls.LLMCall` as JSON; fields that are unknown here are left out.
        turn_number: of the write that puts them on record, for calls that do not say which turn they were made for.
        at: when that was.

    Raises:
        KeyError, TypeError: it is no such list.
    """
    return [
        {
            "session_id": session_id,
            "id": _words(call["id"], 64),
            "turn_number": turn_number if call.get("turn_number") is None else _count(call["turn_number"], _MAX_INT),
            "ordinal": ordinal,
            **{name: _words(call.get(name), 100) or "" for name in ("role", "task", "provider")},
            "model": _words(call.get("model")) or "",
            "attempt": _count(call.get("attempt"), _MAX_INT) or 1,
            "outcome": _words(call.get("outcome"), 20) or "",
            "error": _words(call.get("error")),
            **{name: _count(call.get(name)) for name in ("input_tokens", "output_tokens", "cached_tokens")},
            "latency_ms": _number(call.get("latency_ms")) or 0.0,
            **{name: _number(call.get(name)) for name in ("first_token_ms", "cost")},
            "currency": _words(call.get("currency"), 20),
            "recorded_at": at,
        }
        for ordinal, call in enumerate(calls)
    ]


def _words(value: Any, length: int = _MAX_WORDS) -> str | None:
    if value is None:
        return None
    return str(value).replace("\x00", "").encode("utf-8", "replace").decode()[:length]


def _count(value: Any, highest: int = _MAX_TOKENS) -> int | None:
    return value if type(value) is int and 0 <= value <= highest else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < _MAX_NUMBER else None


def action_rows(session_id: str, action: Mapping[str, Any], at: datetime) -> list[RowChange]:
    """The row of a moderator's action.

    Args:
        session_id: the session.
        action: `command_id`, `type` of the command, `who` gave it, optionally `turn_number` and `at` (ISO 8601);
            everything else goes into `details`.
        at: when, if the action doesn't say.

    Raises:
        KeyError: `command_id` or `type` is missing.
    """
    known = ("command_id", "type", "who", "turn_number", "at")
    details = {name: value for name, value in action.items() if name not in known}
    recorded_at = action.get("at")
    row = {
        "session_id": session_id,
        "command_id": action["command_id"],
        "action": action["type"],
        "moderator": action.get("who") or "",
        "turn_number": action.get("turn_number"),
        "recorded_at": datetime.fromisoformat(recorded_at) if recorded_at else at,
        "details": details,
    }
    return [RowChange(MODERATOR_ACTIONS, [row])]


def _session(state: InterviewState, record: Any) -> Row:
    plain = state.model_dump(mode="json", include=_SESSION_JSON)
    return {
        "id": state.session_id,
        **{name: getattr(state, name) for name in _SESSION_COLUMNS},
        **plain,
        "seed": str(state.seed),
        "state": state.status,
        "state_reason": state.status_reason,
        "node_count": len(state.nodes),
        "edge_count": len(state.edges),
        "node_tracker_state": state.tracker.model_dump(mode="json"),
    }


_SESSION_COLUMNS = (
    *("concept_id", "concept_name", "methodology", "engine", "language", "max_turns", "config_hash"),
    *("respondent_ref", "pilot", "paused_by", "claimed_by", "rev", "turn_count", "created_at", "updated_at"),
    *("phase", "saturation_score"),
)
_SESSION_JSON = {
    *("settings", "question", "focus_history", "strategy_history", "depths", "engagements", "device", "eligibility"),
    *("surface_velocity", "canonical_velocity", "saturation", "slot_backlog"),
    *("qualities", "momentum", "coverage", "threads", "guide", "grid", "engine_state", "conduct", "stopped_question"),
}


def _plain(state: InterviewState, record: Any) -> Row:
    """The record's fields; tuples become lists, moments stay as they are."""
    return {"session_id": state.session_id} | {name: _json(value) for name, value in record.model_dump().items()}


def _json(value: Any) -> Any:
    return [_json(item) for item in value] if isinstance(value, tuple | list) else value


def _with_sources(state: InterviewState, record: Any) -> Row:
    return _plain(state, record) | {"source_utterance_ids": list(record.source_utterance_ids)}


def _tension(state: InterviewState, record: Any) -> Row:
    return _plain(state, record) | {"turn_number": record.turn}


@dataclass(frozen=True, slots=True)
class _Projection:
    """How the rows of one table follow from a state.

    `key` is the column that names a row within the session, `ordered` tables have a `position`, rows of `kept`
    tables are never removed.
    """

    table: Table
    items: Callable[[InterviewState], Sequence[Any]]
    key: str = "id"
    make: Callable[[InterviewState, Any], Row] = _plain
    ordered: bool = False
    kept: bool = False

    def known(self, state: InterviewState | None) -> dict[str, tuple[int, Any]]:
        """Records by key, with their position where that is stored."""
        if state is None:
            return {}
        return {
            getattr(item, self.key): (position if self.ordered else 0, item)
            for position, item in enumerate(self.items(state))
        }

    def row(self, state: InterviewState, position: int, item: Any) -> Row:
        """The row without fields that have no column; the snapshot keeps those."""
        row = self.make(state, item)
        if self.ordered:
            row["position"] = position
        return {name: value for name, value in row.items() if name in self.table.columns}


_PROJECTIONS: tuple[_Projection, ...] = (
    _Projection(SESSIONS, lambda state: (state,), key="session_id", make=_session, kept=True),
    _Projection(UTTERANCES, lambda state: state.utterances, ordered=True),
    _Projection(NODES, lambda state: state.nodes, make=_with_sources),
    _Projection(EDGES, lambda state: state.edges, make=_with_sources),
    _Projection(SLOTS, lambda state: state.slots),
    _Projection(MAPPINGS, lambda state: state.mappings, key="surface_node_id"),
    _Projection(CANONICAL_EDGES, lambda state: state.canonical_edges),
    _Projection(TENSIONS, lambda state: state.tensions, make=_tension, ordered=True),
    _Projection(CONSENTS, lambda state: (state.consent,) if state.consent else (), key="version", kept=True),
)

PROJECTED: tuple[Table, ...] = tuple(part.table for part in _PROJECTIONS)
"""Tables that follow from a state alone, those that others refer to first."""
