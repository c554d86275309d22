"""Hearing acts by rules: what is an act, what is content, and what bad input does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.acts import Act, told, words_of
from pipeline.language.acts.reading import acts_of, read
from pipeline.language.acts.rules import LANGUAGES, loaded, rules_for

QUESTION = "Why is that important to you?"

ACTS: list[tuple[str, str, Act]] = [
    ("en", "I'd like to stop the interview now.", "wants_stop"),
    ("en", "i want to stop now please", "wants_stop"),
    ("en", "I need a moment, please.", "wants_pause"),
    ("en", "hang on", "wants_pause"),
    ("en", "I'm crying right now, sorry.", "distress"),
    ("en", "I want to kill myself.", "risk"),
    ("en", "Please delete everything I said.", "wants_withdrawal"),
    ("en", "I'm 15 years old.", "minor"),
    ("en", "Are you a robot?", "asks_interviewer"),
    ("en", "Who reads this?", "asks_interviewer"),
    ("en", "What do you mean?", "asks_back"),
    ("en", "sorry, what?", "asks_back"),
    ("en", "I already told you that.", "complains"),
    ("en", "Kind of said that.", "complains"),
    ("en", "There's not much more to it.", "complains"),
    ("en", "I said that a minute ago.", "complains"),
    ("en", "I don't think you're really listening.", "complains"),
    ("en", "You've asked me that a couple of times now.", "complains"),
    ("en", "I was telling you about the morning.", "wants_topic"),
    ("en", "I hadn't got to the end.", "wants_topic"),
    ("en", "We did the stairs, like I said.", "complains"),
    ("en", "I'm leaving that part out.", "declines"),
    ("en", "Ask me how she got home.", "wants_topic"),
    ("en", "I'd rather stay with the garden.", "wants_topic"),
    ("en", "It's not what matters, the garden is.", "complains"),
    ("en", "go on please", "wants_topic"),
    ("de", "Machen wir weiter.", "wants_topic"),
    ("ar", "أكمل من فضلك", "wants_topic"),
    ("en", "Wait, I wasn't finished with the garden.", "wants_topic"),
    ("en", "??", "asks_back"),
    ("en", "asdf jkl", "aside"),
    ("de", "sdfgh", "aside"),
    ("en", "It went on and on, and he said nothing. Ach. Give me a minute, please.", "wants_pause"),
    ("en", "We were there until nine. Ah, my tram is here.", "wants_stop"),
    ("en", "It was nice talking to you.", "wants_stop"),
    ("en", "I'd rather not say.", "declines"),
    ("en", "I don't know, sorry.", "dont_know"),
    ("en", "No, I said Thursday, not Tuesday.", "corrects"),
    ("en", "ok, I'm back, sorry about that", "aside"),
    ("de", "Ich möchte jetzt aufhören.", "wants_stop"),
    ("de", "Einen Moment bitte.", "wants_pause"),
    ("de", "Sind Sie ein Roboter?", "asks_interviewer"),
    ("de", "Wie meinen Sie das?", "asks_back"),
    ("de", "Das möchte ich nicht sagen.", "declines"),
    ("de", "Keine Ahnung.", "dont_know"),
    ("ar", "أريد أن أتوقف الآن", "wants_stop"),
    ("ar", "ماذا تقصد؟", "asks_back"),
    ("ar", "هل أنت روبوت؟", "asks_interviewer"),
    ("ar", "لا أعرف", "dont_know"),
]

CONTENT = [
    "I wanted to stop smoking.",
    "I already told my boss about it.",
    "I don't know how I lived without it.",
    'And she said: "Stop it, I want to leave now."',
    "She just said stop, I can't do this any more.",
    "My daughter is fifteen and she uses it every day.",
    "I cried when it broke, that was ten years ago.",
    "We had to pause the film because the neighbours complained.",
    "They deleted everything, and nobody told me why.",
    "There was no more to say between us.",
    "I was telling my wife about the car and she laughed.",
    "I wanted to tell them the truth but I couldn't.",
    "He asked me that morning whether I was listening.",
    "She asked me what I meant, and I said that's the end of it.",
    "I email them, so that I have a confirmation in writing.",
    "My noise cancelling headphones help me to read and switch off.",
    "I'm back at my mum's now, so it matters less.",
    "The taste.",
    "No.",
]


@pytest.mark.parametrize(("language", "text", "act"), ACTS)
def test_act_is_heard(language: str, text: str, act: Act) -> None:
    assert act in {heard.act for heard in acts_of(text, QUESTION, language)}


@pytest.mark.parametrize(
    ("text", "act", "about"),
    [
        ("Fine. Who for, though, you didn't say.", "asks_interviewer", "who"),
        ("You still never told me who it's for.", "asks_interviewer", "who"),
        ("I don't really know how much of this you want to hear.", "asks_interviewer", "how_much"),
        ("I only asked whether you want to hear about my family.", "asks_interviewer", "how_much"),
        ("Is this the kind of thing you're after?", "asks_interviewer", "how_much"),
        ("That's not English, mate.", "complains", "unclear"),
        ("That was a joke.", "complains", "beside"),
        ("How long is this going to take?", "asks_interviewer", "left"),
        ("You'd got hold of the wrong end of it.", "complains", "beside"),
        ("It's just funny.", "complains", "enough"),
        ("If you're after something behind it you'll be there all day.", "complains", "enough"),
        ("You've had that.", "complains", "told"),
        ("You said that before, word for word.", "complains", "told"),
        ("I'm not sure you've quite understood me.", "complains", "beside"),
        ("I don't think I can go any deeper than that.", "complains", "enough"),
        ("That's sort of the whole of it.", "complains", "enough"),
        ("It swings when I go round a corner, that's the whole of it.", "complains", "enough"),
        ("He laughed, so there we are. That's all, really.", "complains", "enough"),
        ("There's little to add. One has a thing valued if one intends to sell it.", "complains", "enough"),
        ("There's nowt more to the hands.", "complains", "enough"),
        ("Only the girl. Let it be kept that she looked. Nothing further.", "complains", "enough"),
        ("I don't have much more on that, really.", "complains", "enough"),
        ("I think I have told you now the whole thing.", "complains", "enough"),
        ("It stayed there. I thought you wanted umbrellas.", "wants_topic", "asked"),
        ("They go off like fire alarms. I thought we were on mugs.", "complains", "beside"),
        ("He put a tick and said nothing. But we were on the umbrella, I think.", "wants_topic", "asked"),
        ("There was nothing to do. But honestly, we've come a good way from flour.", "wants_topic", "asked"),
        ("Anyway, you were asking about slippers.", "wants_topic", "asked"),
        ("Other way round. Protecting her is what I tell people.", "corrects", "denied"),
        ("I'd rather leave Dieter there.", "declines", ""),
        ("I think I'd like to leave that now, if you don't mind.", "declines", ""),
        ("Garden is okay, we can go on. Only not my father.", "declines", ""),
        ("I don't think I want to go on about my dad, really.", "declines", ""),
        ("That's as far down that road as I go.", "declines", ""),
        ("I see I've been at this an hour, so I'm calling time.", "wants_stop", ""),
        ("I'll leave it at that, cheers.", "wants_stop", ""),
        ("The oven's on, so I'll have to love you and leave you.", "wants_stop", ""),
        ("You'd best put me down as done.", "wants_stop", ""),
        ("It was the last answer from me.", "wants_stop", ""),
        ("I only turned 14 in March.", "minor", ""),
        ("We get new shoes because I'm going into year 9.", "minor", ""),
        ("I'm in primary still, top class.", "minor", ""),
        ("My mum signs for it, I'm not old enough.", "minor", ""),
        ("The door is locked. I'm only sixteen, I have no place to go.", "minor", ""),
        ("What does what do for me? Looking at a bag?", "asks_back", ""),
        ("Why does what matter to me?", "asks_back", ""),
        ("If what weren't possible, sorry?", "asks_back", ""),
        ("You've lost me a bit.", "asks_back", ""),
        ("I'm sorry, I'm not sure what it is you're after.", "asks_interviewer", "why_ask"),
        ("I'm not sure that I follow you.", "asks_back", ""),
        ("Ask me something proper.", "wants_topic", "next"),
        ("You can ask me something else about the boiler.", "wants_topic", "asked"),
        ("Ask me about the boiler or let me go.", "wants_topic", "asked"),
        ("Can I just ask, does this stay private?", "asks_interviewer", "readers"),
        ("Is all this between us?", "asks_interviewer", "readers"),
        ("I suppose that's the thing I said I wouldn't go into.", "declines", ""),
    ],
)
def test_what_is_said_to_the_interviewer_is_heard_with_its_subject(text: str, act: Act, about: str) -> None:
    assert (act, about) in {(heard.act, heard.about) for heard in acts_of(text, QUESTION, "en")}


@pytest.mark.parametrize(
    "text",
    [
        "He never said who it was for.",
        "I never said who broke it, to be fair to him.",
        "The manual wasn't even English.",
        "She asked me something else about the boiler and I didn't know.",
        "I couldn't go any further with that bike.",
        "I doubt that the boiler understood what I wanted.",
        "I said to him I wouldn't talk about the boiler again.",
        "She asked me whether that stays between us.",
        "I'm 12 minutes from the station.",
        "I'm fifteen stone and I never liked swimming.",
        "My son says he only turned 14 in March.",
        "When I was in the choir I wasn't old enough.",
        "He said he'd leave it at that.",
        "I've forty-odd now and I'll not tell her to stop.",
        "We don't talk about that night much.",
        "She was blue, and I lost track of how long it was.",
        "I hadn't said it even to myself.",
        "I never told you that when we came home she asked me why.",
        "Now I'm just tired.",
        "I know you are a computer, it's why I can say it.",
        "You are the first, and you are a computer, imagine!",
        "Now I come in and I put the radio on and it's all right.",
        "I never said it like this, not to him for sure.",
        "In the kitchen, mostly. That's me, I talk to myself.",
    ],
)
def test_what_only_sounds_said_to_the_interviewer_is_told(text: str) -> None:
    assert {heard.act for heard in acts_of(text, QUESTION, "en")} <= {"tells"}


@pytest.mark.parametrize("text", CONTENT)
def test_content_that_sounds_like_an_act_ends_and_asks_nothing(text: str) -> None:
    acts = acts_of(text, QUESTION, "en")
    assert {heard.act for heard in acts if heard.sure} <= {"tells"}


def test_content_beside_an_act_stays_content_word_by_word() -> None:
    text = "The line was dead for nine days. Are you a robot?"
    acts = acts_of(text, "What happened?", "en")
    assert [(heard.act, words_of(text, heard).strip()) for heard in acts] == [
        ("tells", "The line was dead for nine days."),
        ("asks_interviewer", "Are you a robot?"),
    ]
    assert told(text, acts) == "The line was dead for nine days."


def test_language_without_rules_hears_nothing() -> None:
    assert acts_of("Je veux arrêter.", "", "fr") == ()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    [
        "a",
        "👍👍👍",
        "I WANT TO STOP NOW",
        "x" * 8000,
        "so and then i went there and " * 280,
        "<script>stop()</script> SELECT * FROM answers; # stop",
        "?!…,,,;;;",
        "\u202etxet\u202c",
        "İSTANBUL'DA STOP ǅ ß",
        "stop. " * 1300,
    ],
)
def test_any_text_is_read_and_covered(language: str, text: str) -> None:
    covered(text, acts_of(text, QUESTION, language))


@given(st.text(max_size=300), st.text(max_size=60), st.sampled_from(LANGUAGES))
def test_acts_of_any_text_are_in_order_without_overlap_and_cover_its_words(
    text: str, question: str, language: str
) -> None:
    covered(text, acts_of(text, question, language))


def covered(text: str, acts: tuple[Any, ...]) -> None:
    """The acts lie within the text, in order, without overlap, and leave no word out."""
    at = 0
    for heard in acts:
        assert at <= heard.start < heard.end <= len(text)
        assert not re.search(r"\w", text[at : heard.start])
        at = heard.end
    assert not acts or not re.search(r"\w", text[at:])


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_of_each_language_know_every_act(language: str) -> None:
    rules = rules_for(language)
    assert rules is not None
    assert {rule.act for rule in rules.rules} >= {
        *("wants_stop", "wants_pause", "wants_withdrawal", "distress", "risk", "minor", "asks_back"),
        *("asks_interviewer", "corrects", "complains", "declines", "wants_topic", "dont_know", "personal_data"),
    }


BASE: dict[str, Any] = {"ends": "[.!?]+\\s*", "breaks": "(?!)", "fillers": "um", "quotes": ['"[^"]*"']}


def small(*rules: dict[str, Any], **fields: Any) -> Any:
    return loaded({**BASE, **fields, "acts": {"wants_stop": list(rules)}})


def hits(rules: Any, text: str, question: str = "") -> list[tuple[str, bool]]:
    return [(heard.act, heard.sure) for heard in read(text, question, rules)]


def test_conditions_of_a_rule_hold() -> None:
    assert hits(small({"sure": "stop", "whole": True}), "please stop") == []
    assert hits(small({"sure": "stop", "last": True}), "stop. It rained.") == []
    assert hits(small({"sure": "stop", "first": True}), "It rained. stop.") == []
    assert hits(small({"sure": "stop", "alone": True}), "stop. It rained.") == []
    assert hits(small({"sure": "stop", "alone": True}), "um. stop.") == [("wants_stop", True)]
    assert hits(small({"sure": "stop", "words": 2}), "please do stop") == []
    assert hits(small({"sure": "stop", "unless": "bus"}), "the bus stop") == []
    assert hits(small({"sure": "stop", "unless_around": "yesterday"}), "stop. yesterday.") == []
    assert hits(small({"sure": "stop", "asked": "shall we"}), "stop", "Why?") == []
    assert hits(small({"sure": "stop", "unless_asked": "say"}), "stop", "What did he say?") == []
    assert hits(small({"sure": "stop", "question": True}), "stop") == []
    assert hits(small({"sure": "stop", "question": True}), "stop?") == [("wants_stop", True)]
    assert hits(small({"maybe": "stop"}), "stop") == [("wants_stop", False)]
    assert hits(small({"sure": "<end> it"}, fragments={"end": "stop|quit"}), "quit it") == [("wants_stop", True)]
    assert hits(small({"sure": "stop"}), 'she said "stop"') == []


def test_detail_may_stand_at_several_places_of_a_pattern() -> None:
    rules = small({"sure": "no (?P<wrong>\\w+) but (?P<right>\\w+)|(?P<right2>\\w+) not (?P<wrong2>\\w+)"})
    assert [heard.details for heard in read("no tea but milk", "", rules)] == [{"wrong": "tea", "right": "milk"}]
    assert [heard.details for heard in read("milk not tea", "", rules)] == [{"wrong": "tea", "right": "milk"}]


def test_reason_in_the_next_clause_belongs_to_the_act_where_the_rule_says_so() -> None:
    assert hits(small({"sure": "stop", "takes_next": True}), "stop. my dad died.") == [("wants_stop", True)]


@pytest.mark.parametrize("pattern", ["(", "<nothing>"])
def test_pattern_that_can_not_be_read_is_told(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"can't be read|no fragment"):
        small({"sure": pattern})


def test_wish_for_a_moment_in_the_midst_of_a_story_is_of_the_story() -> None:
    text = "We sat down. Just one moment. Then he laughed. It rained all day. We went home late. She was there."
    assert "wants_pause" not in {heard.act for heard in acts_of(text, QUESTION, "en") if heard.sure}
