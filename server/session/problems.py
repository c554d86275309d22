"""What a session refuses, and why.

    SessionProblem          anything that is refused or fails; `code` is a wire code
    ├── TurnFailed          a turn did not work out; the answer is kept
    └── Moved               the session lives elsewhere now, or nowhere; connections close with `close_code`
        └── Forgotten       hot storage has lost the session; attaching again rebuilds it

Errors of hot storage and of the pipeline carry `code` and `retryable` too and pass through unchanged.
"""

from __future__ import annotations

from server.protocol.codes import CLOSE_SERVICE_RESTART, RETRYABLE, SENTENCES, ErrorCode
from server.protocol.outbound import Error

TELLING = frozenset({"invalid_input", "audio_format", "audio_too_long"})
"""Codes of errors whose own words are for the respondent."""


class SessionProblem(Exception):
    """Something that can't be done with this session now.

    Args:
        code: wire code.
        message: in words a person understands; the usual ones of the code if not given.
        retryable: whether the same may succeed later; as usual for the code if not given.
    """

    def __init__(self, code: ErrorCode, message: str | None = None, *, retryable: bool | None = None) -> None:
        self.code: ErrorCode = code
        self.message = message or SENTENCES[code]
        self.retryable = code in RETRYABLE if retryable is None else retryable
        super().__init__(self.message)


class TurnFailed(SessionProblem):
    """A turn did not work out; the answer is kept, and the same key completes it once."""


class Moved(SessionProblem):
    """The session lives elsewhere now, or nowhere; connections close with `close_code`."""

    def __init__(self, code: ErrorCode, message: str, *, close_code: int = CLOSE_SERVICE_RESTART) -> None:
        super().__init__(code, message)
        self.close_code = close_code


class Forgotten(Moved):
    """Hot storage has lost the session; whoever attaches again gets it rebuilt from its snapshot."""

    def __init__(self) -> None:
        super().__init__("storage_unavailable", "This interview is being fetched again. Please try again in a moment.")


def problem_of(error: BaseException) -> SessionProblem:
    """The refusal that an error stands for: its wire code, with words for a person; `internal` for a defect."""
    if isinstance(error, SessionProblem):
        return error
    code = getattr(error, "wire_code", None) or getattr(error, "code", None)
    if not isinstance(code, str) or code not in SENTENCES:
        return SessionProblem("internal")
    message = _sentence(str(error)) if code in TELLING else None
    return SessionProblem(code, message, retryable=bool(getattr(error, "retryable", False)))


def _sentence(text: str) -> str | None:
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else None


def error_frame(error: BaseException, *, ref: str | None = None) -> Error:
    """The `error` message for a client."""
    problem = problem_of(error)
    return Error(code=problem.code, message=problem.message, retryable=problem.retryable, ref=ref)
