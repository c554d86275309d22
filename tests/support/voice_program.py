"""A text-to-speech program for tests: it sings a tone for each sentence, and misbehaves where it is told to."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from audio.voice_sound import VOICE_HZ

SOURCE = """
import os, signal, struct, sys, time

def wav(samples):
    data = struct.pack(f"<{len(samples)}h", *samples)
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2,
                       16, b"data", len(data))
    return head + data

RATE = 24000
language, log = sys.argv[1], sys.argv[2]
text = sys.stdin.readline().strip()
if not text:
    sys.exit(0)
with open(log, "a", encoding="utf-8") as said:
    said.write(f"{language}|{text}\\n")
out = sys.stdout.buffer
tone = 1000 + 10 * len(text)
if "DIES" in text:
    out.write(wav([tone] * 4800)[:4000]); out.flush()
    os.kill(os.getpid(), signal.SIGKILL)
if "FAILS" in text:
    print("no such voice", file=sys.stderr)
    sys.exit(3)
if "HANGS" in text:
    out.write(wav([tone] * 4800)[:4000]); out.flush()
    time.sleep(600)
if "GARBAGE" in text:
    out.write(os.urandom(50000))
    sys.exit(0)
if "NOTHING" in text:
    sys.exit(0)
if "SILENCE" in text:
    out.write(wav([0] * 24000))
    sys.exit(0)
if "FLOODS" in text:
    out.write(wav([1])[:40] + b"\\xff\\xff\\xff\\x7f")
    while True:
        out.write(b"\\x01\\x02" * 65536)
out.write(wav([tone] * (len(text) * 240)))
"""


class VoiceProgram:
    """The program as a file, and what it was asked to say.

    Args:
        folder: of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / "singer.py"
        self._path.write_text(SOURCE, encoding="utf-8")
        self._log = folder / "said.txt"

    @property
    def command(self) -> str:
        """The command line, with a place for the language."""
        return f"{sys.executable} -I {self._path} {{language}} {self._log}"

    @property
    def said(self) -> list[str]:
        """The sentences that it was given, each after its language."""
        return self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []


def sung(text: str) -> bytes:
    """How the program says a sentence: a hundredth of a second for each character."""
    return np.full(len(text) * VOICE_HZ // 100, 1000 + 10 * len(text), "<i2").tobytes()
