"""Concepts in several languages: what respondents read is told in theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from config.files import read_concept
from config.loader import Library
from config.yamlfile import ConfigError
from pipeline.concept import PipelineSettings
from tests.support.whole import write_config

GERMAN = {
    "name": "Kaffee",
    "title": "Ihr Kaffee",
    "consent_text": "Sind Sie einverstanden?",
    "closing_text": "Danke, das war alles.",
    "helpline_text": "Rufen Sie uns an.",
}


def concept(translations: dict[str, Any], **more: Any) -> str:
    """A concept file in English, German and Arabic."""
    content = {
        "id": "coffee",
        "name": "coffee",
        "methodology": "small",
        "objective": "Why",
        "languages": ["en", "de", "ar"],
        "consent": {"text": "Do you agree?", "version": "7"},
        "closing_text": "Thank you.",
        "stimulus": "A cup.",
        "translations": translations,
    }
    return yaml.safe_dump({**content, **more}, sort_keys=False, allow_unicode=True)


def library(folder: Path, text: str) -> Library:
    """A library whose only concept is this one."""
    write_config(folder)
    for old in (folder / "concepts").glob("*.yaml"):
        old.unlink()
    (folder / "concepts" / "coffee.yaml").write_text(text, encoding="utf-8")
    return Library(config_dir=folder, settings=PipelineSettings(), packaged=None)


def test_concept_in_language_told_as_translated_and_else_as_it_was() -> None:
    read, _ = read_concept(concept({"de": GERMAN}), "coffee.yaml", "coffee")
    told = read.in_language("de")
    assert told.consent is not None
    assert (told.name, told.title, told.consent.text, told.consent.version) == (
        "Kaffee",
        "Ihr Kaffee",
        "Sind Sie einverstanden?",
        "7",
    )
    assert (told.stimulus, told.helpline_text) == ("A cup.", "Rufen Sie uns an.")
    assert read.in_language("ar") == read == read.in_language("en")


def test_translation_of_a_language_the_concept_lacks_refused() -> None:
    for language in ("fr", "en"):
        with pytest.raises(ConfigError, match="not one of `languages` after the first"):
            read_concept(concept({language: GERMAN}), "coffee.yaml", "coffee")
    with pytest.raises(ConfigError, match=r"titel"):
        read_concept(concept({"de": {"titel": "Ihr Kaffee"}}), "coffee.yaml", "coffee")


def test_session_pinned_to_its_language_and_thanked_in_it(tmp_path: Path) -> None:
    found = library(tmp_path, concept({"de": GERMAN}))
    german = found.configuration("coffee", language="de")
    assert german.concept.consent is not None
    assert (german.concept.title, german.concept.consent.text) == ("Ihr Kaffee", "Sind Sie einverstanden?")
    assert (german.closing_text, german.concept.translations) == ("Danke, das war alles.", {})
    arabic = found.configuration("coffee", language="ar")
    assert arabic.closing_text == found.texts("ar").text("closing_text")
    assert found.configuration("coffee").closing_text == "Thank you."


def test_caution_consent_that_some_respondents_cannot_read(tmp_path: Path) -> None:
    told = [str(caution) for caution in library(tmp_path, concept({"de": GERMAN})).cautions()]
    assert any("no consent text in `ar`" in caution for caution in told)
    assert not any("no consent text in `de`" in caution for caution in told)


def test_caution_recording_that_one_language_does_not_mention(tmp_path: Path) -> None:
    text = concept({"de": GERMAN}, record_audio=True, consent={"text": "We make a recording. Do you agree?"})
    told = [str(caution) for caution in library(tmp_path, text).cautions()]
    assert sum("record_audio" in caution or "is recorded" in caution for caution in told) == 1
