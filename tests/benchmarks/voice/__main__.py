"""`python -m tests.benchmarks.voice [PART]… [share=0.1]`: all of `PARTS` where none is named, or a share of each."""

from __future__ import annotations

import asyncio
import platform
import sys
import time
from pathlib import Path

from tests.benchmarks.voice import canaries, crowd, cutoffs, latency, noise, wer
from tests.benchmarks.voice.streaming import model_name

PARTS = {
    "wer": wer.run,
    "noise": noise.run,
    "latency": latency.run,
    "cutoffs": cutoffs.run,
    "crowd": crowd.run,
    "canaries": canaries.run,
}
PLACE = Path(sys.prefix) / "bench-voice"
"""Packages and results; inside the virtual environment, so that nothing else has to be cleaned up."""


def say(line: str) -> None:
    """Progress, beside the tables."""
    print(f"[{time.strftime('%H:%M:%S')}] {line}", file=sys.stderr, flush=True)


async def main(arguments: list[str]) -> None:
    """Run what is asked for, one after the other."""
    share = next((float(each.partition("=")[2]) for each in arguments if each.startswith("share=")), 1.0)
    wanted = [each for each in arguments if not each.startswith("share=")]
    unknown = [each for each in wanted if each not in PARTS]
    if unknown:
        raise SystemExit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    PLACE.mkdir(parents=True, exist_ok=True)
    print(f"# askwell, voice: Python {platform.python_version()}, {platform.machine()}, model {model_name()}")
    for part, run in PARTS.items():
        if not wanted or part in wanted:
            say(part)
            await run(PLACE, say, share=share)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
