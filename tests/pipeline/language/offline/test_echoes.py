"""What of an answer can be said back."""

from __future__ import annotations

import pytest

from pipeline.language.offline.echoes import LATEST, LONGEST, MOST, echoes


def said(answer: str) -> list[str]:
    return [echo.text for echo in echoes(answer)]


@pytest.mark.parametrize(
    ("answer", "back"),
    [
        ("I guarded the one thing.", "You guarded the one thing."),
        ("And I was holding her hand.", "You were holding her hand."),
        ("He didn't dare ask me.", "He didn't dare ask you."),
        ("Well, it was really my father's line.", "It was your father's line."),
        ("I belong again, I suppose, that's the word.", "You belong again, that's the word."),
        ("It was him, I think, who rang.", "It was him who rang."),
        ("And I'm afraid I sat down.", "You sat down."),
        ("Nobody came home.", "Nobody came home."),
        ("I've never sent any back, put it that way.", "You've never sent any back."),
        ("He stayed home, mind you, and slept.", "He stayed home, and slept."),
        ("Because I was late.", "You were late."),
        ("Then she comes home.", "She comes home."),
        ("I am afraid that settled it.", "That settled it."),
        ("I was afraid of him.", "You were afraid of him."),
        ("I'd left the line out.", "You'd left the line out."),
        ("I'd never opened it.", "You'd never opened it."),
        ("I had not just knocked it down.", "You had not just knocked it down."),
        ("Megan was dressed.", "Megan was dressed."),
    ],
)
def test_clause_is_said_back_in_the_second_person(answer: str, back: str) -> None:
    assert said(answer)[0] == back


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "…",
        "Hm.",
        "Did I lock the door?",
        "You never know with them.",
        "If I had gone there.",
        "I would have cried.",
        "Nobody came.",
        "Warm plastic.",
        "He said.",
        "It was a stupid idiot of a man.",
        "So I'm not one to talk.",
        "It is not very nice from me.",
        "Not nice from me.",
        "It better to do that where nobody was watching.",
        "I am not a person who lies.",
        "Then it was me.",
        "I I was there.",
        "I'm the mug paying for it.",
        "I were quite pleased with meself.",
        "That I was alone.",
        "That is how it felt to me.",
        "Means I've not just knocked hers down.",
        "And there it was just holding us up.",
        "And then it was me who did it.",
        "I'd turn the phone over.",
        "It's just that I've left out the line that matters.",
        "If I'm not listening, he's just a man in a car with a stranger.",
        "They've got chairs for people like us too.",
        "But we were on the umbrella, I think.",
        "And then, I suppose, a time when I am out on it.",
        "Glue, that's somebody saying nobody's ever going to come after me.",
        "I got about seventeen out of it in the end. Ha!",
        "x" * 8000,
    ],
)
def test_what_is_no_sentence_or_not_certain_is_not_said_back(answer: str) -> None:
    assert said(answer) == []


def test_clauses_of_a_long_sentence_are_found_where_they_stand() -> None:
    answer = "It rained all day. I locked the shop, and my brother drove me home."
    found = {echo.text: echo for echo in echoes(answer)}
    whole = "You locked the shop, and your brother drove you home."
    assert list(found) == [whole, "You locked the shop.", "Your brother drove you home.", "It rained all day."]
    home = found["Your brother drove you home."]
    assert answer[home.start : home.end] == "and my brother drove me home."
    assert (home.back, home.whole, found["It rained all day."].back, found["It rained all day."].whole) == (
        0,
        False,
        1,
        True,
    )
    assert home.sentence == "I locked the shop, and my brother drove me home."


def test_what_something_was_done_for_is_not_said_back_as_if_it_were_so() -> None:
    assert said("I took the long way home so I wouldn't pass him again.") == ["You took the long way home."]
    assert "You went home." in said("It rained all day long, so I went home.")


def test_only_the_end_of_a_long_answer_is_looked_at() -> None:
    answer = " ".join(f"I saw the house number {number}." for number in range(40))
    assert len(said(answer)) == MOST
    assert all(echo.back < LATEST for echo in echoes(answer))
    assert said("I saw " + "very " * LONGEST + "much.") == []
