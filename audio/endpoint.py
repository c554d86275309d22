"""When somebody speaks, when nobody does, and how much silence ends an answer. Counts audio, reads no clock.

`SpeechRuns` turns a probability per frame into stretches of speech; `silence_needed` says how long a silence must last
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
LONGEST_PATIENCE_MS = 3000
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
ONSET_SLACK = samples_of(100)
"""A word may be placed so much before the speech it belongs to."""

_STRONG: Mapping[str, frozenset[str]] = {
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
_WEAK: Mapping[str, frozenset[str]] = {
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
_HANGING = ("...", "…", ",", ";", ":", "-", "–", "—", "、", "，")
_CLOSING_QUOTES = "\"'”’»)] "
_LAST_WORD = re.compile(r"([^\W_]+(?:['’][^\W_]+)*)[^\w]*$")


def unfinished(text: str, language: str) -> bool:
    """Whether a sentence is left hanging: at a comma or dots, at "because", "and", "um", "of the" …

    Languages without a word list (`en`, `de`, `fr`, `es` have one) are judged by their punctuation.
    """
    said = text.rstrip(_CLOSING_QUOTES)
    if not said:
        return False
    if said.endswith(_HANGING):
        return True
    found = _LAST_WORD.search(said)
    if found is None:
        return False
    word = found.group(1).lower().replace("’", "'")
    if word in _STRONG.get(language, ()):
        return True
    return word in _WEAK.get(language, ()) and not said.endswith(_FULL_STOPS)


def complete(text: str, language: str) -> bool:
    """Whether the last sentence is closed by a full stop, a question or an exclamation mark."""
    return text.rstrip(_CLOSING_QUOTES).endswith(_FULL_STOPS) and not unfinished(text, language)


def silence_needed(patience: Patience, text: str | None, *, language: str, spoken: int) -> int:
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
    if unfinished(text, language):
        return samples_of(max(base_ms, min(base_ms * UNFINISHED_FACTOR, LONGEST_PATIENCE_MS)))
    if spoken >= LONG_ANSWER_S * RATE_HZ and complete(text, language):
        return samples_of(base_ms * COMPLETE_FACTOR)
    return samples_of(base_ms)


def least_silence(patience: Patience, *, spoken: int) -> int:
    """The least that `silence_needed` can say whatever the text is, in samples."""
    base_ms = PATIENCE_MS[patience]
    if spoken >= LONG_ANSWER_S * RATE_HZ:
        return samples_of(min(base_ms * COMPLETE_FACTOR, WORDLESS_MS))
    return samples_of(min(base_ms, WORDLESS_MS))


class SpeechRuns:
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
        self.voiced = 0
        """Frames with speech in all."""
        self._next = 0
        self._begun: int | None = None
        self._risen = 0
        self._last_risen = 0

    @property
    def rising(self) -> bool:
        """Whether something has begun that may become speech."""
        return self._begun is not None

    def push(self, probability: float) -> Literal["onset", "pause"] | None:
        """One frame more: `onset` where it makes speech certain, `pause` where it makes silence long enough."""
        frame, self._next = self._next, self._next + 1
        if self.speaking:
            if probability >= SPEECH_OFF:
                self.voiced += 1
                self.end = frame + 1
            elif frame + 1 - self.end >= PAUSE_FRAMES:
                self.speaking = False
                return "pause"
            return None
        if probability >= SPEECH_ON:
            if self._begun is None:
                self._begun, self._risen = frame, 0
            self._risen, self._last_risen = self._risen + 1, frame
            if self._risen >= ONSET_FRAMES:
                self.settle()
                return "onset"
        elif self._begun is not None and frame - self._last_risen > ONSET_DIP_FRAMES:
            self._begun = None
        return None

    def settle(self) -> bool:
        """Take what has begun for speech; False where nothing has."""
        if self._begun is None:
            return False
        self.speaking, self.onset, self.end = True, self._begun, self._last_risen + 1
        self.voiced += self._risen
        self._begun = None
        return True


def worded_end(stretches: Iterable[tuple[int, int]], said: int, *, default: int) -> int:
    """Where the last speech with words in it ended: a cough after the last word does not count.

    Args:
        stretches: first and last place of each stretch of speech, in order.
        said: middle of the last word.
        default: where no stretch reaches back to it.
    """
    return max((end for onset, end in stretches if onset - ONSET_SLACK <= said), default=default)
