"""Stage `scoring`: the record of the turn, from which its decision can be checked."""

from __future__ import annotations

from typing import ClassVar

from pipeline.context import TurnContext
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    Contract,
    ExtractionOutput,
    GraphOutput,
    QuestionMaking,
    QuestionOutput,
    RatingOutput,
    ResponseOutput,
    ScoringOutput,
    StateOutput,
    StoredInputs,
    StrategyOutput,
    TurnRecord,
)
from pipeline.engines.base import CandidateScores, Decision, ScoredCandidate, as_asked
from pipeline.focus import Target
from pipeline.graph.surface import GUESSED
from pipeline.state import FocusEntry


class ScoringStage:
    """Collects decision, decomposition, signals and ratings into one record."""

    name: ClassVar[str] = "scoring"
    requires: ClassVar[tuple[type[Contract], ...]] = (
        ContextOutput,
        ExtractionOutput,
        GraphOutput,
        RatingOutput,
        StateOutput,
        StrategyOutput,
        ContinuationOutput,
        QuestionOutput,
        ResponseOutput,
    )
    provides: ClassVar[type[Contract]] = ScoringOutput

    async def run(self, context: TurnContext) -> ScoringOutput:
        """The turn's record; `stages_ms` has the stages before this one."""
        start = context.get(ContextOutput)
        measured = context.get(StateOutput)
        chosen = context.get(StrategyOutput)
        going = context.get(ContinuationOutput)
        asked = context.get(QuestionOutput)
        decision = chosen.decision
        focus = going.focus
        depth = measured.graph_state.max_depth_ratio
        saturation = chosen.signals.values.get("meta.conversation.saturation")
        saturation_score = float(saturation) if isinstance(saturation, int | float) else None
        record = TurnRecord(
            turn_number=start.turn_number,
            turn_key=context.answer.turn_key,
            recorded_at=context.now,
            strategy=going.strategy,
            node_key=focus.key if focus else None,
            node_id=focus.node_id if focus else None,
            phase=chosen.phase,
            depth_score=depth,
            saturation_score=saturation_score,
            has_methodology_signals=bool(chosen.signals.values),
            should_continue=going.should_continue,
            reason=_why(going, decision),
            signals=chosen.signals,
            candidates=_candidates(going, decision),
            candidate_count=decision.candidate_count if decision else 0,
            target=focus.target if focus else None,
            tactic=_tactic(going, decision),
            scores=decision.scores if decision else CandidateScores(),
            inputs=_stored_inputs(context),
            ratings=context.get(RatingOutput).rating,
            saturation=measured.saturation,
            stages_ms=dict(context.stages_ms),
            fallback=asked.fallback,
            question=_making(asked),
            fallbacks=_fallbacks(context),
            directive=chosen.directive,
        )
        entry = None
        if going.strategy is not None:
            entry = FocusEntry(
                turn=start.turn_number,
                node_id=(focus.node_id if focus else None) or "",
                label=going.subject,
                strategy=going.strategy,
                key=(focus.key if focus else None) or "",
                target=focus.target if focus else None,
            )
        return ScoringOutput(
            focus_entry=entry,
            record=record,
        )


def _target(going: ContinuationOutput) -> Target | None:
    return going.focus.target if going.focus is not None else None


def _stands(going: ContinuationOutput, decision: Decision) -> bool:
    """Whether what the engine chose is asked."""
    about, chosen = _target(going), decision.target
    same = about is chosen is None or bool(about and chosen and (about.kind, about.ids) == (chosen.kind, chosen.ids))
    return going.strategy == decision.strategy and same


def _overruled(going: ContinuationOutput, decision: Decision) -> bool:
    """Whether a rule has something else asked than the engine chose; whoever writes overrules nothing."""
    return bool(going.because or going.reason) and not _stands(going, decision)


def _why(going: ContinuationOutput, decision: Decision | None) -> str:
    """Why the question is asked, and why the interview ends where it does."""
    if decision is None or _overruled(going, decision):
        return going.because or going.reason
    if not _stands(going, decision):
        return f"the writer took it among what scored nearly as well as the choice: {decision.reason}"
    return ": ".join(part for part in (going.reason, decision.reason) if part)


def _candidates(going: ContinuationOutput, decision: Decision | None) -> tuple[ScoredCandidate, ...]:
    """The candidates with what was asked selected, where a rule had it asked; the engine's choice otherwise."""
    if decision is None:
        return ()
    found = decision.candidates
    return as_asked(found, going.strategy, _target(going)) if _overruled(going, decision) else found


def _tactic(going: ContinuationOutput, decision: Decision | None) -> str:
    """How it is asked: the tactic of the candidate that was taken; none where a rule has something else asked."""
    if decision is None or _overruled(going, decision):
        return ""
    if _stands(going, decision):
        return decision.tactic
    taken = as_asked(decision.candidates, going.strategy, _target(going))
    return next((candidate.tactic for candidate in taken if candidate.selected), "")


def _making(asked: QuestionOutput) -> QuestionMaking:
    return QuestionMaking(
        writer=asked.provider,
        attempts=asked.attempts,
        refusals=asked.reasons,
        worth=asked.worth,
        offers=asked.offers,
        taken=asked.taken,
        said=asked.said,
        own=asked.own,
    )


def _stored_inputs(context: TurnContext) -> StoredInputs:
    """What the decision of this turn rested on besides its signals; nothing where nothing was decided."""
    if context.get(StrategyOutput).decision is None:
        return StoredInputs()
    state, measured = context.state, context.get(StateOutput)
    graph = context.get(GraphOutput).graph
    nodes, edges, place = list(graph.live_nodes()), graph.live_edges(), graph.nodes
    return StoredInputs(
        max_turns=state.max_turns,
        nodes=tuple(node.sequence for node in nodes),
        weights=tuple((n.mention_count, n.last_mention_turn, n.salience, n.emotion) for n in nodes),
        edges=tuple(edge.sequence for edge in edges),
        ends=tuple((place[e.source_id].sequence, place[e.target_id].sequence, e.basis == GUESSED) for e in edges),
        tensions=len(graph.tensions),
        rated=len(measured.qualities),
        coverage=measured.coverage,
        momentum=measured.momentum,
        threads=context.get(StrategyOutput).threads,
        topic=context.get(StrategyOutput).topic,
        topics_open=context.get(StrategyOutput).topics_open,
        step=context.get(StrategyOutput).step,
        engine_state=state.engine_state,
        closeness={text: tuple(found) for text, found in context.get(StrategyOutput).closeness.items()},
    )


def _fallbacks(context: TurnContext) -> tuple[str, ...]:
    """The tasks of this turn that a fallback provider did."""
    rating = context.get(RatingOutput).rating
    done = {
        "extraction": context.get(ExtractionOutput).extraction.fallback,
        "rating": rating is not None and rating.fallback,
        "question": context.get(QuestionOutput).by_second,
    }
    return tuple(task for task, fell_back in done.items() if fell_back)
