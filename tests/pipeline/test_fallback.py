"""What happens to a turn when a provider fails: the second writer, the template, the error; and what is on record."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from pipeline.errors import LLMTimeout, LLMUnavailable
from pipeline.ports import Extraction, ExtractionRequest, QuestionRequest, Rating, RatingRequest
from tests.support.interview import FixedRater, Interview, PlainWriter, ScriptedExtractor, concepts, configuration
from tests.support.patience import PATIENCE_S


class Breaking(PlainWriter):
    """Fails after some pieces, from a given variant on."""

    def __init__(self, after: int = 0, *, from_variant: int = 0, texts: tuple[str, ...] = ()) -> None:
        super().__init__(texts)
        self.after = after
        self.from_variant = from_variant
        self.closed = 0

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        pieces = 0
        try:
            async for piece in super().write(request):
                if request.variant >= self.from_variant and pieces == self.after:
                    raise LLMUnavailable("gone")
                yield piece
                pieces += 1
        finally:
            self.closed += 1


async def opened(interview: Interview) -> Interview:
    """With an opening question that nobody has to write."""
    writer, interview.writer = interview.writer, PlainWriter()
    await interview.open()
    interview.writer = writer
    return interview


async def test_failing_writer_without_a_second_one_fails_the_turn() -> None:
    interview = await opened(Interview(writer=Breaking()))
    with pytest.raises(LLMUnavailable) as failed:
        await interview.say("one", concepts(("taste", "attribute")))
    assert failed.value.stage == "question"
    assert interview.state.turn_count == 0 and interview.listener.text == ""


async def test_failing_writer_with_a_second_one_asks_the_second_visibly() -> None:
    interview = await opened(Interview(writer=Breaking(), second=PlainWriter()))
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert outcome.record is not None
    assert outcome.record.fallbacks == ("question",) and outcome.record.fallback
    assert interview.result.has_llm_fallback
    asked = next(event for event in outcome.events if event["type"] == "question.completed")
    assert asked["fallback"] and asked["text"] == interview.listener.text


async def test_writer_that_fails_in_the_middle_is_mended_and_not_asked_of_the_second() -> None:
    second = PlainWriter()
    interview = await opened(Interview(writer=Breaking(after=7), second=second))
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert second.requests == []
    assert outcome.record is not None and outcome.record.fallback and outcome.record.fallbacks == ()
    assert interview.listener.text == interview.result.next_question


async def test_regeneration_that_fails_leaves_the_template_not_an_error() -> None:
    writer = Breaking(from_variant=1, texts=("Do you like it?",))
    interview = await opened(Interview(writer=writer))
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert outcome.record is not None and outcome.record.fallback
    assert interview.listener.text.startswith("What ")


async def test_opening_falls_back_too() -> None:
    interview = Interview(writer=Breaking(), second=PlainWriter())
    outcome = await interview.open()
    assert outcome.events[-1]["fallback"] is True


async def test_writer_is_closed_as_soon_as_enough_was_heard() -> None:
    writer = Breaking(
        after=-1, texts=("Do you like coffee in the morning and what else do you like about it then?",) * 2
    )
    interview = await opened(Interview(writer=writer))
    await interview.say("one", concepts(("taste", "attribute")))
    assert writer.closed == len(writer.requests) == 2


async def test_selection_of_failing_candidates_goes_to_the_second() -> None:
    interview = await opened(
        Interview(
            writer=Breaking(), second=PlainWriter(), configuration=configuration(enable_question_self_selection=True)
        )
    )
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert outcome.record is not None and outcome.record.fallbacks == ("question",)


class SecondHandExtractor(ScriptedExtractor):
    async def extract(self, request: ExtractionRequest) -> Extraction:
        return (await super().extract(request)).model_copy(update={"fallback": True})


class SecondHandRater(FixedRater):
    async def rate(self, request: RatingRequest) -> Rating:
        return (await super().rate(request)).model_copy(update={"fallback": True})


async def test_fallback_of_extraction_and_rating_is_on_record() -> None:
    interview = Interview(extractor=SecondHandExtractor(), rater=SecondHandRater())
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert outcome.record is not None
    assert outcome.record.fallbacks == ("extraction", "rating")
    assert interview.result.has_llm_fallback and not outcome.record.fallback


async def test_failing_rater_cancels_the_other_lane_and_leaves_no_trace() -> None:
    class Slow(FixedRater):
        async def rate(self, request: RatingRequest) -> Rating:
            raise LLMTimeout("late")

    interview = await opened(Interview(rater=Slow()))
    before = interview.state
    with pytest.raises(LLMTimeout) as failed:
        await interview.say("one", concepts(("taste", "attribute")))
    assert failed.value.stage == "rating" and interview.state == before


async def test_candidates_for_selection_are_written_at_the_same_time() -> None:
    class Meeting(PlainWriter):
        """Goes on when all three are there."""

        def __init__(self) -> None:
            super().__init__()
            self.all_here = asyncio.Barrier(3)

        async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
            async with asyncio.timeout(PATIENCE_S):
                await self.all_here.wait()
            async for piece in super().write(request):
                yield piece

    interview = await opened(
        Interview(writer=Meeting(), configuration=configuration(enable_question_self_selection=True))
    )
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert outcome.record is not None and not outcome.record.fallback


async def test_question_that_repeats_what_its_writer_was_told_does_not_reach_the_respondent() -> None:
    told = "What do you think of this: find out what else belongs to it for you?"
    plain = configuration()
    strategies = tuple(
        strategy.model_copy(update={"description": "Find out what else belongs to it for them."})
        for strategy in plain.methodology.strategies
    )
    methodology = plain.methodology.model_copy(update={"strategies": strategies})
    interview = await opened(
        Interview(
            writer=PlainWriter([told, told]),
            configuration=plain.model_copy(update={"methodology": methodology}),
            secrets=("You write the next question of an interview.",),
        )
    )
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert outcome.record is not None and outcome.record.fallback
    assert "what else belongs" not in interview.listener.text


async def test_writer_that_fails_behind_a_whole_question_is_not_mended() -> None:
    class BreaksAtTheEnd(PlainWriter):
        async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
            async for piece in super().write(request):
                yield piece
            raise LLMUnavailable("gone")

    interview = await opened(Interview(writer=BreaksAtTheEnd()))
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    assert outcome.record is not None and not outcome.record.fallback
    assert interview.listener.text.endswith("?") and "put that differently" not in interview.listener.text
