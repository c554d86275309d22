"""Decoding frames to messages, and encoding messages; without a socket.

ProtocolProblem     a frame that is refused, with its error code and the close code for repeated violations
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from audio.errors import AudioFormat
from audio.frames import HEADER, parse_frame
from config.bounds import LimitSettings
from server.protocol.base import UUID_PATTERN, Message
from server.protocol.codes import (
    CLOSE_POLICY,
    CLOSE_PROTOCOL_ERROR,
    CLOSE_TOO_BIG,
    CLOSE_UNSUPPORTED_DATA,
    RETRYABLE,
    SENTENCES,
    ErrorCode,
)
from server.protocol.inbound import ANSWER_MESSAGES, CLIENT_MESSAGES, ClientMessage
from server.protocol.outbound import Error, ReadingSound

T = TypeVar("T")

MAX_MESSAGE_BYTES = LimitSettings().max_message_bytes
SAMPLE_BYTES = 2
LONGEST_REF = 64
_ANSWER_TYPE = re.compile(r'"type"\s{0,9}:\s{0,9}"(answer|correct)"')
_TURN_KEY = re.compile(rf'"turn_key"\s{{0,9}}:\s{{0,9}}"({UUID_PATTERN.strip("^$")})"')


class ProtocolProblem(Exception):
    """A frame that is refused.

    Args:
        code: for the `error` frame.
        message: for people; the default message of the code if not given.
        close_code: to close the socket with after too many violations.
        ref: `turn_key` or type of the refused message, if it could be read.
        fatal: whether to close the socket at once.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str | None = None,
        *,
        close_code: int = CLOSE_PROTOCOL_ERROR,
        ref: str | None = None,
        fatal: bool = False,
    ) -> None:
        self.code = code
        self.message = message or SENTENCES[code]
        self.close_code = close_code
        self.ref = ref
        self.fatal = fatal
        super().__init__(self.message)

    @property
    def retryable(self) -> bool:
        """Whether the same frame may succeed later."""
        return self.code in RETRYABLE

    def frame(self) -> Error:
        """The `error` message to send."""
        return Error(code=self.code, message=self.message, retryable=self.retryable, ref=self.ref)


@dataclass(frozen=True, slots=True)
class AudioFrame:
    """A binary frame: `sequence` in [0, 2³²), `pcm` 16-bit little-endian mono samples at 16 kHz."""

    sequence: int
    pcm: bytes


def decode_text(text: str, *, max_bytes: int = MAX_MESSAGE_BYTES) -> ClientMessage:
    """The respondent's message in one text frame.

    Args:
        text: the frame.
        max_bytes: longest frame, in bytes of UTF-8.
    Raises:
        ProtocolProblem: `invalid_message` for anything that is not a message of the protocol; `invalid_input` for
            an answer whose text is not text (NUL, half a surrogate pair, not a string); `answer_too_long` for an
            answer that makes the frame too long.
    """
    return parse(read_object(text, max_bytes=max_bytes), CLIENT_MESSAGES)


def read_object(text: str, *, max_bytes: int = MAX_MESSAGE_BYTES) -> dict[str, Any]:
    """The JSON object of one text frame; errors as in `decode_text`."""
    if len(text) > max_bytes or (not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > max_bytes):
        raise _too_long(text, max_bytes)
    return _object(text)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=unique_names)
    except (ValueError, RecursionError) as exc:
        raise ProtocolProblem("invalid_message", "This message is not valid JSON.") from exc
    if not isinstance(value, dict):
        raise ProtocolProblem("invalid_message", "A message must be a JSON object with a type.")
    return value


def _too_long(text: str, max_bytes: int) -> ProtocolProblem:
    """The error for a frame that is too long: `answer_too_long` for an answer. The frame is searched, not parsed."""
    kind, ref = _ANSWER_TYPE.search(text), _TURN_KEY.search(text)
    if kind is not None:
        return ProtocolProblem("answer_too_long", close_code=CLOSE_TOO_BIG, ref=ref.group(1) if ref else kind.group(1))
    return ProtocolProblem(
        "invalid_message", f"This message is too long; {max_bytes // 1024} KiB are the most.", close_code=CLOSE_TOO_BIG
    )


def parse(value: Mapping[str, Any], adapter: TypeAdapter[T]) -> T:
    """Validate a JSON object as a message.

    Raises:
        ProtocolProblem: as in `decode_text`; `audio_format` for an `audio.start` with another codec or sample rate.
    """
    _refuse_bad_text(value)
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as exc:
        raise _problem(value, exc.errors(include_url=False, include_input=False)[0]) from exc


def decode_binary(data: bytes) -> AudioFrame:
    """The audio in one binary frame: a 4-byte big-endian sequence number, then one sample to one second of them.

    Raises:
        ProtocolProblem: `audio_format`.
    """
    try:
        return AudioFrame(*parse_frame(data))
    except AudioFormat as exc:
        message = f"An audio frame is a 4-byte sequence number and 16-bit samples of a second at the most. {exc}."
        raise ProtocolProblem("audio_format", message, close_code=CLOSE_UNSUPPORTED_DATA) from exc


def encode(message: Message) -> str:
    """One text frame."""
    return message.model_dump_json(by_alias=True)


def encode_sound(sound: ReadingSound) -> bytes:
    """One binary frame: the number of the reading, four bytes big-endian, then its samples."""
    return HEADER.pack(sound.reading) + sound.pcm


def encode_event(event: Mapping[str, Any]) -> str:
    """One text frame for a durable event as hot storage keeps it."""
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The JSON object of these names and values. Raises ValueError, a name occurs twice."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a name occurs twice")
    return value


def _refuse_bad_text(value: Mapping[str, Any]) -> None:
    kind, text = value.get("type"), value.get("text")
    is_answer = isinstance(kind, str) and kind in ANSWER_MESSAGES and "text" in value
    if is_answer and not (isinstance(text, str) and is_clean_text(text)):
        raise ProtocolProblem(
            "invalid_input",
            "This answer contains characters that are not text. Please write it again.",
            close_code=CLOSE_POLICY,
            ref=reference(value),
        )
    if not is_clean(value):
        raise ProtocolProblem("invalid_message", "This message contains characters that are not text.")


def is_clean_text(text: str) -> bool:
    """Whether it has no NUL and no half of a surrogate pair."""
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_clean(value: Any) -> bool:
    """Whether every string of a JSON value, names too, is clean text."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            if not is_clean_text(found):
                return False
        elif isinstance(found, Mapping):
            waiting.extend(found)
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
    return True


def reference(value: Mapping[str, Any]) -> str | None:
    """What an error about this object refers to: its key, command or type, if that is short and clean text."""
    for name in ("turn_key", "command_id", "type"):
        found = value.get(name)
        if isinstance(found, str) and 0 < len(found) <= LONGEST_REF and is_clean_text(found):
            return found
    return None


def _problem(value: Mapping[str, Any], error: ErrorDetails) -> ProtocolProblem:
    ref = reference(value)
    match error["type"]:
        case "union_tag_not_found":
            return ProtocolProblem("invalid_message", "A message must have a type.")
        case "union_tag_invalid":
            return ProtocolProblem("invalid_message", "There is no message of this type.", ref=ref)
    path = ".".join(str(part) for part in error["loc"][1:]) or "message"
    if value.get("type") == "audio.start" and path in ("codec", "sample_rate"):
        return ProtocolProblem("audio_format", ref=ref)
    reason = "is not in the expected form" if error["type"] == "string_pattern_mismatch" else error["msg"]
    return ProtocolProblem("invalid_message", f"{path[:64]}: {reason}.", ref=ref)
