"""What somebody wants who seemed upset and was asked whether to go on, in words of their own."""

from __future__ import annotations

import pytest

from pipeline.acts import CHOOSES_CALM, CHOOSES_ELSE, CHOOSES_ON
from pipeline.language.acts.hearing import ActHearing
from pipeline.language.acts.reading import RuleReader
from pipeline.language.acts.wishing import LONGEST
from pipeline.language.reader.files import load_reader

ASKED = (
    "I'm sorry. Thank you for telling me. We don't have to go on with this. Would you like to go on talking about it,"
    " talk about something else, take a break, or stop?"
)


@pytest.fixture(scope="module")
def trained() -> ActHearing:
    reader = load_reader()
    return ActHearing(reader.network, reader.settings, reader.message, reader.talk, reader.danger, reader.wishes)


@pytest.mark.parametrize(
    ("text", "act", "about"),
    [
        ("let me just get a tissue", "wants_pause", ""),
        ("i need to step outside for a bit", "wants_pause", ""),
        ("oh no I'm grand, go ahead and ask me the next one", "aside", CHOOSES_ON),
        ("haha no it's only my hay fever", "aside", CHOOSES_CALM),
        ("could we do a different topic please", "wants_topic", CHOOSES_ELSE),
        ("no I want to finish up now, that's enough", "wants_stop", ""),
    ],
)
async def test_wish_is_heard_in_whatever_words(trained: ActHearing, text: str, act: str, about: str) -> None:
    heard = await trained.wish(text, ASKED, "en")
    assert heard is not None
    assert (heard.act, heard.about, heard.start, heard.end, heard.heard_by) == (act, about, 0, len(text), "reader")


@pytest.mark.parametrize(
    "text",
    [
        "She was in the bed by the window and she didn't know me any more.",
        "He never came back and the dog still waits at the door for him every night.",
        "",
        "no " * (LONGEST + 1),
        "…",
    ],
)
async def test_who_only_tells_on_chooses_nothing(trained: ActHearing, text: str) -> None:
    assert await trained.wish(text, ASKED, "en") is None


async def test_other_languages_and_rules_alone_go_by_words(trained: ActHearing) -> None:
    assert await trained.wish("ich brauche kurz frische Luft", ASKED, "de") is None
    assert await RuleReader().wish("let me just get a tissue", ASKED, "en") is None
    reader = load_reader()
    assert await ActHearing(reader.network, reader.settings).wish("let me just get a tissue", ASKED, "en") is None


async def test_an_end_that_is_not_sure_is_asked_back(trained: ActHearing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.language.acts.wishing.SURE_TO_STOP", 1.1)
    heard = await trained.wish("no I want to finish up now, that's enough", ASKED, "en")
    assert heard is not None
    assert (heard.act, heard.sure) == ("wants_stop", False)
