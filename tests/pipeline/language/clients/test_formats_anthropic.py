"""Anthropic's Messages API: bodies as documented, answers and streams as the provider sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import SecretStr

from pipeline.language.clients.anthropic import ERROR_STATUS, AnthropicFormat
from pipeline.language.clients.base import ChatMessage, ChatRequest, Completion, OutputForm, RoleModel
from pipeline.language.clients.formats import StreamReader, WireProblem

SCHEMA = {"type": "object", "properties": {"depth": {"type": "integer"}}, "required": ["depth"]}
FORM = OutputForm(name="rating", description="How deep it is.", json_schema=SCHEMA)
WIRE = AnthropicFormat()


def spec(**changes: Any) -> RoleModel:
    usual: dict[str, Any] = {
        "role": "scoring",
        "provider": "anthropic",
        "model": "claude-x",
        "base_url": "https://api.anthropic.com/v1",
        "api_key": SecretStr("sk-ant-1"),
        "temperature": 0.3,
        "max_tokens": 300,
    }
    return RoleModel(**(usual | changes))


def request(**changes: Any) -> ChatRequest:
    usual: dict[str, Any] = {
        "task": "rating",
        "system": "Rate.",
        "messages": (ChatMessage(speaker="user", content="„Tee“"), ChatMessage(speaker="assistant", content="Why?")),
    }
    return ChatRequest(**(usual | changes))


def body(spec: RoleModel, request: ChatRequest, *, stream: bool = False) -> Any:
    return json.loads(WIRE.body(spec, request, stream=stream))


def read(events: list[tuple[str, dict[str, Any]]], form: OutputForm | None = None) -> tuple[list[str], StreamReader]:
    reader = WIRE.reader(form)
    pieces = [reader.feed(event, json.dumps(data)) for event, data in events]
    return [piece for piece in pieces if piece], reader


START = (
    "message_start",
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [],
            "model": "claude-x",
            "stop_reason": None,
            "usage": {
                "input_tokens": 25,
                "cache_creation_input_tokens": 10,
                "cache_read_input_tokens": 100,
                "output_tokens": 1,
            },
        },
    },
)


def text_block(*pieces: str) -> list[tuple[str, dict[str, Any]]]:
    deltas = [
        (
            "content_block_delta",
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}},
        )
        for piece in pieces
    ]
    begin = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    return [
        ("content_block_start", begin),
        ("ping", {"type": "ping"}),
        *deltas,
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
    ]


def tool_block(*pieces: str) -> list[tuple[str, dict[str, Any]]]:
    tool = {"type": "tool_use", "id": "toolu_1", "name": "rating", "input": {}}
    return [
        ("content_block_start", {"type": "content_block_start", "index": 1, "content_block": tool}),
        *(
            (
                "content_block_delta",
                {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": p}},
            )
            for p in pieces
        ),
        ("content_block_stop", {"type": "content_block_stop", "index": 1}),
    ]


def ending(reason: str, output_tokens: int = 15) -> list[tuple[str, dict[str, Any]]]:
    return [
        (
            "message_delta",
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": output_tokens},
            },
        ),
        ("message_stop", {"type": "message_stop"}),
    ]


def test_body_of_plain_question_is_as_documented() -> None:
    assert body(spec(), request()) == {
        "model": "claude-x",
        "max_tokens": 300,
        "temperature": 0.3,
        "system": [{"type": "text", "text": "Rate.", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "„Tee“"}, {"role": "assistant", "content": "Why?"}],
    }


def test_body_of_structured_question_forces_the_tool() -> None:
    found = body(spec(effort="minimal"), request(form=FORM, max_tokens=50, temperature=0.9), stream=True)
    assert found["tools"] == [{"name": "rating", "description": "How deep it is.", "input_schema": SCHEMA}]
    assert found["tool_choice"] == {"type": "tool", "name": "rating"}
    assert found["output_config"] == {"effort": "low"}
    assert (found["max_tokens"], found["temperature"], found["stream"]) == (50, 0.9, True)


def test_body_with_json_schema_asks_for_output_format() -> None:
    found = body(spec(structured="json_schema", effort="high"), request(form=FORM))
    assert found["output_config"] == {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}}
    assert "tools" not in found


@pytest.mark.parametrize("way", ["json_object", "none"])
def test_body_without_provider_support_asks_in_the_system_prompt(way: Any) -> None:
    found = body(spec(structured=way), request(form=FORM))
    assert found["system"][0]["text"].startswith("Rate.\n\nAnswer with one JSON object")
    assert '"required":["depth"]' in found["system"][0]["text"]
    assert not {"tools", "tool_choice", "output_config"} & found.keys()


def test_body_of_role_without_temperature_has_none_whatever_the_request_says() -> None:
    assert "temperature" not in body(spec(temperature=None), request(temperature=0.9))


def test_body_of_respondents_lone_surrogate_is_valid_utf8() -> None:
    raw = WIRE.body(spec(), request(messages=(ChatMessage(speaker="user", content="half \ud83d emoji"),)), stream=False)
    assert "half \ufffd emoji" in raw.decode()


def test_answer_in_text_is_read_with_its_usage() -> None:
    payload = {
        "type": "message",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Why "},
            {"type": "text", "text": "tea?"},
        ],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3},
    }
    found = WIRE.answer(json.dumps(payload).encode(), None)
    assert found.completion == Completion(text="Why tea?", stop="end")
    assert (found.usage.input_tokens, found.usage.cached_tokens, found.usage.output_tokens) == (12, 7, 3)


@pytest.mark.parametrize(
    ("content", "reason", "expected"),
    [
        ([{"type": "tool_use", "input": {"depth": 3}}], "tool_use", Completion(data={"depth": 3})),
        ([{"type": "tool_use", "input": {"depth": 3}}], "max_tokens", Completion(stop="length")),
        ([{"type": "text", "text": '```json\n{"depth": 3}\n```'}], "end_turn", Completion(data={"depth": 3})),
        ([{"type": "text", "text": "It is deep."}], "end_turn", Completion(text="It is deep.")),
        ([{"type": "text", "text": "I can't."}], "refusal", Completion(text="I can't.", stop="refusal")),
        ([], "refusal", Completion(stop="refusal")),
        ([{"type": "tool_use", "input": "{"}], "tool_use", Completion()),
        ([], "pause_turn", Completion(stop="other")),
    ],
)
def test_structured_answer_gives_data_or_text(content: Any, reason: str, expected: Completion) -> None:
    raw = json.dumps({"type": "message", "content": content, "stop_reason": reason}).encode()
    assert WIRE.answer(raw, FORM).completion == expected


@pytest.mark.parametrize(
    "raw", [b"", b"<html>", b"[]", b"{", b'"x"', b"{}", b'{"content": 3}', b"\xff\xfe", b"[" * 100_000]
)
def test_answer_not_in_the_format_is_a_problem(raw: bytes) -> None:
    with pytest.raises(WireProblem) as caught:
        WIRE.answer(raw, None)
    assert caught.value.status is None


def test_stream_of_text_gives_pieces_usage_and_end() -> None:
    pieces, reader = read([START, *text_block("What ", "else", "?"), *ending("end_turn")])
    assert pieces == ["What ", "else", "?"]
    assert reader.done
    assert reader.finish() == Completion(text="What else?", stop="end")
    assert (reader.usage.input_tokens, reader.usage.cached_tokens, reader.usage.output_tokens) == (135, 100, 15)


def test_stream_tells_input_tokens_before_its_end() -> None:
    _, reader = read([START])
    assert reader.usage.input_tokens == 135
    assert not reader.done


def test_stream_of_thinking_is_not_said() -> None:
    thinking = {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}
    signature = {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}}
    pieces, _ = read(
        [START, ("content_block_delta", thinking), ("content_block_delta", signature), *text_block("Why?")]
    )
    assert pieces == ["Why?"]


def test_stream_of_a_tool_call_is_put_together() -> None:
    _, reader = read(
        [START, *text_block("Let me rate."), *tool_block("", '{"dep', 'th": 3}'), *ending("tool_use")], FORM
    )
    assert reader.finish() == Completion(data={"depth": 3})


def test_stream_of_a_tool_call_cut_by_length_has_no_data() -> None:
    _, reader = read([START, *tool_block('{"depth": 3'), *ending("max_tokens")], FORM)
    assert reader.finish() == Completion(text='{"depth": 3', stop="length")


def test_stream_of_a_tool_call_without_an_end_has_no_data() -> None:
    _, reader = read([START, *tool_block('{"depth": 3}')], FORM)
    found = reader.finish()
    assert (found.data, found.stop) == (None, "other")


@pytest.mark.parametrize(("kind", "status"), sorted(ERROR_STATUS.items()))
def test_stream_with_an_error_event_stands_for_its_status(kind: str, status: int) -> None:
    with pytest.raises(WireProblem, match="Overloaded") as caught:
        read([START, ("error", {"type": "error", "error": {"type": kind, "message": "Overloaded"}})])
    assert caught.value.status == status


def test_stream_with_events_of_tomorrow_is_read() -> None:
    pieces, _ = read([START, ("surprise", {"type": "surprise", "delta": 5}), *text_block("Why?"), *ending("end_turn")])
    assert pieces == ["Why?"]


@pytest.mark.parametrize("data", ["{", "nonsense", "[1]", "null"])
def test_stream_with_garbage_is_a_problem_that_does_not_quote_json(data: str) -> None:
    with pytest.raises(WireProblem) as caught:
        WIRE.reader(None).feed("content_block_delta", data)
    assert caught.value.status is None
    assert "{" not in caught.value.text
