"""Alerts to people who are not looking: delivered once, tried again, never in anybody's way."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable

import httpx
from pydantic import SecretStr

from config.alerts import AlertSettings
from server.hot.errors import StorageUnavailable
from server.watch.webhook import MAX_WAITING, Webhook
from tests.support.patience import PATIENCE_S

URL = "https://hooks.example/askwell"


class Receiver:
    """Answers as it is told, with 200 once nothing is left to tell."""

    def __init__(self, *answers: int | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.came = asyncio.Event()

    def client(self) -> httpx.AsyncClient:
        """A client that reaches nobody else."""
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        if answer < 300:
            self.came.set()
        return httpx.Response(answer)


class Once:
    """Lets each key through once."""

    def __init__(self, *, away: bool = False) -> None:
        self.keys: set[str] = set()
        self.away = away

    async def __call__(self, key: str, ttl_s: float) -> bool:
        if self.away:
            raise StorageUnavailable("nobody there")
        known = key in self.keys
        self.keys.add(key)
        return not known


async def posted(hook: Webhook, until: Callable[[], bool]) -> None:
    """Let it work until then."""
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(hook.run())
        async with asyncio.timeout(PATIENCE_S):
            while not until():
                await asyncio.sleep(0.001)
        working.cancel()


def webhook(
    receiver: Receiver, first: Once | None = None, secret: str | None = None, lost: list[int] | None = None
) -> Webhook:
    """One that does not wait long between tries; what it gives up is counted in `lost`."""
    given_up = [] if lost is None else lost
    return Webhook(
        AlertSettings(
            alert_webhook_url=SecretStr(URL), alert_webhook_secret=None if secret is None else SecretStr(secret)
        ),
        first or Once(),
        client=receiver.client,
        pauses_s=(0.0, 0.0),
        on_lost=lambda: given_up.append(1),
    )


async def test_alert_is_posted_as_json_and_signed() -> None:
    receiver = Receiver()
    hook = webhook(receiver, secret="s3cret")
    hook.offer("s1:stuck", {"code": "stuck", "session_id": "s1"})
    await posted(hook, receiver.came.is_set)
    [request] = receiver.requests
    assert str(request.url) == URL
    assert json.loads(request.content) == {"code": "stuck", "session_id": "s1"}
    digest = hmac.new(b"s3cret", request.content, hashlib.sha256).hexdigest()
    assert request.headers["x-askwell-signature"] == f"sha256={digest}"


async def test_alert_is_tried_again_while_that_may_help() -> None:
    lost: list[int] = []
    receiver = Receiver(503, httpx.ConnectError("refused"))
    hook = webhook(receiver, lost=lost)
    hook.offer("s1:stuck", {"code": "stuck"})
    await posted(hook, receiver.came.is_set)
    assert len(receiver.requests) == 3
    assert not lost


async def test_alert_that_is_refused_is_given_up_and_the_next_one_goes_out() -> None:
    lost: list[int] = []
    receiver = Receiver(404)
    hook = webhook(receiver, lost=lost)
    hook.offer("s1:stuck", {"code": "stuck"})
    hook.offer("s2:stuck", {"code": "stuck"})
    await posted(hook, receiver.came.is_set)
    assert len(receiver.requests) == 2
    assert len(lost) == 1


async def test_receiver_that_stays_away_costs_one_alert_at_a_time() -> None:
    lost: list[int] = []
    receiver = Receiver(500, 500, 500)
    hook = webhook(receiver, lost=lost)
    hook.offer("s1:stuck", {"code": "stuck"})
    hook.offer("s2:stuck", {"code": "stuck"})
    await posted(hook, receiver.came.is_set)
    assert (len(receiver.requests), len(lost)) == (4, 1)


async def test_same_alert_of_two_nodes_is_posted_once() -> None:
    receiver, first = Receiver(), Once()
    hook = webhook(receiver, first)
    hook.offer("s1:stuck", {"code": "stuck"})
    hook.offer("s1:stuck", {"code": "stuck"})
    hook.offer("s1:fatigue", {"code": "fatigue"})
    await posted(hook, lambda: len(receiver.requests) == 2)
    assert [json.loads(request.content)["code"] for request in receiver.requests] == ["stuck", "fatigue"]


async def test_alert_goes_out_where_nobody_knows_whether_it_did() -> None:
    receiver = Receiver()
    hook = webhook(receiver, Once(away=True))
    hook.offer("s1:stuck", {"code": "stuck"})
    await posted(hook, receiver.came.is_set)


async def test_too_many_alerts_push_out_the_oldest_and_nobody_waits() -> None:
    lost: list[int] = []
    receiver = Receiver()
    hook = webhook(receiver, lost=lost)
    for number in range(MAX_WAITING + 5):
        hook.offer(f"{number}", {"code": str(number)})
    assert len(lost) == 5
    await posted(hook, lambda: len(receiver.requests) == MAX_WAITING)
    assert json.loads(receiver.requests[0].content)["code"] == "5"


async def test_without_an_address_nothing_is_kept() -> None:
    lost: list[int] = []
    hook = Webhook(AlertSettings(), Once(), on_lost=lambda: lost.append(1))
    for number in range(MAX_WAITING + 5):
        hook.offer(f"{number}", {})
    assert not lost
    await hook.run()
