"""The settings of the server's own voice."""

from __future__ import annotations

import pytest

from config.settings import SettingsError, load


def test_no_program_is_named_unless_one_is() -> None:
    voice = load({}).settings.voice
    assert (voice.has_voice, voice.command_for("en")) == (False, None)


def test_commands_are_parted_like_a_shell_would_and_nothing_is_expanded() -> None:
    command = "speak --voice 'a b' $HOME {language} *.onnx"
    voice = load({"ASKWELL_VOICE_COMMAND": command}).settings.voice
    assert voice.command_for("pt-BR") == ("speak", "--voice", "a b", "$HOME", "pt-BR", "*.onnx")


def test_command_of_a_language_goes_before_the_one_for_all_and_holds_for_its_regions() -> None:
    voice = load({"ASKWELL_VOICE_COMMANDS": "en = piper --model en.onnx, DE-at=piper --model de.onnx"}).settings.voice
    assert voice.command_for("en-GB") == ("piper", "--model", "en.onnx")
    assert voice.command_for("de-AT") == ("piper", "--model", "de.onnx")
    assert voice.command_for("de") is None
    assert voice.has_voice


@pytest.mark.parametrize("language", ["", "-v", "en;id", "e", "en gb", "../x"])
def test_what_is_no_language_has_no_command(language: str) -> None:
    assert load({"ASKWELL_VOICE_COMMAND": "speak {language}"}).settings.voice.command_for(language) is None


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ASKWELL_VOICE_COMMAND", "piper --model en.onnx", "ASKWELL_VOICE_COMMANDS"),
        ("ASKWELL_VOICE_COMMAND", "speak '{language}", "can't be read"),
        ("ASKWELL_VOICE_COMMANDS", "piper", "LANGUAGE=COMMAND"),
        ("ASKWELL_VOICE_COMMANDS", "en=", "names no program"),
        ("ASKWELL_VOICE_COMMANDS", "english language=x", "LANGUAGE=COMMAND"),
        ("ASKWELL_VOICE_COMMANDS", "en=a,EN=b", "two commands"),
        ("ASKWELL_VOICE_RAW_HZ", "100", "8000"),
        ("ASKWELL_VOICE_DEADLINE_S", "0", "greater than 0"),
        ("ASKWELL_VOICE_AT_ONCE", "0", "greater than or equal to 1"),
    ],
)
def test_setting_that_can_t_work_is_refused_with_what_to_do(name: str, value: str, told: str) -> None:
    with pytest.raises(SettingsError, match=name) as refused:
        load({name: value})
    assert told in str(refused.value)
