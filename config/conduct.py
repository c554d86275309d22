"""What the interviewer does about acts: `conduct.yaml`, the packaged one or the operator's instead of it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources.abc import Traversable

from config.singlefile import SingleFile
from config.yamlfile import ConfigError, ConfigProblem, parse, validate
from pipeline.concept import Concept
from pipeline.conduct.policy import SAFETY, ConductFile, ConductPolicy, ConductTexts

FILE = "conduct.yaml"


class ConductFiles:
    """The policy that new sessions begin with; a file that can't be used is reported, and the last good one stays."""

    def __init__(self, roots: Sequence[Traversable]) -> None:
        """Args: roots: directories that may have the file; later ones win."""
        self._file = SingleFile(roots, FILE, _read)

    def file(self) -> ConductFile | None:
        """The policy as it is now, or as it last was when it could be used; None where it never could be."""
        return self._file.value()

    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything that is wrong with the file as it is now."""
        return self._file.problems()

    def policy(self, concept: Concept, language: str) -> ConductPolicy | None:
        """The policy of a concept's interviews in that language, with the texts that the concept replaces."""
        file = self.file()
        return file.policy(language, concept.conduct.get(language)) if file is not None else None

    def plain(self, language: str) -> ConductPolicy | None:
        """The policy in that language as the file has it."""
        file = self.file()
        return file.policy(language) if file is not None else None


def _read(text: str, name: str) -> ConductFile:
    return _whole(validate(parse(text, name), ConductFile), name)


def _whole(file: ConductFile, name: str) -> ConductFile:
    """The file, if it has every offer in every language. Raises ConfigError."""
    needed = {"go_on", "something_else", "pause", "stop", "resume", "carry_on", "yes", "no", "withdraw"}
    problems = [
        ConfigProblem(name, 1, f"texts.{language}.offers: {', '.join(sorted(missing))} is missing")
        for language, texts in file.texts.items()
        if (missing := needed - set(texts.offers))
    ]
    problems += [
        ConfigProblem(name, 1, f"texts.{language}.facts: `other` is missing")
        for language, texts in file.texts.items()
        if "other" not in texts.facts
    ]
    if problems:
        raise ConfigError(problems)
    return file


def replaced_wrongly(concept: Concept) -> list[tuple[tuple[str | int, ...], str]]:
    """What of a concept's `conduct` can't be: paths and reasons."""
    found: list[tuple[tuple[str | int, ...], str]] = []
    for language, words in concept.conduct.items():
        for name, value in words.items():
            path = ("conduct", language, name)
            if name in SAFETY:
                found.append((path, "is a text of safety, which a concept can't replace"))
            elif name not in ConductTexts.model_fields:
                found.append((path, "there is no such text"))
            elif not _fits(name, value):
                found.append((path, "should be text, as in conduct.yaml"))
    return found


def _fits(name: str, value: object) -> bool:
    annotation = ConductTexts.model_fields[name].annotation
    if annotation is str:
        return isinstance(value, str) and bool(value.strip())
    if name == "facts":
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(text, str) for text in value)
