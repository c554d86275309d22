"""How many respondents can speak at once, with captions each second, before answers are late, and what happens then."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import httpx
import numpy as np

from tests.benchmarks.latency import rss_mb, server
from tests.benchmarks.voice.corpus import Recording, utterances
from tests.benchmarks.voice.latency import fitting
from tests.benchmarks.voice.machine import Cores, verdict
from tests.benchmarks.voice.respondents import Speaker, SpokenResult, visiting
from tests.benchmarks.voice.scoring import errors, quantile
from tests.benchmarks.voice.sources import Say
from tests.benchmarks.voice.streaming import model_name

CROWDS = (1, 4, 8, 10, 12, 14, 16, 20, 24)
LENGTHS_S = (5.0, 10.0, 20.0)
ANSWERS = 24
"""Different answers of each length."""
TALKING = 0.65
"""Share of the time in which somebody speaks; the rest they read and think."""
RAMP_S, MEASURED_S = 20.0, 100.0
LIMIT_MS = 300.0
TARGET = 10
BEYOND = 2
"""Crowds that are measured after the first one too many."""
REFUSED_WAIT_S = 3.0


@dataclass(frozen=True)
class Crowd:
    """The results for a number of speakers."""

    speakers: int
    spoken: list[SpokenResult]
    cpu: float
    """Cores that the server used."""
    load_cpu: float
    """Cores that the load generator used."""
    others_cpu: float
    """Cores that other processes used."""
    dropped: dict[str, float]
    memory_mb: float

    @property
    def whole(self) -> list[SpokenResult]:
        return [each for each in self.spoken if each.final_s is not None and not each.cut_off]

    @property
    def p95(self) -> float:
        return quantile([each.final_ms for each in self.whole], 0.95)

    @property
    def refused(self) -> int:
        return sum(each.refused is not None for each in self.spoken)

    @property
    def unheard(self) -> int:
        """Answers that got neither text nor refusal."""
        return sum(each.final_s is None and each.refused is None for each in self.spoken)

    @property
    def error_rate(self) -> float:
        found = [errors(each.said, each.text) for each in self.whole]
        return 100 * sum(each.total for each in found) / max(1, sum(each.words for each in found))


async def run(place: Path, say: Say, *, share: float = 1.0) -> None:
    """Measure and print; `share` of the time of each crowd, for a quick look."""
    spoken = await asyncio.to_thread(utterances, place, say)
    recordings = [each for seconds in LENGTHS_S for each in fitting(spoken, seconds, ANSWERS)]
    crowds: list[Crowd] = []
    async with server() as (url, pid), visiting(url) as http:
        for size in CROWDS:
            found = await _crowd(url, pid, http, size, recordings, share)
            crowds.append(found)
            say(
                f"{size} speakers: {len(found.whole)} answers, p95 {found.p95:.0f} ms beyond the silence applied,"
                f" {found.refused} refused, server {found.cpu:.2f} cores"
            )
            if sum(each.p95 >= LIMIT_MS or not each.whole for each in crowds) > BEYOND:
                break
    rows = [{"speakers": each.speakers, "spoken": [asdict(one) for one in each.spoken]} for each in crowds]
    (place / "crowd.json").write_text(json.dumps(rows, indent=1))
    _print(crowds)


async def _crowd(
    url: str, pid: int, http: httpx.AsyncClient, size: int, recordings: Sequence[Recording], share: float
) -> Crowd:
    spoken: list[SpokenResult] = []
    begun = perf_counter()
    counted_from, until = begun + RAMP_S * share, begun + (RAMP_S + MEASURED_S) * share
    async with asyncio.TaskGroup() as group:
        for number in range(size):
            group.create_task(_talk(url, http, number, size, recordings, spoken, counted_from, until))
        await asyncio.sleep(max(0.0, counted_from - perf_counter()))
        before, cores = await _dropped(http), Cores(pid)
        await asyncio.sleep(max(0.0, until - perf_counter()))
        cpu, load_cpu, others = cores.used()
        after = await _dropped(http)
    dropped = {purpose: count - before.get(purpose, 0.0) for purpose, count in after.items()}
    return Crowd(size, spoken, cpu, load_cpu, others, dropped, rss_mb(pid))


async def _talk(
    url: str,
    http: httpx.AsyncClient,
    number: int,
    size: int,
    recordings: Sequence[Recording],
    spoken: list[SpokenResult],
    counted_from: float,
    until: float,
) -> None:
    rng = np.random.default_rng([number, size])
    async with Speaker(url, http, number) as one:
        await asyncio.sleep(float(rng.uniform(0, 8)))
        while perf_counter() < until:
            recording = recordings[int(rng.integers(len(recordings)))]
            found = await one.answer(recording)
            if perf_counter() >= counted_from:
                spoken.append(found)
            if found.refused is not None:
                await asyncio.sleep(REFUSED_WAIT_S)
            else:
                await asyncio.sleep(recording.seconds * (1 / TALKING - 1) * float(rng.uniform(0.6, 1.4)))


async def _dropped(http: httpx.AsyncClient) -> dict[str, float]:
    """Transcriptions there was no time for, by purpose."""
    found: dict[str, float] = {}
    for line in (await http.get("/metrics")).text.splitlines():
        if line.startswith("askwell_speech_dropped_total{"):
            found[line.partition('purpose="')[2].partition('"')[0]] = float(line.rpartition(" ")[2])
    return found


def _print(crowds: Sequence[Crowd]) -> None:
    print(f"\n## Speakers at once, {model_name()}, patience normal, captions each second, whole turns behind it\n")
    print(
        f"Everybody speaks {TALKING:.0%} of the time, answers of {', '.join(f'{each:.0f}' for each in LENGTHS_S)} s;"
        " server and load generator share the machine. Text: from the true end of speech, beyond the silence applied"
        " (the patience, less after a long finished answer, more after what seems unfinished).\n"
    )
    print(
        "| speakers | answers | text: median / p95 / worst, ms | next question: median / p95, ms | captions per minute"
        " of speech | captions dropped | finals dropped | refused | no answer | words wrong | server, cores |"
        " load, cores | others, cores | memory, MB |"
    )
    print("|" + "---|" * 14)
    for each in crowds:
        finals = [one.final_ms for one in each.whole]
        questions = [one.question_ms for one in each.whole if one.question_s is not None]
        minutes = sum(one.speech_s for one in each.whole) / 60
        captions = sum(one.captions for one in each.whole) / minutes if minutes else 0.0
        late = sum(count for purpose, count in each.dropped.items() if purpose != "partial")
        print(
            f"| {each.speakers} | {len(each.whole)} | {quantile(finals, 0.5):.0f} / {each.p95:.0f} /"
            f" {quantile(finals, 1):.0f} | {quantile(questions, 0.5):.0f} / {quantile(questions, 0.95):.0f} |"
            f" {captions:.0f} | {each.dropped.get('partial', 0):.0f} | {late:.0f} | {each.refused} | {each.unheard} |"
            f" {each.error_rate:.1f} % | {each.cpu:.2f} | {each.load_cpu:.2f} | {each.others_cpu:.2f} |"
            f" {each.memory_mb:.0f} |"
        )
    good = [each.speakers for each in crowds if each.whole and each.p95 < LIMIT_MS and not each.refused]
    largest = max(good, default=0)
    print(
        f"\nLargest number with p95 under the silence applied + {LIMIT_MS:.0f} ms and nobody refused: {largest}"
        f" (target {TARGET}: {'reached' if largest >= TARGET else 'missed'})."
    )
    print(verdict(max(each.others_cpu for each in crowds)))
