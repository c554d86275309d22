"""How an interview ends where a language model writes: its last words, one more question, and when it closes."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from pipeline.concept import ConsentText
from pipeline.continuing import LITTLE_PROMISED, TOLD_AT_THE_END
from pipeline.errors import LLMUnavailable
from pipeline.ports import Ending, QuestionRequest
from pipeline.ways import TOLD_LATE
from tests.support.interview import Interview, PlainWriter, concepts, conduct_policy, configuration, new_state

THANKS = "Thank you very much for your time."
PATCH = "There is one thing. I have had a white patch on the gum since February and have not shown it to anybody."


class Closer(PlainWriter):
    """Says these last words one after the other, and takes this in place of the closing question."""

    finds_last_words = True

    def __init__(self, *endings: Ending | Exception, instead: str = "") -> None:
        super().__init__()
        self.endings = list(endings)
        self.asked: list[QuestionRequest] = []
        self.instead = instead

    async def last_words(self, request: QuestionRequest) -> Ending:
        self.asked.append(request)
        ending = self.endings.pop(0) if self.endings else Ending(text="All right.")
        if isinstance(ending, Exception):
            raise ending
        return ending

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        if request.kind == "closing" and request.offers and self.instead:
            self.requests.append(request)
            yield self.instead
            yield "What was that like?"
            return
        async for piece in super().write(request):
            yield piece


async def until_closing(writer: Closer, *, max_turns: int = 15) -> Interview:
    """An interview whose closing question waits for an answer."""
    given = configuration()
    concept = given.concept.model_copy(update={"choice": "model"})
    interview = Interview(
        configuration=given.model_copy(update={"concept": concept, "prompts": {"question": "{{ offers }}"}}),
        writer=writer,
        state=new_state(max_turns=max_turns),
    )
    for turn in range(1, max_turns):
        await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
        if interview.state.status == "closing":
            break
    return interview


def said(interview: Interview) -> str:
    return interview.state.utterances[-1].text


async def test_closing_question_comes_two_turns_before_the_end_and_its_answer_is_answered() -> None:
    writer = Closer(Ending(text="You have not shown it to anybody."))
    interview = await until_closing(writer)
    assert interview.state.question is not None and interview.state.question.turn_number == 13
    await interview.say(PATCH, concepts(("white patch", "attribute")))
    assert interview.state.status == "completed"
    assert said(interview) == f"You have not shown it to anybody. {THANKS}"
    request = writer.asked[-1]
    assert (request.kind, request.ends_with, request.may_ask) == ("ending", THANKS, True)
    assert request.briefing.answer == PATCH


async def test_one_more_question_is_asked_once_and_the_next_answer_is_the_last() -> None:
    writer = Closer(
        Ending(text="What has kept you from showing it to anybody?", asks_about="have not shown it to ANYBODY"),
        Ending(text="You did not want to know."),
    )
    interview = await until_closing(writer)
    await interview.say(PATCH, concepts(("white patch", "attribute")))
    assert (interview.state.status, said(interview)) == ("closing", "What has kept you from showing it to anybody?")
    record = interview.last.record
    assert record is not None and record.reason == TOLD_AT_THE_END
    await interview.say("I did not want to know, to be honest with you.", concepts(("not know", "attribute")))
    assert interview.state.status == "completed"
    assert said(interview) == f"You did not want to know. {THANKS}"
    assert [request.may_ask for request in writer.asked] == [True, False]


async def test_nothing_is_asked_on_the_last_turn_whatever_is_written() -> None:
    ask = Ending(text="What has kept you from it?", asks_about="have not shown it")
    writer = Closer(ask, ask)
    interview = Interview(state=new_state(max_turns=3), writer=writer)
    for turn in range(1, 3):
        await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
    await interview.say(PATCH, concepts(("white patch", "attribute")))
    assert interview.state.status == "completed" and said(interview).endswith(THANKS)
    assert "What has kept" not in said(interview)
    assert [request.may_ask for request in writer.asked] == [False, False]


@pytest.mark.parametrize(
    "first",
    [
        Ending(text="That is a wonderful story."),
        Ending(text="You should see a doctor about that."),
        Ending(text="I will make sure that somebody reads it."),
        Ending(text="What was that like for you?"),
        Ending(text="Was it bad, and did it hurt?", asks_about="white patch"),
        Ending(text="What did she say?", asks_about="words that nobody said"),
        Ending(text=""),
    ],
)
async def test_what_can_not_be_said_is_written_again_with_the_reasons_and_then_left(first: Ending) -> None:
    writer = Closer(first, Ending(text="You have kept it to yourself."))
    interview = await until_closing(writer)
    await interview.say(PATCH, concepts(("white patch", "attribute")))
    assert said(interview) == f"You have kept it to yourself. {THANKS}"
    assert [len(request.refused) for request in writer.asked] == [0, 1]
    assert writer.asked[1].refused[0].text == first.text and writer.asked[1].refused[0].reasons

    writer = Closer(first, first)
    interview = await until_closing(writer)
    await interview.say(PATCH, concepts(("white patch", "attribute")))
    assert interview.state.status == "completed" and said(interview).endswith(THANKS)
    assert first.text == "" or first.text not in said(interview)


async def test_model_that_fails_ends_the_interview_as_without_one() -> None:
    interview = await until_closing(Closer(LLMUnavailable("gone")))
    await interview.say(PATCH, concepts(("white patch", "attribute")))
    assert interview.state.status == "completed" and said(interview).endswith(THANKS)


@pytest.mark.parametrize("answer", ["No.", "No, nothing more."])
async def test_who_has_no_more_to_say_costs_no_call(answer: str) -> None:
    writer = Closer()
    interview = await until_closing(writer)
    await interview.say(answer, concepts())
    assert (interview.state.status, writer.asked) == ("completed", [])


async def talk_with_nothing_more(
    writer: Closer, *, choice: str | None = "model", behind: str = "That's all.", **update: object
) -> Interview:
    """An interview with somebody who says behind each answer that this is all, until the closing question is due."""
    given = configuration()
    concept = given.concept.model_copy(update={"choice": choice})
    interview = Interview(
        configuration=given.model_copy(update={"concept": concept, "prompts": {"question": "{{ offers }}"}, **update}),
        writer=writer,
        state=new_state(max_turns=15),
    )
    for turn in range(1, 9):
        await interview.say(f"It is number {turn}. {behind}", concepts((f"number {turn}", "attribute")))
        if any(request.kind == "closing" for request in writer.requests):
            break
    return interview


async def test_a_model_may_go_on_from_words_of_the_last_answer_in_place_of_the_closing_question() -> None:
    writer = Closer(instead="[0: number 4]")
    interview = await talk_with_nothing_more(writer)
    assert writer.requests[-1].kind == "closing" and writer.requests[-1].turn_number == 4
    assert interview.state.status == "active" and interview.state.question is not None
    assert (interview.state.question.text, interview.state.question.kind) == ("What was that like?", "question")
    record = interview.last.record
    assert record is not None and record.question.own == "number 4"


async def test_a_model_may_go_on_with_what_was_told_earlier() -> None:
    interview = await talk_with_nothing_more(Closer(instead="[0: number 1]"))
    record = interview.last.record
    assert interview.state.status == "active"
    assert record is not None and record.question.own == "number 1"
    assert record.target is not None and record.target.label == "number 1"


async def test_who_finds_one_subject_private_may_be_asked_about_another() -> None:
    writer = Closer(instead="[0: number 2]")
    interview = await talk_with_nothing_more(
        writer, behind="I'd rather not talk about that, sorry. That's all.", conduct=conduct_policy()
    )
    assert writer.requests[-1].kind == "closing"
    assert interview.state.status == "active"
    record = interview.last.record
    assert record is not None and record.question.own == "number 2"


async def test_why_a_model_goes_on_is_recorded() -> None:
    interview = await talk_with_nothing_more(Closer(instead="[0: that's all]"))
    record = interview.last.record
    assert record is not None and (record.reason, record.question.own) == (TOLD_LATE, "That's all")


@pytest.mark.parametrize("instead", ["[1]", "[0: words that nobody said]"])
async def test_the_closing_question_is_asked_where_a_model_takes_it(instead: str) -> None:
    interview = await talk_with_nothing_more(Closer(instead=instead))
    assert interview.state.status == "closing" and interview.state.question is not None
    assert interview.state.question.kind == "closing_question"


async def test_where_the_engine_chooses_the_closing_question_is_not_put_off() -> None:
    writer = Closer(instead="[0: number 4]")
    interview = await talk_with_nothing_more(writer, choice="engine")
    assert interview.state.status == "closing"
    assert not any(request.offers for request in writer.requests if request.kind == "closing")


async def test_when_turns_run_out_the_closing_question_is_not_put_off() -> None:
    writer = Closer(instead="[0: turn 14]")
    interview = await until_closing(writer)
    assert interview.state.status == "closing" and interview.state.question is not None
    assert interview.state.question.turn_number == 13  # What nobody said puts nothing off.
    writer.instead = "[0: turn]"
    late = await until_closing(writer)
    assert late.state.status == "closing" and late.state.question is not None
    assert late.state.question.turn_number == 14
    assert not writer.requests[-1].offers


async def test_it_is_asked_once_more_and_not_twice_however_many_turns_are_left() -> None:
    ask = Ending(text="What has kept you from showing it to anybody?", asks_about="have not shown it to anybody")
    writer = Closer(ask, ask, Ending(text="You did not want to know."), instead="[1]")
    interview = await talk_with_nothing_more(writer)
    await interview.say(PATCH, concepts(("white patch", "attribute")))
    assert (interview.state.status, said(interview)) == ("closing", ask.text)
    await interview.say("I did not want to know, to be honest with you.", concepts(("not know", "attribute")))
    assert interview.state.status == "completed" and interview.state.turn_count < 8
    assert [request.may_ask for request in writer.asked] == [True, False, False]
    assert said(interview).endswith(THANKS)


async def test_right_before_the_end_it_is_not_put_off_for_who_finds_it_too_early() -> None:
    writer = Closer(Ending(text="You would have gone on."))
    interview = await until_closing(writer)
    await interview.say("Oh, are we stopping? I didn't mean that, I just say that. You can ask me more.", concepts())
    assert (interview.state.status, interview.state.turn_count) == ("completed", 14)


@pytest.mark.parametrize(("instead", "closed_at"), [("[1]", 13), ("[0: turn]", 14)])
async def test_a_model_may_put_the_closing_question_off_for_a_turn(instead: str, closed_at: int) -> None:
    given = configuration()
    concept = given.concept.model_copy(update={"choice": "model"})
    prompts = {"question": "{{ offers }}", "ending": "…"}
    interview = Interview(
        configuration=given.model_copy(update={"concept": concept, "prompts": prompts}),
        writer=Closer(instead=instead),
        state=new_state(max_turns=15),
    )
    for turn in range(1, 15):
        await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
        if interview.state.status == "closing":
            break
    assert interview.state.question is not None and interview.state.question.turn_number == closed_at


class Finisher(Closer):
    """Takes the closing question as soon as it is among what is offered."""

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        end = next((number for number, offer in enumerate(request.offers, 1) if offer.closes), None)
        if request.kind == "follow_up" and end is not None:
            self.requests.append(request)
            yield f"[{end}]"
            yield "Before we finish, what would you like to add?"
            return
        async for piece in super().write(request):
            yield piece


async def told_on(writer: Closer, *, choice: str = "model", min_turns: int = 14) -> Interview:
    """An interview with somebody who always has something new, until the closing question is asked."""
    given = configuration()
    concept = given.concept.model_copy(update={"choice": choice})
    prompts = {"question": "{{ offers }}", "ending": "…"}
    interview = Interview(
        configuration=given.model_copy(update={"concept": concept, "prompts": prompts}),
        writer=writer,
        state=new_state(max_turns=15),
    )
    for turn in range(1, min_turns + 1):
        await interview.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
        if interview.state.status == "closing":
            break
    return interview


async def test_a_model_may_close_once_most_turns_are_over_and_nothing_is_demanded() -> None:
    interview = await told_on(Finisher())
    assert interview.state.question is not None and interview.state.status == "closing"
    assert interview.state.question.turn_number == 9  # 60 of 100 turns, and not the model's before.
    record = interview.last.record
    assert record is not None and record.reason == LITTLE_PROMISED
    taken = record.question.offers[record.question.taken]
    assert taken.strategy == interview.state.question.strategy and taken.target is None
    assert record.question.said == len(record.question.offers)


async def test_where_the_engine_chooses_no_model_closes_early() -> None:
    interview = await told_on(Finisher(), choice="engine")
    assert interview.state.question is not None and interview.state.question.turn_number > 9


@pytest.mark.parametrize(
    ("prompts", "shown"), [({"ending": "x"}, "and then I thought so"), ({}, "and then I thought so.")]
)
async def test_a_model_sees_that_somebody_broke_off(prompts: dict[str, str], shown: str) -> None:
    writer = PlainWriter()
    given = configuration().model_copy(update={"prompts": {"question": "{{ offers }}", **prompts}})
    interview = Interview(configuration=given, writer=writer, state=new_state(max_turns=15))
    await interview.say("and then I thought so", concepts(("thought so", "attribute")))
    await interview.say("It went on.", concepts(("went on", "attribute")))
    lines = [line.text for line in writer.requests[-1].briefing.conversation if line.speaker == "respondent"]
    assert lines == [shown, "It went on."]


async def test_a_model_is_told_what_no_question_took_up() -> None:
    writer = PlainWriter()
    given = configuration().model_copy(update={"prompts": {"question": "{{ offers }}", "ending": "x"}})
    interview = Interview(configuration=given, writer=writer, state=new_state(max_turns=15))
    opened = "I drink one at half past five with my saleswoman before she opens up."
    for number, text in enumerate((opened, "It is hot.", "It is black.", "It is mine.")):
        await interview.say(text, concepts((f"thing {number}", "attribute")))
    assert writer.requests[-1].briefing.untaken == (opened,)


async def test_nothing_of_a_subject_that_was_closed_is_told_of_as_passed_over() -> None:
    writer = PlainWriter()
    given = configuration().model_copy(
        update={"prompts": {"question": "{{ offers }}", "ending": "x"}, "conduct": conduct_policy()}
    )
    interview = Interview(configuration=given, writer=writer, state=new_state(max_turns=15))
    opened = "I drink one at half past five with my saleswoman before she opens up."
    for number, text in enumerate((opened, "I'd rather not talk about that.", "It is black.", "It is mine.", "It is.")):
        await interview.say(text, concepts((f"thing {number}", "attribute")))
    assert writer.requests[-1].briefing.untaken == ()


async def test_a_model_knows_what_respondents_were_told_and_what_they_refuse() -> None:
    writer = PlainWriter()
    given = configuration()
    concept = given.concept.model_copy(update={"consent": ConsentText(text="Nobody asks for your name.")})
    update = {"concept": concept, "prompts": {"question": "{{ offers }}", "ending": "x"}, "conduct": conduct_policy()}
    interview = Interview(configuration=given.model_copy(update=update), writer=writer, state=new_state(max_turns=15))
    await interview.say("It is red and it shines. I'd rather not talk about that.", concepts(("is red", "attribute")))
    request = writer.requests[-1]
    assert request.consent == "Nobody asks for your name."
    assert request.briefing.unasked == ("I'd rather not talk about that.",)
