"""Concepts, methodologies and interface texts: read, checked, kept fresh, put together for a session.

A `Library` looks at the packaged files and at a directory of the operator's own; a file of the same name there
replaces the packaged one. Changed files are read again when somebody asks for them; a file that broke keeps its last
good version and is reported by `problems`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from config.settings import ROLES
from config.yamlfile import ConfigError, ConfigProblem, Document, parse, suggest, validate
from pipeline.concept import DEFAULT_MAX_TURNS, Concept, PipelineSettings, SessionConfiguration
from pipeline.methodology import Methodology
from pipeline.signals import registry

ENGINES = ("signal_pools",)
"""Decision engines that this version has."""

T = TypeVar("T")


class UnknownName(Exception):
    """There is no concept, methodology, engine or language of that name here; nothing was written."""

    code = "invalid_input"
    retryable = False


class LanguageUnsupported(UnknownName):
    """The concept is not available in that language."""

    code = "language_unsupported"


@dataclass(frozen=True)
class Texts:
    """What the interface says in one language; nested keys are joined by dots."""

    language: str
    entries: Mapping[str, str | tuple[str, ...]] = field(repr=False)

    def text(self, key: str) -> str:
        """One text. Raises KeyError."""
        entry = self.entries[key]
        if not isinstance(entry, str):
            raise KeyError(key)
        return entry


@dataclass(frozen=True)
class _Entry(Generic[T]):
    fingerprint: tuple[int, int]
    value: T | None
    document: Document | None
    problems: tuple[ConfigProblem, ...]


Read = Callable[[str, str, str], tuple[T, Document]]


class _Folder(Generic[T]):
    """All files of one kind, from several roots; later roots win."""

    def __init__(self, kind: str, roots: Sequence[Traversable], read: Read[T]) -> None:
        self._kind = kind
        self._roots = roots
        self._read = read
        self._entries: dict[str, _Entry[T]] = {}

    def refresh(self) -> None:
        """Read what is new or changed, forget what is gone."""
        present = dict(_yaml_files(self._roots, self._kind))
        self._entries = {stem: self._fresh(stem, path) for stem, path in present.items()}

    def _fresh(self, stem: str, path: Traversable) -> _Entry[T]:
        known = self._entries.get(stem)
        try:
            fingerprint = _fingerprint(path)
            if known is not None and known.fingerprint == fingerprint:
                return known
            value, document = self._read(path.read_text(encoding="utf-8"), str(path), stem)
            return _Entry(fingerprint, value, document, ())
        except ConfigError as exc:
            problems = exc.problems
        except UnicodeDecodeError as exc:
            problems = (ConfigProblem(str(path), 1, f"the file is not UTF-8: {exc.reason}"),)
        except OSError as exc:
            fingerprint = (0, 0)
            problems = (ConfigProblem(str(path), 1, f"the file can't be read: {exc.strerror}"),)
        kept = known if known is not None and known.value is not None else None
        return _Entry(fingerprint, kept.value if kept else None, kept.document if kept else None, problems)

    def values(self) -> dict[str, T]:
        """Everything usable, by file name."""
        return {stem: e.value for stem, e in sorted(self._entries.items()) if e.value is not None}

    def document(self, stem: str) -> Document | None:
        """The parsed file a value came from."""
        entry = self._entries.get(stem)
        return entry.document if entry else None

    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything that is wrong with the files as they are now."""
        return tuple(problem for entry in self._entries.values() for problem in entry.problems)


def _yaml_files(roots: Sequence[Traversable], kind: str) -> Iterator[tuple[str, Traversable]]:
    for root in roots:
        folder = root / kind
        if folder.is_dir():
            for path in folder.iterdir():
                stem, dot, suffix = path.name.rpartition(".")
                if dot and suffix in ("yaml", "yml") and path.is_file() and not stem.startswith("."):
                    yield stem, path


def _fingerprint(path: Traversable) -> tuple[int, int]:
    if isinstance(path, Path):
        stat = path.stat()
        return stat.st_mtime_ns, stat.st_size
    return 1, 1


def read_methodology(text: str, file: str, stem: str) -> tuple[Methodology, Document]:
    """A methodology file, checked alone and across its fields.

    Args:
        text: the content.
        file: how the file is called in messages.
        stem: the file's name without suffix, which must be the methodology's.
    Raises:
        ConfigError: with `file:line: reason` for each mistake.
    """
    document = parse(text, file)
    methodology = validate(document, Methodology)
    problems = [document.problem(problem.path, problem.reason) for problem in registry.check(methodology)]
    if methodology.name != stem:
        problems.append(document.problem(("method", "name"), f"should be `{stem}`, the name of the file"))
    if problems:
        raise ConfigError(problems)
    return methodology, document


def read_concept(text: str, file: str, stem: str) -> tuple[Concept, Document]:
    """A concept file, checked alone. Arguments and errors as for `read_methodology`."""
    document = parse(text, file)
    concept = validate(document, Concept)
    problems = []
    if concept.id != stem:
        problems.append(document.problem(("id",), f"should be `{stem}`, the name of the file"))
    if concept.engine not in ENGINES:
        problems.append(
            document.problem(
                ("engine",), f"the engine `{concept.engine}` is not part of this version{suggest('', ENGINES)}"
            )
        )
    if isinstance(concept.opening_question, dict):
        problems += [
            document.problem(("opening_question", language), "not one of `languages`")
            for language in concept.opening_question
            if language not in concept.languages
        ]
    for role, options in concept.llm.items():
        if role not in ROLES:
            problems.append(document.problem(("llm", role), f"unknown role{suggest(role, ROLES)}"))
        elif options.get("provider", "offline") != "offline":
            reason = "language-model clients are not part of this version; use `offline`"
            problems.append(document.problem(("llm", role, "provider"), reason))
    if problems:
        raise ConfigError(problems)
    return concept, document


def read_texts(text: str, file: str, stem: str) -> tuple[Texts, Document]:
    """Interface texts of the language `stem`: text, lists of texts, or mappings of these."""
    document = parse(text, file)
    if not isinstance(document.data, dict):
        raise ConfigError([document.problem((), "should be a mapping of keys to texts")])
    entries: dict[str, str | tuple[str, ...]] = {}
    problems: list[ConfigProblem] = []
    _flatten(document, document.data, (), entries, problems)
    if problems:
        raise ConfigError(problems)
    return Texts(stem, entries), document


def _flatten(
    document: Document,
    data: Mapping[str, Any],
    path: tuple[str | int, ...],
    entries: dict[str, str | tuple[str, ...]],
    problems: list[ConfigProblem],
) -> None:
    for key, value in data.items():
        here = (*path, str(key))
        if isinstance(value, dict):
            _flatten(document, value, here, entries, problems)
        elif isinstance(value, str):
            entries[".".join(map(str, here))] = value
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            entries[".".join(map(str, here))] = tuple(value)
        else:
            problems.append(document.problem(here, "should be text, or a list of texts"))


class Library:
    """The concepts, methodologies and texts that new sessions may begin with."""

    def __init__(
        self,
        settings: PipelineSettings,
        *,
        config_dir: Path | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        packaged: Traversable | None = None,
    ) -> None:
        """Read everything once.

        Args:
            settings: of the pipeline, pinned into each session's configuration.
            config_dir: the operator's own files, if any.
            max_turns: turns of an interview where neither session nor concept says.
            packaged: where the files that come along are; found by itself.
        """
        roots: list[Traversable] = [packaged if packaged is not None else files("config")]
        if config_dir is not None:
            roots.append(config_dir)
        self._settings = settings
        self._max_turns = max_turns
        self._methodologies = _Folder("methodologies", roots, read_methodology)
        self._concepts = _Folder("concepts", roots, read_concept)
        self._texts = _Folder("texts", roots, read_texts)
        self.refresh()

    def refresh(self) -> None:
        """Look at the files again."""
        for folder in (self._methodologies, self._concepts, self._texts):
            folder.refresh()

    def methodologies(self) -> dict[str, Methodology]:
        """All usable methodologies, by name."""
        self._methodologies.refresh()
        return self._methodologies.values()

    def concepts(self) -> dict[str, Concept]:
        """All concepts that a session can begin with, by id."""
        self._concepts.refresh()
        methodologies = self.methodologies()
        return {
            name: concept
            for name, concept in self._concepts.values().items()
            if concept.methodology in methodologies and not self._mismatches(concept, methodologies)
        }

    def concept(self, concept_id: str) -> Concept:
        """The concept of that id. Raises UnknownName."""
        concepts = self.concepts()
        if concept_id not in concepts:
            raise UnknownName(f"There is no concept `{concept_id}`{suggest(concept_id, list(concepts))}.")
        return concepts[concept_id]

    def texts(self, language: str) -> Texts:
        """Interface texts in that language, else in English. Raises UnknownName."""
        self._texts.refresh()
        found = self._texts.values()
        if language not in found and "en" not in found:
            raise UnknownName("There are no interface texts at all.")
        return found.get(language) or found["en"]

    def configuration(
        self,
        concept_id: str,
        methodology: str | None = None,
        language: str | None = None,
        engine: str | None = None,
        max_turns: int | None = None,
    ) -> SessionConfiguration:
        """What a new session is pinned to. Precedence: session, concept, methodology, settings.

        Args:
            concept_id: which concept.
            methodology: another methodology than the concept's.
            language: one of the concept's languages; the first if not given.
            engine: another decision engine than the concept's.
            max_turns: another limit than the concept's.
        Returns:
            A configuration whose concept says everything that was resolved: its methodology, engine, turn limit and
            languages (the session's first).
        Raises:
            UnknownName: there is no such concept, methodology or engine.
            LanguageUnsupported: the concept is not available in that language.
        """
        concept = self.concept(concept_id)
        chosen = self._methodology(methodology or concept.methodology)
        language = language or concept.languages[0]
        if language not in concept.languages:
            known = ", ".join(concept.languages)
            raise LanguageUnsupported(
                f"The concept `{concept_id}` is not available in `{language}`; it is in: {known}."
            )
        engine = engine or concept.engine
        if engine not in ENGINES:
            raise UnknownName(f"There is no decision engine `{engine}`{suggest(engine, ENGINES)}.")
        if concept.phases is not None:
            unknown = _unknown_strategies(concept, chosen)
            if unknown:
                raise UnknownName(
                    f"The phases of `{concept_id}` name strategies that `{chosen.name}` does not have: "
                    f"{', '.join(unknown)}."
                )
            chosen = chosen.model_copy(update={"phases": concept.phases})
        others = tuple(name for name in concept.languages if name != language)
        resolved = concept.model_copy(
            update={
                "methodology": chosen.name,
                "engine": engine,
                "languages": (language, *others),
                "max_turns": max_turns or concept.max_turns or self._max_turns,
            }
        )
        texts = self.texts(language)
        return SessionConfiguration(
            concept=resolved,
            methodology=chosen,
            settings=self._settings,
            closing_text=concept.closing_text or texts.text("closing_text"),
            withdrawn_text=texts.text("withdrawn_text"),
        )

    def _methodology(self, name: str) -> Methodology:
        methodologies = self.methodologies()
        if name not in methodologies:
            raise UnknownName(f"There is no methodology `{name}`{suggest(name, list(methodologies))}.")
        return methodologies[name]

    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything that is wrong with the files as they are now, in file order."""
        self.refresh()
        methodologies = self._methodologies.values()
        crossing = [
            problem
            for concept in self._concepts.values().values()
            for problem in self._mismatches(concept, methodologies)
        ]
        found = [*self._methodologies.problems(), *self._concepts.problems(), *self._texts.problems(), *crossing]
        return tuple(sorted(found))

    def _mismatches(self, concept: Concept, methodologies: Mapping[str, Methodology]) -> list[ConfigProblem]:
        document = self._concepts.document(concept.id)
        if document is None:
            return []
        methodology = methodologies.get(concept.methodology)
        if methodology is None:
            hint = suggest(concept.methodology, list(methodologies))
            return [document.problem(("methodology",), f"there is no methodology `{concept.methodology}`{hint}")]
        known = [node.name for node in methodology.ontology.nodes]
        problems = [
            document.problem(
                ("elements", i, "connection_requirements", j), f"unknown node type `{name}`{suggest(name, known)}"
            )
            for i, element in enumerate(concept.elements)
            for j, name in enumerate(element.connection_requirements)
            if name not in known
        ]
        strategies = [strategy.name for strategy in methodology.strategies]
        for phase, part, name in _phase_strategies(concept):
            if name not in strategies:
                path = ("phases", phase, part, name)
                problems.append(document.problem(path, f"unknown strategy{suggest(name, strategies)}"))
        return problems


def _phase_strategies(concept: Concept) -> Iterator[tuple[str, str, str]]:
    if concept.phases is not None:
        for phase in ("early", "mid", "late"):
            profile = getattr(concept.phases, phase)
            for part in ("signal_weights", "phase_bonuses"):
                for name in getattr(profile, part):
                    yield phase, part, name


def _unknown_strategies(concept: Concept, methodology: Methodology) -> list[str]:
    known = {strategy.name for strategy in methodology.strategies}
    return sorted({name for _, _, name in _phase_strategies(concept)} - known)


def content_hash(configuration: SessionConfiguration) -> str:
    """The name of a pinned configuration: SHA-256 of its canonical JSON, 64 hexadecimal digits."""
    data = configuration.model_dump(mode="json")
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class CheckReport:
    """What `check_config` found."""

    concepts: tuple[str, ...]
    methodologies: tuple[str, ...]
    languages: tuple[str, ...]
    problems: tuple[ConfigProblem, ...]

    @property
    def ok(self) -> bool:
        """Whether everything can be used."""
        return not self.problems


def check_config(config_dir: Path | None = None) -> CheckReport:
    """Read and check all files: the packaged ones, and those of a directory over them."""
    library = Library(PipelineSettings(), config_dir=config_dir)
    return CheckReport(
        concepts=tuple(library.concepts()),
        methodologies=tuple(library.methodologies()),
        languages=tuple(library._texts.values()),
        problems=library.problems(),
    )


def dump_schema(model: type[BaseModel]) -> str:
    """The JSON Schema of a file format, for editors that complete and check while one writes."""
    return json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
