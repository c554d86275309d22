"""Hot storage on a server, without the rest of a process."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from server.hot.connection import Connection, open_client, plain_client
from server.hot.keys import DEFAULT_PARTITIONS, KeySpace
from server.hot.redis import HotStore
from server.hot.values import HotSettings


def connect_store(
    url: str,
    settings: HotSettings | None = None,
    *,
    partitions: int = DEFAULT_PARTITIONS,
    cluster: bool = False,
    scripts: Mapping[str, str] | None = None,
    outage: Callable[[], str | None] = lambda: None,
) -> HotStore:
    """A store on the server at `url`, which connects at the first use; `scripts` replace the packaged ones."""
    settings = settings or HotSettings()
    timeout_s = settings.attempt_timeout_s
    client = open_client(url, timeout_s=timeout_s, max_connections=settings.max_connections, cluster=cluster)
    # A cluster passes messages on to every server, so that any of them will do to listen.
    listener = plain_client(url, timeout_s=timeout_s, max_connections=2) if cluster else None
    return HotStore(
        Connection(client, settings, KeySpace(partitions), listener=listener, scripts=scripts, outage=outage)
    )
