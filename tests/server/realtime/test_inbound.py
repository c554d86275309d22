"""Events from Realtime clients, without a socket."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.protocol.codec import ProtocolProblem
from server.protocol.inbound import CLIENT_MESSAGES, Skip
from server.realtime.inbound import (
    API_EVENTS,
    EXTENSIONS,
    UNSUPPORTED,
    ApiEvent,
    Extension,
    decode,
    user_item,
)
from server.realtime.problems import MEANINGS, RealtimeCode, RealtimeProblem, RefusedEvent, error_fields

MOST = 131_072
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)
KINDS = st.sampled_from([*API_EVENTS, *EXTENSIONS, *UNSUPPORTED, "hello", ""])


def test_every_event_of_the_api_has_a_model_and_every_code_a_meaning() -> None:
    kinds = [get_args(model.model_fields["type"].annotation)[0] for model in get_args(ApiEvent)]
    assert tuple(kinds) == API_EVENTS
    assert set(MEANINGS) == set(get_args(RealtimeCode))
    assert not set(API_EVENTS) & set(UNSUPPORTED)


def test_extensions_are_messages_of_the_respondents_socket_under_their_own_names() -> None:
    for name, model in EXTENSIONS.items():
        assert name == f"askwell.{get_args(model.model_fields['type'].annotation)[0]}"
    event = decode('{"type": "askwell.skip", "event_id": "e"}', max_bytes=MOST)
    assert isinstance(event, Extension) and isinstance(event.message, Skip)
    assert event.event_id == "e"
    CLIENT_MESSAGES.validate_python(event.message.model_dump())


def read(text: str) -> tuple[str | None, str]:
    """The id of the event in a frame, and why it is refused."""
    try:
        return decode(text, max_bytes=MOST).event_id, ""
    except ProtocolProblem as problem:
        return problem.ref, problem.message


@given(st.text() | JSON.map(json.dumps))
def test_any_frame_that_is_no_event_is_refused(text: str) -> None:
    assert read(text)[1]


@given(KINDS, st.dictionaries(st.sampled_from(["session", "audio", "item", "response", "turn_key"]), JSON), JSON)
def test_any_fields_of_a_known_event_are_read_or_refused(kind: str, fields: dict[str, Any], event_id: Any) -> None:
    found, refusal = read(json.dumps({"type": kind, "event_id": event_id, **fields}))
    if isinstance(event_id, str) and event_id and "\0" not in event_id:
        assert found == event_id
    else:
        assert found is None
        assert refusal or event_id is None


@given(JSON.filter(lambda value: isinstance(value, dict)))
def test_any_item_is_an_answer_or_refused(item: dict[str, Any]) -> None:
    with pytest.raises(RealtimeProblem) as refused:
        user_item({"type": "message", "role": "user", **item})
    assert refused.value.param is not None


def test_item_with_an_id_is_the_same_answer_everywhere_and_another_in_another_session() -> None:
    content = [{"type": "input_text", "text": "one"}, {"type": "input_text", "text": "two"}]
    item = user_item({"type": "message", "role": "user", "id": "mine", "content": content})
    again = user_item({"type": "message", "role": "user", "id": "mine", "content": content[:1]})
    assert item.text == "one\ntwo"
    assert item.turn_key("s-1") == again.turn_key("s-1") != item.turn_key("s-2")
    nameless = user_item({"type": "message", "role": "user", "content": content})
    assert nameless.turn_key("s-1") != nameless.turn_key("s-1")


def test_error_has_the_shape_of_the_api() -> None:
    problem = RealtimeProblem("invalid_value", "No.", param="audio")
    frame = problem.frame()
    assert isinstance(frame, RefusedEvent)
    assert error_fields(frame, "e-1") == {
        "type": "invalid_request_error", "code": "invalid_value", "message": "No.", "param": "audio",
        "event_id": "e-1", "askwell": {"retryable": False},
    }  # fmt: skip
