"""Assembles the transcript of an answer from the transcriptions of its windows, and reports it as events.

Three kinds of transcriptions are requested. A partial one is for live captions and may be lost. That of a closed window
is final. That of the last window is made in each pause: it is the provisional transcript, and final if nobody resumes.
"""

from __future__ import annotations

from audio.captions import Captions
from audio.outputs import MachineOutput, TranscriptionCancelled, TranscriptionRequested
from audio.texts import join_words
from audio.transcriptions import MAX_ATTEMPTS, WindowTranscription, WindowTranscriptions
from audio.types import ProvisionalTranscript, ProvisionalWithdrawn, Purpose, Transcript, TranscriptionFailed, Word
from audio.windows import WindowAudio


class TranscriptAssembler:
    """The transcript of one answer.

    Args:
        language: two-letter code.
        out: the list to which events and requests are appended.
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
        """Number of closed windows whose words are not known yet."""
        return self._transcriptions.unmerged

    @property
    def complete(self) -> bool:
        """Whether all words are known: of the closed windows, and of the last window if it was requested."""
        return self._transcriptions.all_known(self._last)

    @property
    def words(self) -> tuple[Word, ...]:
        """All words; only while `complete`."""
        if self._words is None:
            self._words = self._transcriptions.words(self._last)
            self._text = join_words(self._words, self._language)
        return self._words

    @property
    def text(self) -> str:
        """All words as text; only while `complete`."""
        return self._text if self.words else ""

    @property
    def last_failed(self) -> bool:
        """Whether the last window could not be transcribed."""
        return self._last is not None and self._last.failed

    # -- requests

    def request_partial(self, audio: WindowAudio, until: int) -> None:
        """Request a partial transcription of the audio up to the position `until`, unless one is pending."""
        if self._partial is None:
            self._partial = WindowTranscription(audio, until, "partial")
            self._request(self._partial)

    def cancel_partial(self) -> None:
        """Cancel the pending partial transcription, if any."""
        partial, self._partial = self._partial, None
        if partial is not None:
            self._cancel(partial)

    def request_window(self, audio: WindowAudio, until: int, end: int) -> None:
        """Request the final transcription of a window that is closed at the position `end`."""
        transcription = WindowTranscription(audio, until, "final")
        self._request(transcription)
        self._transcriptions.close(transcription, end)

    def request_last(self, audio: WindowAudio, until: int, purpose: Purpose) -> None:
        """Request the transcription of the last window: a `guess` in a pause, `final` at the end of the answer."""
        self._last, self._words = WindowTranscription(audio, until, purpose), None
        self._provisional_reported = False
        self._request(self._last)

    def close_last_window(self, resumed: int, end: int) -> None:
        """Speech has resumed at the position `resumed`: close the last window at `end`; its transcription is final."""
        last = self._withdraw_provisional(resumed)
        if last is not None:
            self._transcriptions.close(last, end)
            self._merge()

    def discard_last(self, resumed: int) -> None:
        """Speech has resumed at the position `resumed` in the last window, which will be transcribed anew."""
        last = self._withdraw_provisional(resumed)
        if last is not None:
            self._cancel(last)

    def finish(self) -> None:
        """The end of the answer is decided: no partial or provisional transcripts are reported any more."""
        self._finished = True
        self.cancel_partial()

    # -- results

    def transcribed(self, request_id: int, transcript: Transcript) -> None:
        """A transcription has completed; one that is not pending is ignored."""
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
        """A transcription has failed. A partial one is given up, others are attempted MAX_ATTEMPTS times."""
        transcription = self._transcriptions.take(request_id)
        if transcription is None:
            return
        if transcription is self._partial:
            self._partial = None
        elif transcription.attempts < MAX_ATTEMPTS:
            self._request(transcription)
        else:
            until = transcription.until
            transcription.words = self._captions.between(transcription.audio.window_start, until)
            transcription.failed = True
            self._out.append(TranscriptionFailed(self._captions.partial_transcript(until).text, error, until))
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
