"""Prompt files: `prompts/*.md`, the operator's over the packaged ones, checked as a whole, fresh for new sessions.

A file has a part `# System` and a part `# User`; `pipeline.language.prompted` defines which variables each
may use, and is imported only when prompts are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources.abc import Traversable
from pathlib import PurePath

from config.files import Folder
from config.yamlfile import ConfigError, ConfigProblem, Document, suggest


def read_prompt(text: str, file: str, stem: str) -> tuple[str, Document]:
    """A prompt, which can be checked only together with the others.

    Raises:
        ConfigError: there is no such prompt.
    """
    from pipeline.language.prompted.prompts import PROMPT_NAMES

    if stem not in PROMPT_NAMES:
        raise ConfigError([ConfigProblem(file, 1, f"there is no prompt `{stem}`{suggest(stem, PROMPT_NAMES)}")])
    return text, Document(file, text, {(): 1})


class PromptFiles:
    """The prompts that new sessions begin with."""

    def __init__(self, roots: Sequence[Traversable]) -> None:
        """Args: roots: directories that have a folder `prompts`; later ones win. Nothing is read yet."""
        self._folder = Folder("prompts", roots, read_prompt, suffixes=("md",))
        self._tried: dict[str, str] = {}
        self._good: dict[str, str] = {}
        self._problems: tuple[ConfigProblem, ...] = ()

    def texts(self) -> dict[str, str]:
        """The prompts by file name without `.md`: as they are now, or as they last were when all could be used.

        Returns:
            Nothing when they never could be used.
        """
        self._refresh()
        return dict(self._good)

    def known(self) -> dict[str, str]:
        """As `texts`, from the files as they were when they were last looked at; they are if they never were."""
        return dict(self._good) or self.texts()

    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything that is wrong with the files as they are now."""
        self._refresh()
        return (*self._folder.problems(), *self._problems)

    def file(self, name: str) -> str:
        """The file that a prompt comes from, as messages call it."""
        document = self._folder.document(name)
        return document.file if document is not None else f"prompts/{name}.md"

    def _refresh(self) -> None:
        from pipeline.language.prompted.prompts import PromptInvalid, Prompts

        self._folder.refresh()
        texts = self._folder.values()
        if texts == self._tried:
            return
        self._tried = texts
        try:
            Prompts(texts)
        except PromptInvalid as exc:
            self._problems = tuple(
                ConfigProblem(self.file(PurePath(problem.file).stem), problem.line, problem.reason)
                for problem in exc.problems
            )
        else:
            self._good, self._problems = texts, ()
