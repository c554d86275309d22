"""How soon an answer's last word is followed by its text and by the next question, over the server's own socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from audio.endpoint import FRAME_SAMPLES, SpeechSegmenter
from audio.types import RATE_HZ
from tests.benchmarks.latency import server
from tests.benchmarks.voice.corpus import ROOM_DBFS, Recording, Utterance, answer, utterances
from tests.benchmarks.voice.hearing import Ears, ears, hear, model_name
from tests.benchmarks.voice.machine import Cores, verdict
from tests.benchmarks.voice.respondents import Speaker, Spoken, visiting
from tests.benchmarks.voice.scoring import quantile
from tests.benchmarks.voice.sources import Say
from tests.support.speech_sounds import at_dbfs, coloured, samples_of

LENGTHS_S = (3.0, 10.0, 30.0)
ANSWERS = 20
"""Of each length."""
WITHIN = 0.15
"""By how much an answer may be longer or shorter than asked for."""
WARM = 2
"""Answers before anything is counted."""
FINAL_MS, QUESTION_MS = 60.0, 150.0
"""Targets, p95."""
BETWEEN_S = 1.0


def fitting(spoken: Sequence[Utterance], seconds: float, count: int, seed: int = 5) -> list[Recording]:
    """Answers of one speaker each that take so long, each of other utterances where there are enough."""
    rng = np.random.default_rng([seed, int(seconds)])
    made: list[Recording] = []
    tries = 0
    while len(made) < count and tries < 400:
        tries += 1
        first = int(rng.integers(len(spoken)))
        chosen: list[Utterance] = []
        for each in spoken[first:]:
            if each.speaker != spoken[first].speaker or sum(u.seconds + 0.4 for u in chosen) >= seconds * (1 - WITHIN):
                break
            chosen.append(each)
        length = sum(u.seconds + 0.4 for u in chosen) - 0.4
        if abs(length - seconds) <= WITHIN * seconds:
            made.append(answer(f"{seconds:.0f} s, {chosen[0].name}", chosen, rng))
    return made


async def uninterrupted(recordings: Sequence[Recording], listening: Ears) -> list[Recording]:
    """Those whose own pauses end no answer: how long a pause may be is another measurement."""
    return [each for each in recordings if len(await _answers(each, listening)) == 1]


async def _answers(recording: Recording, listening: Ears) -> list[str]:
    listened = await hear(samples_of(recording.sound), listening.transcriber, listening.activity)
    return [answered.text for answered in listened.answers if answered.text]


def detected_end(recording: Recording, listening: Ears) -> int:
    """The sample from which the voice activity detector hears no speech any more."""
    runs = SpeechSegmenter()
    room = at_dbfs(coloured(np.random.default_rng(6), 1.0, 1.0), ROOM_DBFS)
    for probability in listening.activity.open().push(samples_of(np.concatenate([recording.sound, room]))):
        runs.push(float(probability))
    return runs.end * FRAME_SAMPLES


@dataclass(frozen=True)
class Prepared:
    """Answers to be given, and by how many milliseconds after its true end the detector hears the end of each."""

    answers: dict[float, list[Recording]]
    detector_ms: dict[str, float]


async def prepared(place: Path, say: Say, lengths_s: Sequence[float], count: int) -> Prepared:
    """Answers of each length that are one answer to the rules."""
    spoken = await asyncio.to_thread(utterances, place, say)
    found: dict[float, list[Recording]] = {}
    late: dict[str, float] = {}
    async with ears() as listening:
        for seconds in lengths_s:
            found[seconds] = (await uninterrupted(fitting(spoken, seconds, 2 * count), listening))[:count]
            for each in found[seconds]:
                late[each.name] = (detected_end(each, listening) - each.speech_end) / RATE_HZ * 1000
            say(f"{len(found[seconds])} answers of {seconds:.0f} s")
    return Prepared(found, late)


async def run(place: Path, say: Say, *, share: float = 1.0) -> None:
    """Measure and print; `share` of the answers, for a quick look."""
    count = max(1, round(ANSWERS * share))
    ready = await prepared(place, say, LENGTHS_S, count)
    results: dict[float, list[Spoken]] = {}
    async with server() as (url, pid), visiting(url) as http, Speaker(url, http) as one:
        for recording in ready.answers[LENGTHS_S[0]][:WARM]:
            await one.answer(recording)
        cores = Cores(pid)
        for seconds, recordings in ready.answers.items():
            results[seconds] = []
            for number, recording in enumerate(recordings, start=1):
                await asyncio.sleep(BETWEEN_S)
                found = await one.answer(recording)
                results[seconds].append(found)
                say(
                    f"{seconds:.0f} s, {number} of {len(recordings)}: silence applied {found.silence_s * 1000:.0f} ms,"
                    f" text {found.final_ms:.0f} ms after it, question {found.question_ms:.0f} ms"
                )
        _, _, others = cores.used()
    (place / "latency.json").write_text(
        json.dumps({str(seconds): [asdict(each) for each in some] for seconds, some in results.items()}, indent=1)
    )
    _print(results, ready.detector_ms)
    print(verdict(others))


def _print(results: dict[float, list[Spoken]], detector_ms: dict[str, float]) -> None:
    print(f"\n## From the last word to its text and to the next question, {model_name()}, patience normal, ms\n")
    print(
        "True end of speech: the last sound of the recording by its loudness. Counted is what comes on top of the"
        " silence that the rules ask for after that text. The voice activity detector alone would put the end later"
        " (column); the rules correct it by loudness. A silence is whole frames of 32 ms and never cut short, which is"
        " up to 32 ms of both figures; the rest is work and the wire.\n"
    )
    print(
        "| answers of | answers | silence applied | detector late, median / p95 | to the text: median / p95 / worst |"
        " to the next question: median / p95 / worst |"
    )
    print("|---|---|---|---|---|---|")
    everything = [each for some in results.values() for each in some]
    rows = [(f"{seconds:.0f} s", some) for seconds, some in results.items()]
    for name, some in (*rows, ("all", everything)):
        whole = [each for each in some if each.final_s is not None and not each.cut_off]
        silences = sorted({round(each.silence_s * 1000) for each in whole})
        detected = [detector_ms[each.name] for each in whole]
        print(
            f"| {name} | {len(whole)} | {', '.join(map(str, silences))} |"
            f" {quantile(detected, 0.5):.0f} / {quantile(detected, 0.95):.0f} | {_three([e.final_ms for e in whole])} |"
            f" {_three([e.question_ms for e in whole if e.question_s is not None])} |"
        )
    whole = [each for each in everything if each.final_s is not None and not each.cut_off]
    others = len(everything) - len(whole)
    if others:
        print(f"\n{others} answers are not counted: cut off in a pause of their own, or not understood.")
    for what, limit, values in (
        ("text", FINAL_MS, [each.final_ms for each in whole]),
        ("next question", QUESTION_MS, [each.question_ms for each in whole if each.question_s is not None]),
    ):
        p95 = quantile(values, 0.95)
        print(
            f"Target to the {what}: p95 at most {limit:.0f} ms: {'reached' if p95 <= limit else 'missed'} ({p95:.0f})."
        )


def _three(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.0f}" for value in (quantile(values, 0.5), quantile(values, 0.95), quantile(values, 1)))
