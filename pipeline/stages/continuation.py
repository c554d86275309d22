"""Stage `continuation`: whether the interview goes on, asks the closing question, or ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pipeline.concept import PipelineSettings
from pipeline.context import TurnContext
from pipeline.continuing import (
    CLOSING_STRATEGY,
    FEW_TURNS_LEFT,
    GUIDE_FINISHED,
    NOTHING_LEFT_TO_TELL,
    TURNS_FOR_THE_END,
    continued,
    nothing_left,
)
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    Contract,
    GraphOutput,
    StateOutput,
    StrategyOutput,
    UtteranceOutput,
)
from pipeline.coverage import element_of
from pipeline.engines.base import Decision, DecisionEngine
from pipeline.focus import Focus, Target
from pipeline.focusing import focus_of
from pipeline.graph.tracker import NodeStateTracker
from pipeline.grid.steps import rating_due
from pipeline.guide import DEMANDED, Agenda, agenda_of
from pipeline.leads import is_finished
from pipeline.offers import LISTED
from pipeline.signals.nodes import STAGNATION_TURNS
from pipeline.state import SaturationMetrics
from pipeline.strategies import Strategies

MAXIMUM_TURNS = "Maximum turns reached"
CLOSING_ANSWERED = "Closing question answered"
LONG = 8
"""Turns of an interview from which on the closing question comes before the last turn, so that its answer is heard."""

ROOM = 2
"""Turns that are left for each question that the concept demands, up to which none of them waits any longer."""
EARLY, SETTLED, DUE = 2, 6, 7
"""Turns from which on what a concept demands may be asked in a concept test: soon, before what it asks for was told
and somebody confides something; at a break; and instead of what is next in a list."""
BRIEF_ANSWER = 15
"""Words of an answer up to which there is a break."""
RATINGS_DUE = "the grid was not rated, and the interview would end"
MODERATOR = "moderator"
TOO_EARLY = "the respondent finds it too early for the end"
"""Why an interview goes on behind its closing question."""
UNYIELDING = frozenset({"graph_saturated", "quality_degraded"})
"""Reasons to end although topics of the guide are open: turn after turn brought nothing."""


def saturation_reason(
    metrics: SaturationMetrics, tracker: NodeStateTracker, settings: PipelineSettings, flagged: bool
) -> str | None:
    """Why the interview is saturated, or None if it is not.

    Checked in this order: turns without anything new, shallow answers in a row, turns at the same depth, every node
    that had the focus stagnating, `flagged` by the decision engine.
    """
    if metrics.consecutive_low_info >= settings.low_info_limit:
        return "graph_saturated"
    if metrics.consecutive_shallow >= settings.shallow_limit:
        return "quality_degraded"
    if metrics.consecutive_depth_plateau >= settings.depth_plateau_limit:
        return "depth_plateau"
    focused = tracker.focused()
    if focused and all(state.turns_since_last_yield >= STAGNATION_TURNS for state in focused):
        return "all_nodes_exhausted"
    return "saturated" if flagged else None


def _asking(strategies: Strategies, demanded: Target) -> tuple[str, Target]:
    """By which strategy something that the concept demands is asked for, and as what."""
    element = element_of(demanded)
    if element is not None and strategies.elements is not None:
        return strategies.elements, Target(kind="element", ids=(element,), label=demanded.label)
    return strategies.topics or DEMANDED, demanded


def _last_chance(context: TurnContext) -> bool:
    """Whether the closing question is due, so that it can be answered and what that brings can be asked about."""
    start = context.get(ContextOutput)
    return start.max_turns - start.turn_number <= TURNS_FOR_THE_END


def _at_a_break(context: TurnContext, decision: Decision) -> bool:
    """Whether a concept test has only begun, or would go on in its list: soon after an answer that leaves nothing to
    ask, later anyway.

    Then what the concept demands breaks nothing off that the list would not.
    """
    first = next((candidate for candidate in decision.candidates if candidate.selected), None)
    listed = first is not None and first.target is not None and first.target.kind in LISTED
    turn = context.get(ContextOutput).turn_number
    if not context.strategies.stays or turn < EARLY:
        return False
    if turn < SETTLED:
        return True
    if not listed:
        return False
    if turn >= DUE:
        return True
    said = context.get(UtteranceOutput).content
    return len(said.split()) <= BRIEF_ANSWER or is_finished(said, context.state.language)


def _demand(decision: Decision, reason_to_end: str | None, turn: int, *, at_a_break: bool) -> str:
    """Why what the concept demands is asked now, in words."""
    if decision.close:
        otherwise = f"the interview would close: {decision.reason}" if decision.reason else "the interview would close"
    elif reason_to_end is not None:
        otherwise = f"the interview would end: {reason_to_end.replace('_', ' ')}"
    elif at_a_break:
        otherwise = "a list would go on" if turn >= SETTLED else "the interview has only begun"
    else:
        otherwise = "the turns that are left are only just enough"
    return f"the concept demands it, and {otherwise}"


def _going_on(context: TurnContext, decision: Decision) -> ContinuationOutput:
    """The best question that does not end an interview whose end was too early for its respondent."""
    chosen, turn = context.get(StrategyOutput), context.get(ContextOutput).turn_number
    if not decision.close:
        return continued(context, "", strategy=decision.strategy, focus=chosen.focus, because=TOO_EARLY)
    closing = context.strategies.closing
    for candidate in decision.candidates:
        if candidate.final_score is not None and (closing is None or candidate.strategy != closing.name):
            focus = focus_of(candidate.target, chosen.tracker, context.get(GraphOutput).graph, turn)
            return continued(context, "", strategy=candidate.strategy, focus=focus, because=TOO_EARLY)
    return continued(context, CLOSING_STRATEGY, strategy=decision.strategy, closing=True)


def _settled(context: TurnContext) -> ContinuationOutput | None:
    """What rules 0 to 2 decide, if one of them applies."""
    start, move = context.get(ContextOutput), context.get(StrategyOutput).move
    last = start.turn_number >= start.max_turns
    if move is not None and move.then != "engine":
        return continued(context, "")
    if start.closing and start.correcting and not last:
        closing = context.strategies.closing
        return continued(context, "", strategy=closing.name if closing else MODERATOR, closing=True)
    if start.closing or last:
        return continued(context, MAXIMUM_TURNS if last else CLOSING_ANSWERED, complete=True)
    return None


def _demanded(
    context: TurnContext, decision: Decision, agenda: Agenda, reason_to_end: str | None
) -> ContinuationOutput | None:
    """What the concept demands, where rule 4 applies."""
    start, guide = context.get(ContextOutput), context.get(StateOutput).guide
    left = start.max_turns - start.turn_number - 1
    own = agenda.demanded(guide, elements=False)
    elements = context.strategies.elements_press or (reason_to_end is not None and left - 1 > own)
    demanded = agenda.must_ask(guide, elements=elements)
    if demanded is None or context.get(StrategyOutput).directive is not None:
        return None
    at_a_break = _at_a_break(context, decision)
    pressing = agenda.demanded(guide, elements=elements) >= left
    if reason_to_end is None and not pressing and not at_a_break:
        return None
    asking, target = _asking(context.strategies, demanded)
    return continued(
        context,
        "",
        strategy=asking,
        focus=Focus(target=target, label=target.label),
        because=_demand(decision, reason_to_end, start.turn_number, at_a_break=at_a_break),
        can_wait=reason_to_end is None and not pressing and left > ROOM * own,
    )


def _unrated(context: TurnContext, reason_to_end: str | None) -> ContinuationOutput | None:
    """The ratings of a grid, where rule 5 applies."""
    owed = rating_due(context.get(StateOutput).grid) if reason_to_end is not None else None
    rating = next((strategy for strategy in context.strategies if strategy.grid_step == "rate"), None)
    if owed is None or rating is None or context.get(StrategyOutput).directive is not None:
        return None
    focus = Focus(target=owed.target, label=owed.target.label)
    return continued(context, "", strategy=rating.name, focus=focus, because=RATINGS_DUE)


class ContinuationStage:
    """Applies the rules of continuation in order, and sets the focus of the next question in the tracker."""

    name: ClassVar[str] = "continuation"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput, StateOutput, StrategyOutput)
    provides: ClassVar[type[Contract]] = ContinuationOutput

    def __init__(self, engines: Mapping[str, DecisionEngine]) -> None:
        self._engines = engines

    async def run(self, context: TurnContext) -> ContinuationOutput:
        """Go on, ask the closing question, or end; the first rule that applies decides.

        0. The interviewer replies to an act, and no new question follows: nothing changes here.
        1. A correction of the answer to the closing question: the closing question again, if turns are left.
        2. The closing question was answered, or this was the last turn: the end. The stage `question` may ask once
           about what that answer brought, where a turn is left. Who finds the end too early is asked on, by 3, 4 or the
           engine's choice, where a few turns are left.
        3. A moderator's question: go on with it.
        4. What the concept demands is still open, and the interview would close or its turns are only just enough:
           that question. Elements press for turns unless the engine weighs them against what people bring up.
        5. It would close, and a repertory grid was not rated: the ratings.
        6. The engine chose the closing strategy: the closing question.
        7. The respondent says that there is no more to tell, again and again or late in the interview; or, in a long
           one, no turns more are left than the closing question and one about its answer need: the closing question.
           The stage `question` may put it off for a turn.
        8. The guide is finished and no thread is open, or the interview is saturated (from `min_turn_for_saturation`
           on, or in the late phase): the closing question, or the end where the methodology has no closing strategy.
           While topics of a guide are open, or a grid needs something, only answers that bring nothing saturate.
        9. Otherwise: the next question of the chosen strategy.
        """
        settled = _settled(context)
        if settled is not None:
            return settled
        decision = context.get(StrategyOutput).decision
        if decision is None:
            return continued(context, "", strategy=MODERATOR)
        if context.get(ContextOutput).reopened:
            return _going_on(context, decision)
        agenda = agenda_of(context.configuration, context.state.language)
        reason = self._reason_to_end(context, decision, agenda)
        owed = _demanded(context, decision, agenda, reason) or _unrated(context, reason)
        if owed is not None:
            return owed
        if decision.close:
            return continued(context, CLOSING_STRATEGY, strategy=decision.strategy, closing=True)
        if reason is None:
            return continued(context, "", strategy=decision.strategy, focus=context.get(StrategyOutput).focus)
        closing = context.strategies.closing
        if closing is None:
            return continued(context, reason, complete=True)
        return continued(context, reason, strategy=closing.name, closing=True)

    def _reason_to_end(self, context: TurnContext, decision: Decision, agenda: Agenda) -> str | None:
        """Why the interview closes, by rules 6 to 8, or None if it does not."""
        start = context.get(ContextOutput)
        reason = CLOSING_STRATEGY if decision.close else self._done(context, decision, agenda)
        if reason is not None or context.get(StrategyOutput).directive is not None:
            return reason
        if nothing_left(context):
            return NOTHING_LEFT_TO_TELL
        if start.max_turns >= LONG and _last_chance(context) and context.strategies.closing is not None:
            return FEW_TURNS_LEFT
        return None

    def _done(self, context: TurnContext, decision: Decision, agenda: Agenda) -> str | None:
        """Why there is no more to ask, by rule 8, or None if there is."""
        settings, measured = context.configuration.settings, context.get(StateOutput)
        chosen, turn = context.get(StrategyOutput), context.get(ContextOutput).turn_number
        soonest = turn >= settings.min_turn_for_saturation or decision.phase == "late"
        if not self._engines[context.state.engine].closes_on_saturation or not soonest:
            return None
        found = saturation_reason(measured.saturation, chosen.tracker, settings, decision.saturated)
        if chosen.step is not None:
            return found if found in UNYIELDING else None
        if not context.configuration.methodology.guide:
            return found
        if not agenda.finished(measured.guide):
            return found if found in UNYIELDING else None
        return found or (None if any(not thread.ended for thread in chosen.threads) else GUIDE_FINISHED)
