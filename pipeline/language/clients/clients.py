"""All clients of a process, which share pools of connections and circuit breakers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from pipeline.calls import LLMCall
from pipeline.language.clients.anthropic import AnthropicFormat
from pipeline.language.clients.base import ChatClient, RoleModel
from pipeline.language.clients.breaker import Breaker
from pipeline.language.clients.client import HttpChatClient
from pipeline.language.clients.faults import TryFailed, from_status, unreachable
from pipeline.language.clients.formats import WireFormat
from pipeline.language.clients.openai_compatible import OpenAIFormat
from pipeline.language.clients.prices import PriceTable
from pipeline.language.clients.recorder import Observer
from pipeline.language.clients.timing import Timing
from pipeline.language.clients.transport import KeyAuth, Pool

WARMING_S: Final = 5.0
WARMING_BYTES: Final = 4_000_000
MODELS_PATH: Final = "/models"


def _ignore(call: LLMCall) -> None:
    """The observer where none is given."""


class Clients:
    """Makes clients, one per `RoleModel`, with one pool per base URL and one breaker per model and role.

    Args:
        prices: for the cost of calls; without, calls have no cost.
        observe: called with the record of every try as it ends; must be quick and must not raise.
        timing: clocks, sleep and jitter.
    """

    def __init__(
        self, *, prices: PriceTable | None = None, observe: Observer = _ignore, timing: Timing | None = None
    ) -> None:
        self._prices = prices if prices is not None else PriceTable()
        self._observe = observe
        self._timing = timing if timing is not None else Timing()
        self._pools: dict[tuple[str, str], Pool] = {}
        self._breakers: dict[tuple[str, str, str, str], Breaker] = {}
        self._clients: dict[RoleModel, HttpChatClient] = {}

    @property
    def breakers(self) -> Mapping[tuple[str, str, str, str], Breaker]:
        """The circuit breakers by (provider, base URL, model, role)."""
        return self._breakers

    def client(self, spec: RoleModel) -> ChatClient:
        """The client of a role; the same one for the same `spec`."""
        known = self._clients.get(spec)
        if known is not None:
            return known
        place = (spec.provider, spec.base_url.rstrip("/"))
        pool = self._pools.setdefault(place, Pool(place[1], self._timing.clock))
        circuit = (*place, spec.model, spec.role)
        breaker = self._breakers.setdefault(circuit, Breaker(spec.provider, spec.model, self._timing.clock))
        client = HttpChatClient(
            spec,
            wire_format(spec),
            pool,
            breaker,
            prices=self._prices,
            observe=self._observe,
            timing=self._timing,
        )
        self._clients[spec] = client
        return client

    async def warm(self) -> list[str]:
        """Open a connection to every base URL that a client was made for, and check each key.

        Sends GET /models, which costs nothing. Any answer but 401, 402, 403 and 5xx is accepted, since not every
        server has that list.

        Returns:
            One sentence for each base URL and key that can't be used.
        """
        places = {(spec.provider, spec.base_url.rstrip("/"), spec.api_key): spec for spec in self._clients}
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._check(spec)) for spec in places.values()]
        return [problem for task in tasks if (problem := task.result()) is not None]

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            await pool.aclose()

    async def _check(self, spec: RoleModel) -> str | None:
        wire = wire_format(spec)
        pool = self._pools[spec.provider, spec.base_url.rstrip("/")]
        try:
            async with asyncio.timeout(WARMING_S):
                auth = KeyAuth(spec, wire.key_header, wire.key_prefix)
                response = await pool.get(spec, MODELS_PATH, wire.headers, auth)
                try:
                    text = (await response.body(WARMING_BYTES)).decode(errors="replace")
                finally:
                    await response.aclose()
        except TimeoutError:
            return unreachable(spec, f"nothing came within {WARMING_S:g} s").message
        except TryFailed as failed:
            return failed.fault.message
        refused = response.status in (401, 402, 403) or response.status >= 500
        return from_status(spec, response.status, text).message if refused else None


def wire_format(spec: RoleModel) -> WireFormat:
    """The wire format of a provider."""
    return AnthropicFormat() if spec.provider == "anthropic" else OpenAIFormat(spec.provider)
