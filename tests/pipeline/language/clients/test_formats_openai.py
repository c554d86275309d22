"""Chat completions: bodies as each provider documents them, and the many ways in which servers answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import SecretStr

from pipeline.language.clients.base import ChatMessage, ChatRequest, Completion, OutputForm, ProviderName, RoleModel
from pipeline.language.clients.formats import StreamReader, WireProblem
from pipeline.language.clients.openai_compatible import OpenAIFormat

OPEN = {"type": "object", "properties": {"depth": {"type": "integer"}}, "required": ["depth"]}
CLOSED = {**OPEN, "additionalProperties": False}
FORM = OutputForm(name="rating", description="How deep it is.", json_schema=OPEN)
WIRE = OpenAIFormat("openai_compatible")


def spec(provider: ProviderName = "openai", **changes: Any) -> RoleModel:
    usual: dict[str, Any] = {
        "role": "scoring",
        "provider": provider,
        "model": "m",
        "base_url": "https://example.org/v1",
        "api_key": SecretStr("sk-1"),
        "temperature": 0.3,
        "max_tokens": 300,
    }
    return RoleModel(**(usual | changes))


def request(**changes: Any) -> ChatRequest:
    usual: dict[str, Any] = {
        "task": "rating",
        "system": "Rate.",
        "messages": (ChatMessage(speaker="user", content="Tea."),),
    }
    return ChatRequest(**(usual | changes))


def body(spec: RoleModel, request: ChatRequest, *, stream: bool = False) -> Any:
    return json.loads(OpenAIFormat(spec.provider).body(spec, request, stream=stream))


def chunk(content: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if content is None and finish else {"content": content}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def called(arguments: str | None, **more: Any) -> dict[str, Any]:
    call = {"index": 0, "function": {"arguments": arguments}, **more}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}


def read(events: list[Any], form: OutputForm | None = None) -> tuple[list[str], StreamReader]:
    reader = WIRE.reader(form)
    pieces = [reader.feed("", data if isinstance(data, str) else json.dumps(data)) for data in events]
    return [piece for piece in pieces if piece], reader


def whole(message: dict[str, Any], finish: str = "stop", form: OutputForm | None = None, **more: Any) -> Completion:
    payload = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}
    return WIRE.answer(json.dumps(payload).encode(), form).completion


def test_body_of_plain_question_is_as_documented() -> None:
    assert body(spec(effort="minimal"), request(), stream=True) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Rate."}, {"role": "user", "content": "Tea."}],
        "max_completion_tokens": 300,
        "temperature": 0.3,
        "reasoning_effort": "minimal",
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize("provider", ["kimi", "deepseek", "openai_compatible"])
def test_body_for_others_says_max_tokens(provider: ProviderName) -> None:
    found = body(spec(provider), request(max_tokens=9))
    assert found["max_tokens"] == 9
    assert not {"max_completion_tokens", "stream", "stream_options", "reasoning_effort"} & found.keys()


@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
def test_body_of_structured_question_has_a_schema(provider: ProviderName) -> None:
    assert body(spec(provider), request(form=FORM))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "rating", "description": "How deep it is.", "schema": OPEN},
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        (OPEN, False),
        ({**CLOSED, "required": []}, False),
        ({**CLOSED, "properties": {"depth": {"type": "integer", "minimum": 1}}}, False),
        ({**CLOSED, "properties": {"depth": {"type": "array", "items": OPEN}}}, False),
        ({**CLOSED, "properties": {"depth": {"type": "array", "items": CLOSED}}}, True),
        ({**CLOSED, "properties": {"depth": {"$ref": "#/$defs/D"}}, "$defs": {"D": OPEN}}, False),
        ({**CLOSED, "properties": {"depth": {"anyOf": [{"type": "null"}, CLOSED]}}}, True),
    ],
)
def test_body_asks_for_strictness_only_where_the_schema_keeps_its_rules(schema: dict[str, Any], strict: bool) -> None:
    form = OutputForm(name="rating", description="", json_schema=schema)
    found = body(spec(), request(form=form))["response_format"]["json_schema"]
    assert found.get("strict", False) is strict


def test_body_for_kimi_forces_a_tool_call() -> None:
    found = body(spec("kimi"), request(form=FORM))
    function = {"name": "rating", "description": "How deep it is.", "parameters": OPEN}
    assert found["tools"] == [{"type": "function", "function": function}]
    assert found["tool_choice"] == {"type": "function", "function": {"name": "rating"}}
    assert "response_format" not in found


def test_body_for_deepseek_asks_for_json_and_describes_it() -> None:
    found = body(spec("deepseek"), request(form=FORM))
    assert found["response_format"] == {"type": "json_object"}
    assert "JSON" in found["messages"][0]["content"]
    assert '"required":["depth"]' in found["messages"][0]["content"]


def test_body_where_nothing_is_supported_only_asks() -> None:
    found = body(spec(structured="none"), request(form=FORM, system=""))
    assert found["messages"][0]["content"].startswith("Answer with one JSON object")
    assert not {"response_format", "tools"} & found.keys()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}, (9, 2, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 5}, (9, 2, 5)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 6}, (9, 2, 6)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, (9, None, None)),
        ({"prompt_tokens": "many", "completion_tokens": True}, (None, None, None)),
        (None, (None, None, None)),
    ],
)
def test_usage_is_found_wherever_a_provider_puts_it(usage: Any, expected: tuple[int | None, ...]) -> None:
    payload = {"choices": [{"message": {"content": "Why?"}, "finish_reason": "stop"}], "usage": usage}
    found = WIRE.answer(json.dumps(payload).encode(), None).usage
    assert (found.input_tokens, found.output_tokens, found.cached_tokens) == expected


def test_answer_that_thinks_aloud_says_the_rest() -> None:
    assert whole({"content": "<think>\nhm {\n</think>\n\nWhy tea?"}).text == "Why tea?"
    assert whole({"content": '<think>{"depth": 1}</think>{"depth": 2}'}, form=FORM).data == {"depth": 2}


@pytest.mark.parametrize(
    ("message", "finish", "expected"),
    [
        ({"content": '{"depth": 3}'}, "stop", Completion(data={"depth": 3})),
        (
            {"content": None, "tool_calls": [{"function": {"arguments": '{"depth": 3}'}}]},
            "tool_calls",
            Completion(data={"depth": 3}),
        ),
        (
            {"content": "", "tool_calls": [{"function": {"arguments": '{"dep'}}]},
            "length",
            Completion(text='{"dep', stop="length"),
        ),
        ({"content": '{"depth": 3}, but'}, "length", Completion(text='{"depth": 3}, but', stop="length")),
        ({"content": 'Sure! {"depth": 3} Anything else?'}, "stop", Completion(data={"depth": 3})),
        ({"content": "It is {deep}."}, "stop", Completion(text="It is {deep}.")),
        ({"content": "[1]"}, "stop", Completion(text="[1]")),
        ({"content": None}, "stop", Completion()),
        ({"content": None, "refusal": "I can't."}, "stop", Completion(text="I can't.", stop="refusal")),
        ({"content": ""}, "content_filter", Completion(stop="refusal")),
        ({"content": "x"}, "insufficient_system_resource", Completion(text="x", stop="other")),
    ],
)
def test_structured_answer_gives_data_or_text(message: dict[str, Any], finish: str, expected: Completion) -> None:
    assert whole(message, finish, FORM) == expected


@pytest.mark.parametrize("raw", [b"", b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b'{"choices": "x"}'])
def test_answer_not_in_the_format_is_a_problem(raw: bytes) -> None:
    with pytest.raises(WireProblem) as caught:
        WIRE.answer(raw, None)
    assert caught.value.status is None


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "m", "type": "server_error", "code": 503}, 503),
        ({"message": "m", "code": "429"}, 429),
        ({"message": "m", "code": "rate_limit_exceeded"}, 429),
        ({"message": "m", "type": "invalid_request_error", "code": None}, 400),
        ({"message": "m", "code": 7}, 500),
        ({"message": "m", "code": "²"}, 500),
        ("m", 500),
    ],
)
def test_error_in_a_good_response_stands_for_its_status(error: Any, status: int) -> None:
    for take in (lambda: WIRE.answer(json.dumps({"error": error}).encode(), None), lambda: read([{"error": error}])):
        with pytest.raises(WireProblem, match="m") as caught:
            take()
        assert caught.value.status == status


def test_error_event_without_the_usual_wrapping_is_an_error() -> None:
    with pytest.raises(WireProblem, match="too long") as caught:
        WIRE.reader(None).feed("error", '{"code": 400, "message": "too long"}')
    assert caught.value.status == 400


def test_stream_as_openai_sends_it_is_read() -> None:
    role = {
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": "", "refusal": None}, "finish_reason": None}]
    }
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    pieces, reader = read(
        [{**role, "usage": None}, chunk("Why "), chunk("tea?"), chunk(finish="stop"), usage, "[DONE]"]
    )
    assert pieces == ["Why ", "tea?"]
    assert reader.done
    assert reader.finish() == Completion(text="Why tea?", stop="end")
    assert (reader.usage.input_tokens, reader.usage.output_tokens) == (9, 2)


@pytest.mark.parametrize(
    "events",
    [
        [chunk(None), chunk("Why?"), chunk("", finish="stop")],
        [chunk("Why?", finish="stop")],
        ["", chunk("Why?"), {"choices": None, "usage": None}, chunk(finish="stop"), "[DONE]"],
        [{"object": "heartbeat"}, chunk("Why?"), chunk(finish="stop"), " [DONE]".strip()],
        [{"choices": [{"delta": {"reasoning_content": "hm", "content": None}}]}, chunk("Why?"), chunk(finish="eos")],
        [
            chunk("<thi"),
            chunk("nk>hm, a < b"),
            chunk(" and </th"),
            chunk("ink>\n"),
            chunk("\nWhy?"),
            chunk(finish="stop"),
        ],
    ],
)
def test_stream_as_others_send_it_is_read(events: list[Any]) -> None:
    pieces, reader = read(events)
    assert "".join(pieces) == "Why?"
    assert reader.stop == "end"


def test_stream_with_kimis_usage_in_the_choice_is_read() -> None:
    last = {"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}]}
    _, reader = read([chunk("Why?"), last, "[DONE]"])
    assert (reader.usage.input_tokens, reader.usage.output_tokens) == (9, 2)


def test_stream_of_a_refusal_says_nothing() -> None:
    refusals = [{"choices": [{"delta": {"refusal": piece}}]} for piece in ("I ", "can't.")]
    pieces, reader = read([*refusals, chunk(finish="stop"), "[DONE]"])
    assert pieces == []
    assert reader.finish() == Completion(text="I can't.", stop="refusal")


def test_stream_of_a_tool_call_is_put_together() -> None:
    events = [called("", id="c1", function={"name": "rating", "arguments": ""}), called('{"dep'), called('th": 3}')]
    _, reader = read([*events, chunk(finish="tool_calls"), "[DONE]"], FORM)
    assert reader.finish() == Completion(data={"depth": 3})


def test_stream_of_a_second_tool_call_is_left_out() -> None:
    _, reader = read([called('{"depth": 3}'), called('{"depth": 4}', index=1), chunk(finish="tool_calls")], FORM)
    assert reader.finish() == Completion(data={"depth": 3})


@pytest.mark.parametrize(("finish", "stop"), [("length", "length"), (None, "other")])
def test_stream_of_half_a_tool_call_has_no_data(finish: str | None, stop: str) -> None:
    _, reader = read([called('{"depth": 3}'), *([chunk(finish=finish)] if finish else [])], FORM)
    found = reader.finish()
    assert (found.data, found.stop) == (None, stop)


def test_piece_with_half_a_character_or_nul_is_made_speakable() -> None:
    pieces, _ = read(['{"choices":[{"delta":{"content":"a\\ud83d\\u0000b"}}]}'])
    assert pieces == ["a\ufffd\ufffdb"]
