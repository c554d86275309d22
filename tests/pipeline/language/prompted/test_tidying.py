"""The question alone, whatever a model puts around it, and nothing held back that need not be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.prompted.tidying import Tidying

WHAT = "What does that mean to you?"


def tidied(pieces: list[str]) -> str:
    tidying = Tidying()
    out = "".join(tidying.feed(piece) for piece in pieces)
    return out + tidying.finish()


CASES = [
    (WHAT, WHAT),
    (f'"{WHAT}"', WHAT),
    (f"“{WHAT}”", WHAT),
    (f"„{WHAT}“", WHAT),
    (f"«{WHAT}»", WHAT),
    (f"'{WHAT}'", WHAT),
    (f"  \n{WHAT} \n", WHAT),
    (f"**{WHAT}**", WHAT),
    (f'**"{WHAT}"**', WHAT),
    (f"_{WHAT}_", WHAT),
    (f"# {WHAT}", WHAT),
    (f"> {WHAT}", WHAT),
    (f"- {WHAT}", WHAT),
    (f"`{WHAT}`", WHAT),
    (f"Question: {WHAT}", WHAT),
    (f"**Question:** {WHAT}", WHAT),
    (f'Follow-up question: "{WHAT}"', WHAT),
    (f"Here's the next question:\n\n{WHAT}", WHAT),
    (f"Interviewer: {WHAT}", WHAT),
    ("Frage: Was bedeutet das für Sie?", "Was bedeutet das für Sie?"),
    ("السؤال: ماذا يعني ذلك لك؟", "ماذا يعني ذلك لك؟"),
    (f"<think>They said it is quick.\nHm.</think>\n\n{WHAT}", WHAT),
    (f"{WHAT}\n\n(This probes for values.)", WHAT),
    (f'"{WHAT}"\n\nRationale: it digs deeper?', WHAT),
    (f"**{WHAT}**\n*because …*", WHAT),
    ("Earlier you mentioned time.\n\nWhat is it for?", "Earlier you mentioned time. What is it for?"),
    ('"Rich" — what does that mean to you?', "Rich — what does that mean to you?"),
    ('"What do you mean by "rich"?"', 'What do you mean by "rich"?'),
    ('What do you mean by "rich"?', 'What do you mean by "rich"?'),
    ('When you say "rich", what do you mean?', 'When you say "rich", what do you mean?'),
    ("What do you mean by “rich and creamy”", "What do you mean by “rich and creamy”"),
    ('Tell me about "the glow"', 'Tell me about "the glow"'),
    ("“What is ‘a good day’ for you?”", "What is ‘a good day’ for you?"),
    ("What's on your friends' minds?", "What's on your friends' minds?"),
    ("What’s it like?", "What’s it like?"),
    ("What **really** matters?", "What really matters?"),
    ("Questions like these, how do they feel?", "Questions like these, how do they feel?"),
    ("How many — 2 or 3_4?", "How many — 2 or 3_4?"),
    ("", ""),
    ('""', ""),
    ("<think>never ending", ""),
    ("Question:", ""),
]


@pytest.mark.parametrize(("written", "question"), CASES)
def test_question_is_freed_of_what_is_around_it(written: str, question: str) -> None:
    assert tidied([written]) == question


@pytest.mark.parametrize(("written", "question"), CASES)
def test_question_in_single_characters_is_the_same(written: str, question: str) -> None:
    assert tidied(list(written)) == question


@given(st.sampled_from([written for written, _ in CASES]), st.lists(st.integers(1, 9), max_size=60))
def test_question_in_any_pieces_is_the_same(written: str, lengths: list[int]) -> None:
    pieces, at = [], 0
    for length in lengths:
        pieces.append(written[at : at + length])
        at += length
    assert tidied([*pieces, written[at:]]) == tidied([written])


@given(st.text(st.sampled_from("Wab ?.!,'’\"“”*_`\n<>#:"), max_size=60), st.integers(1, 5))
def test_any_text_in_pieces_is_the_same_as_at_once(text: str, size: int) -> None:
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert tidied(pieces) == tidied([text])
    assert "\n" not in tidied(pieces)


def test_first_piece_leaves_at_once() -> None:
    assert Tidying().feed("What") == "What"
    tidying = Tidying()
    assert [tidying.feed(piece) for piece in (" ", "\n", "How")] == ["", "", "How"]


def test_every_word_leaves_with_its_piece() -> None:
    tidying = Tidying()
    pieces = ["What", " does", " that", " mean", " to", " you", "?"]
    assert [tidying.feed(piece) for piece in pieces] == pieces


def test_quotation_mark_in_front_holds_nothing_back() -> None:
    tidying = Tidying()
    assert [tidying.feed(piece) for piece in ('"', "What", " is", " it", '?"')] == ["", "What", " is", " it", "?"]


@pytest.mark.parametrize("size", [1, 3, 200])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("“Sorry you’re leaving us”, to him. What was that?", "“Sorry you’re leaving us”, to him. What was that?"),
        ("„Den Brief“, sagten Sie. Was war damit?", "„Den Brief“, sagten Sie. Was war damit?"),
        ("“What was that?”", "What was that?"),
        ("“Tell me about that day”", "Tell me about that day"),
        ("“Tell me", "Tell me"),
    ],
)
def test_words_quoted_at_the_beginning_keep_their_marks(text: str, kept: str, size: int) -> None:
    tidying = Tidying()
    fed = [tidying.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(fed) + tidying.finish() == kept


def test_reading_ends_behind_the_question() -> None:
    tidying = Tidying()
    assert tidying.feed(f"{WHAT}\n") == WHAT
    assert tidying.ended
    assert tidying.feed("And one more?") == ""
    assert tidying.finish() == ""
