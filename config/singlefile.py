"""One configuration file, the packaged one or the operator's instead; a broken one keeps its last good version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources.abc import Traversable
from typing import Generic, TypeVar

from config.yamlfile import ConfigError, ConfigProblem, read_text

T = TypeVar("T")


class SingleFile(Generic[T]):
    """What a file says, read again when it was changed."""

    def __init__(self, roots: Sequence[Traversable], name: str, read: Callable[[str, str], T]) -> None:
        """Args:
        roots: directories that may have the file; later ones win.
        name: of the file.
        read: makes the value of the text, and of the file as messages call it. Raises ConfigError.
        """
        self._roots = roots
        self._name = name
        self._read = read
        self._tried: str | None = None
        self._good: T | None = None
        self._problems: tuple[ConfigProblem, ...] = ()

    def value(self) -> T | None:
        """What it says now, or said when it could last be used; None where it never could be."""
        path = next((root / self._name for root in reversed(self._roots) if (root / self._name).is_file()), None)
        if path is None:
            return self._good
        try:
            text = read_text(path)
            if text != self._tried:
                self._tried = text
                self._good = self._read(text, str(path))
                self._problems = ()
        except ConfigError as exc:
            self._problems = exc.problems
        except (OSError, UnicodeDecodeError) as exc:
            self._problems = (ConfigProblem(str(path), 1, f"the file can't be read: {exc}"),)
        return self._good

    def problems(self) -> tuple[ConfigProblem, ...]:
        """Everything that is wrong with the file as it is now."""
        self.value()
        return self._problems
