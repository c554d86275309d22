"""Endpointing: segments of speech, and how much silence ends an answer. All times are counted in audio.

`SpeechSegmenter` turns the probabilities of the frames into segments of speech, leaving out clicks and short coughs;
`required_silence` is the silence that ends an answer, depending on its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audio.types import RATE_HZ, samples_of

FRAME_SAMPLES = 512
"""Samples per frame, the unit of all decisions: 32 ms, the frame of the voice activity model."""

Probabilities = NDArray[np.float32]
"""Probability of speech of each frame, in [0, 1]; shape `[n]`."""
Patience = Literal["quick", "normal", "patient"]
PATIENCE_MS: Mapping[Patience, int] = {"quick": 500, "normal": 800, "patient": 1800}
"""Silence that ends an answer, in ms, before the text is taken into account."""
MAX_UNFINISHED_SILENCE_MS = 3000
"""Most silence that is required after an unfinished sentence, unless the patience itself is longer."""
UNFINISHED_FACTOR = 1.125
"""What an unfinished sentence adds to the factor on the silence, which is 1."""
COMPLETE_FACTOR = 0.9
"""Factor on the silence after a complete sentence that ends a long answer."""
SOUNDS_UNFINISHED = 0.4
"""Probability that the speaker has finished below which it sounds unfinished."""
SOUND_FACTOR = 1.975
"""What a probability of 0 adds to the factor on the silence; one of SOUNDS_UNFINISHED adds nothing."""
SOUNDS_SURE = 0.9
"""Probability from which on a silence may be shortened."""
LONG_ANSWER_S = 15
"""Seconds of speech from which on an answer is long."""
WORDLESS_MS = 1500
"""Most silence that is required where no word was recognised, so that the respondent soon learns of it."""

SPEECH_ON = 0.5
"""Probability from which on a frame may begin a segment of speech."""
SPEECH_OFF = 0.35
"""Probability below which a frame within a segment of speech is silence."""
ONSET_FRAMES = 3
"""Frames at SPEECH_ON or more that begin a segment of speech (96 ms); fewer are a click."""
ONSET_DIP_FRAMES = 3
"""Most frames in a row below SPEECH_ON between those that begin a segment (96 ms)."""
PAUSE_FRAMES = 7
"""Frames of silence that end a segment of speech: the first end of a frame after 200 ms."""
ONSET_TOLERANCE = samples_of(100)
"""How far before a segment of speech the middle of a word may be that belongs to it, in samples."""

_ALWAYS_CONTINUED: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        "because cause 'cause cuz and but or nor if although though unless until whereas whether um umm uhm uh er erm "
        "hmm mm the a an my your our their i'm we're they're it's that's there's".split()
    ),
    "de": frozenset(
        "weil und aber oder dass ob wenn denn sondern obwohl damit bevor nachdem falls sowie äh ähm öh öhm hm mhm ein "
        "eine einen einem einer eines mein meine meinen dem den des vom zum zur beim".split()
    ),
    "fr": frozenset(
        "et mais ou donc car parce puisque quand lorsque si que euh heu hum le la les un une des du de au aux mon ma "
        "mes".split()
    ),
    "es": frozenset(
        "y e pero o u porque pues aunque cuando si que eh em este el la los las un una unos unas de del al mi "
        "mis".split()
    ),
}
"""Last words of an unfinished sentence, even before a full stop: speech models write one wherever the audio ends."""
_CONTINUED_UNLESS_CLOSED: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        "so that which who when where while then than as like since to of for with from in on at by about into is are "
        "was were am be been have has had do does did can could will would should i we you they he she it this these "
        "those very really just also maybe plus mean know don't can't didn't".split()
    ),
    "de": frozenset(
        "also dann so als wie wo was die der das ich wir du er sie es ist war sind hat habe haben hatte wird werden "
        "kann mit von für auf in im an bei zu nach aus sehr auch nur vielleicht nicht um".split()
    ),
    "fr": frozenset(
        "alors comme dont qui où je tu il elle on nous vous est suis sont pour avec dans sur en très".split()
    ),
    "es": frozenset("entonces como donde cual quien yo tú él es son era para con en por muy también a".split()),
}
"""Last words of an unfinished sentence, unless a full stop follows."""
_FULL_STOPS = (".", "!", "?", "。", "！", "？", "؟", "।")
_CONTINUATION_MARKS = ("...", "…", ",", ";", ":", "-", "–", "—", "、", "，")
_CLOSING_QUOTES = "\"'”’»)] "
_LAST_WORD = re.compile(r"([^\W_]+(?:['’][^\W_]+)*)[^\w]*$")


def is_unfinished(text: str, language: str) -> bool:
    """Whether the text ends in an unfinished sentence: with a comma or dots, or with "because", "and", "um", "of the" …

    There are word lists for `en`, `de`, `fr` and `es`; other languages are judged by their punctuation only.
    """
    ending = text.rstrip(_CLOSING_QUOTES)
    if not ending:
        return False
    if ending.endswith(_CONTINUATION_MARKS):
        return True
    found = _LAST_WORD.search(ending)
    if found is None:
        return False
    word = found.group(1).lower().replace("’", "'")
    if word in _ALWAYS_CONTINUED.get(language, ()):
        return True
    return word in _CONTINUED_UNLESS_CLOSED.get(language, ()) and not ending.endswith(_FULL_STOPS)


def is_complete(text: str, language: str) -> bool:
    """Whether the last sentence is finished, with a full stop, a question mark or an exclamation mark."""
    return text.rstrip(_CLOSING_QUOTES).endswith(_FULL_STOPS) and not is_unfinished(text, language)


def required_silence(
    patience: Patience,
    text: str | None,
    *,
    language: str,
    spoken: int,
    more_ms: int = 0,
    finished: float | None = None,
) -> int:
    """The silence that ends an answer.

    Args:
        patience: the respondent's.
        text: the answer so far; None where it could not be transcribed.
        language: two-letter code.
        spoken: samples of speech in the answer so far.
        more_ms: what is added to the patience, in milliseconds.
        finished: how likely it sounds that the speaker has finished, in [0, 1]; None where that is not judged.
    Returns:
        Samples of silence, counted from the end of speech.
    """
    base_ms = PATIENCE_MS[patience] + more_ms
    if text is None:
        return samples_of(base_ms)
    if not text:
        return samples_of(min(base_ms, WORDLESS_MS))
    doubt = UNFINISHED_FACTOR if is_unfinished(text, language) else 0.0
    if finished is not None:
        doubt += SOUND_FACTOR * max(0.0, 1.0 - finished / SOUNDS_UNFINISHED)
    if doubt:
        return samples_of(max(base_ms, min(base_ms * (1.0 + doubt), MAX_UNFINISHED_SILENCE_MS)))
    sure = finished is None or finished >= SOUNDS_SURE
    if sure and spoken >= LONG_ANSWER_S * RATE_HZ and is_complete(text, language):
        return samples_of(base_ms * COMPLETE_FACTOR)
    return samples_of(base_ms)


def minimum_silence(patience: Patience, *, spoken: int, more_ms: int = 0) -> int:
    """The least value of `required_silence` for any text, in samples."""
    base_ms = PATIENCE_MS[patience] + more_ms
    if spoken >= LONG_ANSWER_S * RATE_HZ:
        return samples_of(min(base_ms * COMPLETE_FACTOR, WORDLESS_MS))
    return samples_of(min(base_ms, WORDLESS_MS))


class SpeechSegmenter:
    """Segments of speech from one probability per frame.

    A segment begins with the first of ONSET_FRAMES frames at SPEECH_ON or more, between which at most ONSET_DIP_FRAMES
    frames in a row are lower; it ends before PAUSE_FRAMES frames below SPEECH_OFF. All numbers are frames from the
    start of the audio.
    """

    def __init__(self) -> None:
        self.speaking = False
        self.onset = 0
        """First frame of the last segment."""
        self.end = 0
        """Frame after the last frame with speech."""
        self.speech_frames = 0
        """Number of frames with speech in all segments."""
        self._frame = 0
        self._candidate: int | None = None
        self._candidate_frames = 0
        self._candidate_last = 0

    @property
    def pending(self) -> bool:
        """Whether there may be an onset of speech that is not certain yet."""
        return self._candidate is not None

    def push(self, probability: float) -> Literal["onset", "pause"] | None:
        """Add a frame: `onset` if a segment of speech is now certain, `pause` if one has now ended."""
        frame, self._frame = self._frame, self._frame + 1
        if self.speaking:
            if probability >= SPEECH_OFF:
                self.speech_frames += 1
                self.end = frame + 1
            elif frame + 1 - self.end >= PAUSE_FRAMES:
                self.speaking = False
                return "pause"
            return None
        if probability >= SPEECH_ON:
            if self._candidate is None:
                self._candidate, self._candidate_frames = frame, 0
            self._candidate_frames, self._candidate_last = self._candidate_frames + 1, frame
            if self._candidate_frames >= ONSET_FRAMES:
                self.confirm()
                return "onset"
        elif self._candidate is not None and frame - self._candidate_last > ONSET_DIP_FRAMES:
            self._candidate = None
        return None

    def confirm(self) -> bool:
        """Begin a segment of speech with the pending onset; False if there is none."""
        if self._candidate is None:
            return False
        self.speaking, self.onset, self.end = True, self._candidate, self._candidate_last + 1
        self.speech_frames += self._candidate_frames
        self._candidate = None
        return True


def last_spoken_end(segments: Iterable[tuple[int, int]], last_word: int, *, default: int) -> int:
    """The end of the segment of speech that has the last word; later segments, such as coughs, do not count.

    Args:
        segments: start and end position of each segment of speech, in order.
        last_word: position of the middle of the last word.
        default: the result where every segment begins after the last word.
    """
    return max((end for start, end in segments if start - ONSET_TOLERANCE <= last_word), default=default)
