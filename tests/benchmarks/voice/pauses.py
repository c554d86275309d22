"""Pauses where people make them: between two words, never inside one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from audio.decoding import DecodedWord
from audio.models import find_model
from audio.types import RATE_HZ
from audio.whisper import FasterWhisper
from tests.benchmarks.voice.corpus import ROOM_DBFS, Recording, Utterance
from tests.benchmarks.voice.scoring import steps, words_of
from tests.benchmarks.voice.streaming import model_name
from tests.support.speech_sounds import FRAME, Sound, at_dbfs, coloured, frames_of, loudness

LONGEST_S = 29.0
REACH_S = 0.05
"""How far from where the aligner sees two words meet the quietest place is looked for."""
FADE_S = 0.008
QUIET_DB = 22.0
"""A place where a pause may be is so much quieter than the loudest piece."""


@dataclass(frozen=True)
class Gap:
    """A place in an utterance where a pause may be: sample, and how many words come before it."""

    at: int
    words_before: int


class Aligner:
    """Where the words of utterances meet; asked once, and remembered in a file."""

    def __init__(self, place: Path) -> None:
        self._path = place / "gaps.json"
        self._known: dict[str, list[list[int]]] = json.loads(self._path.read_text()) if self._path.is_file() else {}
        self._engine: FasterWhisper | None = None

    def gaps(self, utterance: Utterance) -> list[Gap]:
        """Places between words, in order."""
        name = f"{utterance.speaker}/{utterance.name}/{len(utterance.sound)}"
        if name not in self._known:
            self._known[name] = [[gap.at, gap.words_before] for gap in self._found(utterance)]
        return [Gap(at, before) for at, before in self._known[name]]

    def remember(self) -> None:
        """Write down what was found."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(self._known))

    def _found(self, utterance: Utterance) -> list[Gap]:
        if self._engine is None:
            self._engine = FasterWhisper(find_model(model_name()), workers=1)
        audio = utterance.sound[: frames_of(LONGEST_S)].astype(np.float32)
        heard = self._engine.decode(audio, context_s=30, beam_size=5, language="en")
        return _between(utterance.sound, heard.words, utterance.text)


def _between(sound: Sound, words: Sequence[DecodedWord], text: str) -> list[Gap]:
    """Quiet places between two words that were both understood: where one was not, nobody knows where it begins."""
    right = _understood(words, text)
    loud = loudness(sound)
    limit = loud.max(initial=0.0) * 10 ** (-QUIET_DB / 20)
    found: list[Gap] = []
    for number, (one, other) in enumerate(pairwise(words), start=1):
        low = int((one.end_s - REACH_S) * RATE_HZ) // FRAME
        high = int((other.start_s + REACH_S) * RATE_HZ) // FRAME + 1
        low, high = max(1, low), min(len(loud) - 1, high)
        if low >= high or not (right[number - 1] and right[number]):
            continue
        best = low + int(np.argmin(loud[low:high]))
        if loud[best] <= limit and best * FRAME > (found[-1].at if found else 0):
            found.append(Gap(best * FRAME + FRAME // 2, number))
    return found


def _understood(words: Sequence[DecodedWord], text: str) -> list[bool]:
    """Of each word, whether it was said like that."""
    plain = [words_of(word.text) for word in words]
    pairs = steps(words_of(text), [each for one in plain for each in one])
    found = iter([ours == theirs for ours, theirs in pairs if theirs is not None])
    return [all(list(islice(found, len(one)))) for one in plain]


def with_pause(sound: Sound, at: int, seconds: float, rng: np.random.Generator) -> Sound:
    """The same sound with a pause of a quiet room at one place."""
    fade = frames_of(FADE_S)
    left, right = sound[:at].copy(), sound[at:].copy()
    left[-fade:] *= np.linspace(1, 0, len(left[-fade:]))
    right[:fade] *= np.linspace(0, 1, len(right[:fade]))
    room = at_dbfs(coloured(rng, seconds, 1.0), ROOM_DBFS)
    return np.concatenate([left, room, right])


def hesitant(
    recording: Recording, aligner: Aligner, rng: np.random.Generator, *, every_s: float, length_s: tuple[float, float]
) -> Recording:
    """The same answer by somebody who hesitates: about one pause in `every_s`, between words and between sentences."""
    places = [start + gap.at for part, start in recording.parts for gap in aligner.gaps(part)]
    places += [start for _, start in recording.parts[1:]]
    count = min(len(places), max(1, round(recording.seconds / every_s)))
    sound = recording.sound
    for at in sorted(rng.choice(places, count, replace=False), reverse=True) if places else ():
        sound = with_pause(sound, int(at), float(rng.uniform(*length_s)), rng)
    return Recording(recording.name, sound, recording.text, ())
