"""Saying something back: when, of what, with which probe, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline.language.offline import advice, echo_worth
from pipeline.language.offline.advice import Adviser
from pipeline.language.offline.echo_worth import PROBES, Worth
from pipeline.language.offline.echoes import Echo, echoes
from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.probe_worth import kind_of
from pipeline.language.offline.questions import OfflineQuestionWriter, compose
from pipeline.language.offline.saying_back import (
    CLIPPED,
    EACH_MORE,
    ELSEWHERE,
    LATE,
    LEAST,
    MORE_TO_IT,
    THERE_IS_MORE,
    Said,
    SayingBack,
    may_say_back,
)
from pipeline.language.reader.perceptron import Perceptron
from pipeline.language.srl import DocCache, load_model
from pipeline.ports import Briefing, Line, QuestionRequest
from pipeline.question.checker import check
from tests.pipeline.language.offline.test_questions import METHODS

ANSWER = "The shop was shut. Nobody had told me, and I stood there in the rain. He didn't dare ask me."
FOCUS = "didn't dare ask me"


def rated(model: Any, found: Any, told: Any, reading: Any) -> list[Worth]:
    """Rates clauses as a test says."""
    return [
        Worth(echo, RATINGS.get(echo.text, 0.0), {probe: LIKELY.get(probe, 0.0) for probe in PROBES}) for echo in found
    ]


EMPTY = np.zeros(0, dtype=np.float32)
NO_WEIGHTS = Perceptron((), EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY)


USED_TO = "I'd put them down in the evening"
HEARD = Echo("You could hear it.", "I could hear it", 30, 45, 0, True, "I could hear it.")
DOCS = DocCache(load_model())


MORE: dict[str, float] = {}
"""How likely there is more to it, by what is said back."""


class NoMore:
    def chances(self, found: Sequence[Echo], answer: str, reading: object) -> np.ndarray:
        return np.array([MORE.get(echo.text, 0.0) for echo in found], dtype=np.float32)


class Losses:
    """Hears a death in what ends so."""

    def told(self, answer: str, reading: object) -> tuple[str, ...]:
        return (answer,) if answer.endswith("an urn.") else ()


class NoModel:
    echoes = moves = NO_WEIGHTS
    dangling = NoMore()
    loss = Losses()

    def read(self, question: str, answer: str) -> None:
        return None


NO_MODEL: Any = NoModel()


RATINGS = {
    "Your house is never empty.": 2.3,
    "He comes home.": 2.3,
    "He didn't dare ask you.": 2.8,
    "Nobody had told you.": 2.4,
}
LIKELY: dict[str, float] = {}


@pytest.fixture(autouse=True)
def likely() -> None:
    MORE.clear()
    LIKELY.clear()
    LIKELY.update({"like": 0.9, "more": 0.1})


@pytest.fixture
def back(monkeypatch: pytest.MonkeyPatch) -> SayingBack:
    monkeypatch.setattr(echo_worth, "worths", rated)
    return SayingBack(NO_MODEL)


def about(back: SayingBack, moment: QuestionRequest) -> list[Said]:
    """What tells what the question was to be about."""
    return [said for said in back.found(moment) if said.about]


def request(answer: str = ANSWER, *, asked: tuple[str, ...] = ("What happened?",), **changes: Any) -> QuestionRequest:
    methodology = METHODS["critical_incident"]
    strategy = next(each for each in methodology.strategies if each.node_binding == "required")
    given: dict[str, Any] = {
        "kind": "follow_up",
        "methodology": methodology,
        "topic": "shops",
        "objective": "",
        "language": "en",
        "seed": 7,
        "turn_number": len(asked) + 1,
        "strategy": strategy,
        "focus_label": FOCUS,
        "focus_quote": FOCUS,
        "focus_type": "event",
        "lines": (Line(speaker="interviewer", text=asked[-1]), Line(speaker="respondent", text=answer)),
        "recent_questions": asked,
        "all_questions": asked,
    }
    return QuestionRequest(**{**given, **changes})


def test_what_is_asked_about_is_said_back_with_the_probe_that_fits(back: SayingBack) -> None:
    [said] = about(back, request())
    assert said.text == "He didn't dare ask you. What was that like for you?"
    assert (said.rating, said.value) == (2.8, 2.8)
    assert check(said.text, recent_questions=(), language="en", max_words=25, allowed_words=(ANSWER,)) == []


def test_who_has_more_to_tell_of_it_is_told_to_go_on(back: SayingBack) -> None:
    MORE["Nobody had told you."] = 1.0
    [told] = about(back, request(focus_label="nobody told me", focus_quote="Nobody had told me"))
    assert told.text == "Nobody had told you. Go on."
    assert told.rating == pytest.approx(2.4 + MORE_TO_IT)
    assert kind_of(told.text) == "more"
    assert check(told.text, recent_questions=(), language="en", max_words=25, allowed_words=(ANSWER,)) == []
    MORE["Nobody had told you."] = THERE_IS_MORE - 0.01
    [other] = about(SayingBack(NO_MODEL), request(focus_label="nobody told me", focus_quote="Nobody had told me"))
    assert other.text == "Nobody had told you. What was that like for you?"


def test_what_promises_most_is_said_back_whatever_was_to_be_asked_about(back: SayingBack) -> None:
    other, told = back.found(request(focus_label="nobody told me", focus_quote="Nobody had told me"))
    assert told.text == "Nobody had told you. What was that like for you?"
    assert told.about
    assert "dare" in other.text
    assert not other.about
    assert other.value == pytest.approx(back.found(request())[0].value - ELSEWHERE)


def test_what_was_put_right_at_once_is_not_said_back(back: SayingBack) -> None:
    answer = f"{ANSWER} She didn't, I mean."
    lines = (Line(speaker="interviewer", text="What happened?"), Line(speaker="respondent", text=answer))
    assert any("dare" in said.text for said in back.found(request(lines=lines)))
    right = lines[1].model_copy(update={"put_right": ("She didn't, I mean",)})
    moment = request(lines=(lines[0], right))
    assert back.found(moment)
    assert not any("dare" in said.text for said in back.found(moment))
    assert back.most(moment) < back.most(request(lines=lines))


def test_what_somebody_would_not_go_into_is_not_said_back(back: SayingBack) -> None:
    lines = (Line(speaker="interviewer", text="What happened?"), Line(speaker="respondent", text=ANSWER))
    refused = lines[1].model_copy(update={"refused": ("She didn't dare to.", ANSWER.split(". ")[-1])})
    assert len(back.found(request(lines=(lines[0], refused)))) < len(back.found(request(lines=lines)))


def test_nothing_of_another_sentence_is_said_back_in_a_concept_test(back: SayingBack) -> None:
    assert back.found(request(focus_label="the price", focus_quote="the price", stimulus="A van.")) == ()


def test_what_was_told_in_a_concept_test_is_said_back(back: SayingBack) -> None:
    [said] = about(back, request(stimulus="A van that repairs things."))
    assert said.text.startswith("He didn't dare ask you. ")


def test_description_that_somebody_quotes_is_not_said_back(back: SayingBack) -> None:
    assert back.found(request(stimulus="Someone brings it. He didn't dare ask me. You pay.")) == ()


ELEMENT = METHODS["means_end_chain"].strategies[0].model_copy(update={"node_binding": "none"})
"""Of a question about an element, which is about no concept of the respondent's."""


@pytest.mark.parametrize(
    "changes",
    [
        {"language": "de"},
        {"kind": "closing"},
        {"kind": "rephrase"},
        {"focus_is_jump": True},
        {"stimulus": "A van that repairs things.", "strategy": ELEMENT},
        {"complained": True},
        {"follows_reply": True, "lines": (Line(speaker="respondent", text="He didn't dare ask me."),)},
        {"focus_label": None},
        {"lines": ()},
        {"lines": (Line(speaker="interviewer", text="What happened?"),)},
    ],
)
def test_moments_at_which_nothing_is_said_back(back: SayingBack, changes: dict[str, Any]) -> None:
    assert not may_say_back(request(**changes))
    assert back.found(request(**changes)) == ()


def test_who_is_tired_of_being_asked_for_more_hears_another_probe_behind_their_words(back: SayingBack) -> None:
    MORE["Nobody had told you."] = 1.0
    before = "He didn't dare ask you. Tell me a bit more about that."
    for said, kind in (("", "more"), ("There you go again! ", "like")):
        lines = (Line(speaker="interviewer", text=before), Line(speaker="respondent", text=f"{said}{ANSWER}"))
        moment = request(focus_label="nobody told me", focus_quote="Nobody had told me", lines=lines)
        [told] = about(back, moment)
        assert kind_of(told.text) == kind


@pytest.mark.parametrize(
    "answer",
    [
        "He didn't dare ask me. There's nothing more to tell.",
        "I've just said it. He didn't dare ask me.",
        "Sorry, I don't understand. He didn't dare ask me.",
    ],
)
def test_who_has_no_more_to_tell_or_is_lost_hears_nothing_said_back(back: SayingBack, answer: str) -> None:
    assert back.found(request(answer)) == ()


def test_what_it_was_like_is_asked_behind_it_only_where_that_fits_much_better(back: SayingBack) -> None:
    LIKELY.update({"like": 0.6, "more": 0.2})
    assert kind_of(about(back, request())[0].text) == "more"


def test_clipped_clause_loses(back: SayingBack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RATINGS, "He came home.", 2.8)
    clipped = about(back, request("He came home.", focus_label="came home", focus_quote="came home"))
    assert clipped[0].value == pytest.approx(2.8 - CLIPPED)


@pytest.mark.parametrize(
    ("answer", "back_as", "lost"),
    [
        ("My brother sounded like a frog that day.", "Your brother sounded like a frog that day.", 0.6),
        ("There were fourteen of them that spring.", "There were fourteen of them that spring.", 0.4),
    ],
)
def test_clause_that_sounds_odd_from_somebody_else_loses(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch, answer: str, back_as: str, lost: float
) -> None:
    monkeypatch.setitem(RATINGS, back_as, 2.8)
    said = about(back, request(answer, focus_label="that", focus_quote=answer))
    assert [each.echo.text for each in said][:1] == [back_as]
    assert said[0].value == pytest.approx(2.8 - lost)


@pytest.mark.parametrize(("rating", "count"), [(LEAST - 0.1, 0), (LEAST + 0.1, 1)])
def test_what_promises_too_little_is_not_said_back(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch, rating: float, count: int
) -> None:
    monkeypatch.setitem(RATINGS, "He didn't dare ask you.", rating)
    assert len(about(back, request())) == count


def test_probe_that_was_asked_last_gives_way(back: SayingBack) -> None:
    asked = ("What happened?", "What was that like for you?")
    [said] = about(back, request(asked=asked))
    assert said.text.removeprefix("He didn't dare ask you. ") in phrasing("en").behind("more", "past")


def test_nobody_is_told_that_they_did_to_themselves_what_somebody_else_did(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    [said] = about(back, request())
    texts = ("You looked at you as if you were mad.", "You told you to go.", "You thought you were late.")
    offered = tuple(replace(said, echo=replace(said.echo, text=text)) for text in texts)
    monkeypatch.setattr(back, "_offered", lambda moment: offered)
    assert [each.echo.text for each in back.found(request())] == ["You thought you were late."]


def test_saying_something_back_again_and_again_loses(back: SayingBack) -> None:
    echo = "The door was open. Tell me more about that."
    plain = back.found(request(asked=("What happened?", "And then?")))[0].value
    once_before = back.found(request(asked=("What happened?", echo, "And then?")))[0].value
    just_before = back.found(request(asked=("What happened?", "And then?", echo)))[0].value
    assert plain > once_before > just_before


def test_what_was_said_back_twice_in_a_row_is_worth_less_a_third_time(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RATINGS, "He didn't dare ask you.", 3.0)
    echo = "The door was open. Tell me more about that."
    once = back.found(request(asked=("And then?", "What happened?", echo)))[0].value
    twice = back.found(request(asked=("And then?", echo, echo)))[0].value
    assert twice < once - EACH_MORE


def test_more_of_what_is_said_back_is_worth_less_late_in_an_interview(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RATINGS, "He didn't dare ask you.", 3.0)
    LIKELY.update({"more": 0.9})
    asked = tuple(f"Who was number {number}?" for number in range(LATE))
    [early] = [said.value for said in about(back, request(asked=asked[:-1]))]
    [late] = [said.value for said in about(back, request(asked=asked))]
    assert late < early - 0.2


@pytest.mark.parametrize(
    "grumble",
    ["You repeat my last sentence every time, you know?", "You do like giving me my own words back, don't you."],
)
def test_nothing_is_said_back_to_who_is_tired_of_their_own_words(back: SayingBack, grumble: str) -> None:
    assert back.found(request(f"{grumble} {ANSWER}")) == ()
    assert back.found(request(f"You know me, I repeat it every time. {ANSWER}")) != ()
    long_ago = Briefing(conversation=(Line(speaker="respondent", text=grumble), *request().lines))
    assert back.found(request(briefing=long_ago)) == (), "for the rest of the interview"


def test_probe_is_of_the_time_of_what_is_said_back(back: SayingBack) -> None:
    LIKELY.update({"then": 0.9})
    answer = "It is quiet there. My house is never empty."
    assert next(echo.text for echo in echoes(answer)) == "Your house is never empty."
    [said] = about(back, request(answer, focus_label="never empty", focus_quote="never empty"))
    assert said.text == "Your house is never empty. What is that like for you?"
    told = "My house was empty. Then he comes home."
    [said] = about(back, request(told, focus_label="he comes home", focus_quote="he comes home"))
    assert said.text in ("He comes home. What happened then?", "He comes home. And then?")


@pytest.mark.parametrize(
    ("probe", "asked"),
    [
        ("like", "What would that be like for you?"),
        ("means", "What would that mean to you?"),
        ("gives", "What difference would that make to you?"),
    ],
)
def test_of_what_only_would_be_it_is_asked_what_it_would_be_like(
    monkeypatch: pytest.MonkeyPatch, probe: str, asked: str
) -> None:
    monkeypatch.setattr(echo_worth, "worths", rated)
    monkeypatch.setitem(RATINGS, "You wouldn't have to fib.", 2.6)
    MORE.clear()
    LIKELY.clear()
    LIKELY.update({probe: 0.9})
    back = SayingBack(NO_MODEL, DOCS)
    told = "My daughter always asks, and then I fib. With that soup I wouldn't have to fib."
    sentence = told.partition(". ")[2]
    given: dict[str, Any] = {"focus_label": sentence, "focus_quote": None, "stimulus": "Soup.", "focus_type": None}
    [said] = [one for one in back.found(request(told, **given)) if one.echo.text == "You wouldn't have to fib."]
    assert said.text == f"You wouldn't have to fib. {asked}"


@pytest.mark.parametrize(
    ("stimulus", "asked"), [("", "What was that like for you?"), ("A plan.", "What would that be like for you?")]
)
def test_what_somebody_could_was_so_in_a_story_and_would_be_so_where_an_idea_is_spoken_of(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch, stimulus: str, asked: str
) -> None:
    monkeypatch.setitem(RATINGS, "You could hear it.", 2.6)
    monkeypatch.setattr("pipeline.language.offline.saying_back.echoes", lambda answer: (HEARD,))
    told = "Nobody else knew of the note. I could hear it."
    [said] = about(back, request(told, focus_label="could hear it", focus_quote="could hear it", stimulus=stimulus))
    assert said.text == f"You could hear it. {asked}"


def test_what_somebody_used_to_do_is_no_idea(back: SayingBack, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = f"{USED_TO}, and they were whole again."
    echo = Echo("You'd put them down in the evening.", USED_TO, 0, len(USED_TO), 0, False, whole)
    monkeypatch.setitem(RATINGS, echo.text, 2.6)
    monkeypatch.setattr("pipeline.language.offline.saying_back.echoes", lambda answer: (echo,))
    [said] = about(back, request(whole, focus_label=USED_TO, focus_quote=USED_TO, stimulus="A box."))
    assert said.text == f"{echo.text} What was that like for you?"


def test_where_no_stories_are_asked_for_a_probe_of_a_moment_needs_more(back: SayingBack) -> None:
    ladder = METHODS["means_end_chain"]
    strategy = next(each for each in ladder.strategies if each.node_binding == "required")
    [said] = about(back, request(methodology=ladder, strategy=strategy))
    assert said.text.removeprefix("He didn't dare ask you. ") in phrasing("en").behind("more", "past")


def test_writer_says_back_what_is_worth_it_and_not_what_is_not(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advice, "ratings", lambda *_, **__: {})
    adviser = Adviser(NO_MODEL)
    writer = OfflineQuestionWriter(adviser=adviser)
    asked = request()
    text = compose(asked, advice=adviser.on(asked))
    assert text == "He didn't dare ask you. What was that like for you?"
    assert writer.worth(asked, text) == 2.8
    assert writer.template(asked) != text
    monkeypatch.setitem(RATINGS, "He didn't dare ask you.", 0.1)
    other = Adviser(NO_MODEL)
    assert "dare" not in compose(asked, advice=other.on(asked))


def test_same_answer_is_not_read_when_nothing_can_be_said_back(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object) -> None:
        raise AssertionError("read")

    monkeypatch.setattr(NoModel, "read", read)
    assert back.found(request("Yes.", focus_label="yes", focus_quote="Yes")) == ()
    assert echoes("Yes.") == ()


@pytest.mark.parametrize(
    ("clause", "probe"),
    [
        ("She is looked after", "What is that like for you?"),
        ("The day has started properly", "What is that like for you?"),
        ("My tea gets left every time", "What is that like for you?"),
        ("She looked after me", "What was that like for you?"),
    ],
)
def test_what_is_done_now_is_no_past(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch, clause: str, probe: str
) -> None:
    monkeypatch.setitem(RATINGS, echoes(f"{clause}.")[0].text, 2.8)
    LIKELY["like"] = 2.0
    asked = request(
        f"{clause}.",
        methodology=METHODS["means_end_chain"],
        strategy=METHODS["means_end_chain"].strategies[0],
        focus_label=clause,
        focus_quote=clause,
    )
    assert [said.text.split(". ")[1] for said in back.found(asked)] == [probe]


def test_what_is_still_so_is_no_past_whatever_was_told_before_it(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RATINGS, "He still tells it that way.", 2.8)
    LIKELY["means"] = 2.0
    answer = "His shop had failed and he told everybody. He still tells it that way."
    found = back.found(request(answer, focus_label="still tells it that way", focus_quote="still tells it that way"))
    assert [said.text for said in found] == ["He still tells it that way. What does that mean to you?"]


def test_who_said_what_they_thought_is_not_asked_what_went_through_their_mind(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    LIKELY.update({"mind": 1.0})
    silent = "It was late. He didn't dare ask me."
    thinking = "And I thought, why me? He didn't dare ask me."
    asked = {answer: back.found(request(answer))[0].text for answer in (silent, thinking)}
    assert asked[silent].endswith("What went through your mind then?")
    assert asked[thinking].endswith("What was that like for you?")


def test_why_it_matters_is_hardly_asked_behind_it(back: SayingBack) -> None:
    LIKELY.update({"matter": 0.9, "like": 0.8})
    assert back.found(request())[0].text.endswith("What was that like for you?")


STOOD = "What was going on in you at that moment?"


@pytest.mark.parametrize(
    ("clause", "probe"),
    [
        ("I stood there in the rain", STOOD),
        ("I went and sat in the car a bit", STOOD),
        ("I sat with him until he died", "What was that like for you?"),
        ("I never told him about it", "How is that for you today?"),
        ("I never asked", "How is that for you today?"),
        ("I never did like it", "What was that like for you?"),
    ],
)
def test_some_clauses_have_a_probe_of_their_own(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch, clause: str, probe: str
) -> None:
    answer = f"It was late. {clause}."
    monkeypatch.setitem(RATINGS, echoes(answer)[0].text, 2.0)
    LIKELY["like"] = 2.0
    [said] = back.found(request(answer, focus_label=clause, focus_quote=clause))
    assert said.text.split(". ")[1] == probe
    assert (said.rating > 2.0) == (probe != "What was that like for you?")


def test_such_a_probe_is_asked_once_and_not_of_who_said_what_they_thought(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RATINGS, "You stood there.", 2.0)
    LIKELY["like"] = 2.0
    about: dict[str, Any] = {"focus_label": "stood there", "focus_quote": "I stood there"}
    again = request("It was late. I stood there.", all_questions=(f"You sat down. {STOOD}",), **about)
    thinking = request("And I thought, why me? I stood there.", **about)
    assert [said.text.split(". ")[1] for each in (again, thinking) for said in back.found(each)] == [
        "What was that like for you?"
    ] * 2


def test_short_denial_of_what_is_is_worth_less_than_one_of_what_was(
    back: SayingBack, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("You haven't done it.", "You didn't do it."):
        monkeypatch.setitem(RATINGS, text, 2.8)
    now, then = (
        back.found(request(answer, focus_label=answer, focus_quote=answer))[0]
        for answer in ("I haven't done it.", "I didn't do it.")
    )
    assert (now.rating, then.rating) == (2.8, 2.8)
    assert now.value < then.value


def test_verb_of_a_parsed_clause_tells_whether_it_is_so_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(echo_worth, "worths", rated)
    monkeypatch.setitem(RATINGS, "You swipe them away.", 2.8)
    LIKELY["like"] = 2.0
    answer = "And I've got so many reminders already, dentist, football. I just swipe them away."
    asked = request(answer, focus_label="swipe them away", focus_quote="swipe them away")
    [said] = [one for one in SayingBack(NO_MODEL, DocCache(load_model())).found(asked) if "swipe" in one.text]
    assert said.text == "You swipe them away. What is that like for you?"
