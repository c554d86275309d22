"""Scripted answers: audio that contains its own positions, its probabilities of speech, and its transcriber.

Each frame's first samples hold the frame's number, so what is transcribed says which part of the answer it is, however
it was cut and joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle
from typing import Any

import numpy as np

from audio.endpoint import FRAME_SAMPLES, Probabilities
from audio.errors import TranscriberFailed
from audio.machine import SpeechMachine
from audio.outputs import JudgementRequested, MachineOutput, TranscriptionCancelled, TranscriptionRequested
from audio.types import (
    AnswerEnded,
    PartialTranscript,
    ProvisionalTranscript,
    ProvisionalWithdrawn,
    Purpose,
    Samples,
    SilenceLengthened,
    SpeechEvent,
    Transcript,
    Word,
)

MARK = 3
"""Samples at the start of a frame that hold its number: a sign and two digits of base DIGIT."""
SIGN, DIGIT = -12_345, 10_000
WORD_FRAMES = 10
"""Length of a scripted word (320 ms); words follow each other without gaps."""


@dataclass(frozen=True)
class Said:
    """A word with its first frame and the frame after its last."""

    text: str
    first: int
    end: int


@dataclass(frozen=True)
class Script:
    """An answer: its words, and the probability of speech in each frame."""

    words: tuple[Said, ...]
    probabilities: Probabilities

    @property
    def frames(self) -> int:
        return len(self.probabilities)

    @cached_property
    def samples(self) -> Samples:
        return np.concatenate([marked(n) for n in range(self.frames)])

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    def said_before(self, frame: int) -> str:
        """The words that are over by a frame."""
        return " ".join(word.text for word in self.words if word.end <= frame)


def marked(frame: int, length: int = FRAME_SAMPLES) -> Samples:
    """A frame that contains its number."""
    samples = np.full(length, 1000, np.int16)
    samples[:MARK] = (SIGN, frame // DIGIT, frame % DIGIT)
    return samples


def marks(samples: Samples) -> list[int]:
    """The numbers of the frames in some audio."""
    starts = [n for n in np.flatnonzero(samples == SIGN) if n + 2 < len(samples)]
    return [int(samples[n + 1]) * DIGIT + int(samples[n + 2]) for n in starts]


def script(*parts: str | float, word_frames: int = WORD_FRAMES, tail_s: float = 4.0) -> Script:
    """An answer from words and silences: `script("I like", 0.4, "tea.")`; numbers are seconds of silence.

    A part such as "*3" is a sound of 3 frames without words.
    """
    words: list[Said] = []
    probabilities: list[float] = []
    for part in (0.5, *parts, tail_s):
        if isinstance(part, str) and part.startswith("*"):
            probabilities += [0.9] * int(part[1:])
        elif isinstance(part, str):
            for text in part.split():
                words.append(Said(text, len(probabilities), len(probabilities) + word_frames))
                probabilities += [0.9] * word_frames
        else:
            probabilities += [0.02] * round(part * 16_000 / FRAME_SAMPLES)
    return Script(tuple(words), np.array(probabilities, np.float32))


class ScriptedTranscriber:
    """Transcribes the words of a script in the frames that it is given; of a word cut in two it finds a half."""

    def __init__(self, answer: Script, *, failures: Sequence[int] = ()) -> None:
        self._answer = answer
        self._failures = set(failures)
        self.calls: list[tuple[Purpose, tuple[int, ...]]] = []

    def read(self, samples: Samples, offset: int) -> Transcript:
        """The words in these samples, with the positions that a transcriber gives them."""
        frames = marks(samples)
        where = {frame: n for n, frame in enumerate(frames)}
        found: list[Word] = []
        for word in self._answer.words:
            inside = [where[n] for n in range(word.first, word.end) if n in where]
            if not inside:
                continue
            whole = len(inside) == word.end - word.first
            text = word.text if whole else half(word.text, first=(word.first in where))
            start, end = offset + inside[0] * FRAME_SAMPLES, offset + (inside[-1] + 1) * FRAME_SAMPLES
            found.append(Word(text, start, end, 0.9))
        return Transcript(" ".join(word.text for word in found), tuple(found))

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        self.calls.append((purpose, tuple(marks(samples))))
        if len(self.calls) - 1 in self._failures:
            raise TranscriberFailed("scripted")
        return self.read(samples, offset)


def half(text: str, *, first: bool) -> str:
    """What is transcribed of a word of which a part is missing: never a word of any script."""
    return f"{text[:1]}~" if first else f"~{text[-1:]}"


class ScriptedStream:
    """Gives the probabilities of the script, frame by frame; silence after its end."""

    def __init__(self, answer: Script) -> None:
        self._answer = answer
        self._taken = 0
        self._rest = 0
        self.samples = 0

    def push(self, samples: Samples) -> Probabilities:
        self.samples += len(samples)
        count, self._rest = divmod(self._rest + len(samples), FRAME_SAMPLES)
        first, self._taken = self._taken, self._taken + count
        known = self._answer.probabilities[first : self._taken]
        return np.concatenate([known, np.zeros(count - len(known), np.float32)])


class ScriptedActivity:
    """Opens one script's stream after another; `taken` counts the samples that all of them were given."""

    def __init__(self, *answers: Script) -> None:
        self._answers = list(answers)
        self._streams: list[ScriptedStream] = []

    @property
    def taken(self) -> int:
        return sum(stream.samples for stream in self._streams)

    def open(self) -> ScriptedStream:
        self._streams.append(ScriptedStream(self._answers.pop(0)))
        return self._streams[-1]


Command = Callable[[SpeechMachine], list[MachineOutput]]


@dataclass
class Performance:
    """The result of a script: events in order, and the purpose and frames of every requested transcription."""

    events: list[SpeechEvent] = field(default_factory=list)
    reads: list[tuple[Purpose, list[int]]] = field(default_factory=list)
    judged: list[list[int]] = field(default_factory=list)
    """The frames of each sound that was to be judged."""
    left: list[int] = field(default_factory=list)
    most_held: int = 0

    @property
    def ended(self) -> AnswerEnded:
        (last,) = [event for event in self.events if isinstance(event, AnswerEnded)]
        assert self.events[-1] is last
        return last

    @property
    def decisive(self) -> list[SpeechEvent]:
        """The events that do not depend on the time at which transcriptions complete."""
        return [
            event
            for event in self.events
            if not isinstance(
                event, PartialTranscript | ProvisionalTranscript | ProvisionalWithdrawn | SilenceLengthened
            )
        ]

    def of(self, *kinds: type[SpeechEvent]) -> list[SpeechEvent]:
        return [event for event in self.events if isinstance(event, kinds)]


def perform(
    answer: Script,
    *,
    chunks: Sequence[int] = (FRAME_SAMPLES,),
    delays: Sequence[int] = (0,),
    commands: Mapping[int, Command] | None = None,
    failures: Sequence[int] = (),
    stop: bool = True,
    finished: Sequence[float | None] = (),
    **settings: Any,
) -> Performance:
    """Play a script to a machine.

    Args:
        answer: what is said.
        chunks: sizes of the pieces it comes in, in samples, over and over.
        delays: how late the readings come, in samples of audio, over and over; so they may overtake each other.
        commands: what is done before which sample.
        failures: which readings fail, by the order in which they are asked for.
        stop: whether the answer is done after the last sample.
        finished: how finished it sounds at one pause after another, over and over; without any, nothing is judged.
        settings: of the machine.
    """
    machine = SpeechMachine(by_sound=bool(finished), **settings)
    judgements = cycle(finished)
    unjudged: list[tuple[int, JudgementRequested, float | None]] = []
    reader = ScriptedTranscriber(answer)
    stream = ScriptedStream(answer)
    done = Performance()
    due: list[tuple[int, TranscriptionRequested, bool]] = []
    late = cycle(delays)

    position = 0

    def apply(outputs: Sequence[MachineOutput]) -> None:
        for output in outputs:
            if isinstance(output, TranscriptionRequested):
                due.append((position + next(late), output, len(done.reads) in failures))
                done.reads.append((output.purpose, marks(output.samples)))
            elif isinstance(output, TranscriptionCancelled):
                due[:] = [item for item in due if item[1].request_id != output.request_id]
            elif isinstance(output, JudgementRequested):
                done.judged.append(marks(output.samples))
                unjudged.append((position + next(late), output, next(judgements)))
            else:
                done.events.append(output)

    def deliver(until: float) -> None:
        for known in [item for item in unjudged if item[0] <= until]:
            unjudged.remove(known)
            apply(machine.judged(known[1].request_id, known[2]))
        while ready := sorted((item for item in due if item[0] <= until), key=lambda item: item[0]):
            due.remove(ready[0])
            _, wanted, fails = ready[0]
            if fails:
                apply(machine.failed(wanted.request_id, "scripted"))
            else:
                apply(machine.transcribed(wanted.request_id, reader.read(wanted.samples, wanted.offset)))

    for size in pieces(len(answer.samples), chunks, commands or {}):
        if commands and position in commands:
            apply(commands[position](machine))
        part = answer.samples[position : position + size]
        position += size
        apply(machine.feed(part, stream.push(part)))
        done.most_held = max(done.most_held, machine.held_samples)
        deliver(position)
    if commands and position in commands:
        apply(commands[position](machine))
    if stop:
        apply(machine.stop())
    deliver(float("inf"))
    done.left = marks(machine.leftover())
    return done


def pieces(length: int, chunks: Sequence[int], stops: Mapping[int, object]) -> Iterator[int]:
    """Sizes of pieces that end at every stop."""
    position = 0
    sizes = cycle(chunks)
    while position < length:
        size = min(next(sizes), length - position)
        following = min((stop for stop in stops if stop > position), default=length)
        size = min(size, following - position)
        yield size
        position += size
