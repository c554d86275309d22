"""An installed askwell as a process, and a respondent who speaks plain HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

START_S = 90.0
STOP_S = 10.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Server:
    """`askwell serve` of one installation, in an empty folder, with an empty home."""

    def __init__(self, installed: Path, place: Path, env: Mapping[str, str]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.data = place / "data"
        self.log = place / "serve.log"
        self._program = installed / "bin" / "askwell"
        self._cwd = place / "empty"
        self._cwd.mkdir(parents=True, exist_ok=True)
        (place / "home").mkdir(exist_ok=True)
        base = {"HOME": str(place / "home"), "PATH": f"{installed / 'bin'}:{os.defpath}", "LANG": "C.UTF-8"}
        own = {"ASKWELL_HOST": "127.0.0.1", "ASKWELL_PORT": str(self.port), "ASKWELL_DATA": str(self.data)}
        self.env = base | dict(env) | own
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, "serve"], cwd=self._cwd, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                status, _ = call("GET", f"{self.url}/readyz")
            except OSError:
                status = 0
            if status == 200:
                return self
            time.sleep(0.1)
        self.kill()
        raise AssertionError(f"not ready:\n{self.log.read_text()[-4000:]}")

    def __exit__(self, *_: object) -> None:
        self.kill()

    def stop(self) -> int:
        """End it as a supervisor does.

        Returns:
            Its exit code.
        Raises:
            subprocess.TimeoutExpired: it was still there STOP_S seconds after SIGTERM.
        """
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(STOP_S)

    def kill(self) -> None:
        """Make sure that nothing of it is left."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(STOP_S)

    def processes(self) -> list[str]:
        """Command lines of living processes that name the data directory (Linux)."""
        found = []
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if str(self.data) in line:
                found.append(line)
        return found


def call(method: str, url: str, body: object = None, token: str | None = None) -> tuple[int, Any]:
    """One HTTP request.

    Returns:
        Status, and the body: parsed where it is JSON.
    Raises:
        OSError: nobody answered.
    """
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            status, raw, kind = answer.status, answer.read(), answer.headers.get_content_type()
    except urllib.error.HTTPError as error:
        status, raw, kind = error.code, error.read(), error.headers.get_content_type()
    return status, json.loads(raw) if kind.endswith("json") else raw.decode(errors="replace")


class Respondent:
    """One person being interviewed over HTTP."""

    def __init__(self, url: str, concept_id: str, **more: object) -> None:
        self._url = url
        status, made = call("POST", f"{url}/api/sessions", {"concept_id": concept_id, **more})
        assert status == 201, made
        self.session_id: str = made["session_id"]
        self._token: str = made["respondent_token"]
        self.path = f"{url}/api/sessions/{self.session_id}"

    def look(self) -> Any:
        """What the session looks like to its respondent."""
        status, seen = call("GET", self.path, token=self._token)
        assert status == 200, seen
        return seen

    def start(self) -> Any:
        """Agree to what has to be agreed to, and get the opening question."""
        consent = self.look()["consent"]
        choices = {"version": consent["version"], "choices": {}} if consent["required"] else None
        status, started = call("POST", f"{self.path}/start", {"consent": choices} if choices else {}, self._token)
        assert status == 200, started
        return started

    def answer(self, text: str) -> Any:
        """Give an answer and wait for the turn."""
        body = {"text": text, "turn_key": str(uuid.uuid4())}
        status, result = call("POST", f"{self.path}/turns", body, self._token)
        assert status == 200, result
        return result
