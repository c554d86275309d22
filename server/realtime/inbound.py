"""Events from a Realtime client: decoding and validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal
from uuid import NAMESPACE_OID, uuid4, uuid5

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from server.protocol.base import Message
from server.protocol.codec import ProtocolProblem, is_clean, parse, read_object
from server.protocol.inbound import (
    CLIENT_MESSAGES,
    ClientMessage,
    Correct,
    Finish,
    GiveConsent,
    Pause,
    Playback,
    Rate,
    Rephrase,
    Resume,
    Skip,
    Withdraw,
)
from server.realtime.problems import RealtimeCode, RealtimeProblem

LONGEST_EVENT_ID = 512
LONGEST_PATH = 120
OWN: Final = "askwell."
"""Begins the types of events that the API does not have."""
EXTENSIONS: Final[Mapping[str, type[Message]]] = {
    "askwell.consent": GiveConsent,
    "askwell.skip": Skip,
    "askwell.rate": Rate,
    "askwell.correct": Correct,
    "askwell.rephrase": Rephrase,
    "askwell.pause": Pause,
    "askwell.resume": Resume,
    "askwell.finish": Finish,
    "askwell.withdraw": Withdraw,
    "askwell.playback": Playback,
}
"""Events that the API does not have: messages of the respondent's socket."""
UNSUPPORTED: Final[Mapping[str, str]] = {
    "response.cancel": "A question that is being made can't be cancelled. Answer it as soon as it is there.",
    "conversation.item.delete": "What was said can't be deleted piece by piece; askwell.withdraw erases everything.",
    "conversation.item.retrieve": "Items are sent when they are added; the audio of answers is not given out.",
    "output_audio_buffer.clear": "Audio that was sent is yours; conversation.item.truncate says what was heard of it.",
    "transcription_session.update": "Only conversations are held here; use session.update.",
}
"""Events of the API that an interview has no counterpart of, and what they are told."""


class Event(BaseModel):
    """An event from a client: no unknown fields, no conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    event_id: str | None = None


class SessionUpdate(Event):
    """Settings; those that are left out stay."""

    type: Literal["session.update"]
    session: dict[str, Any]


class AppendAudio(Event):
    """The next audio: base64 of 16-bit little-endian mono samples."""

    type: Literal["input_audio_buffer.append"]
    audio: str


class CommitAudio(Event):
    """The spoken answer is complete."""

    type: Literal["input_audio_buffer.commit"]


class ClearAudio(Event):
    """Discard the spoken answer."""

    type: Literal["input_audio_buffer.clear"]


class CreateItem(Event):
    """An answer in writing."""

    type: Literal["conversation.item.create"]
    item: dict[str, Any]
    previous_item_id: str | None = None


class CreateResponse(Event):
    """Ask on."""

    type: Literal["response.create"]
    response: dict[str, Any] | None = None


class TruncateItem(Event):
    """So much of a question was played, and no more will be."""

    type: Literal["conversation.item.truncate"]
    item_id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    content_index: Annotated[int, Field(ge=0)] = 0
    audio_end_ms: Annotated[int, Field(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class Extension:
    """An event that the API does not have: a message of the respondent's socket."""

    message: ClientMessage
    event_id: str | None


ApiEvent = SessionUpdate | AppendAudio | CommitAudio | ClearAudio | CreateItem | TruncateItem | CreateResponse
ClientEvent = ApiEvent | Extension
_API_EVENTS: TypeAdapter[ApiEvent] = TypeAdapter(Annotated[ApiEvent, Field(discriminator="type")])
API_EVENTS: Final[tuple[str, ...]] = (
    "session.update",
    "input_audio_buffer.append",
    "input_audio_buffer.commit",
    "input_audio_buffer.clear",
    "conversation.item.create",
    "conversation.item.truncate",
    "response.create",
)


def decode(text: str, *, max_bytes: int) -> ClientEvent:
    """The event in one text frame.

    Args:
        text: the frame.
        max_bytes: longest frame, in bytes of UTF-8.
    Raises:
        ProtocolProblem: it can't be read as JSON, or is too long.
        RealtimeProblem: it is no event that is understood here; `ref` is its id.
    """
    value = read_object(text, max_bytes=max_bytes)
    event_id = _event_id(value)
    try:
        return _decoded(value, event_id)
    except ProtocolProblem as problem:
        problem.ref = event_id
        raise


def _event_id(value: Mapping[str, Any]) -> str | None:
    event_id = value.get("event_id")
    if event_id is None:
        return None
    if not isinstance(event_id, str):
        raise RealtimeProblem("invalid_type", "event_id: is no text.", param="event_id")
    if not 0 < len(event_id) <= LONGEST_EVENT_ID or not is_clean(event_id):
        raise RealtimeProblem("invalid_value", f"event_id: has 1 to {LONGEST_EVENT_ID} characters.", param="event_id")
    return event_id


def _decoded(value: Mapping[str, Any], event_id: str | None) -> ClientEvent:
    kind = value.get("type")
    if not isinstance(kind, str):
        raise RealtimeProblem("missing_required_parameter", "An event has a type.", param="type")
    if not is_clean(value):
        raise RealtimeProblem("invalid_value", "This event contains characters that are not text.")
    if kind in EXTENSIONS:
        return Extension(_extension(value, kind), event_id)
    if kind in UNSUPPORTED:
        raise RealtimeProblem("unsupported_event", UNSUPPORTED[kind], param="type")
    if kind not in API_EVENTS:
        raise RealtimeProblem("unknown_event", "There is no event of this type.", param="type")
    try:
        return _API_EVENTS.validate_python(value)
    except ValidationError as exc:
        raise problem_of_fields(exc) from exc


def _extension(value: Mapping[str, Any], kind: str) -> ClientMessage:
    fields = {name: field for name, field in value.items() if name != "event_id"} | {"type": kind.removeprefix(OWN)}
    if "turn_key" in EXTENSIONS[kind].model_fields:
        fields.setdefault("turn_key", str(uuid4()))
    return parse(fields, CLIENT_MESSAGES)


_CODES: Final[Mapping[str, RealtimeCode]] = {
    "missing": "missing_required_parameter",
    "extra_forbidden": "unknown_parameter",
}


def problem_of_fields(exc: ValidationError, within: str = "") -> RealtimeProblem:
    """The refusal of an event for the first field that is wrong; `within` is the path of what was validated."""
    error = exc.errors(include_url=False, include_input=False)[0]
    parts = [str(part) for part in error["loc"] if part not in API_EVENTS]
    param = ".".join(filter(None, (within, *parts)))[:LONGEST_PATH]
    kind = error["type"]
    wrong: RealtimeCode = "invalid_type" if kind.endswith("_type") else "invalid_value"
    return RealtimeProblem(_CODES.get(kind, wrong), f"{param}: {error['msg']}.", param=param)


# Items


class TextPart(BaseModel):
    """A part of an item: text."""

    model_config = ConfigDict(strict=True)

    type: Literal["input_text", "text"]
    text: str


class UserItem(BaseModel):
    """An item that is an answer."""

    model_config = ConfigDict(strict=True)

    id: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    type: Literal["message"]
    role: Literal["user"]
    content: list[TextPart] = Field(min_length=1, max_length=32)

    @property
    def text(self) -> str:
        """The answer: its parts, a line each."""
        return "\n".join(part.text for part in self.content)

    def turn_key(self, session_id: str) -> str:
        """The key of the answer: an item with the same id is the same answer, over another connection too."""
        return str(uuid4() if self.id is None else uuid5(NAMESPACE_OID, f"askwell:{session_id}:{self.id}"))


def user_item(item: Mapping[str, Any]) -> UserItem:
    """The answer in an item. Raises RealtimeProblem for anything else."""
    kind, role, content = item.get("type"), item.get("role"), item.get("content")
    if kind in ("function_call", "function_call_output", "mcp_approval_response"):
        raise RealtimeProblem("unsupported_value", "There are no tools here.", param="item.type")
    if role in ("system", "assistant", "developer"):
        told = "Only the respondent's answers can be added (role user): the study says what is asked."
        raise RealtimeProblem("unsupported_value", told, param="item.role")
    for part in content if isinstance(content, list) else ():
        what = part.get("type") if isinstance(part, dict) else None
        if what in ("input_audio", "input_image"):
            told = "An item holds text; audio is sent by input_audio_buffer.append, images are not understood."
            raise RealtimeProblem("unsupported_value", told, param="item.content")
    try:
        return UserItem.model_validate(item)
    except ValidationError as exc:
        raise problem_of_fields(exc, "item") from exc
