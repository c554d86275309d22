"""Leads: what in an answer to a concept test is worth a question."""

from __future__ import annotations

import pytest

from pipeline.elements import Names
from pipeline.leads import asks_of_idea, is_bare, is_finished, judges, leads_of, refers, subject_of, tells_past

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
        ("It would do for my girl. I can't see how big it is from here.", "asks"),
        ("I can't see how that would work.", "doubt"),
        ("If it breaks in the second week and they say I have to wait, I'd be really cross.", "against"),
        ("If they put it downstairs, it's no use to me.", "against"),
        ("I'd be right for it. If I send it, do I then have to ring them? Because then it's the same.", "asks"),
        ("I've got work clothes. Would they bring it up? I'm on the fourth floor.", "asks"),
        ("I did stop at the line with the lamp.", "raised"),
        ("That's twenty a month, then I'm out.", "against"),
        ("That you can leave, that I like, it's fair.", "liking"),
        ("In it, I'd want to see how heavy it is.", "condition"),
        ("It would have to last the winter.", "condition"),
        ("I wasn't so sure about that.", "doubt"),
        ("A lamp for the whole hall? I wasn't so sure about that.", "doubt"),
        ("I live here. Does the lamp come as a parcel?", "asks"),
        ("If there's one thing it's the weight. That isn't on there.", "condition"),
        ("I also ask, who pays this man? Maybe he gets more when it's broken.", "asks"),
        ("My daughter asks what I ate, and then I fib. I wouldn't have to fib.", "personal"),
        ("There is a man coming, and I'll be there. Then I'd still be of some use in the matter.", "personal"),
        ("I don't want to be that woman a second time. He is cheaper anyway.", "personal"),
        ("She'd manage without me, and would no longer ring me about it.", "personal"),
        ("Das hieße, dann müsste ich niemanden mehr bitten.", "personal"),
        ("Which is it, from Monday or from last week? If the day is on the lid, that will do for me.", "condition"),
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
        "A lamp that she can't switch on, it's beautiful and it's terrible, no?",
        "Are we here for the lamp or for Marcel?",
        "Weren't we talking about a lamp?",
        "It folds. And who would talk to her then?",
        "And if you're late it's gone. That's it, isn't it?",
        "There's the lamp, but she'll see me too, won't she?",
        "And at my mother-in-law's, would I carry a lamp there? I would not.",
        "What do you mean?",
        "Why do you ask?",
        "How long does this take?",
        "Are you a real person?",
        "He said what do you want?",
        "And on the bus my boy asked me, mama, are we poor?",
        "What, the fee? Day to day that's nothing.",
        "A man touched me on the bus and I shouted, and then all the aunties shouted with me and the driver stopped "
        "and they put him out on the road. In a car who will shout?",
        "If it were like what, please? I'm not sure what you mean. If the lamp was there, or if the fee was less?",
        "Can I join and leave the month after? Surely not, there'll be a waiting time or something.",
        "Does the lamp go in with it? I read that and thought, well, felt, and in a microwave, with my luck it burns.",
        "Both children were ill and I had I don't know how many sheets in the bath, of the lamp nobody thought.",
        "He looked at it and told me, not worth it, love, honestly.",
        "What would, the lamp? Sorry, I've lost the thread.",
        "You know what I mean?",
        "Lamps?",
        "What does a new one cost, 400? So I'd have paid for one.",
        "It felt like the old days.",
        "I've said it all, otherwise I think we're done.",
        "If it's true what they write? A machine in the house is a good thing.",
        "Better than feeling silly? Somebody who comes.",
        "The fee, it says. For me, after six hours on the bike? I'd want more for it.",
        "I'm out on the bike with the post from six in the morning.",
        "What bothers me? It's the third floor, and there are the stairs.",
        "What do I think of the lamp? It's a lamp.",
        "We stood there, and he said, mum, is that all?",
        "I don't do that, and why would I? Because it is there.",
        "Quickly also means that I do nothing silly, and don't decide something stupid.",
        "Are we poor? No, we have a broken machine.",
        "And what do you film? A machine that does nothing. It stands there.",
        "What I can't do is four hundred at once, like in February.",
        "That's thirty-seven together, if you look at it like that.",
        "Five of them I don't notice, that is nothing to me.",
        "It felt as it did, and I felt stupid, you know?",
        "It's fuller when they buy that, if they did, which they won't.",
        "Sorry, I've lost the thread, I talk too much.",
        "I'm not really worried about the lamp, that was the weight of it.",
        "I don't need the van. Because my sister drives me.",
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
    assert not asks_of_idea("I know that I'm talking to a computer, but why are you telling me now?", "en")


def test_question_that_is_announced_is_one_and_one_that_answers_itself_is_none() -> None:
    asked = "There I have a question of my own: up to ten years old, does that count on the day I join?"
    assert asks_of_idea(asked, "en")
    assert not asks_of_idea("Because what they don't say is always what costs you, isn't it?", "en")
    assert not asks_of_idea("It costs them a hundred and fifty to say no. So what are they going to say?", "en")


def test_huge_answer_is_read_in_reasonable_steps() -> None:
    assert len(leads_of("I love that it folds. " * 2000, NAMES, "en")) == 2000


def test_question_is_said_again_without_what_leads_to_it() -> None:
    (lead,) = leads_of("Oh, and the lamp, who carries that up? We live on the third floor, with no lift.", NAMES, "en")
    assert (lead.kind, lead.words, lead.elements) == ("asks", "who carries that up?", ("lamp",))


def test_that_stands_for_the_one_element_of_the_sentence_before() -> None:
    (lead,) = leads_of("Then there is the van. I'm not sure about that.", NAMES, "en")
    assert lead.elements == ("van",)
    (both,) = leads_of("Then there are the van and the fee. I'm not sure about that.", NAMES, "en")
    assert both.elements == ()
    (other,) = leads_of("Then there is the van. I'm not sure that my mother would.", NAMES, "en")
    assert other.elements == ()
    (again,) = leads_of("Then there is the van. The lamp in a van, I'm not sure about that.", NAMES, "en")
    assert again.elements == ("van",)


@pytest.mark.parametrize(
    "answer",
    [
        "There isn't much more, I don't think.",
        "I think we've had that one out of the depot and back. Eleven minutes. There's no more in it.",
        "There's not more.",
        "About what, the rinsing? There's not a lot to it. You rinse it and that is that.",
        "That's all it is.",
        "And a number where a person picks up. That's all, really.",
        "I've just said that, really.",
        "I told you already why, I paid two times. I've told you that.",
        "That's the top shelf for me.",
        "I think I've pretty much said it, honestly! There isn't much more behind it.",
        "I've just said that, really, I'd like to keep it. One of them, and it lives in my drawer at home or at my "
        "desk, and goes in the washing machine now and then. And you put it on after that, so you're not heating it.",
        "About the price? I told you, I'd pay it. It's the salt.",
        "Mehr gibt es da nicht.",
    ],
)
def test_who_has_no_more_to_say_is_heard(answer: str) -> None:
    assert is_finished(answer, "de" if answer.startswith("Mehr") else "en")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I like it, and that's all right with me.",
        "There's not a lot to pay, and it comes to the door.",
        "He said that he had it, and he came.",
        "The flour, I said that already to my sister when she asked, and she wrote it on the list for the next week.",
        "He stood in the hall and he said, I told you so, and then we went up together to look at it.",
        "The bread and cheese, as I said. And the sandwich once a week.",
        "It doesn't say what's in it, that's all I wonder about: what is in it.",
        "Well, there's not much more to that. He was young. But there was a woman beside me on the stairs.",
        "That's all, really. " + "And he came and she went and I stood in the hall with it. " * 3,
        "We had that, for repairs, and my daughter needed the money.",
    ],
)
def test_who_has_more_to_say_is_not_taken_to_be_done(answer: str) -> None:
    assert not is_finished(answer, "en")


def test_language_that_is_not_known_is_never_done() -> None:
    assert not is_finished("That's all it is.", "fr")
    assert not is_finished("That's all it is. " * 9, "")


@pytest.mark.parametrize(
    "answer",
    [
        "I was the poor bloke. So I'd want to know it's not that.",
        "It was just Sunday, and nobody asked. I don't know if that makes sense.",
        "She reads some out and I'd sit there thinking, is that him? I'd know his.",
    ],
)
def test_who_asks_nothing_of_the_idea_is_not_answered(answer: str) -> None:
    assert "asks" not in {lead.kind for lead in leads_of(answer, NAMES, "en")}


def test_question_that_was_not_answered_is_still_one_however_its_teller_goes_on() -> None:
    again = "You didn't say whether I have to be in on Monday. Anyway. It would be instead of the bread and cheese."
    assert asks_of_idea(again, "en")
    assert not asks_of_idea("They didn't tell me what it would cost. Anyway. It was late by then.", "en")
