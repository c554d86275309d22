"""Removes what models put around a question: labels, quotation marks, markup, thoughts.

Works on the stream and holds text back only while it may still be such a part: a label at the beginning, a closing
mark at the end.
"""

from __future__ import annotations

import re

_LABELS = tuple(
    sorted(
        {
            f"{opening}{kind}{colon}"
            for opening in ("", "here is the ", "here's the ", "here is my ", "here's my ", "here is a ", "here's a ")
            for kind in (
                "question", "follow-up question", "next question", "opening question", "closing question",
                "rephrased question",
            )
            for colon in (":",)
        }
        | {"q:", "follow-up:", "interviewer:", "moderator:", "frage:", "nächste frage:", "rückfrage:", "سؤال:",
           "السؤال:", "السؤال التالي:", "pregunta:", "domanda:", "vraag:", "pergunta:", "question :"}
    )
)  # fmt: skip
_PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "»": "«", "‘": "’", "‚": "‘", "「": "」", "'": "'"}
_APOSTROPHES = "'’"
_BEFORE = "*_`#>-–—•"
_MARKUP = re.compile(r"[*`]")
LONGEST_QUOTED = 80
"""Characters up to which words in quotation marks at the beginning are taken for somebody's, not for the question."""
_TAIL = re.compile(r"[\s\"“”„«»‘’'」*_`]+$")
_ASKED_AND_OVER = re.compile(r"(?<=[?؟？])[\"“”„«»‘’'」)*_`]*[ \t]*\n")
_THOUGHTS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))


class Tidying:
    """Cleans one question. Feed pieces, send what is returned, then `finish`; stop reading when `ended`."""

    def __init__(self) -> None:
        self.ended = False
        self._waiting = ""
        self._begun = False
        self._closer: str | None = None
        self._inner: list[str] = []
        self._last = ""

    def feed(self, piece: str) -> str:
        """What of the question can go out now."""
        if self.ended:
            return ""
        self._waiting += piece
        if not self._begun and not self._begin(final=False):
            return ""
        text = self._waiting
        over = _ASKED_AND_OVER.search(self._last + text)
        if over is not None:
            self._waiting = text[: over.start() - len(self._last)]
            return self.finish()
        tail = _TAIL.search(text)
        ready = text[: tail.start()] if tail else text
        self._waiting = text[len(ready) :]
        return self._sent(ready)

    def finish(self) -> str:
        """The rest, when the model has ended; closing marks stay where something inside the question opened them."""
        if self.ended:
            return ""
        if not self._begun:
            self._begin(final=True)
        self.ended = True
        tail = _TAIL.search(self._waiting)
        at = tail.start() if tail else len(self._waiting)
        sent = self._sent(self._waiting[:at])
        for mark in self._waiting[at:]:
            if self._inner and mark == self._inner[-1]:
                self._inner.pop()
                sent += mark
        return sent

    def _begin(self, *, final: bool) -> bool:
        """Take away what stands before the question; false while that can't be told."""
        while True:
            text = self._waiting.lstrip()
            self._waiting = text
            if not text:
                return final
            thought = _thought_end(text)
            if thought is not None and thought > 0:
                self._waiting = text[thought:]
                continue
            if thought is not None and not final:
                return False
            if final and text.casefold().startswith(tuple(opening for opening, _ in _THOUGHTS)):
                self._waiting = ""
                return True
            lowered = text.casefold()
            label = next((label for label in _LABELS if lowered.startswith(label)), None)
            if label is not None:
                self._waiting = text[len(label) :]
            elif not final and any(label.startswith(lowered) for label in _LABELS):
                return False
            elif text[0] in _BEFORE:
                self._waiting = text[1:]
            elif text[0] in _PAIRS and self._closer is None:
                quotes = _quotes(text, final=final)
                if quotes is None:
                    return False
                if quotes:
                    self._begun = True
                    return True
                self._closer = _PAIRS[text[0]]
                self._waiting = text[1:]
            else:
                self._begun = True
                return True

    def _sent(self, text: str) -> str:
        """A stretch of the question: on one line, without markup, without the mark that closes its opening quote."""
        kept: list[str] = []
        before = self._last
        for character in _MARKUP.sub("", re.sub(r"\s*\n\s*", " ", text)):
            if not self._is_wrapping(character, before):
                kept.append(character)
            before = character
        sent = "".join(kept)
        self._last = before
        return sent

    def _is_wrapping(self, mark: str, before: str) -> bool:
        """Whether this mark closes the one that stood before the question; follows marks inside the question."""
        opens = not before or before.isspace() or before in "(["
        if mark in _APOSTROPHES and (not opens or mark == "’"):
            return False
        if self._inner and mark == self._inner[-1] and not (opens and mark == _PAIRS.get(mark)):
            self._inner.pop()
            return False
        if self._closer == mark and not opens:
            self._closer = None
            return True
        if mark in _PAIRS and opens:
            self._inner.append(_PAIRS[mark])
        return False


def _quotes(text: str, *, final: bool) -> bool | None:
    """Whether the mark at the beginning opens words of somebody, which end before the question does; None while that
    can't be told, for `LONGEST_QUOTED` at the most. A mark that may open and close, or be an apostrophe, does not.
    """
    if text[0] not in "“„":
        return False
    closer = _PAIRS[text[0]]
    at = text.find(closer, 1)
    said = text if at < 0 else text[1:at]
    if "?" in said or "؟" in said or len(said) > LONGEST_QUOTED:
        return False
    if at < 0:
        return False if final else None
    behind = text[at + 1 :]
    return True if any(character.isalpha() for character in behind) else (False if final else None)


def _thought_end(text: str) -> int | None:
    """Where a thought at the beginning ends; −1 while it goes on, none where there is none."""
    for opening, closing in _THOUGHTS:
        if opening.startswith(text[: len(opening)].casefold()):
            end = text.casefold().find(closing)
            return end + len(closing) if end >= 0 else -1
    return None
