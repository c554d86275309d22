"""The engines and configurations that recorded answers are put to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.loader import Library
from config.settings import Settings
from pipeline.concept import SessionConfiguration
from pipeline.engines.registry import ENGINES
from server.comparison.errors import NotARecord, Unplayable
from server.comparison.playing import Variant, with_engine
from server.comparison.recording import Recording
from server.simulation.engines import ALL, engines_named


@dataclass(frozen=True)
class Wanted:
    """What somebody asked to compare; nothing said means the interview's own concept through every engine.

    Attributes:
        engines: by name, as `engines_named` takes them.
        concepts: by id.
        directories: with other configurations.
        language: of answers from a file.
        max_turns: of every run.
    """

    engines: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    directories: tuple[Path, ...] = ()
    language: str | None = None
    max_turns: int | None = None


@dataclass(frozen=True)
class Variants:
    """The ways to hold the interview, and a sentence for each that was left out."""

    listed: tuple[Variant, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Base:
    """A configuration, with what the files of engines say beside it; `label` tells it from others."""

    label: str
    configuration: SessionConfiguration
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def variants(recording: Recording, wanted: Wanted, library: Library, settings: Settings) -> Variants:
    """The runs to make: every engine that was asked for, by every configuration that was asked for.

    Where configurations are compared and no engine is named, each goes by its own engine.

    Raises:
        UnknownName: there is no such concept, engine or language.
        NotARecord: nobody knows what the answers are about.
        Unplayable: none of them can be used, or one that was named.
    """
    named = engines_named(wanted.engines)
    bases = list(_bases(recording, wanted, library, settings))
    listed: list[Variant] = []
    left_out: list[str] = []
    for base in bases:
        for engine in _engines(named, base, alone=len(bases) == 1):
            try:
                changed = with_engine(base.configuration, engine, base.files)
            except Unplayable as error:
                if wanted.engines and ALL not in wanted.engines:
                    raise
                left_out.append(f"Left out: {error}.")
                continue
            listed.append(Variant(f"{engine} ({base.label})" if base.label else engine, changed))
    if not listed:
        raise Unplayable(" ".join(left_out))
    return Variants(tuple(listed), tuple(left_out))


def _engines(named: Sequence[str], base: _Base, *, alone: bool) -> Sequence[str]:
    if named:
        return named
    return list(ENGINES) if alone else [base.configuration.concept.engine]


def _bases(recording: Recording, wanted: Wanted, library: Library, settings: Settings) -> Iterator[_Base]:
    ids = wanted.concepts or _concept_of(recording, library)
    several = len(wanted.concepts) > 1 or bool(wanted.directories)
    if not wanted.concepts and recording.configuration is not None:
        pinned = recording.configuration
        if pinned.conduct is None:
            policy = library.conduct_files.plain(recording.language or pinned.concept.languages[0])
            pinned = pinned.model_copy(update={"conduct": policy})
        pinned = pinned.model_copy(
            update={"concept": pinned.concept.model_copy(update={"engine": recording.engine or pinned.concept.engine})}
        )
        yield _Base("as pinned" if several else "", pinned, _files(library))
    else:
        yield from (_base(name, name if several else "", recording, wanted, library) for name in ids)
    labels = [one.name for one in wanted.directories]
    for directory in wanted.directories:
        if not directory.is_dir():
            raise NotARecord(f"{directory} is no directory with a configuration")
        label = directory.name if directory.name and labels.count(directory.name) == 1 else str(directory)
        there = Library(settings.pipeline, config_dir=directory, max_turns=settings.sessions.max_turns)
        for name in ids:
            yield _base(name, f"{label}: {name}" if len(ids) > 1 else label, recording, wanted, there)


def _concept_of(recording: Recording, library: Library) -> tuple[str, ...]:
    """What the answers are about. Raises NotARecord, UnknownName."""
    if recording.concept_id is not None:
        return (recording.concept_id,)
    if recording.persona is not None:
        return (library.persona(recording.persona).concept,)
    raise NotARecord(f"nobody knows what the answers of {recording.title} are about; name a concept with --concept")


def _base(concept: str, label: str, recording: Recording, wanted: Wanted, library: Library) -> _Base:
    language = wanted.language or recording.language
    configuration = library.configuration(concept, language=language, max_turns=wanted.max_turns)
    return _Base(label, configuration, _files(library))


def _files(library: Library) -> dict[str, Mapping[str, Any]]:
    return {name: library.engine_files.pinned(name) for name in library.engine_files.usable()}
