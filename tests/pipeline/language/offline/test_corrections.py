"""Corrections that name only what is right, and what stands around them, with the real parser and embedder."""

from __future__ import annotations

import pytest

from pipeline.acts import PUT_RIGHT, TOLD_WRONG, HeardAct
from pipeline.correcting import CorrectionReader
from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.srl import SpacyParser


@pytest.mark.parametrize(
    ("told", "message", "wrong", "right"),
    [
        ("my daughter's vegan now", "she's vegetarian. it was fine", "vegan", "vegetarian"),
        ("he built it with my daughter", "my granddaughter, she did", "daughter", "my granddaughter"),
        ("we drove there from wisconsin", "Michigan, it's over the line", "wisconsin", "Michigan"),
    ],
)
async def test_word_that_is_like_the_wrong_one_takes_its_place(
    parser: SpacyParser, embedder: OnnxEmbedder, told: str, message: str, wrong: str, right: str
) -> None:
    heard = (HeardAct(act="corrects", start=0, end=len(message), about=PUT_RIGHT, heard_by="reader"),)
    (found,) = await CorrectionReader(parser, embedder).read(message, heard, [told], "")
    assert (found.details, found.about) == ({"wrong": wrong, "right": right.lower()}, TOLD_WRONG)


@pytest.mark.parametrize(
    ("message", "said_back", "kept"),
    [
        ("no you have it upside down", "", True),
        ("it was nothing like that", "You like the smell.", True),
        ("wine lol. no I run three times a week", "", False),
        ("my wife decided, I said only yes", "", False),
    ],
)
async def test_correction_without_such_a_word_stays_one_where_something_could_be_wrong(
    parser: SpacyParser, embedder: OnnxEmbedder, message: str, said_back: str, kept: bool
) -> None:
    heard = (HeardAct(act="corrects", start=0, end=len(message), about=PUT_RIGHT, heard_by="reader"),)
    told = ["I like the smell of coffee"]
    found = await CorrectionReader(parser, embedder).read(message, heard, told, said_back)
    assert [act.act for act in found] == ["corrects" if kept else "tells"]


async def test_danger_in_the_same_words_is_not_taken_for_a_correction(
    parser: SpacyParser, embedder: OnnxEmbedder
) -> None:
    message = "No, not my boss, my husband hit me."
    heard = (HeardAct(act="risk", start=0, end=len(message)),)
    assert await CorrectionReader(parser, embedder).read(message, heard, ["my boss hit me"], "") == heard


async def test_what_stands_around_a_correction_is_told(parser: SpacyParser, embedder: OnnxEmbedder) -> None:
    message = "It was good. No sorry, I meant my team, not my boss. They laughed a lot."
    heard = await CorrectionReader(parser, embedder).read(message, (), ["my boss likes that"], "")
    assert [act.act for act in heard] == ["tells", "corrects", "tells"]
    assert message[heard[1].start : heard[1].end].strip() == "No sorry, I meant my team, not my boss."
