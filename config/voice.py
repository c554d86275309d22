"""Settings of the server's own voice: which programs read questions aloud, and what they may take."""

from __future__ import annotations

import re
import shlex

from pydantic import Field, field_validator

from config.group import Group

LANGUAGE_PLACE = "{language}"
"""Stands in a command for the language of the interview."""
_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")


class VoiceSettings(Group):
    """The voice that reads questions aloud; without one, browsers read with the voices of their devices."""

    voice_command: str | None = Field(
        default=None,
        description="Program that reads questions aloud in every language, with its arguments, such as `espeak-ng "
        "--stdin --stdout -v {language}`. It is started for each sentence, gets it on its standard input and writes "
        "16-bit sound to its standard output, as WAV or as `ASKWELL_VOICE_RAW_HZ` says. No shell is involved.",
    )
    voice_commands: tuple[str, ...] = Field(
        default=(),
        description="Programs for single languages, each as `LANGUAGE=COMMAND`, such as `en=piper --model en.onnx "
        "--output-raw`; they go before `ASKWELL_VOICE_COMMAND`. Languages of neither are read by the browser.",
    )
    voice_raw_hz: int | None = Field(
        default=None,
        ge=8_000,
        le=48_000,
        description="Samples per second of programs that write raw 16-bit little-endian mono samples; not needed where "
        "they write WAV.",
    )
    voice_deadline_s: float = Field(
        default=10.0,
        gt=0,
        le=120,
        description="Longest time for a sentence, in seconds; after it the browser reads what is left of the question.",
    )
    voice_at_once: int = Field(
        default=2, ge=1, le=64, description="Sentences that one process has read at the same time."
    )
    voice_cache_bytes: int = Field(
        default=33_554_432,
        ge=0,
        description="Memory for sentences that were read before, in bytes; a second takes 48 000. 0 keeps none.",
    )

    @field_validator("voice_command")
    @classmethod
    def _command_possible(cls, command: str | None) -> str | None:
        if command is None:
            return None
        if LANGUAGE_PLACE not in command:
            raise ValueError(
                f"the command has no {LANGUAGE_PLACE} in it, so that it would read every language alike; "
                "name the language with ASKWELL_VOICE_COMMANDS, such as `en=COMMAND`"
            )
        arguments_of(command)
        return command

    @field_validator("voice_commands")
    @classmethod
    def _commands_possible(cls, commands: tuple[str, ...]) -> tuple[str, ...]:
        known: set[str] = set()
        for entry in commands:
            language, command = by_language(entry)
            if language in known:
                raise ValueError(f"{language} has two commands")
            known.add(language)
            arguments_of(command)
        return commands

    @property
    def has_voice(self) -> bool:
        """Whether any program is named."""
        return self.voice_command is not None or bool(self.voice_commands)

    def command_for(self, language: str) -> tuple[str, ...] | None:
        """Program and arguments for a language tag, or for the language that it begins with; None for no program."""
        if _TAG.fullmatch(language) is None:
            return None
        own = dict(map(by_language, self.voice_commands))
        tag = language.lower()
        command = own.get(tag) or own.get(tag.partition("-")[0]) or self.voice_command
        if command is None:
            return None
        return tuple(part.replace(LANGUAGE_PLACE, language) for part in arguments_of(command))


def by_language(entry: str) -> tuple[str, str]:
    """Language tag, in lower case, and command of an entry `LANGUAGE=COMMAND`. Raises ValueError."""
    language, found, command = entry.partition("=")
    language = language.strip().lower()
    if not found or _TAG.fullmatch(language) is None:
        raise ValueError(f"{entry!r} is not of the form LANGUAGE=COMMAND, such as `en=piper --model en.onnx`")
    return language, command.strip()


def arguments_of(command: str) -> tuple[str, ...]:
    """The program and its arguments, as a shell would part them; nothing is expanded. Raises ValueError."""
    try:
        parts = shlex.split(command)
    except ValueError as exc:
        raise ValueError(f"the command {command!r} can't be read: {exc}") from exc
    if not parts or not parts[0]:
        raise ValueError("the command names no program")
    return tuple(parts)
