"""What is refused of the events of a Realtime client, as errors of that API.

RealtimeProblem     an event that is refused; a `ProtocolProblem` with the names of that API
"""

from __future__ import annotations

from typing import Any, Final, Literal

from server.protocol.codec import ProtocolProblem
from server.protocol.codes import CLOSE_PROTOCOL_ERROR, RETRYABLE
from server.protocol.outbound import Error

RealtimeCode = Literal[
    "unknown_event",
    "unsupported_event",
    "missing_required_parameter",
    "unknown_parameter",
    "invalid_type",
    "invalid_value",
    "unsupported_value",
    "input_audio_buffer_commit_empty",
    "conversation_already_has_active_response",
    "no_open_question",
]

MEANINGS: Final[dict[RealtimeCode, str]] = {
    "unknown_event": "There is no event of this type.",
    "unsupported_event": "The API has this event, an interview has nothing like it.",
    "missing_required_parameter": "A field is missing.",
    "unknown_parameter": "There is no field of this name.",
    "invalid_type": "A field is of another type.",
    "invalid_value": "A field can't have this value.",
    "unsupported_value": "The API has this value, an interview has nothing like it.",
    "input_audio_buffer_commit_empty": "There is no audio that could be an answer.",
    "conversation_already_has_active_response": "A question is being made.",
    "no_open_question": "There is nothing to respond to.",
}
"""What the codes stand for that only this door has."""

_WELL_FORMED: Final[frozenset[RealtimeCode]] = frozenset(
    {
        "unsupported_event",
        "unsupported_value",
        "input_audio_buffer_commit_empty",
        "conversation_already_has_active_response",
        "no_open_question",
    }
)
"""Clients of other servers may send such events as often as their rate allows; they violate nothing."""
_SERVER_ERRORS: Final[frozenset[str]] = frozenset(
    {"llm_unavailable", "transcriber_unavailable", "storage_unavailable", "too_many_sessions", "internal"}
)


class RefusedEvent(Error):
    """An error with the names of that API: its `realtime_code`, and the field it is about."""

    realtime_code: RealtimeCode
    param: str | None = None


class RealtimeProblem(ProtocolProblem):
    """An event that is refused.

    Args:
        code: of that API.
        message: for people.
        param: the field that it is about, such as `session.tools`.
        ref: `event_id` of the event, if it could be read.
    """

    def __init__(self, code: RealtimeCode, message: str, *, param: str | None = None, ref: str | None = None) -> None:
        own: Literal["invalid_input", "invalid_message"] = (
            "invalid_input" if code in _WELL_FORMED else "invalid_message"
        )
        super().__init__(own, message, close_code=CLOSE_PROTOCOL_ERROR, ref=ref)
        self.realtime_code: RealtimeCode = code
        self.param = param

    def frame(self) -> RefusedEvent:
        """The error to tell."""
        return RefusedEvent(
            code="invalid_input" if self.code == "invalid_input" else "invalid_message",
            message=self.message,
            retryable=False,
            ref=self.ref,
            realtime_code=self.realtime_code,
            param=self.param,
        )


def error_fields(error: Error, event_id: str | None) -> dict[str, Any]:
    """The field `error` of an `error` event; `event_id` of the client's event that it is about."""
    return {
        "type": "server_error" if error.code in _SERVER_ERRORS else "invalid_request_error",
        "code": error.realtime_code if isinstance(error, RefusedEvent) else error.code,
        "message": error.message,
        "param": error.param if isinstance(error, RefusedEvent) else None,
        "event_id": event_id,
        "askwell": {"retryable": error.code in RETRYABLE},
    }
