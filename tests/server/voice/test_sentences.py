"""A text that is being written is cut into sentences as soon as they are certain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.voice.sentences import LONGEST_CHARS, Sentences


def cut(*pieces: str, end: bool = True) -> list[str]:
    """The sentences of a text that comes in these pieces."""
    sentences = Sentences()
    for piece in pieces:
        sentences.add(piece)
    if end:
        sentences.end()
    return taken(sentences)


def taken(sentences: Sentences) -> list[str]:
    found = []
    while (sentence := sentences.take()) is not None:
        found.append(sentence.text)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("… ?!", []),
        ("Why?", ["Why?"]),
        ("That helps. Why is that?", ["That helps.", "Why is that?"]),
        ("“Really?” That helps. (It does.) Why?", ["“Really?”", "That helps.", "(It does.)", "Why?"]),
        ("Tell me about Dr. Smith. Why her?", ["Tell me about Dr. Smith.", "Why her?"]),
        ("Some things, e.g. the taste, matter. Which?", ["Some things, e.g. the taste, matter.", "Which?"]),
        ("It costs 3.50 a cup. Is that much?", ["It costs 3.50 a cup.", "Is that much?"]),
        ("Help: 116 123\nhttps://help.example\nGo on?", ["Help: 116 123", "https://help.example", "Go on?"]),
        ("ماذا يعجبك؟ ولماذا؟", ["ماذا يعجبك؟", "ولماذا؟"]),
        ("Was mögen Sie daran? Und warum?", ["Was mögen Sie daran?", "Und warum?"]),
    ],
)
def test_text_is_cut_into_its_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected
    assert cut(*text) == expected, "however it comes"


def test_sentence_that_may_go_on_is_not_read_yet() -> None:
    assert cut("That helps.", end=False) == []
    assert cut("That helps. ", end=False) == []
    assert cut("That helps. W", end=False) == ["That helps."]


def test_pause_after_what_looks_like_an_end_makes_it_one() -> None:
    sentences = Sentences()
    sentences.add("That helps. Why is")
    sentences.settle()
    assert taken(sentences) == ["That helps."]
    sentences.add(" that?")
    sentences.settle()
    assert taken(sentences) == ["Why is that?"]
    sentences.add(" Tell me.")
    sentences.end()
    assert taken(sentences) == ["Tell me."]


def test_long_sentence_is_parted_at_a_clause_or_between_words_and_loses_nothing() -> None:
    clauses = "and it is warm, " * 40
    words = "warm " * 200
    for text in (clauses, words, "w" * 1000):
        found = cut(text)
        assert all(len(part) <= LONGEST_CHARS for part in found)
        assert "".join("".join(found).split()) == "".join(text.split())
    assert all(part.endswith(",") for part in cut(clauses))


@given(st.text(alphabet="aB .!?…\n\"'é,؟1", max_size=600), st.integers(1, 30))
def test_ends_count_the_whole_text_and_no_word_is_lost_or_read_twice(text: str, size: int) -> None:
    sentences = Sentences()
    for start in range(0, len(text), size):
        sentences.add(text[start : start + size])
    sentences.end()
    at, read = 0, []
    while (sentence := sentences.take()) is not None:
        assert at < sentence.end <= len(text)
        assert "".join(c for c in sentence.text if c.isalnum()) == "".join(
            c for c in text[at : sentence.end] if c.isalnum()
        )
        read.append(sentence.text)
        at = sentence.end
    assert not any(c.isalnum() for c in text[at:])
