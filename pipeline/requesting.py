"""What the writer of questions is asked for: the requests of one turn, all made at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.acts import ENOUGH, TOLD_ON, Act, complaint, put_right_at_once, refusals, says_enough
from pipeline.conduct.move import Move
from pipeline.context import TurnContext
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    GraphOutput,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
    UtteranceOutput,
)
from pipeline.coverage import element_of
from pipeline.focus import Focus
from pipeline.guide import own_questions, questions_of
from pipeline.ports import AsTold, Briefing, Embedder, Line, Parser, QuestionRequest, Wanted
from pipeline.question.briefing import MOVED, UNASKED, UNASKED_WORDS, briefing
from pipeline.question.request import LINES, question_request
from pipeline.question.text import ended
from pipeline.question.untaken import untaken
from pipeline.threads import BEGINS_A_THREAD

CLOSES: frozenset[Act] = frozenset({"declines", "complains", "wants_topic"})
"""Acts behind which nothing is told of as passed over of that answer and the one before."""
SIMILAR_COSINE = 0.80
SALIENT = 2
"""How much a moderator would follow up at the least what is told of as passed over."""
TELLING_WORDS = 5
"""An answer of so many words tells something."""
REPEAT_FOCUS_WINDOW = 6
GOES_ON = frozenset({"distress", "wants_stop"})
"""Acts after which somebody who says that it can go on has said nothing to ask about."""
LITTLE_SAID = 10
"""Words of a message that puts something right below which it says nothing to go on with."""
FEW_TOLD = 8
"""Words of an answer below which there is nothing in it to ask for more of, where it put a question right."""

Asked = tuple[ContinuationOutput, str | None]
"""What is asked for: how the interview goes on, and the tactic; None for the one that was decided on."""


class Requests:
    """Makes requests for questions.

    Args:
        embedder: tells what was asked before in other words.
        parser: tells how what is asked about was told.
    """

    def __init__(self, embedder: Embedder, parser: Parser) -> None:
        self._embedder = embedder
        self._parser = parser

    async def one(self, context: TurnContext, going: ContinuationOutput) -> QuestionRequest:
        """The request for how the interview goes on."""
        return (await self.all(context, [(going, None)]))[0]

    async def all(self, context: TurnContext, asked: Sequence[Asked]) -> list[QuestionRequest]:
        """A request for each of several ways to go on. Raises ProviderError only where the embedder does."""
        answer = answered(context)
        told = await self._parser.as_told([_wanted(context, going, answer) for going, _ in asked])
        similar = await self._are_similar(context, [going for going, _ in asked])
        brief = _briefing(context, answer)
        return [
            _request(context, going, tactic, answer=answer, brief=brief, told=own, similar=like)
            for (going, tactic), own, like in zip(asked, told, similar, strict=True)
        ]

    async def _are_similar(self, context: TurnContext, goings: Sequence[ContinuationOutput]) -> list[bool]:
        """Of each whether a recent question had its strategy and focus, or is close to the focus in meaning."""
        recent = context.get(ContextOutput).recent_questions
        found = [_is_repeated(context, going) for going in goings]
        open_ = [
            (at, going.focus.label)
            for at, (going, known) in enumerate(zip(goings, found, strict=True))
            if recent and not known and going.focus is not None and going.strategy not in context.strategies.stays
        ]
        if open_:
            rows = await self._embedder.embed([*(label for _, label in open_), *recent])
            for row, (at, _) in zip(rows, open_, strict=False):
                found[at] = bool(np.max(rows[len(open_) :] @ row) >= SIMILAR_COSINE)
        return found


def answered(context: TurnContext) -> Line:
    """What the answer tells, and what it complains of."""
    heard = context.get(UtteranceOutput)
    text = heard.content or context.answer.text.strip()
    said, acts = heard.utterance.text, heard.acts
    return Line(
        speaker="respondent",
        text=ended(text),
        complaint=complaint(said, acts),
        put_right=put_right_at_once(said, acts),
        refused=refusals(said, acts),
    )


def tells(context: TurnContext) -> bool:
    """Whether an answer tells enough to ask of."""
    return len(answered(context).text.split()) >= FEW_TOLD


def _request(
    context: TurnContext,
    going: ContinuationOutput,
    tactic: str | None,
    *,
    answer: Line,
    brief: Briefing,
    told: AsTold,
    similar: bool,
) -> QuestionRequest:
    start = context.get(ContextOutput)
    chosen = context.get(StrategyOutput)
    focus = going.focus
    node = context.get(GraphOutput).graph.nodes.get(focus.node_ids[0]) if focus and focus.node_ids else None
    assert going.strategy is not None
    decided = chosen.decision is not None and chosen.decision.strategy == going.strategy
    as_chosen = decided and going.focus == chosen.focus
    if tactic is None:
        tactic = chosen.decision.tactic if chosen.decision is not None and as_chosen else ""
    return question_request(
        context.state,
        context.configuration,
        context.strategies,
        "closing" if going.ask_closing else "follow_up",
        turn_number=start.turn_number,
        strategy=context.strategies.by_tactic(going.strategy, tactic),
        forms=questions_of(context.configuration, context.state.language, focus.target if focus is not None else None),
        focus_label=going.subject or None,
        focus_type=focus.node_type if focus else None,
        focus_quote=focus.quote if focus else None,
        focus_is_jump=focus.is_jump if focus else False,
        focus_said_earlier_turns=start.turn_number - focus.mentioned_turn if focus and focus.mentioned_turn else 0,
        focus_is_last_said=_is_last_said(context, focus),
        unheard=_is_unheard(context, going),
        after_closing=going.ask_closing and start.closing and not start.correcting,
        complained=_is_put_out(context, chosen.move),
        unsaid=chosen.move.handed if chosen.move is not None else "",
        **_left_by(context, chosen.move),
        focus_stance=node.stance if node else 0,
        focus_emotion=(node.emotion or 0) if node else 0,
        focus_time=told.time,
        focus_rendering=told.rendering,
        avoid_similar=similar,
        depth=context.get(StateOutput).graph_state.max_depth,
        lines=(*start.lines, answer)[-LINES:],
        briefing=brief,
        signals=chosen.active_signals if as_chosen else (),
        rationale=chosen.rationale if as_chosen else going.because or going.reason,
        questions_left=max(0, start.max_turns - start.turn_number),
    )


def _briefing(context: TurnContext, answer: Line) -> Briefing:
    guide = context.get(StateOutput).guide
    answers = [u for u in context.state.utterances if u.speaker == "respondent"]
    # A language model reads how somebody broke off; what reads answers here knows sentences with a full stop.
    shown = str if context.configuration.is_written_by_model else ended
    said = [
        Line(speaker=u.speaker, text=shown(u.text), complaint=complaint(u.text, u.acts))
        for u in context.state.utterances
        if u.text
    ]
    return briefing(
        (*said, answer),
        context.get(GraphOutput).graph,
        context.get(StrategyOutput).threads,
        guide,
        _did(context),
        demanded=own_questions(context.configuration, context.state.language, guide),
        most_words=context.configuration.settings.conversation_words,
        doubted=_doubted(context),
        answer=context.answer.text.strip(),
        unasked=_unasked(context),
        untaken=_untaken(context) if context.configuration.is_written_by_model else (),
        moved=any(act.act == "distress" for u in answers[-MOVED:] for act in u.acts),
    )


def _untaken(context: TurnContext) -> tuple[str, ...]:
    """What earlier answers opened and no question took up; nothing of a subject that was closed."""
    said = [u for u in context.state.utterances if u.text]
    answers = [u for u in said if u.speaker == "respondent"]
    closing = {at for at, u in enumerate(answers) if any(act.act in CLOSES and act.sure for act in u.acts)}
    nodes = context.get(GraphOutput).graph.live_nodes()
    found = untaken(
        [*(Line(speaker=u.speaker, text=u.text) for u in said), answered(context)],
        closed={u.text for at, u in enumerate(answers) if at in closing or at + 1 in closing},
        salient=[mention.quote for node in nodes if (node.salience or 0) >= SALIENT for mention in node.mentions],
    )
    taken = [entry.label.casefold() for entry in context.state.focus_history if entry.label]
    return tuple(sentence for sentence in found if not any(label in sentence.casefold() for label in taken))


def _unasked(context: TurnContext) -> tuple[str, ...]:
    """The words of the message that refuse, ask or wish for something; none of long ones, which tell as well."""
    said = context.get(UtteranceOutput).utterance
    found = (said.text[act.start : act.end].strip() for act in said.acts if act.act in UNASKED)
    return tuple(words for words in found if 0 < len(words.split()) <= UNASKED_WORDS)


def _doubted(context: TurnContext) -> set[Act]:
    """The acts of the message that the reader alone has heard."""
    acts = context.get(UtteranceOutput).utterance.acts
    return {act.act for act in acts} - {act.act for act in acts if act.heard_by == "rules"}


def _did(context: TurnContext) -> list[Act]:
    """What the respondent surely did besides telling; that there is no more to tell only where they stop there."""
    heard = context.get(UtteranceOutput).utterance
    passing = {ENOUGH, "told"} if tells(context) else {ENOUGH}  # “Well, as I said, my daughter. She …”
    found: list[Act] = [act.act for act in heard.acts if act.act != "tells" and act.sure and act.about not in passing]
    return [*found, "dont_know"] if says_enough(heard.text, heard.acts) else found


def _wanted(context: TurnContext, going: ContinuationOutput, answer: Line) -> Wanted:
    """What is to be known of how it was told what is asked about; nothing where wordings are not chosen by it."""
    focus = going.focus
    quote = (focus.quote if focus else None) or ""
    text = _telling(context, quote, answer)
    low = text.casefold()
    named = (focus.label, focus.quote or "") if focus is not None and focus.node_ids else ()
    return Wanted(
        text=text,
        # Of those that stay there are many, and none is about a concept.
        quote=quote if text and going.strategy not in context.strategies.stays else None,
        words=next((words for words in named if words and words.casefold() in low), ""),
    )


def _telling(context: TurnContext, quote: str, answer: Line) -> str:
    """The answer that tells what is asked about; empty where wordings are not chosen by it."""
    if context.configuration.prompts or not context.state.language.casefold().startswith("en"):
        return ""
    said = [u.text for u in context.state.utterances if u.speaker == "respondent" and quote and quote in u.text]
    return (answer.text if quote in answer.text or not said else said[-1]).strip()


def _is_put_out(context: TurnContext, move: Move | None) -> bool:
    """Whether the last question was complained of, or put right by somebody who told next to nothing else.

    Not where the interview ends with thanks for what was told all the same.
    """
    heard = context.get(UtteranceOutput)
    thanked = context.get(ContinuationOutput).ask_closing and tells(context)
    if move is None or thanked or says_enough(heard.utterance.text, heard.acts):
        return False
    little = len(context.answer.text.split()) < LITTLE_SAID
    return move.act == "complains" or (move.act == "corrects" and not move.right and little)


def _left_by(context: TurnContext, move: Move | None) -> dict[str, bool]:
    """What a request says of an answer that leaves what was asked about.

    Who refuses something and then tells of something else at length has not turned away from that, unless it was said
    that it is left.
    """
    heard = context.get(UtteranceOutput)
    text = heard.utterance.text
    refused = [act for act in heard.acts if act.act == "declines" and act.sure]
    moved_on = bool(refused) and len(text[refused[-1].end :].split()) >= TOLD_ON
    act = move.act if move is not None else None
    said = move is not None and bool(move.text) and not move.tells_on
    left = act == "declines" and (said or not moved_on)
    elsewhere = move is not None and act == "wants_topic" and (move.leaves_focus or move.declines_focus)
    return {
        "turned_away": elsewhere or left,
        "spent": says_enough(text, heard.acts) and not context.get(ContinuationOutput).ask_closing,
        "composed": context.get(ContextOutput).reopened or (move is not None and act in GOES_ON and move.leaves_answer),
    }


def _is_unheard(context: TurnContext, going: ContinuationOutput) -> bool:
    """Whether the answer told something of which nothing was understood, and the question leads away from it.

    A question about an element of a concept test stays one: it would count as asked about without having been.
    So does one about what was said of the idea, or about a side of it.
    """
    focus = going.focus
    if focus is not None and (element_of(focus.target) is not None or focus.target.kind in ("lead", "aspect")):
        return False
    heard = context.get(UtteranceOutput)
    only_tells = all(act.act == "tells" for act in heard.utterance.acts)
    if going.ask_closing or not only_tells or len(heard.content.split()) < TELLING_WORDS:
        return False
    if focus is not None and focus.target.kind != "topic" and focus.node_ids:
        return False
    own = heard.utterance.id
    return not any(own in node.source_utterance_ids for node in context.get(GraphOutput).graph.live_nodes())


def _is_last_said(context: TurnContext, focus: Focus | None) -> bool:
    """Whether “that” would be taken for the focus: this answer ended with it, or had nothing else of weight."""
    if focus is None or focus.key is None:
        return False
    own = context.get(UtteranceOutput).utterance.id
    said = [
        node
        for node in context.get(GraphOutput).graph.live_nodes()
        if any(mention.utterance_id == own for mention in node.mentions)
    ]
    if not any(node.id in focus.node_ids for node in said):
        return False
    last = max(said, key=lambda node: node.mention_sequence)
    weighty = [node for node in said if node.salience is None or node.salience >= BEGINS_A_THREAD]
    return last.id in focus.node_ids or all(node.id in focus.node_ids for node in weighty)


def _is_repeated(context: TurnContext, going: ContinuationOutput) -> bool:
    """Whether a recent question had this strategy and focus."""
    recent = context.get(ContextOutput).recent_questions
    focus = going.focus
    if focus is None or not recent or going.strategy in context.strategies.stays:
        return False
    canonical = context.get(SlotsOutput).canonical
    return any(
        entry.strategy == going.strategy
        and focus.key in (entry.key, canonical.key_of(entry.node_id) if canonical else entry.node_id)
        for entry in context.state.focus_history[-REPEAT_FOCUS_WINDOW:]
    )
