from __future__ import annotations

from pipeline.ports import Rendering
from pipeline.question.phrases import Phrase, phrase
from pipeline.question.templates import (
    capitalised,
    fill,
    placeholders,
    rotated,
    shuffled,
    stable_hash,
    suits,
    uncapitalised,
    was_asked,
)

TYRES = phrase("wide tyres", node_type="attribute")
HEAVY = phrase("heavy", node_type="attribute")


def test_verb_agrees_with_the_phrase() -> None:
    motor = phrase("quiet motor", node_type="attribute")
    assert fill("Why {does} {focus} matter?", topic="bikes", phrase=TYRES) == "Why do wide tyres matter?"
    assert fill("Why {does} {focus} matter?", topic="bikes", phrase=motor) == "Why does the quiet motor matter?"


def test_phrase_that_must_be_quoted_suits_templates_with_a_mention_only() -> None:
    assert suits("{mention} Why?", HEAVY)
    assert not suits("Why {does} {focus} matter?", HEAVY)
    assert suits("Why {does} {focus} matter?", TYRES)
    assert not suits("What about {topic}?", TYRES)
    assert suits("What about {topic}?", None)
    assert not suits("{mention} Why?", None)


def test_sentences_begin_with_capitals() -> None:
    assert fill("{topic} matters. why?", topic="coffee") == "Coffee matters. Why?"
    assert capitalised("you said x. what then?") == "You said x. What then?"
    assert uncapitalised("What then?") == "what then?"
    assert uncapitalised("I wonder.") == "I wonder."


def test_template_recognises_its_questions_whatever_was_filled_in() -> None:
    assert was_asked("Why {does} {focus} matter to you?", "Why do wide tyres matter to you?")
    assert was_asked("{mention} What happened next?", "Earlier you mentioned the bus. What happened next?")
    assert not was_asked("{mention} What happened next?", "What happened before that?")
    assert not was_asked("{mention}", "anything")


def test_chance_is_the_same_in_every_process() -> None:
    assert stable_hash(1, "a") == 12208100300184014999
    assert stable_hash(1, "a") != stable_hash(1, "b")
    assert shuffled("abcdef", 1) == list("abedfc")
    assert rotated("abc", 4) == ["b", "c", "a"]
    assert rotated("", 4) == []


def test_placeholders_are_found() -> None:
    assert placeholders("{mention} Why {does} {focus}?") == {"mention", "does", "focus"}


def test_deed_of_one_word_is_not_asked_about_by_itself() -> None:
    def of(gerund: str) -> Phrase:
        return Phrase(kind="quote", label="x", text="“x”", rendering=Rendering(gerund=gerund))

    assert suits("What was it like, {gerund}?", of("saying something about her"))
    assert not suits("What was it like, {gerund}?", of("laughing"))
    assert not suits("What was it like, {gerund}?", of(""))
