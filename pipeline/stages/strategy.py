"""Stage `strategy`: detects signals and chooses strategy and node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pipeline.acts import UNASKED, Act
from pipeline.concept import demands_of
from pipeline.conduct.handing_over import handed_over
from pipeline.conduct.moment import moment_of, move_of
from pipeline.conduct.move import Move
from pipeline.conduct.moves import move_for
from pipeline.context import TurnContext
from pipeline.contracts import (
    ContextOutput,
    Contract,
    GraphOutput,
    RatingOutput,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
    UtteranceOutput,
)
from pipeline.engines.base import ConfiguredEngine, Decision, DecisionEngine, DecisionInputs, with_closeness
from pipeline.errors import PipelineMisbuilt
from pipeline.focus import Target
from pipeline.focusing import focus_of
from pipeline.graph.surface import SurfaceGraph
from pipeline.graph.tracker import Depth, NodeState, NodeStateTracker
from pipeline.grid.model import GridStep
from pipeline.grid.steps import next_step
from pipeline.guide import agenda_of
from pipeline.ports import ActiveSignal, Embedder
from pipeline.signals.base import SignalContext
from pipeline.signals.registry import SIGNALS, detect
from pipeline.state import AppliedDirective, answered, asked_texts
from pipeline.threads import Thread, judged

ACTIVE_SIGNALS = 5


_OF_THE_END: frozenset[Act] = frozenset(
    {"asks_interviewer", "asks_back", "complains", "corrects", "wants_topic", "declines", "dont_know", "aside"}
)
"""Acts that “Oh, are we stopping? I didn't mean that.” may be taken for."""


def _with_facts(context: TurnContext, move: Move, said: Sequence[str]) -> Move:
    """The same; with the fact of the study that is asked for beside what a language model answers itself."""
    acts = context.get(UtteranceOutput).utterance.acts
    asked = tuple(act for act in acts if act.act in ("tells", "asks_interviewer"))
    if move.text or move.then != "engine" or move.act == "asks_interviewer" or len(asked) == len(acts):
        return move
    moment = moment_of(context, asked)
    fact = move_for(moment) if moment is not None else None
    if fact is None or fact.act != "asks_interviewer":
        return move
    left = handed_over(replace(fact, then="engine"), asked, said)
    return replace(move, text=left.text, help=left.help)


def _move(context: TurnContext) -> Move | None:
    """What is done about the acts of the message; nothing about words by which somebody finds the end too early."""
    move = move_of(context)
    if move is not None and context.configuration.is_written_by_model:
        said = [utterance.text for utterance in context.state.utterances if utterance.speaker == "interviewer"]
        move = _with_facts(context, handed_over(move, context.get(UtteranceOutput).utterance.acts, said), said)
    if move is None or not context.get(ContextOutput).reopened or move.act not in _OF_THE_END:
        return move
    unasked = any(act.about == UNASKED for act in context.get(UtteranceOutput).utterance.acts)
    return move if unasked and move.then == "engine" else None


class StrategyStage:
    """Appends this answer's depth, detects every signal the methodology lists, asks the engine."""

    name: ClassVar[str] = "strategy"
    requires: ClassVar[tuple[type[Contract], ...]] = (
        ContextOutput,
        UtteranceOutput,
        RatingOutput,
        GraphOutput,
        SlotsOutput,
        StateOutput,
    )
    provides: ClassVar[type[Contract]] = StrategyOutput

    def __init__(self, engines: Mapping[str, DecisionEngine], embedder: Embedder) -> None:
        self._engines = engines
        self._embedder = embedder

    async def run(self, context: TurnContext) -> StrategyOutput:
        """The choice, with all signals."""
        start = context.get(ContextOutput)
        measured = context.get(StateOutput)
        if measured.computed_for_turn != start.turn_number:
            raise PipelineMisbuilt("the graph state is of another turn", stage=self.name)
        rated = context.get(RatingOutput).rated
        tracker = context.get(SlotsOutput).tracker.copy()
        depths = context.state.depths
        previous = tracker.previous_focus
        if rated is not None and not context.get(UtteranceOutput).utterance.is_fragment:
            depths = (*depths, rated.depth)
            if previous is not None and previous in tracker.states and not start.correcting:
                tracker.append_depth(previous, rated.depth)
        if context.get(UtteranceOutput).kind == "skip" and previous is not None:
            tracker.decline(previous)
        move = _move(context)
        if move is not None:
            tracker = _left(context, tracker, move)
            if move.act == "wants_topic" and move.declines_focus:
                tracker = _spared(context, tracker)
        methodology = context.configuration.methodology
        engine = self._engines[context.state.engine]
        graph = context.get(GraphOutput).graph
        canonical = context.get(SlotsOutput).canonical
        key_of = canonical.key_of if canonical is not None else _itself
        threads = judged(measured.threads, graph, tracker, key_of, methodology.ontology)
        step = _step(context)
        signals = self._signal_context(context, tracker, threads, step, depths)
        matrix = detect(signals, (*methodology.signal_names, *_needed(engine)))
        before = context.state.phase if isinstance(engine, ConfiguredEngine) else None
        undecided = StrategyOutput(None, matrix, tracker, depths, None, move=move, threads=threads)
        undecided = self._with_topics(context, replace(undecided, step=step, phase=before or matrix.phase))
        if move is not None and move.then != "engine":
            return undecided
        if start.turn_number >= start.max_turns or start.closing:
            return undecided
        directive = self._directive(context)
        if directive is not None and directive.kind == "inject":
            return replace(undecided, injected=directive.question, directive=directive)
        inputs = replace(self._inputs(context, undecided, directive), step=step)
        inputs = await with_closeness(engine, inputs, self._embedder)
        decision = engine.decide(inputs)
        return replace(
            undecided,
            decision=decision,
            phase=decision.phase,
            focus=focus_of(decision.target, tracker, graph, start.turn_number),
            active_signals=active_signals(decision),
            rationale=decision.reason,
            directive=directive,
            closeness=inputs.closeness,
        )

    def _with_topics(self, context: TurnContext, output: StrategyOutput) -> StrategyOutput:
        """The output with what of the guide has to be asked for."""
        agenda, guide = agenda_of(context.configuration, context.state.language), context.get(StateOutput).guide
        topic = agenda.next_target(guide, context.get(ContextOutput).turn_number)
        return replace(output, topic=topic, topics_open=agenda.to_ask(guide))

    def _inputs(
        self,
        context: TurnContext,
        measures: StrategyOutput,
        directive: AppliedDirective | None,
    ) -> DecisionInputs:
        measured = context.get(StateOutput)
        state, configuration = context.state, context.configuration
        graph = context.get(GraphOutput).graph
        key = directive.node_key if directive is not None else None
        return DecisionInputs(
            methodology=configuration.methodology,
            signals=measures.signals,
            strategies=context.strategies,
            strategy=directive.strategy if directive is not None else None,
            target=Target.node(key, "") if key is not None else None,
            graph=graph,
            questions=state.focus_history,
            question_texts=asked_texts(state.utterances),
            elements=configuration.concept.elements,
            coverage=measured.coverage,
            tensions=tuple(graph.tensions),
            momentum=measured.momentum,
            qualitative=measured.qualities,
            threads=measures.threads,
            topic=measures.topic,
            topics_open=measures.topics_open,
            settings=configuration.settings,
            engine_file=configuration.engine_file,
            subject=configuration.concept.name,
            demands=demands_of(configuration.concept, state.language),
            language=state.language,
            answers=answered((*state.utterances, context.get(UtteranceOutput).utterance)),
            turn_count=context.get(ContextOutput).turn_number,
            max_turns=state.max_turns,
            engine_state=state.engine_state,
        )

    def _signal_context(
        self,
        context: TurnContext,
        tracker: NodeStateTracker,
        threads: tuple[Thread, ...],
        step: GridStep | None,
        depths: tuple[Depth, ...],
    ) -> SignalContext:
        start = context.get(ContextOutput)
        changed = context.get(GraphOutput)
        slots = context.get(SlotsOutput)
        measured = context.get(StateOutput)
        rated = context.get(RatingOutput).rated
        candidates = _followable(tracker, changed.graph)
        agenda = agenda_of(context.configuration, context.state.language)
        return SignalContext(
            methodology=context.configuration.methodology,
            strategies=context.strategies,
            turn_number=start.turn_number,
            max_turns=start.max_turns,
            graph=changed.graph,
            canonical=slots.canonical,
            tracker=tracker,
            graph_state=measured.graph_state,
            canonical_state=measured.canonical_state,
            saturation=measured.saturation,
            rated=rated,
            depths=depths,
            strategy_history=start.strategy_history,
            surface_velocity=context.state.surface_velocity,
            canonical_velocity=context.state.canonical_velocity,
            new_nodes=slots.settled_nodes,
            new_slots=slots.settled_slots,
            yielded=changed.gained,
            velocity_alpha=context.configuration.settings.velocity_alpha,
            nodes=sorted(candidates, key=lambda state: state.sequence),
            threads=threads,
            gaps=agenda.gaps(measured.guide, context.strategies.names),
            topics_open=agenda.to_ask(measured.guide),
            step=step.name if step is not None else None,
        )

    def _directive(self, context: TurnContext) -> AppliedDirective | None:
        """The oldest directive of a moderator, with the tracked identity of its node."""
        wish = next(iter(context.wishes()), None)
        if wish is None:
            return None
        canonical = context.get(SlotsOutput).canonical
        key = wish.node_id
        if key is not None and canonical is not None:
            key = canonical.key_of(key)
        return AppliedDirective(**wish.model_dump(), node_key=key)


def _step(context: TurnContext) -> GridStep | None:
    """What a repertory grid needs next."""
    start, state = context.get(ContextOutput), context.state
    left = start.max_turns - start.turn_number
    grid = context.get(StateOutput).grid
    return next_step(grid, context.configuration, seed=state.seed, turns_left=left, language=state.language)


def _needed(engine: DecisionEngine) -> tuple[str, ...]:
    """The signals that an engine reads, whatever the methodology lists."""
    return engine.signals if isinstance(engine, ConfiguredEngine) else ()


def _itself(node_id: str) -> str:
    return node_id


def _followable(tracker: NodeStateTracker, graph: SurfaceGraph) -> list[NodeState]:
    """What a question can be about: nothing that was declined, and mere details only where there is nothing else."""
    there = [state for state in tracker.states.values() if not state.declined and state.surface_ids]
    weighty = [state for state in there if any(graph.nodes[member].salience != 0 for member in state.surface_ids)]
    return weighty or there


def _left(context: TurnContext, tracker: NodeStateTracker, move: Move) -> NodeStateTracker:
    """The tracker with the subject of the present question closed, where the move leaves it.

    With its whole ladder, and with what this message says of it, where there is no more to say; a story goes on.
    """
    focus = tracker.previous_focus
    if focus is None or not (move.declines_focus or move.leaves_focus):
        return tracker
    after = tracker.copy()
    after.decline(focus)
    there = tracker.states.get(focus)
    own = set(there.surface_ids) if there is not None else set()
    threads = context.get(StateOutput).threads
    ladders = [thread for thread in threads if thread.kind == "ladder" and own & set(thread.node_ids)]
    left = {node for thread in ladders for node in thread.node_ids} if move.leaves_thread else set()
    if move.leaves_answer and ladders:
        this = context.get(UtteranceOutput).utterance.id
        nodes = context.get(GraphOutput).graph.live_nodes()
        left |= {node.id for node in nodes if any(mention.utterance_id == this for mention in node.mentions)}
    for key, state in tracker.states.items():
        if left & set(state.surface_ids):
            after.decline(key)
    return after


def _spared(context: TurnContext, tracker: NodeStateTracker) -> NodeStateTracker:
    """The tracker with all closed that was said only where somebody was upset or spoke of danger.

    Who then chooses something else must not be asked about the rest of it.
    """
    graph = context.get(GraphOutput).graph
    upsetting = {
        said.id for said in context.state.utterances if any(heard.act in ("distress", "risk") for heard in said.acts)
    }
    after = tracker.copy()
    for key, state in tracker.states.items():
        nodes = [graph.nodes[node_id] for node_id in state.surface_ids if node_id in graph.nodes]
        mentions = [mention for node in nodes for mention in node.mentions]
        if mentions and all(mention.utterance_id in upsetting for mention in mentions):
            after.decline(key)
    return after


def active_signals(decision: Decision) -> tuple[ActiveSignal, ...]:
    """The signals that added most to the chosen candidate, strongest first."""
    chosen = next((candidate for candidate in decision.candidates if candidate.selected), None)
    if chosen is None:
        return ()
    terms = sorted(chosen.amounts("weighted", "bonus"), key=lambda term: -term.amount)
    return tuple(
        ActiveSignal(
            name=term.signal,
            value=term.value,
            description=SIGNALS[term.signal].description,
            contribution=term.amount,
        )
        for term in terms[:ACTIVE_SIGNALS]
        if term.signal in SIGNALS and term.value is not None and term.amount > 0
    )
