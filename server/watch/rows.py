"""Overview rows, from a session's state or from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from config.alerts import AlertSettings
from pipeline.signals.llm import DEPTH_POINTS
from pipeline.state import InterviewState
from server.export.material import iso
from server.protocol.watched import Alert, OverviewItem
from server.watch.alerts import Facts

HISTORY = 20
LONGEST_TEXT = 300


def row_of(state: InterviewState, facts: Facts, alerts: Sequence[Alert] = ()) -> OverviewItem:
    """The row of a session that runs on this node."""
    said = state.last_answer()
    return OverviewItem(
        session_id=state.session_id,
        concept_id=state.concept_id,
        concept_name=state.concept_name,
        language=state.language,
        state=state.status,
        reason=state.status_reason,
        phase=state.phase,
        turn_number=state.turn_count,
        max_turns=state.max_turns,
        engagement=tuple(round(value, 3) for value in state.engagements[-HISTORY:]),
        depth=tuple(DEPTH_POINTS[depth] for depth in state.depths[-HISTORY:]),
        saturation=state.saturation_score,
        last_question=_cut(state.question.text if state.question is not None else None),
        last_answer=_cut(said.text if said is not None else None),
        alerts=tuple(alerts),
        connected=facts.connected,
        activity=facts.activity,
        llm="failing" if facts.failing else "ok",
        kiosk=state.device.name if state.device is not None else None,
        claimed_by=state.claimed_by,
        paused_by=state.paused_by,
        waiting=facts.waits_since is not None,
        respondent_ref=state.respondent_ref,
        created_at=str(iso(state.created_at)),
        updated_at=str(iso(state.updated_at)),
    )


def stored_row(row: Mapping[str, Any], settings: AlertSettings, now: datetime) -> OverviewItem:
    """The row of a session as the store has it, without a connected respondent."""
    updated_at: datetime = row["updated_at"]
    left = row["state"] in ("active", "closing") and now - updated_at >= timedelta(
        seconds=settings.alert_disconnected_s
    )
    question, device = row["question"], row["device"]
    return OverviewItem(
        session_id=row["id"],
        **{name: row[name] for name in ("concept_id", "concept_name", "language", "state", "phase", "max_turns")},
        **{name: row[name] for name in ("claimed_by", "paused_by", "respondent_ref")},
        reason=row["state_reason"],
        turn_number=row["turn_count"],
        engagement=tuple(round(float(value), 3) for value in row["engagements"][-HISTORY:]),
        depth=tuple(DEPTH_POINTS[depth] for depth in row["depths"][-HISTORY:]),
        saturation=row["saturation_score"],
        last_question=_cut(question["text"] if question else None),
        last_answer=_cut(row["last_answer"]),
        alerts=(Alert(code="disconnected", since=updated_at.isoformat()),) if left else (),
        kiosk=device["name"] if device else None,
        created_at=str(iso(row["created_at"])),
        updated_at=str(iso(updated_at)),
    )


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
