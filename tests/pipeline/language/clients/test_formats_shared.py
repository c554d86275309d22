"""What both formats rest on: finding an object in text, keeping thoughts back, and never failing in another way."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.clients.anthropic import AnthropicFormat
from pipeline.language.clients.base import OutputForm
from pipeline.language.clients.formats import WireFormat, WireProblem, object_in
from pipeline.language.clients.openai_compatible import OpenAIFormat
from pipeline.language.clients.thinking import ThinkingFilter

FORM = OutputForm(name="f", description="", json_schema={"type": "object"})
WIRES: tuple[WireFormat, ...] = (AnthropicFormat(), OpenAIFormat("openai"))
KEYS = (
    "type content text delta choices message finish_reason stop_reason usage index error code tool_calls function "
    "arguments refusal partial_json content_block input input_tokens prompt_tokens prompt_tokens_details"
).split()
KINDS = (
    "message_start content_block_start content_block_delta message_delta message_stop error text tool_use text_delta "
    "input_json_delta end_turn stop"
).split()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        (' \n{"a": {"b": [1, {}]}}\n', {"a": {"b": [1, {}]}}),
        ('```json\n{"a": "```"}\n```', {"a": "```"}),
        ("```\n{}\n```", {}),
        ('Here {you} go: {"a": 1} {"b": 2}', {"a": 1}),
        ('<think>{"a": 0}</think> {"a": 1}', {"a": 1}),
        ('{"a": "\\ud800"}', {"a": "\ufffd"}),
        ("{" * 50_000, None),
        ('{"a":' * 50_000, None),
        ('{"a": 1', None),
        ("prose", None),
        ("", None),
    ],
)
def test_object_in_text_is_found_or_not(text: str, expected: dict[str, Any] | None) -> None:
    assert object_in(text) == expected


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=8) | st.integers(), max_size=4), st.text("ab \n", max_size=9)
)
def test_object_in_text_survives_what_is_around_it(value: dict[str, Any], around: str) -> None:
    expected = json.loads(json.dumps(value).replace("\\u0000", "\\ufffd"))
    assert object_in(f"{around}{json.dumps(value)}{around}") == expected


@given(st.text("<think>/ \nab", max_size=40), st.data())
def test_thinking_is_kept_back_however_the_text_is_cut(said: str, data: st.DataObject) -> None:
    for text, expected in ((f"<think>{said.replace('<', '')}</think>Why?", "Why?"), ("Why? " + said, "Why? " + said)):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
        filtered = ThinkingFilter()
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        assert "".join(filtered.feed(piece) for piece in pieces) + filtered.flush() == expected


@pytest.mark.parametrize("text", ["<thi", " <", "<b>", "\n"])
def test_text_that_only_begins_like_thinking_is_said_in_the_end(text: str) -> None:
    filtered = ThinkingFilter()
    assert filtered.feed(text) + filtered.flush() == text


def test_thinking_without_an_end_is_never_said() -> None:
    filtered = ThinkingFilter()
    assert filtered.feed("<think>hm</thin") + filtered.flush() == ""


@pytest.mark.parametrize("wire", WIRES)
@given(payload=ANYTHING)
def test_whole_answer_of_any_json_is_read_or_a_problem(wire: WireFormat, payload: Any) -> None:
    for form in (None, FORM):
        with suppress(WireProblem):
            wire.answer(json.dumps(payload).encode(), form)


@pytest.mark.parametrize("wire", WIRES)
@given(payloads=st.lists(ANYTHING, max_size=5))
def test_stream_of_any_json_is_read_or_a_problem(wire: WireFormat, payloads: list[Any]) -> None:
    for form in (None, FORM):
        reader = wire.reader(form)
        for payload in payloads:
            try:
                assert isinstance(reader.feed("", json.dumps(payload)), str)
            except WireProblem:
                break
        reader.finish()


@pytest.mark.parametrize("wire", WIRES)
@given(raw=st.binary(max_size=60))
def test_answer_of_any_bytes_is_a_problem(wire: WireFormat, raw: bytes) -> None:
    with pytest.raises(WireProblem):
        wire.answer(raw, None)
