"""Sessions as JSON for respondents and moderators."""

from __future__ import annotations

from typing import Any

from audio.endpoint import PATIENCE_MS
from pipeline.concept import SessionConfiguration
from pipeline.grid.rating import form_of
from pipeline.outcome import progress
from pipeline.state import InterviewState, Receipt
from server.api.stimulus import image_view
from server.export.material import Material, iso, public_utterance_rows
from server.parts import Parts
from server.reading import session_view
from server.store.copies import Received, Version
from server.watch.elements import coverage_view


def speech_view(parts: Parts, state: InterviewState, configuration: SessionConfiguration) -> dict[str, Any]:
    """Whether and how a respondent may speak, and what the page should set for the microphone."""
    concept, speech = configuration.concept, parts.settings.speech
    reason = parts.speech.unavailable(state.language)
    review = state.settings.get("review_transcript")
    return {
        "available": reason is None,
        "reason": reason,
        "voice": parts.voices.speaks(state.language),
        "patience": state.settings.get("patience") or concept.patience or speech.patience,
        "pauses_s": {name: silence_ms / 1000 for name, silence_ms in PATIENCE_MS.items()},
        "reopen_s": speech.reopen_s,
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
        "offers": offers_view(state, configuration),
        "stimulus": concept.stimulus,
        "stimulus_image": image_view(state.session_id, configuration.stimulus_image),
        "question": state.question.text if state.question else None,
        "ratings": _ratings(state),
        "transcript": public_utterance_rows(state),
        "speech": speech_view(parts, state, configuration),
    }


def offers_view(state: InterviewState, configuration: SessionConfiguration) -> list[dict[str, str]]:
    """What the respondent may choose now instead of writing."""
    labels = configuration.conduct.texts.offers if configuration.conduct is not None else {}
    return [{"name": name, "label": labels[name]} for name in state.conduct.offers if name in labels]


def moderator_view(material: Material, recordings: list[dict[str, Any]]) -> dict[str, Any]:
    """What a moderator sees of one session; `recordings` are the files with what was said."""
    return {
        **session_view(material.state),
        **coverage_view(material.state, material.configuration),
        "usage": material.usage.model_dump(),
        "moderator_actions": list(material.actions),
        "recordings": recordings,
    }


def received_view(came: Received | None, versions: list[Version]) -> dict[str, Any]:
    """How a session came here from a device, and its other states that are kept."""
    return {
        "received_at": iso(came.received_at if came else None),
        "received_from": {"id": came.device_id, "name": came.device_name} if came else None,
        "versions": [
            {
                "digest": one.digest,
                "rev": one.rev,
                "device": {"id": one.device_id, "name": one.device_name},
                "received_at": iso(one.received_at),
                "kept_at": iso(one.kept_at),
                "recordings": list(one.recordings),
            }
            for one in versions
        ],
    }


def _ratings(state: InterviewState) -> dict[str, Any] | None:
    """What the present question asks to rate."""
    return form_of(state.grid, state.question.target if state.question is not None else None)


def now_view(state: InterviewState, turn_number: int | None = None) -> dict[str, Any]:
    """State and the latest question or closing statement; that of one turn, if its number is given."""
    question: dict[str, Any] | None = None
    for u in state.utterances:
        if u.speaker == "interviewer" and turn_number in (None, u.turn_number):
            closing = u.kind == "closing"
            question = {"turn_number": u.turn_number, "text": u.text, "fallback": u.fallback, "closing": closing}
    return {"session_id": state.session_id, "state": state.status, "question": question, "ratings": _ratings(state)}


def turn_view(state: InterviewState, receipt: Receipt, configuration: SessionConfiguration) -> dict[str, Any]:
    """The result of a committed answer, and the question that follows it."""
    return {
        "turn_key": receipt.turn_key,
        "turn_number": receipt.turn_number,
        "result": receipt.result,
        "replies_to": _replied_to(state, receipt.turn_number),
        "offers": offers_view(state, configuration),
        **now_view(state, receipt.turn_number),
    }


def _replied_to(state: InterviewState, turn_number: int) -> str | None:
    """The act that the latest words of that turn reply to; None if they are a question."""
    said = [u for u in state.utterances if u.turn_number == turn_number and u.speaker == "interviewer"]
    return said[-1].replies_to if said and said[-1].kind == "reply" else None
