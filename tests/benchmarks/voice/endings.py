"""How long it takes until an answer ends, by silence and words alone and with the turn detector, on real recordings.

    python -m tests.benchmarks.voice.endings FOLDER [NAME]… [-v] [--fluent N] [--read N]  # wav files, one answer each

Each recording is cut in its speaker's pauses, at its end, and between some words that are said without a pause; a quiet
room follows, and what the rules then require is what a pause there may last. How a place is called follows the model's
own full stops, with the words around it known. Recordings are one answer each, so that every pause inside one that ends
it is a mistake. `references.tsv` in the folder (file, kind, what is said) has words counted, too. With no NAME, all
files of the folder are heard; -v prints every place, and --read N adds the ends of so many utterances read aloud.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

import numpy as np

from audio.decoding import DecodedWord
from audio.endpoint import FRAME_SAMPLES, PATIENCE_MS, PAUSE_FRAMES, Patience, SpeechSegmenter, required_silence
from audio.models import find_model
from audio.speech import SpeechStream
from audio.turn_detector import SmartTurn, TurnDetector
from audio.types import RATE_HZ, AnswerEnded, Samples, ms
from audio.vad import VoiceActivityDetector
from audio.whisper import FasterWhisper
from config.speech import SpeechSettings
from tests.benchmarks.voice.__main__ import PLACE, say
from tests.benchmarks.voice.corpus import Recording, answer, read_samples, utterances
from tests.benchmarks.voice.cutoffs import CachingTranscriber
from tests.benchmarks.voice.pauses import with_pause
from tests.benchmarks.voice.scoring import Errors, errors
from tests.benchmarks.voice.streaming import SpeechModels, model_name, open_models, read_again, transcribe_recording
from tests.benchmarks.voice.wer import Offline
from tests.support.speech_sounds import frames_of, samples_of, sound_of

Kind = Literal[
    "end of the answer", "end of what is read", "between sentences", "inside a sentence", "inside, without a pause"
]
ENDS: tuple[Kind, ...] = ("end of the answer", "end of what is read")
PAUSES_S = (0.7, 1.0, 1.3, 1.6, 2.0, 2.5)
HEARD_BEFORE_S = 24.0
"""An answer is cut so long before the place, too."""
CONTEXT_S = 28.0
FAR_S = 0.5
"""They are so far from every pause."""
ROOM_S = 3.6


@dataclass(frozen=True)
class Place:
    """A place where an answer may pause: its sample, what is heard up to it, and how finished that sounds."""

    recording: str
    at: int
    kind: Kind
    text: str
    spoken: int
    finished: float

    def needs_s(self, patience: Patience, *, by_sound: bool) -> float:
        """Seconds of silence that end the answer here."""
        finished = self.finished if by_sound else None
        found = required_silence(patience, self.text, language="en", spoken=self.spoken, finished=finished)
        return ms(found) / 1000


class RememberingDetector:
    """A turn detector that remembers its last judgement."""

    def __init__(self, inner: TurnDetector) -> None:
        self._inner = inner
        self.last = 1.0

    def finished(self, samples: Samples) -> float:
        """As `TurnDetector.finished`."""
        self.last = self._inner.finished(samples)
        return self.last


class Surveyor:
    """Finds the places of recordings.

    Args:
        models: of the product.
        fluent: places without a pause, of each recording.
    """

    def __init__(self, models: SpeechModels, fluent: int) -> None:
        self._fluent_places = fluent
        self._transcriber = models.transcriber
        self._activity = models.activity
        self._detector = RememberingDetector(SmartTurn())
        self._thread = ThreadPoolExecutor(1)
        self._offline = FasterWhisper(find_model(model_name()), workers=1)

    async def places(self, name: str, samples: Samples) -> list[Place]:
        """All places of one recording."""
        pauses = pauses_of(samples, self._activity)
        found = [await self._place(name, samples, at, self._kind(samples, at, last=at == pauses[-1])) for at in pauses]
        for at in self._fluent(samples, pauses):
            found.append(await self._place(name, samples, at, "inside, without a pause"))
        return found

    async def end(self, read: Recording) -> Place:
        """The end of something read aloud."""
        samples = samples_of(read.sound)
        return await self._place(read.name, samples, pauses_of(samples, self._activity)[-1], "end of what is read")

    async def _place(self, name: str, samples: Samples, at: int, kind: Kind) -> Place:
        first = max(0, at - frames_of(HEARD_BEFORE_S))
        sound = with_pause(sound_of(samples[first:at]), at - first, ROOM_S, np.random.default_rng(at))
        async with (
            SpeechStream(
                self._transcriber,
                self._activity,
                patience="patient",
                more_ms=1000,
                max_answer_s=None,
                partial_every_ms=0,
                turns=self._detector,
                executor=self._thread,  # one, so that judgements come in order
            ) as stream,
            asyncio.TaskGroup() as group,
        ):
            reader = group.create_task(_final(stream))
            await stream.hold((at - first) / RATE_HZ)
            await stream.feed(samples_of(sound).astype("<i2").tobytes())
            if not stream.ended:
                await stream.stop()
            end = await reader
        return Place(name, at, kind, end.text, end.speech_end + first, self._detector.last)

    def _words(self, samples: Samples, at: int) -> list[tuple[str, int]]:
        """Words around a place with the samples of their middles, as heard offline with both sides of it."""
        first = max(0, at - frames_of(CONTEXT_S / 2))
        sound = samples[first : first + frames_of(CONTEXT_S)].astype(np.float32) / 32768.0
        words = self._offline.decode(sound, context_s=30, beam_size=5, language="en").words
        return [(word.text.strip(), first + _middle(word)) for word in words]

    def _kind(self, samples: Samples, at: int, *, last: bool) -> Kind:
        if last:
            return "end of the answer"
        before = [text for text, middle in self._words(samples, at) if middle <= at]
        return "between sentences" if before and before[-1][-1:] in ".?!" else "inside a sentence"

    def _fluent(self, samples: Samples, pauses: Sequence[int]) -> Iterator[int]:
        """Places between two words that follow each other without a pause, the same ones each time."""
        found: list[int] = []
        step = frames_of(CONTEXT_S / 2)
        for first in range(0, len(samples), step):
            words = [each for each in self._words(samples, first + step) if first <= each[1] < first + step]
            for (text, one), (_, other) in pairwise(words):
                at = quietest(samples, one, other)
                if text[-1:] not in ".?!,;:" and all(abs(at - pause) > FAR_S * RATE_HZ for pause in pauses):
                    found.append(at)
        chosen = np.random.default_rng(5).permutation(len(found))[: self._fluent_places]
        yield from sorted(found[number] for number in chosen)


def _middle(word: DecodedWord) -> int:
    return int((word.start_s + word.end_s) / 2 * RATE_HZ)


async def _final(stream: SpeechStream) -> AnswerEnded:
    async for event in stream.events():
        if isinstance(event, AnswerEnded):
            return event
    raise RuntimeError("the stream ended without an answer")


def quietest(samples: Samples, first: int, last: int) -> int:
    """The middle of the quietest 10 ms between two samples."""
    size = RATE_HZ // 100
    starts = range(first, max(first + 1, last - size), size // 2)
    return min(starts, key=lambda at: float(np.mean(np.square(samples[at : at + size].astype(np.float64))))) + size // 2


def pauses_of(samples: Samples, activity: VoiceActivityDetector) -> list[int]:
    """Where a pause is noticed, 224 ms after speech stopped; the last one is the end."""
    heard = np.concatenate([samples, np.zeros(RATE_HZ, np.int16)])
    segmenter, found = SpeechSegmenter(), []
    for probability in activity.open().push(heard):
        if segmenter.push(float(probability)) == "pause":
            found.append(min((segmenter.end + PAUSE_FRAMES) * FRAME_SAMPLES, len(samples)))
    return found


def cut_off_table(places: Sequence[Place]) -> Iterator[str]:
    """Lines of a table: percent of places at which a pause of so many seconds ends the answer."""
    yield f"| place | patience | by | {' | '.join(f'{each} s' for each in PAUSES_S)} | mean silence needed |"
    yield "|" + "---|" * (len(PAUSES_S) + 4)
    for kind in get_args(Kind):
        here = [place for place in places if place.kind == kind]
        if not here:
            continue
        for patience in get_args(Patience):
            for by_sound in (False, True):
                needed = [place.needs_s(patience, by_sound=by_sound) for place in here]
                shares = [f"{sum(need <= pause for need in needed) / len(here):.0%}" for pause in PAUSES_S]
                how = "silence, words, sound" if by_sound else "silence, words"
                yield (
                    f"| {kind} ({len(here)}) | `{patience}` ({PATIENCE_MS[patience]} ms) | {how} | "
                    f"{' | '.join(shares)} | {np.mean(needed):.2f} s |"
                )


def wait_line(places: Sequence[Place]) -> str:
    """The mean silence after real ends at the default patience, in one line."""
    ends = [place.needs_s("normal", by_sound=True) for place in places if place.kind in ENDS]
    return f"mean silence after all {len(ends)} ends, `normal`, by silence, words and sound: {np.mean(ends):.2f} s"


def drawn(count: int) -> Iterator[Recording]:
    """So many utterances read aloud, the same ones each time."""
    if not count:
        return
    PLACE.mkdir(parents=True, exist_ok=True)
    spoken, rng = utterances(PLACE, say), np.random.default_rng(6)
    for number in rng.permutation(len(spoken))[:count]:
        yield answer(spoken[number].name, [spoken[number]], rng)


async def broken_table(sounds: Mapping[str, Samples], said: Mapping[str, str], models: SpeechModels) -> list[str]:
    """Lines of a table: whole recordings as they are, how many answers they fall into, and what is understood."""
    reopen_s = SpeechSettings().reopen_s
    lines = [
        f"| patience | by | recordings broken | answers | breaks and {reopen_s:g} s of silence | words wrong | "
        "read once more as one answer |",
        "|---|---|---|---|---|---|---|",
    ]
    transcriber, detector = CachingTranscriber(models.transcriber), SmartTurn()
    for patience in get_args(Patience):
        for turns in (None, detector):
            broken = answers = lost = 0
            stored, wrong, again = 0, Errors(0), Errors(0)
            for name, samples in sounds.items():
                heard = await transcribe_recording(
                    samples, transcriber, models.activity, patience=patience, turns=turns
                )
                parts = [answer for answer in heard.answers if answer.text]
                answers += len(parts)
                second = await read_again(heard, transcriber)
                stored += second is not None
                if name in said:
                    wrong += errors(said[name], heard.text)
                    again += errors(said[name], heard.text if second is None else second)
                broken += len(parts) > 1
                for one, other in pairwise(parts):
                    lost += other.words[0].start - one.at > reopen_s * RATE_HZ
            how = "silence, words" if turns is None else "silence, words, sound"
            line = f"| `{patience}` | {how} | {broken} of {len(sounds)} | {answers} | {lost}"
            lines.append(f"{line} | {wrong.total} of {wrong.words} | {again.total} ({stored} stored) |")
    with TemporaryDirectory() as place:
        offline = await asyncio.to_thread(Offline, Path(place))
        read = [errors(said[name], offline.read(sounds[name])) for name in sounds if name in said]
    wrong = sum(read, Errors(0))
    return [*lines, f"| offline | | | | | {wrong.total} of {wrong.words} | |"]


def _said(folder: Path) -> dict[str, str]:
    path = folder / "references.tsv"
    lines = path.read_text().splitlines()[1:] if path.is_file() else []
    return {Path(name).stem: text for name, _, text in (line.split("\t") for line in lines)}


def _read(folder: Path, wanted: Sequence[str]) -> dict[str, Samples]:
    paths = [path for path in sorted(folder.glob("*.wav")) if not wanted or path.stem in wanted]
    if not paths:
        raise SystemExit(f"no recordings in {folder}")
    return {path.stem: read_samples(path) for path in paths}


async def main() -> None:
    """Print both tables, and every place with `-v`."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.voice.endings")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("-v", action="store_true", dest="verbose")
    parser.add_argument("--fluent", type=int, default=12)
    parser.add_argument("--read", type=int, default=0)
    asked = parser.parse_args()
    sounds = await asyncio.to_thread(_read, asked.folder, asked.names)
    read = await asyncio.to_thread(lambda: list(drawn(asked.read)))
    async with open_models() as models:
        surveyor = Surveyor(models, asked.fluent)
        places = [place for name, sound in sounds.items() for place in await surveyor.places(name, sound)]
        places += [await surveyor.end(each) for each in read]
        if asked.verbose:
            for place in places:
                where = f"{place.recording:12} {place.at / RATE_HZ:7.2f} {place.kind:24}"
                print(f"{where} {place.finished:.3f} {place.text[-60:]!r}")
        print(
            *cut_off_table(places),
            "",
            wait_line(places),
            "",
            *await broken_table(sounds, _said(asked.folder), models),
            sep="\n",
        )


if __name__ == "__main__":
    asyncio.run(main())
