"""Logs: one form for everything, nothing that must not be there."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from config.settings import LogSettings
from pipeline.errors import LLMRejected
from server.logs import HIDDEN, configure


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], level = before
    root.setLevel(level)
    structlog.reset_defaults()


def _logged(work: Any, **settings: Any) -> list[dict[str, Any]]:
    stream = io.StringIO()
    configure(LogSettings(**{"log_format": "json", **settings}), stream)
    work()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_event_is_one_json_line_with_keys_level_and_time() -> None:
    (line,) = _logged(lambda: structlog.get_logger("x").info("turn.completed", turn=3, stages_ms={"graph": 1.5}))
    assert (line["event"], line["turn"], line["stages_ms"], line["level"]) == (
        "turn.completed",
        3,
        {"graph": 1.5},
        "info",
    )
    assert line["timestamp"].endswith("Z")


def test_standard_library_takes_the_same_form() -> None:
    (line,) = _logged(lambda: logging.getLogger("some.library").warning("disk %s", "full"))
    assert (line["event"], line["level"]) == ("disk full", "warning")


def test_level_leaves_out_what_is_less_important() -> None:
    assert _logged(lambda: structlog.get_logger().info("x"), log_level="warning") == []


def test_what_respondents_say_is_dropped_unless_enabled() -> None:
    def work() -> None:
        structlog.get_logger().info("answer", **{"pii.text": "secret", "inner": {"pii_quote": "secret", "n": 1}})

    (line,) = _logged(work)
    assert "secret" not in json.dumps(line)
    assert line["inner"] == {"n": 1}
    (line,) = _logged(work, log_pii=True)
    assert line["pii.text"] == "secret"


@pytest.mark.parametrize(
    "keys",
    [
        {"token": "s3cret"},
        {"moderator_token": "s3cret"},
        {"llm": {"api_key": "s3cret"}},
        {"headers": [{"authorization": "s3cret"}]},
        {"path": "/x?token=s3cret&y=1"},
        {"header": "Authorization: Bearer s3cret-s3cret"},
        {"url": "redis://user:s3cret@host:6379"},
        {"anthropic_api_key": "s3cret"},
        {"headers": {"x-api-key": "s3cret"}},
        {"request": "POST x-api-key: s3cret-s3cret"},
        {"reason": "Incorrect API key provided: sk-proj-s3cret-s3cret."},
        {"url": "https://api.example.org/v1?key=s3cret"},
    ],
)
def test_secrets_are_hidden_wherever_they_stand(keys: dict[str, Any]) -> None:
    (line,) = _logged(lambda: structlog.get_logger().info("event", **keys))
    assert "s3cret" not in json.dumps(line)
    assert HIDDEN in json.dumps(line)


def test_secret_in_an_exception_of_a_library_is_hidden() -> None:
    def work() -> None:
        try:
            raise OSError("can't reach redis://user:s3cret@host")
        except OSError as exc:
            structlog.get_logger().error("failed", exc_info=exc)

    (line,) = _logged(work)
    assert "s3cret" not in json.dumps(line)
    assert "OSError" in line["exception"]


@pytest.mark.parametrize("form", ["json", "console"])
def test_exception_is_written_without_local_variables(form: Any) -> None:
    def work() -> None:
        held = "s3cr" + "et-in-a-variable"
        try:
            raise LLMRejected(f"refused a key of {len(held)} characters")
        except LLMRejected:
            structlog.get_logger().exception("turn.defect")

    stream = io.StringIO()
    configure(LogSettings(log_format=form), stream)
    work()
    assert "refused a key of" in stream.getvalue()
    assert "s3cret-in-a-variable" not in stream.getvalue()


@pytest.mark.parametrize(
    ("event", "level"), [("llm_call_complete", "info"), ("llm_timeout", "warning"), ("llm_http_error", "error")]
)
def test_events_of_language_models_pass_with_their_figures(event: str, level: str) -> None:
    figures = {"role": "scoring", "model": "claude-x", "input_tokens": 7, "cached_tokens": 0, "latency_ms": 1.5}
    (line,) = _logged(lambda: getattr(structlog.get_logger(), level)(event, **figures))
    assert {key: line[key] for key in figures} == figures
    assert (line["event"], line["level"]) == (event, level)


def test_lines_of_the_http_client_are_left_out() -> None:
    assert _logged(lambda: logging.getLogger("httpx").info("HTTP Request: POST https://api.example.org")) == []


def test_console_form_is_for_people() -> None:
    stream = io.StringIO()
    configure(LogSettings(log_format="console"), stream)
    structlog.get_logger().info("turn.completed", turn=3)
    assert "turn.completed" in stream.getvalue()
    assert not stream.getvalue().startswith("{")
