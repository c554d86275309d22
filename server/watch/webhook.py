"""Alerts posted to a webhook in the background, with retries."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import structlog

from config.alerts import AlertSettings
from server.cancellation import cancel_requested
from server.hot.errors import StorageUnavailable

if TYPE_CHECKING:
    import httpx

log = structlog.get_logger("askwell.watch")

MAX_WAITING: Final = 200
PAUSES_S: Final = (1.0, 5.0, 30.0, 120.0)
TIMEOUT_S: Final = 10.0
REPEAT_AFTER_S: Final = 600.0
"""The same alert of the same session is posted once in this time, whichever node finds it."""

IsFirst = Callable[[str, float], Awaitable[bool]]
"""Whether no node has used that key within so many seconds."""


class Webhook:
    """Posts alerts.

    Args:
        settings: where to, if anywhere, and what signs each post.
        is_first: keeps nodes from posting the same alert.
        client: makes the HTTP client; for tests.
        pauses_s: between tries; after the last one the alert is given up.
        on_lost: called for every alert that was given up.
    """

    def __init__(
        self,
        settings: AlertSettings,
        is_first: IsFirst,
        *,
        client: Callable[[], httpx.AsyncClient] | None = None,
        pauses_s: tuple[float, ...] = PAUSES_S,
        on_lost: Callable[[], None] = lambda: None,
    ) -> None:
        url, secret = settings.alert_webhook_url, settings.alert_webhook_secret
        self._url = url.get_secret_value() if url is not None else None
        self._secret = secret.get_secret_value() if secret is not None else None
        self._is_first = is_first
        self._client = client or _client
        self._pauses_s = pauses_s
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue(MAX_WAITING)
        self._on_lost = on_lost

    def offer(self, key: str, alert: Mapping[str, Any]) -> None:
        """Have an alert posted; where too many wait, the oldest is given up.

        Args:
            key: the same for alerts of which only one is to be posted.
            alert: the body.
        """
        if self._url is None:
            return
        if self._waiting.full():
            self._waiting.get_nowait()
            self._on_lost()
        self._waiting.put_nowait((key, dict(alert)))

    async def run(self) -> None:
        """Post what waits until cancelled."""
        if self._url is None:
            return
        async with self._client() as client:
            while not cancel_requested():
                key, alert = await self._waiting.get()
                try:
                    if await self._is_first(f"alert:{key}", REPEAT_AFTER_S):
                        await self._post(client, self._url, alert)
                except StorageUnavailable as exc:
                    log.info("webhook.unsure", reason=str(exc))
                    await self._post(client, self._url, alert)

    async def _post(self, client: httpx.AsyncClient, url: str, alert: Mapping[str, Any]) -> None:
        import httpx

        body = json.dumps(alert, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = {"content-type": "application/json", "user-agent": "askwell"}
        if self._secret is not None:
            digest = hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest()
            headers["x-askwell-signature"] = f"sha256={digest}"
        for pause_s in (*self._pauses_s, None):
            try:
                # The body of the answer is not read: only its status matters.
                async with client.stream("POST", url, content=body, headers=headers) as response:
                    if response.status_code < 300:
                        return
                reason = f"status {response.status_code}"
                if response.status_code < 500 and response.status_code not in (408, 425, 429):
                    pause_s = None
            except (httpx.HTTPError, httpx.InvalidURL) as exc:
                reason = type(exc).__name__
            if pause_s is None:
                self._on_lost()
                log.warning("webhook.given_up", code=alert.get("code"), reason=reason)
                return
            await asyncio.sleep(pause_s)


def _client() -> httpx.AsyncClient:
    """An HTTP client; httpx is imported only where alerts are posted."""
    import httpx

    return httpx.AsyncClient(timeout=TIMEOUT_S)
