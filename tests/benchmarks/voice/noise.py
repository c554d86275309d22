"""Words hallucinated from noise, and words of quiet speech that are lost, at the same thresholds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from audio.decoding import decode_filtered, encoder_context_s
from audio.models import find_model
from audio.types import RATE_HZ, Samples
from audio.whisper import FasterWhisper
from tests.benchmarks.voice import sources
from tests.benchmarks.voice.corpus import SPEECH_DBFS, Recording, answers, read_sound, utterances
from tests.benchmarks.voice.scoring import Errors, errors
from tests.benchmarks.voice.sources import Say
from tests.benchmarks.voice.streaming import SpeechModels, model_name, open_models, transcribe_recording
from tests.support.speech_sounds import (
    Sound,
    at_dbfs,
    coloured,
    cough,
    fan,
    hum,
    knock,
    louder,
    played,
    samples_of,
    scattered,
    silence,
)

NOISE_DBFS = -30.0
MUSIC_DBFS = -23.0
ROOM_DBFS = -65.0
QUIETER_DB = (0, -20, -30, -40)
QUIET_WORDS = 400
"""Words of each loudness; in all four, that many times four."""
LEAST_MINUTES = 30.0
AT_ONCE = 2
PIECE = 8 * RATE_HZ
STEP_S = 10.0
STEPS_DB = (0.0, -12.0, 12.0)
TONES = ("beep", "beeperr", "ascending-2tone", "descending-2tone", "tt-monkeys")


@dataclass(frozen=True)
class Track:
    """A sound without speech."""

    name: str
    origin: str
    sound: Sound

    @property
    def minutes(self) -> float:
        return len(self.sound) / RATE_HZ / 60


@dataclass(frozen=True)
class TrackResult:
    """The result for a track: how many onsets of speech were detected, and the words that were hallucinated."""

    name: str
    origin: str
    minutes: float
    sounds: int
    words: int
    texts: list[str]
    written: int
    """Words that the model writes for pieces of it without voice activity detection."""
    filtered: int
    """The number of these words that pass the hallucination filter."""


def generated() -> list[Track]:
    """Noise that can be computed: 12 minutes."""
    rng = np.random.default_rng(30)
    made: Sequence[tuple[str, Sound]] = (
        ("digital silence", silence(60)),
        ("a quiet room", at_dbfs(coloured(rng, 120, 1.0), ROOM_DBFS)),
        ("white noise", stepped(at_dbfs(coloured(rng, 90, 0.0), NOISE_DBFS))),
        ("pink noise", stepped(at_dbfs(coloured(rng, 90, 1.0), NOISE_DBFS))),
        ("brown noise", stepped(at_dbfs(coloured(rng, 90, 2.0), NOISE_DBFS))),
        ("fan", stepped(at_dbfs(fan(rng, 60), NOISE_DBFS))),
        ("mains hum", stepped(at_dbfs(hum(60), NOISE_DBFS))),
        ("coughs", stepped(at_dbfs(scattered(rng, 60, [cough(rng) for _ in range(8)], per_s=0.4), NOISE_DBFS))),
        ("knocks", stepped(at_dbfs(scattered(rng, 60, [knock(rng) for _ in range(8)], per_s=1.0), NOISE_DBFS))),
        ("played notes", at_dbfs(played(rng, 120), MUSIC_DBFS)),
    )
    return [Track(name, "generated", sound) for name, sound in made]


def stepped(sound: Sound) -> Sound:
    """The same, every 10 s at another level."""
    piece = int(STEP_S * RATE_HZ)
    steps = np.repeat(np.resize(STEPS_DB, -(-len(sound) // piece)), piece)[: len(sound)]
    return np.asarray(sound * 10 ** (steps / 20))


def recorded(place: Path, say: Say) -> list[Track]:
    """Recordings without speech that can be had: keys, tones, music on hold."""
    found: list[Track] = []
    for read in (_keys, _tones, _music):
        try:
            found += read(place, say)
        except sources.SourceMissing as exc:
            say(f"left out: {exc}")
    return found


def _keys(place: Path, say: Say) -> list[Track]:
    rng = np.random.default_rng(31)
    files = sorted(sources.folder(sources.KEYS, place, say).glob("*.wav"))
    keys = [read_sound(path) for path in files]
    typed = scattered(rng, 180, keys, per_s=8.0)
    return [Track("typing", "recorded", stepped(at_dbfs(typed, NOISE_DBFS)))]


def _tones(place: Path, say: Say) -> list[Track]:
    rng = np.random.default_rng(32)
    folder = sources.folder(sources.PROMPTS, place, say)
    sounds = [read_sound(folder / f"{name}.g722") for name in TONES]
    return [Track("tones and monkeys", "recorded", at_dbfs(scattered(rng, 90, sounds, per_s=0.15), MUSIC_DBFS))]


def _music(place: Path, say: Say) -> list[Track]:
    files = sorted(sources.folder(sources.MUSIC, place, say).glob("*.g722"))
    return [Track(f"music: {path.stem}", "recorded", at_dbfs(read_sound(path), MUSIC_DBFS)) for path in files]


async def run(place: Path, say: Say, *, share: float = 1.0) -> None:
    """Measure and print; `share` of every track and of the quiet words, for a quick look."""
    tracks = [*generated(), *await asyncio.to_thread(recorded, place, say)]
    tracks = [Track(each.name, each.origin, each.sound[: int(len(each.sound) * share)]) for each in tracks]
    spoken = _some(answers(await asyncio.to_thread(utterances, place, say)), QUIET_WORDS * share)
    free = asyncio.Semaphore(AT_ONCE)
    engine = await asyncio.to_thread(FasterWhisper, find_model(model_name()), workers=AT_ONCE)
    async with open_models(workers=AT_ONCE) as models, asyncio.TaskGroup() as group:
        noises = [group.create_task(_track(track, models, engine, free, say)) for track in tracks]
        loudnesses = [group.create_task(_spoken(spoken, db, models, free, say)) for db in QUIETER_DB]
    heard = [task.result() for task in noises]
    (place / "noise.json").write_text(json.dumps([asdict(each) for each in heard], indent=1))
    _print(heard, dict(zip(QUIETER_DB, (task.result() for task in loudnesses), strict=True)))


def _some(recordings: Sequence[Recording], words: float) -> list[Recording]:
    """Recordings of all speakers and lengths with so many words."""
    chosen: list[Recording] = []
    rng = np.random.default_rng(33)
    for number in rng.permutation(len(recordings)):
        if sum(each.words for each in chosen) >= words:
            break
        chosen.append(recordings[number])
    return chosen


async def _track(
    track: Track, models: SpeechModels, engine: FasterWhisper, free: asyncio.Semaphore, say: Say
) -> TrackResult:
    async with free:
        samples = samples_of(track.sound)
        result = await transcribe_recording(samples, models.transcriber.for_session(track.name), models.activity)
        written, filtered = await asyncio.to_thread(_without_detector, samples, engine)
    texts = [answer.text for answer in result.answers if answer.text]
    words = sum(len(text.split()) for text in texts)
    say(f"{track.name}: {track.minutes:.1f} minutes, {result.sounds} sounds like speech, {words} words")
    return TrackResult(track.name, track.origin, track.minutes, result.sounds, words, texts, written, filtered)


def _without_detector(samples: Samples, engine: FasterWhisper) -> tuple[int, int]:
    """Words that the model writes for all pieces of a track, and how many of them pass the hallucination filter."""
    written = filtered = 0
    for at in range(0, len(samples), PIECE):
        piece = samples[at : at + PIECE]
        plain = engine.decode(
            piece.astype(np.float32) / 32768.0, context_s=encoder_context_s(len(piece)), beam_size=5, language="en"
        )
        written += len(plain.text.split())
        filtered += len(decode_filtered(engine, piece, language="en", beam_size=5).text.split())
    return written, filtered


async def _spoken(
    recordings: Sequence[Recording], db: float, models: SpeechModels, free: asyncio.Semaphore, say: Say
) -> Errors:
    total = Errors(0)
    for recording in recordings:
        async with free:
            samples = samples_of(louder(recording.sound, db))
            result = await transcribe_recording(
                samples, models.transcriber.for_session((db, recording.name)), models.activity
            )
        total += errors(recording.text, result.text)
    say(f"speech at {SPEECH_DBFS + db:.0f} dBFS: {total.found} of {total.words} words")
    return total


def _print(heard: Sequence[TrackResult], quiet: Mapping[int, Errors]) -> None:
    minutes, words = sum(each.minutes for each in heard), sum(each.words for each in heard)
    print(f"\n## Words from noise and words from quiet speech, {model_name()}, the same thresholds\n")
    print(
        "No speech: every 10 s of a noise has another level, from -42 to -18 dBFS. The last two columns: 8 s pieces"
        " given to the model without voice activity detection, before and after the hallucination filter.\n"
    )
    print(
        "| heard | origin | minutes | sounds taken for a voice | words nobody said | words understood |"
        " model alone | model and filter |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for each in heard:
        print(
            f"| {each.name} | {each.origin} | {each.minutes:.1f} | {each.sounds} | {each.words} | |"
            f" {each.written} | {each.filtered} |"
        )
    print(
        f"| **no speech, together** | | {minutes:.1f} | {sum(each.sounds for each in heard)} | **{words}** | |"
        f" {sum(each.written for each in heard)} | {sum(each.filtered for each in heard)} |"
    )
    for db, found in quiet.items():
        understood = f"{found.found} of {found.words} ({100 * found.found / max(1, found.words):.1f} %)"
        print(
            f"| speech at {SPEECH_DBFS + db:.0f} dBFS ({db:+d} dB) | recorded | | | {found.inserted} | {understood} |"
            " | |"
        )
    print(f"\nTarget: no word in {LEAST_MINUTES:.0f} minutes: {'reached' if not words else 'missed'}.")
    for each in heard:
        for text in each.texts:
            print(f"{each.name}: {text!r}")
