"""Previews: the question that a moderator's directive would lead to, without changing the session."""

from __future__ import annotations

from pipeline.concept import SessionConfiguration
from pipeline.engines.base import Decision, DecisionEngine, DecisionInputs, with_closeness
from pipeline.focus import Target
from pipeline.graph.identity import latest_wording
from pipeline.graph.surface import KGNode
from pipeline.grid.model import GridStep
from pipeline.grid.steps import next_step
from pipeline.grid.wording import question_of
from pipeline.guide import agenda_of
from pipeline.methodology import Strategy
from pipeline.ports import Embedder
from pipeline.question.asking import Questioner
from pipeline.question.request import question_request
from pipeline.records import Record
from pipeline.signals.base import SignalMatrix
from pipeline.state import Directive, InterviewState, answered, asked_texts


class Preview(Record):
    """A question that would be asked, by which strategy, and about which node if it is about one."""

    question: str
    strategy: str
    node_id: str | None = None
    node_label: str | None = None


class _DiscardingSink:
    """A sink that discards the question."""

    async def started(self, turn_number: int) -> None:
        return

    async def delta(self, text: str) -> None:
        return

    async def retracted(self) -> None:
        return


async def previewed(
    state: InterviewState,
    configuration: SessionConfiguration,
    engine: DecisionEngine,
    questioner: Questioner,
    wish: Directive,
    signals: SignalMatrix | None,
) -> Preview:
    """The question that the directive `wish` would lead to now.

    Node and strategy, where the directive leaves them open, are chosen by the signals of the latest turn, because the
    next answer is not known yet.

    Raises:
        ProviderError: the writer failed.
    """
    strategy, node, about = await _choice(state, configuration, engine, wish, signals, questioner.embedder)
    step = _step(state, configuration)
    if step is not None and strategy.grid_step == step.name:
        return Preview(question=question_of(step, strategy, state, configuration), strategy=strategy.name)
    topic = configuration.concept.name if strategy.focus_mode == "topic" else None
    label = node.label if node is not None else about or topic
    request = question_request(
        state,
        configuration,
        engine.strategies(configuration),
        "closing" if strategy.generates_closing_question else "follow_up",
        turn_number=state.turn_count + 1,
        strategy=strategy,
        focus_label=label,
        focus_type=node.node_type if node is not None else None,
        focus_quote=node.mentions[-1].quote if node is not None and node.mentions else None,
        focus_is_jump=node is not None and node.last_mention_turn < state.turn_count,
        focus_said_earlier_turns=state.turn_count + 1 - node.last_mention_turn if node is not None else 0,
    )
    written = await questioner.asking(configuration.settings, _DiscardingSink(), request.turn_number).ask(request)
    return Preview(
        question=written.text,
        strategy=strategy.name,
        node_id=node.id if node is not None else None,
        node_label=node.label if node is not None else None,
    )


async def _choice(
    state: InterviewState,
    configuration: SessionConfiguration,
    engine: DecisionEngine,
    wish: Directive,
    signals: SignalMatrix | None,
    embedder: Embedder,
) -> tuple[Strategy, KGNode | None, str]:
    """The strategy, the node it is about, and else how what it is about is called."""
    strategies = engine.strategies(configuration)
    graph, canonical = state.surface_graph(), state.canonical_graph()
    wanted = graph.nodes.get(wish.node_id) if wish.node_id is not None else None
    agenda = agenda_of(configuration, state.language)
    topic = agenda.next_target(state.guide, state.turn_count)
    decision: Decision | None = None
    if signals is not None:
        key = canonical.key_of(wanted.id) if wanted is not None else None
        inputs = DecisionInputs(
            methodology=configuration.methodology,
            signals=signals,
            strategies=strategies,
            strategy=wish.strategy,
            target=Target.node(key, wanted.label) if key is not None and wanted is not None else None,
            graph=graph,
            questions=state.focus_history,
            question_texts=asked_texts(state.utterances),
            elements=configuration.concept.elements,
            coverage=state.coverage,
            tensions=state.tensions,
            momentum=state.momentum,
            qualitative=state.qualities,
            threads=state.threads,
            topic=topic,
            topics_open=agenda.to_ask(state.guide),
            step=_step(state, configuration),
            settings=configuration.settings,
            engine_file=configuration.engine_file,
            subject=configuration.concept.name,
            language=state.language,
            answers=answered(state.utterances),
            turn_count=state.turn_count,
            max_turns=state.max_turns,
            engine_state=state.engine_state,
        )
        decision = engine.decide(await with_closeness(engine, inputs, embedder))
    name = wish.strategy or (decision.strategy if decision is not None else strategies.names[0])
    strategy = strategies[name]
    if decision is not None and decision.strategy == name:
        strategy = strategies.by_tactic(name, decision.tactic) or strategy
    if strategy.node_binding == "none":
        target = decision.target if decision is not None and decision.strategy == name else None
        return strategy, None, target.label if target is not None else ""
    if wanted is not None or decision is None or decision.node_key is None:
        return strategy, wanted, ""
    known = state.node_tracker().states.get(decision.node_key)
    return strategy, latest_wording(graph, known) if known is not None else None, ""


def _step(state: InterviewState, configuration: SessionConfiguration) -> GridStep | None:
    """What a repertory grid needs next."""
    left = state.max_turns - state.turn_count
    return next_step(state.grid, configuration, seed=state.seed, turns_left=left, language=state.language)
