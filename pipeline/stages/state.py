"""Stage `state`: measures of both graphs; the first stage after the two parallel lanes."""

from __future__ import annotations

from typing import ClassVar

from pipeline.concept import names_of
from pipeline.context import TurnContext
from pipeline.contracts import (
    ContextOutput,
    Contract,
    GraphOutput,
    RatingOutput,
    SlotsOutput,
    StateOutput,
    UtteranceOutput,
)
from pipeline.coverage import ElementCoverage, Told, covered, element_of
from pipeline.elements import named
from pipeline.graph.metrics import measure, measure_canonical
from pipeline.graph.saturation import advanced, next_metrics
from pipeline.grid.moment import grid_after
from pipeline.guide import TopicProgress, agenda_of, taken_up, topic_of
from pipeline.momentum import Momentum, by_rules
from pipeline.reactions import doubts, wonders
from pipeline.threads import Thread, followed


class StateStage:
    """Measures graphs, saturation, velocities, momentum and coverage; follows the threads and the guide."""

    name: ClassVar[str] = "state"
    requires: ClassVar[tuple[type[Contract], ...]] = (
        ContextOutput,
        UtteranceOutput,
        GraphOutput,
        SlotsOutput,
        RatingOutput,
    )
    provides: ClassVar[type[Contract]] = StateOutput

    async def run(self, context: TurnContext) -> StateOutput:
        """Graph states, saturation metrics, velocities, momentum and qualities after this answer."""
        start = context.get(ContextOutput)
        changed = context.get(GraphOutput)
        slots = context.get(SlotsOutput)
        rating, rated = context.get(RatingOutput).rating, context.get(RatingOutput).rated
        state = context.state
        alpha = context.configuration.settings.velocity_alpha
        graph_state = measure(changed.graph, context.configuration.methodology.ontology)
        saturation = next_metrics(
            state.saturation,
            changed.graph,
            created=len(changed.nodes_added),
            mentioned=len(changed.nodes_added) + len(changed.nodes_mentioned),
            gained=changed.gained,
            depth=rated.depth if rated else None,
            max_depth=graph_state.max_depth,
            has_content=context.get(UtteranceOutput).has_content,
            fragment=context.get(UtteranceOutput).utterance.is_fragment,
        )
        settings = context.configuration.settings
        dry = (
            saturation.consecutive_low_info >= settings.low_info_limit
            or saturation.consecutive_shallow >= settings.shallow_limit
            or saturation.consecutive_depth_plateau >= settings.depth_plateau_limit
        )
        saturation = saturation.model_copy(update={"is_saturated": dry})
        canonical = slots.canonical
        threads, guide = self._followed(context)
        return StateOutput(
            graph_state=graph_state,
            canonical_state=measure_canonical(canonical) if canonical else None,
            saturation=saturation,
            surface_velocity=advanced(state.surface_velocity, len(changed.graph.nodes), alpha),
            canonical_velocity=advanced(state.canonical_velocity, len(canonical.slots) if canonical else 0, alpha),
            momentum=state.momentum.after(_momentum(context)),
            qualities=(*state.qualities, rating.qualitative) if rating is not None else state.qualities,
            computed_for_turn=start.turn_number,
            threads=threads,
            guide=guide,
            coverage=self._covered(context),
            grid=grid_after(context, context.get(UtteranceOutput).content, start.turn_number),
        )

    def _covered(self, context: TurnContext) -> tuple[ElementCoverage, ...]:
        """How far the elements of the concept were spoken of, with this answer."""
        state, changed, utterance = context.state, context.get(GraphOutput), context.get(UtteranceOutput)
        rating, rated = context.get(RatingOutput).rating, context.get(RatingOutput).rated
        own, acts = utterance.utterance.id, {act.act for act in utterance.acts if act.sure}
        quality = rating.qualitative if rating is not None else None
        told = Told(
            nodes=[n for n in changed.graph.live_nodes() if any(m.utterance_id == own for m in n.mentions)],
            new={node.id for node in changed.nodes_added},
            content=utterance.content,
            named=named(utterance.content, names_of(context.configuration.concept.elements)),
            about=element_of(state.question.target) if state.question is not None else None,
            doubts=(rating is not None and rating.hedging == "high") or doubts(utterance.content, state.language),
            wonders=(quality is not None and quality.uncertainty == "productive")
            or wonders(utterance.content, state.language),
            refused=utterance.kind == "skip" or "declines" in acts,
            valence=rated.valence if rated is not None else None,
        )
        asked = [entry.target for entry in state.focus_history]
        return covered(state.coverage, context.configuration.concept.elements, changed.graph, asked, told)

    def _followed(self, context: TurnContext) -> tuple[tuple[Thread, ...], tuple[TopicProgress, ...]]:
        """The threads, and the progress of the guide, after this answer."""
        start, changed, slots = context.get(ContextOutput), context.get(GraphOutput), context.get(SlotsOutput)
        state, utterance = context.state, context.get(UtteranceOutput)
        asked = state.question.target if state.question is not None else None
        live = {node.id: node for node in changed.graph.live_nodes()}
        own = utterance.utterance.id
        said = sorted(
            (node for node in live.values() if any(mention.utterance_id == own for mention in node.mentions)),
            key=lambda node: node.mention_sequence,
        )
        focused = {
            node_id
            for key in (asked.node_keys if asked is not None else ())
            for node_id in (slots.tracker.states[key].surface_ids if key in slots.tracker.states else ())
        }
        threads = followed(
            state.threads,
            changed.graph,
            said,
            focus=focused,
            turn=start.turn_number,
            ontology=context.configuration.methodology.ontology,
            session_id=state.session_id,
        )
        guide = agenda_of(context.configuration, state.language).after_answer(
            taken_up(state.guide) if start.reopened else state.guide,
            changed.graph,
            utterance.content,
            turn=start.turn_number,
            language=state.language,
            declined=topic_of(asked) if utterance.kind == "skip" else None,
        )
        return threads, guide


def _momentum(context: TurnContext) -> Momentum | None:
    """The momentum of an answer as it was rated, else by rules.

    None for a fragment of speech, and for an answer that is neither rated nor a don't-know.
    """
    output, changed = context.get(RatingOutput), context.get(GraphOutput)
    fragment = context.get(UtteranceOutput).utterance.is_fragment and not changed.gained
    if output.rating is None or output.rated is None or fragment:
        acts = context.get(UtteranceOutput).utterance.acts
        return "low" if any(act.act == "dont_know" for act in acts) else None
    tells = bool(changed.nodes_added or changed.nodes_mentioned)
    return output.rating.momentum or by_rules(output.rated.depth, output.rated.engagement, tells=tells)
