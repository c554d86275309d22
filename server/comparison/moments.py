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

Verdict = Literal["same", "wording", "strategy", "subject", "end", "alone"]
VERDICTS: dict[Verdict, str] = {
    "same": "All say the same.",
    "wording": "The same choice in other words.",
    "strategy": "About the same, asked for in different ways.",
    "subject": "About different things.",
    "end": "One goes on where another closes.",
    "alone": "Only one is still asking.",
}
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

    def groups(self) -> Iterator[tuple[tuple[int, ...], Step]]:
        """The places of the runs that said the same for the same reason, with what they said."""
        found: dict[tuple[str, str], list[int]] = {}
        first: dict[tuple[str, str], Step] = {}
        for at, step in enumerate(self.said):
            if step is not None:
                found.setdefault((step.text, step.why), []).append(at)
                first.setdefault((step.text, step.why), step)
        yield from ((tuple(places), first[key]) for key, places in found.items())


@dataclass(frozen=True)
class Comparison:
    """Runs over the same answers.

    Attributes:
        title: of the recording.
        opening: what the first run opened with.
        runs, figures: in the same order; the interview as it was held first, where there is one.
        moments: one per message.
        notes: what should be known, in sentences.
    """

    title: str
    opening: str
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
    """The runs side by side.

    Args:
        recording: whose answers were played.
        runs: at least one.
        notes: more that should be known.
    """
    said = [{step.after: step for step in steps(run)} for run in runs]
    moments = []
    for after, message in enumerate(recording.messages, start=1):
        those = tuple(of.get(after) for of in said)
        if any(step is not None for step in those):
            moments.append(Moment(after, message, those, _verdict(those)))
    opening = next((of[0].text for of in said if 0 in of), "")
    return Comparison(
        title=recording.title,
        opening=opening,
        runs=tuple(runs),
        figures=tuple(measured(run) for run in runs),
        moments=tuple(moments),
        notes=(*recording.notes, PROPOSED, *notes),
    )


def _verdict(those: Sequence[Step | None]) -> Verdict:
    there = [step for step in those if step is not None]
    if len({step.text for step in there}) == 1 and len(there) > 1:
        return "same"
    if len(there) < 2:
        return "same" if len(those) < 2 else "alone"
    if len({step.kind in ("closing", "closing_question") for step in there}) > 1:
        return "end"
    if len({step.choice for step in there}) == 1:
        return "wording"
    return "strategy" if len({step.about.casefold() for step in there}) == 1 else "subject"


def explained(moment: Moment, names: Sequence[str]) -> Iterator[tuple[str, Step]]:
    """Who said what in a moment: the names of those that said the same, with it."""
    for places, step in moment.groups():
        yield listed([names[at] for at in places]), step
