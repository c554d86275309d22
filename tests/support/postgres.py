"""A PostgreSQL server of one's own, which can be stopped, killed, suspended and started again."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.needs import postgresql_bin

UNPRIVILEGED = "postgres"
"""Whose processes they are where the tests run as root: PostgreSQL refuses root."""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class PostgresServer:
    """One server with an empty database `askwell`, on a loopback port that stays the same.

    Args:
        folder: where its data go.
        settings: of the server, besides the port.
    """

    def __init__(self, folder: Path, settings: tuple[str, ...] = ("fsync=off", "deadlock_timeout=200ms")) -> None:
        bin_folder = postgresql_bin()
        assert bin_folder is not None
        self._bin = bin_folder
        self._folder = folder
        self._settings = settings
        self.port = free_port()

    @property
    def url(self) -> str:
        """For `ASKWELL_DATABASE_URL`."""
        return f"postgresql+asyncpg://askwell@127.0.0.1:{self.port}/askwell"

    def make(self) -> None:
        """Make the data directory, start, and make the database."""
        if os.geteuid() == 0:
            os.chown(self._folder, pwd.getpwnam(UNPRIVILEGED).pw_uid, -1)
        self._run("initdb", "-D", str(self._data), "-A", "trust", "-U", "askwell", "-E", "UTF8", "--locale=C")
        self.start()
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "askwell", "askwell")

    def start(self) -> None:
        """Start, and wait until it takes connections."""
        options = f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1 "
        options += " ".join(f"-c {setting}" for setting in self._settings)
        self._run("pg_ctl", "-D", str(self._data), "-w", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """End it: `fast` ends connections first, `immediate` is a crash."""
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "stop")

    def suspend(self) -> None:
        """Let it hang: connections stay, nothing is answered."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    @property
    def running(self) -> bool:
        """Whether it was started and not ended."""
        return (self._data / "postmaster.pid").exists()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _signal(self, number: signal.Signals) -> None:
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        os.kill(first, number)
        for child in map(int, children):
            with suppress(ProcessLookupError):  # the backend of a connection that closed since the list was read
                os.kill(child, number)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._bin / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", UNPRIVILEGED, "--", *command]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A server in a folder that its user can reach, ended and removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="askwell-postgres-"))
    server = PostgresServer(folder)
    try:
        server.make()
        yield server
    finally:
        if server.running:
            server.resume()
            server.stop("immediate")
        shutil.rmtree(folder)
