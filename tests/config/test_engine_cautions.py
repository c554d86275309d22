"""What `check-config` says of engines' files beside the methodologies and concepts they are used with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from config.checking import check_config

FOLDERS = {"two_tier": "engines", "arbitration": "engines", "coffee_mec": "concepts"}


def reported(folder: Path, name: str, *changes: tuple[str, str]) -> list[str]:
    """The cautions where a shipped file is changed in these places."""
    text = (files("config") / FOLDERS[name] / f"{name}.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / FOLDERS[name]).mkdir(exist_ok=True)
    (folder / FOLDERS[name] / f"{name}.yaml").write_text(text, encoding="utf-8")
    found = check_config(folder)
    assert found.ok, found.problems
    return [str(caution) for caution in found.cautions]


def test_files_that_come_along_give_no_cause_for_caution() -> None:
    assert check_config().cautions == ()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("two_tier", "wordings_of: [explore]", "wordings_of: [explor]"),
        ("arbitration", "wordings_of: [explore]", "wordings_of: [explor]"),
    ],
)
def test_strategy_that_no_methodology_has_lends_no_questions(tmp_path: Path, name: str, old: str, new: str) -> None:
    (caution,) = reported(tmp_path, name, (old, new))
    assert "no methodology has a strategy explor; did you mean" in caution
    line = int(caution.split(":")[1])
    text = (tmp_path / "engines" / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    assert new in text[line - 1]


def test_concept_with_too_few_turns_for_a_phase_is_told(tmp_path: Path) -> None:
    short = ("max_turns: 17", "max_turns: 6\nengine: two_tier")
    (caution,) = reported(tmp_path, "coffee_mec", short)
    assert "6 turns are too few for the phase focused of `two_tier`" in caution


def test_concept_with_enough_turns_is_not(tmp_path: Path) -> None:
    assert reported(tmp_path, "coffee_mec", ("max_turns: 17", "max_turns: 7\nengine: two_tier")) == []
