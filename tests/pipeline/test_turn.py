"""The turn as a whole: order, lanes, failure, cancellation, switches."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator
from typing import ClassVar

import pytest

from pipeline.context import Answer, TurnContext
from pipeline.contracts import Contract, GraphOutput, StateOutput, StrategyOutput
from pipeline.engines.signal_pools import SignalPools
from pipeline.errors import ContractNotReady, InvalidAnswer, LLMUnavailable, PipelineMisbuilt
from pipeline.language.acts.reading import RuleReader
from pipeline.ports import Extraction, ExtractionRequest, QuestionRequest, Rating, RatingRequest
from pipeline.state import Directive
from pipeline.turn import Providers, TurnPipeline, check_stages, default_stages
from tests.support.interview import (
    NOW,
    FixedRater,
    Interview,
    Listener,
    OwnSlots,
    PlainWriter,
    ScriptedExtractor,
    TableEmbedder,
    Ticks,
    WordParser,
    concepts,
    configuration,
    new_state,
)
from tests.support.patience import PATIENCE_S


def providers(**changes: object) -> Providers:
    fields: dict[str, object] = {
        "extractor": ScriptedExtractor(),
        "rater": FixedRater(),
        "slot_proposer": OwnSlots(),
        "writer": PlainWriter(),
        "embedder": TableEmbedder(),
        "parser": WordParser(),
        "act_reader": RuleReader(),
    }
    return Providers(**{**fields, **changes})  # type: ignore[arg-type]


def test_pipeline_has_the_twelve_stages_in_their_order() -> None:
    names = [stage.name for _, stage in default_stages(providers(), {})]
    names.remove("rating")
    assert names == [
        "context", "utterance", "srl", "extraction", "graph", "slots",
        "state", "strategy", "continuation", "question", "response", "scoring",
    ]  # fmt: skip


@pytest.mark.parametrize("missing", range(13))
def test_pipeline_any_stage_missing_but_the_last_is_refused(missing: int) -> None:
    stages = default_stages(providers(), {})
    left = [stage for position, stage in enumerate(stages) if position != missing]
    if missing == 12:
        check_stages(left)
        return
    with pytest.raises(PipelineMisbuilt):
        check_stages(left)


def test_pipeline_stage_twice_or_out_of_order_is_refused() -> None:
    stages = default_stages(providers(), {})
    with pytest.raises(PipelineMisbuilt):
        check_stages([*stages, stages[-1]])
    with pytest.raises(PipelineMisbuilt):
        check_stages([*stages[:4], stages[5], stages[4], *stages[6:]])


def test_pipeline_lane_reading_the_parallel_lane_is_refused() -> None:
    class Nosy:
        name: ClassVar[str] = "nosy"
        requires: ClassVar[tuple[type[Contract], ...]] = (GraphOutput,)
        provides: ClassVar[type[Contract]] = StrategyOutput

        async def run(self, context: TurnContext) -> Contract:
            return context.get(GraphOutput)

    stages = default_stages(providers(), {})
    with pytest.raises(PipelineMisbuilt, match="parallel lane"):
        check_stages([*stages[:6], ("rating", Nosy())])


async def test_contract_read_too_early_raises() -> None:
    context = TurnContext(new_state(), Answer("k", "x"), configuration(), NOW, Listener(), {})
    with pytest.raises(ContractNotReady):
        context.get(StateOutput)


async def test_rating_and_extraction_run_side_by_side() -> None:
    together = asyncio.Barrier(2)

    class Extractor(ScriptedExtractor):
        async def extract(self, request: ExtractionRequest) -> Extraction:
            async with asyncio.timeout(PATIENCE_S):
                await together.wait()
            return await super().extract(request)

    class Rater(FixedRater):
        async def rate(self, request: RatingRequest) -> Rating:
            async with asyncio.timeout(PATIENCE_S):
                await together.wait()
            return await super().rate(request)

    interview = Interview(extractor=Extractor(), rater=Rater())
    await interview.say("one", concepts(("taste", "attribute")))
    assert interview.state.turn_count == 1


@pytest.mark.parametrize("where", ["extraction", "rating"])
async def test_turn_error_in_one_lane_cancels_the_other_and_names_the_stage(where: str) -> None:
    cancelled: list[str] = []

    async def hang(name: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(name)
            raise

    class Extractor(ScriptedExtractor):
        async def extract(self, request: ExtractionRequest) -> Extraction:
            if where == "extraction":
                raise LLMUnavailable("down")
            await hang("extraction")
            raise AssertionError

    class Rater(FixedRater):
        async def rate(self, request: RatingRequest) -> Rating:
            if where == "rating":
                raise LLMUnavailable("down")
            await hang("rating")
            raise AssertionError

    interview = Interview(extractor=Extractor(), rater=Rater())
    await interview.open()
    before = interview.state
    with pytest.raises(LLMUnavailable) as caught:
        await interview.say("one")
    assert caught.value.stage == where and cancelled == [{"extraction": "rating", "rating": "extraction"}[where]]
    assert interview.state is before


async def test_turn_cancelled_leaves_no_trace_and_can_be_run_again() -> None:
    gate = asyncio.Event()

    class Extractor(ScriptedExtractor):
        async def extract(self, request: ExtractionRequest) -> Extraction:
            await gate.wait()
            return await super().extract(request)

    interview = Interview(extractor=Extractor())
    await interview.open()
    before = interview.state.dump()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(interview.say("one", concepts(("taste", "attribute"))))
        await asyncio.sleep(0)
        task.cancel()
    assert task.cancelled()
    assert interview.state.dump() == before
    gate.set()
    await interview.say("one", concepts(("taste", "attribute")))
    assert interview.state.turn_count == 1 and len(interview.state.nodes) == 1


async def test_turn_run_twice_gives_the_same_outcome_to_the_letter() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute")))
    first, second = [
        await interview.pipeline().run(
            interview.state, Answer("k", "one"), interview.configuration, now=NOW, sink=Listener(), embeddings={}
        )
        for _ in range(2)
    ]
    assert first.state.dump() == second.state.dump()
    assert first.events == second.events


@pytest.mark.parametrize(("srl", "slots", "selection"), list(itertools.product((True, False), repeat=3)))
async def test_switches_every_combination_holds_an_interview(srl: bool, slots: bool, selection: bool) -> None:
    interview = Interview(
        configuration=configuration(
            enable_srl=srl, enable_canonical_slots=slots, enable_question_self_selection=selection
        )
    )
    for turn in range(1, 4):
        await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
        assert (interview.result.canonical_graph is not None) == slots
        assert interview.listener.text == interview.result.next_question
    assert len([r for r in interview.writer.requests if r.kind == "follow_up"]) == (9 if selection else 3)


async def test_stream_deltas_joined_are_the_completed_text() -> None:
    interview = Interview()
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    asked = next(event for event in outcome.events if event["type"] == "question.completed")
    assert interview.listener.text == asked["text"] and len(interview.listener.heard) > 3


class AtOnce(PlainWriter):
    """Knows its question as a whole."""

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        yield "What makes the taste matter to you?"


@pytest.mark.parametrize(("streaming", "pieces"), [("live", 7), ("held", 1)])
async def test_question_that_is_known_as_a_whole_is_sent_word_by_word_unless_sentences_are_held(
    streaming: str, pieces: int
) -> None:
    interview = Interview(configuration=configuration(question_streaming=streaming), writer=AtOnce())
    interview.state = (await Interview().open()).state
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    asked = next(event for event in outcome.events if event["type"] == "question.completed")
    assert interview.listener.text == asked["text"] == "What makes the taste matter to you?"
    assert len(interview.listener.heard) == pieces


async def test_question_refused_once_is_written_again() -> None:
    good = "What makes the taste matter to you?"
    interview = Interview(writer=PlainWriter(["Don't you think that taste is great?", good]))
    interview.state = (await Interview().open()).state
    await interview.say("one", concepts(("taste", "attribute")))
    assert interview.result.next_question == good and not interview.result.has_llm_fallback


async def test_question_refused_twice_falls_back_to_the_template_visibly() -> None:
    interview = Interview(writer=PlainWriter(["", "Is it good?"]))
    interview.state = (await Interview().open()).state
    await interview.say("one", concepts(("taste", "attribute")))
    assert interview.result.has_llm_fallback
    assert interview.result.next_question.endswith("?") and interview.listener.text == interview.result.next_question


async def test_question_bad_ending_keeps_what_is_out() -> None:
    text = "What makes the taste of your coffee in the morning so special, and why do you also like tea?"
    interview = Interview(writer=PlainWriter([text]))
    interview.state = (await Interview().open()).state
    await interview.say("one", concepts(("taste", "attribute")))
    final = interview.result.next_question
    assert final != text and final.startswith("What makes the taste") and interview.listener.text == final


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "invalid_input"),
        (" \n\t ", "invalid_input"),
        ("\u200b\u200d", "invalid_input"),
        ("a\x00b", "invalid_input"),
        ("broken \ud800", "invalid_input"),
        ("x" * 8001, "answer_too_long"),
    ],
)
async def test_answer_that_cannot_be_taken_uses_no_turn(text: str, code: str) -> None:
    interview = Interview()
    await interview.open()
    with pytest.raises(InvalidAnswer) as caught:
        await interview.say(text)
    assert caught.value.wire_code == code and interview.state.turn_count == 0
    assert interview.extractor.requests == []


@pytest.mark.parametrize("text", ["x" * 8000, "أحب القهوة", "👍🏽", "a\u202eb"])
async def test_answer_unusual_but_fine_is_taken_as_it_is(text: str) -> None:
    interview = Interview()
    await interview.say(text)
    answers = [u.text for u in interview.state.utterances if u.speaker == "respondent"]
    assert answers == [text]


async def test_correction_of_anything_but_the_last_answer_is_refused() -> None:
    interview = Interview()
    await interview.say("one")
    with pytest.raises(InvalidAnswer):
        await interview.say("fixed", kind="correct", corrects="someone else's")


async def test_opening_is_turn_zero_without_focus() -> None:
    interview = Interview()
    outcome = await interview.open()
    assert interview.state.turn_count == 0 and interview.state.status == "active"
    assert [event["type"] for event in outcome.events] == ["session.state", "question.completed"]
    assert outcome.events[-1]["turn_number"] == 0 and interview.state.focus_history == ()


async def test_rephrase_changes_the_words_and_uses_no_turn() -> None:
    interview = Interview(writer=PlainWriter(["What comes to mind?", "Which thoughts come up first?"]))
    await interview.open()
    outcome = await interview.pipeline().rephrase(interview.state, interview.configuration, now=NOW, sink=Listener())
    assert outcome.state.turn_count == 0 and outcome.record is None
    assert outcome.state.question is not None
    assert outcome.state.question.text == "Which thoughts come up first?"
    assert [event["type"] for event in outcome.events] == ["question.completed"]


async def test_engine_unknown_is_a_clear_error() -> None:
    interview = Interview(state=new_state(engine="no_such"))
    with pytest.raises(PipelineMisbuilt, match="no_such"):
        await interview.say("one")


@pytest.mark.parametrize(
    ("language", "prompts", "time"), [("en", {}, "past"), ("de", {}, None), ("en", {"question": "p"}, None)]
)
async def test_question_knows_when_what_it_is_about_was_told_to_be_so(
    language: str, prompts: dict[str, str], time: str | None
) -> None:
    interview = Interview(
        configuration=configuration().model_copy(update={"prompts": prompts}), state=new_state(language=language)
    )
    await interview.say("taste was good. I like it", concepts(("taste", "attribute")))
    assert interview.writer.requests[-1].focus_label == "taste"
    assert interview.writer.requests[-1].focus_time == time


async def test_timings_come_from_the_given_clock() -> None:
    interview = Interview()
    await interview.open()
    pipeline = TurnPipeline(providers(), Ticks(), engines={"signal_pools": SignalPools()})
    outcome = await pipeline.run(
        interview.state, Answer("k", "one"), interview.configuration, now=NOW, sink=Listener(), embeddings={}
    )
    assert outcome.record is not None and outcome.record.stages_ms
    assert all(ms > 0 for ms in outcome.record.stages_ms.values())


async def test_repetition_settings_take_effect() -> None:
    strict = Interview(configuration=configuration(repeat_jaccard=0.05, repeat_cosine=1.0))
    await strict.say("one", concepts(("taste", "attribute")))
    await strict.say("two", concepts(("smell", "attribute")))
    assert strict.result.has_llm_fallback


async def test_selection_survives_a_candidate_that_fails() -> None:
    class Failing(PlainWriter):
        async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
            if request.variant == 2:
                raise LLMUnavailable("down")
            async for piece in super().write(request):
                yield piece

    interview = Interview(writer=Failing(), configuration=configuration(enable_question_self_selection=True))
    await interview.say("one", concepts(("taste", "attribute")))
    assert not interview.result.has_llm_fallback


async def test_moderators_wish_for_what_is_not_there_is_no_wish() -> None:
    interview = Interview()
    await interview.open()
    wish = Directive(command_id="c1", kind="steer", strategy="no such strategy", node_id="no such node")
    interview.state = interview.state.model_copy(update={"directives": (wish,)})
    await interview.say("one", concepts(("taste", "attribute")))
    assert interview.state.turn_count == 1 and interview.state.directives == ()


async def test_moderators_node_is_what_the_next_question_is_about() -> None:
    interview = Interview(rater=FixedRater(depth=1))
    await interview.say("one", concepts(("taste", "attribute"), ("smell", "attribute")))
    node = next(node for node in interview.state.nodes if node.label == "taste")
    wish = Directive(command_id="c1", kind="steer", node_id=node.id)
    interview.state = interview.state.model_copy(update={"directives": (wish,)})
    await interview.say("hm")
    assert interview.state.question is not None and interview.state.question.focus_label == "taste"
