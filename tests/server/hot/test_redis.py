"""Operations on hot sessions, on a real server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import AuthenticationError, OutOfMemoryError, ResponseError

from server.hot.connection import Connection, open_client
from server.hot.errors import (
    AnswerSuperseded,
    Conflict,
    HotMisconfigured,
    InboxFull,
    JournalFull,
    NotOwner,
    OutcomeUnknown,
    PartitionMismatch,
    ScriptFailed,
    SessionErased,
    SessionExists,
    SessionNotHot,
    StorageUnavailable,
    TurnInProgress,
    TurnKeyReused,
)
from server.hot.journal import START, Journal, JournalRecord
from server.hot.redis import HotStore
from server.hot.values import (
    Accepted,
    AlreadyCommitted,
    AlreadyPending,
    Committed,
    Erasure,
    HotSettings,
    Pending,
    StoredReceipt,
)
from tests.support.patience import PATIENCE_S
from tests.support.redis_guards import scripts_without
from tests.support.redis_model import KEYS, OWNERS, TEXTS, play, random_operations
from tests.support.redis_store import connect_store

STARTED = {"type": "turn.started", "turn_number": 1}


async def accept(hot: HotStore, key: str = "k1", text: str = "tea", **changes: Any) -> Any:
    arguments: dict[str, Any] = {
        "owner": "anna",
        "rev": 0,
        "turn_key": key,
        "payload": text.encode(),
        "digest": text,
        "turn_number": 1,
        "event": {**STARTED, "turn_key": key},
    }
    return await hot.accept("s1", **(arguments | changes))


async def commit(hot: HotStore, key: str = "k1", **changes: Any) -> Committed:
    arguments: dict[str, Any] = {
        "owner": "anna",
        "rev": 0,
        "turn_key": key,
        "state": b"after",
        "events": [{"type": "question.completed"}, {"type": "turn.completed"}],
        "receipt": b'{"turn_number":1}',
    }
    return await hot.commit("s1", **(arguments | changes))


async def fail(hot: HotStore, key: str = "k1", owner: str = "anna") -> None:
    await hot.fail("s1", owner=owner, turn_key=key, event={"type": "turn.failed", "turn_key": key})


@pytest.fixture
async def session(hot: HotStore) -> HotStore:
    await hot.create("s1", state=b"before", events=[{"type": "session.state", "state": "created"}])
    await hot.claim("s1", "anna")
    return hot


async def test_create_again_is_refused(session: HotStore) -> None:
    with pytest.raises(SessionExists):
        await session.create("s1", state=b"other")
    assert (await session.read("s1")).state == b"before"


async def test_claim_of_unknown_session_is_not_hot(hot: HotStore) -> None:
    with pytest.raises(SessionNotHot):
        await hot.claim("nobody", "anna")
    with pytest.raises(SessionNotHot):
        await hot.claim("no {such} id", "anna")


async def test_claim_by_another_takes_the_session_over(session: HotStore) -> None:
    taken = await session.claim("s1", "bert")
    assert (taken.owner, taken.state, taken.last_event_id) == ("bert", b"before", 1)
    assert await session.owner_of("s1") == "bert"
    with pytest.raises(NotOwner):
        await accept(session)
    with pytest.raises(NotOwner):
        await commit(session, keep_pending=True)


async def test_accept_stores_answer_and_event(session: HotStore) -> None:
    done = await accept(session)
    assert isinstance(done, Accepted)
    assert (done.attempt, done.event_id, done.superseded) == (1, 2, None)
    assert (await session.read("s1")).pending == Pending("k1", b"tea", "tea", 1, False, 1)
    [event] = await session.events_after("s1", 1)
    assert event.data == {"id": 2, "attempt": 1, "type": "turn.started", "turn_number": 1, "turn_key": "k1"}


async def test_accept_tells_first_what_comes_before_the_turn(session: HotStore) -> None:
    done = await accept(session, first=[{"type": "transcript.final", "text": "tea"}, {"type": "more"}])
    assert (done.first_event_id, done.event_id) == (2, 4)
    events = await session.events_after("s1", 1)
    assert [(event.id, event.data["type"]) for event in events] == [
        (2, "transcript.final"),
        (3, "more"),
        (4, "turn.started"),
    ]
    assert "attempt" not in events[0].data


async def test_accept_of_another_attempt_does_not_tell_it_again(session: HotStore) -> None:
    first = [{"type": "transcript.final", "text": "tea"}]
    await accept(session, first=first)
    await fail(session)
    done = await accept(session, first=first)
    assert (done.attempt, done.first_event_id, done.event_id) == (2, 5, 5)


async def test_accept_same_key_again_changes_nothing(session: HotStore) -> None:
    await accept(session)
    assert await accept(session) == AlreadyPending(attempt=1)
    assert await session.last_event_id("s1") == 2


async def test_accept_rerun_counts_an_attempt(session: HotStore) -> None:
    await accept(session)
    await session.claim("s1", "bert")
    again = await accept(session, owner="bert", rerun=True)
    assert (again.attempt, again.event_id) == (2, 3)


async def test_accept_same_key_other_text_is_refused(session: HotStore) -> None:
    await accept(session)
    with pytest.raises(TurnKeyReused):
        await accept(session, text="coffee")
    await commit(session)
    with pytest.raises(TurnKeyReused):
        await accept(session, text="coffee", rev=1)


async def test_accept_other_key_while_running_is_refused(session: HotStore) -> None:
    await accept(session)
    with pytest.raises(TurnInProgress):
        await accept(session, key="k2")


async def test_accept_after_failure_supersedes_and_keeps_on_record(session: HotStore) -> None:
    await accept(session)
    await fail(session)
    done = await accept(session, key="k2", text="coffee")
    assert done.superseded == "k1"
    with pytest.raises(AnswerSuperseded):
        await accept(session, key="k1")
    with pytest.raises(Conflict):
        await commit(session, key="k1")
    journal = Journal(session.connection)
    records = await journal.read(session.keys.partition_of("s1"), START)
    assert [(r.kind, r.turn_key, r.payload) for r in records[1:]] == [
        ("accept", "k1", b"tea"),
        ("fail", "k1", b"tea"),
        ("superseded", "k1", b"tea"),
        ("accept", "k2", b"coffee"),
    ]


async def test_accept_same_key_after_failure_is_another_attempt(session: HotStore) -> None:
    await accept(session)
    await fail(session)
    assert (await accept(session)).attempt == 2
    assert (await commit(session)).rev == 1


async def test_accept_of_committed_turn_returns_its_receipt(session: HotStore) -> None:
    await accept(session)
    await commit(session)
    again = await accept(session, rev=1)
    assert again == AlreadyCommitted(receipt=b'{"turn_number":1}', rev=1, event_ids=range(3, 5))
    assert await session.last_event_id("s1") == 4


async def test_accept_with_full_journal_is_refused(hot: HotStore, embedded_url: str) -> None:
    small = connect_store(embedded_url, HotSettings(journal_limit=1))
    await small.create("s1", state=b"")
    await small.claim("s1", "anna")
    with pytest.raises(JournalFull):
        await accept(small)
    await small.close()


async def test_commit_writes_state_events_journal_together(session: HotStore) -> None:
    await accept(session)
    done = await commit(session, record=b'{"turn":{}}', embeddings={"n1": b"\x00\x01"})
    assert (done.rev, done.event_ids) == (1, range(3, 5))
    now = await session.read("s1")
    assert (now.state, now.rev, now.pending) == (b"after", 1, None)
    assert await session.embeddings("s1") == {"n1": b"\x00\x01"}
    journal = Journal(session.connection)
    last = (await journal.read(session.keys.partition_of("s1"), START))[-1]
    assert (last.kind, last.rev, last.turn_key, last.state, last.data, last.receipt, last.id) == (
        "commit",
        1,
        "k1",
        b"after",
        b'{"turn":{}}',
        b'{"turn_number":1}',
        done.journal_id,
    )


async def test_commit_again_reports_the_first(session: HotStore) -> None:
    await accept(session)
    first = await commit(session)
    await session.claim("s1", "bert")
    assert await commit(session, state=b"other") == first
    assert (await session.read("s1")).state == b"after"


async def test_commit_of_another_revision_conflicts(session: HotStore) -> None:
    await accept(session)
    await commit(session, key="command", keep_pending=True)
    with pytest.raises(Conflict):
        await commit(session)
    assert (await commit(session, rev=1)).rev == 2


async def test_commit_of_command_keeps_or_drops_the_pending_answer(session: HotStore) -> None:
    await accept(session)
    await commit(session, key="c1", keep_pending=True, receipt=b"")
    assert (await session.read("s1")).pending is not None
    await commit(session, key="c2", rev=1, drop_pending=True, receipt=b"")
    assert (await session.read("s1")).pending is None
    with pytest.raises(AnswerSuperseded):
        await accept(session, rev=2)


async def test_commit_large_state_comes_back_whole(session: HotStore) -> None:
    state = bytes(range(256)) * 2_000
    await accept(session)
    await commit(session, state=state)
    assert (await session.read("s1")).state == state
    assert await session.connection.client.execute_command("STRLEN", session.keys.session("s1").state) < len(state) / 10


async def test_expiry_is_set_only_for_the_last_record(session: HotStore) -> None:
    accepted = await accept(session)
    done = await commit(session)
    assert not await session.expire_stored("s1", accepted.journal_id)
    assert await session.expire_stored("s1", done.journal_id)
    keys = session.keys.session("s1")
    for key in (keys.meta, keys.state, keys.events, keys.receipts):
        assert 0 < await session.connection.client.execute_command("PTTL", key) <= session.settings.hot_ttl_s * 1000
    await accept(session, key="k2", rev=1)
    assert await session.connection.client.execute_command("PTTL", keys.state) == -1


async def notes_of(hot: HotStore) -> list[JournalRecord]:
    records = await Journal(hot.connection).read(hot.keys.partition_of("s1"), START)
    return [record for record in records if record.kind == "note"]


async def test_note_is_journaled_and_changes_nothing(session: HotStore) -> None:
    await accept(session)
    before = await session.read("s1")
    noted = await session.note("s1", owner="anna", record=b'{"calls":[]}')
    assert await session.read("s1") == before
    [note] = await notes_of(session)
    assert (note.id, note.rev, note.data, note.turn_key, note.state) == (noted, 0, b'{"calls":[]}', "", None)
    assert (await commit(session)).rev == 1


async def test_note_of_another_than_the_owner_is_refused_unless_it_says_so(session: HotStore) -> None:
    await session.claim("s1", "bert")
    with pytest.raises(NotOwner):
        await session.note("s1", owner="anna", record=b"{}")
    assert await notes_of(session) == []
    await session.note("s1", owner=None, record=b'{"late":1}')
    assert [note.data for note in await notes_of(session)] == [b'{"late":1}']
    assert await session.owner_of("s1") == "bert"


async def test_note_of_an_unknown_session_is_not_hot(hot: HotStore) -> None:
    with pytest.raises(SessionNotHot):
        await hot.note("s1", owner=None, record=b"{}")
    assert await notes_of(hot) == []


async def test_note_keeps_the_keys_until_it_is_stored(session: HotStore) -> None:
    await accept(session)
    done = await commit(session)
    assert await session.expire_stored("s1", done.journal_id)
    noted = await session.note("s1", owner="anna", record=b"{}")
    keys = session.keys.session("s1")
    for key in (keys.meta, keys.state, keys.events, keys.receipts):
        assert await session.connection.client.execute_command("PTTL", key) == -1
    assert not await session.expire_stored("s1", done.journal_id)
    assert await session.expire_stored("s1", noted)
    assert 0 < await session.connection.client.execute_command("PTTL", keys.state) <= session.settings.hot_ttl_s * 1000


async def test_note_between_a_lost_answer_and_its_repetition_disturbs_nothing(session: HotStore) -> None:
    """The result that an operation is remembered by stays while its caller may ask again."""
    keys = session.keys.session("s1")
    await accept(session)
    remembered = await session.connection.client.execute_command("HMGET", keys.meta, "op", "result")
    await session.note("s1", owner="anna", record=b"{}")
    assert await session.connection.client.execute_command("HMGET", keys.meta, "op", "result") == remembered


@pytest.mark.parametrize("guards", [(), ("nonce",)])
async def test_note_whose_answer_was_lost_is_written_once(
    session: HotStore, embedded_url: str, guards: tuple[str, ...]
) -> None:
    """Without its guard it would be written again."""
    client = open_client(embedded_url, timeout_s=2, max_connections=4)
    lossy = LossyClient(client)
    scripts = scripts_without(*guards)
    store = HotStore(Connection(lossy, session.settings, scripts=scripts))  # type: ignore[arg-type]
    await store.note("s1", owner="anna", record=b"{}")
    assert (len(await notes_of(session)) == 1) == (not guards)
    await client.aclose()


@pytest.mark.parametrize("guard", ["owner", "tombstone"])
async def test_note_without_a_guard_writes_what_must_not_be(session: HotStore, embedded_url: str, guard: str) -> None:
    refused = SessionErased if guard == "tombstone" else NotOwner
    unguarded = connect_store(embedded_url, scripts=scripts_without(guard))
    if guard == "tombstone":
        await session.connection.client.execute_command(
            "SET", session.keys.session("s1").tombstone, "erasing 1-1", "PX", 1000
        )
    else:
        await session.claim("s1", "bert")
    with pytest.raises(refused):
        await session.note("s1", owner="anna", record=b"{}")
    assert await notes_of(session) == []
    await unguarded.note("s1", owner="anna", record=b"{}")
    assert len(await notes_of(session)) == 1
    await unguarded.close()


async def test_claim_renews_the_expiry(session: HotStore) -> None:
    accepted = await accept(session)
    assert await session.expire_stored("s1", accepted.journal_id)
    await session.connection.client.execute_command("EXPIRE", session.keys.session("s1").events, 5)
    await session.claim("s1", "bert")
    assert await session.connection.client.execute_command("TTL", session.keys.session("s1").events) > 1_000


async def test_restore_begins_a_new_epoch_with_known_answers(session: HotStore) -> None:
    epoch = (await session.read("s1")).epoch
    await accept(session)
    await commit(session)
    state = (await session.read("s1")).state
    await session.connection.client.execute_command("FLUSHALL")
    pending = Pending("k3", b"milk", "milk", 2, True, 2)
    receipts = [StoredReceipt("k1", "tea", 1, b"{}"), StoredReceipt("k2", "water", 1, b"", superseded=True)]
    restored = await session.restore("s1", state=state, rev=1, pending=pending, receipts=receipts)
    assert restored != epoch
    now = await session.claim("s1", "bert")
    assert (now.rev, now.epoch, now.last_event_id, now.pending) == (1, restored, 0, pending)
    assert await accept(session, owner="bert", rev=1) == AlreadyCommitted(b"{}", 1, range(1, 1))
    with pytest.raises(AnswerSuperseded):
        await accept(session, owner="bert", rev=1, key="k2", text="water")
    assert (await accept(session, owner="bert", rev=1, key="k3", text="milk")).attempt == 3
    with pytest.raises(SessionExists):
        await session.restore("s1", state=state, rev=1)


async def test_erase_leaves_a_tombstone_that_everything_respects(session: HotStore) -> None:
    await accept(session)
    await session.inbox.push("s1", b"{}")
    assert await session.erase("s1") is Erasure.ERASING
    for attempt in (
        accept(session),
        commit(session),
        session.claim("s1", "bert"),
        session.restore("s1", state=b"", rev=0),
        session.create("s1", state=b""),
        session.inbox.push("s1", b"{}"),
        session.note("s1", owner="anna", record=b"{}"),
        session.note("s1", owner=None, record=b"{}"),
    ):
        with pytest.raises(SessionErased):
            await attempt
    keys = session.keys.session("s1")
    left = {key.decode() for key in await session.connection.client.execute_command("KEYS", "*:s1:*")}
    assert left == {keys.tombstone}
    assert await session.connection.client.execute_command("TTL", keys.tombstone) > 80 * 86_400
    journal = Journal(session.connection)
    last = (await journal.read(session.keys.partition_of("s1"), START))[-1]
    assert (last.kind, last.session_id) == ("erase", "s1")
    assert await session.erase("s1") is Erasure.ERASING
    await session.confirm_erased("s1", last.id)
    assert await session.erasure("s1") is Erasure.ERASED
    assert await journal.length(session.keys.partition_of("s1")) == 3


async def test_inbox_keeps_commands_until_dropped(session: HotStore) -> None:
    assert await session.inbox.push("s1", b"pause") == "anna"
    await session.inbox.push("s1", b"pause")
    await session.inbox.push("s1", b"end")
    assert await session.inbox.read("s1") == [b"pause", b"end"]
    await session.inbox.drop("s1", b"pause")
    assert await session.inbox.read("s1") == [b"end"]


async def test_inbox_full_refuses(session: HotStore, embedded_url: str) -> None:
    small = connect_store(embedded_url, HotSettings(inbox_limit=1))
    await small.inbox.push("s1", b"1")
    with pytest.raises(InboxFull):
        await small.inbox.push("s1", b"2")
    await small.close()


async def test_wakes_tell_of_commands_and_claims(session: HotStore) -> None:
    wakes = session.inbox.wakes()
    async with asyncio.timeout(PATIENCE_S):
        assert (await anext(wakes)).kind == "resync"
        await session.inbox.push("s1", b"pause")
        await session.claim("s1", "bert")
        await session.inbox.reply("s1", "c1", b"{}")
        await session.erase("s1")
        seen = [await anext(wakes) for _ in range(4)]
    await wakes.aclose()
    assert [(wake.kind, wake.session_id, wake.owner) for wake in seen] == [
        ("inbox", "s1", "anna"),
        ("claimed", "s1", "bert"),
        ("replied", "s1", "c1"),
        ("erased", "s1", "-"),
    ]
    assert await session.inbox.reply_to("s1", "c1") == b"{}"


async def test_wakes_after_a_lost_connection_begin_with_resync(session: HotStore) -> None:
    wakes = session.inbox.wakes()
    async with asyncio.timeout(PATIENCE_S):
        assert (await anext(wakes)).kind == "resync"
        await session.connection.client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        assert (await anext(wakes)).kind == "resync"
        await session.inbox.push("s1", b"pause")
        assert (await anext(wakes)).kind == "inbox"
    await wakes.aclose()


async def test_cancelled_operations_stay_cancelled(session: HotStore) -> None:
    """A cancellation at any moment of an operation ends its task."""

    async def go_on() -> None:
        while True:
            await session.read("s1")

    for number in range(60):
        task: asyncio.Task[None]
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            task = group.create_task(go_on())
            for _ in range(number):
                await asyncio.sleep(0)
            task.cancel()
        assert task.cancelled()


async def test_prepare_with_other_partitions_is_refused(hot: HotStore, embedded_url: str) -> None:
    other = connect_store(embedded_url, partitions=8)
    with pytest.raises(PartitionMismatch, match="16 partitions"):
        await other.checks.prepare(embedded=True)
    await other.close()


async def test_prepare_with_eviction_is_refused(hot: HotStore) -> None:
    await hot.connection.client.execute_command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(HotMisconfigured, match="noeviction"):
            await hot.checks.prepare(embedded=False)
    finally:
        await hot.connection.client.execute_command("CONFIG", "SET", "maxmemory-policy", "noeviction")


async def test_prepare_external_states_what_is_not_guaranteed(hot: HotStore) -> None:
    await hot.connection.client.execute_command("CONFIG", "SET", "appendfsync", "everysec")
    try:
        caveats = " ".join((await hot.checks.prepare(embedded=False)).caveats)
    finally:
        await hot.connection.client.execute_command("CONFIG", "SET", "appendfsync", "always")
    assert "appendfsync" in caveats
    assert "WAIT" in caveats


async def test_commit_without_the_replica_asked_for_counts_it(session: HotStore, embedded_url: str) -> None:
    unconfirmed: list[str] = []
    values = HotSettings(wait_replicas=1, wait_aof=1, wait_timeout_ms=20)
    client = open_client(embedded_url, timeout_s=2, max_connections=4)
    connection = Connection(client, values, on_unconfirmed=unconfirmed.append)
    waiting = HotStore(connection)
    await accept(waiting)
    assert (await commit(waiting)).rev == 1
    assert unconfirmed == ["accept", "commit"]
    await waiting.close()


async def test_server_away_is_unknown_for_writes_unavailable_for_reads() -> None:
    settings = HotSettings(op_deadline_s=0.1, attempt_timeout_s=0.1)
    nowhere = connect_store("unix:///nonexistent/askwell.sock", settings)
    with pytest.raises(OutcomeUnknown):
        await commit(nowhere)
    with pytest.raises(StorageUnavailable) as reading:
        await nowhere.read("s1")
    assert not isinstance(reading.value, OutcomeUnknown)
    assert not await nowhere.checks.ping()
    await nowhere.close()


@pytest.mark.parametrize("then", [OutOfMemoryError("OOM"), AuthenticationError("no"), ResponseError("ERR no script")])
async def test_write_that_was_not_answered_stays_unknown_whatever_is_said_next(
    session: HotStore, then: Exception
) -> None:
    answers = [TimeoutError(), then]

    async def send() -> None:
        raise answers.pop(0)

    with pytest.raises(OutcomeUnknown):
        await session.connection.insist("commit", send, writes=True)
    answers = [then]
    with pytest.raises((StorageUnavailable, HotMisconfigured, ScriptFailed)):
        await session.connection.insist("commit", send, writes=True)


async def test_two_accepts_at_once_let_one_win(session: HotStore) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_attempt(accept(session, key=f"k{n}"))) for n in range(8)]
    results = [task.result() for task in tasks]
    assert sum(isinstance(result, Accepted) for result in results) == 1
    assert sum(isinstance(result, TurnInProgress) for result in results) == 7


async def _attempt(call: Any) -> Any:
    try:
        return await call
    except TurnInProgress as error:
        return error


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("claim", "misremember")), st.sampled_from(OWNERS)),
        st.tuples(
            st.just("accept"),
            st.sampled_from(OWNERS),
            st.sampled_from(KEYS),
            st.sampled_from(TEXTS),
            st.sampled_from(("", "rerun")),
        ),
        st.tuples(
            st.just("commit"),
            st.sampled_from(OWNERS),
            st.sampled_from(KEYS),
            st.sampled_from(("turn", "keep", "drop")),
        ),
        st.tuples(st.just("fail"), st.sampled_from(OWNERS), st.sampled_from(KEYS)),
        st.tuples(st.just("note"), st.sampled_from(OWNERS), st.sampled_from(TEXTS), st.sampled_from(("owned", ""))),
    ),
    max_size=30,
)


@given(operations=OPERATIONS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
async def test_sequences_do_what_the_model_says(hot: HotStore, operations: list[tuple[str, ...]]) -> None:
    await hot.connection.client.execute_command("FLUSHALL")
    await play(hot, "s1", operations)


@pytest.mark.parametrize("seed", range(10))
async def test_long_sequences_do_what_the_model_says(hot: HotStore, seed: int) -> None:
    await play(hot, "s1", random_operations(seed, 60))


@pytest.mark.parametrize(
    "guard", ["owner", "rev", "turn_key", "digest", "pending", "superseded", "failed", "first_attempt"]
)
async def test_sequences_without_a_guard_are_noticed(hot: HotStore, embedded_url: str, guard: str) -> None:
    mutant = connect_store(embedded_url, scripts=scripts_without(guard))
    noticed = False
    for seed in range(40):
        try:
            await play(mutant, f"s{seed}", random_operations(seed, 120))
        except AssertionError:
            noticed = True
            break
    await mutant.close()
    assert noticed


async def test_lost_answers_are_asked_again_without_writing_twice(session: HotStore) -> None:
    """Every call reaches the server, every first answer is lost on the way back."""
    lossy = HotStore(Connection(LossyClient(session.connection.client), session.settings))  # type: ignore[arg-type]
    done = await accept(lossy)
    assert isinstance(done, Accepted)
    assert (done.attempt, done.event_id) == (1, 2)
    await fail(lossy)
    again = await accept(lossy)
    assert (again.attempt, again.event_id) == (2, 4)
    assert (await commit(lossy)).event_ids == range(5, 7)
    assert await session.last_event_id("s1") == 6
    created = await lossy.create("s2", state=b"", events=[{"type": "x"}])
    assert await session.last_event_id("s2") == created.last_event_id == 1


class LossyClient:
    """Passes commands on and loses the answer to every first time it is asked the same."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._asked: set[tuple[Any, ...]] = set()

    async def execute_command(self, *command: Any) -> Any:
        reply = await self._client.execute_command(*command)
        if command in self._asked:
            return reply
        self._asked.add(command)
        raise TimeoutError("the answer was lost")
