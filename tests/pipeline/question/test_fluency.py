"""Real labels, as an extractor cuts them, in sentences as a moderator would say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.question.fluency import MAX_LABEL_WORDS, phrase, trim
from pipeline.question.inflection import base_of_third_person, flip, gerund, is_plural

CASES = [
    # label, node type, kind, spoken
    ("quiet motor", "attribute", "noun", "the quiet motor"),
    ("wide tyres", "attribute", "noun", "wide tyres"),
    ("noise cancellation", "attribute", "noun", "the noise cancellation"),
    ("Bluetooth", "attribute", "noun", "Bluetooth"),
    ("charging case", "attribute", "noun", "the charging case"),
    ("folding design", "attribute", "noun", "the folding design"),
    ("80 miles on one charge", "attribute", "noun", "80 miles on one charge"),
    ("a cup that keeps it warm", "attribute", "noun", "a cup that keeps it warm"),
    ("the wording", "pain_point", "noun", "the wording"),
    ("bank holiday", "situation", "noun", "the bank holiday"),
    ("Saturday night", "situation", "noun", "Saturday night"),
    ("kids crying", "situation", "noun", "kids crying"),
    ("shopping list on my phone", "solution_approach", "noun", "the shopping list on your phone"),
    ("help from my partner", "solution_approach", "noun", "the help from your partner"),
    ("peace of mind", "terminal_value", "noun", "peace of mind"),
    ("sense of control", "terminal_value", "noun", "a sense of control"),
    ("time with my family", "terminal_value", "noun", "time with your family"),
    ("my morning ritual", "psychosocial_consequence", "noun", "your morning ritual"),
    ("pure relief", "emotional_job", "noun", "pure relief"),
    ("save money", "functional_consequence", "activity", "saving money"),
    ("saves me time in the morning", "functional_consequence", "activity", "saving time in the morning"),
    ("put more aside for the kids", "functional_consequence", "activity", "putting more aside for the kids"),
    ("get to the office drenched", "functional_consequence", "activity", "getting to the office drenched"),
    ("look after my family", "terminal_value", "activity", "looking after your family"),
    ("look after myself", "terminal_value", "activity", "looking after yourself"),
    ("be a responsible parent", "instrumental_value", "activity", "being a responsible parent"),
    ("leaving it in the street", "functional_consequence", "activity", "leaving it in the street"),
    ("calling my brother in law", "solution_approach", "activity", "calling your brother in law"),
    ("listening to podcasts", "solution_approach", "activity", "listening to podcasts"),
    ("feeling safe", "psychosocial_consequence", "activity", "feeling safe"),
    ("makes me feel safe", "psychosocial_consequence", "activity", "feeling safe"),
    ("makes me nervous", "psychosocial_consequence", "activity", "feeling nervous"),
    ("helps me concentrate", "functional_consequence", "activity", "being able to concentrate"),
    ("clears my head", "psychosocial_consequence", "activity", "clearing your head"),
    ("only plug it in once a week", "functional_consequence", "activity", "only plugging it in once a week"),
    ("just check the numbers and press send", "gain_point", "activity", "just checking the numbers and pressing send"),
    ("don't have to", "functional_consequence", "activity", "not having to"),
    ("never have to think about it", "psychosocial_consequence", "activity", "never having to think about it"),
    ("don't want them looking at me", "emotion", "activity", "not wanting them looking at you"),
    ("dont feel embarrassed", "psychosocial_consequence", "activity", "not feeling embarrassed"),
    ("can't carry it up the stairs", "functional_consequence", "activity", "not being able to carry it up the stairs"),
    ("could finish the scan", "outcome", "activity", "being able to finish the scan"),
    ("got a penalty letter", "job_trigger", "activity", "getting a penalty letter"),
    ("felt guilty for bringing her there", "emotion", "activity", "feeling guilty for bringing her there"),
    ("learned to write my questions down", "learning", "activity", "learning to write your questions down"),
    ("in a better mood", "psychosocial_consequence", "activity", "being in a better mood"),
    ("more patient with my team", "instrumental_value", "activity", "feeling more patient with your team"),
    ("furious", "emotion", "activity", "feeling furious"),
    ("so angry", "emotion", "activity", "feeling so angry"),
    ("I don't have to charge them", "functional_consequence", "saying", "you don't have to charge them"),
    ("I was furious", "emotion", "saying", "you were furious"),
    ("my son does the uploading", "solution_approach", "saying", "your son does the uploading"),
    ("my daughter copies everything I do", "outcome", "saying", "your daughter copies everything you do"),
    ("people take me seriously", "psychosocial_consequence", "saying", "people take you seriously"),
    ("nobody called me back", "pain_point", "saying", "nobody called you back"),
    ("makes my skin flare up", "functional_consequence", "saying", "it makes your skin flare up"),
    ("saves money", "functional_consequence", "saying", "it saves money"),
    ("kids refuse vegetables", "pain_point", "saying", "your kids refuse vegetables"),
    ("wife says I'm in my own world", "outcome", "saying", "your wife says you're in your own world"),
    ("mum never planned anything", "social_job", "saying", "your mum never planned anything"),
    ("waitress was rude", "action", "saying", "the waitress was rude"),
    ("sometimes the shop hasn't got what I need", "event", "saying", "sometimes the shop hasn't got what you need"),
    ("walked off", "action", "event", '"walked off"'),
    ("much packaging", "pain_point", "quote", '"much packaging"'),
    ("knackered by eight", "job_trigger", "event", '"knackered by eight"'),
    ("work late on tuesdays", "job_context", "activity", "working late on tuesdays"),
    ("heavy", "attribute", "word", '"heavy"'),
    ("not hygienic", "functional_consequence", "quote", '"not hygienic"'),
    ("easy to clean", "attribute", "quote", '"easy to clean"'),
    ("ready when I need it", "functional_consequence", "quote", '"ready when I need it"'),
    ("sat down next to me", "action", "event", '"sat down next to me"'),
    ("held my hand", "action", "event", '"held my hand"'),
    ("left me in a corridor for six hours", "incident", "event", '"left me in a corridor for six hours"'),
    ("put me on hold", "pain_point", "quote", '"put me on hold"'),
    ("waiter ignored us", "pain_point", "saying", "the waiter ignored you"),
    ("app sends me reminders", "solution_approach", "quote", '"app sends me reminders"'),
    ("trains are always late", "pain_point", "saying", "trains are always late"),
    ("face goes tight and flaky", "functional_consequence", "quote", '"face goes tight and flaky"'),
    ("hate being ripped off", "psychosocial_consequence", "quote", '"hate being ripped off"'),
    ("a jar you stick your fingers in", "attribute", "quote", '"a jar you stick your fingers in"'),
    ("in the car", "situation", "quote", '"in the car"'),
    ("ten minutes, done", "gain_point", "quote", '"ten minutes, done"'),
    ("mum on a hard plastic chair", "situation", "quote", '"mum on a hard plastic chair"'),
]  # fmt: skip


@pytest.mark.parametrize(("label", "node_type", "kind", "spoken"), CASES, ids=[case[0] for case in CASES])
def test_label_is_spoken_as_a_moderator_would(label: str, node_type: str, kind: str, spoken: str) -> None:
    made = phrase(label, node_type=node_type)
    assert (made.kind, made.text) == (kind, spoken)


@pytest.mark.parametrize("label", ["wide tyres", "crowded trains", "kids", "three hundred pounds"])
def test_plural_noun_takes_a_plural_verb(label: str) -> None:
    assert phrase(label, node_type="attribute").plural


@pytest.mark.parametrize(
    "label", ["quiet motor", "the bus", "a glass of water", "good bass", "less stress", "a pair of socks"]
)
def test_singular_noun_takes_a_singular_verb(label: str) -> None:
    assert not phrase(label, node_type="attribute").plural


def test_negative_and_long_phrases_stay_out_of_the_question() -> None:
    assert not phrase("don't have to charge it").inline
    assert not phrase("heavy", node_type="attribute").inline
    assert phrase("quiet motor", node_type="attribute").inline
    assert not phrase("look after my family and my friends on every single day").inline


def test_long_label_is_cut_before_a_clause_and_quoted() -> None:
    label = "I plan the week on Sunday with my wife because otherwise we end up ordering pizza"
    assert trim(label) == ("I plan the week on Sunday with my wife …", True)
    made = phrase(label)
    assert made.kind == "quote"
    assert made.text == '"I plan the week on Sunday with my wife …"'


def test_quotation_marks_and_markup_inside_a_label_are_dropped() -> None:
    assert phrase('it sounds "crisp" {to} <me>').text.count('"') in (0, 2)
    assert "{" not in phrase("a {topic} thing").text


@pytest.mark.parametrize(("language", "spoken"), [("de", "„spart mir Zeit“"), ("ar", "“spart mir Zeit”")])
def test_other_languages_are_quoted(language: str, spoken: str) -> None:
    assert phrase("spart mir Zeit", language=language).text == spoken


@given(st.text(max_size=120))
def test_any_label_makes_a_phrase_of_bounded_length(label: str) -> None:
    made = phrase(label, node_type="attribute")
    assert len(made.text.split()) <= MAX_LABEL_WORDS + 5
    assert made.text.count('"') in (0, 2)
    assert not set("{}<>") & set(made.text)


@pytest.mark.parametrize(
    ("base", "ing"),
    [("put", "putting"), ("have", "having"), ("lie", "lying"), ("be", "being"), ("see", "seeing"), ("open", "opening"),
     ("plan", "planning"), ("visit", "visiting"), ("fix", "fixing"), ("play", "playing"), ("get", "getting"),
     ("focus", "focusing"), ("agree", "agreeing"), ("rely", "relying"), ("wait", "waiting")],
)  # fmt: skip
def test_gerund_is_spelled_right(base: str, ing: str) -> None:
    assert gerund(base) == ing


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
