"""Frames to messages: what is taken, what is refused and how."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from server.protocol.codec import (
    MAX_MESSAGE_BYTES,
    AudioFrame,
    ProtocolProblem,
    decode_binary,
    decode_text,
    encode,
    encode_event,
    parse,
)
from server.protocol.codes import SENTENCES
from server.protocol.inbound import Hello, Ping, SendAnswer
from server.protocol.moderator import COMMANDS, MODERATOR_MESSAGES, InjectQuestion, Steer
from server.protocol.outbound import SERVER_MESSAGES, Error, Notice, QuestionDelta
from server.protocol.watched import Signals

KEY = "0b5a3bd8-9d2c-4a0e-8f60-1f0a1b2c3d4e"

GOOD: list[dict[str, Any]] = [
    {"type": "hello", "token": "t"},
    {"type": "hello", "token": "t", "last_event_id": 7, "epoch": "e"},
    {"type": "consent", "version": "1", "choices": {"audio": False, "note": "by phone"}},
    {"type": "consent", "version": "1"},
    {"type": "answer", "text": "yes", "turn_key": KEY},
    {"type": "skip", "turn_key": KEY},
    {"type": "rephrase"},
    {"type": "correct", "utterance_id": "u-1", "text": "no", "turn_key": KEY},
    {"type": "audio.start", "codec": "pcm_s16le", "sample_rate": 16000, "turn_key": KEY, "first_seq": 0},
    {"type": "audio.stop"},
    {"type": "audio.cancel"},
    {"type": "set", "patience": "quick"},
    {"type": "set"},
    {"type": "pause"},
    {"type": "resume"},
    {"type": "finish"},
    {"type": "withdraw"},
    {"type": "ping", "t": 1.5},
    {"type": "playback", "state": "finished"},
]


@pytest.mark.parametrize("message", GOOD, ids=lambda m: m["type"])
def test_decode_every_message_of_the_protocol_is_taken(message: dict[str, Any]) -> None:
    decoded = decode_text(json.dumps(message))
    assert decoded.model_dump(exclude_unset=True) == message


@pytest.mark.parametrize("message", GOOD, ids=lambda m: m["type"])
def test_decode_message_with_a_field_too_many_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(ProtocolProblem) as refused:
        decode_text(json.dumps({**message, "more": 1}))
    assert refused.value.code == "invalid_message"


@pytest.mark.parametrize(
    "changes",
    [
        {"token": 5},
        {"token": ""},
        {"token": "x" * 513},
        {"last_event_id": "7"},
        {"last_event_id": -1},
        {"last_event_id": 1.5},
        {"last_event_id": True},
        {"epoch": 5},
    ],
)
def test_decode_value_of_another_type_is_not_converted(changes: dict[str, Any]) -> None:
    with pytest.raises(ProtocolProblem, match=r"token|last_event_id|epoch"):
        decode_text(json.dumps({"type": "hello", "token": "t", **changes}))


def test_decode_refusal_refers_to_what_was_sent() -> None:
    with pytest.raises(ProtocolProblem) as refused:
        decode_text(json.dumps({"type": "answer", "text": "\0", "turn_key": KEY}))
    frame = refused.value.frame()
    assert (frame.code, frame.ref, frame.retryable) == ("invalid_input", KEY, False)
    with pytest.raises(ProtocolProblem) as refused:
        decode_text(json.dumps({"type": "nonsense"}))
    assert refused.value.ref == "nonsense"
    with pytest.raises(ProtocolProblem) as refused:
        decode_text(json.dumps({"type": "x" * 100}))
    assert refused.value.ref is None


def test_decode_longest_frame_is_counted_in_bytes() -> None:
    def frame(text: str) -> str:
        return json.dumps({"type": "answer", "text": text, "turn_key": KEY}, ensure_ascii=False)

    room = MAX_MESSAGE_BYTES - len(frame(""))
    assert isinstance(decode_text(frame("x" * room)), SendAnswer)
    with pytest.raises(ProtocolProblem) as refused:
        decode_text(frame("x" * (room + 1)))
    assert refused.value.close_code == 1009
    with pytest.raises(ProtocolProblem):
        decode_text(frame("é" * (room // 2 + 1)))


@pytest.mark.parametrize("kind", ["answer", "correct"])
def test_decode_answer_in_a_frame_that_is_too_long_is_told_with_its_key(kind: str) -> None:
    with pytest.raises(ProtocolProblem) as refused:
        decode_text(json.dumps({"type": kind, "text": "x" * MAX_MESSAGE_BYTES, "turn_key": KEY}))
    assert (refused.value.code, refused.value.ref, refused.value.fatal) == ("answer_too_long", KEY, False)


def test_decode_frame_that_is_too_long_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr("server.protocol.codec.json.loads", lambda text, **_: parsed.append(text))
    inside = json.dumps({"type": "consent", "version": '"type": "answer"' + "x" * MAX_MESSAGE_BYTES})
    for text, code in (
        (json.dumps({"type": "answer", "text": "x" * MAX_MESSAGE_BYTES}), "answer_too_long"),
        ('{"type": "answer", "turn_key": "' + "x" * MAX_MESSAGE_BYTES, "answer_too_long"),
        (inside, "invalid_message"),
    ):
        with pytest.raises(ProtocolProblem) as refused:
            decode_text(text)
        assert refused.value.code == code
    assert not parsed


def test_decode_other_frame_that_is_too_long_is_no_message() -> None:
    for text in (" " * (MAX_MESSAGE_BYTES + 1), json.dumps({"type": "consent", "version": "x" * MAX_MESSAGE_BYTES})):
        with pytest.raises(ProtocolProblem) as refused:
            decode_text(text)
        assert (refused.value.code, refused.value.close_code) == ("invalid_message", 1009)


def test_decode_longest_answer_is_taken_however_it_is_escaped() -> None:
    for character in ("x", "\u3042", "\U0001f600"):
        message = decode_text(json.dumps({"type": "answer", "text": character * 8000, "turn_key": KEY}))
        assert isinstance(message, SendAnswer)
        assert message.text == character * 8000


def refusal_of(text: str) -> str | None:
    """The code a frame is refused with; None when it is taken. Either way the answer can be sent."""
    try:
        message = decode_text(text)
    except ProtocolProblem as problem:
        encode(problem.frame()).encode("utf-8")
        return problem.code
    encode(message).encode("utf-8")
    return None


@given(st.text())
def test_decode_any_text_is_a_message_or_a_problem(text: str) -> None:
    assert refusal_of(text) in (None, *SENTENCES)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from([m["type"] for m in GOOD])
NAMES = st.sampled_from(["token", "text", "turn_key", "choices", "version", "t", "state", "utterance_id", "first_seq"])


@given(TYPES, st.dictionaries(NAMES, JSON, max_size=4))
def test_decode_any_object_is_a_message_or_a_problem(kind: str, fields: dict[str, Any]) -> None:
    code = refusal_of(json.dumps({"type": kind, **fields}))
    assert code in (None, "invalid_message", "invalid_input", "audio_format")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200))
def test_decode_any_real_text_comes_through_unchanged(text: str) -> None:
    for ascii_only in (True, False):
        raw = json.dumps({"type": "answer", "text": text, "turn_key": KEY}, ensure_ascii=ascii_only)
        message = decode_text(raw)
        assert isinstance(message, SendAnswer)
        assert message.text == text


@given(st.integers(0, 2**32 - 1), st.binary(min_size=1, max_size=50))
def test_decode_binary_any_whole_frame_is_taken(sequence: int, samples: bytes) -> None:
    pcm = samples * 2
    assert decode_binary(sequence.to_bytes(4, "big") + pcm) == AudioFrame(sequence, pcm)


@pytest.mark.parametrize("data", [b"", b"\0\0\0", b"\0\0\0\1", b"\0\0\0\1a", b"\0\0\0\1abc"])
def test_decode_binary_without_whole_samples_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolProblem) as refused:
        decode_binary(data)
    assert (refused.value.code, refused.value.close_code) == ("audio_format", 1003)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_encode_and_read_again_gives_the_same(text: str) -> None:
    delta = QuestionDelta(turn_number=3, attempt=1, text=text)
    assert SERVER_MESSAGES.validate_json(encode(delta)) == delta


def test_encode_event_keeps_text_as_it_is() -> None:
    event = {"id": 4, "type": "session.state", "state": "paused", "reason": "by_respondent"}
    assert json.loads(encode_event(event)) == event
    assert "é" in encode_event({"id": 1, "type": "x", "text": "é"})


def test_server_messages_are_strict_both_ways() -> None:
    with pytest.raises(ValidationError):
        SERVER_MESSAGES.validate_json('{"type": "turn.completed", "id": 0, "turn_number": 1}')
    with pytest.raises(ValidationError):
        SERVER_MESSAGES.validate_json('{"type": "pong", "t": "1"}')


def test_error_and_notice_have_words_for_a_person() -> None:
    error = Error.of("session_paused", ref="pause")
    assert (error.message, error.retryable, error.ref) == ("This interview is paused.", True, "pause")
    assert Error.of("internal", "Better words.").message == "Better words."
    assert Notice.of("answer_kept").text.startswith("Your answer is kept")


def test_ping_keeps_its_number_as_it_is() -> None:
    for t in (5, 5.5, 0):
        message = decode_text(json.dumps({"type": "ping", "t": t}))
        assert isinstance(message, Ping)
        assert message.t == t
        assert type(message.t) is type(t)


def test_moderator_commands_need_an_id_and_sense() -> None:
    message = parse({"type": "inject", "command_id": KEY, "question": " Why? "}, MODERATOR_MESSAGES)
    assert message == InjectQuestion(type="inject", command_id=KEY, question="Why?")
    assert isinstance(parse({"type": "steer", "command_id": KEY, "strategy": "deepen"}, COMMANDS), Steer)
    for bad in (
        {"type": "inject", "question": "Why?"},
        {"type": "inject", "command_id": KEY, "question": "  "},
        {"type": "extend", "command_id": KEY, "turns": 0},
        {"type": "steer", "command_id": KEY},
    ):
        with pytest.raises(ProtocolProblem):
            parse(bad, MODERATOR_MESSAGES)


def test_moderator_signals_are_called_global_on_the_wire() -> None:
    found = {"session_id": "s", "turn_number": 1, "phase": "mid", "global": {"a": 1}, "nodes": {}, "strategies": {}}
    frame = Signals.model_validate(found)
    assert json.loads(encode(frame))["global"] == {"a": 1}


def test_hello_defaults_are_those_of_a_first_visit() -> None:
    hello = decode_text('{"type": "hello", "token": "t"}')
    assert hello == Hello(type="hello", token="t", last_event_id=0, epoch=None)


def test_decode_message_nested_deeply_is_refused() -> None:
    for depth in (300, 900):
        with pytest.raises(ProtocolProblem):
            decode_text('{"type": "ping", "t": ' + "[" * depth + "]" * depth + "}")


def test_decode_answer_that_is_too_long_is_told_with_its_key_wherever_that_stands() -> None:
    long = "x" * MAX_MESSAGE_BYTES
    for fields in (
        {"type": "answer", "turn_key": KEY, "text": long},
        {"text": long, "type": "answer", "turn_key": KEY},
        {"turn_key": KEY, "text": long, "type": "correct"},
    ):
        with pytest.raises(ProtocolProblem) as refused:
            decode_text(json.dumps(fields))
        assert (refused.value.code, refused.value.ref) == ("answer_too_long", KEY)
    with pytest.raises(ProtocolProblem) as refused:
        decode_text(json.dumps({"type": "answer", "text": long}))
    assert (refused.value.code, refused.value.ref) == ("answer_too_long", "answer")
