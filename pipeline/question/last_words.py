"""What is said to the last answer of all in a language model's words, or asked about it once more."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from pipeline.errors import ProviderError
from pipeline.ports import Ending, FindsLastWords, QuestionRequest, RefusedText
from pipeline.question.asking import own_words, said_in
from pipeline.question.checker import Checker, Refusal, check

TRIES = 2

log = structlog.get_logger()


async def last_words(writer: FindsLastWords, request: QuestionRequest, secrets: Sequence[str] = ()) -> Ending | None:
    """The checked ending; None where the writer fails, or writes twice what can't be used.

    Args:
        writer: writes.
        request: of the kind `ending`.
        secrets: texts that it may not repeat.
    """
    guarded = (*secrets, *request.instructions) if secrets else ()
    for _ in range(TRIES):
        try:
            ending = await writer.last_words(request)
        except ProviderError as error:
            log.warning("llm_fallback", role="generation", task=request.kind, error=type(error).__name__)
            return None
        refusals = _refusals(ending, request, guarded)
        if not refusals:
            return ending.model_copy(update={"asks_about": said_in(request, ending.asks_about)})
        log.info("question_refused", codes=[refusal.code for refusal in refusals])
        reasons = tuple(f"{refusal.code}: {refusal.detail}" for refusal in refusals)
        refused = (*request.refused, RefusedText(text=ending.text, reasons=reasons))
        request = request.model_copy(update={"refused": refused})
    return None


def _refusals(ending: Ending, request: QuestionRequest, secrets: Sequence[str]) -> list[Refusal]:
    """What is wrong with it."""
    if not ending.asks_about:
        checker = Checker(
            language=request.language, max_words=request.max_words, allowed_words=own_words(request), secrets=secrets
        )
        return checker.statement(ending.text)
    if not request.may_ask or not said_in(request, ending.asks_about):
        return [Refusal(code="double", detail="it asks something")]
    return check(
        ending.text,
        recent_questions=request.recent_questions,
        language=request.language,
        max_words=request.max_words,
        allowed_words=own_words(request),
        secrets=secrets,
    )
