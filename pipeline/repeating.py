"""What a stored decision rested on, so that it can be made again, and how that differs from what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from pipeline.concept import SessionConfiguration, demands_of
from pipeline.contracts import TurnRecord
from pipeline.engines.base import (
    CandidateScores,
    Decision,
    DecisionEngine,
    DecisionInputs,
    ScoredCandidate,
    Term,
    as_asked,
)
from pipeline.focus import Target
from pipeline.graph.surface import GUESSED, KGEdge, KGNode, SurfaceGraph
from pipeline.signals.base import SignalMatrix
from pipeline.state import FocusEntry, InterviewState, Utterance, answered, asked_texts
from pipeline.strategies import Strategies

REMOVED = "removed"
"""Type of a relation that a correction removed after the decision; which one it had is not known any more."""
SAME_DIGITS = 9
"""Numbers that agree in so many digits behind the point are the same; engines compare scores no finer."""

Value = float | str | bool | None


@dataclass(frozen=True)
class Difference:
    """Where a decision that was made again differs from the stored one.

    Attributes:
        turn: of the answer after which it was made.
        candidate: which candidate, in words; empty where it is about the decision as a whole.
        what: which of its values: the name of a term with the part of it that differs, or `score`, `rank` and so on.
        stored, again: the two values; None where one side has no such thing.
    """

    turn: int
    candidate: str
    what: str
    stored: Value
    again: Value


def is_repeatable(record: TurnRecord) -> bool:
    """Whether a decision was made in that turn and all that it rested on was stored with it."""
    return bool(record.candidates) and record.inputs.max_turns > 0


def made_again(
    state: InterviewState, record: TurnRecord, configuration: SessionConfiguration, engine: DecisionEngine
) -> Decision:
    """The decision of a turn from what was stored of it; arguments as for `inputs_of`."""
    return engine.decide(inputs_of(state, record, configuration, engine.strategies(configuration)))


def differences(record: TurnRecord, decision: Decision) -> Iterator[Difference]:
    """How a decision that was made again differs from the stored one, what causes a difference before what follows.

    First the terms and scores of every candidate whose terms are stored, then their order, then the scores of all
    candidates and their number, and the phase. Reasons are words and are not compared.
    """
    turn = record.turn_number
    candidates = decision.candidates
    if not any(candidate.selected and _key(candidate)[:2] == _asked(record) for candidate in candidates):
        # A rule had something else asked than the engine chose; the record marks that.
        marked = as_asked(candidates, record.strategy, record.target)
        overruled = [one.selected for one in record.candidates] == [one.selected for one in marked]
        candidates = marked if overruled else candidates
    again = {_key(candidate): candidate for candidate in candidates}
    for stored in record.candidates:
        found = again.get(_key(stored))
        if found is not None:
            yield from _of_candidate(turn, stored, found)
    for rank, (one, other) in enumerate(zip_longest(record.candidates, candidates), start=1):
        if one is None or other is None or _key(one) != _key(other):
            yield Difference(turn, f"rank {rank}", "candidate", _named(one), _named(other))
        elif one.selected != other.selected:
            yield Difference(turn, _named(one) or "", "chosen", one.selected, other.selected)
    yield from _of_scores(turn, record.scores, decision.scores)
    if record.candidate_count != decision.candidate_count:
        yield Difference(turn, "", "number of candidates", record.candidate_count, decision.candidate_count)
    if record.phase != decision.phase:
        yield Difference(turn, "", "phase", record.phase, decision.phase)


def _asked(record: TurnRecord) -> tuple[str | None, tuple[str, ...]]:
    """What was asked, as the key of a candidate has it."""
    return record.strategy, record.target.ids if record.target is not None else ()


def _key(candidate: ScoredCandidate) -> tuple[str, tuple[str, ...], str]:
    return candidate.strategy, candidate.target.ids if candidate.target is not None else (), candidate.tactic


def _named(candidate: ScoredCandidate | None) -> str | None:
    if candidate is None:
        return None
    how = f"{candidate.strategy} ({candidate.tactic})" if candidate.tactic else candidate.strategy
    return f"{how} about “{candidate.target.label}”" if candidate.target is not None else how


def _of_candidate(turn: int, stored: ScoredCandidate, again: ScoredCandidate) -> Iterator[Difference]:
    name = _named(stored) or ""
    others = {(term.kind, term.name): term for term in again.terms}
    for term in stored.terms:
        other = others.pop((term.kind, term.name), None)
        if other is None:
            yield Difference(turn, name, term.name, _told(term), None)
            continue
        for part in ("value", "weight", "amount"):
            one, two = getattr(term, part), getattr(other, part)
            if not _same(one, two):
                yield Difference(turn, name, f"{term.name}, {part}", one, two)
    yield from (Difference(turn, name, term.name, None, _told(term)) for term in others.values())
    if not _same(stored.final_score, again.final_score):
        yield Difference(turn, name, "score", stored.final_score, again.final_score)


def _told(term: Term) -> Value:
    return "veto" if term.kind == "veto" else term.amount


def _of_scores(turn: int, stored: CandidateScores, again: CandidateScores) -> Iterator[Difference]:
    """The scores of all candidates, by strategy and position."""
    one, other = dict(_listed(stored)), dict(_listed(again))
    for name in dict.fromkeys((*one, *other)):
        if name not in one or name not in other or not _same(one[name], other[name]):
            yield Difference(turn, name, "score among all", one.get(name), other.get(name))


def _listed(scores: CandidateScores) -> Iterable[tuple[str, Value]]:
    for strategy, column in scores.of_nodes.items():
        yield from ((f"{strategy} about node {at} of the signals", score) for at, score in enumerate(column, start=1))
    for at, (strategy, ids, score) in enumerate(scores.of_others, start=1):
        yield f"{strategy} about {', '.join(ids) or 'nothing in particular'} (number {at})", score


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or isinstance(one, str) or isinstance(other, str):
        return one == other
    if one is None or other is None:
        return one is other
    return round(one - other, SAME_DIGITS) == 0


def inputs_of(
    state: InterviewState, record: TurnRecord, configuration: SessionConfiguration, strategies: Strategies
) -> DecisionInputs:
    """The inputs of the decision of one turn.

    Nodes are as they weighed then but for what no decision reads: a confidence that a later mention raised. The order
    of mentions is in the signals.

    Args:
        state: of the session after that turn or any later one.
        record: of the turn.
        configuration, strategies: of the session and its engine.
    """
    turn, stored, wish = record.turn_number, record.inputs, record.directive
    key = wish.node_key if wish is not None else None
    return DecisionInputs(
        methodology=configuration.methodology,
        signals=record.signals if record.signals is not None else SignalMatrix(),
        strategies=strategies,
        strategy=wish.strategy if wish is not None else None,
        target=Target.node(key, "") if key is not None else None,
        graph=_graph_at(state, record),
        questions=_questions_before(state, record),
        question_texts=asked_texts(_said_before(state, turn)),
        elements=configuration.concept.elements,
        coverage=stored.coverage,
        tensions=state.tensions[: stored.tensions],
        momentum=stored.momentum,
        qualitative=state.qualities[: stored.rated],
        threads=stored.threads,
        topic=stored.topic,
        topics_open=stored.topics_open,
        step=stored.step,
        settings=configuration.settings,
        engine_file=configuration.engine_file,
        subject=configuration.concept.name,
        demands=demands_of(configuration.concept, state.language),
        language=state.language,
        answers=answered(state.utterances, turn),
        closeness=stored.closeness,
        turn_count=turn,
        max_turns=stored.max_turns,
        engine_state=stored.engine_state,
    )


def _questions_before(state: InterviewState, record: TurnRecord) -> tuple[FocusEntry, ...]:
    """What had been asked about when the decision was made: not what that turn itself asked about.

    A reply that asks about something else has the number of the turn that is still to come.
    """
    until = [entry for entry in state.focus_history if entry.turn <= record.turn_number]
    own = record.strategy is not None and bool(until) and until[-1].turn == record.turn_number
    return tuple(until[:-1] if own else until)


def _said_before(state: InterviewState, turn: int) -> tuple[Utterance, ...]:
    """All that was said before the answer of that turn; messages before it that used no turn have its number, too."""
    of_turn = [
        at for at, said in enumerate(state.utterances) if said.speaker == "respondent" and said.turn_number == turn
    ]
    return state.utterances[: of_turn[-1]] if of_turn else state.utterances


def _graph_at(state: InterviewState, record: TurnRecord) -> SurfaceGraph:
    """The graph that the decision saw: its concepts as they weighed then, with the relations that there were."""
    turn_of = {utterance.id: utterance.turn_number for utterance in state.utterances}
    stored, then = record.inputs, record.turn_number
    live = set(stored.nodes)
    weights = dict(zip(stored.nodes, stored.weights, strict=False))
    nodes = [
        _node_at(node, then, turn_of, weights.get(node.sequence), live=node.sequence in live)
        for node in state.nodes
        if node.created_turn <= then
    ]
    return SurfaceGraph(nodes, _edges_at(state, record), state.tensions[: stored.tensions])


def _edges_at(state: InterviewState, record: TurnRecord) -> Iterator[KGEdge]:
    """The relations that counted then, those as well that a correction removed later."""
    known = {edge.sequence: edge for edge in state.edges}
    id_of = {node.sequence: node.id for node in state.nodes}
    ends = dict(zip(record.inputs.edges, record.inputs.ends, strict=False))
    for sequence in record.inputs.edges:
        edge, found = known.get(sequence), ends.get(sequence)
        if found is None:
            if edge is not None:
                yield edge
            continue
        source, target, inferred = found
        if edge is None:
            edge = KGEdge(
                id=f"{REMOVED}{sequence}",
                source_id=id_of[source],
                target_id=id_of[target],
                edge_type=REMOVED,
                mentions=(),
                confidence=0.0,
                created_turn=record.turn_number,
                sequence=sequence,
            )
        was_firm = "unrecorded" if edge.basis == GUESSED else edge.basis
        yield edge.model_copy(update={"basis": GUESSED if inferred else was_firm})


def _node_at(
    node: KGNode,
    turn: int,
    turn_of: Mapping[str, int],
    weight: tuple[int, int, int | None, int | None] | None,
    *,
    live: bool,
) -> KGNode:
    """A concept as it was: by what was stored of it, else by its mentions, which a correction may have taken away."""
    mentions = tuple(mention for mention in node.mentions if turn_of.get(mention.utterance_id, 0) <= turn)
    spoken = {turn_of.get(mention.utterance_id, node.created_turn) for mention in mentions}
    count, latest = max(1, len(spoken)), max(spoken, default=node.created_turn)
    salience, emotion = node.salience, node.emotion
    if weight is not None:
        count, latest, salience, emotion = weight
    return node.model_copy(
        update={
            "mentions": mentions,
            "mention_count": count,
            "last_mention_turn": latest,
            "salience": salience,
            "emotion": emotion,
            "superseded_by": None if live else node.superseded_by or node.id,
        }
    )
