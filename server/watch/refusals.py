"""Errors for moderators, whose messages differ from those for respondents."""

from __future__ import annotations

from typing import Final

from pipeline.errors import PipelineError
from server.errors import ApiError
from server.hot.errors import HotError
from server.protocol.codes import SENTENCES, ErrorCode
from server.protocol.outbound import Error
from server.session.problems import SessionProblem, problem_of
from server.store.errors import StoreError

TO_MODERATORS: Final[dict[ErrorCode, str]] = {
    "unauthorised": "This is not the token of a moderator, or it has ended.",
    "forbidden": "This is not within the scope of your token.",
    "not_found": "There is no such interview, or it was erased.",
    "invalid_input": "This can't be done in this interview.",
    "session_completed": "This interview is over.",
    "session_paused": "This interview is not running: the respondent left it long ago.",
    "llm_unavailable": "The language model can't be reached just now.",
    "storage_unavailable": "Storage can't be reached just now. Please try again in a moment.",
    "too_many_sessions": "The server is full. Please try again in a moment.",
    "rate_limited": "That was too fast. Please wait a moment and try again.",
}

REFUSALS: Final = (SessionProblem, ApiError, HotError, StoreError, PipelineError)
"""Exceptions that refuse a request; any other one is a defect."""


def error_for(exc: BaseException, ref: str | None) -> Error:
    """The error frame for a refused request of a moderator."""
    problem = problem_of(exc)
    message = problem.message
    if message == SENTENCES[problem.code]:
        message = TO_MODERATORS.get(problem.code, message)
    return Error(code=problem.code, message=message, retryable=problem.retryable, ref=ref)
