"""A turn takes the second reading of its answer once, and settles it whatever becomes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.state import Receipt
from pipeline.turn import Answer
from server.session.problems import SessionProblem
from server.session.turns import TurnHandle

RECEIPT = Receipt(turn_key="k", turn_number=1, digest="d", result={})


def handle_with(taken: list[str]) -> TurnHandle:
    def take() -> str:
        taken.append("taken")
        return "other words"

    return TurnHandle(Answer(turn_key="k", text="words"), "d", second_reading=take)


async def test_second_reading_is_taken_once() -> None:
    taken: list[str] = []
    handle = handle_with(taken)
    assert [handle.take_second_reading(), handle.take_second_reading()] == ["other words", None]
    assert taken == ["taken"]


async def test_turn_without_a_second_reading_has_none() -> None:
    assert TurnHandle(Answer(turn_key="k", text="words"), "d").take_second_reading() is None


@pytest.mark.parametrize(
    "end", [lambda handle: handle.succeed(RECEIPT), lambda handle: handle.fail(SessionProblem("internal"))]
)
async def test_turn_that_ends_before_it_is_taken_settles_it(end: Callable[[TurnHandle], None]) -> None:
    taken: list[str] = []
    handle = handle_with(taken)
    end(handle)
    end(handle)
    assert taken == ["taken"]
