"""How an answer is told, and what that is worth to a wording."""

from __future__ import annotations

import pytest

from pipeline.language.offline.phrasings import phrasing
from pipeline.language.offline.telling import NOTHING, Telling, about_focus, fit, telling_of, told_by

ENGLISH = phrasing("en")


def told(*answers: str) -> Telling:
    return telling_of(answers, ENGLISH)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("We drove up to the lake in my uncle's van. Then the engine coughed and died on the bridge.", "happening"),
        ("It rained and we walked back anyway. Nowadays I take the car there.", "over"),
        ("We sold the boat in the end. That's it really.", "over"),
        ("I had my supper. Well, that's the end of the day really.", "over"),
        ("He asked about the folder. I don't really have much to say about that.", "exhausted"),
        ("There is little to add. One has a thing valued if one intends to sell it. I did not intend to.", "exhausted"),
        ("About the valuation? No. I have said there is nothing further in it.", "exhausted"),
        ("He looked at the card. And then nothing, he put it away.", "exhausted"),
        ("Nothing, honestly. Five euros at the drugstore, they break, I buy another.", "exhausted"),
        ("The whole street was at the grave. That one I did alone.", "reflecting"),
        ("He kept the key for years. He doesn't open the door to anybody.", "lasting"),
        ("The boat came in late. That's what was hard, waiting there with nobody to ask.", "reflecting"),
        ("We put the lamp in the hall. It was as if somebody was at home.", "reflecting"),
        ("I rang twice and hung up. We've never spoken of it.", "reflecting"),
        ("They sold the field. And about an hour later I'd bought it, so.", "reflecting"),
        ("I turned round at the gate. I couldn't.", "reflecting"),
        ("I had no answer for that child, and that's what broke me. Not him. Her.", "reflecting"),
        ("I let him look into it. And I wanted better for her than that.", "reflecting"),
        ("I stood in the hall with the letter. I was so ashamed.", "felt"),
        ("My sister drove, and I slept. I had promised her I would stay awake, you see.", "peak"),
        ("We went for the small one. Two hundred pounds.", "figures"),
        ("It's fine, honestly.", "closed"),
        ("The colour didn't matter.", "closed"),
        ("There was bread on the table and a note. My aunt had written it before she left for the market.", "several"),
        ("About the note, you mean? It said where the spare key was.", "unclear"),
    ],
)
def test_how_an_answer_is_told(answer: str, what: str) -> None:
    assert getattr(told(answer), what)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("I like the handle.", "several"),
        (
            "My neck goes. That's it really. I do it first thing, left, right, like an owl, before I turn the key, and "
            "if it doesn't go I have a coffee and do the stretches.",
            "exhausted",
        ),
        ("It keeps the soup warm until noon.", "happening"),
        ("We laughed all the way home.", "over"),
        ("It was late. We had twelve miles to go and the lights were out.", "figures"),
        ("It's fine for soup but for coffee I take the other one.", "happening"),
        ("Why not? Because it leaks.", "felt"),
        ("That's what she wanted. Then she took the lamp and went down to the cellar.", "reflecting"),
        ("We've never spoken of it. I rang twice and hung up.", "reflecting"),
        ("I turned round at the gate. I couldn't.", "happening"),
    ],
)
def test_what_an_answer_does_not_show(answer: str, what: str) -> None:
    assert not getattr(told(answer), what)


def test_who_had_to_ask_what_was_meant_is_spared_three_answers_long() -> None:
    asked, plain = "About what? The oven?", "It bakes evenly."
    assert told(asked, plain, plain).unclear
    assert not told(asked, plain, plain, plain).unclear


def test_two_slips_show_a_learner_and_one_does_not() -> None:
    one, two = "My brother help me with the bag.", "She don't like the noise, is very loud."
    assert not told(one).learning
    assert told(one, two).learning
    assert not told("He helps me, and it doesn't cost much.", "She likes it. It's very quiet.").learning


@pytest.mark.parametrize("answer", ["", "   ", "…", "👍", "?", "a" * 8000, "no. " * 2000])
def test_odd_answers_do_no_harm(answer: str) -> None:
    telling = told(answer)
    assert isinstance(fit("What happened then?", named=False, told=telling), float)


def test_nothing_is_known_in_a_language_without_patterns() -> None:
    assert telling_of(["Wir fuhren los. Dann hielt er an."], phrasing("de")) == NOTHING
    assert fit("Und dann?", named=False, told=NOTHING) == 0.0


def test_a_story_that_goes_on_is_asked_on_and_not_past_a_feeling() -> None:
    going, over = Telling(several=True, happening=True), Telling(several=True, over=True)
    felt = Telling(several=True, happening=True, felt=True)
    then, more = "What happened then?", "Tell me more about that."
    assert fit(then, named=False, told=going) > 0 > fit(more, named=False, told=going)
    assert fit(then, named=False, told=over) < 0
    assert fit(then, named=False, told=felt) < fit("What made you feel sad?", named=True, told=felt)


def test_a_story_that_has_ended_is_not_asked_on_three_answers_long() -> None:
    end, on = "There's not really a next, that's us up to date.", "I stood in the rain. Then he shook his coat."
    assert told(end, on, on).over
    assert not told(end, on, on, on).over


def test_who_says_what_it_was_to_them_is_not_asked_what_came_next() -> None:
    then, more = "What happened then?", "Say a little more about that."
    reflecting, once = Telling(reflecting=True), Telling(reflecting=True, lasting=True)
    assert fit(then, named=False, told=reflecting) < fit(more, named=False, told=reflecting)
    assert fit(then, named=False, told=once) == fit(then, named=False, told=Telling(lasting=True))


def test_what_is_meant_is_named_after_several_things() -> None:
    several, single = Telling(several=True), Telling(felt=True)
    bare, named = "What does that mean to you?", "You took the key. What does that mean to you?"
    assert fit(named, named=True, told=several) > fit(bare, named=False, told=several)
    assert fit("Why is that?", named=False, told=single) == 0.0
    quoted = "You said “in the hall”. Tell me more about that."
    assert fit(quoted, named=True, told=several, quoted=True) < fit(bare, named=False, told=several)


def test_learners_get_no_idioms_and_figures_no_feelings() -> None:
    idiom, plain = "Where does that come from, for you?", "Why is that important to you?"
    learner, price = Telling(learning=True), Telling(figures=True)
    assert fit(idiom, named=False, told=learner) < fit(plain, named=False, told=learner)
    assert fit("What is that like for you?", named=False, told=price) < fit("And then?", named=False, told=price)


def test_what_nobody_can_match_in_reasonable_time_is_not_tried() -> None:
    for text in ("no. " * 2000, "well really " * 600, "a hundred and " * 500, "he " * 2700):
        assert told(text).closed is False


def test_figures_are_told_by_what_is_asked_about_too() -> None:
    plain = told("We signed there and then. Small place by the river.")
    assert not plain.figures and about_focus(plain, "forty-five a month", ENGLISH).figures
    assert not about_focus(plain, "small place", ENGLISH).figures


def test_what_was_told_before_is_not_asked_for_as_what_came_next() -> None:
    again = told("Like I said, we sat in the corridor until six. Then my aunt came up the stairs with the keys.")
    assert again.retold and not told("We sat in the corridor. Then my aunt came up the stairs.").retold
    then = "What happened then?"
    assert fit(then, named=False, told=again) < 0 < fit(then, named=False, told=Telling(happening=True))


def test_a_moment_and_a_reason_are_asked_for_where_they_fit() -> None:
    moment, why = "What went through your mind at that moment?", "Why does that matter to you?"
    happening, lasting = Telling(happening=True), Telling(lasting=True)
    assert fit(moment, named=False, told=lasting) < fit(moment, named=False, told=happening)
    assert fit(why, named=False, told=happening) < fit(why, named=False, told=lasting)


def test_everything_in_its_order_is_not_asked_for_after_a_reflection() -> None:
    walk = "Take me through it, step by step."
    begun = told("We drove up to the lake in a van. Then it coughed and stopped on the bridge.")
    thought = told("They sold the field. It was as if I had my brother back.")
    assert fit(walk, named=False, told=begun) > fit(walk, named=False, told=thought)
    assert fit(walk, named=False, told=thought) < 0


def test_what_somebody_said_for_the_first_time_weighs_most() -> None:
    assert told("He asked about the hair. It was the first time I said something about her.").peak


def test_silence_that_is_told_of_is_no_end_of_telling() -> None:
    assert not told("There was a bit of a crackle, then nothing. I gave it a tap on top, but no joy.").exhausted


@pytest.mark.parametrize(
    ("answer", "exhausted"),
    [
        ("There's nothing more to say about that.", True),
        ("There's nothing more to say about that. Maybe that I don't always feel good about it on the bus.", False),
        ("There's nothing more to say about that. Maybe later.", True),
    ],
)
def test_who_says_that_this_was_all_and_goes_on_has_more(answer: str, exhausted: bool) -> None:
    assert told_by((answer,), "en").exhausted == exhausted
