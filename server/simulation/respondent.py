"""A simulated respondent: reads a question as it was put and tells what belongs there, as its manner has it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from config.personas import Idea, Manner, Persona, Purpose, Respondents
from pipeline.question.text import words

Wanted = Literal["why", "feel", "then", "cause", "detail", "more"]
ORDER: tuple[Wanted, ...] = ("more", "feel", "then", "cause", "why", "detail")
"""Which purpose a question has that could have several."""
STANDS_IN: Mapping[Purpose, tuple[Purpose, ...]] = {
    "why": ("why", "feel"),
    "feel": ("feel", "why"),
    "then": ("then",),
    "cause": ("cause",),
    "detail": ("detail", "why", "then", "feel"),
}
"""What is told where a question of a purpose is asked; an open invitation brings what comes first."""
OF_THE_WHOLE: tuple[Wanted, ...] = ("then", "cause")
"""What is told of the story as a whole, where there is nothing of that kind about what the question took up."""
TIRED_EVERY = 2
COMMON = frozenset(
    "a about all also am an and any are as at be because been but by can could did do does doing don't for from get "
    "go going got had has have he her here him his how i i'm if in into is it it's its just like make makes me more "
    "most much my no not now of on one or other our out over really said say she so some something than that that's "
    "the their them then there these they thing things think this those to too up us use very was we well were what "
    "what's when where which who why will with would you your you're mentioned told earlier talked said".split()
)
"""Words that tell nothing about what a question is about."""
LEAST_STEM = 4


@dataclass(frozen=True)
class Telling:
    """One idea as it was told: characters `start` to `end` of the answer are its core."""

    idea: str
    start: int
    end: int


@dataclass(frozen=True)
class Told:
    """An answer.

    Attributes:
        text: as it is sent.
        tellings: the ideas in it; empty where the question brought nothing.
        wanted: what the question was taken to want.
        about: the idea that it was taken to be about.
        reason: why nothing was told: `nothing_left`, `tired`, `confused`, `doubts`, `weeps`.
    """

    text: str
    tellings: tuple[Telling, ...] = ()
    wanted: Wanted | None = None
    about: str | None = None
    reason: str = ""


class Respondent:
    """One respondent in one interview. The same seed and the same questions give the same answers."""

    def __init__(self, persona: Persona, respondents: Respondents, seed: int, manner: str | None = None) -> None:
        """Args:
            persona: who.
            respondents: how questions are understood, and the manners.
            seed: of chance.
            manner: another than the persona's own.

        Raises:
            KeyError: there is no such manner.
        """
        self._persona = persona
        self._ideas: dict[str, Idea] = {idea.id: idea for idea in persona.truth}
        self._understands: dict[Wanted, tuple[re.Pattern[str], ...]] = {
            purpose: tuple(re.compile(expression) for expression in respondents.understands.get(purpose, ()))
            for purpose in ORDER
        }
        self._has_nothing = respondents.has_nothing
        self._manner: Manner = respondents.manners[manner or persona.manner]
        self._chance = Random(f"{persona.id} {seed}")
        self._told: list[str] = []
        self._answers = 0
        self._confused_last = False
        self._wept = False
        self._corrected = 0

    @property
    def told(self) -> tuple[str, ...]:
        """Ids of the ideas told so far, in their order."""
        return tuple(self._told)

    def answer(self, question: str) -> Told:
        """What is said to a question."""
        self._answers += 1
        wanted = self._wanted(question)
        about = self._about(question)
        unable = self._unable(question, wanted, about)
        if unable is not None:
            return unable
        ideas = self._brought_up(question, wanted, about)
        if not ideas:
            return Told(self._pick(self._has_nothing), wanted=wanted, about=about, reason="nothing_left")
        if self._chance.random() < self._manner.volunteers:
            ideas += self._left(ideas[-1], ("why", "then", "feel", "detail"))[:1]
        return self._worded(ideas, wanted, about)

    def _unable(self, question: str, wanted: Wanted, about: str | None) -> Told | None:
        """What is said instead of an answer, where the manner has it so."""
        manner = self._manner
        over = manner.confused_over
        if over is not None and manner.asks_back and len(words(question)) > over and not self._confused_last:
            self._confused_last = True
            return Told(self._pick(manner.asks_back), wanted=wanted, about=about, reason="confused")
        self._confused_last = False
        if manner.doubts and self._answers > 1 and self._answers % manner.every == 0:
            return Told(self._pick(manner.doubts), wanted=wanted, about=about, reason="doubts")
        tired = manner.tires_at is not None and self._answers >= manner.tires_at
        if tired and manner.tired and self._answers % TIRED_EVERY == 0:
            return Told(self._pick(manner.tired), wanted=wanted, about=about, reason="tired")
        if manner.weeps and not self._wept and manner.weeps_at is not None and len(self._told) >= manner.weeps_at:
            self._wept = True
            return Told(self._pick(manner.weeps), wanted=wanted, about=about, reason="weeps")
        return None

    def _wanted(self, question: str) -> Wanted:
        asked = question.casefold().replace("’", "'")
        hits = {purpose: sum(bool(p.search(asked)) for p in self._understands[purpose]) for purpose in ORDER}
        best = max(hits.values())
        return next((purpose for purpose in ORDER if hits[purpose] == best), "detail") if best else "detail"

    def _about(self, question: str) -> str | None:
        """The idea told so far whose words the question takes up; the last one told where it takes up none."""
        if not self._told:
            return None
        asked = _content(question)
        words_of = {name: _content(f"{(idea := self._ideas[name]).core} {idea.short or ''}") for name in self._told}
        shared = {name: len(asked & found) for name, found in words_of.items()}
        best = max(shared.values())
        if best == 0 or self._chance.random() < self._manner.returns_to_last:
            return self._told[-1]
        return next(name for name in reversed(self._told) if shared[name] == best)

    def _brought_up(self, question: str, wanted: Wanted, about: str | None) -> list[str]:
        """Ids of what a question brings up that was not told yet."""
        if about is None:
            return [name for name in self._persona.first if name not in self._told][:2]
        asked = question.casefold()
        for cue in self._persona.asked:
            if cue.tells not in self._told and any(_has(word, asked) for word in cue.words):
                return [cue.tells]
        if wanted == "more":
            return [name for name in (*self._persona.first, *self._persona.more) if name not in self._told][:1]
        found = self._left(about, STANDS_IN[wanted])
        if not found and wanted in OF_THE_WHOLE:
            found = [other for name in reversed(self._told) for other in self._left(name, (wanted,))]
        return found[:1]

    def _left(self, name: str, purposes: Sequence[Purpose]) -> list[str]:
        linked = [other for purpose in purposes for other in self._ideas[name].told_for(purpose)]
        return [other for other in dict.fromkeys(linked) if other not in self._told]

    def _worded(self, names: Sequence[str], wanted: Wanted, about: str | None) -> Told:
        manner = self._manner
        now = self._answers % manner.every == 0
        pieces: list[tuple[str, str | None, str]] = []
        if now and manner.before:
            pieces.append((self._pick(manner.before), None, ""))
        if now and manner.wrong and self._corrected < min(len(manner.wrong), len(manner.corrects)):
            pieces.append((manner.wrong[self._corrected], None, ""))
            pieces.append((manner.corrects[self._corrected], None, ""))
            self._corrected += 1
        brief = self._chance.random() < manner.brief
        for name in names:
            idea = self._ideas[name]
            said = (idea.short or idea.core) if brief else idea.says
            pieces.append((said, name, said if brief else idea.core))
            self._told.append(name)
        if now and manner.after:
            pieces.append((self._pick(manner.after), None, ""))
        return _joined(pieces, wanted, about)

    def _pick(self, texts: Sequence[str]) -> str:
        return self._chance.choice(list(texts))


def _joined(pieces: Sequence[tuple[str, str | None, str]], wanted: Wanted, about: str | None) -> Told:
    """The pieces as one answer, with where the cores are in it."""
    text = ""
    tellings: list[Telling] = []
    for said, name, core in pieces:
        text += (" " if text else "") + said
        begins = len(text) - len(said)
        if name is not None:
            at = begins + max(said.find(core), 0)
            tellings.append(Telling(name, at, at + len(core)))
    return Told(text, tuple(tellings), wanted, about)


def _content(text: str) -> frozenset[str]:
    """The words that tell what a text is about, without their endings."""
    return frozenset(_stem(word) for word in _longer(words(text)))


def _longer(found: Sequence[str]) -> Iterator[str]:
    return (word for word in found if word not in COMMON)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= LEAST_STEM - 1:
            return word[: -len(ending)]
    return word


def _has(word: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(word.casefold())}\b", text) is not None
