"""The ways in which an interview can go on where the writer of questions chooses among them."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.context import TurnContext
from pipeline.continuing import CLOSING_STRATEGY, FEW_TURNS_LEFT, TURNS_FOR_THE_END, continued
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    GraphOutput,
    OfferMade,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
    UtteranceOutput,
)
from pipeline.coverage import element_of
from pipeline.engines.base import ScoredCandidate
from pipeline.focus import Focus, Target
from pipeline.focusing import focus_of
from pipeline.guide import DEMANDED, MUST_ASK
from pipeline.offers import chosen_by_writer, in_a_row, keeps_strategy, offered, weighed
from pipeline.ports import ComparesWordings, QuestionWriter
from pipeline.question.asking import Weighing
from pipeline.question.text import sentences, words

MOST_OF = 0.6
"""Share of the words of the shorter of two quotes that make most of it."""
REFUSED_BACK = 3
"""Answers before a refusal of which a language model is offered nothing more; it may still go on from them itself."""
SAID_BACK = "of what was just said, what the question says back promised most"
"""Why something else of an answer is asked about than the engine chose, …"""
CHOSEN_FREELY = "none of what was offered was what the language model would ask about: it went on from other words"
"""… and why by a language model."""
TOLD_LATE = "the closing question is due, and what was just told weighs too much to be the end"
"""Why the closing question waits."""

Way = tuple[ScoredCandidate, ContinuationOutput]
"""How an interview can go on: a candidate, and what follows from it."""


def ways_of(context: TurnContext, writer: QuestionWriter) -> list[Way]:
    """How the interview can go on by the writer's choice, the engine's first; empty where nothing is to choose."""
    going, chosen = context.get(ContinuationOutput), context.get(StrategyOutput)
    decision = chosen.decision
    as_decided = decision is not None and going.strategy == decision.strategy and going.focus == chosen.focus
    free = as_decided and not going.ask_closing and chosen.directive is None
    free = free and not serves_grid(context, going.strategy)
    compares = isinstance(writer, ComparesWordings)
    if decision is None or not free or not chosen_by_writer(context.configuration, compares=compares):
        return []
    if may_stay(context, writer):
        return ways_to_stay(context, writer)
    same = keeps_strategy(context.configuration)
    offers = offered(decision, context.strategies, compared=compares, same_strategy=same, alone=not compares)
    ways = _followed(context, offers, lately=compares)
    return ways if len(ways) > 1 or not compares else []


def ways_to_stay(context: TurnContext, writer: QuestionWriter) -> list[Way]:
    """The engine's choice in a concept test and what it can be weighed against; empty where nothing can."""
    decision = context.get(StrategyOutput).decision
    if decision is None or not may_stay(context, writer):
        return []
    if not chosen_by_writer(context.configuration, compares=True):
        return []
    ways = _followed(context, weighed(decision, context.strategies))
    return ways if len(ways) > 1 else []


def may_stay(context: TurnContext, writer: QuestionWriter) -> bool:
    """Whether the writer weighs staying with what was just said against what the engine chose."""
    compares = isinstance(writer, ComparesWordings)
    return compares and keeps_strategy(context.configuration) and bool(context.strategies.stays)


def weighing_of(context: TurnContext, ways: Sequence[Way]) -> Weighing:
    """What each way to go on is worth in a concept test."""
    worth = tuple(context.strategies.weighs[one.strategy, one.tactic] for one, _ in ways)
    return Weighing(worth, in_a_row(context.strategies, context.state.focus_history))


def said_instead(context: TurnContext, quote: str) -> ContinuationOutput:
    """How the interview goes on where a question says words back that do not tell what it was to be about.

    It is about the concept that those words tell, of several the one whose words are most of them; where they tell
    none, about the sentence.
    """
    heard, turn = context.get(UtteranceOutput), context.get(ContextOutput).turn_number
    target = _told_by(context, quote, heard.utterance.id, turn, heard.content or context.answer.text)
    return _about(context, target, SAID_BACK)


def chosen_freely(context: TurnContext, quote: str) -> ContinuationOutput:
    """How the interview goes on where a language model chose something else that was said than it was offered.

    Args:
        context: of the turn.
        quote: the respondent's words, of this answer or of an earlier one; or the label of a topic of the guide.
    """
    if (topic := _topic_of(context, quote)) is not None:
        return topic
    # In a concept test that is to stay with what was said, whatever part of the idea was to come.
    stays = next(iter(sorted(context.strategies.stays)), None)
    return _about(context, _told_by(context, quote, *_said_in(context, quote)), CHOSEN_FREELY, strategy=stays)


def _said_in(context: TurnContext, quote: str) -> tuple[str, int, str]:
    """The latest answer that has these words, this one where none does: its id, its turn and its text."""
    heard, turn = context.get(UtteranceOutput), context.get(ContextOutput).turn_number
    said = [(u.id, u.turn_number or 0, u.text) for u in context.state.utterances if u.speaker == "respondent"]
    said.append((heard.utterance.id, turn, context.answer.text))
    return next((one for one in reversed(said) if quote.casefold() in one[2].casefold()), said[-1])


def put_off(context: TurnContext, quote: str) -> ContinuationOutput | None:
    """How the interview goes on for a turn where the closing question is due and something was told that weighs.

    None where no turn would be left for what the closing question brings, or nothing could be asked.

    Args:
        context: of the turn.
        quote: what weighs, of this answer; empty where the engine's choice is asked, because nobody knows what weighs.
    """
    start, chosen, going = context.get(ContextOutput), context.get(StrategyOutput), context.get(ContinuationOutput)
    if going.reason not in (FEW_TURNS_LEFT, CLOSING_STRATEGY) or chosen.decision is None or chosen.move is not None:
        return None
    left = start.max_turns - start.turn_number
    if not quote:
        by_turns = going.reason == FEW_TURNS_LEFT and left > 1
        return continued(context, "", strategy=chosen.decision.strategy, focus=chosen.focus) if by_turns else None
    return told_late(context, quote) if left > TURNS_FOR_THE_END else None


def told_late(context: TurnContext, quote: str) -> ContinuationOutput | None:
    """How the interview goes on where words of an answer are asked about in place of the closing question.

    None where the engine has no strategy for it.
    """
    chosen = context.get(StrategyOutput)
    if chosen.decision is None:
        return None
    if (topic := _topic_of(context, quote)) is not None:
        return topic
    names = (chosen.decision.strategy, *(candidate.strategy for candidate in chosen.decision.candidates))
    found = (context.strategies.find(name) for name in names)
    strategy = next((one.name for one in found if one is not None and one.node_binding == "required"), None)
    if strategy is None:
        return None
    return _about(context, _told_by(context, quote, *_said_in(context, quote)), TOLD_LATE, strategy=strategy)


def _topic_of(context: TurnContext, label: str) -> ContinuationOutput | None:
    """How the interview goes on with the topic of the guide that has this label, or the part of an idea, if any has."""
    item = next((one for one in context.get(StateOutput).guide if one.label == label), None)
    if item is None:
        return None
    target, strategy = Target(kind="topic", ids=(item.id,), label=item.label), context.strategies.topics
    if item.id.startswith(MUST_ASK):
        strategy = strategy or DEMANDED
    if (element := element_of(target)) is not None:
        target, strategy = Target(kind="element", ids=(element,), label=item.label), context.strategies.elements
    if strategy is None:
        return None
    return continued(
        context, "", strategy=strategy, focus=Focus(target=target, label=item.label), because=CHOSEN_FREELY
    )


def _told_by(context: TurnContext, quote: str, utterance_id: str, turn: int, text: str) -> Target:
    """The concept of an answer that some of its words tell; where they tell none, their sentence."""
    graph, canonical = context.get(GraphOutput).graph, context.get(SlotsOutput).canonical
    near = [
        (_shared(mention.quote, quote), node)
        for node in graph.live_nodes()
        for mention in node.mentions
        if mention.utterance_id == utterance_id
    ]
    common, told = max(near, key=lambda pair: pair[0], default=(0, None))
    if told is not None and common:
        return Target.node(canonical.key_of(told.id) if canonical is not None else told.id, told.label)
    said = sentences(text)
    number = next((at for at, sentence in enumerate(said) if quote in sentence), 0)
    return Target.sentence(turn, number, said[number] if said else quote)


def _about(context: TurnContext, target: Target, because: str, *, strategy: str | None = None) -> ContinuationOutput:
    """How the interview goes on with something else than was chosen, by the same strategy unless another is given."""
    going, turn = context.get(ContinuationOutput), context.get(ContextOutput).turn_number
    focus = focus_of(target, context.get(StrategyOutput).tracker, context.get(GraphOutput).graph, turn)
    return continued(context, "", strategy=strategy or going.strategy, focus=focus, because=because)


def _left(context: TurnContext) -> set[int | None]:
    """The turns of what the respondent would not go on with: the answers before a refusal, and the refusal itself
    where it is not the last answer, which may tell on behind it.
    """
    now = context.get(ContextOutput).turn_number
    said = [(u.turn_number, u.acts) for u in context.state.utterances if u.speaker == "respondent"]
    said.append((now, context.get(UtteranceOutput).acts))
    refused = [turn for turn, acts in said if turn and any(act.act == "declines" and act.sure for act in acts)]
    return {turn - back for turn in refused for back in range(REFUSED_BACK + 1) if turn - back != now}


def _shared(one: str, other: str) -> int:
    """How many words two quotes have in common; none where most of the shorter one is not in the other."""
    a, b = set(words(one.casefold())), set(words(other.casefold()))
    common = len(a & b)
    return common if common >= MOST_OF * min(len(a), len(b)) else 0


def made(ways: Sequence[Way]) -> tuple[OfferMade, ...]:
    """The offers as they are recorded."""
    return tuple(OfferMade(strategy=one.strategy, target=one.target, rank=one.rank) for one, _ in ways)


def closing_offer(context: TurnContext) -> OfferMade:
    """The closing question as an offer that is recorded; it ranks behind all that the engine would ask."""
    decision, closing = context.get(StrategyOutput).decision, context.strategies.closing
    name = closing.name if closing is not None else CLOSING_STRATEGY
    return OfferMade(strategy=name, rank=len(decision.candidates) + 1 if decision is not None else 1)


def serves_grid(context: TurnContext, name: str | None) -> bool:
    """Whether a strategy asks for what a repertory grid needs."""
    strategy = context.strategies.find(name)
    return strategy is not None and strategy.focus_mode == "grid"


def _followed(context: TurnContext, offers: Sequence[ScoredCandidate], *, lately: bool = False) -> list[Way]:
    """How the interview would go on by each offer; after the first by those only that are about this answer, if so.

    Going back to something is the engine's to choose.
    """
    graph, turn = context.get(GraphOutput).graph, context.get(ContextOutput).turn_number
    left = set() if lately else _left(context)
    ways: list[Way] = []
    for candidate in offers:
        focus = focus_of(candidate.target, context.get(StrategyOutput).tracker, graph, turn)
        if lately and ways and (focus is None or focus.mentioned_turn != turn):
            continue
        if focus is not None and focus.mentioned_turn in left:
            continue
        if serves_grid(context, candidate.strategy):
            continue  # What a grid needs is asked in the method's words.
        if focus is not None or candidate.target is None:
            ways.append((candidate, continued(context, "", strategy=candidate.strategy, focus=focus)))
    return ways
