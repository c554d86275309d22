"""Finished interviews go from a kiosk to another server: the same there, once, whatever is wrong in between."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event, text

from config.kiosk import KioskSettings
from server.store.copies import COPIED
from server.sync import SyncError
from server.sync.client import Central, central
from server.sync.send import Report, send_all
from server.sync.service import Sync
from server.sync.sources import FileSource, exported
from tests.support.patience import PATIENCE_S
from tests.support.syncing import NOON, Pair, device, full_interview, no_pause, pair
from tests.support.whole import BASE, bearer, eventually


async def rows_of(pair: Pair, session_id: str) -> tuple[list[Any], list[Any]]:
    """All rows of a session on both sides, but for when its configuration was saved."""

    def same(rows: list[tuple[str, dict[str, Any]]]) -> list[Any]:
        return [
            (name, {k: v for k, v in row.items() if name != "configurations" or k != "created_at"})
            for name, row in rows
        ]

    return same(await pair.kiosk.parts.copies.rows(session_id)), same(await pair.centre.parts.copies.rows(session_id))


async def count(server: Any, table: str) -> int:
    """How many rows there are."""
    async with server.storage.database.read() as connection:
        return int((await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one())


async def test_copy_can_not_be_told_from_the_interview(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk, respondent_ref="R-17")
        report = await both.send(chunk_bytes=5000)
        assert (report.sent, report.erased, report.not_taken, report.clock_off_s) == (1, 0, {}, None)
        mine, theirs = await both.exports(session_id)
        assert mine.status_code == theirs.status_code == 200
        assert mine.content == theirs.content
        assert "Listen: “ü”" in theirs.text
        here, there = await rows_of(both, session_id)
        assert here == there
        present = {name for name, _ in there}
        assert present == {table.name for table in COPIED} - {"consents", "schema_tensions"}
        for name in ("graph", "canonical-graph", "scores", "transcript", "usage"):
            path = f"/api/sessions/{session_id}/{name}"
            one = await both.kiosk.call("GET", path, headers=both.kiosk.moderator)
            other = await both.centre.call("GET", path, headers=both.centre.moderator)
            assert one.content == other.content, name
        files = [
            [(path.name, path.read_bytes()) for path in server.storage.recorder.paths(session_id)]
            for server in (both.kiosk, both.centre)
        ]
        assert len(files[0]) == 2
        assert files[0] == files[1]
        assert both.told[-1].sent == both.told[-1].size > 10_000
        assert [progress.sent for progress in both.told] == sorted(progress.sent for progress in both.told)


async def test_consent_goes_along(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id, headers = await both.kiosk.begin("tea", max_turns=3)
        body = {"consent": {"version": "3", "choices": {"agreed": True}}}
        await both.kiosk.call("POST", f"/api/sessions/{session_id}/start", json=body, headers=headers)
        for number in range(3):
            assert (await both.kiosk.turn(session_id, headers, f"Answer {number}")).status_code == 200
        assert await both.kiosk.storage.writer.drain(PATIENCE_S)
        await both.send()
        here, there = await rows_of(both, session_id)
        assert here == there
        assert "consents" in {name for name, _ in there}


async def test_sent_again_it_is_there_once_and_unchanged(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        await both.send()
        before = await both.centre.parts.copies.received(session_id)
        assert (await both.send()).sent == 0
        async with both.kiosk.storage.database.write() as connection:
            await connection.execute(text("DELETE FROM sync_sent"))
        assert (await both.send()).sent == 1
        assert await both.centre.parts.copies.received(session_id) == before
        assert await count(both.centre, "sessions") == 1
        assert await count(both.centre, "sync_uploads") == await count(both.centre, "sync_chunks") == 0


async def test_what_was_added_later_is_sent_as_well(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        await both.send()
        async with both.kiosk.storage.database.write() as connection:
            await connection.execute(text("UPDATE llm_calls SET id = 'late' WHERE id = 'call-1'"))
            statement = "INSERT INTO llm_calls SELECT session_id, 'later', turn_number, ordinal, role, task, provider, "
            rest = "model, attempt, outcome, error, input_tokens, output_tokens, cached_tokens, latency_ms, "
            end = "first_token_ms, cost, currency, recorded_at FROM llm_calls WHERE id = 'late'"
            await connection.execute(text(statement + rest + end))
        assert (await both.send()).sent == 1
        here, there = await rows_of(both, session_id)
        assert here == there
        mine, theirs = await both.exports(session_id)
        assert mine.content == theirs.content


async def test_interview_that_runs_stays_where_it_is(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        await both.kiosk.interview(turns=1)
        assert (await both.send()).sent == 0
        assert await count(both.centre, "sessions") == 0


async def test_erased_here_only_once_it_is_there(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        with pytest.raises(SyncError):
            await both.send(both.central(Broken(both, after=4)), chunk_bytes=5000, erases=True)
        assert await count(both.kiosk, "sessions") == 1
        report = await both.send(erases=True)
        assert (report.sent, report.erased) == (1, 1)
        assert await both.kiosk.storage.writer.drain(PATIENCE_S)
        assert await count(both.kiosk, "sessions") == await count(both.kiosk, "utterances") == 0
        assert both.kiosk.storage.recorder.paths(session_id) == []
        _, theirs = await both.exports(session_id)
        assert theirs.status_code == 200


async def test_erased_there_it_does_not_come_back(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        await both.send()
        path = f"/api/sessions/{session_id}"
        assert (await both.centre.call("DELETE", path, headers=both.centre.moderator)).status_code == 202
        assert await both.centre.storage.writer.drain(PATIENCE_S)
        async with both.kiosk.storage.database.write() as connection:
            await connection.execute(text("DELETE FROM sync_sent"))
        report = await both.send(erases=True)
        assert (report.sent, report.erased) == (1, 1)
        assert await count(both.centre, "sessions") == await count(both.centre, "sync_uploads") == 0
        assert both.centre.storage.recorder.paths(session_id) == []


async def test_server_does_not_take_its_own_interviews_for_copies(tmp_path: Path) -> None:
    """A kiosk that was told to send to itself must not take that for a confirmation, and erase everything."""
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        token, _ = await device(both.kiosk)
        itself = httpx.ASGITransport(both.kiosk.app, client=("127.0.0.1", 6000))
        report = await both.send(both.central(itself, token=token), erases=True)
        assert report.sent == report.erased == 0
        assert "held on this server itself" in report.not_taken[session_id]
        assert await count(both.kiosk, "sessions") == 1


# Who may


async def test_moderators_token_is_refused_in_words(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        await full_interview(both.kiosk)
        with pytest.raises(SyncError, match="needs a device token; this one is a moderator's"):
            await both.send(both.central(token=both.centre.storage.moderator_token))


async def test_wrong_and_revoked_tokens_are_refused_in_words(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        await full_interview(both.kiosk)
        with pytest.raises(SyncError, match="does not know the token: it is wrong, or it was revoked"):
            await both.send(both.central(token="wrong"))
        path = f"/api/tokens/{both.device_id}"
        assert (await both.centre.call("DELETE", path, headers=both.centre.moderator)).status_code == 204
        with pytest.raises(SyncError, match="revoked"):
            await both.send()
        assert (await both.kiosk.parts.copies.counts(BASE))[0] == 1


async def test_interview_out_of_scope_stays_and_others_go(tmp_path: Path) -> None:
    async with pair(tmp_path, concepts=["coffee"]) as both:
        other, headers = await both.kiosk.begin("tea", max_turns=3)
        consent = {"consent": {"version": "3", "choices": {}}}
        await both.kiosk.call("POST", f"/api/sessions/{other}/start", json=consent, headers=headers)
        for number in range(3):
            await both.kiosk.turn(other, headers, f"Answer {number}")
        mine = await full_interview(both.kiosk)
        report = await both.send()
        assert report.sent == 1
        assert list(report.not_taken) == [other]
        assert "may not send interviews on the concept `tea`" in report.not_taken[other]
        assert (await both.centre.parts.copies.received(mine)) is not None
        lie = await both.centre.call(
            "POST",
            "/api/sync/sessions",
            json={"session_id": other, "concept_id": "coffee", "rev": 1, "digest": "0" * 64, "size": 3, "format": 1},
            headers=bearer(both.token),
        )
        assert lie.json()["status"] == "wanted"


async def test_concept_that_was_told_wrong_is_found_out(tmp_path: Path) -> None:
    """The scope counts for what is inside, not for what the offer says."""
    async with pair(tmp_path, concepts=["tea"]) as both:
        session_id = await full_interview(both.kiosk)
        source = both.kiosk.parts.sync.source(None)
        [unsent] = await source.waiting()
        async with source.opened(unsent) as opened:
            assert opened is not None
            content = opened.file.read().replace(b'"concept_id":"coffee"', b'"concept_id":"tea"', 1)
        digest = hashlib.sha256(content).hexdigest()
        mine = bearer(both.token)
        offer = {"session_id": session_id, "concept_id": "tea", "rev": unsent.rev, "digest": digest, "format": 1}
        path = "/api/sync/sessions"
        begun = await both.centre.call("POST", path, json={**offer, "size": len(content)}, headers=mine)
        assert begun.json()["status"] == "wanted"
        sent = await both.centre.call(
            "POST", f"{path}/{session_id}/chunks?digest={digest}&offset=0", content=content, headers=mine
        )
        assert sent.json() == {"offset": len(content)}
        ended = await both.centre.call("POST", f"{path}/{session_id}/finish", json={"digest": digest}, headers=mine)
        assert ended.status_code == 422
        assert "concept is told in two ways" in ended.json()["detail"]
        assert await count(both.centre, "sessions") == await count(both.centre, "sync_chunks") == 0


# What is wrong in between


class Broken(httpx.AsyncBaseTransport):
    """A line that breaks at one call: before the server hears of it, or before its answer is back."""

    def __init__(self, both: Pair, after: int, *, heard: bool = False) -> None:
        self._inner = httpx.ASGITransport(both.centre.app, client=("127.0.0.1", 6000))
        self._left = after
        self._heard = heard

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._left -= 1
        if self._left > 0:
            return await self._inner.handle_async_request(request)
        if self._heard and self._left == 0:
            response = await self._inner.handle_async_request(request)
            await response.aread()
        raise httpx.ReadError("the line broke")


class LineBroke(Exception):
    """What breaks on purpose did."""


async def _sent_over(both: Pair, line: Central, chunk: int) -> Report:
    try:
        return await both.send(line, chunk_bytes=chunk)
    except SyncError as error:
        if not error.retryable or "can't be reached: the line broke" not in str(error):
            raise
        raise LineBroke from error


async def _after_breaks(both: Pair, session_id: str, breaks: list[tuple[int, bool]], chunk: int) -> None:
    for server, table in ((both.centre, "sessions"), (both.centre, "sync_received"), (both.kiosk, "sync_sent")):
        async with server.storage.database.write() as connection:
            await connection.execute(text(f"DELETE FROM {table}"))
    sent = 0
    for after, heard in breaks:
        line = both.central(Broken(both, after, heard=heard), attempts=1)
        with suppress(LineBroke):
            sent += (await _sent_over(both, line, chunk)).sent
    sent += (await both.send(chunk_bytes=chunk)).sent
    assert sent == 1
    assert await count(both.centre, "sessions") == 1
    mine, theirs = await both.exports(session_id)
    assert mine.content == theirs.content
    assert await count(both.centre, "sync_uploads") == await count(both.centre, "sync_chunks") == 0


def test_line_that_breaks_anywhere_any_number_of_times_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        both = runner.run(stack.enter_async_context(pair(tmp_path)))
        session_id = runner.run(full_interview(both.kiosk))

        @settings(max_examples=12, deadline=None)
        @given(
            breaks=st.lists(st.tuples(st.integers(1, 12), st.booleans()), max_size=6), chunk=st.integers(4000, 60_000)
        )
        def any_breaks(breaks: list[tuple[int, bool]], chunk: int) -> None:
            runner.run(_after_breaks(both, session_id, breaks, chunk))

        any_breaks()
        runner.run(stack.aclose())


async def test_it_goes_on_from_where_the_line_broke(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        await full_interview(both.kiosk)
        with pytest.raises(SyncError):
            await both.send(both.central(Broken(both, 6), attempts=1), chunk_bytes=5000)
        both.told.clear()
        await both.send(chunk_bytes=5000)
        assert both.told[0].sent == 15_000


async def test_call_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    class Hiccup(Broken):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            self._left -= 1
            if self._left % 3 == 0:
                return httpx.Response(503, json={"code": "storage_unavailable", "detail": "Later."})
            return await self._inner.handle_async_request(request)

    async with pair(tmp_path) as both:
        await full_interview(both.kiosk)
        assert (await both.send(both.central(Hiccup(both, 100)), chunk_bytes=5000)).sent == 1


def answering(response: httpx.Response) -> httpx.MockTransport:
    """A server that says one thing to everything."""
    return httpx.MockTransport(lambda request: response)


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (httpx.Response(200, text="<html>Welcome to our shop</html>"), "does not answer like a server of askwell"),
        (httpx.Response(404, text="nothing here"), "check the address"),
        (httpx.Response(404, json={"code": "not_found", "detail": "No such call."}), "recent enough"),
        (httpx.Response(301, headers={"location": "https://a.example/"}), "use that address"),
        (httpx.Response(503, text="<html>down</html>"), r"status 503"),
        (
            httpx.Response(
                200,
                json={
                    "formats": [9],
                    "version": "9.0",
                    "now": NOON.isoformat(),
                    "max_bytes": 1,
                    "device": {"name": "k"},
                },
            ),
            "versions don't fit: .* runs askwell 9.0; update askwell on this machine",
        ),
    ],
)
async def test_server_that_is_none_or_another_version_is_told_so(response: httpx.Response, reason: str) -> None:
    there = Central(
        BASE, httpx.AsyncClient(transport=answering(response), base_url=BASE), "t", pause=no_pause, attempts=2
    )
    with pytest.raises(SyncError, match=reason):
        await there.hello()


async def test_server_that_is_not_there_is_told_so() -> None:
    async with central("http://127.0.0.1:9", "t", attempts=1) as there:
        with pytest.raises(SyncError, match=r"http://127\.0\.0\.1:9 can't be reached") as failed:
            await there.hello()
    assert failed.value.retryable


@pytest.mark.parametrize("url", ["ftp://a.example", "a.example"])
async def test_address_that_is_none_is_told_so(url: str) -> None:
    with pytest.raises(SyncError, match="is not a web address"):
        async with central(url, "t", attempts=1) as there:
            await there.hello()


async def test_certificate_that_seems_wrong_makes_one_look_at_the_clock() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("bad") from ssl.SSLCertVerificationError("certificate is not yet valid")

    http = httpx.AsyncClient(transport=httpx.MockTransport(refuse), base_url=BASE)
    there = Central(BASE, http, "t", now=lambda: datetime(1970, 1, 1, tzinfo=UTC), pause=no_pause)
    with pytest.raises(SyncError, match="clock says 1970-01-01 00:00 UTC"):
        await there.hello()


async def test_wrong_clock_sends_all_the_same_and_is_told(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        past = datetime.now(UTC) - timedelta(days=20_000)
        report = await both.send(both.central(now=lambda: past))
        assert report.sent == 1
        assert report.clock_off_s == pytest.approx(-20_000 * 86_400, abs=60)
        item = (await both.centre.call("GET", "/api/sessions", headers=both.centre.moderator)).json()["items"][0]
        assert item["id"] == session_id
        came = datetime.fromisoformat(item["received_at"])
        assert abs((datetime.now(UTC) - came).total_seconds()) < 60
        async with both.centre.storage.database.read() as connection:
            skew = (await connection.execute(text("SELECT clock_skew_s FROM sync_received"))).scalar_one()
        assert skew == pytest.approx(-20_000 * 86_400, abs=60)


async def test_full_disk_there_is_told_and_later_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with pair(tmp_path) as both:
        await full_interview(both.kiosk)
        async with both.centre.storage.database.write() as connection:
            pages = (await connection.execute(text("PRAGMA page_count"))).scalar_one()
        # The limit is the connection's own, and the pool may have several: each gets it when it is taken out.
        limit = pages + 4

        @event.listens_for(both.centre.storage.database.engine.sync_engine, "checkout")
        def limited(connection: Any, *_: Any) -> None:
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA max_page_count = {limit}")
            cursor.close()

        with pytest.raises(SyncError, match="The server's disk is full") as failed:
            await both.send()
        assert failed.value.retryable
        limit = 1_073_741_823
        assert (await both.send()).sent == 1


async def test_content_that_changed_on_its_way_is_refused_and_forgotten(tmp_path: Path) -> None:
    class Noisy(Broken):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/chunks"):
                data = bytearray(gzip.decompress(request.content))
                data[100] ^= 1
                request = httpx.Request(request.method, request.url, content=bytes(data), headers=bare(request))
            return await self._inner.handle_async_request(request)

    def bare(request: httpx.Request) -> dict[str, str]:
        return {"authorization": request.headers["authorization"], "host": request.headers["host"]}

    async with pair(tmp_path) as both:
        session_id = await full_interview(both.kiosk)
        report = await both.send(both.central(Noisy(both, 0)))
        assert "damaged on its way" in report.not_taken[session_id]
        assert await count(both.centre, "sync_chunks") == 0
        assert (await both.send()).sent == 1


# By file


async def test_file_of_all_that_waits_can_be_carried_to_the_server(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        first, second = await full_interview(both.kiosk), await full_interview(both.kiosk)
        path = tmp_path / "carried.jsonl.gz"
        path.write_bytes(b"".join([piece async for piece in exported(both.kiosk.parts.sync.source(None))]))
        source = FileSource(path)
        assert [unsent.session_id for unsent in await source.waiting()] == [first, second]
        report = await send_all(source, both.central(), chunk_bytes=50_000, tell=both.told.append)
        assert report.sent == 2
        for session_id in (first, second):
            mine, theirs = await both.exports(session_id)
            assert mine.content == theirs.content
        assert (await both.send()).sent == 2, "the kiosk does not know of it, and the server has them already"
        assert await count(both.centre, "sessions") == 2


@pytest.mark.parametrize("cut", [1, 200, 5000])
async def test_file_that_was_cut_is_refused_whole(tmp_path: Path, cut: int) -> None:
    async with pair(tmp_path) as both:
        await full_interview(both.kiosk)
        content = b"".join([piece async for piece in exported(both.kiosk.parts.sync.source(None))])
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(content[:-cut])
    with pytest.raises(SyncError, match=r"cut\.jsonl\.gz"):
        FileSource(path)
    lines = gzip.decompress(content).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-1])))
    with pytest.raises(SyncError, match="its end is missing"):
        FileSource(path)
    path.write_bytes(gzip.compress(lines[-1]))
    with pytest.raises(SyncError, match="should hold 1 interviews, and holds 0"):
        FileSource(path)


async def test_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(b"\xff\xd8\xff")
    with pytest.raises(SyncError, match=r"photo\.jpg can't be read"):
        FileSource(path)
    path.write_bytes(gzip.compress(json.dumps({"format": "askwell.session"}).encode() + b"\n"))
    with pytest.raises(SyncError, match="not an interview of askwell"):
        FileSource(path)
    with pytest.raises(SyncError, match="No such file"):
        FileSource(tmp_path / "nowhere.gz")


# By itself


def sync_of(both: Pair, **kiosk: Any) -> Sync:
    """The kiosk's own sending, to the collecting server."""
    given = {"sync_to": BASE, "sync_token": both.token, "sync_every_s": 1.0, **kiosk}

    @asynccontextmanager
    async def connect(url: str, token: str) -> AsyncIterator[Central]:
        yield both.central(token=token, url=url)

    parts = both.kiosk.parts
    return Sync(
        KioskSettings.model_validate(given), parts.copies, parts.recorder, parts.settings.storage.data,
        erase=parts.hub.erase, now=parts.now, connect=connect,
    )  # fmt: skip


async def test_kiosk_sends_by_itself_and_says_how_it_goes(tmp_path: Path) -> None:
    async with pair(tmp_path) as both, asyncio.TaskGroup() as tasks:
        session_id = await full_interview(both.kiosk)
        sync = sync_of(both, delete_after_sync=True)
        assert (sync.status.state, sync.status.connected) == ("idle", None)
        running = tasks.create_task(sync.run())

        async def there() -> bool:
            return sync.status.last_at is not None

        await eventually(there)
        assert (sync.status.state, sync.status.connected, sync.status.last_error) == ("idle", True, None)
        assert await both.kiosk.storage.writer.drain(PATIENCE_S)
        assert await count(both.kiosk, "sessions") == 0
        _, theirs = await both.exports(session_id)
        assert theirs.status_code == 200
        running.cancel()


async def test_kiosk_that_can_not_send_waits_longer_each_time_and_says_why(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        await full_interview(both.kiosk)
        sync = sync_of(both, sync_token="wrong")
        assert not await sync._once(BASE, "wrong")
        assert (sync.status.state, sync.status.connected) == ("waiting", False)
        assert "does not know the token" in (sync.status.last_error or "")
        assert await sync._once(BASE, both.token)
        assert (sync.status.state, sync.status.last_error) == ("idle", None)


async def test_kiosk_without_a_token_says_so_and_sends_nothing(tmp_path: Path) -> None:
    async with pair(tmp_path) as both:
        sync = sync_of(both, sync_token=None)
        await sync.run()
        assert "ASKWELL_SYNC_TOKEN is not set" in (sync.status.last_error or "")
