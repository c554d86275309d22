"""Error, notice and close codes, and their messages for people."""

from __future__ import annotations

from typing import Final, Literal

ErrorCode = Literal[
    "invalid_message",
    "unauthorised",
    "forbidden",
    "not_found",
    "invalid_input",
    "answer_too_long",
    "consent_required",
    "turn_in_progress",
    "session_completed",
    "session_paused",
    "audio_format",
    "audio_gap",
    "audio_too_long",
    "rate_limited",
    "llm_unavailable",
    "transcriber_unavailable",
    "storage_unavailable",
    "too_many_sessions",
    "language_unsupported",
    "internal",
]
NoticeCode = Literal["didnt_catch", "still_thinking", "answer_kept", "moderator_here", "time_almost_up"]

SUBPROTOCOL: Final = "askwell.v1"

CLOSE_NORMAL: Final = 1000
CLOSE_PROTOCOL_ERROR: Final = 1002
CLOSE_UNSUPPORTED_DATA: Final = 1003
CLOSE_POLICY: Final = 1008
CLOSE_TOO_BIG: Final = 1009
CLOSE_SERVICE_RESTART: Final = 1012
CLOSE_TAKEN_OVER: Final = 4001
CLOSE_UNAUTHORISED: Final = 4401

SENTENCES: Final[dict[ErrorCode, str]] = {
    "invalid_message": "This message could not be read.",
    "unauthorised": "This link does not open an interview, or it is no longer valid.",
    "forbidden": "This is not allowed with this link.",
    "not_found": "There is no such interview.",
    "invalid_input": "This can't be taken as an answer. Please write something in words.",
    "answer_too_long": "This answer is too long. Please shorten it a little.",
    "consent_required": "Please agree to take part before you answer.",
    "turn_in_progress": "The last answer is still being worked on. Please wait a moment.",
    "session_completed": "This interview is over. Thank you for taking part.",
    "session_paused": "This interview is paused.",
    "audio_format": "This recording is not in a format that can be used.",
    "audio_gap": "A part of the recording is missing. Please say it once more.",
    "audio_too_long": "This recording is too long.",
    "rate_limited": "That was too fast. Please wait a moment and try again.",
    "llm_unavailable": "The next question could not be made just now. Your answer is kept; please try again.",
    "transcriber_unavailable": "Speech can't be understood here at the moment. Please type your answer.",
    "storage_unavailable": "The answer can't be stored just now. Please keep this page open and try again.",
    "too_many_sessions": "Too many interviews are running at the moment. Please try again in a few minutes.",
    "language_unsupported": "This interview is not available in that language.",
    "internal": "Something went wrong on our side. Please try again.",
}

NOTICES: Final[dict[NoticeCode, str]] = {
    "didnt_catch": "Sorry, that could not be understood. Could you say it again?",
    "still_thinking": "One moment, the next question is being thought about.",
    "answer_kept": "Your answer is kept. It takes a little longer than usual to store it.",
    "moderator_here": "A moderator has joined the interview.",
    "time_almost_up": "The time for this interview is almost over.",
}

RETRYABLE: Final[frozenset[ErrorCode]] = frozenset(
    {
        "turn_in_progress",
        "session_paused",
        "consent_required",
        "rate_limited",
        "llm_unavailable",
        "storage_unavailable",
        "too_many_sessions",
        "internal",
    }
)
"""Codes after which the same message may succeed later."""
