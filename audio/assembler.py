"""What was understood of an answer so far: which readings are awaited, their words, and what of it is told.

Three kinds of readings: a partial feeds captions and may be lost; the reading of a closed window is final; the guess is
the last window's, made in a pause, and is final if nobody goes on speaking.
"""

from __future__ import annotations

from audio.captions import Captions
from audio.outputs import MachineOutput, TranscriptionCancelled, TranscriptionRequested
from audio.overlap import MAX_ATTEMPTS, WindowTranscription, WindowTranscriptions, join_words
from audio.types import ProvisionalTranscript, ProvisionalWithdrawn, Purpose, Transcript, TranscriptionFailed, Word
from audio.windows import WindowAudio


class TranscriptAssembler:
    """Words of one answer; what it has to say goes to the end of `out`.

    Args:
        language: two-letter code.
        out: where outputs are collected.
    """

    def __init__(self, *, language: str, out: list[MachineOutput]) -> None:
        self._language = language
        self._out = out
        self._transcriptions = WindowTranscriptions()
        self._captions = Captions(language)
        self._partial: WindowTranscription | None = None
        self._last: WindowTranscription | None = None
        self._words: tuple[Word, ...] | None = None
        self._text = ""
        self._provisional_reported = False
        self._finished = False

    @property
    def unfinished_windows(self) -> int:
        """Closed windows whose words are not known."""
        return self._transcriptions.unmerged

    @property
    def complete(self) -> bool:
        """Whether every word is known, up to those of the last window's reading if there is one."""
        return self._transcriptions.all_known(self._last)

    @property
    def words(self) -> tuple[Word, ...]:
        """All words; they must be known."""
        if self._words is None:
            self._words = self._transcriptions.words(self._last)
            self._text = join_words(self._words, self._language)
        return self._words

    @property
    def text(self) -> str:
        """All words as text; they must be known."""
        return self._text if self.words else ""

    @property
    def last_failed(self) -> bool:
        """Whether the last window could not be read."""
        return self._last is not None and self._last.failed

    # -- readings

    def request_partial(self, audio: WindowAudio, until: int) -> None:
        """Have a caption made, unless one is being made."""
        if self._partial is None:
            self._partial = WindowTranscription(audio, until, "partial")
            self._request(self._partial)

    def cancel_partial(self) -> None:
        """No caption is needed now."""
        partial, self._partial = self._partial, None
        if partial is not None:
            self._cancel(partial)

    def request_window(self, audio: WindowAudio, until: int, edge: int) -> None:
        """Have a window read that is over at the place `edge`."""
        transcription = WindowTranscription(audio, until, "final")
        self._request(transcription)
        self._transcriptions.close(transcription, edge)

    def request_last(self, audio: WindowAudio, until: int, purpose: Purpose) -> None:
        """Have the last window read, as a guess or because the answer is over."""
        self._last, self._words, self._provisional_reported = WindowTranscription(audio, until, purpose), None, False
        self._request(self._last)

    def close_last_window(self, at: int, edge: int) -> None:
        """Somebody speaks again since `at`: the last window is over at the place `edge`, and its reading is final."""
        last = self._withdraw_provisional(at)
        if last is not None:
            self._transcriptions.close(last, edge)
            self._merge()

    def discard_last(self, at: int) -> None:
        """Somebody speaks again since `at`: the last window will be read anew."""
        last = self._withdraw_provisional(at)
        if last is not None:
            self._cancel(last)

    def finish(self) -> None:
        """The answer is over: nothing is told of it any more but its end."""
        self._finished = True
        self.cancel_partial()

    # -- transcripts

    def transcribed(self, request_id: int, transcript: Transcript) -> None:
        """A transcription is there; one that nobody waits for is ignored."""
        transcription = self._transcriptions.take(request_id)
        if transcription is None:
            return
        words = transcription.audio.place_words(transcript)
        if transcription is self._partial:
            self._partial = None
            self._captions.add_transcription(words, transcription.audio.offset)
            self._out.append(self._captions.partial_transcript(transcription.until))
            return
        transcription.words = words
        self._report()

    def failed(self, request_id: int, error: str) -> None:
        """A transcription failed: a partial is let go, others are tried once more."""
        transcription = self._transcriptions.take(request_id)
        if transcription is None:
            return
        if transcription is self._partial:
            self._partial = None
        elif transcription.attempts < MAX_ATTEMPTS:
            self._request(transcription)
        else:
            transcription.words = self._captions.between(transcription.audio.window_start, transcription.until)
            transcription.failed = True
            self._out.append(
                TranscriptionFailed(
                    self._captions.partial_transcript(transcription.until).text, error, transcription.until
                )
            )
            self._report()

    # -- inside

    def _request(self, transcription: WindowTranscription) -> None:
        request_id = self._transcriptions.register(transcription)
        audio = transcription.audio
        self._out.append(TranscriptionRequested(request_id, transcription.purpose, audio.samples, audio.offset))

    def _cancel(self, transcription: WindowTranscription) -> None:
        self._out += [TranscriptionCancelled(request_id) for request_id in self._transcriptions.cancel(transcription)]

    def _withdraw_provisional(self, at: int) -> WindowTranscription | None:
        last, self._last, self._words = self._last, None, None
        if self._provisional_reported:
            self._provisional_reported = False
            self._out.append(ProvisionalWithdrawn(at))
        return last

    def _merge(self) -> bool:
        if not self._transcriptions.merge():
            return False
        self._captions.set_final(self._transcriptions.merged_words, self._transcriptions.merged_until)
        return True

    def _report(self) -> None:
        merged = self._merge()
        if self._last is not None and not self._provisional_reported and self.complete:
            self._report_provisional(self._last)
        elif merged:
            self._out.append(self._captions.partial_transcript(self._transcriptions.merged_until))

    def _report_provisional(self, last: WindowTranscription) -> None:
        if last.failed or not self.words:
            return
        self._captions.replace_all(self.words)
        self._out.append(self._captions.partial_transcript(last.until))
        if not self._finished:
            self._provisional_reported = True
            self._out.append(ProvisionalTranscript(self.text, self.words, last.until))
