"""The double as a process: prints its URL, answers by its own interview brain, ends with SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import signal
from pathlib import Path

import uvloop

from tests.support.llm_double.brain import Brain, Latencies
from tests.support.llm_double.server import LLMDouble


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.llm_double", description=__doc__)
    usual = Latencies()
    parser.add_argument("--port", type=int, default=0, help="0 for any free one")
    parser.add_argument("--url-file", type=Path, help="write the URL here, besides printing it")
    parser.add_argument("--key", help="the only key that is let in")
    parser.add_argument("--extraction", type=float, default=usual.extraction_s, help="seconds")
    parser.add_argument("--rating", type=float, default=usual.rating_s, help="seconds")
    parser.add_argument("--slots", type=float, default=usual.slots_s, help="seconds")
    parser.add_argument("--first-token", type=float, default=usual.first_token_s, help="of a question, seconds")
    parser.add_argument("--tokens-per-second", type=float, default=1 / usual.token_s if usual.token_s else 0)
    return parser.parse_args()


async def main() -> None:
    """Listen until told to stop."""
    given = arguments()
    token_s = 1 / given.tokens_per_second if given.tokens_per_second else 0.0
    latencies = Latencies(given.extraction, given.rating, given.slots, given.first_token, token_s)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with LLMDouble(port=given.port, key=given.key, default=Brain(latencies)) as double:
        print(double.url, flush=True)
        if given.url_file is not None:
            given.url_file.write_text(double.url)
        await stop.wait()


if __name__ == "__main__":
    uvloop.run(main())
