"""What the pages name exists: settings, make targets, concepts, modules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from config.settings import catalogue
from pipeline.concept import Concept
from server.metrics import Metrics, joint_page

FOR_TESTS = {"ASKWELL_REQUIRE_ALL", "ASKWELL_CHROMIUM", "ASKWELL_TEST_DATABASE_URL"}
GENERATED = ("docs/configuration", "docs/protocol", "docs/http.md")
CODE = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)


def pages(root: Path) -> Iterator[tuple[Path, str]]:
    """Pages written by hand, with their text."""
    for path in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        if not path.relative_to(root).as_posix().startswith(GENERATED):
            yield path.relative_to(root), path.read_text(encoding="utf-8")


def test_settings_that_pages_name_exist(root: Path) -> None:
    settings = list(catalogue())
    known = {setting.env for setting in settings} | {f"{setting.env}_FILE" for setting in settings if setting.secret}
    named = {(path, name) for path, text in pages(root) for name in re.findall(r"\bASKWELL_[A-Z_]*[A-Z]\b", text)}
    assert {f"{path}: {name}" for path, name in named if name not in known | FOR_TESTS} == set()


def test_make_targets_that_pages_name_exist(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    block = re.compile(r"(?:^|`|run |then )make ([a-z-]+)", re.MULTILINE)
    named = {(path, name) for path, text in pages(root) for name in block.findall(text)}
    assert {f"{path}: make {name}" for path, name in named if name not in targets} == set()
    assert named


def test_concepts_and_methodologies_that_pages_name_come_along(root: Path) -> None:
    present = {path.stem for path in (root / "config/concepts").glob("*.yaml")}
    named = {name for _, text in pages(root) for name in re.findall(r"\b[a-z_]+_(?:mec|jtbd|ci|cjm|rg|ct)\b", text)}
    assert named == present
    text = (root / "docs/methodologies.md").read_text()
    assert all(f"`{path.stem}`" in text for path in (root / "config/methodologies").glob("*.yaml"))


@pytest.mark.parametrize(
    "page", ["README.md", "docs/methodologies.md", "docs/language-models.md", "docs/concept-tests.md"]
)
def test_concept_in_the_page_is_a_valid_concept(root: Path, page: str) -> None:
    blocks = [body for kind, body in CODE.findall((root / page).read_text()) if kind == "yaml"]
    assert blocks
    for block in blocks:
        concept = Concept.model_validate(yaml.safe_load(block))
        assert (root / "config/methodologies" / f"{concept.methodology}.yaml").is_file()


def test_folders_in_the_readme_table_exist(root: Path) -> None:
    table = re.findall(r"^\| `([\w/]+)` \|", (root / "README.md").read_text(), re.MULTILINE)
    assert table
    assert [name for name in table if not (root / name).is_dir()] == []


def test_design_index_lists_every_page(root: Path) -> None:
    index = (root / "docs/design/README.md").read_text()
    assert [path.name for path in (root / "docs/design").glob("*.md") if f"({path.name})" not in index] == ["README.md"]


def test_methodology_page_names_every_node_type(root: Path) -> None:
    text = (root / "docs/methodologies.md").read_text().lower()
    for path in (root / "config/methodologies").glob("*.yaml"):
        nodes = yaml.safe_load(path.read_text())["ontology"]["nodes"]
        words = [node["name"].split("_") for node in nodes]
        assert [word for word in words if word[0] not in text and word[-1] not in text] == [], path.name


def test_metrics_that_pages_name_exist(root: Path) -> None:
    page = joint_page({1: Metrics().families()}, restarts=0).decode()
    measured = set(re.findall(r"^# HELP (\w+)", page, re.MULTILINE))
    named = {name for _, text in pages(root) for name in re.findall(r"`(askwell_[a-z_]+[a-z])`", text)}
    assert named
    assert {name for name in named if not measured & {name, f"{name}_total"}} == set()
