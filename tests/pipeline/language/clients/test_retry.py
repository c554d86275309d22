"""The one retry: how long to wait for it, when there is none, and what a failed try says."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from pipeline.errors import LLMRateLimited, LLMRejected, LLMUnavailable
from pipeline.language.clients.base import ProviderName, RoleModel
from pipeline.language.clients.faults import Fault, circuit_open, from_status, retry_after_s, unreachable
from pipeline.language.clients.redaction import HIDDEN, SHOWN_CHARACTERS, redacted, shown, shown_url
from pipeline.language.clients.timing import BACKOFF_S, pause_before_retry

KEY = "sk-proj-Q7vX2mLkP9dRtB4wYzN8"
NOW = 1_700_000_000.0


def spec(provider: ProviderName = "openai", **changes: Any) -> RoleModel:
    usual: dict[str, Any] = {
        "role": "scoring",
        "provider": provider,
        "model": "m-1",
        "base_url": "https://user:pass@api.example.org/v1?x=1",
        "api_key": SecretStr(KEY),
        "key_setting": "OPENAI_API_KEY",
    }
    return RoleModel(**(usual | changes))


def fault(wait_s: float | None = None, *, again: bool = True) -> Fault:
    return Fault(LLMUnavailable, "", "error", again, wait_s=wait_s)


@given(st.floats(0.01, 600), st.floats(0, 1), st.floats(0, 0.999))
def test_pause_without_a_wish_is_jittered_and_fits(deadline_s: float, share: float, jitter: float) -> None:
    left_s = share * deadline_s
    pause_s = pause_before_retry(fault(), deadline_s, left_s, jitter)
    if pause_s is None:
        assert left_s * 0.75 <= 0.1 * deadline_s
    else:
        assert 0 <= pause_s <= jitter * BACKOFF_S
        assert left_s - pause_s >= 0.1 * deadline_s


@pytest.mark.parametrize("jitter", [0.0, 0.25, 0.5])
def test_pause_of_a_usual_deadline_is_full_jitter_over_a_second(jitter: float) -> None:
    assert pause_before_retry(fault(), 30, 12, jitter) == pytest.approx(jitter)


@pytest.mark.parametrize(
    ("wait_s", "left_s", "expected"),
    [(0.0, 20.0, 0.0), (5.0, 20.0, 5.0), (17.0, 20.0, 17.0), (17.1, 20.0, None), (60.0, 20.0, None), (0.0, 2.9, None)],
)
def test_pause_that_is_asked_for_is_kept_to_or_there_is_no_retry(
    wait_s: float, left_s: float, expected: float | None
) -> None:
    assert pause_before_retry(fault(wait_s), 30.0, left_s, 0.9) == expected


def test_fault_that_can_not_be_mended_is_not_tried_again() -> None:
    assert pause_before_retry(fault(again=False), 30, 30, 0.5) is None


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "9", "retry-after-ms": "soon"}, 9.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:00:00 GMT"}, 0.0),
        ({"retry-after": "inf"}, math.inf),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Tue, 99 Nov 2023 22:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_wait_is_read_from_seconds_milliseconds_and_dates(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_s(headers, NOW) == expected


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), st.text(max_size=30)))
def test_wait_of_any_header_is_a_time_or_nothing(headers: dict[str, str]) -> None:
    found = retry_after_s(headers, NOW)
    assert found is None or found >= 0


@pytest.mark.parametrize(
    ("status", "text", "names"),
    [
        (400, "`temperature` is deprecated for this model", ["ASKWELL_SCORING_TEMPERATURE", "400"]),
        (400, "Unsupported parameter: 'reasoning_effort'", ["ASKWELL_SCORING_EFFORT"]),
        (400, "output_config.effort: not supported", ["ASKWELL_SCORING_EFFORT"]),
        (400, "Invalid parameter: 'response_format' of type 'json_schema'", ["ASKWELL_SCORING_STRUCTURED_OUTPUT"]),
        (400, "Thinking may not be enabled when tool_choice forces tool use.", ["ASKWELL_SCORING_STRUCTURED_OUTPUT"]),
        (400, "max_tokens: 9000 > 8192", ["ASKWELL_SCORING_MAX_TOKENS"]),
        (400, "something else", ["ASKWELL_SCORING_MODEL"]),
        (401, "bad key", ["OPENAI_API_KEY", "401", "bad key"]),
        (403, "", ["OPENAI_API_KEY", "403"]),
        (402, "Insufficient Balance", ["OPENAI_API_KEY", "Insufficient Balance"]),
        (404, "no", ["ASKWELL_SCORING_MODEL", "'m-1'", "ASKWELL_SCORING_BASE_URL", "https://api.example.org/v1"]),
        (405, "", ["ASKWELL_SCORING_BASE_URL"]),
        (301, "", ["ASKWELL_SCORING_BASE_URL"]),
        (413, "", ["413"]),
    ],
)
def test_refusal_names_what_to_look_at(status: int, text: str, names: list[str]) -> None:
    found = from_status(spec(), status, text)
    assert (found.error, found.retryable, found.is_outage) == (LLMRejected, False, False)
    for name in names:
        assert name in found.message


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
def test_outage_is_tried_again_and_counts(status: int) -> None:
    found = from_status(spec(), status, "busy", 3.0)
    assert (found.error, found.retryable, found.is_outage, found.wait_s) == (LLMUnavailable, True, True, 3.0)
    assert str(status) in found.message and "busy" in found.message


def test_rate_limit_is_tried_again_and_does_not_count() -> None:
    found = from_status(spec(), 429, '{"error": {"message": "slow down"}}')
    assert (found.error, found.retryable, found.is_outage) == (LLMRateLimited, True, False)
    assert '"slow down"' in found.message


def test_rate_limit_for_want_of_money_is_not_tried_again() -> None:
    found = from_status(spec(), 429, '{"error": {"message": "Check your plan", "code": "insufficient_quota"}}')
    assert (found.error, found.retryable) == (LLMRateLimited, False)
    assert "account" in found.message


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "no such thing", "type": "x"}}',
        '{"type": "error", "error": {"type": "x", "message": "no such thing"}}',
        '{"error": "no such thing"}',
        '{"detail": "no such thing"}',
        '{"message": "no such thing", "request_id": "1"}',
        "no such thing",
        "<html><head><style>p {}</style></head><body><p>no   such\n thing</p></body></html>",
    ],
)
def test_providers_own_words_are_quoted_on_one_line(body: str) -> None:
    assert 'It said: "no such thing".' in from_status(spec(), 500, body).message


def test_server_that_fails_for_a_form_of_answer_it_does_not_know_has_the_setting_named() -> None:
    said = "1 validation error: {'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}"
    assert "ASKWELL_SCORING_STRUCTURED_OUTPUT" in from_status(spec(), 500, said).message
    assert "Check" not in from_status(spec(), 500, "out of memory").message


def test_key_of_a_few_letters_is_hidden_as_a_word_and_not_inside_of_others() -> None:
    assert redacted("key x, text, next", "x") == f"key {HIDDEN}, text, next"


def test_role_without_a_key_is_told_to_set_one() -> None:
    found = from_status(spec(api_key=None, key_setting=""), 401, "")
    assert "requires a key" in found.message and "ASKWELL_SCORING_API_KEY" in found.message


def test_open_circuit_says_for_how_long() -> None:
    assert "not asked again for 17 s" in circuit_open(spec(), 17.2).message


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"bad {KEY[:14]}**** end",
        f"x-api-key={KEY}&more",
        f"nothing{KEY[-12:]}",
        "Incorrect API key provided: sk-other-0123456789",
        "Authorization: Bearer abc.def.ghi-jkl",
    ],
)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_key_repeated_by_a_provider_is_hidden(text: str, status: int) -> None:
    message = from_status(spec(), status, text).message
    assert HIDDEN in message
    assert not {KEY[i : i + 8] for i in range(len(KEY) - 7)} & {message[i : i + 8] for i in range(len(message))}
    assert "abc.def" not in message and "0123456789" not in message


def test_passwords_of_a_base_url_are_not_shown() -> None:
    for message in (unreachable(spec(), "refused").message, from_status(spec(), 404, "").message):
        assert "https://api.example.org/v1" in message
        assert "pass" not in message
    assert shown_url("http://[::1") == HIDDEN


@given(st.text(max_size=2000), st.text(max_size=40))
def test_text_shown_is_short_and_has_no_secret(text: str, secret: str) -> None:
    found = shown(text + secret + text, secret)
    assert len(found) <= SHOWN_CHARACTERS
    assert not any(character in found for character in "\n\r\x00")
    if len(secret.strip()) > len(HIDDEN):
        assert secret not in redacted(text + secret + text, secret)
