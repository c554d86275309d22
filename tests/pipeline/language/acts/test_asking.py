"""What people ask the interviewer in plain words, and what only sounds like it."""

from __future__ import annotations

import pytest

from pipeline.language.acts.asking import asked_plainly
from pipeline.language.acts.hearing import ActHearing
from pipeline.language.acts.reading import acts_of
from pipeline.language.reader.files import load_reader


@pytest.fixture(scope="module")
def trained() -> ActHearing:
    reader = load_reader()
    return ActHearing(reader.network, reader.settings, reader.message, reader.talk, reader.danger)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Barrys always. And what about yourself, do you drink tea?", "person"),
        ("and you, which bank do you use?", "person"),
        ("no. would you pay that", "person"),
        ("hate them. what do you think of them?", "opinion"),
        ("Robbery. Do you not think so yourself?", "opinion"),
        ("Good mostly. What do you think, is that weird for a guy?", "opinion"),
        ("one for work. hey how many minutes left on this", "left"),
        ("I don't really like tea. How long does this still take, by the way?", "left"),
        ("how much longer?", "left"),
        ("Is somebody else listening to us, or only you?", "readers"),
        ("My doctor sent me. How did you get my number by the way?", "data"),
        ("hey what you will do with my answers after", "data"),
        ("clean shower and um for how long you keep what i say", "data"),
        ("beer with the guys. hey are you like an AI", "machine"),
        ("You people working for the company or what", "who"),
        ("the beach I suppose, and the kids got on for once. what is this all for anyway", "purpose"),
        ("5 in the morning. And you, what you use?", "person"),
        ("I rest on the bus. Go on. How long is this?", "length"),
        ("I want to be calm. Why you ask about feelings, it is headphones?", "why_ask"),
        ("I don't have money to waste. What do you think, 60 is good price or too much?", "opinion"),
        ("in facebook group. can i read the report when is ready?", "other"),
    ],
)
def test_question_to_the_interviewer_is_heard(trained: ActHearing, text: str, about: str) -> None:
    (said,) = asked_plainly(text)
    assert said.about == about
    heard = [act for act in trained.read_sync(text, "How was that?", "en") if act.act != "tells"]
    assert [(act.act, act.about, act.sure) for act in heard] == [("asks_interviewer", about, True)]
    assert text[heard[0].start : heard[0].end].strip(" .,")


@pytest.mark.parametrize(
    "text",
    [
        "She asked me, what do you think of them?",
        "I said, would you pay that? He laughed.",
        "I asked them are you a bot",
        "I told him what about you and he went red",
        "They never say how long they keep it.",
        "What do you think happens when the bus is late and nobody tells you. You wait.",
        "You use it every day, you get tired of it.",
        "",
        "do you " * 900,
    ],
)
def test_question_that_others_were_asked_is_told(text: str) -> None:
    assert asked_plainly(text) == ()


def test_other_languages_are_left_to_their_rules() -> None:
    assert all(act.about != "person" for act in acts_of("What about you?", "", "de"))


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Is my name in there, or could it get to the pump company?", "data"),
        ("and does the company get to see it?", "readers"),
        ("Oh, somebody could be following along right now?", "readers"),
        ("can my boss see this", "readers"),
        ("do they have my address", "data"),
    ],
)
def test_whether_somebody_learns_of_it_is_asked_of_the_interviewer(text: str, about: str) -> None:
    assert [(said.act, said.about) for said in asked_plainly(text)] == [("asks_interviewer", about)]


@pytest.mark.parametrize("text", ["He asked does the company see it.", "My boss can see the whole yard from there."])
def test_what_others_see_is_no_question_to_the_interviewer(text: str) -> None:
    assert asked_plainly(text) == ()


LONG = "He went bright red and Mum just studied the breadsticks, and my sister who sat opposite got her phone out " * 3


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Is this all right, by the way, me telling it in this much detail?", "how_much"),
        ("Am I going on too much?", "how_much"),
        ("Should I go on?", "how_much"),
        ("Is it for a coffee firm?", "who"),
    ],
)
def test_what_is_asked_in_passing_is_heard_behind_a_long_answer(text: str, about: str) -> None:
    assert [one.about for one in asked_plainly(f"{LONG}. {text}")] == [about]


@pytest.mark.parametrize(
    "text",
    ["I asked him, is this all right for you?", "Am I talking to a computer?", "Is it for a friend?", "Was it enough?"],
)
def test_other_questions_behind_a_long_answer_are_not(text: str) -> None:
    assert not asked_plainly(f"{LONG}. {text}")


@pytest.mark.parametrize(
    "text", ["wait can i ask what is this actually for? like who reads it", "What is this for, who reads it?"]
)
def test_what_it_is_for_and_who_reads_it_are_two_questions(text: str) -> None:
    assert [said.about for said in asked_plainly(text)] == ["purpose", "readers"]
