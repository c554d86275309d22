"""How many people one machine carries: latency of the first token by the number of sessions.

Respondents live in a process of their own; each answers once in 30 s. The machine carries as many as have a p95 of at
most that of a single session and 300 ms more.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.benchmarks.language_models import Crowd, double_process, loaded, percentile
from tests.benchmarks.latency import TURN_EVERY_S
from tests.benchmarks.workers import cpu_s, family, server

SESSIONS = (1, 50, 100, 200, 300, 400)
TURNS = 3
ALONE = Crowd(1, 12, 2.0)
SLACK_MS = 300.0
LAG = re.compile(r'^askwell_loop_lag_ms_bucket\{.*?le="([^"]+)".*?\} (\S+)$', re.MULTILINE)
WIDTH, HEIGHT, EDGE = 560, 300, 46


@dataclass(frozen=True)
class Point:
    """One crowd: latencies in ms, what the server used of one core, p99 of the loop's lag in ms (one process)."""

    sessions: int
    turns: int
    median: float
    p95: float
    worst: float
    cores: float
    lag_ms: float
    load: float


def lag_p99(before: str, after: str) -> float:
    """Upper edge of the bucket in which the 99th percentile of what was added lies, over all workers, ms."""
    counts: dict[str, float] = {}
    for scrape, sign in ((before, -1.0), (after, 1.0)):
        for edge, count in LAG.findall(scrape):
            counts[edge] = counts.get(edge, 0.0) + sign * float(count)
    total = counts.get("+Inf", 0.0)
    edges = sorted((float(edge), count) for edge, count in counts.items() if edge != "+Inf")
    return next((edge for edge, count in edges if total and count >= 0.99 * total), float("inf"))


async def measured(crowds: Sequence[int], workers: int, models: bool) -> list[Point]:
    """The points of one server, the single session first."""
    found: list[Point] = []
    async with AsyncExitStack() as stack:
        double_url = (await stack.enter_async_context(double_process()))[0] if models else None
        process = await stack.enter_async_context(server(workers, double_url))
        await loaded(process.url, Crowd(1, 3, 1.0))
        for sessions in crowds:
            crowd = ALONE if sessions == 1 else Crowd(sessions, TURNS, TURN_EVERY_S)
            members, load = family(process.pid), os.getloadavg()[0]
            metrics, used, began = await scraped(process.url), cpu_s(members), time.monotonic()
            turns, _ = await loaded(process.url, crowd)
            cores = (cpu_s(family(process.pid)) - used) / (time.monotonic() - began)
            took = [turn.took_ms for turn in turns]
            lag = lag_p99(metrics, await scraped(process.url))
            point = Point(
                sessions, len(took), statistics.median(took), percentile(took, 0.95), max(took), cores, lag, load
            )
            found.append(point)
            print(row(point, found[0].p95 + SLACK_MS), flush=True)
    return found


async def scraped(url: str) -> str:
    """The server's metrics; nothing where they are not open."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        answer = await http.get("/metrics")
    return answer.text if answer.status_code == 200 else ""


def row(point: Point, most: float) -> str:
    """One line of the table."""
    return (
        f"| {point.sessions} | {point.turns} | {point.median:.0f} | {point.p95:.0f} | {point.worst:.0f} "
        f"| {'yes' if point.p95 <= most else 'no'} | {point.cores:.2f} | {point.lag_ms:g} | {point.load:.1f} |"
    )


def plot(points: Sequence[Point], most: float) -> str:
    """Median and p95 by sessions, with the limit, as SVG."""
    right = max(point.sessions for point in points)
    top = max(most * 1.2, *(min(point.p95, 3 * most) for point in points))

    def at(sessions: float, ms: float) -> str:
        x = EDGE + sessions / right * (WIDTH - 1.5 * EDGE)
        y = HEIGHT - EDGE - ms / top * (HEIGHT - 1.5 * EDGE)
        return f"{x:.1f},{y:.1f}"

    def line(values: Sequence[float], colour: str) -> str:
        places = " ".join(at(p.sessions, min(v, top)) for p, v in zip(points, values, strict=True))
        return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>'

    labels = "".join(
        f'<text x="{at(p.sessions, 0).split(",")[0]}" y="{HEIGHT - EDGE + 16}" text-anchor="middle">{p.sessions}</text>'
        for p in points
        if p.sessions > 1
    ) + "".join(
        f'<text x="{EDGE - 6}" y="{at(0, share * top).split(",")[1]}" text-anchor="end">{share * top:.0f}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>'
        f'<polyline points="{at(0, top)} {at(0, 0)} {at(right, 0)}" fill="none" stroke="#999"/>'
        f'<polyline points="{at(0, most)} {at(right, most)}" fill="none" stroke="#999" stroke-dasharray="4 4"/>'
        + line([p.median for p in points], "#3b6ea5")
        + line([p.p95 for p in points], "#b5542c")
        + labels
        + f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">sessions, an answer every 30 s each</text>'
        f'<text x="{EDGE + 8}" y="14">first token, ms: median (blue), p95 (red), limit (dashed)</text></svg>\n'
    )


async def run(arguments: Sequence[str]) -> None:
    """Print the table, and say how many are carried."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks crowds", description=__doc__)
    parser.add_argument("--models", action="store_true", help="with a double as every language model")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--sessions", default=",".join(map(str, SESSIONS)), help="numbers, 1 first")
    parser.add_argument("--plot", type=Path, help="SVG file to write")
    options = parser.parse_args(arguments)
    crowds = [int(number) for number in options.sessions.split(",")]
    if crowds[0] != 1 or min(crowds) < 1:
        parser.error("the first crowd is a single session, and none is smaller")
    language = "language models" if options.models else "offline"
    print(f"\n## First token by sessions, {language}, {options.workers} worker(s), one answer per 30 s each, ms\n")
    print("| sessions | turns | median | p95 | worst | within one + 300 | cores used | loop lag p99 | load before |")
    print("|---" * 9 + "|")
    points = await measured(crowds, options.workers, options.models)
    most = points[0].p95 + SLACK_MS
    carried = [point.sessions for point in points if point.p95 <= most]
    print(f"\nCarried: {max(carried)} sessions (p95 ≤ {most:.0f} ms).")
    if options.plot:
        options.plot.write_text(plot(points, most), encoding="utf-8")
