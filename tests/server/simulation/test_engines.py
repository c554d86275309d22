"""Whole offline interviews on the concepts that come along, with every decision engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise

import pytest

from config.settings import load
from pipeline.engines.registry import ENGINES
from server.simulation.running import Job, Room

PERSONAS = ("night_nurse", "allotment_cook", "broken_boiler")
"""One for each methodology."""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("ASKWELL_"):
                patch.delenv(name)
        patch.setenv("ASKWELL_DATA", str(tmp_path_factory.mktemp("data")))
        found = Room(load().settings)
    yield found
    found.close()


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("engine", ENGINES)
def test_interview_on_a_shipped_concept_ends_by_itself_and_learns_something(
    room: Room, engine: str, persona: str
) -> None:
    result = room.hold(Job(persona, 1, engine=engine))
    assert not result.score.broken_off
    assert result.score.turns >= 5
    assert result.score.told >= 4
    asked = [line["question"] for line in result.transcript]
    assert all(one != following for one, following in pairwise(asked))
    assert all("{" not in question and "  " not in question for question in asked)
