"""How often a pause in the middle of an answer is taken for its end, by the length of the pause and the patience."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from audio.endpoint import PATIENCE_MS, Patience
from audio.types import RATE_HZ, Purpose, Samples, Transcriber, Transcript
from tests.benchmarks.voice.corpus import EDGE_S, ROOM_DBFS, Recording, Utterance, answer, utterances
from tests.benchmarks.voice.pauses import Aligner, with_pause
from tests.benchmarks.voice.sources import Say
from tests.benchmarks.voice.streaming import SpeechModels, model_name, open_models, transcribe_recording
from tests.support.speech_sounds import at_dbfs, coloured, frames_of, samples_of

PAUSES_S = (0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5)
PLACES = 40
"""Of each kind."""
WORDS_AROUND = 2
"""A pause inside a sentence has at least so many words of it on either side."""
TAIL_S = 4.0
AT_ONCE = 2
KINDS = ("inside a sentence", "between sentences")


@dataclass(frozen=True)
class Place:
    """The position of a pause: an answer, and a sample in it."""

    kind: str
    recording: Recording
    at: int


class CachingTranscriber:
    """Transcribes the same audio only once: the windows before a pause are the same for all its lengths."""

    def __init__(self, transcriber: Transcriber) -> None:
        self._transcriber = transcriber
        self._known: dict[bytes, Transcript] = {}

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        """As `Transcriber.transcribe`."""
        key = samples.tobytes() + offset.to_bytes(8, "big") + {"partial": b"p", "again": b"a"}.get(purpose, b"f")
        if key not in self._known:
            self._known[key] = await self._transcriber.transcribe(
                samples, language=language, purpose=purpose, offset=offset
            )
        return self._known[key]


def inside(spoken: Sequence[Utterance], aligner: Aligner, count: int) -> list[Place]:
    """Pauses between two words of a sentence."""
    rng = np.random.default_rng(7)
    found: list[Place] = []
    for number in rng.permutation(len(spoken)):
        each = spoken[number]
        words = len(each.text.split())
        gaps = [gap for gap in aligner.gaps(each) if WORDS_AROUND <= gap.words_before <= words - WORDS_AROUND]
        if not gaps or any(sign in each.text.rstrip(".?! ") for sign in ".?!,;"):
            continue
        gap = gaps[int(rng.integers(len(gaps)))]
        recording = answer(each.name, [each], rng)
        found.append(Place(KINDS[0], recording, recording.parts[0][1] + gap.at))
        if len(found) == count:
            break
    return found


def between(spoken: Sequence[Utterance], count: int) -> list[Place]:
    """Pauses between two sentences of one speaker."""
    rng = np.random.default_rng(8)
    found: list[Place] = []
    while len(found) < count:
        first = int(rng.integers(len(spoken) - 1))
        one, other = spoken[first], spoken[first + 1]
        if one.speaker == other.speaker:
            pieces = answer(f"{one.name}, {other.name}", [one, other], rng)
            found.append(Place(KINDS[1], pieces, pieces.parts[1][1]))
    return found


def paused(place: Place, seconds: float) -> tuple[Samples, int]:
    """The answer with the pause, and a silence after it; and the sample at which it goes on."""
    rng = np.random.default_rng([9, place.at])
    sound = place.recording.sound
    natural = place.at - (place.recording.parts[0][1] + len(place.recording.parts[0][0].sound))
    if place.kind == KINDS[1]:
        cut = place.at - natural
        sound = np.concatenate([sound[:cut], sound[place.at :]])
        whole = with_pause(sound, cut, seconds, rng)
        resumed = cut + frames_of(seconds)
    else:
        whole = with_pause(sound, place.at, seconds, rng)
        resumed = place.at + frames_of(seconds)
    tail = at_dbfs(coloured(rng, TAIL_S - EDGE_S, 1.0), ROOM_DBFS)
    return samples_of(np.concatenate([whole, tail])), resumed


async def run(place: Path, say: Say, *, share: float = 1.0) -> None:
    """Measure and print; `share` of the places, for a quick look."""
    spoken = await asyncio.to_thread(utterances, place, say)
    aligner = Aligner(place)
    count = max(1, round(PLACES * share))
    places = [*await asyncio.to_thread(inside, spoken, aligner, count), *between(spoken, count)]
    aligner.remember()
    cut: Counter[tuple[str, Patience, float]] = Counter()
    free = asyncio.Semaphore(AT_ONCE)
    async with open_models(workers=AT_ONCE) as models, asyncio.TaskGroup() as group:
        for number, each in enumerate(places, start=1):
            group.create_task(_one(each, models, cut, free, say, f"{number} of {len(places)} pauses"))
    rows = [[kind, patience, pause, cut[kind, patience, pause]] for kind, patience, pause in cut]
    (place / "cutoffs.json").write_text(json.dumps(rows, indent=1))
    _print(cut, Counter(each.kind for each in places))


async def _one(
    place: Place,
    models: SpeechModels,
    cut: Counter[tuple[str, Patience, float]],
    free: asyncio.Semaphore,
    say: Say,
    progress: str,
) -> None:
    async with free:
        transcriber = CachingTranscriber(models.transcriber.for_session(progress))
        for seconds in PAUSES_S:
            samples, resumed = await asyncio.to_thread(paused, place, seconds)
            for patience in get_args(Patience):
                result = await transcribe_recording(samples, transcriber, models.activity, patience=patience)
                early = [each for each in result.answers if each.text and each.at <= resumed + RATE_HZ // 4]
                cut[place.kind, patience, seconds] += bool(early)
        say(progress)


def _print(cut: Counter[tuple[str, Patience, float]], places: Counter[str]) -> None:
    print(f"\n## Pauses that end an answer, {model_name()}\n")
    print(
        f"{' and '.join(f'{count} pauses {kind}' for kind, count in places.items())}, percent of answers cut off there."
        " A pause longer than the patience ends an answer, unless its sentence is seen to be unfinished.\n"
    )
    print(f"| pause | patience (silence) | {' | '.join(f'{seconds:g} s' for seconds in PAUSES_S)} |")
    print("|---|---|" + "---|" * len(PAUSES_S))
    for kind in KINDS:
        for patience, silence_ms in PATIENCE_MS.items():
            shares = [100 * cut[kind, patience, seconds] / max(1, places[kind]) for seconds in PAUSES_S]
            row = " | ".join(f"{each:.0f}" for each in shares)
            print(f"| {kind} | `{patience}` ({silence_ms} ms) | {row} |")
