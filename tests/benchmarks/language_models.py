"""What askwell adds to the waiting for language models, with the double as the provider of all three roles.

Measured: from sending an answer to the first `question.delta` of the question that follows it. The bound is what no
arrangement can go below while a question depends on extraction and rating and its beginning is held back:

    max(extraction, rating) + first token + held words

A token is a word with the space before it, so a word is complete when the token after it is there: with `hold_words`
words held, the first piece can leave when that many tokens have come after the first one. Held words are therefore
`hold_words` × the time of a token: 4 × 20 ms. The bound is 800 + 300 + 80 = 1180 ms.

Four processes: askwell, the double, the load (`python -m tests.benchmarks.language_models`), and this one, which waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from pipeline.concept import PipelineSettings
from tests.benchmarks.latency import begin, fresh_answer
from tests.support.client import RespondentClient, key
from tests.support.llm_double.brain import Latencies
from tests.support.llm_double.server import LATEST, SEEN
from tests.support.process import ServerProcess

SCRIPT = Latencies(extraction_s=0.8, rating_s=0.6, slots_s=0.9, first_token_s=0.3, token_s=0.02)
HOLD_WORDS = PipelineSettings().hold_words
HELD_S = HOLD_WORDS * SCRIPT.token_s
BOUND_S = max(SCRIPT.extraction_s, SCRIPT.rating_s) + SCRIPT.first_token_s + HELD_S
MODEL = "double-1"
FORMS = {"extraction": "record_extraction", "rating": "record_rating", "slots": "propose_slots", "question": ""}


@dataclass(frozen=True)
class Crowd:
    """So many sessions, each with one answer every `every_s` seconds from a random moment on."""

    sessions: int
    turns: int
    every_s: float


FULL = (Crowd(1, 20, 3.0), Crowd(100, 4, 15.0))
SHORT = (Crowd(1, 3, 2.0), Crowd(5, 2, 4.0))


@dataclass(frozen=True)
class Turn:
    """One measured turn; moments are those of `time.monotonic`, which processes of one machine share."""

    session: int
    sent_s: float
    heard_s: float

    @property
    def took_ms(self) -> float:
        """From the answer to the first piece that depends on it."""
        return (self.heard_s - self.sent_s) * 1000


class Server(ServerProcess):
    """Can tell of its turns."""

    def turns(self) -> list[dict[str, Any]]:
        """The log lines of completed turns."""
        self._read()
        return [json.loads(line) for line in self.lines if '"event": "turn.completed"' in line]


@asynccontextmanager
async def double_process() -> AsyncIterator[tuple[str, int]]:
    """The double with the scripted latencies, as a process: its URL and pid."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.llm_double",
        "--extraction", str(SCRIPT.extraction_s), "--rating", str(SCRIPT.rating_s), "--slots", str(SCRIPT.slots_s),
        "--first-token", str(SCRIPT.first_token_s), "--tokens-per-second", str(1 / SCRIPT.token_s),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30):
            url = (await process.stdout.readline()).decode().strip()
        yield url, process.pid
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def server_process(double_url: str) -> AsyncIterator[Server]:
    """`askwell serve` with the double in all three roles."""
    environment = {
        "ASKWELL_MAX_SESSIONS": "5000", "ASKWELL_SESSIONS_PER_ADDRESS": "5000",
        "ASKWELL_CONNECTIONS_PER_ADDRESS": "5000", "ASKWELL_REQUESTS_PER_S": "1000", "ASKWELL_REQUEST_BURST": "5000",
        "ASKWELL_LOG_FORMAT": "json",
    }  # fmt: skip
    for role in ("EXTRACTION", "SCORING", "GENERATION"):
        environment |= {
            f"ASKWELL_{role}_PROVIDER": "openai_compatible",
            f"ASKWELL_{role}_MODEL": MODEL,
            f"ASKWELL_{role}_BASE_URL": double_url + "/v1",
        }
    with tempfile.TemporaryDirectory(prefix="askwell-bench-") as folder:
        async with Server(Path(folder) / "data", environment) as process:
            yield process


async def loaded(url: str, crowd: Crowd) -> tuple[list[Turn], int]:
    """Turns of a crowd that lives in a process of its own, and that process's CPU time in ms."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.benchmarks.language_models", url, json.dumps(asdict(crowd)),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the load ended with {process.returncode}")
    found = json.loads(out)
    return [Turn(**turn) for turn in found["turns"]], found["cpu_ms"]


async def one_after_another(double_url: str, rounds: int) -> list[float]:
    """Ms for the same calls in strict order: extraction, rating, slots, then the question as far as its held words."""
    took = []
    async with httpx.AsyncClient(base_url=double_url, trust_env=False, timeout=30) as http:
        latest = (await http.get(LATEST)).json()
        bodies = {task: latest[form] for task, form in FORMS.items()}
        for _ in range(rounds):
            started = time.monotonic()
            for task in ("extraction", "rating", "slots"):
                (await http.post("/v1/chat/completions", json=bodies[task])).raise_for_status()
            words = 0
            async with http.stream("POST", "/v1/chat/completions", json=bodies["question"]) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: {"):
                        choices = json.loads(line.removeprefix("data: "))["choices"]
                        words += bool(choices and choices[0]["delta"].get("content"))
                    if words > HOLD_WORDS:
                        took.append((time.monotonic() - started) * 1000)
                        break
    return took


def cpu_ms(pid: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share of all does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def decomposed(turns: Sequence[Turn], seen: Sequence[dict[str, Any]]) -> list[tuple[str, float]]:
    """Median ms of each part of one session's turns, beyond what is scripted."""
    parts: dict[str, list[float]] = {}
    for turn in turns:
        within = [one for one in seen if turn.sent_s <= one["arrived_s"] <= turn.heard_s]
        asked = {task: [one for one in within if one["form"] == form] for task, form in FORMS.items()}
        if not (asked["extraction"] and asked["rating"] and asked["question"]):
            continue
        extraction, rating, question = (asked[task][0] for task in ("extraction", "rating", "question"))
        first_s = question["first_piece_s"]
        understood_s = max(extraction["ended_s"], rating["ended_s"])
        for name, seconds in {
            "answer sent → rating asked": rating["arrived_s"] - turn.sent_s,
            "answer sent → extraction asked": extraction["arrived_s"] - turn.sent_s,
            "extraction, beyond its 800 ms (the double's own)": extraction["ended_s"] - extraction["arrived_s"] - 0.8,
            "both answered → question asked": question["arrived_s"] - understood_s,
            "first token, beyond its 300 ms (the double's own)": question["first_piece_s"]
            - question["arrived_s"]
            - 0.3,
            "held words there → first piece heard": turn.heard_s - first_s - HELD_S,
        }.items():
            parts.setdefault(name, []).append(seconds * 1000)
    return [(name, statistics.median(values)) for name, values in parts.items()]


def print_stages(turns: Sequence[dict[str, Any]]) -> None:
    """Median and p95 per stage, as the server logged them."""
    names = list(dict.fromkeys(name for turn in turns for name in turn["stages_ms"]))
    print("| | " + " | ".join(names) + " | accept | commit |\n|" + "---|" * (len(names) + 3))
    for label, share in (("median", 0.5), ("p95", 0.95)):
        cells = [percentile([turn["stages_ms"].get(name, 0.0) for turn in turns], share) for name in names]
        cells += [percentile([turn[name] for turn in turns], share) for name in ("accept_ms", "commit_ms")]
        print(f"| {label} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")


async def run(*, short: bool = False) -> None:
    """Print ratios to the bound, and what the rest of the time consists of."""
    crowds = SHORT if short else FULL
    print(f"\n## First piece with language models: bound {BOUND_S * 1000:.0f} ms "
          f"(800 ∥ 600 + 300 + {HOLD_WORDS} held words × 20), load {os.getloadavg()[0]:.1f} before\n")  # fmt: skip
    async with double_process() as (double_url, double_pid), server_process(double_url) as server:
        warm = Crowd(1, 3, 1.5)
        await loaded(server.url, warm)
        rows, notes = [], []
        for crowd in crowds:
            before, logged, started = (cpu_ms(server.pid), cpu_ms(double_pid)), len(server.turns()), time.monotonic()
            turns, load_ms = await loaded(server.url, crowd)
            lasted_ms = (time.monotonic() - started) * 1000
            rows.append((f"{crowd.sessions}, one answer per {crowd.every_s:.0f} s each", [t.took_ms for t in turns]))
            shares = (cpu_ms(server.pid) - before[0], cpu_ms(double_pid) - before[1], load_ms)
            async with httpx.AsyncClient(base_url=double_url, trust_env=False) as http:
                seen = [one for one in (await http.get(SEEN)).json() if one["arrived_s"] >= started]
            notes.append((crowd, turns, seen, server.turns()[logged:], [one / lasted_ms for one in shares]))
        rows.append(("the same calls one after another", await one_after_another(double_url, 3 if short else 10)))
    print_ratios(rows)
    for crowd, turns, seen, stages, (own, double, load_share) in notes:
        print(f"\n### {crowd.sessions} sessions: stages, ms\n")
        print_stages(stages)
        late = [(one["ended_s"] - one["arrived_s"] - 0.8) * 1000 for one in seen if one["form"] == FORMS["extraction"]]
        print(f"\nOf one core: askwell {own:.0%}, the double {double:.0%}, the load {load_share:.0%}.")
        print(f"The double answered late by {statistics.median(late):.1f} ms (p95 {percentile(late, 0.95):.1f} ms).")
        if crowd.sessions == 1:
            print("\n| part of a turn beyond the script, median | ms |\n|---|---|")
            for name, ms in decomposed(turns, seen):
                print(f"| {name} | {ms:.1f} |")


def print_ratios(rows: Sequence[tuple[str, Sequence[float]]]) -> None:
    """What was measured, in ms and over the bound."""
    print("| sessions | turns | median ms | p95 ms | worst ms | median / bound | p95 / bound |\n" + "|---" * 7 + "|")
    for label, took in rows:
        median, p95 = statistics.median(took), percentile(took, 0.95)
        ratios = f"{median / BOUND_S / 1000:.3f} | {p95 / BOUND_S / 1000:.3f}"
        print(f"| {label} | {len(took)} | {median:.0f} | {p95:.0f} | {max(took):.0f} | {ratios} |")


async def crowd_of(url: str, crowd: Crowd) -> list[Turn]:
    """All turns of a crowd."""
    random.seed(crowd.sessions)
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
        clients: list[RespondentClient] = []
        for first in range(0, crowd.sessions, 10):
            size = min(10, crowd.sessions - first)
            clients += await asyncio.gather(*(begin(url, http) for _ in range(size)))
        gathered = await asyncio.gather(
            *(answers(client, number, crowd, random.random() * crowd.every_s) for number, client in enumerate(clients))
        )
        for client in clients:
            await client.__aexit__(None, None, None)
    return [turn for one in gathered for turn in one]


async def answers(client: RespondentClient, number: int, crowd: Crowd, start_s: float) -> list[Turn]:
    """The turns of one session."""
    found: list[Turn] = []
    await asyncio.sleep(start_s)
    for count in range(crowd.turns):
        due_s = time.monotonic() + crowd.every_s
        turn_key, text = key(), fresh_answer()
        sent_s = time.monotonic()
        await client.answer(text, turn_key)
        await client.until("question.delta")
        found.append(Turn(number, sent_s, time.monotonic()))
        last = await client.until("turn.completed", turn_key=turn_key)
        if not last["result"]["should_continue"]:
            break
        if count + 1 < crowd.turns:
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))
    return found


async def load() -> None:
    """The load's own process: URL and crowd are its arguments, the turns go to its standard output as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("crowd", type=json.loads)
    given = parser.parse_args()
    turns = await crowd_of(given.url, Crowd(**given.crowd))
    print(json.dumps({"turns": [asdict(turn) for turn in turns], "cpu_ms": round(time.process_time() * 1000)}))


if __name__ == "__main__":
    asyncio.run(load())
