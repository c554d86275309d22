"""Names of concepts that questions can be made with, and names that they can't."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.loader import Library
from config.topicname import reads_badly
from pipeline.concept import PipelineSettings


@pytest.mark.parametrize(
    "name",
    [
        "coffee",
        "wireless headphones",
        "joining a gym",
        "eating out at restaurants",
        "iPhone",
        "your way to work",
        "IKEA",
    ],
)
def test_nouns_brands_and_activities_are_names(name: str) -> None:
    assert reads_badly(name, "en") is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("choose a bank", "choose"),
        ("How do you feel about your bank?", "sentence"),
        ("how people choose a bank", "clause"),
        ("my bank is closing", "clause"),
        ("the whole long story of how I changed", "8 words"),
        ("Study 3: banks", "title"),
        ("!?", "no words"),
    ],
)
def test_sentences_and_bare_verbs_are_warned_of(name: str, reason: str) -> None:
    found = reads_badly(name, "en")
    assert found is not None and reason in found


@pytest.mark.parametrize(("name", "language"), [("Bank wechseln", "de"), ("تغيير البنك", "ar"), ("تغيير البنك", "en")])
def test_names_in_other_languages_are_left_to_their_writers(name: str, language: str) -> None:
    assert reads_badly(name, language) is None


def test_file_is_named_in_the_warning(tmp_path: Path) -> None:
    folder = tmp_path / "concepts"
    folder.mkdir()
    (folder / "bank.yaml").write_text(
        "id: bank\nname: choose a bank\nmethodology: means_end_chain\nobjective: Find out.\n"
    )
    found = [str(problem) for problem in Library(PipelineSettings(), config_dir=tmp_path).cautions()]
    assert any("bank.yaml" in problem and "choose" in problem for problem in found), found
