"""Texts of a concept that say nothing, are there twice, or answer nobody are refused with their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from config.asked import question_cautions
from config.checking import check_config
from config.files import read_concept
from config.yamlfile import ConfigError

ONE = {"id": "one", "question": "How often do you go?"}


def concept(**more: Any) -> str:
    content = {"id": "card", "name": "library cards", "methodology": "small", "objective": "Why", **more}
    return yaml.safe_dump(content, sort_keys=False)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"consent": {"version": "1", "text": " "}}, "consent.text: says nothing"),
        ({"opening_question": ""}, "opening_question: says nothing"),
        ({"opening_question": {"en": " "}}, "opening_question.en: says nothing"),
        ({"must_ask": [ONE, {**ONE, "question": "Who else?"}]}, "`one` is there twice"),
        ({"must_ask": [{**ONE, "question": "  "}]}, "question: says nothing"),
        ({"must_ask": [{**ONE, "words": [""]}]}, "is empty, so that every answer would have it"),
        ({"facts": {"reader": "We do."}}, "did you mean `readers`?"),
        ({"facts": {"readers": ""}}, "facts.readers: says nothing"),
        ({"languages": ["english"]}, "languages[0]: not a tag of a language; did you mean `en`?"),
        ({"languages": ["klingon"]}, "languages[0]: not a tag of a language, such as `en`"),
        ({"languages": ["en", "en"]}, "languages[1]: `en` is there twice"),
        ({"languages": "en"}, "languages: should be a list"),
        ({"must_ask": "What?"}, "must_ask: should be a list"),
        ({"must_ask": ["What?"]}, "must_ask[0]: should be lines of the form `key: value`"),
        ({"consent": "Do you agree?"}, "consent: should be lines of the form `key: value`"),
        ({"must_ask": [{**ONE, "id": "Über uns"}]}, "id: should be 1 to 40 of a–z, 0–9 and _"),
        ({"record_audio": "perhaps"}, "record_audio: should be true or false"),
    ],
)
def test_each_mistake_is_told_with_its_place(more: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_concept(concept(**more), "card.yaml", "card")
    assert reason in str(refused.value)


def test_what_says_something_is_taken() -> None:
    asked = [{**ONE, "words": ["often"]}, {"id": "two", "question": {"en": "Who else?"}}]
    told = concept(must_ask=asked, facts={"readers": "We do.", "data": "Nothing."}, consent={"text": "Do you agree?"})
    assert len(read_concept(told, "card.yaml", "card")[0].must_ask) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("id: card\n\tname: x\n", "card.yaml:2: a tab: indent with spaces"),
        ("id: card\nname: bikes: the best\n", "card.yaml:2: a colon in the middle of a text: put the text in quotes"),
        ('id: "card\nname: x\n', "never closed"),
    ],
)
def test_mistakes_in_yaml_are_told_in_plain_words(text: str, reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_concept(text, "card.yaml", "card")
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("more", "reasons"),
    [
        ({"opening_question": "Don't you think cards are great?"}, ["this may be closed"]),
        (
            {
                "opening_question": {"en": "How did your card come about?", "de": "Wie war das?"},
                "languages": ["en", "de"],
            },
            [],
        ),
        ({"must_ask": [{**ONE, "question": "What did you pay? And who decided?"}]}, ["this may be double"]),
        ({"must_ask": [{**ONE, "question": "Surely it was dear. What did you pay?"}]}, ["this may be leading"]),
        ({"must_ask": [ONE], "languages": ["en", "de", "ar"]}, ["there is no text in `de`, `ar`"]),
        ({"must_ask": [{**ONE, "question": {"en": "Who else?"}}], "languages": ["en", "de"]}, ["no text in `de`"]),
        ({"must_ask": [ONE], "opening_question": "How did you come to have a card?"}, []),
    ],
)
def test_questions_that_are_probably_not_meant_so_are_warned_of(more: dict[str, Any], reasons: list[str]) -> None:
    found = [reason for _, reason in question_cautions(read_concept(concept(**more), "card.yaml", "card")[0])]
    assert len(found) == len(reasons), found
    assert all(reason in said for reason, said in zip(reasons, found, strict=True))


def test_files_that_nothing_reads_are_warned_of(tmp_path: Path) -> None:
    for place in ("card.yaml", "concept/card.yaml", "concepts/mine/card.yaml", ".git/x.yaml", "prices.yaml"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    found = {Path(one.file).relative_to(tmp_path).as_posix(): one.reason for one in check_config(tmp_path).cautions}
    assert {place: found[place] for place in sorted(found)} == {
        "card.yaml": found["card.yaml"],
        "concept/card.yaml": "this file is not read; did you mean `concepts`?",
        "concepts/mine/card.yaml": found["card.yaml"],
    }
    (tmp_path / "concepts" / "card.yaml").write_text("")
    named = [
        one.reason for one in check_config(tmp_path / "concepts").cautions if one.file.endswith("concepts/card.yaml")
    ]
    assert named == [f"this file is not read; name the folder above it: {tmp_path}"]
