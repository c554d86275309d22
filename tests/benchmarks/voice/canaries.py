"""Ten people speak at the same time about different things: no words of one may reach another."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.latency import server
from tests.benchmarks.voice.corpus import Recording, utterances
from tests.benchmarks.voice.latency import fitting
from tests.benchmarks.voice.respondents import Speaker, SpokenResult, visiting
from tests.benchmarks.voice.scoring import Errors, errors, words_of
from tests.benchmarks.voice.sources import Say
from tests.benchmarks.voice.streaming import model_name

SPEAKERS, ANSWERS = 10, 4
ANSWER_S = 8.0
CANARY = 3
"""Length of a canary, a phrase that only one of the speakers says, in words."""
OWN = 2
"""A phrase that shares this many words in a row with the speaker's own text is a misrecognition of it."""


@dataclass
class Person:
    """One speaker: what they will say, and what they were shown."""

    recordings: list[Recording]
    spoken: list[SpokenResult] = field(default_factory=list)


def phrases(text: str, length: int = CANARY) -> set[tuple[str, ...]]:
    """All runs of so many words."""
    words = words_of(text)
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


async def run(place: Path, say: Say, *, share: float = 1.0) -> None:
    """Measure and print; `share` of the answers, for a quick look."""
    spoken = await asyncio.to_thread(utterances, place, say)
    each_says = max(1, round(ANSWERS * share))
    recordings = fitting(spoken, ANSWER_S, SPEAKERS * each_says)
    people = [Person(recordings[number::SPEAKERS]) for number in range(SPEAKERS)]
    async with server() as (url, _), visiting(url) as http, asyncio.TaskGroup() as group:
        for number, person in enumerate(people):
            group.create_task(_talk(Speaker(url, http, number), person, number, say))
    _print(people)


async def _talk(speaker: Speaker, person: Person, number: int, say: Say) -> None:
    async with speaker as one:
        for recording in person.recordings:
            person.spoken.append(await one.answer(recording))
            say(f"speaker {number + 1}: {person.spoken[-1].text[:60]!r}")


def crossings(people: Sequence[Person]) -> tuple[int, list[str]]:
    """The number of canaries, and those that were shown to another person."""
    own = [{each for recording in person.recordings for each in phrases(recording.text)} for person in people]
    said_by = Counter(each for phrases_of_one in own for each in phrases_of_one)
    canaries = [{each for each in phrases_of_one if said_by[each] == 1} for phrases_of_one in own]
    crossed = []
    for number, person in enumerate(people):
        pairs = {pair for recording in person.recordings for pair in phrases(recording.text, OWN)}
        shown = {
            each
            for spoken in person.spoken
            for text in spoken.heard
            for each in phrases(text)
            if not pairs & phrases(" ".join(each), OWN)
        }
        for other, theirs in enumerate(canaries):
            if other != number:
                crossed += [f"{' '.join(each)}: {other + 1} to {number + 1}" for each in shown & theirs]
    return sum(map(len, canaries)), crossed


def _print(people: Sequence[Person]) -> None:
    count, crossed = crossings(people)
    texts = sum(len(spoken.heard) for person in people for spoken in person.spoken)
    finals = [spoken for person in people for spoken in person.spoken if spoken.text]
    wrong = sum((errors(each.said, each.text) for each in finals), Errors(0))
    print(f"\n## Canaries in {len(people)} parallel sessions, {model_name()}\n")
    print(
        f"{count} phrases of {CANARY} words that only one person says; {texts} captions and {len(finals)} final"
        f" transcripts looked at ({wrong.words} words, {100 * wrong.total / max(1, wrong.words):.1f} % wrong):"
        f" {len(crossed)} crossed."
    )
    for each in crossed:
        print(each)
