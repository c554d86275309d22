"""Both formats, whole and streamed, against everything that can go wrong: which error, how many requests, what is kept.

`again` says whether the fault is one that a second try may mend. What a fault is called is written here from the
providers' documentation, not from the clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from pipeline.errors import LLMRateLimited, LLMRejected, LLMTimeout, LLMUnavailable, ProviderError
from tests.llm.rig import DEADLINE_S, KEY, SHORT_S, Mode, Rig, request, rigged
from tests.support.llm_double import (
    Answer,
    Behaviour,
    Body,
    Break,
    Bytes,
    Cut,
    Fail,
    Pace,
    Shape,
    page,
    refused_url,
    unanswering_url,
)
from tests.support.virtual_time import VIRTUAL_TIME, event_loop_policy

__all__ = ["event_loop_policy"]

pytestmark = VIRTUAL_TIME
GOOD = Answer("It calms people.")


@dataclass(frozen=True)
class Fault:
    """What the double does, what must be raised, and a word that the message must have."""

    name: str
    behaviour: Behaviour
    error: type[ProviderError]
    again: bool
    word: str = ""
    modes: tuple[Mode, ...] = ("complete", "stream")

    def __str__(self) -> str:
        return self.name

    @property
    def deadline_s(self) -> float:
        """Short where time is to run out."""
        return SHORT_S if self.error is LLMTimeout else DEADLINE_S


FAULTS = [
    Fault("400", Fail(400, "messages: too many"), LLMRejected, again=False, word="400"),
    Fault("400_temperature", Fail(400, "`temperature` is not supported"), LLMRejected, False, "GENERATION_TEMPERATURE"),
    Fault("400_effort", Fail(400, "Unknown parameter: 'reasoning_effort'."), LLMRejected, False, "GENERATION_EFFORT"),
    Fault("400_too_long", Fail(400, "maximum context length is 8192"), LLMRejected, False, "GENERATION_MAX_TOKENS"),
    Fault("401", Fail(401, "invalid x-api-key"), LLMRejected, again=False, word="ASKWELL_GENERATION_API_KEY"),
    Fault("401_key_echoed", Fail(401, f"Incorrect API key provided: {KEY}."), LLMRejected, again=False, word="401"),
    Fault("401_key_half_echoed", Fail(401, f"Incorrect API key: {KEY[:20]}***."), LLMRejected, again=False, word="401"),
    Fault("401_html", Fail(401, body=b"<html>no</html>", content_type="text/html"), LLMRejected, False, "401"),
    Fault("403", Fail(403, "no access"), LLMRejected, again=False, word="403"),
    Fault("404_model", Fail(404, "model: double-1"), LLMRejected, again=False, word="ASKWELL_GENERATION_MODEL"),
    Fault("404_page", page(404), LLMRejected, again=False, word="ASKWELL_GENERATION_BASE_URL"),
    Fault("405", Fail(405), LLMRejected, again=False, word="ASKWELL_GENERATION_BASE_URL"),
    Fault("413", Fail(413, "Request exceeds the maximum size"), LLMRejected, again=False, word="413"),
    Fault("422", Fail(422, "Unprocessable"), LLMRejected, again=False, word="422"),
    Fault("307", Body(b"", 307, headers=(("location", "https://elsewhere.example/"),)), LLMRejected, False, "BASE_URL"),
    Fault("429", Fail(429, "slow down"), LLMRateLimited, again=True, word="429"),
    Fault("500", Fail(500), LLMUnavailable, again=True, word="500"),
    Fault("502_page", page(502), LLMUnavailable, again=True, word="502"),
    Fault("503", Fail(503, "no capacity"), LLMUnavailable, again=True, word="503"),
    Fault("529", Fail(529, "Overloaded"), LLMUnavailable, again=True, word="529"),
    Fault("reset", Break("reset"), LLMUnavailable, again=True, word="ASKWELL_GENERATION_BASE_URL"),
    Fault("close", Break("close"), LLMUnavailable, again=True, word="ASKWELL_GENERATION_BASE_URL"),
    Fault("silence", Break("silence"), LLMTimeout, again=True, word="ASKWELL_GENERATION_DEADLINE_S"),
    Fault("garbage", Bytes(bytes(range(256)) * 3), LLMUnavailable, again=True, word="BASE_URL"),
    Fault("garbage_tls", Bytes(b"\x15\x03\x03\x00\x02\x02\x28"), LLMUnavailable, again=True, word="BASE_URL"),
    Fault("page", page(200), LLMUnavailable, again=True, word="BASE_URL"),
    Fault("half_json", Body(b'{"id": "x", "content": [{"ty'), LLMUnavailable, again=True, word="format"),
    Fault("json_list", Body(b"[1, 2]"), LLMUnavailable, again=True, word="format"),
    Fault("json_deep", Body(b"[" * 100_000), LLMUnavailable, again=True, word="format"),
    Fault("json_other", Body(b'{"hello": "world"}'), LLMUnavailable, again=True, word="format"),
    Fault("json_wrong_types", Body(b'{"content": 7, "choices": "many"}'), LLMUnavailable, True, "format"),
    Fault("no_body", Body(b""), LLMUnavailable, again=True, word="format"),
    Fault("not_utf8", Body(b'{"content": "\xff\xfe"}'), LLMUnavailable, again=True, word="format"),
    Fault("error_in_200", Body(b'{"error": {"type": "overloaded_error", "message": "later"}, "type": "error"}'),
          LLMUnavailable, again=True, word="529"),
    Fault("body_reset", Answer(cut=Cut(30, "reset")), LLMUnavailable, True, "broke off", ("complete",)),
    Fault("body_closed", Answer(cut=Cut(30, "close")), LLMUnavailable, True, "broke off", ("complete",)),
    Fault("body_silence", Answer(cut=Cut(30, "silence")), LLMTimeout, True, "DEADLINE", ("complete",)),
    Fault("body_garbage", Answer(cut=Cut(30, "garbage"), shape=Shape(piece_bytes=8)), LLMUnavailable, True, "broke off",
          ("complete",)),
    Fault("body_dripping", Answer("word " * 99, shape=Shape(piece_bytes=2), pace=Pace(token_s=0.02)), LLMTimeout, True,
          "DEADLINE", ("complete",)),
    Fault("late", Answer(pace=Pace(whole_s=9, headers_s=9)), LLMTimeout, again=True, word="DEADLINE"),
    Fault("late_first_token", Answer(pace=Pace(first_token_s=9)), LLMTimeout, True, "DEADLINE", ("stream",)),
    Fault("stream_reset_at_once", Answer(cut=Cut(0, "reset")), LLMUnavailable, True, "broke off", ("stream",)),
    Fault("stream_closed_at_once", Answer(cut=Cut(0, "close")), LLMUnavailable, True, "broke off", ("stream",)),
    Fault("stream_error_at_once", Answer(cut=Cut(0, "error")), LLMUnavailable, True, "overloaded", ("stream",)),
    Fault("stream_ends_at_once", Answer(cut=Cut(0, "end")), LLMUnavailable, True, "broke off", ("stream",)),
    Fault("stream_garbage_at_once", Answer(cut=Cut(0, "garbage")), LLMUnavailable, True, "format", ("stream",)),
    Fault("stream_of_nothing", Body(b"", content_type="text/event-stream"), LLMUnavailable, True, "broke off",
          ("stream",)),
    Fault("stream_only_comments", Body(b": hi\n\n" * 50, content_type="text/event-stream"), LLMUnavailable, True,
          "broke off", ("stream",)),
]  # fmt: skip
CASES = [pytest.param(fault, mode, id=f"{fault}-{mode}") for fault in FAULTS for mode in fault.modes]
MENDED = [pytest.param(fault, mode, id=f"{fault}-{mode}") for fault in FAULTS for mode in fault.modes if fault.again]

MIDDLE: dict[str, type[ProviderError]] = {
    "reset": LLMUnavailable,
    "close": LLMUnavailable,
    "garbage": LLMUnavailable,
    "error": LLMUnavailable,
    "end": LLMUnavailable,
    "silence": LLMTimeout,
}
ANNOUNCED = {
    LLMTimeout: ("llm_timeout", "llm_retry_after_timeout"),
    LLMRateLimited: ("llm_rate_limit", "llm_retry_after_rate_limit"),
    LLMUnavailable: ("llm_http_error", "llm_retry_after_error"),
    LLMRejected: ("llm_http_error", ""),
}


@pytest.mark.parametrize(("fault", "mode"), CASES)
async def test_fault_that_stays_is_raised_after_the_tries_it_deserves(rig: Rig, fault: Fault, mode: Mode) -> None:
    rig.double.always(fault.behaviour)
    with pytest.raises(fault.error) as caught:
        await rig.ask(mode, deadline_s=fault.deadline_s)
    tries = 2 if fault.again else 1
    assert type(caught.value) is fault.error
    assert caught.value.retryable is fault.error.retryable
    assert fault.word in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert len(rig.double.requests) == tries
    assert rig.outcomes == [(number, "failed", fault.error.__name__) for number in range(1, tries + 1)]
    assert rig.pieces == []
    final, again = ANNOUNCED[fault.error]
    assert rig.events[-1] == final
    assert rig.events.count("llm_call_start") == tries
    assert rig.events.count(again) == tries - 1
    assert [asked.problem for asked in rig.double.requests] == [""] * tries


@pytest.mark.parametrize(("fault", "mode"), MENDED)
async def test_fault_that_passes_is_mended_by_the_second_try(rig: Rig, fault: Fault, mode: Mode) -> None:
    rig.double.next(fault.behaviour, GOOD)
    answer = await rig.ask(mode, deadline_s=fault.deadline_s)
    assert answer.text == GOOD.text
    assert len(rig.double.requests) == 2
    assert rig.outcomes == [(1, "failed", fault.error.__name__), (2, "completed", None)]
    assert rig.events[-1] == "llm_call_complete"
    assert rig.double.requests[0].raw == rig.double.requests[1].raw
    assert len(rig.slept) == 1
    assert 0 <= rig.slept[0] < min(1.0, fault.deadline_s)


@pytest.mark.parametrize("how", sorted(MIDDLE))
async def test_stream_that_breaks_after_its_first_token_is_not_asked_again(rig: Rig, how: Any) -> None:
    rig.double.always(Answer("It calms people down.", cut=Cut(2, how)))
    with pytest.raises(MIDDLE[how]):
        await rig.ask("stream", deadline_s=SHORT_S if how == "silence" else DEADLINE_S)
    assert "".join(rig.pieces).strip() == "It calms"
    assert len(rig.double.requests) == 1
    assert rig.outcomes == [(1, "failed", MIDDLE[how].__name__)]
    assert rig.slept == []
    assert not any("retry" in event for event in rig.events)
    assert rig.calls.peek()[0].first_token_ms is not None


async def test_stream_that_drips_ends_at_its_deadline(rig: Rig) -> None:
    rig.double.next(Answer("word " * 500, pace=Pace(token_s=0.03)))
    with pytest.raises(LLMTimeout):
        await rig.ask("stream", deadline_s=SHORT_S)
    assert len(rig.double.requests) == 1
    assert len(rig.pieces) == pytest.approx(SHORT_S / 0.03, abs=1)
    assert rig.calls.peek()[0].latency_ms == pytest.approx(SHORT_S * 1000, abs=1)


async def test_stream_that_never_ends_is_cut_off_by_its_length(rig: Rig) -> None:
    rig.double.next(Answer("again and " * 50, repeat=True))
    with pytest.raises(LLMUnavailable):
        await rig.ask("stream", request(max_tokens=20))
    assert len(rig.double.requests) == 1
    assert 20 < len("".join(rig.pieces).split()) < 5000


async def test_answer_after_the_deadline_is_not_taken_for_the_next_one(rig: Rig, mode: Mode) -> None:
    late = Pace(whole_s=SHORT_S * 0.8, headers_s=SHORT_S * 0.8)
    rig.double.next(Answer("Late.", pace=late), GOOD)
    assert (await rig.ask(mode, deadline_s=SHORT_S)).text == GOOD.text
    assert rig.double.requests[0].hung_up
    assert rig.double.requests[0].connection != rig.double.requests[1].connection
    rig.double.next(Answer("The next."))
    assert (await rig.ask(mode)).text == "The next."


async def test_port_where_nobody_listens_is_tried_twice(rig: Rig, mode: Mode) -> None:
    async with refused_url() as url:
        with pytest.raises(LLMUnavailable, match="ASKWELL_GENERATION_BASE_URL"):
            await rig.ask(mode, base_url=url)
    assert rig.outcomes == [(1, "failed", "LLMUnavailable"), (2, "failed", "LLMUnavailable")]


async def test_port_that_never_accepts_costs_no_more_than_the_deadline(rig: Rig, mode: Mode) -> None:
    async with unanswering_url() as url:
        with pytest.raises(LLMTimeout):
            await rig.ask(mode, base_url=url, deadline_s=SHORT_S)
    assert sum(call.latency_ms for call in rig.calls.peek()) <= SHORT_S * 1000 + 1


@pytest.mark.parametrize(
    "url",
    [
        "http://nowhere.invalid/v1",
        "http://127.0.0.1:1/v1",
        "ftp://127.0.0.1/v1",
        "127.0.0.1/v1",
        "http://[::1/v1",
        "http://a b/v1",
        "http://127.0.0.1:99999/v1",
        "",
    ],
)
async def test_base_url_that_is_wrong_names_its_setting(rig: Rig, mode: Mode, url: str) -> None:
    with pytest.raises((LLMUnavailable, LLMRejected), match="ASKWELL_GENERATION_BASE_URL"):
        await rig.ask(mode, base_url=url, deadline_s=2.0)
    assert {call.outcome for call in rig.calls.peek()} == {"failed"}


async def test_base_url_without_its_version_is_not_found(rig: Rig, mode: Mode) -> None:
    with pytest.raises(LLMRejected, match="ASKWELL_GENERATION_BASE_URL"):
        await rig.ask(mode, base_url=rig.double.url)
    assert [asked.status for asked in rig.double.asked] == [404]


async def test_key_that_no_header_takes_is_refused_without_a_request(rig: Rig, mode: Mode) -> None:
    with pytest.raises(LLMRejected, match="ASKWELL_GENERATION_API_KEY"):
        await rig.ask(mode, api_key=SecretStr(KEY + "\nx-admin: yes"))
    assert rig.double.asked == []


@pytest.mark.parametrize("key", ["tea4two", "correct horse battery staple".replace(" ", "_"), "a" * 40])
async def test_key_that_looks_like_none_is_hidden_when_echoed(rig: Rig, mode: Mode, key: str) -> None:
    rig.double.next(Fail(401, f"Wrong key {key}, or ({key}) or Bearer:{key}."))
    with pytest.raises(LLMRejected) as caught:
        await rig.ask(mode, api_key=SecretStr(key))
    assert rig.double.requests[0].key == key
    assert key not in str(caught.value)
    assert key not in rig.traces()


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry-after": "0.1"}, 0.1),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "120"}, 0.12),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "nan"}, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("status", [429, 529])
async def test_retry_after_is_kept_to(
    rig: Rig, mode: Mode, status: int, headers: dict[str, str], pause: float | None
) -> None:
    rig.double.next(Fail(status, headers=tuple(headers.items())), GOOD)
    assert (await rig.ask(mode)).text == GOOD.text
    assert len(rig.slept) == 1
    if pause is None:
        assert 0 < rig.slept[0] <= 1.0
    else:
        assert rig.slept == [pytest.approx(pause)]


@pytest.mark.parametrize("value", ["25", "3600", "1e300", "inf", "Wed, 21 Oct 2099 07:28:00 GMT"])
async def test_retry_after_beyond_the_deadline_fails_at_once(rig: Rig, mode: Mode, value: str) -> None:
    rig.double.always(Fail(429, headers=(("retry-after", value),)))
    with pytest.raises(LLMRateLimited):
        await rig.ask(mode)
    assert len(rig.double.requests) == 1
    assert rig.slept == []


async def test_wrong_key_is_refused_at_once(form: Any, mode: Mode) -> None:
    async with rigged(form, key="sk-another") as rig:
        with pytest.raises(LLMRejected, match="ASKWELL_GENERATION_API_KEY"):
            await rig.ask(mode)
        assert len(rig.double.requests) == 1


async def test_unknown_model_is_reported_with_its_name(form: Any, mode: Mode) -> None:
    async with rigged(form, models=("double-1",)) as rig:
        with pytest.raises(LLMRejected, match="double-9") as caught:
            await rig.ask(mode, model="double-9")
        assert "ASKWELL_GENERATION_MODEL" in str(caught.value)
