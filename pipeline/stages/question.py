"""Stage `question`: the next question is written, checked, and streamed while it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from pipeline.acts import TOLD_ON, complaint, put_right_at_once, says_enough
from pipeline.concept import demands_of
from pipeline.conduct.moves import Move
from pipeline.context import TurnContext
from pipeline.continuing import closing_now
from pipeline.contracts import (
    ContextOutput,
    ContinuationOutput,
    Contract,
    GraphOutput,
    QuestionOutput,
    SlotsOutput,
    StateOutput,
    StrategyOutput,
    UtteranceOutput,
)
from pipeline.coverage import element_of
from pipeline.focus import Focus
from pipeline.grid.steps import step_of
from pipeline.grid.wording import METHOD, question_of, reworded
from pipeline.guide import MUST_ASK, agenda_of
from pipeline.methodology import Form
from pipeline.ports import (
    Briefing,
    ComparesWordings,
    FindsLittle,
    Line,
    Offer,
    Parser,
    QuestionRequest,
    Rendering,
    SaysBack,
)
from pipeline.question.answering import answer_to
from pipeline.question.asking import Asking, Questioner, in_one
from pipeline.question.briefing import briefing
from pipeline.question.request import LINES, question_request, rephrase_request
from pipeline.threads import BEGINS_A_THREAD
from pipeline.ways import Way, made, may_stay, said_instead, ways_of, ways_to_stay, weighing_of

SIMILAR_COSINE = 0.80
TELLING_WORDS = 5
"""An answer of so many words tells something."""
REPEAT_FOCUS_WINDOW = 6


DEMANDED, DEMANDED_EARLY = 0.8, 2.3
"""What the concept's own question is worth at a break, 0 to 3: of 19 such questions two were good and six hurt; and
early, when what it asks for has hardly been told and nobody has confided anything."""
GOES_ON = frozenset({"distress", "wants_stop"})
"""Acts after which somebody who says that it can go on has said nothing to ask about."""
EARLY = 6
"""Turns up to which that is so."""
FEW_TOLD = 12
"""Words of an answer below which there is nothing in it to ask for more of, where it put a question right."""


def _is_early(context: TurnContext) -> bool:
    return context.get(ContextOutput).turn_number < EARLY


def _is_put_out(context: TurnContext, move: Move | None) -> bool:
    """Whether the last question was complained of, or put right by somebody who told next to nothing else.

    Not where the interview ends with thanks for what was told all the same.
    """
    heard = context.get(UtteranceOutput)
    thanked = context.get(ContinuationOutput).ask_closing and _tells(context)
    if move is None or thanked or says_enough(heard.utterance.text, heard.acts):
        return False
    return move.act == "complains" or (move.act == "corrects" and not move.right and not _tells(context))


def _reply(context: TurnContext, move: Move | None) -> str:
    """What is said to an act before the next question.

    Who complained and told something after all is thanked for it where the interview ends, and hears no apology.
    """
    if move is None:
        return ""
    thanked = context.get(ContinuationOutput).ask_closing and move.act == "complains" and _tells(context)
    return move.help if thanked else in_one(move.text, move.help)


def _left_by(context: TurnContext, move: Move | None) -> dict[str, bool]:
    """What a request says of an answer that leaves what was asked about.

    Who refuses something and then tells of something else at length has not turned away from that.
    """
    heard = context.get(UtteranceOutput)
    text = heard.utterance.text
    refused = [act for act in heard.acts if act.act == "declines" and act.sure]
    moved_on = bool(refused) and len(text[refused[-1].end :].split()) >= TOLD_ON
    act = move.act if move is not None else None
    return {
        "turned_away": act == "wants_topic" or (act == "declines" and not moved_on),
        "spent": says_enough(text, heard.acts) and not context.get(ContinuationOutput).ask_closing,
        "composed": move is not None and act in GOES_ON and move.leaves_answer,
    }


def _tells(context: TurnContext) -> bool:
    """Whether an answer tells enough to ask of."""
    return len(_answered(context).text.split()) >= FEW_TOLD


def _answered(context: TurnContext) -> Line:
    """What the answer tells, and what it complains of."""
    heard = context.get(UtteranceOutput)
    text = heard.content or context.answer.text.strip()
    said, acts = heard.utterance.text, heard.acts
    return Line(
        speaker="respondent", text=text, complaint=complaint(said, acts), put_right=put_right_at_once(said, acts)
    )


class QuestionStage:
    """Has the question written; the closing text and a moderator's question are sent verbatim."""

    name: ClassVar[str] = "question"
    requires: ClassVar[tuple[type[Contract], ...]] = (
        ContextOutput,
        UtteranceOutput,
        GraphOutput,
        SlotsOutput,
        StateOutput,
        StrategyOutput,
        ContinuationOutput,
    )
    provides: ClassVar[type[Contract]] = QuestionOutput

    def __init__(self, questioner: Questioner, parser: Parser) -> None:
        self._questioner = questioner
        self._parser = parser

    async def run(self, context: TurnContext) -> QuestionOutput:
        """The question as it was sent. Raises ProviderError if nothing could be written."""
        going = context.get(ContinuationOutput)
        chosen = context.get(StrategyOutput)
        turn = context.get(ContextOutput).turn_number
        asking = self._questioner.asking(context.configuration.settings, context.sink, turn)
        move = chosen.move
        if move is not None and move.then != "engine":
            return await self._reply(context, asking, move)
        before = _reply(context, move)
        if going.complete:
            return await asking.verbatim(in_one(before, context.configuration.closing_text), "closing_text")
        if chosen.injected is not None:
            return await asking.verbatim(in_one(before, chosen.injected), "moderator")
        demanded = self._demanded(context)
        if demanded is not None:
            instead = await self._staying(context, asking, before) if going.can_wait else None
            return instead or await asking.verbatim(in_one(before or self._leading_to(context), demanded), "concept")
        step = self._step(context)
        if step is not None:
            return await asking.verbatim(in_one(before, step), METHOD)
        answer = self._answer(context)
        if answer and move is not None and move.act == "asks_interviewer":
            before = move.help  # One answer is enough, and this one says what the description has.
        return await self._asked(context, asking, in_one(before, answer))

    @staticmethod
    def _answer(context: TurnContext) -> str:
        """What is answered to a question about the idea before the next one is asked."""
        focus = context.get(ContinuationOutput).focus
        configuration = context.configuration
        texts = configuration.conduct.texts if configuration.conduct is not None else None
        if texts is None:
            return ""
        return answer_to(
            focus.target if focus is not None else None,
            configuration.concept,
            texts,
            context.get(ContextOutput).turn_number,
            said=context.answer.text,
        )

    def _step(self, context: TurnContext) -> str | None:
        """The question for what a grid needs next, in the method's words."""
        going = context.get(ContinuationOutput)
        strategy = context.strategies.find(going.strategy)
        step = step_of(strategy, going.focus.target if going.focus is not None else None)
        if step is None or strategy is None:
            return None
        return question_of(step, strategy, context.state, context.configuration)

    async def _asked(self, context: TurnContext, asking: Asking, before: str) -> QuestionOutput:
        """The question as it was written; where the writer chose what it is about, the turn goes on from there."""
        going, writer = context.get(ContinuationOutput), self._questioner.writer
        closing = closing_now(context) if not before else None
        if closing is not None and await self._finds_little(context, going):
            context.replace(closing)
            return await asking.ask(await self._request(context, closing))
        ways = ways_of(context, writer)
        if not ways:
            request = await self._request(context, going)
            return self._said(context, request, await asking.ask(request, before=before))
        choices = await self._choices(context, ways)
        best = ways[0][0].final_score or 0.0
        behind = [best - (candidate.final_score or 0.0) for candidate, _ in ways]
        request = choices[0].model_copy(update={"offers": tuple(_offer(choice) for choice in choices)})
        weighing = weighing_of(context, ways) if may_stay(context, writer) else None
        asked = await asking.ask(request, before=before, choices=choices, behind=behind, weighing=weighing)
        if asked.taken:
            context.replace(ways[asked.taken][1])
        return self._said(context, choices[asked.taken or 0], replace(asked, offers=made(ways)))

    def _said(self, context: TurnContext, request: QuestionRequest, asked: QuestionOutput) -> QuestionOutput:
        """The same; where it says something else of the answer back, the turn is about that."""
        writer = self._questioner.writer
        quote = writer.said_instead(request, asked.text) if isinstance(writer, SaysBack) else None
        if quote:
            context.replace(said_instead(context, quote))
        return asked

    async def _finds_little(self, context: TurnContext, going: ContinuationOutput) -> bool:
        """Whether nothing that could be asked promises much any more."""
        writer = self._questioner.writer
        return isinstance(writer, FindsLittle) and writer.finds_little(await self._request(context, going))

    async def _staying(self, context: TurnContext, asking: Asking, before: str) -> QuestionOutput | None:
        """A question that stays with what was said, instead of one of the concept's own that can wait.

        None where that one is asked.
        """
        writer = self._questioner.writer
        ways = ways_to_stay(context, writer)
        if not ways or not isinstance(writer, ComparesWordings):
            return None
        choices, weighing = await self._choices(context, ways), weighing_of(context, ways)
        demanded = DEMANDED_EARLY if _is_early(context) else DEMANDED
        taken = writer.weighed(choices, (demanded, *weighing.worth[1:]), weighing.in_a_row)
        if ways[taken][0].strategy not in context.strategies.stays:
            return None
        context.replace(ways[taken][1])
        return replace(await asking.ask(choices[taken], before=before), taken=taken, offers=made(ways))

    async def _choices(self, context: TurnContext, ways: Sequence[Way]) -> list[QuestionRequest]:
        """A request for each way to go on."""
        stays = may_stay(context, self._questioner.writer)
        return [await self._request(context, way, candidate.tactic if stays else None) for candidate, way in ways]

    def _demanded(self, context: TurnContext) -> str | None:
        """The concept's own question that is asked next, in its words."""
        focus = context.get(ContinuationOutput).focus
        if focus is None or focus.target.kind != "topic" or not focus.target.ids[0].startswith(MUST_ASK):
            return None
        forms = self._forms(context, focus)
        return forms[0].ask if forms else focus.label

    @staticmethod
    def _leading_to(context: TurnContext) -> str:
        """What is said before a question of the concept's own, so that it does not seem to follow from the answer."""
        conduct = context.configuration.conduct
        texts = conduct.texts.demanded if conduct is not None else ()
        asked = [utterance.text for utterance in context.state.utterances if utterance.speaker == "interviewer"]
        wanted = demands_of(context.configuration.concept, context.state.language)
        before = sum(any(text in one for text in wanted) for one in asked)
        if conduct is not None and conduct.texts.demanded_early and not before and _is_early(context):
            return conduct.texts.demanded_early
        return texts[before] if before < len(texts) else ""

    def _forms(self, context: TurnContext, focus: Focus | None) -> tuple[Form, ...]:
        """The questions of the topic that is asked for; none where it is about something else."""
        if focus is None or focus.target.kind != "topic":
            return ()
        topic = agenda_of(context.configuration, context.state.language).topic(focus.target.ids[0])
        language = context.state.language
        by_language = topic.questions if topic is not None else {}
        return by_language.get(language) or by_language.get(language.split("-")[0]) or ()

    async def _reply(self, context: TurnContext, asking: Asking, move: Move) -> QuestionOutput:
        """What the interviewer says about an act, with the present question where it is asked again."""
        present = context.state.question
        if move.then == "simpler" and present is not None:
            fixed = reworded(context.state, context.configuration, context.strategies)
            if fixed is not None:
                said = await asking.verbatim(in_one(move.text, fixed), METHOD)
                return replace(said, asked=fixed)
            request = rephrase_request(context.state, context.configuration, context.strategies)
            heard = request.model_copy(update={"lines": (*request.lines, _answered(context))})
            return await asking.ask(heard, before=move.text)
        again = present.text if move.then == "again" and present is not None else ""
        said = await asking.verbatim(in_one(move.text, move.help, again), "conduct")
        return replace(said, asked=again or (move.text if move.then == "easier" else ""))

    async def _request(
        self, context: TurnContext, going: ContinuationOutput, tactic: str | None = None
    ) -> QuestionRequest:
        start = context.get(ContextOutput)
        chosen = context.get(StrategyOutput)
        configuration = context.configuration
        focus = going.focus
        text = self._told(context, focus, answered := _answered(context))
        node = context.get(GraphOutput).graph.nodes.get(focus.node_ids[0]) if focus and focus.node_ids else None
        assert going.strategy is not None
        stays = going.strategy in context.strategies.stays  # There are many, and none is about a concept.
        decided = chosen.decision is not None and chosen.decision.strategy == going.strategy
        as_chosen = decided and going.focus == chosen.focus
        if tactic is None:
            tactic = chosen.decision.tactic if chosen.decision is not None and as_chosen else ""
        return question_request(
            context.state,
            configuration,
            context.strategies,
            "closing" if going.ask_closing else "follow_up",
            turn_number=start.turn_number,
            strategy=context.strategies.by_tactic(going.strategy, tactic),
            forms=self._forms(context, focus),
            focus_label=going.subject or None,
            focus_type=focus.node_type if focus else None,
            focus_quote=focus.quote if focus else None,
            focus_is_jump=focus.is_jump if focus else False,
            focus_said_earlier_turns=start.turn_number - focus.mentioned_turn if focus and focus.mentioned_turn else 0,
            focus_is_last_said=self._is_last_said(context, focus),
            unheard=self._is_unheard(context, going),
            complained=_is_put_out(context, chosen.move),
            **_left_by(context, chosen.move),
            focus_stance=node.stance if node else 0,
            focus_emotion=(node.emotion or 0) if node else 0,
            focus_time=await self._parser.time_told(text, (focus.quote if focus else None) or "")
            if text and not stays
            else None,
            focus_rendering=await self._rendered(text, focus),
            avoid_similar=not stays and await self._is_similar(context, going),
            depth=context.get(StateOutput).graph_state.max_depth,
            lines=(*start.lines, answered)[-LINES:],
            briefing=self._briefing(context, answered),
            signals=chosen.active_signals if as_chosen else (),
            rationale=chosen.rationale if as_chosen else going.because or going.reason,
        )

    def _briefing(self, context: TurnContext, answered: Line) -> Briefing:
        said = [
            Line(speaker=u.speaker, text=u.text, complaint=complaint(u.text, u.acts))
            for u in context.state.utterances
            if u.text
        ]
        return briefing(
            (*said, answered),
            context.get(GraphOutput).graph,
            context.get(StrategyOutput).threads,
            context.get(StateOutput).guide,
            [act.act for act in context.get(UtteranceOutput).utterance.acts if act.act != "tells"],
        )

    def _told(self, context: TurnContext, focus: Focus | None, answered: Line) -> str:
        """The answer that tells what is asked about; empty where wordings are not chosen by it."""
        if context.configuration.prompts or not context.state.language.casefold().startswith("en"):
            return ""
        quote = (focus.quote if focus else None) or ""
        said = [u.text for u in context.state.utterances if u.speaker == "respondent" and quote and quote in u.text]
        return (answered.text if quote in answered.text or not said else said[-1]).strip()

    async def _rendered(self, text: str, focus: Focus | None) -> Rendering:
        """What is asked about, as a part of a sentence."""
        if focus is None or not focus.node_ids or not text:
            return Rendering()
        low = text.casefold()
        words = next((w for w in (focus.label, focus.quote or "") if w and w.casefold() in low), "")
        return await self._parser.rendered(text, words) if words else Rendering()

    def _is_unheard(self, context: TurnContext, going: ContinuationOutput) -> bool:
        """Whether the answer told something of which nothing was understood, and the question leads away from it.

        A question about an element of a concept test stays one: it would count as asked about without having been.
        So does one about what was said of the idea, or about a side of it.
        """
        focus = going.focus
        if focus is not None and (element_of(focus.target) is not None or focus.target.kind in ("lead", "aspect")):
            return False
        heard = context.get(UtteranceOutput)
        tells = all(act.act == "tells" for act in heard.utterance.acts)
        if going.ask_closing or not tells or len(heard.content.split()) < TELLING_WORDS:
            return False
        if focus is not None and focus.target.kind != "topic" and focus.node_ids:
            return False
        own = heard.utterance.id
        return not any(own in node.source_utterance_ids for node in context.get(GraphOutput).graph.live_nodes())

    def _is_last_said(self, context: TurnContext, focus: Focus | None) -> bool:
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

    async def _is_similar(self, context: TurnContext, going: ContinuationOutput) -> bool:
        """Whether a recent question had this strategy and focus, or is close to the focus in meaning."""
        recent = context.get(ContextOutput).recent_questions
        if going.focus is None or not recent:
            return False
        latest = context.state.focus_history[-REPEAT_FOCUS_WINDOW:]
        canonical = context.get(SlotsOutput).canonical
        if any(
            entry.strategy == going.strategy
            and going.focus.key in (entry.key, canonical.key_of(entry.node_id) if canonical else entry.node_id)
            for entry in latest
        ):
            return True
        rows = await self._questioner.embedder.embed([going.focus.label, *recent])
        return bool(np.max(rows[1:] @ rows[0]) >= SIMILAR_COSINE)


def _offer(request: QuestionRequest) -> Offer:
    return Offer(
        purpose=request.strategy.description if request.strategy else "",
        label=request.focus_label or "",
        node_type=request.focus_type,
        quote=request.focus_quote,
        turns_ago=request.focus_said_earlier_turns if request.focus_is_jump else 0,
    )
