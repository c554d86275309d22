"""Items and responses of a Realtime conversation, as the API shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from server.realtime.session import TextEvents

Fields = dict[str, Any]
ResponseStatus = Literal["completed", "cancelled", "failed"]
_NO_USAGE: Fields = {
    "total_tokens": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "input_token_details": {"text_tokens": 0, "audio_tokens": 0, "cached_tokens": 0},
    "output_token_details": {"text_tokens": 0, "audio_tokens": 0},
}
"""Clients count tokens for what they pay; a respondent pays nothing."""


def typed(item_id: str, text: str) -> Fields:
    """An answer in writing."""
    return _message(item_id, "user", [{"type": "input_text", "text": text}])


def spoken(item_id: str, transcript: str | None) -> Fields:
    """A spoken answer; `transcript` is None while it is not known."""
    status = "in_progress" if transcript is None else "completed"
    return _message(item_id, "user", [{"type": "input_audio", "transcript": transcript}], status)


def asked(item_id: str, text: str, events: TextEvents, status: str = "completed") -> Fields:
    """A question, or a reply of the interviewer."""
    part = {"type": "output_text", "text": text}
    if events == "output_audio_transcript":
        part = {"type": "output_audio", "transcript": text}
    return _message(item_id, "assistant", [part] if text or status == "completed" else [], status)


def part(text: str, events: TextEvents) -> Fields:
    """The content part of a question."""
    if events == "output_audio_transcript":
        return {"type": "audio", "transcript": text}
    return {"type": "text", "text": text}


def _message(item_id: str, role: str, content: Sequence[Fields], status: str = "completed") -> Fields:
    return {
        "id": item_id,
        "object": "realtime.item",
        "type": "message",
        "status": status,
        "role": role,
        "content": list(content),
    }


@dataclass
class RunningItem:
    """A question while it is sent."""

    id: str
    index: int
    previous: str | None
    text: str = ""
    reading: int | None = None
    """Number of the reading that is its audio, until all of that was sent."""


@dataclass
class RunningResponse:
    """A response that is not done.

    Args:
        id: of the response.
        conversation_id: of the conversation.
        turn_key: of the answer that it responds to; None for the opening and a question that is asked again.
    """

    id: str
    conversation_id: str
    turn_key: str | None = None
    item: RunningItem | None = None
    output: list[Fields] = field(default_factory=list)
    begun: int = 0
    """How many items it has had, void ones too."""
    own: Fields = field(default_factory=dict)
    """What the API has no field for."""
    audio_out: bool = False
    """Whether questions are sent as audio."""
    waiting: tuple[ResponseStatus, Fields | None] | None = None
    """How it ends once its audio was sent."""

    def fields(self, status: str = "in_progress", details: Fields | None = None) -> Fields:
        """The response as the API shows it."""
        return {
            "object": "realtime.response",
            "id": self.id,
            "conversation_id": self.conversation_id,
            "status": status,
            "status_details": details,
            "output": self.output,
            "output_modalities": ["audio"] if self.audio_out else ["text"],
            "max_output_tokens": "inf",
            "metadata": None,
            "usage": None if status == "in_progress" else _NO_USAGE,
            "askwell": self.own,
        }
