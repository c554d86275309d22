"""Translates exceptions into errors for clients; the only module with both error codes and HTTP statuses.

Packages raise their own errors, each with `code` and `retryable`; what their messages say about addresses, files or
programs is only logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from config.loader import UnknownName
from server.session.problems import problem_of

STATUS: Final[dict[str, int]] = {
    "invalid_message": 400,
    "unauthorised": 401,
    "forbidden": 403,
    "not_found": 404,
    "invalid_input": 422,
    "answer_too_long": 413,
    "consent_required": 403,
    "turn_in_progress": 409,
    "session_completed": 409,
    "session_paused": 409,
    "audio_format": 415,
    "audio_gap": 409,
    "audio_too_long": 413,
    "rate_limited": 429,
    "llm_unavailable": 503,
    "transcriber_unavailable": 503,
    "storage_unavailable": 503,
    "too_many_sessions": 503,
    "language_unsupported": 422,
    "internal": 500,
}
"""HTTP status of every error code."""

TITLE: Final[dict[str, str]] = {
    "invalid_message": "The request can't be read",
    "unauthorised": "A token is missing or wrong",
    "forbidden": "This is not allowed",
    "not_found": "There is no such thing here",
    "invalid_input": "The input can't be used",
    "answer_too_long": "The answer is too long",
    "consent_required": "Consent is needed first",
    "turn_in_progress": "Another answer is being worked on",
    "session_completed": "The interview is over",
    "session_paused": "The interview is paused",
    "audio_format": "The audio format is not supported",
    "audio_gap": "Part of the audio is missing",
    "audio_too_long": "The recording is too long",
    "rate_limited": "Too many requests",
    "llm_unavailable": "The language model can't be reached",
    "transcriber_unavailable": "Speech can't be transcribed here",
    "storage_unavailable": "Storage is unavailable",
    "too_many_sessions": "The server is full",
    "language_unsupported": "The language is not supported",
    "internal": "Something went wrong",
}
"""The problem title of every error code."""


class ApiError(Exception):
    """A refused request; `message` is for the client."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        status: int | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.code = code
        self.retryable = retryable
        self.status = status


@dataclass(frozen=True)
class WireError:
    """An error as a client sees it."""

    code: str
    message: str
    retryable: bool
    status: int

    def problem(self) -> dict[str, Any]:
        """The body of an `application/problem+json` response (RFC 9457)."""
        return {
            "type": f"urn:askwell:error:{self.code}",
            "title": TITLE[self.code],
            "status": self.status,
            "detail": self.message,
            "code": self.code,
        }


def wire_error(exc: BaseException) -> WireError:
    """The error for the client. Never fails; unknown exceptions become `internal`."""
    if isinstance(exc, ApiError):
        return WireError(exc.code, str(exc), exc.retryable, exc.status or STATUS[exc.code])
    if isinstance(exc, UnknownName):
        return WireError(exc.code, str(exc), False, STATUS[exc.code])
    problem = problem_of(exc)
    return WireError(problem.code, problem.message, problem.retryable, STATUS[problem.code])
