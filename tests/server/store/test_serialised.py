"""JSON for columns that hold JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from server.store.serialised import Serialised, as_json, json_text


@pytest.mark.parametrize(
    "value",
    [{}, [], "", "é – 你好", "half a pair: \ud800", {"a": [1, 1e-7, -0.0, True, None, {"b": "\u0000"}]}, 2**70],
)
def test_json_is_read_as_what_was_written(value: Any) -> None:
    assert json.loads(as_json(value)) == value
    assert as_json(value).encode()
    assert json_text(Serialised(as_json(value))) == as_json(value)
