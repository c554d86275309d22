"""States as rows, without a database."""

from __future__ import annotations

import pytest
from sqlalchemy import Table

from pipeline.contracts import TurnRecord
from pipeline.graph.canonical import CanonicalEdge, CanonicalSlot, SlotMapping
from pipeline.graph.surface import KGEdge, KGNode, SchemaTension
from pipeline.records import Record
from pipeline.state import Consent, InterviewState, Utterance
from server.store.rows import PROJECTED, changes
from server.store.tables import (
    CANONICAL_EDGES,
    CONSENTS,
    EDGES,
    MAPPINGS,
    NODES,
    SCORING,
    SESSIONS,
    SLOTS,
    TENSIONS,
    UTTERANCES,
)
from tests.support.interview import Interview, concepts, new_state

ONLY_IN_SNAPSHOT = {"version", "resume_status", "directives", "commands", "receipts"}
ELSEWHERE = {
    InterviewState: {
        *("session_id", "status", "status_reason", "consent", "tracker"),
        *("utterances", "nodes", "edges", "tensions", "slots", "mappings", "canonical_edges"),
        *ONLY_IN_SNAPSHOT,
    },
    SchemaTension: {"turn"},
    TurnRecord: {"signals"},
}


@pytest.mark.parametrize(
    ("record", "table"),
    [
        (InterviewState, SESSIONS),
        (Utterance, UTTERANCES),
        (KGNode, NODES),
        (KGEdge, EDGES),
        (SchemaTension, TENSIONS),
        (CanonicalSlot, SLOTS),
        (SlotMapping, MAPPINGS),
        (CanonicalEdge, CANONICAL_EDGES),
        (Consent, CONSENTS),
        (TurnRecord, SCORING),
    ],
)
def test_every_field_has_a_column(record: type[Record], table: Table) -> None:
    assert set(record.model_fields) - set(table.columns.keys()) == ELSEWHERE.get(record, set())


def test_changes_without_a_change_are_none() -> None:
    state = new_state()
    assert changes(state, state) == []


def test_changes_from_nothing_are_the_whole_state() -> None:
    assert [change.table.name for change in changes(None, new_state())] == ["sessions"]


async def test_changes_of_a_turn_are_what_the_turn_changed() -> None:
    interview = Interview()
    await interview.say("one", concepts(("a", "attribute"), ("b", "consequence"), links=[("a", "b")]))
    before = interview.state
    await interview.say("two", concepts(("c", "attribute")))
    found = {change.table.name: change for change in changes(before, interview.state)}
    assert [row["label"] for row in found["kg_nodes"].upserts] == ["c"]
    assert [row["text"] for row in found["utterances"].upserts] == ["two", interview.state.utterances[-1].text]
    assert "kg_edges" not in found
    order = [table.name for table in PROJECTED]
    assert list(found) == sorted(found, key=order.index)


async def test_changes_back_are_removals() -> None:
    interview = Interview()
    await interview.open()
    before = interview.state
    await interview.say("one", concepts(("a", "attribute")))
    found = {change.table.name: change for change in changes(interview.state, before)}
    assert len(found["kg_nodes"].removals) == 1
    assert len(found["utterances"].removals) == 2
    assert found["kg_nodes"].upserts == []
