"""`askwell compare` and `askwell replay` of a stored interview, as somebody would run them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sqlite3
from pathlib import Path

import pytest

from pipeline.engines.registry import ENGINES
from server.cli import run
from tests.support.whole import process


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith("ASKWELL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ASKWELL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ASKWELL_LOG_LEVEL", "error")


@pytest.fixture
def session_id(tmp_path: Path) -> str:
    """A stored interview of two answers."""

    async def interviewed() -> str:
        async with process(tmp_path) as api:
            return (await api.interview(2))[0]

    return asyncio.run(interviewed())


def _rows(data: Path) -> str:
    """A digest of everything in the store."""
    with sqlite3.connect(f"file:{data / 'askwell.db'}?mode=ro", uri=True) as store:
        return hashlib.sha256("\n".join(store.iterdump()).encode()).hexdigest()


def test_stored_interview_is_compared_and_repeated_and_the_store_stays_as_it_is(
    session_id: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(("replay", session_id))[0] == 0
    assert "made again from what was stored" in capfd.readouterr().out
    before = _rows(tmp_path / "data")
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    assert run(("compare", session_id, "--html", str(page), "--json", str(data)))[0] == 0
    said = capfd.readouterr()
    assert f"session {session_id}" in said.out
    assert "The answers were given to the questions of one interview." in said.out
    assert f"written to {page}" in said.err
    document = json.loads(data.read_text("utf-8"))
    assert [one["name"] for one in document["runs"]] == ["signal_pools (as held)", *ENGINES]
    assert [answer["given_to"] is not None for answer in document["answers"]] == [True, True]
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert _rows(tmp_path / "data") == before


def test_export_is_compared_and_repeated_as_the_session_is(
    session_id: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "session.json"
    assert run(("export", session_id, "-o", str(file)))[0] == 0
    capfd.readouterr()
    assert run(("replay", session_id))[0] == run(("replay", str(file)))[0] == 0
    one, other = capfd.readouterr().out.splitlines()[::2]
    assert one == other
    assert run(("compare", str(file), "--engine", "two_tier"))[0] == 0
    assert "2 interviews over the same answers: signal_pools (as held), two_tier" in capfd.readouterr().out


def test_changed_export_is_told_by_its_exit_code(
    session_id: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "session.json"
    assert run(("export", session_id, "-o", str(file)))[0] == 0
    document = json.loads(file.read_text("utf-8"))
    turn = next(turn for turn in document["turns"] if turn["candidates"])
    turn["candidates"][0]["final_score"] += 1
    file.write_text(json.dumps(document), encoding="utf-8")
    capfd.readouterr()
    assert run(("replay", str(file)))[0] == 1
    assert f"turn        {turn['turn_number']}" in capfd.readouterr().out


def test_answers_of_a_text_file_are_compared(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.txt"
    file.write_text("It has to be strong, or I fall asleep.\nThen I can look after my patients.\n", encoding="utf-8")
    assert run(("compare", str(file), "--concept", "coffee_mec", "--max-turns", "6"))[0] == 0
    said = capfd.readouterr().out
    assert f"3 interviews over the same answers: {', '.join(ENGINES)}" in said
    assert "“Then I can look after my patients.”" in said
    assert "because" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "unknown"), "There is no such interview"),
        (("replay", "unknown"), "There is no such interview"),
        (("compare", "nowhere/answers.txt", "--concept", "coffee_mec"), "there is no interview and no file"),
        (("replay", "nowhere/session.json"), "there is no interview and no file"),
        (("compare", "ANSWERS"), "name a concept with --concept"),
        (("compare", "ANSWERS", "--concept", "nowhere"), "There is no concept `nowhere`"),
        (("compare", "ANSWERS", "--concept", "coffee_mec", "--engine", "dice"), "There is no decision engine `dice`"),
        (("compare", "ANSWERS", "--concept", "coffee_mec", "--max-turns", "2"), "--max-turns should be from 3 to 500"),
        (("compare", "ANSWERS", "--concept", "coffee_mec", "--config", "nowhere"), "nowhere is no directory"),
        (
            ("compare", "ANSWERS", "--concept", "coffee_mec", "--html", "nowhere/c.html"),
            "there is no directory nowhere",
        ),
        (("replay", "ANSWERS"), "no complete export"),
    ],
)
def test_what_can_not_be_done_is_said(
    arguments: tuple[str, ...], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "answers.txt"
    file.write_text("It is strong.\n", encoding="utf-8")
    (tmp_path / "data").mkdir(exist_ok=True)
    code, _ = run([str(file) if one == "ANSWERS" else one for one in arguments])
    captured = capfd.readouterr()
    assert (code, captured.out) == (2, "")
    assert said in captured.err.splitlines()[-1]
    assert "Traceback" not in captured.err
