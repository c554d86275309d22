"""Real labels, as an extractor cuts them, in sentences as a moderator would say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.question.inflection import base_of_third_person, flip, is_plural
from pipeline.question.phrases import MAX_LABEL_WORDS, clause_around, phrase, trim

CASES = [
    # label, node type, kind, spoken
    ("quiet motor", "attribute", "noun", "the quiet motor"),
    ("wide tyres", "attribute", "noun", "wide tyres"),
    ("noise cancellation", "attribute", "noun", "the noise cancellation"),
    ("folding design", "attribute", "noun", "the folding design"),
    ("the wording", "pain_point", "noun", "the wording"),
    ("my morning ritual", "psychosocial_consequence", "noun", "your morning ritual"),
    ("our first winter", "reference_point", "noun", "your first winter"),
    ("the rules about lunch", "pain_point", "noun", "the rules about lunch"),
    ("saves me time", "functional_consequence", "quote", "“saves me time”"),
    ("my son does the uploading", "solution_approach", "quote", "“my son does the uploading”"),
    ("my maths teacher sighs", "pain_point", "quote", "“my maths teacher sighs”"),
    ("the neighbours laugh", "emotion", "quote", "“the neighbours laugh”"),
    ("the alarm goes off", "incident", "quote", "“the alarm goes off”"),
    ("the wind offended", "incident", "quote", "“the wind offended”"),
    ("buy a drill of my own", "attribute", "quote", "“buy a drill of my own”"),
    ("all go in the one room", "attribute", "quote", "“all go in the one room”"),
    ("heavy", "attribute", "quote", "“heavy”"),
    ("easy to clean", "attribute", "quote", "“easy to clean”"),
    ("the stupid lid", "attribute", "quote", "“the stupid lid”"),
    ("the one you told me about", "attribute", "quote", "“the one you told me about”"),
    ("waiter ignored us", "pain_point", "quote", "“waiter ignored us”"),
]

SAID_BACK = [
    # label, answer, said back
    ("made a chair", "I made a chair. It took all winter.", "You made a chair."),
    ("house became so silent", "Well, the house became so silent.", "The house became so silent."),
    ("no infections", "No cleaning. No infections.", "No infections."),
    ("my winter tyres", "It was the garage. My winter tyres were ready.", "Your winter tyres were ready."),
    ("saw an opening", "Because my husband said over his dead body, and I saw an opening.", "You saw an opening."),
    ("was late", "So I was late, and I was glad.", "You were late, and you were glad."),
    ("was glad", "The bus had gone before I came to the stop, and I was glad.", "You were glad."),
    ("wasn't sorry", "The bus had gone before I came to the stop, and I wasn't sorry.", ""),
    ("had to wait", "So I sort of had to wait.", ""),
    ("would sit there", "Then I would sit there.", ""),
    ("they thought", "They thought you were odd.", ""),
    ("hate it", "I hate it there.", ""),
    ("furious", "I was furious, honestly.", "You were furious."),
    ("rang him", "I rang him, you know, that night.", "You rang him, that night."),
    ("took the door", "they um took the door", ""),
    ("wants nothing", "Something for a man of seventy who has everything and says he wants nothing at all ever.", ""),
    ("not in it", "It was quite another story altogether, I should think.", ""),
]


@pytest.mark.parametrize(("label", "node_type", "kind", "spoken"), CASES, ids=[case[0] for case in CASES])
def test_label_is_spoken_as_it_is_only_where_it_is_a_noun_phrase(
    label: str, node_type: str, kind: str, spoken: str
) -> None:
    made = phrase(label, node_type=node_type)
    assert (made.kind, made.text) == (kind, spoken)


@pytest.mark.parametrize(("label", "answer", "back"), SAID_BACK, ids=[case[0] for case in SAID_BACK])
def test_only_a_whole_short_clause_is_said_back(label: str, answer: str, back: str) -> None:
    assert phrase(label, said=["Something else.", answer]).said_back == back


def test_quotation_is_the_whole_clause_of_the_latest_answer_that_has_it() -> None:
    made = phrase("a chair", said=["I bought a chair there.", "And so I made a chair."])
    assert (made.kind, made.text, made.whole) == ("noun", "a chair", True)
    quoted = phrase("made a chair", said=["I never made a chair before.", "And so I made a chair."])
    assert (quoted.text, quoted.whole) == ("“I made a chair”", True)
    piece = phrase("made a chair")
    assert (piece.text, piece.whole, piece.said_back) == ("“made a chair”", False, "")


@pytest.mark.parametrize("label", ["wide tyres", "crowded trains", "kids", "the lids"])
def test_plural_noun_takes_a_plural_verb(label: str) -> None:
    assert phrase(label, node_type="attribute").plural


@pytest.mark.parametrize("label", ["quiet motor", "the bus", "a glass of water", "good bass", "a pair of socks"])
def test_singular_noun_takes_a_singular_verb(label: str) -> None:
    assert not phrase(label, node_type="attribute").plural


def test_only_noun_phrases_stand_inside_a_question() -> None:
    assert not phrase("don't have to charge it").inline
    assert not phrase("heavy", node_type="attribute").inline
    assert phrase("quiet motor", node_type="attribute").inline
    assert not phrase("look after my family and my friends on every single day").inline


def test_long_label_is_cut_before_a_clause_and_quoted() -> None:
    label = "I plan the week on Sunday with my wife because otherwise we end up ordering pizza"
    assert trim(label) == ("I plan the week on Sunday with my wife …", True)
    made = phrase(label)
    assert made.kind == "quote"
    assert made.text == "“I plan the week on Sunday with my wife …”"


def test_quotation_marks_and_markup_inside_a_label_are_dropped() -> None:
    assert phrase('it sounds "crisp" {to} <me>').text == "“it sounds crisp to me”"
    assert "{" not in phrase("a {topic} thing").text


@pytest.mark.parametrize(("language", "spoken"), [("de", "„spart mir Zeit“"), ("ar", "“spart mir Zeit”")])
def test_other_languages_are_quoted(language: str, spoken: str) -> None:
    assert phrase("spart mir Zeit", language=language).text == spoken


@given(st.text(max_size=120))
def test_any_label_makes_a_phrase_of_bounded_length(label: str) -> None:
    made = phrase(label, node_type="attribute")
    assert len(made.text.split()) <= MAX_LABEL_WORDS + 5
    assert made.text.count("“") in (0, 1)
    assert not set("{}<>") & set(made.text)


def test_bases_of_third_person_forms() -> None:
    assert [base_of_third_person(word) for word in ("saves", "carries", "goes", "washes", "tyres", "is")] == [
        "save", "carry", "go", "wash", None, "be",
    ]  # fmt: skip


def test_flip_turns_every_first_person_word_and_nothing_else() -> None:
    assert (
        flip("I told my boss that I'm proud of myself and us")
        == "you told your boss that you're proud of yourself and you"
    )
    assert flip("the mine in Mexico, for me") == "the yours in Mexico, for you"
    assert flip("I was late") == "you were late"


def test_plurals() -> None:
    assert [is_plural(word) for word in ("tyres", "people", "glass", "stress", "news", "bus", "trains")] == [
        True, True, False, False, False, False, True,
    ]  # fmt: skip


def test_that_which_something_is_said_of_is_not_left_out() -> None:
    assert clause_around("love", "She never said anything. That was love, I think, in her way.").startswith("That was")
    said = "He knows it well enough by now, and so does she, that I left early."
    assert clause_around("left early", said) == "I left early"
