"""What an interviewer said after each message, what it was about, and why, as a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pipeline.continuing import CLOSING_STRATEGY
from pipeline.contracts import TurnRecord
from pipeline.engines.base import PHASE, ScoredCandidate, Term
from pipeline.stages.continuation import CLOSING_ANSWERED, MAXIMUM_TURNS
from pipeline.state import Utterance, UtteranceKind
from server.comparison.phrases import in_words, listed, phrase
from server.comparison.playing import Run

NAMED = 3
"""Reasons that a sentence names at most."""
MOVES = 1e-9
"""A term that moves a score by less says nothing."""
ENDS = {
    CLOSING_STRATEGY: "it had chosen to close",
    CLOSING_ANSWERED: "the closing question was answered",
    MAXIMUM_TURNS: "the turns are used",
}
"""What the pipeline writes down as reasons to end, as clauses."""
PROBING: frozenset[UtteranceKind] = frozenset({"question", "closing_question"})


@dataclass(frozen=True)
class Step:
    """What was said after a message.

    Attributes:
        after: the number of the message, counted from 1; 0 for the opening.
        kind: what it is: a question, a reply, a closing question, the thanks at the end.
        text: as it was said.
        strategy, about: what it was asked for; empty where no strategy was followed, and about nothing in particular.
        why: a sentence.
    """

    after: int
    kind: UtteranceKind
    text: str
    strategy: str = ""
    about: str = ""
    why: str = ""

    @property
    def asks(self) -> bool:
        """Whether it is a question that was decided on."""
        return self.kind in PROBING

    @property
    def choice(self) -> tuple[str, str]:
        """Strategy and subject, for telling whether two steps are the same choice."""
        return self.strategy, self.about.casefold()


def steps(run: Run) -> tuple[Step, ...]:
    """What was said after each message, oldest first; the last thing that was, where there was more."""
    records = {record.turn_number: record for record in run.records}
    labels = {entry.turn: entry.label for entry in run.state.focus_history}
    found: dict[int, Step] = {}
    answered = 0
    for utterance in run.state.utterances:
        if utterance.speaker == "respondent":
            answered += 1
        else:
            found[answered] = _step(run, utterance, answered, records, labels)
    return tuple(found[after] for after in sorted(found))


def _step(run: Run, said: Utterance, after: int, records: Mapping[int, TurnRecord], labels: Mapping[int, str]) -> Step:
    if said.kind not in PROBING or said.strategy is None:
        why = _without_choice(run, said)
        return Step(after, said.kind, said.text, why=why)
    record = records.get(said.turn_number)
    about = labels.get(said.turn_number, "")
    why = sentence(record, about) if record is not None else ""
    return Step(after, said.kind, said.text, said.strategy or "", about, why)


def _without_choice(run: Run, said: Utterance) -> str:
    """Why something was said that no engine chose."""
    if said.kind == "closing":
        return f"Ended: {ended(run)}."
    if said.replies_to == "dont_know":
        return "The same once more, made easier, because the respondent did not know."
    if said.replies_to is not None:
        heard = phrase(f"mod.heard.{said.replies_to}") or in_words(said.replies_to)
        return f"A reply to what was heard: {heard}."
    return "Said again in other words." if said.kind == "rephrase" else ""


def ended(run: Run) -> str:
    """Why an interview ended, in words."""
    return reason_in_words(run.state.status_reason) or "it was over"


def reason_in_words(reason: str) -> str:
    """Why an interview ends, as a clause."""
    if reason in ENDS:
        return ENDS[reason]
    told = phrase(f"mod.reason.{reason}") or in_words(reason)
    return f"{told[:1].lower()}{told[1:]}".rstrip(".")


def sentence(record: TurnRecord, about: str) -> str:
    """Why the question of a turn was asked, in the words of the moderator's page."""
    wish = record.directive
    if wish is not None:
        return "A moderator asked it." if wish.kind == "inject" else "A moderator asked for it."
    chosen = asked(record)
    strategy = in_words(record.strategy or "")
    subject = phrase("mod.why.about", focus=about) if about else ""
    if chosen is None:
        return f"Asked ({strategy}{subject}) because {_demanded(record)}."
    told = list(dict.fromkeys(filter(None, map(_clause, speaking(chosen)))))
    taken = "" if chosen.selected else " The engine had proposed something else; the writer of the question took this."
    if not told:
        return phrase("mod.why.nothing", strategy=f"{strategy}{subject}") + taken
    return phrase("mod.why", strategy=f"{strategy}{subject}", reasons=listed(told)) + taken


def asked(record: TurnRecord) -> ScoredCandidate | None:
    """The candidate that was asked about: the engine's choice, or the one that the writer took.

    None where something was asked that was no candidate.
    """
    ids = record.target.ids if record.target is not None else ()
    those = [candidate for candidate in record.candidates if candidate.strategy == record.strategy]
    about = [one for one in those if (one.target.ids if one.target is not None else ()) == ids]
    return next((one for one in about if one.selected), about[0] if about else None)


def speaking(candidate: ScoredCandidate) -> list[Term]:
    """What spoke for a candidate, the strongest first."""
    terms = [term for term in candidate.terms if term.kind != "veto" and _gain(term) > MOVES]
    return sorted(terms, key=_gain, reverse=True)[:NAMED]


def _gain(term: Term) -> float:
    """What a term did for its candidate.

    What a signal added, what a scorer added beyond neutral, how a factor moved the rest.
    """
    if term.kind == "multiplied":
        return math.log(term.amount) if term.amount > 0 else -math.inf
    if term.kind == "weighted" and term.signal is None:
        return term.amount - (term.weight if term.weight is not None else term.amount)
    return term.amount


def _clause(term: Term) -> str:
    """One reason: in the words of the engine, else in those of the page."""
    if term.reason and term.name != PHASE:
        return term.reason
    return phrase(f"mod.why.{term.name}")


def _demanded(record: TurnRecord) -> str:
    """Why something was asked that the engine did not propose."""
    if not record.should_continue:
        return f"it is time to close: {reason_in_words(record.reason)}"
    if record.target is not None and record.target.kind in ("topic", "element"):
        return "the concept demands it before the interview may close"
    return "of a rule of the interview, not of the engine"


def spread(run: Run) -> Iterator[tuple[str, int]]:
    """The strategies that were followed, each with how often, the most frequent first."""
    counts: dict[str, int] = {}
    for step in steps(run):
        if step.asks and step.strategy:
            counts[step.strategy] = counts.get(step.strategy, 0) + 1
    yield from sorted(counts.items(), key=lambda item: (-item[1], item[0]))
