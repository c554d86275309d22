"""Serves the application with uvicorn, in a task, on a socket that was bound before."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import socket
from collections.abc import AsyncIterator, Generator

import uvicorn
from starlette.types import ASGIApp

from server.transport.config import LimitedConfig, OnRefused
from server.transport.http import LimitedHttp
from server.transport.limits import ConnectionLimits
from server.transport.websocket import LimitedWebSocket

GRACE_S = 1
BACKLOG = 2048
TICKS_PER_S = 10
"""Of uvicorn."""
FILES_BESIDES = 512
"""File descriptors for all that is no connection of a client."""


class PortUnusable(Exception):
    """The address can't be listened on; the message says why and what to do."""


class Server(uvicorn.Server):
    """A uvicorn server without signal handlers that sets `up` when it has started, and ends overdue connections."""

    def __init__(self, config: LimitedConfig) -> None:
        super().__init__(config)
        self._ticks = max(1, round(config.limits.enforce_every_s * TICKS_PER_S))
        self.up = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals alone."""
        yield

    def close_door(self) -> None:
        """Accept no new connection; those that are open go on."""
        for listener in self.servers:
            listener.close()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        self.up.set()

    async def on_tick(self, counter: int) -> bool:
        """What uvicorn does TICKS_PER_S times a second; whether the server is to end."""
        if counter % self._ticks == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, LimitedHttp | LimitedWebSocket):
                    connection.enforce(now)
        return await super().on_tick(counter)


def bind(host: str, port: int) -> socket.socket:
    """A socket bound to the address, not listening yet.

    Raises:
        PortUnusable: the port is taken, or the address is not of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as exc:
        raise PortUnusable(f"the address {host} is unknown") from exc
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
    except OSError as exc:
        sock.close()
        reasons = {
            errno.EADDRINUSE: f"port {port} on {host} is in use by another program; choose another one with --port",
            errno.EACCES: f"port {port} may not be used by this user; choose one above 1023 with --port",
            errno.EADDRNOTAVAIL: f"{host} is not an address of this machine",
        }
        raise PortUnusable(reasons.get(exc.errno or 0, f"{host}:{port} can't be used: {exc.strerror}")) from exc
    sock.setblocking(False)
    return sock


def url_of(sock: socket.socket, host: str) -> str:
    """The URL of the server for browsers on this machine."""
    port = sock.getsockname()[1]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def allow_files(wanted: int) -> int:
    """Let the process open as many files as `wanted` connections need, as far as its hard limit goes.

    Returns:
        How many connections it can have.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + FILES_BESIDES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - FILES_BESIDES))


def _unnoticed(reason: str) -> None:
    """Nobody counts what is refused."""


@contextlib.asynccontextmanager
async def serving(
    app: ASGIApp,
    sock: socket.socket,
    *,
    limits: ConnectionLimits | None = None,
    proxies: str = "127.0.0.1",
    on_refused: OnRefused = _unnoticed,
) -> AsyncIterator[Server]:
    """Serve the application on the socket for as long as the block runs; gives the server.

    At the end no new connection is accepted, open ones get GRACE_S to end, then their tasks are cancelled.

    Args:
        app: the application.
        sock: bound, not listening yet.
        limits: of connections.
        proxies: addresses or networks, separated by commas, whose `X-Forwarded-*` fields are believed.
        on_refused: called with the reason for which a connection was refused or ended.
    """
    server = Server(
        LimitedConfig(
            app,
            limits=limits or ConnectionLimits(),
            on_refused=on_refused,
            http=LimitedHttp,
            ws=LimitedWebSocket,
            ws_per_message_deflate=False,
            ws_ping_interval=20.0,
            ws_ping_timeout=20.0,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=proxies,
            timeout_graceful_shutdown=GRACE_S,
            backlog=BACKLOG,
        )
    )
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve(sockets=[sock]), name="http")
        await server.up.wait()
        try:
            yield server
        finally:
            server.should_exit = True
