"""Leads: what in an answer to a concept test is worth a question."""

from __future__ import annotations

import pytest

from pipeline.elements import Names
from pipeline.leads import asks_of_idea, is_bare, judges, leads_of, refers, subject_of, tells_past

NAMES: Names = (
    ("lamp", ("the folding lamp", "lamp", "light")),
    ("fee", ("the monthly fee", "fee", "euros", "pay")),
    ("van", ("the delivery van", "van", "delivered")),
)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("Who brings it, then?", "asks"),
        ("I liked it. And what if it breaks on a Sunday, who pays then?", "asks"),
        ("I'd want to know who is behind it.", "asks"),
        ("It only works with big ones, isn't it?", "asks"),
        ("A cupboard in the street, with a camera in it?", "asks"),
        ("I don't understand the idea.", "unclear"),
        ("I don't remember seeing a fee, did I miss it?", "unseen"),
        ("How many euros a year?", "unseen"),
        ("How many people use it?", "asks"),
        ("If I could try it for a week, I'd take it.", "condition"),
        ("If somebody came who isn't me, I'd pay for it.", "condition"),
        ("I'd only do it if my sister does it too.", "condition"),
        ("I'm not sure that works in winter.", "doubt"),
        ("They never come when they say.", "doubt"),
        ("That's much too expensive.", "against"),
        ("I wouldn't use that.", "against"),
        ("I love that it folds.", "liking"),
        ("Was kostet das im Jahr?", "asks"),
        ("Ich bin nicht sicher, ob das klappt.", "doubt"),
        ("Das gefällt mir.", "liking"),
        ("Das ist mir zu teuer.", "against"),
    ],
)
def test_lead_is_known_by_what_it_says(answer: str, kind: str) -> None:
    language = "de" if answer.startswith(("Was", "Ich", "Das")) else "en"
    assert [lead.kind for lead in leads_of(answer, NAMES, language)][-1:] == [kind]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "It stands in the hall.",
        "What do you mean?",
        "Why do you ask?",
        "How long does this take?",
        "Are you a real person?",
        "He said what do you want?",
        "And on the bus my boy asked me, mama, are we poor?",
        "What, the fee? Day to day that's nothing.",
        "What would, the lamp? Sorry, I've lost the thread.",
        "You know what I mean?",
        "Lamps?",
        "What does a new one cost, 400? So I'd have paid for one.",
        "It felt like the old days.",
        "I've said it all, otherwise I think we're done.",
    ],
)
def test_other_words_are_no_lead(answer: str) -> None:
    assert leads_of(answer, NAMES, "en") == ()


def test_lead_has_the_words_that_show_it_without_what_leads_in() -> None:
    (lead,) = leads_of("And right after that I thought, hm, and who is it that comes then?", NAMES, "en")
    assert (lead.words, lead.last) == ("who is it that comes then?", True)
    doubt, *_ = leads_of(
        "It folds up small enough for the hall, and I'm not sure of that hinge. It stands in the hall.", NAMES, "en"
    )
    assert (doubt.words, doubt.last) == ("I'm not sure of that hinge", False)


def test_words_that_are_too_many_to_be_said_back_are_left() -> None:
    long = "I'm not sure that it would ever work with the old sockets which we have had in our flat since then"
    (lead,) = leads_of(f"{long}.", NAMES, "en")
    assert (lead.kind, lead.words) == ("doubt", "")


def test_elements_of_a_lead_are_those_that_its_sentence_names() -> None:
    first, second = leads_of("I love the lamp. I wouldn't pay the fee.", NAMES, "en")
    assert (first.elements, second.elements) == (("lamp",), ("fee",))


@pytest.mark.parametrize("language", ["fr", "ar", ""])
def test_language_that_is_not_known_has_no_leads(language: str) -> None:
    assert leads_of("I love that. Who comes?", NAMES, language) == ()
    assert not is_bare("Fine.", language)
    assert not tells_past("I was there and went home. " * 9, NAMES, language)
    assert not judges("Fine.", language)
    assert not refers("That", language)


def test_brief_answer_is_bare_unless_it_gives_a_reason() -> None:
    assert is_bare("It's fine.", "en")
    assert is_bare("Nicht schlecht.", "de")
    assert not is_bare("Fine, because it folds.", "en")
    assert not is_bare("", "en")
    assert not is_bare("It is the kind of thing that my aunt has had for years.", "en")


def test_first_words_tell_what_it_stands_for() -> None:
    assert subject_of("The lamp, I think. I liked it more than the rest.", NAMES) == "lamp"
    assert subject_of("The lamp.", NAMES) is None
    assert subject_of("The lamp and the fee. I liked it.", NAMES) is None
    assert subject_of("", NAMES) is None


def test_story_of_the_past_is_told_apart_from_the_idea() -> None:
    story = (
        "Our boiler gave up in January, and I rang everybody I knew. The man came after nine days, looked at it and "
        "said it was done for. I stood there and nodded."
    )
    assert tells_past(story, NAMES, "en")
    assert not tells_past(f"{story} With the van it would be otherwise.", NAMES, "en")
    assert not tells_past("I was there.", NAMES, "en")
    assert not tells_past(
        "I would put it in the hall, and I think it is a good thing to have when guests come.", (), "en"
    )


def test_question_about_the_interview_is_none_about_the_idea() -> None:
    assert asks_of_idea("Is it like a shop?", "en")
    assert not asks_of_idea("How long does this interview take?", "en")
    assert not asks_of_idea("What was the question?", "en")


def test_huge_answer_is_read_in_reasonable_steps() -> None:
    assert len(leads_of("I love that it folds. " * 2000, NAMES, "en")) == 2000
