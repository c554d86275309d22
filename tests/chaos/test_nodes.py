"""Two nodes that share a Valkey and a PostgreSQL, both of which fail; nothing may be lost, doubled or given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from server.store.engine import Database
from server.store.errors import StoreUnavailable
from tests.chaos.crowd import Crowd, Report, asked
from tests.chaos.machines import Cluster, cluster

pytestmark = [pytest.mark.chaos, pytest.mark.needs("postgresql"), pytest.mark.timeout(900)]

SIZE = 8
AWAY_S = 60.0
SLOW_S = 1.0
PARTITIONS = 16


async def ordeal(
    folder: Path, title: str, disturb: Callable[[Cluster, Crowd], Awaitable[None]], *, size: int = SIZE
) -> Report:
    """Respondents talk with two nodes while something is wrong; the report, and what it must not say."""
    async with cluster(folder) as servers:
        crowd = Crowd(servers.urls, size, pause_s=0.5)
        async with talking(crowd):
            await crowd.progress(3 * size)
            await disturb(servers, crowd)
            await crowd.progress(3 * size, 120)
        report = await crowd.report(servers.postgres.url)
        report.print(title)
        for node in servers.nodes:
            await node.stop()
    assert report.lost == []
    assert report.doubled == []
    assert report.dead_letters == 0
    return report


@asynccontextmanager
async def talking(crowd: Crowd) -> AsyncIterator[None]:
    """The crowd talks for as long as the block runs, and sees its last answers through."""
    async with asyncio.TaskGroup() as tasks:
        lives = [tasks.create_task(one.live()) for one in crowd.members]
        yield
        crowd.leave()
        async with asyncio.timeout(180):
            await asyncio.wait(lives)


async def caught_up(servers: Cluster) -> None:
    """Wait until the store has everything that is in the journals. Raises TimeoutError."""
    async with asyncio.timeout(60):
        while True:
            waiting = [await servers.valkey.ask("XLEN", f"askwell:{{p{n:02d}}}:journal") for n in range(PARTITIONS)]
            if not any(waiting):
                return
            await asyncio.sleep(0.2)


async def test_valkey_restarted_empty_when_the_store_had_caught_up_loses_nothing(tmp_path: Path) -> None:
    async with cluster(tmp_path) as servers:
        crowd = Crowd(servers.urls, SIZE)
        async with talking(crowd):
            await crowd.progress(3 * SIZE)
        await caught_up(servers)
        before = await crowd.report(servers.postgres.url)
        await servers.valkey.kill()
        await servers.valkey.start()
        for one in crowd.members:
            one.leaving = False
        async with talking(crowd):
            await crowd.progress(3 * SIZE, 120)
        report = await crowd.report(servers.postgres.url)
        report.print("Valkey restarted empty between answers")
    assert before.lost == report.lost == []
    assert report.doubled == []
    assert report.dead_letters == 0


async def unstored(servers: Cluster) -> set[str]:
    """Turn keys of commits that wait in the journals."""
    found: set[str] = set()
    for number in range(PARTITIONS):
        entries = await servers.valkey.ask("XRANGE", f"askwell:{{p{number:02d}}}:journal", "-", "+")
        assert isinstance(entries, list)
        for _, fields in entries:
            if fields[b"kind"] == b"commit":
                found.add(fields[b"key"].decode())
    return found


@pytest.mark.parametrize("how", ["restarted", "emptied"])
async def test_valkey_empty_among_answers_loses_nothing_that_was_stored(tmp_path: Path, how: str) -> None:
    """Answers whose turn was confirmed a moment ago and is not stored yet go with Valkey; all others are kept."""
    excused: set[str] = set()
    async with cluster(tmp_path) as servers:
        crowd = Crowd(servers.urls, SIZE)
        async with talking(crowd):
            for _ in range(3):
                await crowd.progress(2 * SIZE, 120)
                for node in servers.nodes:
                    node.suspend()
                excused |= await unstored(servers)
                if how == "restarted":
                    await servers.valkey.kill()
                    await servers.valkey.start()
                else:
                    await servers.valkey.ask("FLUSHALL")
                for node in servers.nodes:
                    node.resume()
            await crowd.progress(2 * SIZE, 120)
        await caught_up(servers)
        report = await crowd.report(servers.postgres.url, excused=excused)
        report.print(f"Valkey {how} three times among answers; {len(excused)} confirmed answers were not stored yet")
    assert report.lost == []
    assert report.doubled == []
    assert report.dead_letters == 0


async def test_postgresql_down_for_a_minute_interviews_go_on(tmp_path: Path) -> None:
    async def stop(servers: Cluster, crowd: Crowd) -> None:
        await asyncio.to_thread(servers.postgres.stop, "immediate")
        before = crowd.completed
        await asyncio.sleep(AWAY_S)
        assert crowd.completed > before, "connected respondents go on"
        await asyncio.to_thread(servers.postgres.start)

    await ordeal(tmp_path, f"PostgreSQL down for {AWAY_S:.0f} s", stop)


async def test_postgresql_restarted_again_and_again_gives_no_record_up(tmp_path: Path) -> None:
    async def restart(servers: Cluster, crowd: Crowd) -> None:
        for _ in range(8):
            await asyncio.to_thread(servers.postgres.stop, "fast")
            await asyncio.to_thread(servers.postgres.start)
            await asyncio.sleep(1.0)

    await ordeal(tmp_path, "PostgreSQL restarted 8 times", restart)


async def test_postgresql_that_hangs_for_a_minute_is_waited_for(tmp_path: Path) -> None:
    async def suspend(servers: Cluster, crowd: Crowd) -> None:
        servers.postgres.suspend()
        await asyncio.sleep(AWAY_S)
        servers.postgres.resume()

    await ordeal(tmp_path, f"PostgreSQL hanging for {AWAY_S:.0f} s", suspend)


async def test_postgresql_slow_for_seconds_per_statement_is_waited_for(tmp_path: Path) -> None:
    async def slow(servers: Cluster, crowd: Crowd) -> None:
        servers.wire.delay_s = SLOW_S
        await asyncio.sleep(AWAY_S)
        servers.wire.delay_s = 0.0

    await ordeal(tmp_path, f"PostgreSQL with {SLOW_S:.0f} s more for each answer, for {AWAY_S:.0f} s", slow)


async def test_postgresql_in_deadlocks_gives_no_record_up(tmp_path: Path) -> None:
    deadlocks = 0

    async def disturb(servers: Cluster, crowd: Crowd) -> None:
        nonlocal deadlocks
        hostile = Database(servers.postgres.url)
        end = asyncio.get_running_loop().time() + AWAY_S / 2
        while asyncio.get_running_loop().time() < end:
            try:
                async with hostile.write() as connection:
                    await connection.execute(text("update sessions set pilot = pilot"))
                    await connection.execute(text("update journal_position set last_id = last_id"))
            except StoreUnavailable:
                pass
            await asyncio.sleep(0.1)
        await hostile.close()
        found = await asked(servers.postgres.url, "select deadlocks from pg_stat_database where datname = 'askwell'")
        deadlocks = int(found[0][0])

    await ordeal(tmp_path, "PostgreSQL in deadlocks", disturb)
    assert deadlocks > 0
    print(f"  deadlocks {deadlocks}")


async def test_node_suspended_for_a_minute_notices_what_it_lost(tmp_path: Path) -> None:
    async def suspend(servers: Cluster, crowd: Crowd) -> None:
        first = servers.nodes[0]
        before = crowd.completed
        first.suspend()
        await asyncio.sleep(AWAY_S)
        assert crowd.completed > before, "the other node takes over"
        first.resume()

    report = await ordeal(tmp_path, f"A node suspended for {AWAY_S:.0f} s", suspend)
    assert report.reconnections > 0


async def test_node_suspended_for_moments_again_and_again_doubles_nothing(tmp_path: Path) -> None:
    async def suspend(servers: Cluster, crowd: Crowd) -> None:
        for number in range(6):
            node = servers.nodes[number % 2]
            node.suspend()
            await asyncio.sleep(12.0)
            node.resume()
            await crowd.progress(1, 60)

    await ordeal(tmp_path, "Nodes suspended for 12 s in turn", suspend)


async def test_nodes_killed_in_turn_lose_nothing(tmp_path: Path) -> None:
    async def kill(servers: Cluster, crowd: Crowd) -> None:
        for number in range(4):
            node = servers.nodes[number % 2]
            await node.kill()
            await crowd.progress(SIZE, 120)
            await node.start()

    await ordeal(tmp_path, "Nodes killed in turn", kill)


async def test_crowd_is_told_apart_by_what_is_stored(tmp_path: Path) -> None:
    """The report itself: an answer that was taken away is lost, one that was copied is doubled."""
    async with cluster(tmp_path, 1) as servers:
        crowd = Crowd(servers.urls, 1)
        async with talking(crowd):
            await crowd.progress(2)
        await caught_up(servers)
        assert (await crowd.report(servers.postgres.url)).lost == []
        query = "select id, text from utterances where speaker = 'respondent' limit 2"
        (_, words), (other, _) = await asked(servers.postgres.url, query)
        store = Database(servers.postgres.url)
        async with store.write() as connection:
            await connection.execute(text("update utterances set text = :t where id = :i"), {"t": words, "i": other})
        await store.close()
        report = await crowd.report(servers.postgres.url, deadline_s=0)
    assert len(report.lost) == len(report.doubled) == 1
