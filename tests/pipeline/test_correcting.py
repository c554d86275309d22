"""Corrections: which words take the place of which."""

from __future__ import annotations

import pytest

from pipeline.correcting import put_right_in, taken_for_granted


@pytest.mark.parametrize(
    ("told", "message", "wrong", "right"),
    [
        ("My boss likes that.", "No, I meant my team, not my boss.", "My boss", "my team"),
        ("my wife said they smell like wood", "no, not my wife, my sister said that", "my wife", "my sister"),
        ("I like the smell in the evening.", "Sorry, I meant in the morning.", "in the evening", "in the morning"),
        ("It costs twelve euros a bag.", "No sorry, it costs ten euros.", "twelve euros", "ten euros"),
        ("I go on Mondays.", "Sorry, Tuesday it was. Monday is my day off.", "Mondays", "Tuesday"),
        ("we got there at like 6", "no, nearer 4. it was cold", "6", "4"),
        ("I like the smell.", "I mean the taste, not the smell.", "the smell", "the taste"),
        ("My mum was there.", "Wait, that was my aunt.", "mum", "aunt"),
        ("We paid 200 quid.", "Make that 300 quid.", "200 quid", "300 quid"),
        (
            "Our Keith's birthday, the Friday.",
            "Oh, hang on, I said Friday. It was the Saturday.",
            "Friday",
            "the Saturday",
        ),
        (
            "our Julie called the lad",
            "It wasn't our Julie, I tell a lie. It was Kelly, Darren's wife.",
            "our Julie",
            "Kelly",
        ),
    ],
)
def test_words_that_were_told_give_way_to_others(told: str, message: str, wrong: str, right: str) -> None:
    found = put_right_in(message, [told])
    assert found is not None
    assert (found.wrong, found.right) == (wrong, right)
    assert found.right in message[found.start : found.end]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("It was a quiet Sunday.", "The taste, not the smell."),
        ("I like the smell of it.", "I said it's cheap."),
        ("My brother drives me.", "He said Monday but meant Tuesday."),
        ("It costs ten euros.", "And twelve of my friends do the same."),
        ("It costs ten euros.", "No, not really."),
        ("I go there in the morning.", "I mean, in the shop they know me."),
        ("The price is fine.", "Not much."),
        ("If it's older, half the price of a new one.", "I said half, and 150 isn't half of a decent machine."),
        ("150 isn't half the price of a decent machine.", "No. Not the price of a machine. 520 is what mine cost."),
        ("I was happy with it.", "Sorry, I wasn't happy, I just took it"),
        ("I went to three dealers.", "No, the first two were pushy."),
        ("My husband chose it.", "No, it was me who chose it, not my husband."),
        ("", "No, the taste, not the smell."),
        ("My wife came along.", ""),
        ("We agreed on Sunday.", "I said Sunday to her, no, she wanted Monday."),
        ("I pay ten euros. " * 400, "not " * 1500),
    ],
)
def test_what_only_contrasts_puts_nothing_right(told: str, message: str) -> None:
    assert put_right_in(message, [told] if told else []) is None


def test_contrast_without_a_word_for_it_counts_only_where_it_was_said_back() -> None:
    told = ["I like the smell of it."]
    assert put_right_in("The taste, not the smell.", told) is None
    found = put_right_in("The taste, not the smell.", told, "You like the smell of it.")
    assert found is not None
    assert found.right == "The taste"


def test_what_was_heard_as_a_correction_needs_no_word_for_it() -> None:
    told = ["Since I was about twenty-two."]
    assert put_right_in("Thirty-two. At twenty-two I had nothing.", told) is None
    found = put_right_in("Thirty-two. At twenty-two I had nothing.", told, heard=True)
    assert found is not None
    assert (found.wrong, found.right) == ("twenty-two", "Thirty-two")


@pytest.mark.parametrize(
    ("question", "taken"),
    [
        ("You waited two hours. What was that like?", "You waited two hours."),
        ("So you waited two hours?", "So you waited two hours?"),
        ("What was that like?", ""),
        ("", ""),
    ],
)
def test_what_a_question_takes_for_granted(question: str, taken: str) -> None:
    assert taken_for_granted(question) == taken


def test_what_was_told_long_ago_is_put_right_where_it_is_said_again() -> None:
    told = ["I write the list on Sunday, for the week.", "Then I shop.", "Every week.", "My mother did.", "Yes."]
    message = "Where was I. I said I write it on Sunday, actually it's Saturday morning, before I go shopping."
    found = put_right_in(message, told)
    assert found is not None
    assert (found.wrong, found.right) == ("Sunday", "Saturday")
    assert put_right_in("I told you ten euros, sorry, twelve euros.", ["It cost ten euros", *told]) is not None
    assert put_right_in("I said to him Sunday, actually I was glad.", told) is None
    assert put_right_in("I said Monday, actually it's Friday.", told) is None  # nobody had said Monday


@pytest.mark.parametrize(
    ("told", "message", "wrong", "right"),
    [
        ("Five weeks without it.", "Odd. Oh, I said five weeks, it was four. First Saturday.", "five", "four"),
        ("We met on Friday.", "I said Friday, it was Thursday.", "Friday", "Thursday"),
        (
            "I wear them maybe three hours a day.",
            "They're loud. Sorry, I said three hours a day before, it's more like five if I count the train.",
            "three",
            "five",
        ),
    ],
)
def test_what_was_told_is_said_again_word_for_word_before_what_is_right(
    told: str, message: str, wrong: str, right: str
) -> None:
    found = put_right_in(message, [told])
    assert found is not None
    assert (found.wrong, found.right) == (wrong, right)


def test_what_was_not_told_in_these_words_is_put_right_of_nothing() -> None:
    assert put_right_in("I said five weeks to him, it was four in the end.", ["Six days without it."]) is None
    assert put_right_in("I said I'd wait five weeks, it was four in the end.", ["Five weeks without it."]) is None


@pytest.mark.parametrize(
    ("back", "message", "wrong", "right"),
    [
        ("You go Tuesdays.", "Wednesdays, they're shut Tuesdays for training.", "Tuesdays", "Wednesdays"),
        (
            "You leave at ten past seven.",
            "ten past six.",
            "ten past seven",
            "ten past six",
        ),
    ],
)
def test_number_or_days_by_themselves_take_the_place_of_those_that_were_said_back(
    back: str, message: str, wrong: str, right: str
) -> None:
    found = put_right_in(message, [back.replace("You", "I")], back, asks_which=False)
    assert found is not None
    assert (found.wrong, found.right) == (wrong, right)
    assert put_right_in(message, [back.replace("You", "I")], back, asks_which=True) is None


@pytest.mark.parametrize(
    ("back", "message"),
    [
        ("You have two kids.", "One is at school, the other at home."),
        ("It goes back after nine uses.", "Or you buy it once. The second one actually, I'd take that."),
        ("You were off on Saturday.", "Sunday, I was fine again."),
        ("You go Tuesdays.", "Tuesdays, yes. It's quiet then."),
        ("Your sister hates it.", "My brother, he loves it."),
        ("Five things went wrong that day.", "Two things, the taste and the smell."),
        ("It took five weeks to arrive.", "Two weeks, I felt nothing."),
        ("You go swimming on Mondays.", "Sundays, mostly, with my brother."),
    ],
)
def test_what_goes_on_with_another_number_or_day_puts_nothing_right(back: str, message: str) -> None:
    assert put_right_in(message, [back], back, asks_which=False) is None


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (["I cook for a whole kindergarten every day."], "He wasn't hiding them. But for me it was... I stood there."),
        (["You don't know who you'd ring."], "Once I ring somebody I don't know, I'm in their hands."),
        (["I got my forty minutes in the end."], "He'd got the bread. No, in myself, I suppose, I'd stopped."),
    ],
)
def test_words_that_name_nothing_take_no_place(told: list[str], text: str) -> None:
    assert put_right_in(text, told, told[0]) is None
    assert put_right_in(text, told, heard=True) is None


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ("He works alone, open Tuesdays to Thursdays.", "I went on the Wednesday. No, the Tuesday, it was raining."),
        ("I told my mother about it.", "They laughed. I've not told anyone actually, you're the first."),
        ("There were two of them on the phone.", "Not the chirpy ones, I have forgiven the chirpy ones."),
    ],
)
def test_what_a_message_puts_right_of_itself_puts_nothing_right_of_an_earlier_one(told: str, text: str) -> None:
    assert put_right_in(text, [told]) is None
    assert put_right_in(text, [told], heard=True) is None or "Tuesday" in text
