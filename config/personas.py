"""Simulated respondents: what they would say if asked, and how they go about answering."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from config.yamlfile import ConfigError, Document, Path, parse, suggest, validate
from pipeline.methodology import Methodology

Purpose = Literal["why", "feel", "then", "cause", "detail"]
"""What a question about something wants to know of it."""
PURPOSES: tuple[Purpose, ...] = ("why", "feel", "then", "cause", "detail")
Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Idea(_Part):
    """One thing that a persona would tell.

    Attributes:
        type: a type of concept of the methodology.
        says: how they tell it.
        core: the words of it that are the idea, verbatim.
        short: how somebody of few words puts it; `core` if not given.
        why, feel, then, cause, detail: what is told when asked that about it.
    """

    id: Id
    type: Id
    says: Text
    core: Text
    short: Text | None = None
    why: tuple[Id, ...] = ()
    feel: tuple[Id, ...] = ()
    then: tuple[Id, ...] = ()
    cause: tuple[Id, ...] = ()
    detail: tuple[Id, ...] = ()

    def told_for(self, purpose: Purpose) -> tuple[str, ...]:
        """Ids of what a question with that purpose brings up."""
        found: tuple[str, ...] = getattr(self, purpose)
        return found

    @property
    def linked(self) -> Iterator[tuple[str, str]]:
        """Pairs of ids that belong together in the persona's mind, from the concrete to what it leads to."""
        for purpose in ("why", "feel", "then"):
            yield from ((self.id, other) for other in getattr(self, purpose))
        yield from ((other, self.id) for other in self.cause)


class Cue(_Part):
    """Words of a question that bring an idea up."""

    words: tuple[Text, ...] = Field(min_length=1)
    tells: Id


class Persona(_Part):
    """A simulated respondent with a hidden truth.

    Attributes:
        concept: id of the concept that it can be interviewed about.
        manner: how it answers, a name in `respondents.yaml`.
        first: ids of what is told to the first question.
        more: ids of what is told to "what else", in this order.
        asked: what certain words in a question bring up.
        truth: all that there is to find.
    """

    id: Id
    title: Text
    concept: str
    manner: Id
    first: tuple[Id, ...] = Field(min_length=1)
    more: tuple[Id, ...] = ()
    asked: tuple[Cue, ...] = ()
    truth: tuple[Idea, ...] = Field(min_length=2, max_length=200)


class Manner(_Part):
    """How a respondent answers.

    Attributes:
        description: in a sentence.
        brief: share of the answers that are told in few words.
        volunteers: share of the answers that tell a second thing unasked.
        before, after: said before or after an answer, in turn; with `every`, in one of so many answers.
        tires_at: answer from which on it tells little; none for one that doesn't tire.
        tired: what it says then instead of every second thing.
        asks_back: what it says instead of an answer to a question of more than `confused_over` words.
        doubts: what it says instead of an answer in one of `every` answers.
        corrects: what comes before a thing told anew, after a wrong one in `wrong`.
        returns_to_last: share of the questions about something else at which it stays with what it last told.
        weeps_at: after so many things told, says one of `weeps`.
    """

    description: Text
    brief: float = Field(default=0.0, ge=0, le=1)
    volunteers: float = Field(default=0.0, ge=0, le=1)
    before: tuple[Text, ...] = ()
    after: tuple[Text, ...] = ()
    every: int = Field(default=1, ge=1)
    tires_at: int | None = Field(default=None, ge=1)
    tired: tuple[Text, ...] = ()
    confused_over: int | None = Field(default=None, ge=1)
    asks_back: tuple[Text, ...] = ()
    doubts: tuple[Text, ...] = ()
    wrong: tuple[Text, ...] = ()
    corrects: tuple[Text, ...] = ()
    returns_to_last: float = Field(default=0.0, ge=0, le=1)
    weeps_at: int | None = Field(default=None, ge=1)
    weeps: tuple[Text, ...] = ()


RESPONDENTS = "respondents.yaml"


class Respondents(_Part):
    """`respondents.yaml`: how simulated respondents understand questions, and the manners there are.

    Attributes:
        understands: per purpose, regular expressions that tell it, searched in the question's lower-case words;
            `more` for questions about something else.
        has_nothing: what is said where there is nothing to tell.
        manners: by name.
    """

    understands: dict[Literal["why", "feel", "then", "cause", "detail", "more"], tuple[str, ...]]
    has_nothing: tuple[Text, ...] = Field(min_length=1)
    manners: dict[Id, Manner] = Field(min_length=1)


def read_persona(text: str, file: str, stem: str) -> tuple[Persona, Document]:
    """A persona file, checked alone.

    Args:
        text: the content.
        file: how the file is called in messages.
        stem: the file's name without suffix, which must be the persona's id.
    Raises:
        ConfigError: with `file:line: reason` for each mistake.
    """
    document = parse(text, file)
    persona = validate(document, Persona)
    problems = [document.problem(path, reason) for path, reason in _mistakes(persona)]
    if persona.id != stem:
        problems.append(document.problem(("id",), f"should be `{stem}`, the name of the file"))
    if problems:
        raise ConfigError(problems)
    return persona, document


def read_respondents(text: str, file: str) -> Respondents:
    """The file of manners. Raises ConfigError."""
    document = parse(text, file)
    respondents = validate(document, Respondents)
    problems = []
    for purpose, expressions in respondents.understands.items():
        for index, expression in enumerate(expressions):
            try:
                re.compile(expression)
            except re.error as error:
                problems.append(document.problem(("understands", purpose, index), f"no regular expression: {error}"))
    if problems:
        raise ConfigError(problems)
    return respondents


def unfit(
    persona: Persona, concepts: Collection[str], respondents: Respondents | None, methodology: Methodology | None
) -> Iterator[tuple[Path, str]]:
    """What of a persona is nowhere: its concept, its manner, types of its ideas; paths and reasons.

    Args:
        persona: to look at.
        concepts: ids of those there are.
        respondents: the manners there are; None where they can't be read.
        methodology: of the persona's concept; None where there is none.
    """
    if persona.concept not in concepts:
        yield ("concept",), f"there is no concept `{persona.concept}`{suggest(persona.concept, list(concepts))}"
        return
    if respondents is not None and persona.manner not in respondents.manners:
        hint = suggest(persona.manner, list(respondents.manners))
        yield ("manner",), f"there is no manner `{persona.manner}`{hint}"
    known = [node.name for node in methodology.ontology.nodes] if methodology is not None else []
    for index, idea in enumerate(persona.truth):
        if known and idea.type not in known:
            yield ("truth", index, "type"), f"unknown node type `{idea.type}`{suggest(idea.type, known)}"


def _mistakes(persona: Persona) -> Iterator[tuple[Path, str]]:
    known = [idea.id for idea in persona.truth]
    for index, idea in enumerate(persona.truth):
        if idea.id in known[:index]:
            yield ("truth", index, "id"), f"`{idea.id}` is there twice"
        if idea.core not in idea.says:
            yield ("truth", index, "core"), "these words are not in `says`"
        for purpose in PURPOSES:
            yield from _unknown(("truth", index, purpose), idea.told_for(purpose), known)
            if idea.id in idea.told_for(purpose):
                yield ("truth", index, purpose), "leads to itself"
    yield from _unknown(("first",), persona.first, known)
    yield from _unknown(("more",), persona.more, known)
    for index, cue in enumerate(persona.asked):
        yield from _unknown(("asked", index, "tells"), (cue.tells,), known)
    told = reachable(persona)
    for index, idea in enumerate(persona.truth):
        if idea.id not in told:
            yield ("truth", index, "id"), f"nothing that can be asked leads to `{idea.id}`"


def _unknown(path: Path, ids: Iterable[str], known: list[str]) -> Iterator[tuple[Path, str]]:
    for name in ids:
        if name not in known:
            yield path, f"there is no `{name}` in `truth`{suggest(name, known)}"


def reachable(persona: Persona) -> frozenset[str]:
    """Ids of what can come to be told."""
    ideas = {idea.id: idea for idea in persona.truth}
    waiting = [*persona.first, *persona.more, *(cue.tells for cue in persona.asked)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in ideas and name not in found:
            found.add(name)
            waiting += [other for purpose in PURPOSES for other in ideas[name].told_for(purpose)]
    return frozenset(found)
