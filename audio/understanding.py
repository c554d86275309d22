"""What was understood of an answer so far: which readings are awaited, their words, and what of it is told.

Three kinds of readings: a partial feeds captions and may be lost; the reading of a closed window is final; the guess is
the last window's, made in a pause, and is final if nobody goes on speaking.
"""

from __future__ import annotations

from audio.captions import Captions
from audio.readings import TRIES, Reading, Readings, text_of
from audio.types import Guessed, Purpose, Transcript, Trouble, Withdrawn, Word
from audio.windows import Stretch
from audio.wishes import DecodeDropped, DecodeWanted, Output


class Understanding:
    """Words of one answer; what it has to say goes to the end of `out`.

    Args:
        language: two-letter code.
        out: where outputs are collected.
    """

    def __init__(self, *, language: str, out: list[Output]) -> None:
        self._language = language
        self._out = out
        self._readings = Readings()
        self._captions = Captions(language)
        self._partial: Reading | None = None
        self._last: Reading | None = None
        self._words: tuple[Word, ...] | None = None
        self._text = ""
        self._told = False
        self._final = False

    @property
    def unread(self) -> int:
        """Closed windows whose words are not known."""
        return self._readings.outstanding

    @property
    def known(self) -> bool:
        """Whether every word is known, up to those of the last window's reading if there is one."""
        return self._readings.known(self._last)

    @property
    def words(self) -> tuple[Word, ...]:
        """All words; they must be known."""
        if self._words is None:
            self._words = self._readings.words(self._last)
            self._text = text_of(self._words, self._language)
        return self._words

    @property
    def text(self) -> str:
        """All words as text; they must be known."""
        return self._text if self.words else ""

    @property
    def troubled(self) -> bool:
        """Whether the last window could not be read."""
        return self._last is not None and self._last.troubled

    # -- readings

    def caption(self, stretch: Stretch, until: int) -> None:
        """Have a caption made, unless one is being made."""
        if self._partial is None:
            self._partial = Reading(stretch, until, "partial")
            self._want(self._partial)

    def drop_caption(self) -> None:
        """No caption is needed now."""
        partial, self._partial = self._partial, None
        if partial is not None:
            self._drop(partial)

    def window(self, stretch: Stretch, until: int, edge: int) -> None:
        """Have a window read that is over at the place `edge`."""
        reading = Reading(stretch, until, "final")
        self._want(reading)
        self._readings.close(reading, edge)

    def last(self, stretch: Stretch, until: int, purpose: Purpose) -> None:
        """Have the last window read, as a guess or because the answer is over."""
        self._last, self._words, self._told = Reading(stretch, until, purpose), None, False
        self._want(self._last)

    def last_is_closed(self, at: int, edge: int) -> None:
        """Somebody speaks again since `at`: the last window is over at the place `edge`, and its reading is final."""
        last = self._withdraw(at)
        if last is not None:
            self._readings.close(last, edge)
            self._merge()

    def last_goes_on(self, at: int) -> None:
        """Somebody speaks again since `at`: the last window will be read anew."""
        last = self._withdraw(at)
        if last is not None:
            self._drop(last)

    def finish(self) -> None:
        """The answer is over: nothing is told of it any more but its end."""
        self._final = True
        self.drop_caption()

    # -- transcripts

    def decoded(self, decode_id: int, transcript: Transcript) -> None:
        """A transcription is there; one that nobody waits for is ignored."""
        reading = self._readings.take(decode_id)
        if reading is None:
            return
        words = reading.stretch.words(transcript)
        if reading is self._partial:
            self._partial = None
            self._captions.read(words, reading.stretch.offset)
            self._out.append(self._captions.heard(reading.until))
            return
        reading.words = words
        self._resolved()

    def failed(self, decode_id: int, error: str) -> None:
        """A transcription failed: a partial is let go, others are tried once more."""
        reading = self._readings.take(decode_id)
        if reading is None:
            return
        if reading is self._partial:
            self._partial = None
        elif reading.tries < TRIES:
            self._want(reading)
        else:
            reading.words = self._captions.between(reading.stretch.own, reading.until)
            reading.troubled = True
            self._out.append(Trouble(self._captions.heard(reading.until).text, error, reading.until))
            self._resolved()

    # -- inside

    def _want(self, reading: Reading) -> None:
        decode_id = self._readings.ask(reading)
        stretch = reading.stretch
        self._out.append(DecodeWanted(decode_id, reading.purpose, stretch.samples, stretch.offset))

    def _drop(self, reading: Reading) -> None:
        self._out += [DecodeDropped(decode_id) for decode_id in self._readings.cancel(reading)]

    def _withdraw(self, at: int) -> Reading | None:
        last, self._last, self._words = self._last, None, None
        if self._told:
            self._told = False
            self._out.append(Withdrawn(at))
        return last

    def _merge(self) -> bool:
        if not self._readings.merge():
            return False
        self._captions.settle(self._readings.merged, self._readings.edge)
        return True

    def _resolved(self) -> None:
        merged = self._merge()
        if self._last is not None and not self._told and self.known:
            self._tell(self._last)
        elif merged:
            self._out.append(self._captions.heard(self._readings.edge))

    def _tell(self, last: Reading) -> None:
        if last.troubled or not self.words:
            return
        self._captions.replace(self.words)
        self._out.append(self._captions.heard(last.until))
        if not self._final:
            self._told = True
            self._out.append(Guessed(self.text, self.words, last.until))
