"""Files of one kind: read with line numbers, reread when they change; a broken file keeps its last good version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Generic, TypeVar

from config.elements import stimulus_problems
from config.languagetags import language_problems
from config.models import checked_base_url
from config.wording import wording_problems
from config.yamlfile import ConfigError, ConfigProblem, Document, parse, read_text, suggest, validate
from pipeline.concept import Concept, RoleOverrides
from pipeline.methodology import Methodology
from pipeline.signals import registry

T = TypeVar("T")


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

    def find(self, key: str) -> str | None:
        """One text, None where there is none."""
        entry = self.entries.get(key)
        return entry if isinstance(entry, str) else None


@dataclass(frozen=True)
class _Entry(Generic[T]):
    fingerprint: tuple[int, int]
    value: T | None
    document: Document | None
    problems: tuple[ConfigProblem, ...]


Read = Callable[[str, str, str], tuple[T, Document]]


class Folder(Generic[T]):
    """All files of one kind, from several roots; later roots win."""

    def __init__(
        self, kind: str, roots: Sequence[Traversable], read: Read[T], suffixes: Collection[str] = ("yaml", "yml")
    ) -> None:
        self._kind = kind
        self._roots = roots
        self._read = read
        self._suffixes = suffixes
        self._entries: dict[str, _Entry[T]] = {}

    def refresh(self) -> None:
        """Read what is new or changed, forget what is gone."""
        present = dict(_files(self._roots, self._kind, self._suffixes))
        self._entries = {stem: self._fresh(stem, path) for stem, path in present.items()}

    def _fresh(self, stem: str, path: Traversable) -> _Entry[T]:
        known = self._entries.get(stem)
        try:
            fingerprint = _fingerprint(path)
            if known is not None and known.fingerprint == fingerprint:
                return known
            value, document = self._read(read_text(path), str(path), stem)
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


def _files(roots: Sequence[Traversable], kind: str, suffixes: Collection[str]) -> Iterator[tuple[str, Traversable]]:
    for root in roots:
        folder = root / kind
        if folder.is_dir():
            for path in folder.iterdir():
                stem, dot, suffix = path.name.rpartition(".")
                if dot and suffix in suffixes and path.is_file() and not stem.startswith("."):
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
    keys = _keys(document)
    if keys:
        raise ConfigError(keys)
    concept = validate(document, Concept)
    problems = []
    if concept.id != stem:
        problems.append(document.problem(("id",), f"should be `{stem}`, the name of the file"))
    if isinstance(concept.opening_question, dict):
        problems += [
            document.problem(("opening_question", language), "not one of `languages`")
            for language in concept.opening_question
            if language not in concept.languages
        ]
    problems += [
        document.problem(("translations", language), "not one of `languages` after the first")
        for language in concept.translations
        if language not in concept.languages[1:]
    ]
    problems += [document.problem(path, reason) for path, reason in stimulus_problems(concept)]
    problems += [document.problem(path, reason) for path, reason in wording_problems(concept)]
    problems += [document.problem(path, reason) for path, reason in language_problems(concept.languages)]
    problems += _element_problems(concept, document)
    problems += _model_problems(concept, document)
    problems += _kiosk_problems(concept, document)
    if problems:
        raise ConfigError(problems)
    return concept, document


def _element_problems(concept: Concept, document: Document) -> Iterator[ConfigProblem]:
    """Elements without a name or that share an id, and requirements that name no other element."""
    ids = [element.id for element in concept.elements]
    for i, element in enumerate(concept.elements):
        for key in ("id", "label"):
            if not getattr(element, key).strip():
                yield document.problem(("elements", i, key), "says nothing")
        if element.id in ids[:i]:
            yield document.problem(("elements", i, "id"), f"`{element.id}` is there twice")
        for j, name in enumerate(element.connection_requirements):
            here = ("elements", i, "connection_requirements", j)
            if name == element.id:
                yield document.problem(here, "an element can't be connected to itself")
            elif name not in ids:
                yield document.problem(here, f"there is no element `{name}`{suggest(name, ids)}")


def _kiosk_problems(concept: Concept, document: Document) -> Iterator[ConfigProblem]:
    """Statements that share an id or lack a language, and modes that are named twice."""
    seen: set[str] = set()
    for i, statement in enumerate(concept.kiosk.eligibility):
        here = ("kiosk", "eligibility", i)
        if statement.id in seen:
            yield document.problem((*here, "id"), f"`{statement.id}` is there twice")
        seen.add(statement.id)
        texts = {"text": statement.text} if isinstance(statement.text, str) else statement.text
        if any(not text.strip() for text in texts.values()) or not texts:
            yield document.problem((*here, "text"), "says nothing")
        if isinstance(statement.text, dict):
            for language in statement.text:
                if language not in concept.languages:
                    yield document.problem((*here, "text", language), "not one of `languages`")
            missing = [language for language in concept.languages if language not in statement.text]
            if missing:
                yield document.problem((*here, "text"), f"is missing in: {', '.join(missing)}")
    if len(set(concept.kiosk.modes)) < len(concept.kiosk.modes):
        yield document.problem(("kiosk", "modes"), "names the same mode twice")


def _keys(document: Document) -> list[ConfigProblem]:
    """Keys of providers, which don't belong into a file; the messages don't repeat them."""
    llm = document.data.get("llm") if isinstance(document.data, dict) else None
    roles = llm.items() if isinstance(llm, dict) else ()
    return [
        document.problem(
            ("llm", role, name),
            f"a key doesn't belong into a concept file; put it into ASKWELL_{str(role).upper()}_API_KEY",
        )
        for role, options in roles
        if isinstance(options, dict)
        for name in options
        if str(name).replace("-", "_").lower() in ("api_key", "apikey", "api_key_file", "key")
    ]


def _model_problems(concept: Concept, document: Document) -> Iterator[ConfigProblem]:
    """What is wrong with the language models of a concept, whatever the settings are."""
    for role in type(concept.llm).model_fields:
        over = getattr(concept.llm, role)
        if not isinstance(over, RoleOverrides):
            continue
        here = ("llm", role)
        if over.provider not in (None, "offline") and over.model is None:
            yield document.problem((*here, "provider"), f"`{over.provider}` needs a `model` beside it")
        if over.provider == "offline":
            for name in ("model", "base_url"):
                if getattr(over, name) is not None:
                    yield document.problem((*here, name), "without effect: the provider is `offline`")
        if over.base_url is not None:
            if over.provider is None:
                yield document.problem((*here, "base_url"), "needs a `provider` beside it")
            try:
                checked_base_url(over.base_url)
            except ValueError as exc:
                yield document.problem((*here, "base_url"), str(exc))


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
