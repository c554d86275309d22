"""Fallback: a second provider does a task when the first one fails, with a mark on the result, a log line and a hook.

Only a `ProviderError` leads to the fallback; a cancellation or another exception does not.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import structlog

from pipeline.calls import Role
from pipeline.errors import LLMUnavailable, ProviderError
from pipeline.ports import (
    ConceptParser,
    Extraction,
    ExtractionRequest,
    Extractor,
    ParsedStimulus,
    QuestionRequest,
    QuestionWriter,
    Rater,
    Rating,
    RatingRequest,
    SlotProposal,
    SlotProposer,
    SlotRequest,
    StimulusRequest,
)

log = structlog.get_logger("askwell.language")

OnFallback = Callable[[Role], None]
"""Called with the role whenever one of its tasks falls back."""


def ignore(role: Role) -> None:
    """A hook that does nothing."""


def report_fallback(role: Role, task: str, error: ProviderError, on_fallback: OnFallback = ignore) -> None:
    """Log that another provider does a task because the configured one failed, and call the hook."""
    log.warning("llm_fallback", role=role, task=task, error=type(error).__name__)
    on_fallback(role)


class FallbackExtractor:
    """Extraction by `primary`, by `second` where that fails."""

    def __init__(self, primary: Extractor, second: Extractor, on_fallback: OnFallback = ignore) -> None:
        self._primary = primary
        self._second = second
        self._on_fallback = on_fallback

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Concepts and relations of one answer; `fallback` where `second` found them. Raises ProviderError of both."""
        try:
            return await self._primary.extract(request)
        except ProviderError as error:
            report_fallback("extraction", "extraction", error, self._on_fallback)
        found = await self._second.extract(request)
        return found.model_copy(update={"fallback": True})


class FallbackConceptParser:
    """Elements of a stimulus by `primary`, by `second` where that fails."""

    def __init__(self, primary: ConceptParser, second: ConceptParser, on_fallback: OnFallback = ignore) -> None:
        self._primary = primary
        self._second = second
        self._on_fallback = on_fallback

    async def parse_stimulus(self, request: StimulusRequest) -> ParsedStimulus:
        """The elements; `fallback` where `second` made them. Raises ProviderError of both."""
        try:
            return await self._primary.parse_stimulus(request)
        except ProviderError as error:
            report_fallback("extraction", "elements", error, self._on_fallback)
        found = await self._second.parse_stimulus(request)
        return found.model_copy(update={"fallback": True})


class FallbackRater:
    """Rating by `primary`, by `second` where that fails."""

    def __init__(self, primary: Rater, second: Rater, on_fallback: OnFallback = ignore) -> None:
        self._primary = primary
        self._second = second
        self._on_fallback = on_fallback

    async def rate(self, request: RatingRequest) -> Rating:
        """Ratings of one answer; `fallback` where `second` gave them. Raises ProviderError of both."""
        try:
            return await self._primary.rate(request)
        except ProviderError as error:
            report_fallback("scoring", "rating", error, self._on_fallback)
        rating = await self._second.rate(request)
        return rating.model_copy(update={"fallback": True})


class FallbackSlotProposer:
    """Slot names by `primary`, by `second` where that fails; proposals carry no mark of who made them."""

    def __init__(self, primary: SlotProposer, second: SlotProposer, on_fallback: OnFallback = ignore) -> None:
        self._primary = primary
        self._second = second
        self._on_fallback = on_fallback

    @property
    def inline(self) -> bool:
        """As the primary: a fallback must not make a turn wait for the primary's deadline."""
        return self._primary.inline

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        """A proposal for each node. Raises ProviderError of both."""
        try:
            return await self._primary.propose(request)
        except ProviderError as error:
            report_fallback("scoring", "slots", error, self._on_fallback)
        return await self._second.propose(request)


class CountedWriter:
    """A fallback writer that calls the hook for every question it is asked to write."""

    def __init__(self, writer: QuestionWriter, on_fallback: OnFallback) -> None:
        self._writer = writer
        self._on_fallback = on_fallback

    def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        """As the writer does; the hook is called for the first attempt at a question only."""
        if request.variant == 0:
            self._on_fallback("generation")
        return self._writer.write(request)

    def template(self, request: QuestionRequest) -> str:
        """As the writer does."""
        return self._writer.template(request)


class Missing:
    """The provider of a role whose language model is not configured any more: every task raises LLMUnavailable.

    Args:
        reason: the error message, which names the setting.
        templates: makes template questions, which need no model.
    """

    inline = False

    def __init__(self, reason: str, templates: QuestionWriter) -> None:
        self._reason = reason
        self._templates = templates

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Raises LLMUnavailable."""
        raise LLMUnavailable(self._reason)

    async def parse_stimulus(self, request: StimulusRequest) -> ParsedStimulus:
        """Raises LLMUnavailable."""
        raise LLMUnavailable(self._reason)

    async def rate(self, request: RatingRequest) -> Rating:
        """Raises LLMUnavailable."""
        raise LLMUnavailable(self._reason)

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        """Raises LLMUnavailable."""
        raise LLMUnavailable(self._reason)

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        """Raises LLMUnavailable, from the iterator."""
        nothing: tuple[str, ...] = ()
        for piece in nothing:
            yield piece
        raise LLMUnavailable(self._reason)

    def template(self, request: QuestionRequest) -> str:
        """A template question."""
        return self._templates.template(request)
