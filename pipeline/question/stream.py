"""Decides which part of a question that is still being written may be sent, and what to do after a refusal."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

from pipeline.question.checker import (
    LONGEST_RUN,
    REPEAT_COSINE,
    REPEAT_JACCARD,
    REPEAT_WINDOW,
    RETRACTING,
    Checker,
    Refusal,
    Similarity,
    ends_in_a_scene,
    question_part,
    repeat_refusals,
)
from pipeline.question.text import word_count
from pipeline.records import Record

Mode = Literal["live", "held"]
Action = Literal["go", "rewrite", "replace", "retract"]

_TRAILING = re.compile(r"[,;:–—-]?\s*(?:\b(?:and|or|but|plus|und|oder|aber)\b\s*)?$", re.I)
_BOUNDARY = re.compile(r"[.!?…؟]+[\"'”’»)]*\s+")
_ENDED = re.compile(r"[.!?…؟][\"'”’»)]*\s*$")
_DANGLING = re.compile(
    r"\b(?:and|or|but|nor|so|would|could|should|might|may|can|will|do|does|did|is|was|were|are|have|has|had|be|been|the|a|an"
    r"|my|your|his|her|their|its|our|to|of|for|with|in|on|at|by|from|as|than|that|which|who|if|whether|because|when|while"
    r"|what|how|why|where|you|i|we|they)$",
    re.IGNORECASE,
)
"""Words with which no question of a moderator's ends that was cut short."""
_REPAIR = {"en": "let me put that differently: ", "de": "ich frage anders: ", "ar": "دعني أسأل بطريقة أخرى: "}


class Verdict(Record):
    """What to do after a piece.

    `release` is the text that may be sent next, possibly empty. `action` says how to go on: `go`, continue; `rewrite`,
    nothing was sent yet, try again; `replace`, what was sent stays and `StreamGuard.replacement` gives the rest;
    `retract`, what was sent has to be withdrawn, because it must not stay or is too long to be completed.
    """

    release: str = ""
    action: Action = "go"
    refusals: tuple[Refusal, ...] = ()


class StreamGuard:
    """Checks one question while it is written: takes pieces of any size, returns verdicts.

    In mode `live` the first `hold_words` words of every sentence wait until a beginning can be judged, then words go
    out as they are complete; a comma or conjunction waits for the word after it. In mode `held` whole sentences go
    out. The releases, concatenated, are byte for byte the text that was fed. After anything but `go`, feed no more.
    """

    def __init__(
        self,
        *,
        mode: Mode = "live",
        hold_words: int = 4,
        language: str = "en",
        max_words: int = 25,
        recent_questions: Sequence[str] = (),
        allowed_words: Collection[str] = (),
        cosine: Similarity | None = None,
        repeat_window: int = REPEAT_WINDOW,
        repeat_jaccard: float = REPEAT_JACCARD,
        repeat_cosine: float = REPEAT_COSINE,
        secrets: Sequence[str] = (),
    ) -> None:
        self.out = ""
        """The text released so far."""
        self._pending = ""
        self._mode = mode
        self._hold_words = hold_words
        self._language = language
        self._max_words = max_words
        self._checker = Checker(language=language, max_words=max_words, allowed_words=allowed_words, secrets=secrets)
        self._recent = tuple(recent_questions[-repeat_window:]) if repeat_window else ()
        self._cosine = cosine
        self._repeat_jaccard = repeat_jaccard
        self._repeat_cosine = repeat_cosine
        self._judged = 0
        self._over = False
        self._codes: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """Everything that was fed."""
        return self.out + self._pending

    def feed(self, piece: str) -> Verdict:
        """Take the next piece; returns what may be sent.

        Raises:
            ValueError: the stream was already refused or finished.
        """
        if self._over:
            raise ValueError("this stream is over")
        self._pending += piece
        if len(self.out) + len(self._pending) > self._checker.most_characters or len(self._last_run()) > LONGEST_RUN:
            return self._refuse([Refusal(code="too_long", detail="no end of it")])
        complete = self._complete_words()
        if not complete.strip():
            return Verdict()
        so_far = len(self.out) + len(complete)
        if so_far > self._judged:
            self._judged = so_far
            refusals = self._checker.beginning(self.out + complete)
            if refusals:
                return self._refuse(refusals)
        return self._release(self._due(complete))

    def finish(self) -> Verdict:
        """The text is complete: check all of it and release the rest.

        Raises:
            ValueError: the stream was already refused or finished.
        """
        if self._over:
            raise ValueError("this stream is over")
        text = self.text
        refusals = [
            *self._checker.whole(text),
            *repeat_refusals(text, self._recent, self._cosine, self._repeat_jaccard, self._repeat_cosine),
        ]
        if refusals:
            return self._refuse(refusals)
        self._over = True
        return self._release(self._pending)

    def replacement(self, text: str) -> str:
        """What to send after a `replace`, given another acceptable question, so that `out` plus it reads well.

        Where `out` is a good question and only a second one was refused, nothing follows. Where it ends between
        sentences, the new question follows, without its own lead-up. Where it ends inside a
        sentence that is a good question as far as it goes, that one is closed. Elsewhere the moderator starts over in
        the same breath: “… – let me put that differently: what …”.
        """
        if not self.out:
            return text
        question = question_part(text, self._language)
        if self._stands():
            return ""
        if _ENDED.search(self.out):
            scene = ends_in_a_scene(self.out, self._language)
            return ("" if self.out[-1].isspace() else " ") + (self._instead(question) if scene else question)
        if "double" in self._codes and self._closes():
            return self._mark()
        return ("– " if self.out[-1].isspace() else " – ") + self._repaired(question)

    def _repaired(self, question: str) -> str:
        """The question after “let me put that differently:”."""
        repair = _REPAIR.get(self._language[:2], "")
        lower = repair and not self._language.startswith("de")
        return repair + (question[:1].lower() + question[1:] if lower else question)

    def _instead(self, question: str) -> str:
        """`_repaired` as a sentence of its own."""
        text = self._repaired(question)
        return text[:1].upper() + text[1:]

    def _complete_words(self) -> str:
        """The pending text up to the last white space; what follows may be an incomplete word."""
        return self._pending[: len(self._pending) - len(self._last_run())]

    def _last_run(self) -> str:
        """The pending text behind the last white space."""
        parts = self._pending.split()
        return parts[-1] if parts and not self._pending[-1:].isspace() else ""

    def _due(self, complete: str) -> str:
        """The part of the complete words that can be released now."""
        if self._checker.is_undecided(self.out + complete):
            return ""
        complete = self._checker.secrets.without_suspect_words(self.out, complete)
        if self._mode == "held":
            ends = [match.end() for match in _BOUNDARY.finditer(complete)]
            return complete[: ends[-1]] if ends else ""
        whole = self.out + complete
        ends = [match.end() for match in _BOUNDARY.finditer(whole)]
        start = ends[-1] if ends else 0
        if word_count(whole[start:]) < self._hold_words:
            return whole[len(self.out) : start] if start > len(self.out) else ""
        waiting = _TRAILING.search(complete)
        return complete[: waiting.start()] if waiting else complete

    def _release(self, text: str) -> Verdict:
        self.out += text
        self._pending = self._pending[len(text) :]
        return Verdict(release=text)

    def _can_be_mended(self) -> bool:
        """Whether what was sent is a question already, or can be followed by one without becoming too long.

        What breaks off in the middle of a sentence is withdrawn: nobody speaks like that.
        """
        between = _ENDED.search(self.out) is not None and not ends_in_a_scene(self.out, self._language)
        if self._stands() or (between and word_count(self.out) <= self._max_words // 2):
            return True
        return "double" in self._codes and self._closes()

    def _stands(self) -> bool:
        """Whether what was sent is an acceptable question as it is, and only what came after it was too much."""
        return "double" in self._codes and self.out.rstrip().endswith("?") and not self._checker.whole(self.out)

    def _closes(self) -> bool:
        """Whether what was sent, with a question mark, is an acceptable question."""
        dangles = self._language.startswith("en") and _DANGLING.search(self.out.rstrip()) is not None
        return not dangles and not _ENDED.search(self.out) and not self._checker.whole(self.out + self._mark())

    def _mark(self) -> str:
        """What ends what was sent: a full stop where it invites (“Tell me about the bill.”), else a question mark."""
        return "?" if self._checker.whole(f"{self.out}.") else "."

    def _refuse(self, refusals: Sequence[Refusal]) -> Verdict:
        self._over = True
        self._codes = frozenset(refusal.code for refusal in refusals)
        action: Action = "replace"
        if not self.out:
            action = "rewrite"
        elif any(refusal.code in RETRACTING for refusal in refusals) or not self._can_be_mended():
            action = "retract"
        return Verdict(action=action, refusals=tuple(refusals))
