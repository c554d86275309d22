"""Serves the application with uvicorn, in a task, on a socket that was bound before."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncIterator, Generator

import uvicorn
from starlette.types import ASGIApp

from config.settings import Settings

WS_MAX_BYTES = 16 * 1024 * 1024
"""Larger frames are not read; smaller ones that are too large get an error message before the socket closes."""
GRACE_S = 1
BACKLOG = 2048


class PortUnusable(Exception):
    """The address can't be listened on; the message says why and what to do."""


class _Server(uvicorn.Server):
    """A uvicorn server without signal handlers that sets `up` when it has started."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


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


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, settings: Settings, sock: socket.socket) -> AsyncIterator[None]:
    """Serve the application on the socket for as long as the block runs.

    At the end no new connection is accepted, open ones get GRACE_S to end, then their tasks are cancelled.
    """
    server = _Server(
        uvicorn.Config(
            app,
            http="httptools",
            ws="websockets-sansio",
            ws_max_size=WS_MAX_BYTES,
            ws_per_message_deflate=False,
            ws_ping_interval=20.0,
            ws_ping_timeout=20.0,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips=settings.server.forwarded_allow_ips,
            timeout_graceful_shutdown=GRACE_S,
            backlog=BACKLOG,
        )
    )
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve(sockets=[sock]), name="http")
        await server.up.wait()
        try:
            yield
        finally:
            server.should_exit = True
