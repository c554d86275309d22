"""Interviews over the same answers side by side, answer by answer, with what is different about what they ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from server.comparison.measuring import Figures, measured
from server.comparison.phrases import listed
from server.comparison.playing import Run
from server.comparison.recording import Message, Recording, counted
from server.comparison.steps import Step, steps

Verdict = Literal["same", "replies", "wording", "strategy", "subject", "end", "alone"]
HONEST = (
    "The answers were given to the questions of one interview. Another engine or configuration would have asked "
    "something else and would have been told something else: from its first different question on, this shows what it "
    "would ask after the same words, not how its own interview would have gone. What was understood, and with it "
    "coverage and depth, differs little here for the same reason; choices, repetition and length say more."
)
"""What has to be known of every comparison."""
PROPOSED = "In the runs an engine's own proposal is always asked; whoever writes the questions does not choose."


@dataclass(frozen=True)
class Moment:
    """What each run said after one message, in the order of the runs; None for a run that was over.

    Attributes:
        after: the number of the message, counted from 1.
        message: what was said.
        said: by each run.
        verdict: in which way they differ.
    """

    after: int
    message: Message
    said: tuple[Step | None, ...]
    verdict: Verdict

    def groups(self) -> list[list[int]]:
        """The places of the runs that said the same words, in the order of the runs."""
        found: dict[str, list[int]] = {}
        for at, step in enumerate(self.said):
            if step is not None:
                found.setdefault(step.text, []).append(at)
        return list(found.values())


@dataclass(frozen=True)
class Choice:
    """Why something was said: `who` is empty where it is why all say it."""

    who: str
    strategy: str
    about: str
    why: str


@dataclass(frozen=True)
class Said:
    """What one or several runs said after a message, with the reasons of each."""

    who: str
    text: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Comparison:
    """Runs over the same answers.

    Attributes:
        title, origin: of the recording.
        openings: what each run opened with, by whom; the same only once.
        runs, figures: in the same order; the interview as it was held first, where there is one.
        moments: one per message.
        notes: what should be known, in sentences.
    """

    title: str
    origin: str
    openings: tuple[tuple[str, str], ...]
    runs: tuple[Run, ...]
    figures: tuple[Figures, ...]
    moments: tuple[Moment, ...]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the runs."""
        return tuple(run.name for run in self.runs)

    @property
    def parting(self) -> str:
        """Where they part, as a sentence."""
        if len(self.runs) < 2:
            return "There is nothing to compare it with."
        apart = next((moment for moment in self.moments if moment.verdict != "same"), None)
        if apart is None:
            return f"They say the same after every one of the {counted(len(self.moments), 'answer')}."
        same = sum(moment.verdict == "same" for moment in self.moments)
        return (
            f"They part after answer {apart.after}; after {same} of {counted(len(self.moments), 'answer')} all of them "
            "say the same."
        )


def compared(recording: Recording, runs: Sequence[Run], notes: Sequence[str] = ()) -> Comparison:
    """The runs side by side; one that says the same as the interview did when it was held with its engine is left out.

    Args:
        recording: whose answers were played.
        runs: at least one.
        notes: more that should be known.
    """
    again = next((run for run in runs if any(_says_the_same(held, run) for held in runs if held.was_held)), None)
    if again is not None:
        runs = [run for run in runs if run is not again]
        notes = (
            *notes,
            f"Played again, {again.engine} says the same as when the interview was held; it stands here once.",
        )
    said = [{step.after: step for step in steps(run)} for run in runs]
    moments = []
    for after, message in enumerate(recording.messages, start=1):
        those = tuple(of.get(after) for of in said)
        if any(step is not None for step in those):
            moments.append(Moment(after, message, those, _verdict(those)))
    openings: dict[str, list[str]] = {}
    for run, of in zip(runs, said, strict=True):
        if 0 in of:
            openings.setdefault(of[0].text, []).append(run.name)
    return Comparison(
        title=recording.title,
        origin=recording.origin,
        openings=tuple((listed(those), text) for text, those in openings.items()),
        runs=tuple(runs),
        figures=tuple(measured(run) for run in runs),
        moments=tuple(moments),
        notes=(*recording.notes, PROPOSED, *notes),
    )


def _says_the_same(held: Run, run: Run) -> bool:
    """Whether a run by the engine and the configuration of the interview came out as it was held."""
    if run.was_held or run.name != held.engine:
        return False
    return [(step.after, step.text) for step in steps(held)] == [(step.after, step.text) for step in steps(run)]


def _verdict(those: Sequence[Step | None]) -> Verdict:
    there = [step for step in those if step is not None]
    if len({step.text for step in there}) == 1 and len(there) > 1:
        return "same"
    if len(there) < 2:
        return "same" if len(those) < 2 else "alone"
    if not any(step.strategy or step.kind == "closing" for step in there):
        return "replies"
    if len({step.kind in ("closing", "closing_question") for step in there}) > 1:
        return "end"
    if len({step.choice for step in there}) == 1:
        return "wording"
    return "strategy" if len({step.about.casefold() for step in there}) == 1 else "subject"


def difference(moment: Moment, names: Sequence[str]) -> str:
    """In which way the runs differ after a message, as sentences."""
    over = [name for name, step in zip(names, moment.said, strict=True) if step is None]
    ending = f" Over before: {listed(over)}." if over else ""
    match moment.verdict:
        case "same":
            return f"{'All' if not over else 'The others'} say the same.{ending}".strip()
        case "replies":
            return f"All reply to what was heard; no engine decides here.{ending}"
        case "wording":
            return f"The same choice in other words.{ending}"
        case "alone":
            return ending.strip()
    clauses: dict[str, tuple[Step, list[str]]] = {}
    for name, step in zip(names, moment.said, strict=True):
        if step is not None:
            clauses.setdefault(_does(step), (step, []))[1].append(name)
    told = [f"{listed(those)} {_does(step, many=len(those) > 1)}" for step, those in clauses.values()]
    if moment.verdict == "strategy":
        return f"About the same, asked for in different ways.{ending}"
    return f"{'; '.join(told)}.{ending}"


def _does(step: Step, *, many: bool = False) -> str:
    """What one run does, or several, as a predicate."""
    s = "" if many else "s"
    if step.kind == "closing":
        return f"end{s} the interview"
    if step.kind == "closing_question":
        return f"ask{s} the closing question"
    if not step.strategy:
        return ("reply" if many else "replies") if step.kind == "reply" else f"ask{s} the same once more"
    about = f"about “{step.about}”" if step.about else "about nothing in particular"
    return f"ask{s} {about}"


def explained(moment: Moment, names: Sequence[str]) -> Iterator[Said]:
    """What was said in a moment: by whom, and why, where the reasons differ by whom too."""
    for places in moment.groups():
        reasons: dict[tuple[str, str, str], list[str]] = {}
        for at in places:
            step = moment.said[at]
            assert step is not None
            reasons.setdefault((step.strategy, step.about, step.why), []).append(names[at])
        step = moment.said[places[0]]
        assert step is not None
        yield Said(
            who=listed([names[at] for at in places]),
            text=step.text,
            choices=tuple(
                Choice(listed(those) if len(reasons) > 1 else "", strategy, about, why)
                for (strategy, about, why), those in reasons.items()
            ),
        )
