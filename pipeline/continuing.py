"""How an interview goes on after a choice: what the next question is about, and what trackers know of that."""

from __future__ import annotations

from pipeline.context import TurnContext
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    StateOutput,
    StrategyOutput,
    UtteranceOutput,
)
from pipeline.finished import ALL_TOLD, NOTHING_LEFT, closes
from pipeline.focus import Focus
from pipeline.grid.steps import asked, rating_due, step_of
from pipeline.guide import agenda_of, asked_for, given_up
from pipeline.threads import left

SUMMARY = {"en": "what we've discussed", "de": "worüber wir gesprochen haben", "ar": "ما تحدثنا عنه"}
"""The focus of `focus_mode: summary`, by language."""

LATELY, OFTEN, SOONEST = 3, 2, 8
"""Somebody who says so many times in so many answers that there is no more to tell of something, from so many turns on,
has no more to tell of anything."""
ENOUGH_SHARE, TOLD_TWICE = 0.6, 4
"""Share of an interview's turns from which on one answer is enough that ends with such a sentence; and turns from
which on two of the latest are."""

ONLY_SAYS_SO = 8
"""Words of an answer up to which it says nothing but that this was all."""

CLOSING_STRATEGY = "Closing strategy selected"
FEW_TURNS_LEFT = "Few turns left"
GUIDE_FINISHED = "guide_finished"
NOTHING_LEFT_TO_TELL = "nothing_left"
LITTLE_PROMISED = "little_promised"
"""Why an interview ends of which the writer finds that nothing it could ask promises much."""
TURNS_FOR_THE_END = 2
"""Turns that are left when the closing question is due: one for its answer, and one for what that brings."""
TOLD_AT_THE_END = "told_at_the_end"
"""Why it is asked once more what the answer to the closing question brought."""


def nothing_left(context: TurnContext) -> bool:
    """Whether somebody says again and again that there is no more to tell, or late in an interview once.

    As long as a guide has open topics, once is of what was asked, and not of all that there is, where nothing else was
    said.
    """
    start = context.get(ContextOutput)
    turn = start.turn_number
    said = [utterance.text for utterance in context.state.utterances if utterance.speaker == "respondent"]
    latest = [*said, context.answer.text][-LATELY:]
    if closes(latest[-1]):
        guided = any(topic.status == "open" for topic in context.get(StateOutput).guide)
        guided = guided and len(latest[-1].split()) <= ONLY_SAYS_SO
        late = turn >= max(SOONEST, ENOUGH_SHARE * start.max_turns)
        again = turn >= TOLD_TWICE and sum(map(closes, latest)) >= OFTEN
        if (again and not guided) or (late and (again or not guided)):
            return True
    if turn < SOONEST:
        return False
    found = [NOTHING_LEFT.search(one) is not None for one in latest]
    return ALL_TOLD.search(latest[-1]) is not None or (found[-1] and sum(found) >= OFTEN)


def closing_now(context: TurnContext) -> ContinuationOutput | None:
    """The closing question in place of one that promises little; None where it is too early for it, where something
    is still to be asked for, or where the question is not the engine's to choose.
    """
    start, chosen, going = context.get(ContextOutput), context.get(StrategyOutput), context.get(ContinuationOutput)
    closing, measured = context.strategies.closing, context.get(StateOutput)
    if closing is None or chosen.decision is None or going.ask_closing or not going.should_continue:
        return None
    if chosen.move is not None or chosen.directive is not None or going.because:
        return None
    if start.turn_number < max(SOONEST, ENOUGH_SHARE * start.max_turns):
        return None
    agenda = agenda_of(context.configuration, context.state.language)
    if agenda.demanded(measured.guide) or agenda.to_ask(measured.guide) or rating_due(measured.grid) is not None:
        return None
    return continued(context, LITTLE_PROMISED, strategy=closing.name, closing=True)


def asked_once_more(context: TurnContext) -> ContinuationOutput | None:
    """A question about what the answer to the closing question brought, in place of the end; None where no turn is
    left for it, where one was asked already, or where something else is to be said.
    """
    start, closing = context.get(ContextOutput), context.strategies.closing
    if not start.closing or start.correcting or start.turn_number >= start.max_turns or closing is None:
        return None
    asked = sum(utterance.kind == "closing_question" for utterance in context.state.utterances)
    if asked != 1 or context.get(StrategyOutput).move is not None or context.answer.kind != "answer":
        return None
    return continued(context, TOLD_AT_THE_END, strategy=closing.name, closing=True)


def continued(
    context: TurnContext,
    reason: str,
    *,
    strategy: str | None = None,
    focus: Focus | None = None,
    closing: bool = False,
    complete: bool = False,
    because: str = "",
    can_wait: bool = False,
) -> ContinuationOutput:
    """How the interview goes on, with trackers that know of the new focus.

    Args:
        context: of the turn, with the engine's choice.
        reason: why it ends; nothing where it does not.
        strategy: of the next question; None where there is none.
        focus: what it is about.
        closing: it is the closing question.
        complete: the interview is over.
        because: why this is asked, where the engine chose something else.
        can_wait: whether the question can be asked later as well.
    """
    start = context.get(ContextOutput)
    tracker = context.get(StrategyOutput).tracker.copy()
    if strategy is not None:
        keys = focus.target.node_keys if focus is not None else ()
        counts = not context.get(UtteranceOutput).utterance.is_fragment
        tracker.update_focus(keys, start.turn_number, strategy, counts=counts)
        if focus is not None and focus.key is not None:
            tracker.rename(focus.key, focus.label)
    threads = context.get(StrategyOutput).threads
    guide = context.get(StateOutput).guide
    if closing or complete:
        guide = given_up(guide, reason)
    elif strategy is not None:
        threads = left(threads, focus.node_ids if focus is not None else (), start.turn_number)
        guide = asked_for(guide, focus.target if focus is not None else None, start.turn_number)
    step = step_of(context.strategies.find(strategy), focus.target if focus is not None else None)
    grid = context.get(StateOutput).grid
    return ContinuationOutput(
        should_continue=not (closing or complete),
        reason=reason,
        ask_closing=closing,
        complete=complete,
        strategy=strategy,
        focus=focus,
        subject=focus.label if focus else _subject(context, strategy),
        tracker=tracker,
        threads=threads,
        guide=guide,
        because=because,
        can_wait=can_wait,
        grid=asked(grid, step) if step is not None else grid,
    )


def _subject(context: TurnContext, strategy: str | None) -> str:
    """What a question without a node is about, by the strategy's `focus_mode`."""
    known = context.strategies.find(strategy)
    mode = known.focus_mode if known is not None else None
    if mode == "topic":
        return context.configuration.concept.name
    return SUMMARY.get(context.state.language[:2], SUMMARY["en"]) if mode == "summary" else ""
