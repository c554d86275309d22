"""Frames from clients: valid messages come through, anything else is refused as the protocol says, and quickly."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, StringConstraints

from server.protocol.base import UUID_PATTERN, Message
from server.protocol.codec import MAX_MESSAGE_BYTES, AudioFrame, ProtocolProblem, decode_binary, decode_text, encode
from server.protocol.schema import CHANNELS
from server.watch.commands import decode_moderator

Decode = Callable[[str], Message]
DECODERS: dict[str, Decode] = {"respondent-client.json": decode_text, "moderator-client.json": decode_moderator}
MODELS: dict[str, list[type[Message]]] = {c.file: c.messages for c in CHANNELS if c.file in DECODERS}
KEY = "0b5a3bd8-9d2c-4a0e-8f60-1f0a1b2c3d4e"
PROMPT_S = 0.5
"""Most time of a processor for one frame: far more than any takes, and far less than one that is slow on purpose."""
BOTH = pytest.mark.parametrize("channel", DECODERS)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
ODD = st.sampled_from(
    [10**15, -(10**15), 2**31, 2**63, 2**64, 10**400, 1e308, -0.0, math.nan, math.inf, "\0", "\ud800", "x" * 1001, KEY]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)


def values(annotation: Any, metadata: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Valid JSON values of a field's type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return values(arguments[0], (*arguments[1:], *metadata))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return reduce(or_, (values(one, metadata) for one in arguments))
    if origin is dict:
        limit = next((found for one in metadata if (found := getattr(one, "max_length", None))), 3)
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=min(limit, 3))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return messages(annotation)
    found = {getattr(one, name): name for one in flat(metadata) for name in ("ge", "le") if hasattr(one, name)}
    low, high = (next((bound for bound, name in found.items() if name == end), None) for end in ("ge", "le"))
    plain: dict[Any, st.SearchStrategy[Any]] = {
        NoneType: st.none(),
        bool: st.booleans(),
        int: st.integers(low, None if high is None else int(high)),
        float: st.floats(low, high, allow_nan=False, allow_infinity=False),
    }
    return texts(metadata) if annotation is str else plain[annotation]


def flat(metadata: tuple[Any, ...]) -> list[Any]:
    """Constraints, those inside a Field too."""
    return [inner for one in metadata for inner in (one, *getattr(one, "metadata", ()))]


def texts(metadata: tuple[Any, ...]) -> st.SearchStrategy[str]:
    """Valid texts."""
    rules = [one for one in flat(metadata) if isinstance(one, StringConstraints)]
    pattern = next((one.pattern for one in rules if one.pattern), None)
    if pattern == UUID_PATTERN:
        return st.uuids().map(str)
    if pattern is not None:
        return st.from_regex(str(pattern), fullmatch=True).filter(lambda text: len(text) <= 64)
    low, high = (next((one.min_length for one in rules if one.min_length), 0), 30)
    stripped = any(one.strip_whitespace for one in rules)
    made = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=low, max_size=high)
    return made.map(str.strip).filter(lambda text: len(text) >= low) if stripped else made


def messages(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    """Valid messages of a model, optional fields present or not."""
    fields = {name: values(field.annotation, tuple(field.metadata)) for name, field in model.model_fields.items()}
    needed = {name: fields.pop(name) for name, field in model.model_fields.items() if field.is_required()}
    return st.fixed_dictionaries(needed, optional=fields).filter(_makes_sense)


def _makes_sense(message: dict[str, Any]) -> bool:
    return message.get("type") != "steer" or bool(message.get("strategy") or message.get("node_id"))


def any_message(channel: str) -> st.SearchStrategy[dict[str, Any]]:
    """Valid messages of a channel."""
    return st.one_of([messages(model) for model in MODELS[channel]])


def refusal(decode: Decode, frame: str) -> ProtocolProblem | None:
    """Why a frame is refused; None if it is taken. What is answered can be sent, and it did not take long."""
    began = time.thread_time()
    try:
        message = decode(frame)
    except ProtocolProblem as problem:
        encode(problem.frame()).encode()
        assert time.thread_time() - began < PROMPT_S
        return problem
    encode(message).encode()
    assert time.thread_time() - began < PROMPT_S
    return None


@BOTH
def test_every_valid_message_comes_through_unchanged(channel: str) -> None:
    seen: set[str] = set()

    @given(any_message(channel), st.booleans())
    def comes_through(message: dict[str, Any], ascii_only: bool) -> None:
        decoded = DECODERS[channel](json.dumps(message, ensure_ascii=ascii_only))
        assert decoded.model_dump(mode="json", exclude_unset=True) == message
        assert DECODERS[channel](encode(decoded)) == decoded
        seen.add(message["type"])

    comes_through()
    assert len(seen) >= len(MODELS[channel]) // 2


@BOTH
def test_message_with_anything_in_a_field_is_taken_or_refused(channel: str) -> None:
    names = sorted({name for model in MODELS[channel] for name in model.model_fields} | {"more"})

    @given(any_message(channel), st.dictionaries(st.sampled_from(names), JSON, min_size=1, max_size=3))
    @example({"type": "inject", "command_id": KEY, "question": "x"}, {"question": "x" * 1001, "command_id": "\ud800"})
    @example({"type": "inject", "command_id": KEY, "question": "x"}, {"question": "x" * 1001, "command_id": "\0"})
    @example({"type": "ping", "t": 1}, {"t": 10**400})
    def decides(message: dict[str, Any], changes: dict[str, Any]) -> None:
        refusal(DECODERS[channel], json.dumps(message | changes))

    decides()


@BOTH
def test_any_json_is_taken_or_refused(channel: str) -> None:
    @given(JSON)
    def decides(value: Any) -> None:
        assert refusal(DECODERS[channel], json.dumps(value)) is not None

    decides()


@BOTH
def test_message_that_is_damaged_on_its_way_is_taken_or_refused(channel: str) -> None:
    @given(any_message(channel), st.data())
    def decides(message: dict[str, Any], data: st.DataObject) -> None:
        frame = json.dumps(message)
        place = data.draw(st.integers(0, len(frame)))
        end = data.draw(st.integers(place, min(len(frame), place + 5)))
        refusal(DECODERS[channel], frame[:place] + data.draw(ANY_TEXT) + frame[end:])

    decides()


def deep(opened: str, closed: str, depth: int) -> str:
    return '{"type": "ping", "t": ' + opened * depth + "1" + closed * depth + "}"


HEAVY = {
    "digits": '{"type": "ping", "t": ' + "9" * 4300 + "}",
    "more digits than an integer may have": '{"type": "ping", "t": ' + "9" * 60_000 + "}",
    "a huge exponent": '{"type": "ping", "t": 1e999999999}',
    "digits after the point": '{"type": "ping", "t": 9999999999999999.' + "1" * 60_000 + "}",
    "no number": '{"type": "ping", "t": NaN}',
    "an infinite number": '{"type": "ping", "t": -Infinity}',
    "a name twice": '{"type": "ping", "t": 1, "t": 2}',
    "a name twice, written differently": '{"type": "ping", "t": 1, "\\u0074": 2}',
    "half a pair": '{"type": "ping", "t": 1, "\\ud83d": 2}',
    "lists in lists": deep("[", "]", 30_000),
    "lists that do not end": "[" * 60_000,
    "objects in objects": deep('{"a":', "}", 9000),
    "a type in lists": '{"type": ' + "[" * 900 + "]" * 900 + "}",
    "many names": json.dumps({"type": "ping", "t": 1} | {str(n): n for n in range(5000)}),
    "many choices": json.dumps({"type": "consent", "version": "1", "choices": {str(n): [] for n in range(4000)}}),
    "white space": '{"type": "ping",' + " " * 60_000 + '"t": 1, "more": 1}',
    "escapes": '{"type": "hello", "token": "' + "\\u00e9" * 10_000 + '"}',
    "backslashes": '{"type": "hello", "token": "' + "\\" * 60_001 + '"}',
    "a quote that does not end": '{"type": "hello", "token": "' + "x" * 60_000,
    "a byte order mark": '\ufeff{"type": "ping", "t": 1}',
    "nothing": "",
}


@BOTH
@pytest.mark.parametrize("name", HEAVY)
def test_heavy_frame_is_refused_at_once(channel: str, name: str) -> None:
    assert len(HEAVY[name]) <= MAX_MESSAGE_BYTES
    problem = refusal(DECODERS[channel], HEAVY[name])
    assert problem is not None and problem.code == "invalid_message"


@BOTH
@pytest.mark.parametrize("filling", ["[],", "{},", '"",', "1,", '{"a":1},'])
def test_frame_that_is_far_too_long_is_refused_without_being_read(channel: str, filling: str) -> None:
    size = 16 * MAX_MESSAGE_BYTES
    frame = '{"type": "answer", "text": [' + filling * (size // len(filling) - 20) + "1]}"
    began = time.thread_time()
    problem = refusal(DECODERS[channel], frame)
    assert problem is not None and problem.close_code == 1009
    assert time.thread_time() - began < 0.2


@given(st.binary(max_size=64) | st.integers(0, 40_000).map(bytes))
def test_any_binary_frame_is_audio_or_refused(data: bytes) -> None:
    if len(data) > 4 and len(data) % 2 == 0 and len(data) <= 4 + 32_000:
        assert decode_binary(data) == AudioFrame(int.from_bytes(data[:4], "big"), data[4:])
        return
    with pytest.raises(ProtocolProblem) as refused:
        decode_binary(data)
    assert (refused.value.code, refused.value.close_code) == ("audio_format", 1003)
    encode(refused.value.frame()).encode()
