"""Speech without a model: every word is a tone of its own, so a transcriber can read back what was really heard.

A word lasts WORD_S; its samples all have the value of its number. Silence is zero, noise has values that are no word.
What a transcriber reads depends on the audio alone: words lost, doubled or cut in two on the way show in the text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from audio.admission import TranscriberLoad
from audio.endpoint import FRAME_SAMPLES, Probabilities
from audio.errors import TranscriberFailed
from audio.speech import SpeechStream
from audio.types import Purpose, Samples, Transcript, Word, samples_of
from config.settings import Settings
from config.speech import SpeechSettings
from pipeline.concept import SessionConfiguration
from server.metrics import Metrics
from server.session.problems import SessionProblem
from server.speech.engine import LoadSpeech, Speculate, Speech, SpeechModels, StreamOptions

WORD_S = 0.32
GAP_S = 0.064
FRAME_MS = 64
FIRST = 1000
SLIVER = samples_of(40)
"""Less of a word than this nobody hears."""
NOISE = 500
FIRST_AGREED = 20_000
_numbers: dict[str, int] = {}
_agreed: dict[str, int] = {}


def number_of(word: str) -> int:
    """The tone of a word; the same word has the same one."""
    agreed = _agreed.get(word)
    return _numbers.setdefault(word, FIRST + len(_numbers)) if agreed is None else agreed


def teach(words: Iterable[str]) -> None:
    """Agree on the tones of words with another process that is taught the same ones, whatever either said before."""
    _agreed.clear()
    for word in words:
        _agreed.setdefault(word, FIRST_AGREED + len(_agreed))


def silence(seconds: float) -> bytes:
    """Nobody speaks."""
    return np.zeros(samples_of(seconds * 1000), "<i2").tobytes()


def noise(seconds: float) -> bytes:
    """Sounds like speech, says nothing."""
    return np.full(samples_of(seconds * 1000), NOISE, "<i2").tobytes()


def speech(text: str) -> bytes:
    """The words of a text, one tone each, with short gaps."""
    parts = [np.concatenate([_tone(word), np.zeros(samples_of(GAP_S * 1000), "<i2")]) for word in text.split()]
    return np.concatenate(parts).astype("<i2").tobytes()


def _tone(word: str) -> Samples:
    return np.full(samples_of(WORD_S * 1000), number_of(word), np.int16)


def frames(pcm: bytes, first: int = 0, frame_ms: int = FRAME_MS) -> list[bytes]:
    """Binary frames of the protocol, numbered from `first`."""
    size = samples_of(frame_ms) * 2
    cut = [pcm[start : start + size] for start in range(0, len(pcm), size)]
    return [(first + n).to_bytes(4, "big") + part for n, part in enumerate(cut)]


class ToneActivity:
    """Implements `audio.vad.VoiceActivityDetector`: whatever is not silence is speech."""

    def open(self) -> ToneStream:
        return ToneStream()


class ToneStream:
    """Implements `audio.vad.VoiceActivityStream`."""

    def __init__(self) -> None:
        self._rest = np.zeros(0, np.int16)

    def push(self, samples: Samples) -> Probabilities:
        joined = np.concatenate([self._rest, samples])
        count = len(joined) // FRAME_SAMPLES
        self._rest = joined[count * FRAME_SAMPLES :]
        cut = joined[: count * FRAME_SAMPLES].reshape(count, FRAME_SAMPLES)
        found: Probabilities = (np.abs(cut).max(axis=1, initial=0) > 0).astype(np.float32)
        return found


@dataclass
class ToneTranscriber:
    """Implements `audio.types.Transcriber`: reads words back from their tones. A word cut short reads as `word-`.

    What is read again comes out as `again`, if that is given, once `again_gate` is open.
    """

    errors: list[Exception] = field(default_factory=list)
    again: str | Exception | None = None
    again_probability: float = 0.95
    again_gate: asyncio.Event | None = None
    again_cancelled: int = 0
    failing: bool = False
    gate: asyncio.Event | None = None
    asked: list[Purpose] = field(default_factory=list)
    at_gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def transcribe(self, samples: Samples, *, language: str, purpose: Purpose, offset: int = 0) -> Transcript:
        self.asked.append(purpose)
        if purpose == "again":
            return await self._read_again(samples, offset)
        if self.gate is not None and purpose != "partial":
            self.at_gate.set()
            await self.gate.wait()
        if self.failing:
            raise TranscriberFailed("the model is broken")
        if self.errors:
            raise self.errors.pop(0)
        words = tuple(_read(samples, offset))
        return Transcript(" ".join(word.text for word in words), words)

    async def _read_again(self, samples: Samples, offset: int) -> Transcript:
        try:
            if self.again_gate is not None:
                await self.again_gate.wait()
        except asyncio.CancelledError:
            self.again_cancelled += 1
            raise
        if isinstance(self.again, Exception):
            raise self.again
        words = tuple(_read(samples, offset))
        if self.again is not None:
            words = tuple(Word(text, offset, offset, self.again_probability) for text in self.again.split())
        return Transcript(" ".join(word.text for word in words), words)


@dataclass
class ToneRecogniser:
    """Implements `server.speech.engine.Recogniser` over tones."""

    transcriber: ToneTranscriber = field(default_factory=ToneTranscriber)
    languages: frozenset[str] | None = frozenset({"en"})
    model_id: str = "tones"
    backlog_s: float = 0.0
    closed: bool = False

    def current_load(self) -> TranscriberLoad:
        return TranscriberLoad(1, 0, 0, 0.25, self.backlog_s, {}, {}, {})

    def for_session(self, session: Hashable) -> ToneTranscriber:
        return self.transcriber

    async def aclose(self) -> None:
        self.closed = True


def tones(recogniser: ToneRecogniser | None = None) -> LoadSpeech:
    """A loader of speech for a whole process."""

    async def load(settings: Settings) -> SpeechModels:
        return SpeechModels(recogniser or ToneRecogniser(), ToneActivity())

    return load


def _read(samples: Samples, offset: int) -> list[Word]:
    names = {number: word for known in (_numbers, _agreed) for word, number in known.items()}
    found, place = [], 0
    for value, run in groupby(samples.tolist()):
        size = sum(1 for _ in run)
        if value in names:
            whole = size >= samples_of(WORD_S * 1000) * 0.9
            text = names[value] if whole else f"{names[value]}-"
            if size > SLIVER:
                found.append(Word(text, offset + place, offset + place + size, 0.9))
        place += size
    return found


class ToneSpeech(Speech):
    """The real speech over tones; may refuse, and keeps what was asked for."""

    def __init__(
        self,
        transcriber: ToneTranscriber | None = None,
        *,
        speculate: Speculate = "off",
        refusal: SessionProblem | None = None,
        second_reading: bool = False,
    ) -> None:
        self.transcriber = transcriber or ToneTranscriber()
        self.recogniser = ToneRecogniser(self.transcriber)
        self.metrics = Metrics()
        settings = Settings(speech=SpeechSettings(second_reading=second_reading))
        super().__init__(settings, self.metrics, SpeechModels(self.recogniser, ToneActivity()))
        self.speculate: Speculate = speculate
        self.refusal = refusal
        self.opened: list[StreamOptions] = []
        self.before_open: Callable[[], None] = lambda: None

    def check(self, language: str, *, goes_on: bool = False) -> None:
        if self.refusal is not None:
            raise self.refusal
        super().check(language, goes_on=goes_on)

    def open(self, options: StreamOptions) -> SpeechStream:
        self.before_open()
        self.opened.append(options)
        return super().open(options)

    def speculates(self, configuration: SessionConfiguration) -> Speculate:
        return self.speculate
