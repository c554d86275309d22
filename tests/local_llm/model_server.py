"""The local model server as a process of its own, in an environment of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.local_llm.weights import Say

PACKAGE = "xllamacpp==2026.10.11549"
START_S = 180.0
END_S = 10.0
MODEL_NAME = "local"


class ModelServerError(Exception):
    """The server can't be installed or started."""


def install(place: Path, say: Say) -> Path:
    """The Python of an environment that has the server's package; made where it is missing.

    Raises:
        ModelServerError: it can't be installed; there is no build for every kind of machine.
    """
    home = place / "server"
    python = home / "bin" / "python"
    mark = home / f".{PACKAGE}"
    if not mark.is_file():
        say(f"installing {PACKAGE}")
        for command in (
            [sys.executable, "-m", "venv", str(home)],
            [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--only-binary", ":all:",
             PACKAGE],
        ):  # fmt: skip
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                raise ModelServerError(f"{' '.join(command)}:\n{run.stderr.strip()[-2000:]}")
        mark.touch()
    return python


@contextmanager
def running(python: Path, model: Path, log: Path, *, threads: int, slots: int, slot_tokens: int) -> Iterator[str]:
    """The server's base URL; it ends with the block, and by itself when this process does.

    Raises:
        ModelServerError: it did not start.
    """
    script = Path(__file__).with_name("serve.py")
    numbers = [str(threads), str(slots), str(slot_tokens)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(python), str(script), str(model), MODEL_NAME, *numbers],
            stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        yield _address(process, log)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"^address (http://\S+)$", log.read_text(errors="replace"), re.MULTILINE)
        if found:
            return found[1]
        time.sleep(0.2)
    raise ModelServerError(f"the model server did not start:\n{log.read_text(errors='replace')[-3000:]}")
