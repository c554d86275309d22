"""Connections, pools, streams that are given up, and the circuit breaker."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from pipeline.calls import recording
from pipeline.errors import LLMRateLimited, LLMRejected, LLMTimeout, LLMUnavailable
from pipeline.language.clients.breaker import PROBES
from tests.llm.rig import Mode, Rig, request, rigged, stream_of
from tests.support.llm_double import Answer, Break, Cut, Fail, Pace, Shape
from tests.support.patience import PATIENCE_S
from tests.support.virtual_time import VIRTUAL_TIME, event_loop_policy

__all__ = ["event_loop_policy"]

pytestmark = VIRTUAL_TIME
ENDLESS = Answer("on and on ", repeat=True, pace=Pace(token_s=0.003))


async def until(check: Any, deadline_s: float = PATIENCE_S) -> None:
    async with asyncio.timeout(deadline_s):
        while not check():
            await asyncio.sleep(0.002)


async def test_calls_share_one_connection(rig: Rig) -> None:
    modes: tuple[Mode, ...] = ("complete", "stream", "stream", "complete")
    for mode in modes:
        await rig.ask(mode)
    assert {asked.connection for asked in rig.double.requests} == {1}


async def test_roles_share_the_pool_of_their_provider(rig: Rig, mode: Mode) -> None:
    for role in ("extraction", "scoring", "generation"):
        await rig.ask(mode, role=role)
    assert {asked.connection for asked in rig.double.requests} == {1}
    assert rig.double.connections == 1


async def test_calls_at_once_have_a_connection_each_and_keep_them(rig: Rig) -> None:
    rig.double.always(Answer(pace=Pace(whole_s=0.05)))
    for _ in range(2):
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(rig.ask("complete", deadline_s=5.0))
    assert rig.double.connections == 20
    assert len(rig.double.requests) == 40


@pytest.mark.parametrize("close", ["announced", "silent"])
async def test_connection_closed_after_an_answer_is_not_missed(rig: Rig, mode: Mode, close: Any) -> None:
    rig.double.always(Answer("Calm.", shape=Shape(close=close)))
    for _ in range(4):
        assert (await rig.ask(mode)).text == "Calm."
    assert [asked.connection for asked in rig.double.requests] == [1, 2, 3, 4]
    assert {outcome for _, outcome, _ in rig.outcomes} == {"completed"}
    assert rig.slept == []


@pytest.mark.parametrize("reset", [False, True])
async def test_idle_connections_closed_by_the_server_cost_no_try(rig: Rig, mode: Mode, reset: bool) -> None:
    rig.double.next(*[Answer(pace=Pace(whole_s=0.03, first_token_s=0.03))] * 5)
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(rig.ask(mode, deadline_s=5.0))
    assert await rig.double.close_idle(reset=reset) == 5
    assert (await rig.ask(mode)).text
    assert [outcome for _, outcome, _ in rig.outcomes] == ["completed"] * 6
    assert rig.slept == []


async def test_kept_connection_that_dies_under_a_request_is_replaced_at_once(rig: Rig, mode: Mode) -> None:
    await rig.ask(mode)
    rig.double.next(Break("close"), Answer("Again."))
    assert (await rig.ask(mode)).text == "Again."
    assert rig.outcomes == [(1, "completed", None)] * 2
    assert rig.slept == []
    assert len(rig.double.requests) == 3


async def test_stream_closed_early_closes_its_connection_and_is_paid_for(rig: Rig) -> None:
    rig.double.next(ENDLESS)
    client = rig.clients.client(rig.spec(deadline_s=10.0))
    with recording(rig.calls):
        async with aclosing(stream_of(client.stream(request()))) as pieces:
            async for _ in pieces:
                break
    assert rig.outcomes == [(1, "discarded", None)]
    assert rig.calls.peek()[0].first_token_ms is not None
    await until(lambda: rig.double.requests[0].hung_up and rig.double.open == 0)
    assert (await rig.ask("complete")).text
    assert rig.double.connections == 2


@pytest.mark.parametrize("pace", [Pace(whole_s=5, headers_s=5), Pace(whole_s=5, first_token_s=5)])
async def test_call_cancelled_while_it_waits_is_discarded_and_hangs_up(rig: Rig, mode: Mode, pace: Pace) -> None:
    rig.double.next(Answer(pace=pace))
    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.ask(mode, deadline_s=30.0))
        await until(lambda: len(rig.double.requests) == 1)
        call.cancel()
    assert rig.outcomes == [(1, "discarded", None)]
    await until(lambda: rig.double.requests[0].hung_up)
    assert rig.events[-1] == "llm_call_discarded"
    assert (await rig.ask(mode)).text


async def test_stream_cancelled_in_its_middle_is_discarded_and_hangs_up(rig: Rig) -> None:
    rig.double.next(ENDLESS)
    async with asyncio.TaskGroup() as group:
        call = group.create_task(rig.ask("stream", deadline_s=30.0))
        await until(lambda: bool(rig.pieces))
        call.cancel()
    assert rig.outcomes == [(1, "discarded", None)]
    await until(lambda: rig.double.requests[0].hung_up)


async def test_warming_opens_the_connection_that_the_first_call_uses(rig: Rig, mode: Mode) -> None:
    rig.clients.client(rig.spec())
    assert await rig.clients.warm() == []
    await rig.ask(mode)
    assert rig.double.connections == 1
    assert rig.double.asked[0].path == "/v1/models"
    assert len(rig.calls.peek()) == 1


async def test_warming_tells_of_a_wrong_key_and_of_a_dead_place(form: Any) -> None:
    async with rigged(form, key="sk-another") as rig:
        rig.clients.client(rig.spec())
        rig.clients.client(rig.spec(base_url="http://127.0.0.1:1/v1"))
        problems = await rig.clients.warm()
    assert len(problems) == 2
    assert any("ASKWELL_GENERATION_API_KEY" in problem for problem in problems)
    assert any("ASKWELL_GENERATION_BASE_URL" in problem for problem in problems)


async def test_breaker_saves_the_deadline_of_a_dead_provider(rig: Rig, mode: Mode) -> None:
    rig.double.always(Break("silence"))
    for _ in range(3):
        with pytest.raises(LLMTimeout):
            await rig.ask(mode, deadline_s=0.5)
    asked = len(rig.double.requests)
    started_s = asyncio.get_running_loop().time()
    for _ in range(50):
        with pytest.raises(LLMUnavailable, match="in a row"):
            await rig.ask(mode, deadline_s=0.5)
    assert asyncio.get_running_loop().time() == started_s
    assert len(rig.double.requests) == asked <= 6
    assert rig.events.count("llm_circuit_open") == 1


async def test_breaker_lets_a_few_calls_try_and_closes_when_one_is_answered(rig: Rig, mode: Mode) -> None:
    rig.double.next(*[Fail(503)] * 6)
    for _ in range(3):
        with pytest.raises(LLMUnavailable):
            await rig.ask(mode)
    rig.now_s = 31.0
    rig.double.next(*[Answer("Back.", pace=Pace(whole_s=1.0, first_token_s=1.0))] * PROBES)
    async with asyncio.TaskGroup() as group:
        probes = [group.create_task(rig.ask(mode)) for _ in range(PROBES)]
        await until(lambda: len(rig.double.requests) == 6 + PROBES)
        with pytest.raises(LLMUnavailable):
            await rig.ask(mode)
    assert all("Back." in probe.result().text for probe in probes)
    assert rig.events.count("llm_circuit_closed") == 1
    assert (await rig.ask(mode)).text
    assert len(rig.double.requests) == 7 + PROBES


async def test_breaker_stays_open_longer_after_a_failed_probe(rig: Rig, mode: Mode) -> None:
    rig.double.always(Fail(500))
    for _ in range(3):
        with pytest.raises(LLMUnavailable):
            await rig.ask(mode)
    for wait_s, asked in ((31.0, 8), (31.0, 8), (31.0, 10)):
        rig.now_s += wait_s
        with pytest.raises(LLMUnavailable):
            await rig.ask(mode)
        assert len(rig.double.requests) == asked


@pytest.mark.parametrize(("status", "error"), [(400, LLMRejected), (401, LLMRejected), (429, LLMRateLimited)])
async def test_breaker_does_not_count_refusals(rig: Rig, mode: Mode, status: int, error: type[Exception]) -> None:
    rig.double.always(Fail(status))
    for _ in range(5):
        with pytest.raises(error):
            await rig.ask(mode)
    assert "llm_circuit_open" not in rig.events
    assert len(rig.double.requests) == (10 if status == 429 else 5)


async def test_breaker_counts_failures_in_a_row_only(rig: Rig, mode: Mode) -> None:
    for _ in range(3):
        rig.double.next(*[Fail(500)] * 4, Answer())
        for _ in range(2):
            with pytest.raises(LLMUnavailable):
                await rig.ask(mode)
        await rig.ask(mode)
    assert "llm_circuit_open" not in rig.events


async def test_breaker_of_one_model_leaves_another_alone(rig: Rig, mode: Mode) -> None:
    rig.double.always(Fail(500), when=lambda asked: asked.model == "double-1")
    for _ in range(4):
        with pytest.raises(LLMUnavailable):
            await rig.ask(mode)
    assert (await rig.ask(mode, model="double-2")).text


async def test_breaker_counts_streams_that_break_after_their_first_token(rig: Rig) -> None:
    rig.double.always(Answer("It calms people.", cut=Cut(1, "reset")))
    for _ in range(3):
        with pytest.raises(LLMUnavailable):
            await rig.ask("stream")
    asked = len(rig.double.requests)
    with pytest.raises(LLMUnavailable):
        await rig.ask("stream")
    assert asked == 3
    assert len(rig.double.requests) == 3


async def test_provider_killed_and_back_again_is_used_again(rig: Rig, mode: Mode) -> None:
    await rig.ask(mode)
    rig.double.kill()
    with pytest.raises(LLMUnavailable):
        await rig.ask(mode)
    await rig.double.start()
    assert (await rig.ask(mode)).text


async def test_clients_that_are_closed_leave_no_connection(rig: Rig, mode: Mode) -> None:
    await rig.ask(mode)
    assert rig.double.open == 1
    await rig.clients.aclose()
    await until(lambda: rig.double.open == 0)
