"""What an installation needs, taken from the environment of the tests instead of being unpacked once more."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def declared(checkout: Path, extra: str) -> list[Requirement]:
    """What the project file asks for, with one of its extras."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    return [Requirement(text) for text in (*project["dependencies"], *project["optional-dependencies"][extra])]


def pinned(checkout: Path) -> dict[str, str]:
    """The tested version by plain name."""
    lines = (checkout / "constraints.txt").read_text().splitlines()
    return {plain(name): version for name, _, version in (line.partition("==") for line in lines) if version}


def plain(name: str) -> str:
    """The name of a distribution as all ways to write it have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def resolved(wanted: list[Requirement], versions: dict[str, str]) -> dict[str, Distribution]:
    """The distributions that fulfil these requirements and those of each other, by plain name.

    Raises:
        AssertionError: one is here in another version than is asked for or tested.
        PackageNotFoundError: one is not here.
    """
    found: dict[str, Distribution] = {}
    looked: set[tuple[str, str]] = set()
    waiting = [(requirement, "") for requirement in wanted]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = plain(requirement.name)
        here = found[name] = distribution(name)
        assert requirement.specifier.contains(here.version, prereleases=True), f"{requirement}, but {here.version}"
        assert here.version == versions.get(name, here.version), f"{name} {here.version} is not what was tested"
        for asked in ("", *requirement.extras):
            if (name, asked) not in looked:
                looked.add((name, asked))
                waiting += [(Requirement(text), asked) for text in here.requires or ()]
    return found


def link(distributions: dict[str, Distribution], site: Path) -> None:
    """Make these distributions, and nothing else, importable in `site`, without their programs."""
    for here in distributions.values():
        for name in {file.parts[0] for file in here.files or () if file.parts[0] not in ("..", "__pycache__")}:
            target = site / name
            if not target.exists():
                target.symlink_to(Path(str(here.locate_file(name))))
