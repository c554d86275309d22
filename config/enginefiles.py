"""The files of the decision engines that have one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources.abc import Traversable
from typing import Any

from config.files import Folder
from config.yamlfile import ConfigError, ConfigProblem, Document, parse, suggest, validate
from pipeline.concept import Concept
from pipeline.engines.base import ConfiguredEngine, EngineFile
from pipeline.engines.registry import ENGINES


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

    def cautions(self) -> Iterator[ConfigProblem]:
        """What the files say and probably don't mean."""
        for name, file in self._folder.values().items():
            document, engine = self._folder.document(name), ENGINES[name]
            if document is not None and isinstance(engine, ConfiguredEngine):
                yield from (document.problem(one.path, one.reason) for one in engine.cautions(file))


def unread(concepts: Iterable[tuple[Concept, Document | None]]) -> Iterator[ConfigProblem]:
    """What concepts say that their engine doesn't read."""
    for concept, document in concepts:
        own = isinstance(ENGINES.get(concept.engine), ConfiguredEngine)
        if document is not None and own and concept.phases is not None:
            yield document.problem(("phases",), f"without effect: `{concept.engine}` has phases of its own")
