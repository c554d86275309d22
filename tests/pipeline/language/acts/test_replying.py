"""What somebody means who was asked back, in words of their own."""

from __future__ import annotations

import pytest

from pipeline.acts import ANSWERS_NO, ANSWERS_PART, ANSWERS_YES, CHOOSES_CALM, CHOOSES_ELSE, CHOOSES_ON, AskedBack
from pipeline.language.acts.hearing import ActHearing
from pipeline.language.acts.reading import RuleReader
from pipeline.language.acts.replying import LONGEST
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.replies import MEANT, open_to

WAYS = (
    "I'm sorry. Thank you for telling me. We don't have to go on with this. Would you like to go on talking about it,"
    " talk about something else, take a break, or stop?"
)
STOP = "Would you like to stop here, or shall we go on?"
RISK = "I'd like to be sure that I understand you: are you, or is somebody else, in danger?"
DELETED = "Do you want everything you told me to be deleted? That can't be undone."


@pytest.fixture(scope="module")
def trained() -> ActHearing:
    reader = load_reader()
    return ActHearing(reader.network, reader.settings, reader.message, reader.talk, reader.danger, reader.replies)


@pytest.mark.parametrize(
    ("asked", "question", "text", "act", "about"),
    [
        ("ways", WAYS, "let me just get a tissue", "wants_pause", ""),
        ("ways", WAYS, "i need to step outside for a bit", "wants_pause", ""),
        ("ways", WAYS, "oh no I'm grand, go ahead and ask me the next one", "aside", CHOOSES_ON),
        ("ways", WAYS, "haha no it's only my hay fever", "aside", CHOOSES_CALM),
        ("ways", WAYS, "could we do a different topic please", "wants_topic", CHOOSES_ELSE),
        ("ways", WAYS, "no I want to finish up now, that's enough", "wants_stop", ""),
        ("stop", STOP, "no no keep going, i only meant the dishes", "aside", ANSWERS_NO),
        ("stop", STOP, "yeah let's call it a day, tea's on", "wants_stop", ""),
        ("stop", STOP, "just give me five minutes, someone at the door", "wants_pause", ""),
        ("risk", RISK, "yes, he's coming back tonight and I don't know what he'll do", "risk", ANSWERS_YES),
        ("risk", RISK, "god no, it's just something we say round here", "aside", ANSWERS_NO),
        ("withdrawal", DELETED, "no, don't, I want you to keep it", "aside", ANSWERS_NO),
    ],
)
async def test_answer_is_understood_in_whatever_words(
    trained: ActHearing, asked: AskedBack, question: str, text: str, act: str, about: str
) -> None:
    heard = await trained.reply(text, question, asked, "en")
    assert heard is not None
    by = "offer" if act in ("wants_stop", "wants_pause") else "reader"
    assert (heard.act, heard.about, heard.start, heard.end, heard.heard_by) == (act, about, 0, len(text), by)


@pytest.mark.parametrize(
    "text",
    [
        "It wasn't a joke, if that's what you're asking. I've said goodbye to people.",
        "I meant what I said. I really don't see a way forward.",
        "I'm fine, he only hits me when he drinks",
        "I wouldn't call it danger exactly, he only does it when he's had a drink",
        "I'd not see the spring, put it that way, and I'd not mind",
        "no not really, but I do think of not waking up any more",
    ],
)
async def test_nobody_is_taken_for_safe_who_speaks_of_danger(trained: ActHearing, text: str) -> None:
    heard = await trained.reply(text, RISK, "risk", "en")
    assert heard is None or heard.about != ANSWERS_NO


@pytest.mark.parametrize(
    "text",
    [
        "just my street, the rest can stay",
        "don't you dare, I'm not doing it all again",
        "stop",
        "wait!",
        "why?",
        "everything?",
        "cancel",
        "I have to go",
        "let me think",
        "continue please",
        "delete nothing",
        "is it all gone?",
    ],
)
async def test_nothing_is_deleted_of_who_means_a_part_or_none_of_it(trained: ActHearing, text: str) -> None:
    heard = await trained.reply(text, DELETED, "withdrawal", "en")
    assert heard is None or heard.about in (ANSWERS_NO, ANSWERS_PART)


@pytest.mark.parametrize(("text", "sure"), [("delete everything please", True), ("burn it", False)])
async def test_everything_is_surely_to_be_deleted_only_in_words_of_deletion(
    trained: ActHearing, text: str, sure: bool
) -> None:
    heard = await trained.reply(text, DELETED, "withdrawal", "en")
    assert heard is not None
    assert (heard.act, heard.about, heard.sure) == ("wants_withdrawal", ANSWERS_YES, sure)


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
    assert await trained.reply(text, WAYS, "ways", "en") is None


async def test_other_languages_and_rules_alone_go_by_words(trained: ActHearing) -> None:
    assert await trained.reply("ich brauche kurz frische Luft", WAYS, "ways", "de") is None
    assert await RuleReader().reply("let me just get a tissue", WAYS, "ways", "en") is None
    reader = load_reader()
    bare = ActHearing(reader.network, reader.settings)
    assert await bare.reply("let me just get a tissue", WAYS, "ways", "en") is None
    without = ActHearing(reader.network, reader.settings, replies=reader.replies)
    doubted = await without.reply("god no, it's just something we say round here", RISK, "risk", "en")
    assert doubted is not None
    assert (doubted.act, doubted.sure, doubted.about) == ("risk", False, "")


async def test_an_end_that_was_not_asked_about_is_asked_back_where_it_is_not_sure(
    trained: ActHearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.language.acts.replying.SURE_TO_STOP", 1.1)
    text = "no I want to finish up now, that's enough"
    for asked, question, sure in (("ways", WAYS, False), ("stop", STOP, True)):
        heard = await trained.reply(text, question, asked, "en")  # type: ignore[arg-type]
        assert heard is not None
        assert (heard.act, heard.sure) == ("wants_stop", sure)


def test_only_what_may_be_meant_counts() -> None:
    for asked, meanings in MEANT.items():
        assert (open_to(asked) == 0).sum() == len(meanings)


@pytest.mark.parametrize(
    "text",
    [
        "No, I just took the bus this morning",
        "Nobody's in danger, I walked to work this morning",
        "Everything is fine, I took the bus this morning",
    ],
)
async def test_who_says_that_nobody_is_in_danger_is_believed_whenever_it_was(trained: ActHearing, text: str) -> None:
    heard = await trained.reply(text, RISK, "risk", "en")
    assert heard is not None
    assert heard.about == ANSWERS_NO


@pytest.mark.parametrize("text", ["No but he will be home soon and then yes", "no i just want it to be over"])
async def test_no_that_is_taken_back_is_no_denial(trained: ActHearing, text: str) -> None:
    heard = await trained.reply(text, RISK, "risk", "en")
    assert heard is not None
    assert heard.act == "risk"
