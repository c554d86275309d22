"""Time from the last word of an answer to its text and to the next question, over the server's WebSocket."""

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
from tests.benchmarks.voice.machine import Cores, verdict
from tests.benchmarks.voice.respondents import Speaker, SpokenResult, visiting
from tests.benchmarks.voice.scoring import quantile
from tests.benchmarks.voice.sources import Say
from tests.benchmarks.voice.streaming import SpeechModels, model_name, open_models, transcribe_recording
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


async def without_long_pauses(recordings: Sequence[Recording], models: SpeechModels) -> list[Recording]:
    """The recordings in which no pause ends the answer, which another benchmark measures."""
    return [each for each in recordings if len(await _answers(each, models)) == 1]


async def _answers(recording: Recording, models: SpeechModels) -> list[str]:
    result = await transcribe_recording(samples_of(recording.sound), models.transcriber, models.activity)
    return [answered.text for answered in result.answers if answered.text]


def end_by_detector(recording: Recording, models: SpeechModels) -> int:
    """The sample at which speech ends according to voice activity detection alone."""
    runs = SpeechSegmenter()
    room = at_dbfs(coloured(np.random.default_rng(6), 1.0, 1.0), ROOM_DBFS)
    for probability in models.activity.open().push(samples_of(np.concatenate([recording.sound, room]))):
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
    async with open_models() as models:
        for seconds in lengths_s:
            found[seconds] = (await without_long_pauses(fitting(spoken, seconds, 2 * count), models))[:count]
            for each in found[seconds]:
                late[each.name] = (end_by_detector(each, models) - each.speech_end) / RATE_HZ * 1000
            say(f"{len(found[seconds])} answers of {seconds:.0f} s")
    return Prepared(found, late)


async def run(place: Path, say: Say, *, share: float = 1.0) -> None:
    """Measure and print; `share` of the answers, for a quick look."""
    count = max(1, round(ANSWERS * share))
    ready = await prepared(place, say, LENGTHS_S, count)
    results: dict[float, list[SpokenResult]] = {}
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


def _print(results: dict[float, list[SpokenResult]], detector_ms: dict[str, float]) -> None:
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
