"""From journal records to rows, with records that real turns wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from pipeline.calls import LLMCall
from pipeline.state import Consent, InterviewState
from server.hot.journal import START
from server.hot.packing import pack
from server.hot.redis import HotStore
from server.store.apply import Applier
from server.store.engine import Database
from server.store.errors import RecordRefused, StalePosition
from server.store.grouped import GroupedApplier
from server.store.repository import Repository
from server.store.tokens import TokenEntry
from tests.support.interview import NOW, concepts
from tests.support.redis_interview import HotInterview
from tests.support.redis_rows import all_rows, assert_projected, journal_of


@pytest.fixture(params=[Applier, GroupedApplier])
def applier(database: Database, request: pytest.FixtureRequest) -> Applier:
    made: Applier = request.param(database)
    return made


@pytest.fixture
async def talk(hot: HotStore) -> HotInterview:
    interview = HotInterview(hot, "s1")
    await interview.begin()
    await interview.say_all(3)
    return interview


async def test_position_begins_at_the_start(applier: Applier) -> None:
    assert await applier.position(3) == START
    assert await applier.position(3) == START


async def test_records_become_the_rows_of_the_last_state(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    records = await journal_of(hot, "s1")
    await applier.position(0)
    await applier.apply(0, START, records)
    assert await applier.position(0) == records[-1].id
    await assert_projected(database, talk.interview.state)
    rows = await all_rows(database)
    assert [row["turn_number"] for row in rows["scoring_history"]] == [1, 2, 3]
    assert [row["status"] for row in rows["answers"]] == ["committed"] * 3
    assert [row["payload"] for row in rows["answers"]] == [
        f"I like feature {n} because of effect {n}".encode() for n in (1, 2, 3)
    ]


async def test_records_one_by_one_give_the_same_rows(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    position = await applier.position(0)
    for record in await journal_of(hot, "s1"):
        await applier.apply(0, position, [record])
        position = record.id
        if record.state is not None:
            await assert_projected(database, InterviewState.load(record.state))


async def test_records_applied_again_change_nothing(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    records = await journal_of(hot, "s1")
    await applier.position(0)
    await applier.apply(0, START, records)
    before = await all_rows(database)
    async with database.write() as connection:
        await connection.execute(text("UPDATE journal_position SET last_id = '0-0'"))
    await applier.apply(0, START, records)
    assert await all_rows(database) == before


async def test_turn_is_stored_with_signals_and_decomposition(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    await applier.position(0)
    await applier.apply(0, START, await journal_of(hot, "s1"))
    record = talk.interview.last.record
    assert record is not None
    assert record.signals is not None
    last = (await Repository(database).scores("s1"))[-1]
    assert last["strategy"] == record.strategy
    assert last["signals"] == record.signals.model_dump(mode="json")
    assert last["candidates"] == [candidate.model_dump(mode="json") for candidate in record.candidates]


async def test_stale_writer_rolls_back(hot: HotStore, talk: HotInterview, applier: Applier, database: Database) -> None:
    records = await journal_of(hot, "s1")
    await applier.position(0)
    await applier.apply(0, START, records)
    before = await all_rows(database)
    with pytest.raises(StalePosition):
        await applier.apply(0, START, records[:2])
    assert await all_rows(database) == before


class Unguarded(Applier):
    """Writes wherever the position is."""

    async def claim(self, connection: AsyncConnection, partition: int, expected: str) -> None:
        return


async def test_stale_writer_without_the_guard_takes_the_session_back(
    hot: HotStore, talk: HotInterview, database: Database
) -> None:
    """Shows that the guard is what keeps the rows right."""
    unguarded = Unguarded(database)
    records = await journal_of(hot, "s1")
    await unguarded.position(0)
    await unguarded.apply(0, START, records)
    await unguarded.apply(0, START, records[:2])
    with pytest.raises(AssertionError):
        await assert_projected(database, talk.interview.state)


async def test_gap_is_closed_by_the_next_state(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    """A commit in the middle is buried; its rows come with the next one, its answer is known as committed."""
    records = await journal_of(hot, "s1")
    commits = [record for record in records if record.kind == "commit"]
    lost = commits[-2]
    position = await applier.position(0)
    for record in records:
        if record is lost:
            await applier.bury(0, position, record, "unreadable")
        else:
            await applier.apply(0, position, [record])
        position = record.id
    await assert_projected(database, talk.interview.state)
    repository = Repository(database)
    stored = await repository.stored_session("s1")
    assert stored is not None
    assert stored.pending is None
    assert [receipt.turn_key for receipt in stored.receipts] == ["key-1", "key-2", "key-3"]
    assert stored.receipts[1].receipt == lost.receipt
    assert await repository.dead_letter_count() == 1
    [dead] = (await all_rows(database))["journal_dead"]
    assert (dead["id"], dead["error"]) == (lost.id, "unreadable")


async def test_rows_that_left_the_state_are_removed(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    state = talk.interview.state
    smaller = state.model_copy(
        update={"rev": state.rev + 1, "edges": (), "nodes": state.nodes[1:], "mappings": (), "canonical_edges": ()}
    )
    await hot.commit(
        "s1", owner="anna", rev=state.rev, turn_key="c", state=smaller.dump(), keep_pending=True, record=b"{}"
    )
    await applier.position(0)
    await applier.apply(0, START, await journal_of(hot, "s1"))
    await assert_projected(database, smaller)


async def test_consent_of_an_earlier_version_stays_on_record(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    for version in ("1", "2"):
        state = talk.interview.state
        consent = Consent(version=version, choices={"audio": version == "2"}, given_at=NOW)
        talk.interview.state = state.model_copy(update={"rev": state.rev + 1, "consent": consent})
        dump = talk.interview.state.dump()
        await hot.commit("s1", owner="anna", rev=state.rev, turn_key=version, state=dump, keep_pending=True)
    await applier.position(0)
    await applier.apply(0, START, await journal_of(hot, "s1"))
    consents = (await all_rows(database))["consents"]
    assert [(row["version"], row["choices"], row["given_at"]) for row in consents] == [
        ("1", {"audio": False}, NOW),
        ("2", {"audio": True}, NOW),
    ]


async def test_moderator_action_is_stored_once(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    state = talk.interview.state
    after = state.model_copy(update={"rev": state.rev + 1})
    action = {"command_id": "c1", "type": "end", "who": "mo", "at": NOW.isoformat(), "reason": "time"}
    record = json.dumps({"moderator": action}).encode()
    await hot.commit(
        "s1", owner="anna", rev=state.rev, turn_key="c1", state=after.dump(), record=record, keep_pending=True
    )
    await applier.position(0)
    await applier.apply(0, START, await journal_of(hot, "s1"))
    [row] = await Repository(database).moderator_actions("s1")
    assert (row["action"], row["moderator"], row["recorded_at"], row["details"]) == (
        "end",
        "mo",
        NOW,
        {"reason": "time"},
    )


async def test_pending_failed_and_superseded_answers_are_known(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    repository = Repository(database)
    position = await applier.position(0)

    async def apply_news() -> None:
        nonlocal position
        news = [r for r in await journal_of(hot, "s1") if r.id > position]
        await applier.apply(0, position, news)
        position = news[-1].id

    await talk.accept("a", "an answer")
    await apply_news()
    stored = await repository.stored_session("s1")
    assert stored is not None
    assert stored.pending is not None
    assert (stored.pending.turn_key, stored.pending.payload, stored.pending.failed) == ("a", b"an answer", False)
    failure = json.dumps({"failure": {"code": "llm_unavailable"}}).encode()
    await hot.fail("s1", owner="anna", turn_key="a", event={"type": "turn.failed"}, record=failure)
    await apply_news()
    stored = await repository.stored_session("s1")
    assert stored is not None
    assert stored.pending is not None
    assert stored.pending.failed
    await talk.accept("b", "another answer")
    await apply_news()
    stored = await repository.stored_session("s1")
    assert stored is not None
    assert stored.pending is not None
    assert (stored.pending.turn_key, stored.pending.attempt) == ("b", 1)
    assert [(r.turn_key, r.superseded) for r in stored.receipts][-1] == ("a", True)
    answers = (await all_rows(database))["answers"]
    assert [row["payload"] for row in answers if row["turn_key"] == "a"] == [b"an answer"]


async def test_pending_answer_given_up_by_a_command_is_superseded(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    await talk.accept("a", "an answer")
    state = talk.interview.state
    after = state.model_copy(update={"rev": state.rev + 1, "status": "completed"})
    await hot.commit("s1", owner="anna", rev=state.rev, turn_key="end", state=after.dump(), drop_pending=True)
    await applier.position(0)
    await applier.apply(0, START, await journal_of(hot, "s1"))
    stored = await Repository(database).stored_session("s1")
    assert stored is not None
    assert stored.pending is None
    assert stored.receipts[-1].superseded


def names_of_files_with(folder: Path, word: bytes) -> list[str]:
    return [path.name for path in folder.glob("askwell.db*") if word in path.read_bytes().lower()]


async def test_erase_leaves_no_row_and_no_trace_in_the_files(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database, sqlite_file: Path
) -> None:
    await talk.say("My neighbour Zebedee sings", concepts(("zebedee sings", "attribute")))
    other = HotInterview(hot, "s2")
    await other.begin()
    await Repository(database).put_token(TokenEntry("t1", "respondent", "d" * 64, "", "s1", None, NOW))
    records = await journal_of(hot, "s1")
    position = await applier.position(0)
    await applier.bury(0, position, records[0], "for the test")
    await applier.apply(0, records[0].id, records[1:])
    position = await applier.position(1)
    await applier.apply(1, position, await journal_of(hot, "s2"))
    assert '"s1"' in json.dumps(await all_rows(database), default=str)
    assert names_of_files_with(sqlite_file.parent, b"zebedee")
    await hot.erase("s1")
    [erase] = [record for record in await journal_of(hot, "s1") if record.kind == "erase"]
    await applier.apply(0, records[-1].id, [erase])
    await database.forget_deleted()
    rows = await all_rows(database)
    assert "s1" not in json.dumps(rows, default=str)
    assert [row["id"] for row in rows["sessions"]] == ["s2"]
    assert names_of_files_with(sqlite_file.parent, b"zebedee") == []


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ({"packed_state": b"zjunk"}, "ValueError"),
        ({"packed_state": b"r{}"}, "ValidationError"),
        ({"packed_state": b""}, "no state"),
        ({"packed_data": b"r{"}, "JSONDecodeError"),
        ({"packed_data": b'r{"turn":{"turn_number":1}}'}, "KeyError"),
        ({"packed_data": b"r[]"}, "AttributeError"),
        ({"packed_data": b'r{"calls":[{}]}'}, "KeyError"),
        ({"kind": "note", "packed_data": b'r{"calls":["x"]}'}, "TypeError"),
        ({"kind": "surprise"}, "unknown"),
        ({"session_id": "s9"}, "another session"),
    ],
)
async def test_record_that_makes_no_sense_is_refused_whole(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database, damage: dict[str, bytes], reason: str
) -> None:
    records = await journal_of(hot, "s1")
    damaged = replace(records[-1], **damage)  # type: ignore[arg-type]
    await applier.position(0)
    with pytest.raises(RecordRefused, match=reason):
        await applier.apply(0, START, [*records[:-1], damaged])
    assert "sessions" not in await all_rows(database)
    assert await applier.position(0) == START


async def test_refusal_does_not_repeat_what_was_said(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    state = talk.interview.state
    broken = state.model_copy(update={"edges": (state.edges[0].model_copy(update={"target_id": "nobody"}),)})
    record = replace((await journal_of(hot, "s1"))[-1], packed_state=pack(broken.dump(), compress_above=0))
    await applier.position(0)
    with pytest.raises(RecordRefused) as refused:
        await applier.apply(0, START, [record])
    assert "foreign key" in str(refused.value).lower()
    assert "feature" not in str(refused.value)


def call(number: int, **changes: object) -> LLMCall:
    values: dict[str, object] = {
        "id": f"call-{number}",
        "role": "generation",
        "task": "question",
        "provider": "openai",
        "model": "m-1",
        "input_tokens": 100 * number,
        "output_tokens": number,
        "latency_ms": 300.0,
        "first_token_ms": 120.0,
        "cost": 0.25,
        "currency": "USD",
    }
    return LLMCall.model_validate(values | changes)


def with_calls(calls: Sequence[LLMCall], **more: object) -> bytes:
    return json.dumps({**more, "calls": [entry.model_dump(mode="json") for entry in calls]}).encode()


async def numbers(database: Database, session_id: str = "s1") -> dict[str, int | None]:
    rows = await Repository(database).llm_calls(session_id)
    return {row["id"]: row["turn_number"] for row in rows}


async def step(hot: HotStore, talk: HotInterview, key: str, calls: Sequence[LLMCall]) -> None:
    """A command's commit that carries calls."""
    state = talk.interview.state
    talk.interview.state = state.model_copy(update={"rev": state.rev + 1})
    dump = talk.interview.state.dump()
    record = with_calls(calls)
    await hot.commit("s1", owner="anna", rev=state.rev, turn_key=key, state=dump, record=record, keep_pending=True)


async def test_calls_are_stored_once_with_the_turn_of_the_first_record_that_has_them(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    """A commit's, a failure's, a note's; what an unknown outcome repeats changes nothing."""
    await step(hot, talk, "c1", [call(1), call(2, outcome="failed", error="LLMTimeout", cost=None)])
    await talk.accept("a", "an answer")
    failure = with_calls([call(2), call(3, outcome="discarded")], failure={"code": "llm_unavailable"})
    await hot.fail("s1", owner="anna", turn_key="a", event={"type": "turn.failed"}, record=failure)
    await hot.note("s1", owner="anna", record=with_calls([call(3), call(4)], turn_number=3))
    records = await journal_of(hot, "s1")
    await applier.position(0)
    await applier.apply(0, START, records)
    assert await numbers(database) == {"call-1": 3, "call-2": 3, "call-3": 4, "call-4": 3}
    first, second, third, _ = await Repository(database).llm_calls("s1")
    assert second["error"] == "LLMTimeout"
    assert third["outcome"] == "discarded"
    expected = call(1).model_dump() | {"session_id": "s1", "turn_number": 3, "ordinal": 0}
    assert {name: value for name, value in first.items() if name != "recorded_at"} == expected
    [answer] = [row for row in (await all_rows(database))["answers"] if row["turn_key"] == "a"]
    assert answer["error"] == {"failure": {"code": "llm_unavailable"}}
    before = await all_rows(database)
    async with database.write() as connection:
        await connection.execute(text("UPDATE journal_position SET last_id = '0-0'"))
    await applier.apply(0, START, records)
    assert await all_rows(database) == before


async def test_calls_of_the_opening_belong_to_turn_0(hot: HotStore, applier: Applier, database: Database) -> None:
    talk = HotInterview(hot, "s1")
    await talk.begin()
    await step(hot, talk, "c1", [call(1, task="opening")])
    await applier.position(0)
    await applier.apply(0, START, await journal_of(hot, "s1"))
    assert await numbers(database) == {"call-1": 0}


async def test_calls_outlive_a_gap_and_those_of_a_buried_record_are_rescued(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    """After the gap every projected row is written anew; what was paid stays."""
    await step(hot, talk, "c1", [call(1)])
    await step(hot, talk, "c2", [call(2)])
    await step(hot, talk, "c3", [call(3)])
    records = await journal_of(hot, "s1")
    position = await applier.position(0)
    for record in records:
        if record.turn_key == "c2":
            damaged = replace(record, packed_state=b"zjunk")
            with pytest.raises(RecordRefused):
                await applier.apply(0, position, [damaged])
            await applier.bury(0, position, damaged, "unreadable")
        else:
            await applier.apply(0, position, [record])
        position = record.id
    await assert_projected(database, talk.interview.state)
    assert await numbers(database) == {"call-1": 3, "call-2": None, "call-3": 3}


async def test_session_whose_first_record_is_buried_has_the_calls_of_the_next(
    hot: HotStore, applier: Applier, database: Database
) -> None:
    """Calls need the session's row; the commit that makes it stores them too, a note before it is let go."""
    talk = HotInterview(hot, "s1")
    await talk.begin()
    await hot.note("s1", owner="anna", record=with_calls([call(1)], turn_number=0))
    await step(hot, talk, "c1", [call(2)])
    records = await journal_of(hot, "s1")
    create, opening, note, command = records
    position = await applier.position(0)
    await applier.bury(0, position, replace(create, packed_data=with_packed([call(3)])), "for the test")
    await applier.bury(0, create.id, opening, "for the test")
    await applier.apply(0, opening.id, [note])
    assert set(await all_rows(database)) == {"journal_dead", "journal_position"}
    await applier.apply(0, note.id, [command])
    assert await numbers(database) == {"call-2": 0}
    await assert_projected(database, talk.interview.state)


def with_packed(calls: Sequence[LLMCall]) -> bytes:
    return pack(with_calls(calls), compress_above=10_000)


async def test_note_after_an_erasure_brings_nothing_back(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    """Also where the note was on its way when the session was erased."""
    await step(hot, talk, "c1", [call(1)])
    await hot.note("s1", owner="anna", record=with_calls([call(2)], turn_number=3))
    records = await journal_of(hot, "s1")
    position = await applier.position(0)
    await applier.apply(0, position, records)
    assert len(await numbers(database)) == 2
    await hot.erase("s1")
    [erase] = [record for record in await journal_of(hot, "s1") if record.kind == "erase"]
    late = replace(records[-1], id=f"{erase.at_ms + 1}-0", packed_data=with_packed([call(3)]))
    await applier.apply(0, records[-1].id, [erase])
    assert "llm_calls" not in await all_rows(database)
    await applier.apply(0, erase.id, [late])
    assert set(await all_rows(database)) <= {"journal_position", "configurations"}


async def test_what_a_provider_says_keeps_no_turn_from_being_stored(
    hot: HotStore, talk: HotInterview, applier: Applier, database: Database
) -> None:
    odd = {
        "id": "odd",
        "role": "scoring",
        "task": "x" * 300,
        "provider": "nul\x00",
        "model": "\ud800" + "m" * 1000,
        "attempt": 10**12,
        "input_tokens": 10**30,
        "output_tokens": -5,
        "cached_tokens": True,
        "latency_ms": float("nan"),
        "first_token_ms": float("inf"),
        "cost": 10**400,
        "currency": "EUR",
        "a_field_of_tomorrow": {},
    }
    record = json.dumps({"calls": [odd]}).encode()
    await hot.note("s1", owner="anna", record=record)
    await applier.position(0)
    await applier.apply(0, START, await journal_of(hot, "s1"))
    [row] = await Repository(database).llm_calls("s1")
    assert (row["task"], row["provider"], row["attempt"]) == ("x" * 100, "nul", 1)
    assert row["model"].startswith("?mmm")
    assert [row[name] for name in ("input_tokens", "output_tokens", "cached_tokens", "cost")] == [None] * 4
    assert (row["latency_ms"], row["first_token_ms"]) == (0.0, None)
