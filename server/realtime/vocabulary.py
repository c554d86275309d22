"""The names of events: those of the Realtime API as it is, and those of its beta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

BETA_HEADER: Final = "realtime=v1"
"""In the header `OpenAI-Beta`, asks for the names of the beta."""
BETA_PROTOCOL: Final = "openai-beta.realtime-v1"
"""Among the offered subprotocols, asks for the same."""

BETA_NAMES: Final[Mapping[str, str]] = {
    "conversation.item.added": "conversation.item.created",
    "response.output_text.delta": "response.text.delta",
    "response.output_text.done": "response.text.done",
    "response.output_audio_transcript.delta": "response.audio_transcript.delta",
    "response.output_audio_transcript.done": "response.audio_transcript.done",
    "response.output_audio.delta": "response.audio.delta",
    "response.output_audio.done": "response.audio.done",
}
BETA_LACKS: Final = frozenset({"conversation.item.done"})
_BETA_PARTS: Final[Mapping[str, str]] = {"output_text": "text", "output_audio": "audio"}


class Vocabulary(Protocol):
    """Puts an event into the names of one version of the API."""

    def __call__(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """The event in those names; None where that version has no such event."""
        ...


def present(event: dict[str, Any]) -> dict[str, Any] | None:
    """The event as the API is now."""
    return event


def beta(event: dict[str, Any]) -> dict[str, Any] | None:
    """The event as the beta had it."""
    kind = event["type"]
    if kind in BETA_LACKS:
        return None
    renamed = {name: _beta_value(value) for name, value in event.items()}
    renamed["type"] = BETA_NAMES.get(kind, kind)
    if "session" in renamed:
        renamed["session"] = _beta_session(event["session"])
    return renamed


def _beta_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_beta_value(part) for part in value]
    if not isinstance(value, dict):
        return value
    found = {name: _beta_value(inner) for name, inner in value.items()}
    if found.get("type") in _BETA_PARTS:
        found["type"] = _BETA_PARTS[found["type"]]
    if "output_modalities" in found:
        found["modalities"] = found.pop("output_modalities")
    return found


def _beta_session(session: Mapping[str, Any]) -> dict[str, Any]:
    given = session["audio"]["input"]
    left_out = ("type", "audio", "output_modalities", "tracing", "prompt", "include", "max_output_tokens")
    return {
        **{name: value for name, value in session.items() if name not in left_out},
        "modalities": session["output_modalities"],
        "input_audio_format": "pcm16",
        "input_audio_transcription": given["transcription"],
        "turn_detection": given["turn_detection"],
        "max_response_output_tokens": session["max_output_tokens"],
    }
