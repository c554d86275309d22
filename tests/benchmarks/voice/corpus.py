"""People who speak, and what they say: single utterances, and answers made of them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
from av.audio.resampler import AudioResampler

from audio.types import RATE_HZ, Samples
from tests.benchmarks.voice import sources
from tests.support.speech_sounds import Sound, at_dbfs, coloured, frames_of, silence, sound_of, speech_end, speech_level

LEAST_WORDS = 3
"""Single words and syllables are no speech that anybody would transcribe."""
SPEECH_DBFS = -23.0
"""Everybody is made equally loud."""
ROOM_DBFS = -70.0
"""And sits in a quiet room."""
LENGTHS_S = (0.0, 8.0, 20.0, 50.0)
"""Answers are made to be at least so long, in turn; 0: a single utterance."""
GAP_S = (0.25, 0.6)
"""Between the utterances of one answer."""
EDGE_S = 0.5
"""Silence before and after an answer."""
RAW = {
    "goforward.raw": "go forward ten meters",
    "something.raw": "go somewhere and do something",
    "numbers.raw": "thirty three four six ninety two",
}
"""Commands among the test data that have no transcript beside them."""


@dataclass(frozen=True)
class Utterance:
    """One sentence or so, by one speaker, without silence around it."""

    name: str
    speaker: str
    sound: Sound
    text: str

    @property
    def seconds(self) -> float:
        return len(self.sound) / RATE_HZ


@dataclass(frozen=True)
class Recording:
    """One answer: a file that somebody could have recorded. `parts` are its utterances with their first samples."""

    name: str
    sound: Sound
    text: str
    parts: tuple[tuple[Utterance, int], ...]

    @property
    def seconds(self) -> float:
        return len(self.sound) / RATE_HZ

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def speech_start(self) -> int:
        """Sample of its first sound."""
        return self.parts[0][1]

    @property
    def speech_end(self) -> int:
        """The sample after its last sound, by loudness."""
        last, start = self.parts[-1]
        return start + speech_end(last.sound)


def utterances(place: Path, say: sources.Say) -> list[Utterance]:
    """All utterances that can be had, the same every time.

    Args:
        place: where packages are kept that are not installed.
        say: told what is fetched, and what can't be.
    Raises:
        SourceMissing: there is no speech at all.
    """
    found: list[Utterance] = []
    for read in (_librivox, _prompts):
        try:
            found += read(place, say)
        except sources.SourceMissing as exc:
            say(f"left out: {exc}")
    if not found:
        raise sources.SourceMissing("no recorded speech on this machine")
    return found


def _librivox(place: Path, say: sources.Say) -> list[Utterance]:
    folder = sources.folder(sources.LIBRIVOX, place, say)
    found = []
    for part in ("librivox", "cards"):
        [transcripts] = [*(folder / part).glob("*transcription")]
        for line in transcripts.read_text().splitlines():
            match = re.fullmatch(r"<s>\s*(.*?)\s*</s>\s*\((.*)\)", line.strip())
            if match and len(match[1].split()) >= LEAST_WORDS:
                found.append(_utterance(match[2], part, read_sound(folder / part / f"{match[2]}.wav"), match[1]))
    for name, text in RAW.items():
        found.append(_utterance(name, "commands", sound_of(np.fromfile(folder / name, "<i2")), text))
    return found


def _prompts(place: Path, say: sources.Say) -> list[Utterance]:
    folder = sources.folder(sources.PROMPTS, place, say)
    texts = gzip.decompress(
        (sources.folder(sources.PROMPT_TEXTS, place, say) / "core-sounds-en.txt.gz").read_bytes()
    ).decode()
    found = []
    for line in texts.splitlines():
        name, colon, text = line.partition(":")
        path = folder / f"{name}.g722"
        text = re.sub(r"\(.*?\)", " ", text)
        spoken = re.sub(r"[^\w\s]", " ", text).split()
        if colon and not line.startswith(";") and "[" not in text and len(spoken) >= LEAST_WORDS and path.is_file():
            found.append(_utterance(name, "prompts", read_sound(path), text.strip()))
    return found


def _utterance(name: str, speaker: str, sound: Sound, text: str) -> Utterance:
    sound = sound[: speech_end(sound) + frames_of(0.05)]
    first = len(sound) - speech_end(sound[::-1])
    sound = sound[max(0, first - frames_of(0.05)) :]
    return Utterance(name, speaker, sound * (10 ** (SPEECH_DBFS / 20) / speech_level(sound)), text)


def read_sound(path: Path) -> Sound:
    """A recording as a sound at RATE_HZ."""
    return sound_of(read_samples(path))


def read_samples(path: Path) -> Samples:
    """A recording as mono samples at RATE_HZ."""
    form = "g722" if path.suffix == ".g722" else None
    with av.open(str(path), format=form) as container:
        resampler = AudioResampler("s16", "mono", RATE_HZ)
        parts = [
            piece.to_ndarray().reshape(-1) for frame in container.decode(audio=0) for piece in resampler.resample(frame)
        ]
        parts += [piece.to_ndarray().reshape(-1) for piece in resampler.resample(None)]
    return np.concatenate(parts).astype(np.int16) if parts else np.zeros(0, np.int16)


def answers(spoken: Sequence[Utterance], *, lengths_s: Sequence[float] = LENGTHS_S, seed: int = 4) -> list[Recording]:
    """Answers of one speaker each, of every length in turn, that use every utterance once."""
    rng = np.random.default_rng(seed)
    made: list[Recording] = []
    left = list(spoken)
    while left:
        wanted = lengths_s[len(made) % len(lengths_s)]
        chosen = [left.pop(0)]
        while left and left[0].speaker == chosen[0].speaker and sum(each.seconds for each in chosen) < wanted:
            chosen.append(left.pop(0))
        made.append(answer(f"{len(made):03}-{chosen[0].name}", chosen, rng))
    return made


def answer(name: str, chosen: Sequence[Utterance], rng: np.random.Generator) -> Recording:
    """One answer: these utterances with short gaps, in a quiet room."""
    pieces, parts, at = [silence(EDGE_S)], [], frames_of(EDGE_S)
    for number, each in enumerate(chosen):
        gap = silence(float(rng.uniform(*GAP_S)) if number else 0.0)
        parts.append((each, at + len(gap)))
        pieces += [gap, each.sound]
        at += len(gap) + len(each.sound)
    whole = np.concatenate([*pieces, silence(EDGE_S)])
    whole = whole + at_dbfs(coloured(rng, len(whole) / RATE_HZ, 1.0)[: len(whole)], ROOM_DBFS)
    return Recording(name, whole, " ".join(each.text for each in chosen), tuple(parts))


def pooled_words(recordings: Sequence[Recording]) -> int:
    """Words of all transcripts."""
    return sum(each.words for each in recordings)


def batches(recordings: Sequence[Recording], seconds: float) -> Iterator[Recording]:
    """Recordings until so much speech is together."""
    total = 0.0
    for each in recordings:
        if total >= seconds:
            return
        total += each.seconds
        yield each
