"""Pieces of speech that are too short to judge: they say nothing about how much somebody has to say."""

from __future__ import annotations

import pytest

from tests.support.interview import FixedRater, Interview, concepts

SHORT, LONG = 1499, 1500


async def spoken(speech_ms: int | None, turns: int = 8) -> Interview:
    """An interview of one turn that brings something, and answers that bring nothing after that."""
    interview = Interview(rater=FixedRater(depth=1))
    await interview.say("I like the taste of it", concepts(("taste", "attribute")), speech_ms=4000)
    for turn in range(turns):
        if interview.state.question is None or interview.state.question.kind == "closing_question":
            break
        await interview.say(f"hm {turn}", concepts(), speech_ms=speech_ms)
    return interview


async def test_fragments_in_a_row_do_not_end_an_interview() -> None:
    interview = await spoken(SHORT)
    state = interview.state
    assert state.turn_count == 9 and state.question is not None and state.question.kind == "question"
    metrics = state.saturation
    assert (metrics.consecutive_low_info, metrics.consecutive_shallow, metrics.consecutive_depth_plateau) == (0, 0, 0)
    assert not metrics.is_saturated


@pytest.mark.parametrize("speech_ms", [LONG, None])
async def test_the_same_answers_do_if_they_are_longer_or_typed(speech_ms: int | None) -> None:
    interview = await spoken(speech_ms)
    assert interview.state.turn_count < 9
    assert interview.state.question is None or interview.state.question.kind == "closing_question"


async def test_fragments_are_no_depths_and_let_no_node_stagnate() -> None:
    state = (await spoken(SHORT)).state
    assert len(state.depths) == 1, "only that of the answer of four seconds"
    assert all(len(node.response_depths) <= 1 for node in state.tracker.states)
    assert max(node.turns_since_last_yield for node in state.tracker.states) <= 1


async def test_fragment_that_brings_something_counts_as_that() -> None:
    interview = Interview(rater=FixedRater(depth=1))
    await interview.say("hm", concepts(), speech_ms=4000)
    assert interview.state.saturation.consecutive_low_info == 1
    await interview.say("the taste", concepts(("taste", "attribute")), speech_ms=SHORT)
    assert interview.state.saturation.consecutive_low_info == 0
    assert {node.label for node in interview.state.nodes} == {"taste"}
