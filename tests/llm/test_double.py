"""The double itself: what is later held against the clients must be what the providers document."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.support.llm_double import (
    Answer,
    Body,
    Break,
    Bytes,
    Cut,
    Fail,
    LLMDouble,
    Pace,
    Shape,
    Usage,
    refused_url,
    unanswering_url,
)
from tests.support.patience import PATIENCE_S
from tests.support.virtual_time import VIRTUAL_TIME, event_loop_policy

__all__ = ["event_loop_policy"]

pytestmark = VIRTUAL_TIME
FORMATS = ("anthropic", "openai")
PATHS = {"anthropic": "/messages", "openai": "/chat/completions"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def double() -> AsyncIterator[LLMDouble]:
    async with LLMDouble() as running:
        yield running


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_S) as client:
        yield client


def body(form: str, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Why tea?"}]}
    return {**found, **({"max_tokens": 10} if form == "anthropic" else {}), **more}


def headers(form: str) -> dict[str, str]:
    if form == "anthropic":
        return {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    return {"authorization": "Bearer k"}


def tool(form: str) -> dict[str, Any]:
    if form == "anthropic":
        return {"tools": [{"name": "t", "input_schema": SCHEMA}], "tool_choice": {"type": "tool", "name": "t"}}
    function = {"name": "t", "parameters": SCHEMA, "strict": True}
    choice = {"type": "function", "function": {"name": "t"}}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}


async def post(http: httpx2.AsyncClient, double: LLMDouble, form: str, **more: Any) -> httpx2.Response:
    return await http.post(double.base_url + PATHS[form], json=body(form, **more), headers=headers(form))


Events = list[httpx2.ServerSentEvent]


async def streamed(http: httpx2.AsyncClient, double: LLMDouble, form: str, **more: Any) -> Events:
    sent = body(form, stream=True, **more)
    url = double.base_url + PATHS[form]
    async with http.stream("POST", url, json=sent, headers=headers(form)) as response:
        return [event async for event in httpx2.EventSource(response)]


def text_of(form: str, events: Events) -> str:
    parts = [json.loads(event.data) for event in events if event.data != "[DONE]"]
    if form == "anthropic":
        return "".join(part["delta"].get("text", "") for part in parts if part["type"] == "content_block_delta")
    return "".join(
        choice["delta"].get("content") or "" for part in parts for choice in part.get("choices") or () if choice
    )


async def test_answer_whole_is_text_and_usage(double: LLMDouble, http: httpx2.AsyncClient, form: str) -> None:
    double.next(Answer("Because of the calm.", usage=Usage(7, 5, cached=3)))
    found = (await post(http, double, form)).json()
    if form == "anthropic":
        assert found["content"] == [{"type": "text", "text": "Because of the calm."}]
        assert (found["usage"]["input_tokens"], found["usage"]["cache_read_input_tokens"]) == (4, 3)
        assert (found["stop_reason"], found["usage"]["output_tokens"]) == ("end_turn", 5)
    else:
        assert found["choices"][0]["message"]["content"] == "Because of the calm."
        assert (found["usage"]["prompt_tokens"], found["usage"]["completion_tokens"]) == (7, 5)
        assert found["usage"]["prompt_tokens_details"]["cached_tokens"] == 3
    assert double.requests[0].key == "k"


async def test_answer_by_tool_carries_its_input(double: LLMDouble, http: httpx2.AsyncClient, form: str) -> None:
    double.next(Answer(data={"a": "é"}))
    found = (await post(http, double, form, **tool(form))).json()
    if form == "anthropic":
        assert found["content"][0]["input"] == {"a": "é"}
        assert found["stop_reason"] == "tool_use"
    else:
        call = found["choices"][0]["message"]["tool_calls"][0]
        assert json.loads(call["function"]["arguments"]) == {"a": "é"}
        assert found["choices"][0]["finish_reason"] == "stop"
    assert (double.requests[0].way, double.requests[0].form_name, double.requests[0].schema) == ("tool", "t", SCHEMA)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(),
        Shape(newline="\r\n"),
        Shape(newline="\r"),
        Shape(piece_bytes=1),
        Shape(piece_bytes=1, newline="\r\n"),
        Shape(one_chunk=True),
        Shape(done=False),
    ],
    ids=str,
)
async def test_answer_streamed_in_any_shape_is_the_same_text(
    double: LLMDouble, http: httpx2.AsyncClient, form: str, shape: Shape
) -> None:
    double.next(Answer("Wärme und Ruhe – ja 😀!", shape=shape))
    assert text_of(form, await streamed(http, double, form)) == "Wärme und Ruhe – ja 😀!"


async def test_stream_in_openai_format_tells_usage_only_where_asked(
    double: LLMDouble, http: httpx2.AsyncClient
) -> None:
    plain = await streamed(http, double, "openai")
    asked = await streamed(http, double, "openai", stream_options={"include_usage": True})
    assert not any("usage" in event.data for event in plain)
    assert json.loads(asked[-2].data)["choices"] == []
    assert json.loads(asked[-2].data)["usage"]["completion_tokens"] == 6


@pytest.mark.parametrize(
    ("form", "fields", "status", "words"),
    [
        ("anthropic", {"max_tokens": 0}, 400, "max_tokens"),
        ("anthropic", {"temperature": 1.5}, 400, "temperature"),
        ("anthropic", {"reasoning_effort": "low"}, 400, "Extra inputs"),
        ("anthropic", {"messages": [{"role": "system", "content": "x"}]}, 400, "role"),
        ("anthropic", {"tool_choice": {"type": "auto"}}, 400, "tool_choice"),
        ("openai", {"stream_options": {"include_usage": True}}, 400, "stream_options"),
        ("openai", {"response_format": {"type": "json_object"}}, 400, "json"),
        ("openai", {"model": "gpt-5-mini", "max_tokens": 5}, 400, "max_completion_tokens"),
        ("openai", {"messages": []}, 400, "messages"),
    ],
)
async def test_request_against_documented_rules_is_refused(
    double: LLMDouble, http: httpx2.AsyncClient, form: str, fields: dict[str, Any], status: int, words: str
) -> None:
    response = await post(http, double, form, **fields)
    assert response.status_code == status
    assert words in response.json()["error"]["message"]
    assert double.requests[0].problem


async def test_schema_with_open_object_is_refused_in_strict_mode(double: LLMDouble, http: httpx2.AsyncClient) -> None:
    nested = {**SCHEMA, "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {}}}}}
    form = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": nested}}
    response = await post(http, double, "openai", response_format=form)
    assert response.status_code == 400
    assert "additionalProperties" in response.json()["error"]["message"]


async def test_wrong_key_is_refused(http: httpx2.AsyncClient, form: str) -> None:
    async with LLMDouble(key="other") as double:
        assert (await post(http, double, form)).status_code == 401


async def test_faults_reach_the_client(double: LLMDouble, http: httpx2.AsyncClient, form: str) -> None:
    double.next(Fail(529), Body(b"{", content_type="application/json"), Bytes(b"\x00\xff" * 9), Break("reset"))
    double.next(Break("close"))
    assert (await post(http, double, form)).status_code == 529
    assert (await post(http, double, form)).content == b"{"
    with pytest.raises(httpx2.RemoteProtocolError, match="illegal"):
        await post(http, double, form)
    with pytest.raises(httpx2.ReadError):
        await post(http, double, form)
    with pytest.raises(httpx2.RemoteProtocolError, match="without sending"):
        await post(http, double, form)


@pytest.mark.parametrize("how", ["reset", "close", "error", "garbage", "end"])
async def test_stream_cut_after_two_tokens_ends_there(
    double: LLMDouble, http: httpx2.AsyncClient, form: str, how: Any
) -> None:
    double.next(Answer("one two three four", cut=Cut(2, how)))
    seen: Events = []
    url = double.base_url + PATHS[form]
    broken = how in ("reset", "close")
    try:
        async with http.stream("POST", url, json=body(form, stream=True), headers=headers(form)) as response:
            async for event in httpx2.EventSource(response):
                seen.append(event)
        assert not broken
    except httpx2.TransportError:
        assert broken
    good = [event for event in seen if event.data.startswith("{") and "half" not in event.data]
    assert text_of(form, good) == "one two"


async def test_client_that_hangs_up_is_noticed(double: LLMDouble, http: httpx2.AsyncClient, form: str) -> None:
    double.next(Answer(repeat=True, pace=Pace(token_s=0.005)))
    url = double.base_url + PATHS[form]
    async with http.stream("POST", url, json=body(form, stream=True), headers=headers(form)) as response:
        async for _ in httpx2.EventSource(response):
            break
    async with asyncio.timeout(PATIENCE_S):
        while not double.requests[0].hung_up:
            await asyncio.sleep(0.005)


async def test_connections_are_counted_and_closed(double: LLMDouble, http: httpx2.AsyncClient, form: str) -> None:
    double.next(Answer(), Answer(), Answer(shape=Shape(close="silent")), Answer(shape=Shape(close="announced")))
    for _ in range(5):
        await post(http, double, form)
    assert [asked.connection for asked in double.requests] == [1, 1, 1, 2, 3]
    assert await double.close_idle() == 1


async def test_pace_is_kept(double: LLMDouble, http: httpx2.AsyncClient, form: str) -> None:
    double.next(Answer("a b c d e", pace=Pace(first_token_s=0.05, token_s=0.01)), Answer(pace=Pace(whole_s=0.05)))
    await streamed(http, double, form)
    await post(http, double, form)
    for asked, least in zip(double.requests, (0.09, 0.05), strict=True):
        assert asked.first_piece_s is not None
        assert asked.ended_s is not None
        assert asked.first_piece_s - asked.arrived_s == pytest.approx(0.05)
        assert asked.ended_s - asked.arrived_s == pytest.approx(least)


async def test_ports_where_nobody_answers(http: httpx2.AsyncClient) -> None:
    async with refused_url() as url:
        with pytest.raises(httpx2.ConnectError):
            await http.get(url)
    async with unanswering_url() as url:
        with pytest.raises(httpx2.ConnectTimeout):
            await http.get(url, timeout=0.05)


async def test_double_killed_and_started_again_keeps_its_port(http: httpx2.AsyncClient, form: str) -> None:
    async with LLMDouble() as double:
        await post(http, double, form)
        double.kill()
        with pytest.raises(httpx2.TransportError):
            await post(http, double, form)
        await double.start()
        assert (await post(http, double, form)).status_code == 200
