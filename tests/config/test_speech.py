"""What concepts that record have to say, and where that is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from config.checking import check_config
from config.loader import Library
from config.settings import SettingsError, load
from config.speech import unannounced_recording
from pipeline.concept import Concept, PipelineSettings
from tests.support.whole import write_config


def concept(text: str | None, *, record_audio: bool = True) -> Concept:
    consent: dict[str, Any] = {} if text is None else {"consent": {"text": text}}
    fields = {"id": "c", "name": "c", "methodology": "small", "objective": "o", "record_audio": record_audio, **consent}
    return Concept.model_validate(fields)


@pytest.mark.parametrize(
    "text",
    [
        "What you say is recorded and kept.",
        "We make an audio recording.",
        "Ihre Stimme wird aufgezeichnet.",
        "Wir machen eine Tonaufnahme.",
        "Votre voix est enregistrée.",
        "سيتم تسجيل صوتك.",
    ],
)
def test_consent_that_tells_of_the_recording_is_enough(text: str) -> None:
    assert unannounced_recording(concept(text)) is None


@pytest.mark.parametrize("text", ["What you say is kept.", "We accord great value to your voice.", "Do you agree?"])
def test_consent_that_does_not_tell_of_the_recording_is_not(text: str) -> None:
    assert "recorded" in (unannounced_recording(concept(text)) or "")


def test_recording_without_a_consent_text_records_nothing_and_is_told() -> None:
    assert "nothing will be recorded" in (unannounced_recording(concept(None)) or "")


def test_concept_that_does_not_record_needs_no_word_of_it() -> None:
    assert unannounced_recording(concept(None, record_audio=False)) is None


def test_library_and_check_tell_file_and_line_of_what_is_missing(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    path = config / "concepts" / "voice.yaml"
    (config / "concepts" / "coffee.yaml").unlink()
    assert Library(PipelineSettings(), config_dir=config).cautions() == ()
    said = yaml.safe_load(path.read_text())
    said["consent"]["text"] = "Do you agree?"
    path.write_text(yaml.safe_dump(said, sort_keys=False))
    report = check_config(config)
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if text.startswith("record_audio"))
    assert [(c.file, c.line) for c in report.cautions] == [(str(path), line)]
    assert report.ok


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WHISPER_WORKERS", "0"),
        ("SPECULATE", "always"),
        ("PATIENCE", "endless"),
        ("MAX_ANSWER_S", "3"),
        ("WHISPER_COMPUTE", "int 8"),
        ("ECHO_CANCELLATION", "true"),
        ("MAX_AUDIO_BYTES", "1"),
    ],
)
def test_setting_of_speech_that_can_not_be_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"ASKWELL_{name}"):
        load({f"ASKWELL_{name}": value})


def test_directory_of_recordings_may_be_below_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load({"ASKWELL_RECORDINGS": "~/sounds"}).settings.speech.recordings == tmp_path / "sounds"
