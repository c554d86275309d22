"""Kiosks in concept files and settings, and languages that nobody here understands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from config.checking import check_config
from config.files import read_concept
from config.loader import LanguageUnsupported, Library
from config.roles import Models
from config.settings import SettingsError, load
from config.yamlfile import ConfigError
from pipeline.concept import Kiosk, PipelineSettings
from tests.support.whole import write_config

REMOTE = {
    f"ASKWELL_{role}_{name}": value
    for role in ("EXTRACTION", "SCORING", "GENERATION")
    for name, value in (("PROVIDER", "openai_compatible"), ("MODEL", "m"), ("BASE_URL", "http://127.0.0.1:9/v1"))
}


def concept(**kiosk: Any) -> str:
    """A concept file in two languages."""
    content = {"id": "coffee", "name": "coffee", "methodology": "small", "objective": "Why", "languages": ["en", "de"]}
    return yaml.safe_dump({**content, "kiosk": kiosk}, sort_keys=False)


def problems(**kiosk: Any) -> str:
    """What is wrong with a kiosk's group."""
    with pytest.raises(ConfigError) as refused:
        read_concept(concept(**kiosk), "coffee.yaml", "coffee")
    return str(refused.value)


def test_concept_without_kiosk_has_its_defaults() -> None:
    read, _ = read_concept(concept(), "coffee.yaml", "coffee")
    assert read.kiosk == Kiosk()
    assert (read.kiosk.respondent_ref, read.kiosk.modes, read.kiosk.half_duplex) == ("off", ("text", "voice"), True)


def test_statements_are_told_in_the_respondents_language() -> None:
    both = {"id": "adult", "text": {"en": "You are 18 or older.", "de": "Sie sind mindestens 18."}}
    read, _ = read_concept(concept(eligibility=[both, {"id": "user", "text": "You use it."}]), "c.yaml", "coffee")
    adult, user = read.kiosk.eligibility
    assert (adult.text_in("de"), adult.text_in("en"), user.text_in("de")) == (
        "Sie sind mindestens 18.",
        "You are 18 or older.",
        "You use it.",
    )


@pytest.mark.parametrize(
    ("kiosk", "reason"),
    [
        ({"eligibility": [{"id": "a", "text": "One."}, {"id": "a", "text": "Two."}]}, "`a` is there twice"),
        ({"eligibility": [{"id": "a", "text": {"en": "One."}}]}, "is missing in: de"),
        ({"eligibility": [{"id": "a", "text": {"en": "1", "de": "1", "fr": "1"}}]}, "not one of `languages`"),
        ({"eligibility": [{"id": "a", "text": " "}]}, "says nothing"),
        ({"modes": ["text", "text"]}, "the same mode twice"),
        ({"modes": []}, "modes"),
        ({"idle_warning_s": 1}, "idle_warning_s"),
        ({"respondent_ref": "maybe"}, "respondent_ref"),
        ({"pin": "1234"}, "pin"),
    ],
)
def test_kiosk_that_can_not_work_is_refused_with_its_place(kiosk: dict[str, Any], reason: str) -> None:
    said = problems(**kiosk)
    assert reason in said
    assert "coffee.yaml:" in said


@pytest.mark.parametrize("pin", ["123", "12a4", "1234567890123", "１２３４"])
def test_pin_that_is_no_short_number_is_refused_without_being_told(pin: str) -> None:
    with pytest.raises(SettingsError, match="ASKWELL_KIOSK_PIN: should be 4 to 12 digits") as refused:
        load({"ASKWELL_KIOSK_PIN": pin})
    assert pin not in str(refused.value)


def test_pin_and_token_may_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "pin").write_text("4711\n")
    found = load({"ASKWELL_KIOSK_PIN_FILE": str(tmp_path / "pin"), "ASKWELL_SYNC_TO": "https://a.example/"}).settings
    assert found.kiosk.kiosk_pin is not None
    assert (found.kiosk.kiosk_pin.get_secret_value(), found.kiosk.sync_to) == ("4711", "https://a.example")


def test_address_that_is_no_url_is_refused() -> None:
    with pytest.raises(SettingsError, match="ASKWELL_SYNC_TO"):
        load({"ASKWELL_SYNC_TO": "ask.example.org"})


def test_language_that_offline_does_not_understand_is_refused(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    library = Library(PipelineSettings(), config_dir=config, models=Models(load({}).settings))
    assert library.configuration("coffee", language="en").concept.languages[0] == "en"
    with pytest.raises(LanguageUnsupported, match=r"`de` can't be held here.* extraction and scoring") as refused:
        library.configuration("coffee", language="de")
    assert refused.value.code == "language_unsupported"


def test_language_models_are_taken_to_know_any_language(tmp_path: Path, root: Path) -> None:
    config = write_config(tmp_path)
    library = Library(PipelineSettings(), config_dir=config, models=Models(load(REMOTE).settings))
    assert library.configuration("coffee", language="de").concept.languages[0] == "de"
    assert not [found for found in library.cautions() if "refused" in found.reason]


def test_half_a_language_model_is_not_enough(tmp_path: Path) -> None:
    half = {name: value for name, value in REMOTE.items() if "SCORING" not in name}
    library = Library(PipelineSettings(), config_dir=write_config(tmp_path), models=Models(load(half).settings))
    with pytest.raises(LanguageUnsupported, match="language model for scoring"):
        library.configuration("coffee", language="de")


def test_check_warns_of_languages_that_would_be_refused(tmp_path: Path) -> None:
    [caution] = [found for found in check_config(write_config(tmp_path)).cautions if "refused" in found.reason]
    assert caution.file.endswith("coffee.yaml")
    assert caution.line > 1
    assert "`de`" in caution.reason
    assert "ASKWELL_EXTRACTION_PROVIDER" in caution.reason


def test_offline_writes_in_the_languages_it_is_said_to_write_in() -> None:
    from pipeline.language.offline.phrasings import LANGUAGES
    from pipeline.language.support import OFFLINE

    assert OFFLINE["generation"] == set(LANGUAGES)
