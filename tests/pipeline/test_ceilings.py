"""When a respondent knows no more of something, by their own words."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.yamlfile import parse
from pipeline.ceilings import CeilingRules, is_at_a_loss
from pipeline.engines.registry import ENGINES

FILES = [name for name in ENGINES if name != "signal_pools"]


def rules_of(name: str) -> CeilingRules:
    """As the engine's file that comes along has them."""
    text = (files("config") / "engines" / f"{name}.yaml").read_text(encoding="utf-8")
    data = parse(text, f"{name}.yaml").data
    (found,) = [
        rule["params"] for rule in (*data.get("vetoes", ()), *data["scorers"]) if rule["class"] == "KnowledgeCeiling"
    ]
    return CeilingRules.model_validate({key: found[key] for key in CeilingRules.model_fields if key in found})


RULES = rules_of("two_tier")

LOST = [
    ("en", "I don't know"),
    ("en", "I don’t know."),
    ("en", "dont know"),
    ("en", "I dont know, sorry"),
    ("en", "No clue."),
    ("en", "no idea"),
    ("en", "Dunno."),
    ("en", "I dunno really"),
    ("en", "Hm, I really don't know."),
    ("en", "It's just nice and I don't know why"),
    ("en", "I don't know about oat milk"),
    ("en", "I DON'T KNOW ABOUT THAT!"),
    ("en", "I have no idea, to be honest"),
    ("en", "I can't say"),
    ("en", "That I couldn't say for sure."),
    ("en", "I've never really thought about it"),
    ("en", "Nothing comes to mind there."),
    ("de", "Weiß nicht."),
    ("de", "weiss nicht"),
    ("de", "Das weiß ich nicht, tut mir leid"),
    ("de", "Ich weiß nicht, warum"),
    ("de", "Keine Ahnung!"),
    ("de", "Ich hab keinen Schimmer"),
    ("de", "Da fällt mir nichts ein."),
    ("de", "Da bin ich überfragt"),
    ("ar", "لا أعرف"),
    ("ar", "لا اعرف بصراحة"),
    ("ar", "والله ما أدري"),
    ("ar", "لا أَعْرِفُ."),
    ("ar", "بصراحة، ليس لدي فكرة"),
]
KNOWING = [
    ("en", "I don't know anyone who makes it better"),
    ("en", "I don't know a better one than this."),
    ("en", "I don't know what I'd do without it"),
    ("en", "You don't know what you're missing"),
    ("en", "My kids don't know that I hide it"),
    ("en", "People have no idea how hard it is"),
    ("en", "I can't say no to a good espresso"),
    ("en", "I can't say enough good things about it"),
    ("en", "I had no idea it could taste like that"),
    ("en", "I don't know, but I'm curious about how it's made"),
    ("en", "I don't know about you, but I love it"),
    ("en", "I know about oat milk"),
    ("en", ""),
    ("de", "Ich weiß nicht, wer das besser macht"),
    ("de", "Ich weiß nicht was ich ohne ihn machen würde"),
    ("de", "Das weiß nicht jeder"),
    ("de", "Man weiß nicht, ob es hält"),
    ("de", "Ich weiß nichts Besseres"),
    ("de", "Keine Ahnung haben die dort alle"),
    ("ar", "لا أعرف أحدا يصنعها أفضل منه"),
    ("ar", "هم لا يعرفون شيئا"),
    ("ar", "لا أعرف لكن ربما بسبب الرائحة"),
    ("ar", "أعرف هذا جيدا"),
]


@pytest.mark.parametrize(("language", "answer"), LOST)
def test_answer_that_says_so_is_at_a_loss(language: str, answer: str) -> None:
    assert is_at_a_loss(answer, language, RULES)


@pytest.mark.parametrize(("language", "answer"), KNOWING)
def test_answer_with_the_same_words_that_says_something_else_is_not(language: str, answer: str) -> None:
    assert not is_at_a_loss(answer, language, RULES)


def test_engines_that_come_along_hear_it_alike() -> None:
    assert all(rules_of(name) == RULES for name in FILES)


def test_language_without_words_hears_nothing() -> None:
    assert not is_at_a_loss("je ne sais pas", "fr", RULES)
    assert not is_at_a_loss("I don't know", "en", CeilingRules())


@given(st.text(max_size=200))
def test_any_text_is_heard_without_failing(text: str) -> None:
    for language in ("en", "de", "ar"):
        is_at_a_loss(text, language, RULES)
