"""Which keys would stay for ever."""

from __future__ import annotations

from server.hot.keys import KEYS_WITHOUT_TTL, SESSION_KEY
from server.hot.redis import HotStore

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
