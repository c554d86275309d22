"""Files of what no question may contain: those that come along are complete, bad ones are refused with file and key."""

from __future__ import annotations

from importlib.resources import files

import pytest

from pipeline.errors import WordListInvalid
from pipeline.question.unacceptable import (
    FOLDER,
    LANGUAGES,
    language_rules,
    may_ask_for_data,
    self_refusals,
    statement_refusals,
    unacceptable_text,
    unsafe_refusals,
)

GOOD = """
about_itself:
  - '\\bas your assistant\\b'
  - before: '\\bi am '
    any_of: [a bot, 'an? model']
    after: '\\b'
statements:
  - subject: i
    verbs: [sell, offer]
personal_data:
  - '\\byour (?:pin|iban){after}'
words_after_data: [and]
slurs: [blockhead]
"""


def test_every_language_has_a_file_and_every_file_a_language() -> None:
    folder = files("pipeline.question").joinpath(FOLDER)
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(f"{code}.yaml" for code in LANGUAGES)


def test_rules_of_a_good_file_are_read() -> None:
    rules = language_rules(GOOD, "xx.yaml")
    assert [rule.source for rule in rules.about_itself] == [r"\bas your assistant\b", r"\bi am (?:a bot|an? model)\b"]
    assert rules.statements[0].source == "i (?:sell|offer)"
    assert rules.swearing == () and rules.words_after_data == ("and",)


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ("slurs: [blockhead]", "slurs: [blockhead]\nslanders: [x]", "slanders", "Extra inputs"),
        ("slurs: [blockhead]", "slurs: [blockhead, '']", "slurs[1]", "at least 1 character"),
        ("slurs: [blockhead]", "slurs: []", "slurs", "the list is empty"),
        ("slurs: [blockhead]", "slurs: [no]", "slurs[0]", "valid string"),
        ("slurs: [blockhead]", "slurs: ['block(head']", "slurs[0]", "not a regular expression"),
        (
            "any_of: [a bot, 'an? model']",
            "any_of: [a bot, 'an?? (model']",
            "about_itself[1].any_of[1]",
            "not a regular",
        ),
        ("any_of: [a bot, 'an? model']", "any_of: []", "about_itself[1]", "any_of is missing or empty"),
        ("    after: '\\b'", "    behind: '\\b'", "about_itself[1].behind", "Extra inputs"),
        ("    after: '\\b'", "    after: ')'", "about_itself[1]", "not a regular expression"),
        ("{after}'", "{after}('", "personal_data[0]", "not a regular expression"),
        ("'\\bas your assistant\\b'", "''", "about_itself[0]", "the pattern is empty"),
        ("    verbs: [sell, offer]", "    verbs: []", "statements[0]", "one of verbs and not_before"),
        ("    verbs: [sell, offer]", "    verbs: [sell]\n    not_before: [see]", "statements[0]", "and not both"),
    ],
)
def test_mistake_in_a_file_is_named_with_file_and_key(old: str, new: str, key: str, reason: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(WordListInvalid) as caught:
        language_rules(GOOD.replace(old, new), "xx.yaml")
    (problem,) = str(caught.value).splitlines()
    assert problem.startswith(f"xx.yaml: {key}: ") and reason in problem


@pytest.mark.parametrize("text", ["", "- one\n- two", "about_itself: ["])
def test_file_that_is_no_mapping_is_refused(text: str) -> None:
    with pytest.raises(WordListInvalid, match=r"^xx\.yaml: "):
        language_rules(text, "xx.yaml")


def test_every_mistake_of_a_file_is_told_at_once() -> None:
    bad = GOOD.replace("slurs: [blockhead]", "slurs: ['(']").replace("{after}'", "{after}('")
    with pytest.raises(WordListInvalid) as caught:
        language_rules(bad, "xx.yaml")
    assert len(str(caught.value).splitlines()) == 2


def test_rules_are_compiled_once_per_language() -> None:
    assert unacceptable_text("de") is unacceptable_text("de")
    assert unacceptable_text("de").statement != unacceptable_text("en").statement
    assert unacceptable_text("ja").statement is None, "statements are told in the language itself only"


@pytest.mark.parametrize(
    ("language", "plain"),
    [
        ("en", "as an ai, i can't help with that"),
        ("de", "ich bin nur ein sprachmodell"),
        ("fr", "je ne peux pas vous répondre"),
        ("es", "lo siento, pero no puedo"),
        ("nl", "het spijt me, maar dat gaat niet"),
        ("it", "mi dispiace, ma non posso"),
        ("tr", "size nasıl yardımcı olabilirim"),
        ("ar", "كيف يمكنني مساعدتك"),
    ],
)
def test_talk_of_the_writer_is_refused_in_every_language(language: str, plain: str) -> None:
    assert [refusal.code for refusal in self_refusals(plain, language, whole=True)] == ["refusal"]
    assert (self_refusals(plain, "ja", whole=True) != []) == (language == "en"), (
        "English rules always apply, others do not"
    )


def test_words_that_may_follow_data_hold_in_every_language() -> None:
    assert may_ask_for_data("what is your card number", "en")
    assert unsafe_refusals("what is your card number und", "", "en", whole=True)
    assert not unsafe_refusals("what is your card number game", "", "en", whole=True)
    assert not unsafe_refusals("what is your card number", "", "en", whole=False), "the next word will tell"


def test_statement_is_found_at_the_beginning_of_a_sentence_only() -> None:
    assert statement_refusals(["i drink tea daily"], "en")
    assert statement_refusals(["what would you say if i drink tea daily"], "en") == []
    assert statement_refusals(["ich trinke gern tee"], "de") and statement_refusals(["ich trinke gern tee"], "en") == []
