"""Real servers that several nodes share, each of which can be disturbed: Valkey on a port, PostgreSQL behind a wire."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError

from server.hot.embedded import find_binary
from tests.support.postgres import PostgresServer, free_port, postgres_server
from tests.support.process import ServerProcess

CHUNK = 65_536
END_S = 40.0
"""For a node to end; on a machine that does other things too it takes longer than the node allows itself."""


class ValkeyServer:
    """The packaged Valkey on a loopback port that stays the same; what it keeps is lost when it is killed.

    Args:
        folder: its working directory.
        environment: besides the usual one.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = dict(environment or {})
        self.port = free_port()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """For `ASKWELL_REDIS_URL`."""
        return f"redis://127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        """Start empty, and wait until it answers."""
        options = f"--port {self.port} --bind 127.0.0.1 --save --appendonly no --dir {self._folder}".split()
        options.insert(options.index("--save") + 1, "")
        log = self._folder / "valkey.log"
        with log.open("ab") as out:
            self._process = await asyncio.create_subprocess_exec(
                str(find_binary()), *options, stdout=out, stderr=out, env={**os.environ, **self._environment}
            )
        async with asyncio.timeout(30), Redis.from_url(self.url) as client:
            while True:
                with suppress(RedisError, OSError):
                    if await client.ping():
                        return
                await asyncio.sleep(0.05)

    async def ask(self, *command: str | int) -> object:
        """Its reply to a command."""
        async with Redis.from_url(self.url) as client:
            reply: object = await client.execute_command(*command)  # type: ignore[no-untyped-call]
            return reply

    async def kill(self) -> None:
        """End it without a goodbye."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


class Wire:
    """A TCP connection to a server that a test can make slow.

    Args:
        port: of the server.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self.delay_s = 0.0
        """How long each piece of an answer is under way."""
        self.port = 0
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Listen no more."""
        assert self._server is not None
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._pass(reader, back, slow=False))
            tasks.create_task(self._pass(there, writer, slow=True))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, slow: bool) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                if slow and self.delay_s:
                    await asyncio.sleep(self.delay_s)
                writer.write(data)
                await writer.drain()
        with suppress(OSError):
            writer.close()


class NodeProcess(ServerProcess):
    """A node that can be suspended."""

    def suspend(self) -> None:
        """Let it hang: its sockets stay open, nothing is answered."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)


@dataclass
class Cluster:
    """Nodes that share a Valkey and a PostgreSQL."""

    valkey: ValkeyServer
    postgres: PostgresServer
    wire: Wire
    nodes: list[NodeProcess]

    @property
    def urls(self) -> list[str]:
        """Where the nodes are."""
        return [f"http://127.0.0.1:{node.port}" for node in self.nodes]


@asynccontextmanager
async def cluster(
    folder: Path,
    count: int = 2,
    *,
    valkey_environment: Mapping[str, str] | None = None,
    node_environments: Mapping[int, Mapping[str, str]] | None = None,
) -> AsyncIterator[Cluster]:
    """Everything running; ended afterwards, whatever state it is in.

    Args:
        folder: for data and logs.
        count: of nodes.
        valkey_environment: of the hot server, besides the usual one.
        node_environments: of single nodes, by their place.
    """
    async with AsyncExitStack() as stack:
        postgres = stack.enter_context(postgres_server())
        valkey = ValkeyServer(folder, valkey_environment)
        await valkey.start()
        stack.push_async_callback(valkey.kill)
        wire = Wire(postgres.port)
        await wire.open()
        stack.push_async_callback(wire.close)
        shared = {
            "ASKWELL_REDIS_URL": valkey.url,
            "ASKWELL_DATABASE_URL": postgres.url.replace(f":{postgres.port}/", f":{wire.port}/"),
            "ASKWELL_MODERATOR_TOKEN": "a-moderator-of-the-test-0123456789",
            "ASKWELL_LOG_LEVEL": "info",
            "ASKWELL_WHISPER_MODEL": "none",
            "ASKWELL_REQUESTS_PER_S": "1000",
            "ASKWELL_REQUEST_BURST": "10000",
            "ASKWELL_CONNECTIONS_PER_ADDRESS": "1000",
            "ASKWELL_SESSIONS_PER_ADDRESS": "100000",
            "PYTHONPATH": os.getcwd(),
        }
        nodes = [
            NodeProcess(
                folder / f"node-{number}",
                {**shared, **(node_environments or {}).get(number, {})},
                free_port(),
                (sys.executable, "-m", "tests.chaos.node"),
                END_S,
            )
            for number in range(count)
        ]
        for node in nodes:
            await node.start()
            stack.push_async_callback(node.kill)
        yield Cluster(valkey, postgres, wire, nodes)
