"""The second provider of a task: when it steps in, when it must not, and that it shows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from structlog.testing import capture_logs

from pipeline.calls import Role
from pipeline.errors import (
    LLMRateLimited,
    LLMRejected,
    LLMTimeout,
    LLMUnavailable,
    ProviderError,
    ProviderOutputInvalid,
)
from pipeline.language.fallback import (
    CountedWriter,
    FallbackExtractor,
    FallbackRater,
    FallbackSlotProposer,
    Missing,
)
from pipeline.ports import ExtractionRequest, QuestionRequest, RatingRequest, SlotRequest
from tests.support.interview import FixedRater, OwnSlots, PlainWriter, ScriptedExtractor, concepts, small_methodology

FOUND = concepts(("aroma", "attribute"))
EXTRACT = ExtractionRequest(
    text="The aroma", utterance_id="u", question="Why?", topic="coffee", methodology=small_methodology(), language="en"
)
RATE = RatingRequest(text="The aroma", question="Why?", language="en")
PROPOSE = SlotRequest(nodes=(), slots=(), methodology=small_methodology(), language="en")
ERRORS = [LLMTimeout, LLMRateLimited, LLMRejected, LLMUnavailable, ProviderOutputInvalid]


class Failing:
    """Fails at every task."""

    inline = False

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def extract(self, request: ExtractionRequest) -> Any:
        raise self.error

    async def rate(self, request: RatingRequest) -> Any:
        raise self.error

    async def propose(self, request: SlotRequest) -> Any:
        raise self.error


def _question(variant: int = 0) -> QuestionRequest:
    return QuestionRequest(
        kind="follow_up", methodology=small_methodology(), topic="coffee", objective="", language="en", seed=1,
        turn_number=1, variant=variant,
    )  # fmt: skip


async def _heard(pieces: AsyncGenerator[str, None]) -> str:
    async with aclosing(pieces):
        return "".join([piece async for piece in pieces])


@pytest.mark.parametrize("error", ERRORS)
async def test_extraction_that_fails_is_done_by_the_second_and_marked(error: type[ProviderError]) -> None:
    told: list[Role] = []
    extractor = FallbackExtractor(Failing(error("sk-1 said no")), ScriptedExtractor({"The aroma": FOUND}), told.append)
    with capture_logs() as lines:
        found = await extractor.extract(EXTRACT)
    assert (found.concepts, found.fallback, told) == (FOUND.concepts, True, ["extraction"])
    assert lines == [
        {
            "event": "llm_fallback",
            "log_level": "warning",
            "role": "extraction",
            "task": "extraction",
            "error": error.__name__,
        }
    ]


@pytest.mark.parametrize("error", ERRORS)
async def test_rating_that_fails_is_done_by_the_second_and_marked(error: type[ProviderError]) -> None:
    told: list[Role] = []
    rating = await FallbackRater(Failing(error("no")), FixedRater(4), told.append).rate(RATE)
    assert (rating.scores["response_depth"], rating.fallback, told) == (4, True, ["scoring"])


async def test_slots_that_fail_are_named_by_the_second_and_stay_deferred() -> None:
    told: list[Role] = []
    slots = FallbackSlotProposer(Failing(LLMTimeout("no")), OwnSlots(), told.append)
    assert (await slots.propose(PROPOSE), told, slots.inline) == ([], ["scoring"], False)


async def test_first_that_delivers_is_taken_unmarked() -> None:
    told: list[Role] = []
    second = ScriptedExtractor()
    found = await FallbackExtractor(ScriptedExtractor({"The aroma": FOUND}), second, told.append).extract(EXTRACT)
    assert (found, told, second.requests) == (FOUND, [], [])
    rating = await FallbackRater(FixedRater(5), FixedRater(1), told.append).rate(RATE)
    assert (rating.scores["response_depth"], rating.fallback, told) == (5, False, [])


@pytest.mark.parametrize("error", [asyncio.CancelledError(), ValueError("a defect")])
async def test_cancellation_and_defects_pass(error: BaseException) -> None:
    told: list[Role] = []
    with pytest.raises(type(error)):
        await FallbackExtractor(Failing(error), ScriptedExtractor(), told.append).extract(EXTRACT)
    with pytest.raises(type(error)):
        await FallbackRater(Failing(error), FixedRater(), told.append).rate(RATE)
    with pytest.raises(type(error)):
        await FallbackSlotProposer(Failing(error), OwnSlots(), told.append).propose(PROPOSE)
    assert told == []


async def test_second_that_fails_as_well_is_the_error() -> None:
    extractor = FallbackExtractor(Failing(LLMTimeout("first")), Failing(LLMRejected("second")))
    with pytest.raises(LLMRejected, match="second"):
        await extractor.extract(EXTRACT)


async def test_writer_that_steps_in_is_counted_once_per_question() -> None:
    told: list[Role] = []
    writer = CountedWriter(PlainWriter(), told.append)
    text = await _heard(writer.write(_question()))
    await _heard(writer.write(_question(variant=1)))
    assert text == writer.template(_question())
    assert told == ["generation"]


async def test_missing_model_fails_every_task_with_its_reason() -> None:
    missing = Missing("ASKWELL_SCORING_MODEL is not set", PlainWriter())
    for task in (
        missing.extract(EXTRACT),
        missing.rate(RATE),
        missing.propose(PROPOSE),
        _heard(missing.write(_question())),
    ):
        with pytest.raises(LLMUnavailable, match="ASKWELL_SCORING_MODEL is not set"):
            await task
    assert missing.template(_question()).endswith("?")
