"""What the server and a process that decodes recordings (`audio.decode_worker`) tell each other.

to the process     a line of JSON with `DecodeJob`, and with it the file as a descriptor
from the process   pieces, each after its length in four bytes: samples as 16-bit little-endian mono at RATE_HZ
an empty piece, then one with `DecodeOutcome` as JSON
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

LENGTH_BYTES: Final = 4
TOO_MUCH_STATUS: Final = 75
"""Exit status of a process that took more memory than it may."""
OUT_OF_MEMORY: Final = "This recording takes more memory to decode than a recording of speech needs."


@dataclass(frozen=True, slots=True)
class DecodeJob:
    """How a recording is decoded: its longest length, and what that may take of memory (in bytes) and of the CPU."""

    max_s: float
    max_bytes: int
    max_cpu_s: float


@dataclass(frozen=True, slots=True)
class DecodeOutcome:
    """What became of a recording; `message` is for the person who sent it."""

    kind: Literal["done", "audio_format", "audio_too_long", "too_much"]
    complete: bool = True
    message: str = ""
