"""Sessions as they are now, read without taking them over."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from pipeline.concept import SessionConfiguration
from pipeline.outcome import progress
from pipeline.state import InterviewState
from server.auth import Principal
from server.errors import ApiError
from server.export.material import Material, Row, iso, public_utterance_rows, session_row
from server.hot.errors import Gone, SessionNotHot
from server.hot.redis import HotStore
from server.store.repository import Repository

if TYPE_CHECKING:
    from server.parts import Parts


class Sources(Protocol):
    """Where sessions are read from."""

    @property
    def hot(self) -> HotStore:
        """Sessions that run or ran lately."""
        ...

    @property
    def store(self) -> Repository:
        """All sessions."""
        ...


async def load_state(parts: Sources, session_id: str) -> InterviewState:
    """The latest committed state, from hot storage or the store.

    Raises:
        ApiError: `not_found`, there is no such session or it was erased.
    """
    try:
        return InterviewState.load((await parts.hot.read(session_id)).state)
    except Gone:
        raise ApiError("not_found", "There is no such interview, or it was erased.") from None
    except SessionNotHot:
        stored = await parts.store.stored_session(session_id)
    if stored is None:
        raise ApiError("not_found", "There is no such interview, or it was erased.")
    return InterviewState.load(stored.state)


async def load_visible(parts: Sources, session_id: str, principal: Principal) -> InterviewState:
    """The same, for a moderator within whose scope the session's concept is. Raises ApiError `forbidden`."""
    state = await load_state(parts, session_id)
    if principal.kind == "moderator" and not principal.may_see(state.concept_id):
        raise ApiError("forbidden", "This concept is not within the scope of the token.")
    return state


async def load_configuration(parts: Sources, state: InterviewState) -> SessionConfiguration:
    """The configuration the session is pinned to."""
    found = await parts.store.load_configuration(state.config_hash)
    if found is None:
        raise ApiError("internal", "The configuration of this interview is missing.")
    return found


async def load_material(parts: Sources, session_id: str, principal: Principal) -> Material:
    """Everything about a session."""
    state = await load_visible(parts, session_id, principal)
    return Material(
        state=state,
        configuration=await load_configuration(parts, state),
        turns=plain(await parts.store.scores(session_id)),
        actions=plain(await parts.store.moderator_actions(session_id)),
        calls=plain(await parts.store.llm_calls(session_id)),
        usage=await parts.store.usage(session_id),
    )


def plain(rows: Iterable[Row]) -> list[Row]:
    """Rows without the session's id, moments as text."""
    return [
        {
            name: iso(value) if isinstance(value, datetime) else value
            for name, value in row.items()
            if name != "session_id"
        }
        for row in rows
    ]


def speech_view(parts: Parts, state: InterviewState, configuration: SessionConfiguration) -> dict[str, Any]:
    """How a respondent may speak, and what the page is to do with the microphone."""
    concept, speech = configuration.concept, parts.settings.speech
    reason = parts.speech.unavailable(state.language)
    review = state.settings.get("review_transcript")
    return {
        "available": reason is None,
        "reason": reason,
        "patience": state.settings.get("patience") or concept.patience or speech.patience,
        "max_answer_s": concept.max_answer_s or speech.max_answer_s,
        "review_transcript": concept.review_transcript if review is None else review,
        "record_audio": concept.record_audio,
        "barge_in": speech.barge_in and not (state.device is not None and concept.kiosk.half_duplex),
        "echo_cancellation": {"spoken": None, "on": True, "off": False}[speech.echo_cancellation],
        "noise_suppression": speech.noise_suppression,
        "auto_gain_control": speech.auto_gain_control,
    }


def respondent_view(parts: Parts, state: InterviewState, configuration: SessionConfiguration) -> dict[str, Any]:
    """What the respondent's own page needs."""
    concept = configuration.concept
    consent = concept.consent
    return {
        "id": state.session_id,
        "state": state.status,
        "reason": state.status_reason,
        "concept": {"id": concept.id, "name": concept.name, "title": concept.title or concept.name},
        "language": state.language,
        "languages": sorted(concept.languages, key=lambda name: (name != state.language, name)),
        "consent": {
            "text": consent.text if consent else "",
            "version": consent.version if consent else "",
            "required": bool(consent and consent.required),
            "given": state.consent is not None,
        },
        "turn_number": state.turn_count,
        "max_turns": state.max_turns,
        "progress": progress(state.turn_count, state.max_turns, state.status),
        "closing_text": configuration.closing_text,
        "withdrawn_text": configuration.withdrawn_text,
        "helpline_text": concept.helpline_text,
        "stimulus": concept.stimulus,
        "question": state.question.text if state.question else None,
        "transcript": public_utterance_rows(state),
        "speech": speech_view(parts, state, configuration),
    }


def session_view(state: InterviewState) -> dict[str, Any]:
    """What a moderator sees of one session's state, graphs and transcript apart."""
    return {
        **session_row(state),
        "progress": progress(state.turn_count, state.max_turns, state.status),
        "config_hash": state.config_hash,
        "seed": str(state.seed),
        "consent": state.consent.model_dump(mode="json") if state.consent else None,
        "paused_by": state.paused_by,
        "claimed_by": state.claimed_by,
        "question": state.question.model_dump(mode="json") if state.question else None,
        "focus_history": [entry.model_dump(mode="json") for entry in state.focus_history],
        "strategy_history": list(state.strategy_history),
        "saturation": state.saturation.model_dump(mode="json"),
        "depths": list(state.depths),
        "engagements": list(state.engagements),
        "phase": state.phase,
        "saturation_score": state.saturation_score,
        "settings": state.settings,
    }


def moderator_view(material: Material, recordings: list[dict[str, Any]]) -> dict[str, Any]:
    """What a moderator sees of one session; `recordings` are the files with what was said."""
    return {
        **session_view(material.state),
        "usage": material.usage.model_dump(),
        "moderator_actions": list(material.actions),
        "recordings": recordings,
    }


def now_view(state: InterviewState, answered: int | None = None) -> dict[str, Any]:
    """State and the question that waits, or the closing statement; of the turn that was answered, if it is given."""
    question: dict[str, Any] | None = None
    said = [
        u for u in state.utterances if u.speaker == "interviewer" and (answered is None or u.turn_number == answered)
    ]
    if said:
        last = said[-1]
        question = {
            "turn_number": last.turn_number,
            "text": last.text,
            "fallback": last.fallback,
            "closing": last.kind == "closing",
        }
    return {"session_id": state.session_id, "state": state.status, "question": question}
