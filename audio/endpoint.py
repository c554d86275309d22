"""When somebody speaks, when nobody does, and how much silence ends an answer. Counts audio, reads no clock.

`SpeechSegmenter` turns a probability per frame into stretches of speech; `required_silence` says how long a silence must last
after a text. A click or a short cough makes no stretch of speech and so changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audio.types import RATE_HZ, samples_of

FRAME_SAMPLES = 512
"""What the rules see at once: 32 ms, the frame of the voice activity model."""

Probabilities = NDArray[np.float32]
"""Of speech, one per frame, in [0, 1]; shape `[n]`."""
Patience = Literal["quick", "normal", "patient"]
PATIENCE_MS: Mapping[Patience, int] = {"quick": 500, "normal": 900, "patient": 1800}
"""Silence that ends an answer."""
MAX_UNFINISHED_SILENCE_MS = 3000
"""No silence after an unfinished sentence needs to be longer."""
UNFINISHED_FACTOR = 2.0
"""An unfinished sentence is given so many times the silence."""
COMPLETE_FACTOR = 0.85
"""A complete sentence at the end of a long answer is given so much of it."""
LONG_ANSWER_S = 15
"""Speech from which an answer counts as long."""
WORDLESS_MS = 1500
"""Where there are no words nothing can be unfinished: whoever was not understood is told soon."""

SPEECH_ON = 0.5
"""Probability from which a frame may begin speech."""
SPEECH_OFF = 0.35
"""Probability under which a frame of speech is silence."""
ONSET_FRAMES = 3
"""Frames at SPEECH_ON or more that make speech of a sound (96 ms); less is a click."""
ONSET_DIP_FRAMES = 3
"""Frames that a beginning may dip under SPEECH_ON (96 ms) and go on."""
PAUSE_FRAMES = 7
"""Silence from which speech has stopped for now and its last window is read: the first frame end after 200 ms."""
ONSET_TOLERANCE = samples_of(100)
"""A word may be placed so much before the speech it belongs to."""

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
"""Last words after which something follows, full stop or not: speech models set one where they hear nothing more."""
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
"""Last words after which something follows unless the sentence was closed."""
_FULL_STOPS = (".", "!", "?", "。", "！", "？", "؟", "।")
_CONTINUATION_MARKS = ("...", "…", ",", ";", ":", "-", "–", "—", "、", "，")
_CLOSING_QUOTES = "\"'”’»)] "
_LAST_WORD = re.compile(r"([^\W_]+(?:['’][^\W_]+)*)[^\w]*$")


def is_unfinished(text: str, language: str) -> bool:
    """Whether a sentence is left hanging: at a comma or dots, at "because", "and", "um", "of the" …

    Languages without a word list (`en`, `de`, `fr`, `es` have one) are judged by their punctuation.
    """
    last_word = text.rstrip(_CLOSING_QUOTES)
    if not last_word:
        return False
    if last_word.endswith(_CONTINUATION_MARKS):
        return True
    found = _LAST_WORD.search(last_word)
    if found is None:
        return False
    word = found.group(1).lower().replace("’", "'")
    if word in _ALWAYS_CONTINUED.get(language, ()):
        return True
    return word in _CONTINUED_UNLESS_CLOSED.get(language, ()) and not last_word.endswith(_FULL_STOPS)


def is_complete(text: str, language: str) -> bool:
    """Whether the last sentence is closed by a full stop, a question or an exclamation mark."""
    return text.rstrip(_CLOSING_QUOTES).endswith(_FULL_STOPS) and not is_unfinished(text, language)


def required_silence(patience: Patience, text: str | None, *, language: str, spoken: int) -> int:
    """How long a silence ends an answer.

    Args:
        patience: the respondent's.
        text: what was said so far; None where nobody could tell.
        language: two-letter code.
        spoken: samples of speech in the answer so far.
    Returns:
        Samples of silence, counted from the end of speech.
    """
    base_ms = PATIENCE_MS[patience]
    if text is None:
        return samples_of(base_ms)
    if not text:
        return samples_of(min(base_ms, WORDLESS_MS))
    if is_unfinished(text, language):
        return samples_of(max(base_ms, min(base_ms * UNFINISHED_FACTOR, MAX_UNFINISHED_SILENCE_MS)))
    if spoken >= LONG_ANSWER_S * RATE_HZ and is_complete(text, language):
        return samples_of(base_ms * COMPLETE_FACTOR)
    return samples_of(base_ms)


def minimum_silence(patience: Patience, *, spoken: int) -> int:
    """The least that `required_silence` can say whatever the text is, in samples."""
    base_ms = PATIENCE_MS[patience]
    if spoken >= LONG_ANSWER_S * RATE_HZ:
        return samples_of(min(base_ms * COMPLETE_FACTOR, WORDLESS_MS))
    return samples_of(min(base_ms, WORDLESS_MS))


class SpeechSegmenter:
    """Stretches of speech from one probability per frame.

    Speech begins with ONSET_FRAMES frames at SPEECH_ON or more with dips of at most ONSET_DIP_FRAMES between them, at
    the first of them; it stops after PAUSE_FRAMES frames under SPEECH_OFF. All numbers are frames from the start.
    """

    def __init__(self) -> None:
        self.speaking = False
        self.onset = 0
        """First frame of the last stretch."""
        self.end = 0
        """Frame after the last one with speech."""
        self.speech_frames = 0
        """Frames with speech in all."""
        self._frame = 0
        self._candidate: int | None = None
        self._candidate_frames = 0
        self._candidate_last = 0

    @property
    def pending(self) -> bool:
        """Whether something has begun that may become speech."""
        return self._candidate is not None

    def push(self, probability: float) -> Literal["onset", "pause"] | None:
        """One frame more: `onset` where it makes speech certain, `pause` where it makes silence long enough."""
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
        """Take what has begun for speech; False where nothing has."""
        if self._candidate is None:
            return False
        self.speaking, self.onset, self.end = True, self._candidate, self._candidate_last + 1
        self.speech_frames += self._candidate_frames
        self._candidate = None
        return True


def last_spoken_end(stretches: Iterable[tuple[int, int]], last_word: int, *, default: int) -> int:
    """Where the last speech with words in it ended: a cough after the last word does not count.

    Args:
        stretches: first and last place of each stretch of speech, in order.
        said: middle of the last word.
        default: where no stretch reaches back to it.
    """
    return max((end for onset, end in stretches if onset - ONSET_TOLERANCE <= last_word), default=default)
