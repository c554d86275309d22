"""What a watcher is sent of a turn: enough to have the same graphs as a fresh snapshot, and the same sums."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from pipeline.engines.base import ScoredCandidate, total
from pipeline.state import InterviewState
from server.protocol.outbound import AudioAck, Notice, QuestionDelta
from server.protocol.watched import GraphDelta, Scores, Signals
from server.watch import frames
from server.watch.graphs import canonical_view, surface_view
from tests.support.interview import Interview, OwnSlots, concepts, configuration

ANSWERS: dict[str, Any] = {
    "one": concepts(("taste", "attribute"), ("calm", "consequence"), links=(("taste", "calm"),)),
    "two": concepts(("taste", "attribute"), ("aroma", "attribute")),
    "three": concepts(("bitter", "attribute"), links=(("bitter", "taste"),), kind="revises"),
    "four": concepts(("focus", "consequence"), ("pride", "value"), links=(("focus", "pride"), ("aroma", "focus"))),
    "five": None,
}


async def states(interview: Interview) -> list[InterviewState]:
    """The states of an interview, after the opening and after each answer."""
    found = [(await interview.open()).state]
    for text, extraction in ANSWERS.items():
        await (interview.say(text, extraction) if extraction is not None else interview.say(text))
        found.append(interview.state)
    return found


def by_id(rows: Any) -> dict[str, Any]:
    """Rows by their ids."""
    return {row["id"]: row for row in rows}


async def test_deltas_after_each_other_lead_to_what_a_snapshot_shows() -> None:
    interview = Interview(slots=OwnSlots({"aroma": "senses", "taste": "senses"}))
    known = await states(interview)
    pinned = configuration()
    first = surface_view(known[0], pinned)
    nodes, edges = by_id(first["nodes"]), by_id(first["edges"])
    slots, links = by_id(canonical_view(known[0])["slots"]), by_id(canonical_view(known[0])["edges"])
    for before, after in pairwise(known):
        delta: GraphDelta = frames.of_graphs(before, after, pinned)
        assert not {row["id"] for row in delta.nodes_added} & set(nodes), "what is added was not there"
        assert {row["id"] for row in delta.nodes_changed} <= set(nodes), "what is changed was there"
        nodes |= by_id([*delta.nodes_added, *delta.nodes_changed])
        edges |= by_id([*delta.edges_added, *delta.edges_changed])
        slots |= by_id(delta.slots)
        links |= by_id(delta.canonical_edges)
        for gone, rows in (
            (delta.slots_removed, slots),
            (delta.edges_removed, edges),
            (delta.canonical_edges_removed, links),
        ):
            for name in gone:
                del rows[name]
        view, canonical = surface_view(after, pinned), canonical_view(after)
        assert nodes == by_id(view["nodes"])
        assert edges == by_id(view["edges"])
        assert slots == by_id(canonical["slots"])
        assert links == by_id(canonical["edges"])
    assert nodes
    assert edges
    assert slots
    assert any(node["focus_count"] for node in nodes.values())


async def test_delta_names_what_was_said_again_and_what_is_replaced() -> None:
    known = await states(Interview())
    pinned = configuration()
    again = frames.of_graphs(known[1], known[2], pinned)
    [taste] = [node.id for node in known[2].nodes if node.label == "taste"]
    assert taste in again.mentions
    replaced = frames.of_graphs(known[2], known[3], pinned)
    assert replaced.superseded == (taste,)
    nothing = frames.of_graphs(known[4], known[4], pinned)
    assert not (nothing.nodes_added or nothing.nodes_changed or nothing.edges_added or nothing.slots or nothing.focus)


async def test_scores_and_signals_are_those_of_the_record() -> None:
    interview = Interview()
    outcome = await interview.say("one", ANSWERS["one"])
    assert outcome.record is not None
    found = frames.of_record(outcome.state, outcome.record, 1_700_000_000_000)
    [scores] = [frame for frame in found if isinstance(frame, Scores)]
    [signals] = [frame for frame in found if isinstance(frame, Signals)]
    assert scores.candidate_count == outcome.record.candidate_count
    for candidate in scores.candidates:
        made = total(ScoredCandidate.model_validate(candidate).terms)
        assert made is not None and abs(made - candidate["final_score"]) < 1e-9
    assert [candidate["selected"] for candidate in scores.candidates].count(True) == 1
    assert {known.label for known in signals.nodes.values()} == {"taste", "calm"}
    assert "2023-11-14T22:13:20+00:00" in str(found)


def test_what_is_the_respondents_alone_is_not_passed_on() -> None:
    assert frames.of_message("s", AudioAck(seq=1)) is None
    assert frames.of_message("s", Notice.of("still_thinking")) is None
    assert frames.of_message("s", QuestionDelta(turn_number=1, attempt=1, text="a")) is not None
    assert frames.of_event("s", {"type": "turn.completed", "turn_number": 1}) is None


async def test_second_readings_that_are_new_or_gone_are_told_once() -> None:
    interview = Interview()
    await interview.open()
    await interview.say("it is warm")
    before = interview.state
    said = before.last_answer()
    assert said is not None
    heard = said.model_copy(update={"spoken": True})
    before = before.model_copy(update={"utterances": tuple(heard if u is said else u for u in before.utterances)})
    after = before.with_second_reading("it is worn")
    assert [(f.turn_number, f.text) for f in frames.of_second_readings(before, after)] == [(1, "it is worn")]
    assert frames.of_second_readings(after, after) == []
    assert [(f.turn_number, f.text) for f in frames.of_second_readings(after, before)] == [(1, None)]


async def test_typed_answer_gets_no_second_reading() -> None:
    interview = Interview()
    await interview.open()
    await interview.say("it is warm")
    assert interview.state.with_second_reading("it is worn") is interview.state
