"""What a model said is said again to whoever asks for the same."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any

from tests.local_llm.replay import Replay, recorded
from tests.local_llm.wiretap import Exchange, Wiretap


def said(text: str, about: str = "", *, form: str = "", status: int = 200) -> Exchange:
    content = f"Rate:\n\n<answer-1f2e>\n{about}\n</answer-1f2e>\n" if about else "Ask."
    request: dict[str, Any] = {"messages": [{"role": "user", "content": content}], "stream": not form}
    if form:
        request["response_format"] = {"type": "json_schema", "json_schema": {"name": form, "schema": {}}}
    return Exchange(
        at_s=0, seconds=1, first_byte_s=1, status=status, request=request, text=text, usage={"prompt_tokens": 3},
        finish="stop",
    )  # fmt: skip


def ask(address: str, request: dict[str, Any]) -> int:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps(request))
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def replies(exchanges: list[Exchange], requests: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """Status and text for each request, as a relay reads them."""
    with Replay(exchanges).listening() as address, Wiretap(address).listening() as tap:
        found = []
        for number, request in enumerate(requests, 1):
            status = ask(tap.url, request)
            found.append((status, tap.heard(number)[-1].text))
    return found


def test_answer_to_the_same_text_is_found_whatever_the_order() -> None:
    first, second = said('{"a": 1}', "strong", form="rating"), said('{"a": 2}', "weak", form="rating")
    assert replies([first, second], [second.request, first.request]) == [(200, second.text), (200, first.text)]


def test_questions_come_in_their_order_and_then_the_last_one_again() -> None:
    one, two = said("Why  is that?"), said("What else?")
    found = replies([one, two], [one.request] * 3)
    assert found == [(200, "Why  is that?"), (200, "What else?"), (200, "What else?")]


def test_rating_that_was_not_recorded_is_unavailable() -> None:
    one = said("{}", "strong", form="rating")
    assert [status for status, _ in replies([one], [one.request] * 2)] == [200, 503]


def test_call_that_broke_off_is_not_said_again() -> None:
    broken, whole = said("", "strong", form="rating", status=502), said("{}", "strong", form="rating")
    assert replies([broken, whole], [whole.request]) == [(200, "{}")]


def test_journal_of_the_relay_can_be_read(tmp_path: Path) -> None:
    journal = tmp_path / "calls.jsonl"
    exchange = said("Why is that?")
    with Replay([exchange]).listening() as address, Wiretap(address, journal).listening() as tap:
        assert ask(tap.url, exchange.request) == 200
        tap.heard(1)
    lines = journal.read_text().splitlines()
    assert [again.text for again in recorded(lines)] == ["Why is that?"]
