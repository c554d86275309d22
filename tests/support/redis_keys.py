"""Which keys would stay for ever."""

from __future__ import annotations

import re

from server.hot.redis import HotStore

KEYS_WITHOUT_TTL = (
    re.compile(r"askwell:partitions"),
    re.compile(r"askwell:\{p\d\d+\}:(journal|stored)"),
)
"""Keys that live as long as the data: the number of partitions, the journals, which the writer trims, and how far."""

SESSION_KEY = re.compile(r"askwell:\{p(?P<partition>\d\d+)\}:(?P<session>[A-Za-z0-9_-]+):(?P<part>[a-z]+)(?::.*)?")
UNTIL_STORED = frozenset({"meta", "state", "events", "embeddings", "receipts"})


async def leaked_keys(store: HotStore) -> list[str]:
    """Keys that have no TTL, are not on the allow-list, and whose session has nothing left in the journal."""
    client = store.connection.client
    waiting: set[str] = set()
    for partition in range(store.keys.partitions):
        for _, fields in await client.execute_command("XRANGE", store.keys.journal(partition), "-", "+"):
            waiting.add(fields.get(b"session", b"").decode())
    leaked: list[str] = []
    for raw in await client.execute_command("KEYS", "*"):
        key = raw.decode()
        if await client.execute_command("PTTL", key) >= 0:
            continue
        if any(pattern.fullmatch(key) for pattern in KEYS_WITHOUT_TTL):
            continue
        session = SESSION_KEY.fullmatch(key)
        if session and session["part"] in UNTIL_STORED and session["session"] in waiting:
            continue
        leaked.append(key)
    return leaked
