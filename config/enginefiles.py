"""The files of the decision engines that have one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.resources.abc import Traversable
from typing import Any

from config.files import Folder
from config.yamlfile import ConfigError, ConfigProblem, Document, parse, suggest, validate
from pipeline.concept import Concept
from pipeline.engines.base import ConfiguredEngine, EngineFile
from pipeline.engines.registry import ENGINES
from pipeline.methodology import Methodology


def read_engine(text: str, file: str, stem: str) -> tuple[EngineFile, Document]:
    """The file of a decision engine, checked alone and across its fields.

    Args:
        text: the content.
        file: how the file is called in messages.
        stem: the file's name without suffix, which must be the engine's.
    Raises:
        ConfigError: with `file:line: reason` for each mistake.
    """
    document = parse(text, file)
    engine = ENGINES.get(stem)
    if not isinstance(engine, ConfiguredEngine):
        known = [name for name, one in ENGINES.items() if isinstance(one, ConfiguredEngine)]
        reason = f"there is no decision engine `{stem}` that has a file{suggest(stem, known)}"
        raise ConfigError([document.problem((), reason)])
    found = validate(document, engine.file)
    problems = [document.problem(problem.path, problem.reason) for problem in engine.problems(found)]
    if found.engine.name != stem:
        problems.append(document.problem(("engine", "name"), f"should be `{stem}`, the name of the file"))
    if problems:
        raise ConfigError(problems)
    return found, document


class EngineFiles:
    """What the engines of new sessions go by."""

    def __init__(self, roots: Sequence[Traversable]) -> None:
        self._folder = Folder("engines", roots, read_engine)

    def refresh(self) -> None:
        """Look at the files again."""
        self._folder.refresh()

    def usable(self) -> tuple[str, ...]:
        """The engines that interviews can be held with: those without a file, and those whose file is right."""
        self.refresh()
        found = self._folder.values()
        return tuple(name for name, one in ENGINES.items() if name in found or not isinstance(one, ConfiguredEngine))

    def pinned(self, name: str) -> dict[str, Any]:
        """What the file of a usable engine says, as JSON values; empty for one without."""
        found = self._folder.values().get(name)
        return found.model_dump(mode="json", by_alias=True) if found is not None else {}

    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything that is wrong with the files as they are now."""
        return self._folder.problems()

    def documents(self) -> Iterator[tuple[dict[str, Any], Document]]:
        """What the usable files say, as JSON values, with their lines."""
        for name in self._folder.values():
            document = self._folder.document(name)
            if document is not None:
                yield self.pinned(name), document

    def left_out(self, name: str, max_turns: int) -> tuple[str, ...]:
        """Phases of an engine that an interview of so many turns never comes to."""
        file, engine = self._folder.values().get(name), ENGINES.get(name)
        return engine.left_out(file, max_turns) if file is not None and isinstance(engine, ConfiguredEngine) else ()

    def cautions(self) -> Iterator[ConfigProblem]:
        """What the files say and probably don't mean."""
        for name, file in self._folder.values().items():
            document, engine = self._folder.document(name), ENGINES[name]
            if document is not None and isinstance(engine, ConfiguredEngine):
                yield from (document.problem(one.path, one.reason) for one in engine.cautions(file))


def unlent(engines: EngineFiles, methodologies: Collection[Methodology]) -> Iterator[ConfigProblem]:
    """Strategies whose questions an engine's file would ask, and that no methodology has."""
    names = sorted({strategy.name for methodology in methodologies for strategy in methodology.strategies})
    for data, document in engines.documents():
        for path, name in _wordings(data, ()):
            if name not in names:
                yield document.problem(path, f"no methodology has a strategy {name}{suggest(name, names)}")


def _wordings(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The names in all `wordings_of` of a file, with their places."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in entries:
        if key == "wordings_of":
            yield from (((*path, key, number), name) for number, name in enumerate(part))
        else:
            yield from _wordings(part, (*path, key))


def rushed(
    engines: EngineFiles, concepts: Iterable[tuple[Concept, Document | None]], max_turns: int
) -> Iterator[ConfigProblem]:
    """Concepts whose interviews have too few turns for a phase of their engine; `max_turns` where they say nothing."""
    for concept, document in concepts:
        turns = concept.max_turns or max_turns
        left = engines.left_out(concept.engine, turns)
        if document is not None and left:
            where = ("max_turns",) if concept.max_turns else ("engine",)
            reason = f"{turns} turns are too few for the phase {' and the phase '.join(left)} of `{concept.engine}`"
            yield document.problem(where, reason)


def unread(concepts: Iterable[tuple[Concept, Document | None]]) -> Iterator[ConfigProblem]:
    """What concepts say that their engine doesn't read."""
    for concept, document in concepts:
        own = isinstance(ENGINES.get(concept.engine), ConfiguredEngine)
        if document is not None and own and concept.phases is not None:
            yield document.problem(("phases",), f"without effect: `{concept.engine}` has phases of its own")
