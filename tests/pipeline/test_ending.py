"""How interviews end: the rules of continuation, closing as a state."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.concept import MustAsk, PipelineSettings
from pipeline.finished import NOTHING_LEFT, closes, objects
from pipeline.graph.tracker import NodeState, NodeStateTracker
from pipeline.guide import TopicProgress, given_up, taken_up
from pipeline.methodology import Form, GuideTopic, Strategy
from pipeline.ports import Extraction, QuestionRequest
from pipeline.stages.continuation import saturation_reason
from pipeline.stages.question import NOT_WHAT_ELSE
from pipeline.state import SaturationMetrics
from tests.support.interview import (
    FixedRater,
    Interview,
    PlainWriter,
    concepts,
    conduct_policy,
    configuration,
    new_state,
    small_methodology,
)


def focused(*waits: int) -> NodeStateTracker:
    return NodeStateTracker(
        NodeState(
            key=str(i),
            label=str(i),
            node_type="attribute",
            created_turn=1,
            sequence=i,
            focus_count=1,
            turns_since_last_yield=wait,
        )
        for i, wait in enumerate(waits)
    )


@pytest.mark.parametrize(
    ("metrics", "waits", "flag", "reason"),
    [
        ({"consecutive_low_info": 5}, (0,), False, "graph_saturated"),
        ({"consecutive_low_info": 4}, (0,), False, None),
        ({"consecutive_shallow": 6}, (0,), False, "quality_degraded"),
        ({"consecutive_depth_plateau": 6}, (0,), False, "depth_plateau"),
        ({}, (3, 4), False, "all_nodes_exhausted"),
        ({}, (3, 2), False, None),
        ({}, (), False, None),
        ({}, (0,), True, "saturated"),
        ({"consecutive_low_info": 5, "consecutive_shallow": 9}, (9,), True, "graph_saturated"),
    ],
)
def test_saturation_reason_rules_in_order(
    metrics: dict[str, int], waits: tuple[int, ...], flag: bool, reason: str | None
) -> None:
    found = saturation_reason(SaturationMetrics.model_validate(metrics), focused(*waits), PipelineSettings(), flag)
    assert found == reason


async def test_interview_with_news_closes_late_and_completes_once_after_the_closing_answer() -> None:
    interview = Interview()
    seen = []
    for turn in range(1, 16):
        outcome = await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
        seen.append(interview.state.status)
    assert seen == ["active"] * 13 + ["closing", "completed"]
    assert "thing 15 x" in {node.label for node in interview.state.nodes}
    kinds = [event["type"] for event in outcome.events]
    assert kinds == ["question.completed", "turn.completed", "session.state"]
    assert outcome.events[0]["text"] == "Thank you very much for your time." and interview.state.question is None


async def closing_interview() -> Interview:
    """An interview whose closing question waits for an answer."""
    interview = Interview()
    for turn in range(1, 15):
        await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
    assert interview.state.status == "closing" and interview.state.question is not None
    assert interview.state.question.kind == "closing_question"
    return interview


def moving(told: Extraction) -> Extraction:
    """The same, told with strong feeling."""
    return told.model_copy(update={"concepts": tuple(each.model_copy(update={"emotion": 2}) for each in told.concepts)})


async def test_what_is_added_in_passing_at_the_end_is_not_asked_about() -> None:
    interview = await closing_interview()
    await interview.say(
        "Only that a toasted teacake should not cost four quid.", concepts(("toasted teacake", "attribute"))
    )
    assert interview.state.status == "completed"


async def test_who_was_told_that_it_ends_is_not_asked_on_whatever_the_answer_brings() -> None:
    interview = await closing_interview()
    more = (
        "Oh, there was one thing more that I never told anybody, not even my sister. I stood there in the rain "
        "with his letter in my hand, and I was so ashamed that I could not open it."
    )
    done = await interview.say(more, moving(concepts(("one thing more", "attribute"))))
    assert [event["state"] for event in done.events if event["type"] == "session.state"] == ["completed"]


EARLY = "Oh, are we stopping? I didn't mean that, I just say that. I've got time, you can ask me the rest."


async def told_all(**given: Any) -> Interview:
    """An interview that asks the closing question early, because somebody says behind each answer that this is all."""
    interview = Interview(**given)
    for turn in range(1, 7):
        await interview.say(f"It is number {turn}. That's all.", concepts((f"number {turn}", "attribute")))
        if interview.state.status == "closing":
            break
    assert interview.state.status == "closing"
    return interview


async def test_who_finds_the_end_too_early_is_asked_on() -> None:
    given = configuration().model_copy(update={"conduct": conduct_policy()})
    interview = await told_all(configuration=given)
    await interview.say(EARLY, concepts(("time", "attribute")))
    state = interview.state
    assert (state.status, state.status_reason) == ("active", "") and state.question is not None
    assert (state.question.kind, interview.result.should_continue) == ("question", True)
    assert state.utterances[-1].text.startswith("Of course, we don't have to stop yet. ")
    assert interview.writer.requests[-1].composed
    await interview.say("It is warm.", concepts(("warm", "attribute")))
    assert interview.state.status == "active"


def test_topics_that_were_given_up_at_the_end_are_open_again() -> None:
    before = (
        TopicProgress(id="a", label="A"),
        TopicProgress(id="b", label="B", status="covered"),
        TopicProgress(id="c", label="C", status="asked"),
    )
    left = given_up(before, "nothing_left")
    assert [item.status for item in left] == ["left", "covered", "asked"]
    assert taken_up(left) == before


async def test_an_end_by_turns_is_not_put_off_for_who_finds_it_too_early() -> None:
    interview = await closing_interview()
    await interview.say(
        "Oh, is it over already? You never asked about the price of it.", concepts(("price", "attribute"))
    )
    assert interview.state.status == "completed"


@pytest.mark.parametrize(
    "text",
    [
        "Oh, are we stopping?",
        "Wait, are we done already?",
        "Oh, we stop already?",
        "I didn’t mean to stop, I like this.",
        "You never asked about the garden, you know.",
        "I've still got time if you want more.",
    ],
)
def test_objections_to_the_end_are_heard(text: str) -> None:
    assert objects(text)


@pytest.mark.parametrize(
    "text",
    [
        "No, that's it.",
        "You never asked about the price, but that's fine.",
        "Are we stopping? Good, that's all from me.",
        "They asked whether we are stopping the trial.",
        "I didn't mean that he was lazy.",
        "He said I've got time for one more.",
        "I never asked about it.",
    ],
)
def test_other_last_answers_are_none(text: str) -> None:
    assert not objects(text)


async def test_thanks_follow_a_closing_answer_that_brings_nothing_new() -> None:
    interview = await closing_interview()
    await interview.say("No, I think that was really all I have got.", concepts())
    assert interview.state.status == "completed"


async def test_who_says_that_this_is_all_is_thanked_though_something_new_was_said() -> None:
    interview = await closing_interview()
    await interview.say(
        "Only that the second firm was very good. That's all, love, thank you for listening.",
        concepts(("second firm", "attribute")),
    )
    assert interview.state.status == "completed"


async def test_saturation_before_the_end_asks_the_closing_question_first() -> None:
    interview = Interview()
    found = concepts(("taste", "attribute"))
    turn = 0
    while not any(utterance.kind == "closing_question" for utterance in interview.state.utterances):
        turn += 1
        await interview.say(f"again {turn}", found)
        assert turn < 12
    result = interview.result
    assert result.termination_reason in {"graph_saturated", "all_nodes_exhausted"}
    assert interview.state.utterances[-1].kind == "closing_question"
    await interview.say("one last thing", concepts(("farewell gift", "attribute")))
    assert interview.state.status == "completed"
    assert interview.state.utterances[-1].text == "Thank you very much for your time."
    assert "farewell gift" in {node.label for node in interview.state.nodes}


async def test_saturation_without_a_closing_strategy_completes_at_once() -> None:
    methodology = small_methodology(strategies=[{"name": "deepen", "signal_weights": {"llm.engagement": 1}}], phases={})
    interview = Interview(configuration=configuration(methodology))
    turn = 0
    while interview.state.status == "active" or turn == 0:
        turn += 1
        await interview.say(f"again {turn}", concepts(("taste", "attribute")))
        assert turn < 12
    assert interview.state.status == "completed"


async def test_no_saturation_before_turn_five() -> None:
    interview = Interview(rater=FixedRater(depth=1))
    for turn in range(1, 5):
        await interview.say(f"again {turn}", concepts(("taste", "attribute")))
        assert interview.state.status == "active"


async def test_last_turn_is_processed_and_answered_with_thanks() -> None:
    interview = Interview(state=new_state(max_turns=3))
    for turn in range(1, 4):
        outcome = await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
    assert interview.state.status == "completed" and len(interview.state.nodes) == 3
    assert interview.result.termination_reason == "Maximum turns reached"
    assert outcome.events[1]["result"]["should_continue"] is False


async def test_public_result_has_progress_but_no_signals() -> None:
    interview = Interview()
    outcome = await interview.say("one", concepts(("taste", "attribute")))
    public = next(e for e in outcome.events if e["type"] == "turn.completed")["result"]
    assert set(public) == {"should_continue", "turn_number", "max_turns", "progress", "utterance_id"}
    assert interview.state.receipt("key-1") is not None


async def test_moderators_question_is_asked_verbatim_and_once() -> None:
    from pipeline.state import Directive

    interview = Interview()
    await interview.open()
    wish = Directive(command_id="c1", kind="inject", question="And the price?")
    interview.state = interview.state.model_copy(update={"directives": (wish,)})
    await interview.say("one", concepts(("taste", "attribute")))
    assert interview.state.question is not None and interview.state.question.text == "And the price?"
    assert interview.state.directives == ()
    await interview.say("two", concepts(("smell", "attribute")))
    assert interview.state.question.text != "And the price?"


async def test_correction_while_closing_keeps_the_closing_question_open() -> None:
    interview = Interview(state=new_state(max_turns=20))
    found = concepts(("taste", "attribute"))
    turn = 0
    while not any(utterance.kind == "closing_question" for utterance in interview.state.utterances):
        turn += 1
        await interview.say(f"again {turn}", found)
    last = interview.state.last_answer()
    assert last is not None
    await interview.say("I meant the smell", concepts(("smell", "attribute")), kind="correct", corrects=last.id)
    corrected = interview.state
    assert corrected.status == "closing" and corrected.question is not None
    assert corrected.question.kind == "closing_question"
    final = (await interview.say("that is all")).state
    assert final.status == "completed" and final.status_reason == corrected.status_reason != ""


async def test_saturated_choice_is_not_the_reason_for_the_closing_question() -> None:
    interview = Interview()
    turn = 0
    while not any(utterance.kind == "closing_question" for utterance in interview.state.utterances):
        turn += 1
        await interview.say(f"again {turn}", concepts(("taste", "attribute")))
    request, result = interview.writer.requests[-1], interview.result
    assert request.kind == "closing"
    assert request.rationale == result.termination_reason and request.signals == ()


async def test_focus_mode_names_what_a_question_without_a_node_is_about() -> None:
    interview = Interview(rater=FixedRater(depth=1))
    await interview.say("hm")
    assert interview.state.focus_history[-1].strategy == "explore"
    assert interview.state.focus_history[-1].label == "coffee" == interview.writer.requests[-1].focus_label
    while not any(utterance.kind == "closing_question" for utterance in interview.state.utterances):
        await interview.say(f"again {interview.state.turn_count}", concepts(("taste", "attribute")))
    assert interview.state.focus_history[-1].label == "what we've discussed"


async def test_depth_plateau_counts_turns_without_yield_and_survives_a_yield_at_the_same_depth() -> None:
    interview = Interview()
    await interview.say("start", concepts(("thing one", "attribute")))
    counts = []
    for turn in range(4):
        await interview.say(f"nothing {turn}")
        await interview.say(f"more {turn}", concepts((f"item {turn} x", "attribute")))
        counts.append(interview.state.saturation.consecutive_depth_plateau)
    assert counts == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("There's not much more to it, really.", True),
        ("I was tired for two days. There's not much more to tell there, really.", True),
        ("We put it in the cellar. That's all.", True),
        ("I think I've said it, you know. Somebody should notice you.", True),
        ("Now I can't true a wheel. More isn't in it.", True),
        ("There's not much more, that's the whole sum.", True),
        ("Mehr war da nicht.", True),
        ("That's all I wanted, somebody who asks.", False),
        ("There was nothing more to eat, so we left.", False),
        ("It isn't the price, it's the noise.", False),
    ],
)
def test_words_that_say_that_there_is_no_more_to_tell(said: str, left: bool) -> None:
    assert (NOTHING_LEFT.search(said) is not None) == left


@pytest.mark.parametrize(
    ("said", "closed"),
    [
        ("I thought, he'd be laughing at me. That's about the lot.", True),
        ("I remember the hand on the back. That's it, I think I said everything.", True),
        ("I think that's it, I don't know that I can say it any better.", True),
        ("The forms are on my desk, unsigned. So that's where it stands.", True),
        ("They don't leak. That's me done on bottles.", True),
        ("Nothing next. I'm happy to leave it there.", True),
        ("They still are. That's all I've got to say on it.", True),
        ("That's all, more than this I don't know to say.", True),
        ("Ich habe ihn nie gefragt. Das war's, mehr weiß ich nicht.", True),
        ("Felt bad I'd never gone out with him, that's all.", False),
        ("I pushed the next paper in. That's all. Then it was Thursday and the supermarket leaflets came.", False),
        ("One email. That's all it would have cost them.", False),
        ("Then he says, that's all right then, and goes in.", False),
        ("I told you what matters to him.", False),
        ("", False),
    ],
)
def test_sentence_that_only_says_that_this_was_all_of_it_ends_an_answer(said: str, closed: bool) -> None:
    assert closes(said) == closed


@pytest.mark.parametrize(("max_turns", "kind"), [(16, "closing_question"), (30, "question")])
async def test_who_says_once_that_this_was_all_is_asked_the_closing_question_late_in_an_interview(
    max_turns: int, kind: str
) -> None:
    interview = Interview(state=new_state(max_turns=max_turns))
    for turn in range(1, 11):
        await interview.say(f"It was the {turn}th house on the left.", concepts((f"house {turn}", "attribute")))
    await interview.say("It had a green gate. That's about the lot.", concepts(("green gate", "attribute")))
    assert interview.state.utterances[-1].kind == kind


async def test_who_says_twice_that_this_was_all_is_asked_the_closing_question_early() -> None:
    interview = Interview(state=new_state(max_turns=30))
    for turn in range(1, 4):
        await interview.say(f"It was the {turn}th house on the left.", concepts((f"house {turn}", "attribute")))
    await interview.say("It had a green gate. That's the story.", concepts(("green gate", "attribute")))
    once = interview.state.utterances[-1].kind
    await interview.say("The gate squeaked. That's all I've got to say on it.", concepts(("squeak", "attribute")))
    assert (once, interview.state.utterances[-1].kind) == ("question", "closing_question")


async def test_who_has_told_all_of_it_is_asked_the_closing_question_at_once() -> None:
    interview = Interview()
    for turn in range(1, 9):
        await interview.say(f"It was the {turn}th house on the left.", concepts((f"house {turn}", "attribute")))
    await interview.say("I think I've told you all of it now.", concepts(("the gate", "attribute")))
    assert interview.result.termination_reason == "nothing_left"


async def test_who_says_again_that_there_is_no_more_to_tell_is_asked_the_closing_question() -> None:
    interview = Interview(state=new_state(max_turns=20))
    for turn in range(1, 9):
        await interview.say(f"It was the {turn}th house on the left.", concepts((f"house {turn}", "attribute")))
    await interview.say("There's not much more to it, really.", concepts(("the gate", "attribute")))
    once = interview.state.utterances[-1].kind
    await interview.say("Well, the gate was green. That's all.", concepts(("green gate", "attribute")))
    assert interview.result.termination_reason == "nothing_left"
    assert (once, interview.state.utterances[-1].kind) == ("question", "closing_question")


class Sated(PlainWriter):
    """A writer that finds from some question on that nothing it could ask promises much."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after, self.made = after, 0

    async def finds_little(self, request: QuestionRequest) -> bool:
        self.made = len(request.all_questions)
        return self.made >= self.after


async def interview_of(after: int, *, max_turns: int = 20, **concept: object) -> Interview:
    """An interview that brings something new each time, until it closes or has had twelve answers."""
    base = configuration()
    own = base.concept.model_copy(update=concept)
    interview = Interview(
        writer=Sated(after),
        state=new_state(max_turns=max_turns),
        configuration=base.model_copy(update={"concept": own}),
    )
    for turn in range(1, 13):
        await interview.say(f"It was the {turn}th house on the left.", concepts((f"house {turn}", "attribute")))
        if interview.state.status != "active":
            break
    return interview


@pytest.mark.parametrize(("max_turns", "answers"), [(20, 12), (10, 8), (15, 9)])
async def test_where_nothing_promises_much_any_more_the_closing_question_comes(max_turns: int, answers: int) -> None:
    interview = await interview_of(3, max_turns=max_turns)
    assert sum(one.speaker == "respondent" for one in interview.state.utterances) == answers
    assert interview.state.utterances[-1].kind == "closing_question"
    assert interview.result.termination_reason == "little_promised"
    await interview.say("No, that was everything.")
    assert interview.state.status == "completed"


async def test_a_writer_that_still_finds_something_is_not_stopped() -> None:
    interview = await interview_of(99)
    assert (interview.state.status, interview.state.utterances[-1].kind) == ("active", "question")


async def test_what_the_concept_demands_comes_before_such_an_end() -> None:
    wanted = MustAsk(id="colour", question="What colour was the last house?")
    interview = await interview_of(3, must_ask=(wanted,))
    assert interview.state.status == "active"
    assert not any(one.kind == "closing_question" for one in interview.state.utterances)


class Wearing(PlainWriter):
    """A writer that would ask once more what else there is."""

    def __init__(self, *, repeats: bool) -> None:
        super().__init__()
        self.repeats = repeats

    async def repeats_what_else(self, request: QuestionRequest) -> bool:
        return self.repeats


@pytest.mark.parametrize("repeats", [True, False])
async def test_the_guide_comes_before_what_else_there_is_once_more(repeats: bool) -> None:
    base = configuration()
    topic = GuideTopic(
        id="least", label="What is disliked", questions={"en": (Form(ask="What do you like least about it?"),)}
    )
    asks = Strategy(name="follow_guide", signal_weights={}, focus_mode="guide", node_binding="none")
    method = base.methodology.model_copy(update={"guide": (topic,), "strategies": (*base.methodology.strategies, asks)})
    interview = Interview(
        writer=Wearing(repeats=repeats), configuration=base.model_copy(update={"methodology": method})
    )
    await interview.say("It was the house on the left.", concepts(("house", "attribute")))
    record = interview.last.record
    assert record is not None
    assert (record.strategy == "follow_guide" and record.reason == NOT_WHAT_ELSE) == repeats
    assert interview.writer.requests[-1].forms[0].ask == "What do you like least about it?" if repeats else True


@pytest.mark.parametrize(
    ("last", "heard"),
    [
        ("There was one more thing, my father had the same pot and I never told him so.", "closing_heard"),
        ("They should make one for children, nobody does, and that is what I would tell them.", "closing_passed_on"),
        ("No, that was everything.", ""),
    ],
)
async def test_what_is_told_last_of_all_is_heard(last: str, heard: str) -> None:
    base = configuration()
    conduct = conduct_policy()
    interview = Interview(state=new_state(max_turns=3), configuration=base.model_copy(update={"conduct": conduct}))
    await interview.say("The taste.", concepts(("taste", "attribute")))
    await interview.say("It is sweet.", concepts(("sweet", "attribute")))
    await interview.say(last)
    assert interview.state.status == "completed"
    said = getattr(conduct.texts, heard) if heard else ""
    assert interview.state.utterances[-1].text == " ".join(part for part in (said, base.closing_text) if part)


class HearingOut(PlainWriter):
    """A writer that finds that some words weigh too much to be the end."""

    def __init__(self, weighs: str) -> None:
        super().__init__()
        self.weighs = weighs
        self.asked: list[QuestionRequest] = []

    async def left_to_tell(self, request: QuestionRequest) -> str:
        self.asked.append(request)
        return self.weighs if self.weighs in request.lines[-1].text else ""


WEIGHS = "I never told my father"


async def hearing_out(*, weighing: set[int], max_turns: int = 15) -> Interview:
    """An interview that goes on until its end, in which some turns tell what weighs."""
    interview = Interview(writer=HearingOut(WEIGHS), state=new_state(max_turns=max_turns))
    for turn in range(1, max_turns + 1):
        said = f"{WEIGHS}, in house {turn}." if turn in weighing else f"It was the {turn}th house on the left."
        await interview.say(said, concepts((f"house {turn}", "attribute")))
        if interview.state.status == "completed":
            break
    return interview


def closings(interview: Interview) -> list[int]:
    """After which answers the closing question came."""
    turn, found = 0, []
    for utterance in interview.state.utterances:
        turn += utterance.speaker == "respondent"
        if utterance.kind == "closing_question":
            found.append(turn)
    return found


@pytest.mark.parametrize(
    ("weighing", "closing", "answers"),
    [
        (set(), [13], 14),
        ({13}, [13], 14),  # It does not wait, or nothing could be asked about what its answer brings.
        ({14}, [13, 14], 15),  # What the answer brought is asked about once.
        ({14, 15}, [13, 14], 15),
    ],
)
async def test_interview_does_not_end_right_behind_what_weighs(
    weighing: set[int], closing: list[int], answers: int
) -> None:
    interview = await hearing_out(weighing=weighing)
    assert closings(interview) == closing
    assert sum(utterance.speaker == "respondent" for utterance in interview.state.utterances) == answers
    assert interview.state.status == "completed"
    assert interview.result.termination_reason in ("Maximum turns reached", "Closing question answered")


async def test_closing_question_that_the_engine_chooses_waits_for_what_weighs() -> None:
    ended = []
    for weighs in (WEIGHS, "Nothing of the kind"):
        writer = HearingOut(weighs)
        interview = Interview(writer=writer, state=new_state(max_turns=30))
        for turn in range(1, 30):
            await interview.say(f"{WEIGHS}, in house {turn}.", concepts((f"house {turn}", "attribute")))
            if interview.state.status != "active":
                break
        ended.append(interview.state.turn_count)
        if weighs == WEIGHS:
            assert any(request.kind == "follow_up" for request in writer.requests)
    assert ended[0] == 28 >= ended[1]
