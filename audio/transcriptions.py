"""The transcriptions of the windows of an answer: which are pending, and the words of those that are complete."""

from __future__ import annotations

from dataclasses import dataclass

from audio.overlap import join_overlapping
from audio.types import Purpose, Word
from audio.windows import WindowAudio

MAX_ATTEMPTS = 2
"""How often a transcription is attempted that is not a partial one."""


@dataclass(eq=False, slots=True)
class WindowTranscription:
    """The transcription of a window.

    `until` is the position in the answer up to which the audio reaches. `words` is None while they are not known.
    `failed`: all attempts failed, and `words` are those of the live captions.
    """

    audio: WindowAudio
    until: int
    purpose: Purpose
    words: tuple[Word, ...] | None = None
    attempts: int = 0
    failed: bool = False


class WindowTranscriptions:
    """The pending transcriptions of an answer, and the merged words of its closed windows.

    A window is closed when no more audio is added to it. The words of closed windows are merged in the order of the
    windows, whatever the order in which the transcriptions complete.
    """

    def __init__(self) -> None:
        self._last_id = 0
        self._pending: dict[int, WindowTranscription] = {}
        self._closed: list[tuple[WindowTranscription, int]] = []
        self._merged: tuple[Word, ...] = ()
        self._merged_until = 0

    @property
    def unmerged(self) -> int:
        """Number of closed windows whose words are not in `merged_words` yet."""
        return len(self._closed)

    @property
    def merged_words(self) -> tuple[Word, ...]:
        """The words of the first closed windows, each word once."""
        return self._merged

    @property
    def merged_until(self) -> int:
        """Position in the answer up to which `merged_words` reaches."""
        return self._merged_until

    def register(self, transcription: WindowTranscription) -> int:
        """Count an attempt at this transcription as pending; returns its new request id."""
        self._last_id += 1
        transcription.attempts += 1
        self._pending[self._last_id] = transcription
        return self._last_id

    def take(self, request_id: int) -> WindowTranscription | None:
        """Remove and return a pending transcription; None if there is none with this id."""
        return self._pending.pop(request_id, None)

    def cancel(self, transcription: WindowTranscription) -> list[int]:
        """Remove this transcription from the pending ones; returns its request ids."""
        ids = [request_id for request_id, pending in self._pending.items() if pending is transcription]
        for request_id in ids:
            del self._pending[request_id]
        return ids

    def close(self, transcription: WindowTranscription, end: int) -> None:
        """Close a window at the position `end`; this is its final transcription."""
        self._closed.append((transcription, end))

    def merge(self) -> bool:
        """Merge the words of closed windows, up to the first whose words are not known; whether there were any."""
        merged = False
        while self._closed and self._closed[0][0].words is not None:
            transcription, self._merged_until = self._closed.pop(0)
            self._merged = self._merged_with(transcription)
            merged = True
        return merged

    def all_known(self, last: WindowTranscription | None) -> bool:
        """Whether the words of all closed windows are merged and those of `last`, the open window, are known."""
        return not self._closed and (last is None or last.words is not None)

    def words(self, last: WindowTranscription | None) -> tuple[Word, ...]:
        """All words of the closed windows and of `last`, the open window, each word once; they must be known."""
        return self._merged if last is None else self._merged_with(last)

    def _merged_with(self, transcription: WindowTranscription) -> tuple[Word, ...]:
        return join_overlapping(self._merged, transcription.words or (), transcription.audio)
