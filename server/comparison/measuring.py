"""What an interview came to, in figures that can be put side by side: length, choices, coverage, depth, repetition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pipeline.coverage import gaps_of
from pipeline.graph.metrics import measure
from pipeline.question.text import jaccard, word_count
from server.comparison.phrases import in_words
from server.comparison.playing import Run
from server.comparison.recording import counted
from server.comparison.steps import Step, ended, spread, steps
from server.simulation.scoring import SAME_QUESTION

ROWS: Mapping[str, str] = {
    "answers taken": "messages of the respondent that were used, of those that there are",
    "end": "how the interview ended, or that it would go on where the record ends",
    "words per question": "mean length of its questions, openings and replies left out",
    "asked the same": "answers that were given to the very question that this run asked; the others were given to "
    "another one",
    "strategies": "how often each strategy was followed",
    "subjects": "different things that it asked about",
    "guide": "topics of the guide that were spoken of, and those that it asked for without one",
    "elements": "elements of the concept that were spoken of, and those that nothing is missing of",
    "highest level": "of a concept that was understood, of the levels that the method has",
    "longest chain": "concepts in a row, joined by links that were stated or answered",
    "longest thread": "concepts of the ladder or story line that was followed furthest",
    "concepts, links": "that were understood; guessed links left out",
    "repeated questions": "questions with nearly the words of an earlier one",
    "same strategy in a row": "questions at the most",
}
"""The figures, with what they mean."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Length": ("answers taken", "end", "words per question"),
    "Choices": ("asked the same", "strategies", "subjects", "same strategy in a row"),
    "Coverage": ("guide", "elements"),
    "Depth": ("highest level", "longest chain", "longest thread", "concepts, links"),
    "Repetition": ("repeated questions",),
}
"""Under which headings they stand, in their order."""


@dataclass(frozen=True)
class Figures:
    """The figures of one run; None where there is nothing of the kind.

    Attributes:
        taken, given: messages used, and those that there were.
        end: in words.
        closed: whether it ended, by itself or by the respondent.
        words: per question, None without one.
        fitting: answers to the very question that was asked; None for the interview as held, and where nobody knows.
        asked: questions that were decided on.
        strategies: each with how often.
        subjects: different ones.
        guide, guide_spoken, guide_asked: topics; those spoken of; those asked for that nothing was told of.
        elements, elements_spoken, elements_whole: elements; those spoken of; those without a gap.
        level, levels, level_types: the highest level reached, of how many, and the types that are there; 0 without.
        chain, thread: in concepts.
        concepts, links: that were understood.
        repeated: questions nearly like an earlier one.
        in_a_row: questions of the same strategy.
    """

    taken: int
    given: int
    end: str
    closed: bool
    words: float | None
    fitting: int | None
    asked: int
    strategies: tuple[tuple[str, int], ...]
    subjects: int
    guide: int
    guide_spoken: int
    guide_asked: int
    elements: int
    elements_spoken: int
    elements_whole: int
    level: int
    levels: int
    level_types: tuple[str, ...]
    chain: int
    thread: int
    concepts: int
    links: int
    repeated: int
    in_a_row: int

    def shown(self) -> dict[str, str]:
        """The figures as text, by the names of ROWS; empty where there is nothing of the kind."""
        repeated = f"{self.repeated} of {self.asked}" + (
            f" ({100 * self.repeated / self.asked:.0f} %)" if self.repeated else ""
        )
        guide = f"{self.guide_spoken} of {self.guide}" + (f", {self.guide_asked} asked for" if self.guide_asked else "")
        types = f" ({', '.join(map(in_words, self.level_types))})" if self.level else ""
        return {
            "answers taken": f"{self.taken} of {self.given}",
            "end": self.end,
            "words per question": f"{self.words:.1f}" if self.words is not None else "",
            "asked the same": f"{self.fitting} of {self.taken}" if self.fitting is not None else "",
            "strategies": ", ".join(f"{in_words(name)} {count}" for name, count in self.strategies),
            "subjects": str(self.subjects),
            "guide": guide if self.guide else "",
            "elements": f"{self.elements_spoken} of {self.elements}, {self.elements_whole} whole"
            if self.elements
            else "",
            "highest level": f"{self.level} of {self.levels}{types}" if self.levels else "",
            "longest chain": str(self.chain),
            "longest thread": str(self.thread),
            "concepts, links": f"{self.concepts}, {self.links}",
            "repeated questions": repeated if self.asked else "",
            "same strategy in a row": str(self.in_a_row),
        }


def measured(run: Run) -> Figures:
    """The figures of a run."""
    state, configuration = run.state, run.configuration
    ontology = configuration.methodology.ontology
    said = steps(run)
    asked = [step for step in said if step.asks]
    taken = sum(utterance.speaker == "respondent" for utterance in state.utterances)
    graph = state.surface_graph()
    found = measure(graph, ontology)
    levels = {node.name: node.level for node in ontology.nodes if node.level > 0}
    reached = {levels[node.node_type]: node.node_type for node in graph.live_nodes() if node.node_type in levels}
    level = max(reached, default=0)
    types = {node.node_type for node in graph.live_nodes() if levels.get(node.node_type) == level}
    elements = configuration.concept.elements
    gaps = gaps_of(state.coverage, elements, graph) if elements else {}
    spoken = {entry.element_id for entry in state.coverage if entry.mentioned}
    counts = [word_count(step.text) for step in asked]
    return Figures(
        taken=taken,
        given=len(run.given),
        end=_end(run),
        closed=state.status == "completed" or state.conduct.stopping_until is not None,
        words=sum(counts) / len(counts) if counts else None,
        fitting=_fitting(run, said),
        asked=len(asked),
        strategies=tuple(spread(run)),
        subjects=len({step.about.casefold() for step in asked if step.about}),
        guide=len(state.guide),
        guide_spoken=sum(topic.status == "covered" for topic in state.guide),
        guide_asked=sum(topic.status == "asked" for topic in state.guide),
        elements=len(elements),
        elements_spoken=sum(element.id in spoken for element in elements),
        elements_whole=sum(element.id in spoken and not gaps.get(element.id) for element in elements),
        level=level,
        levels=max(levels.values(), default=0) if len(set(levels.values())) > 1 else 0,
        level_types=tuple(sorted(types)) if level else (),
        chain=found.max_depth,
        thread=max((len(thread.node_ids) for thread in state.threads), default=0),
        concepts=found.node_count,
        links=len(graph.firm_edges()),
        repeated=_repeated(asked),
        in_a_row=max((len(list(row)) for _, row in groupby(step.strategy for step in asked)), default=0),
    )


def _end(run: Run) -> str:
    state = run.state
    if state.conduct.stopping_until is not None or state.status_reason == "stopped_by_respondent":
        return "the respondent stopped"
    taken = sum(utterance.speaker == "respondent" for utterance in state.utterances)
    if state.status == "completed":
        return f"closed after {counted(taken, 'answer')}: {ended(run)}"
    if state.status == "closing":
        return f"asks the closing question after {counted(taken, 'answer')}"
    if run.was_held:
        return f"not over ({state.status})"
    return f"would go on after {counted(taken, 'answer')}"


def _fitting(run: Run, said: Sequence[Step]) -> int | None:
    """How many messages were given to what this run had said; None where that is all or nobody knows."""
    if run.was_held or not any(message.question for message in run.given):
        return None
    texts = {step.after: step.text for step in said}
    taken = sum(utterance.speaker == "respondent" for utterance in run.state.utterances)
    return sum(texts.get(at) == message.question for at, message in enumerate(run.given[:taken]))


def _repeated(asked: Sequence[Step]) -> int:
    """Questions that are nearly the words of an earlier one."""
    return sum(
        any(jaccard(one.text, other.text) >= SAME_QUESTION for other in asked[:at]) for at, one in enumerate(asked)
    )
