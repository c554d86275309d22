"""Stage `question`: the next question is written, checked, and streamed while it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, TypeGuard

from pipeline.acts import Act, says_enough
from pipeline.concept import demands_of
from pipeline.conduct.move import Move
from pipeline.context import TurnContext
from pipeline.continuing import (
    TURNS_FOR_THE_END,
    asked_once_more,
    closing_now,
    continued,
)
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
from pipeline.focus import Focus
from pipeline.grid.steps import step_of
from pipeline.grid.wording import METHOD, question_of, reworded
from pipeline.guide import MUST_ASK, agenda_of, questions_of
from pipeline.leads import asks_of_idea
from pipeline.offers import chosen_by_writer
from pipeline.ports import (
    AsksWhatElse,
    ComparesWordings,
    Consoles,
    Ending,
    FindsLastWords,
    FindsLittle,
    HearsOut,
    Offer,
    Parser,
    QuestionRequest,
    SaysBack,
)
from pipeline.question.answering import answer_in, answer_to
from pipeline.question.asking import Asking, Questioner, in_one
from pipeline.question.last_words import last_words
from pipeline.question.request import ending_request, rephrase_request
from pipeline.requesting import FEW_TOLD, Requests, answered, tells
from pipeline.ways import (
    Way,
    chosen_freely,
    closing_offer,
    made,
    may_stay,
    put_off,
    said_instead,
    told_late,
    ways_of,
    ways_to_stay,
    weighing_of,
)

DEMANDED, DEMANDED_EARLY = 0.8, 2.3
"""What the concept's own question is worth at a break, 0 to 3: of 19 such questions two were good and six hurt; and
early, when what it asks for has hardly been told and nobody has confided anything."""
APOLOGISES: frozenset[Act] = frozenset({"asks_back", "complains", "corrects"})
"""What is answered by an apology."""
EARLY = 6
"""Turns up to which that is so."""
HEARD_OUT = 12
"""Words of the last answer of all from which on it is acknowledged."""
TELLS_ON_AT_LENGTH = 20
"""Words of an answer that leave a language model something to go on with."""
NOT_WHAT_ELSE = "what was asked was left, and what else there is was asked before: the next topic of the guide"
"""Why a topic of the guide is asked for, where the engine chose something else."""


def _is_early(context: TurnContext) -> bool:
    return context.get(ContextOutput).turn_number < EARLY


def _reply(context: TurnContext, move: Move | None) -> str:
    """What is said to an act before the next question.

    Who complained and told something after all is thanked for it where the interview ends, and hears no apology.
    """
    conduct = context.configuration.conduct
    if move is None:
        return conduct.texts.not_over if conduct is not None and context.get(ContextOutput).reopened else ""
    thanked = context.get(ContinuationOutput).ask_closing and move.act == "complains" and tells(context)
    return move.help if thanked else in_one(move.text, move.help)


def _finds_last_words(writer: object) -> TypeGuard[FindsLastWords]:
    return isinstance(writer, FindsLastWords) and writer.finds_last_words


def _heard_out(context: TurnContext) -> str:
    """What shows that the last answer of all was heard, where it told something; empty else."""
    conduct, heard = context.configuration.conduct, context.get(UtteranceOutput)
    told = len(heard.content.split()) >= HEARD_OUT and context.answer.kind == "answer"
    if conduct is None or not told or says_enough(heard.utterance.text, heard.acts):
        return ""
    texts, said = conduct.texts, context.answer.text.casefold().replace("’", "'")
    asks = texts.closing_passed_on and any(words in said for words in texts.passes_on)
    return texts.closing_passed_on if asks else texts.closing_heard


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
        self._requests = Requests(questioner.embedder, parser)

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
        going = await self._heard_to_the_end(context, going)
        ending = await self._last_words(context, going, before)
        if ending is not None and ending.asks_about:
            context.replace(asked_once_more(context) or going)
            return await asking.verbatim(in_one(before, ending.text), type(self._questioner.writer).__name__)
        if going.complete:
            before = in_one(before, ending.text if ending is not None else await self._consolation(context, going))
            before = before or _heard_out(context)
            return await asking.verbatim(in_one(before, context.configuration.closing_text), "closing_text")
        if chosen.injected is not None:
            return await asking.verbatim(in_one(before, chosen.injected), "moderator")
        demanded = None if self._waits(context, going) else self._demanded(context)
        by_model = context.configuration.is_written_by_model and demanded is None
        described = "" if by_model else self._described(context)
        if described:
            before = move.help if move is not None and move.act == "asks_interviewer" else before
            before = in_one(before, described)
        if demanded is not None and not described:
            before = in_one(before, self._silent(context, move))
        if demanded is not None:
            instead = await self._staying(context, asking, before) if going.can_wait else None
            return instead or await asking.verbatim(in_one(before or self._leading_to(context), demanded), "concept")
        step = self._step(context)
        if step is not None:
            return await asking.verbatim(in_one(before, step), METHOD)
        answer = "" if described or by_model else self._answer(context)
        if answer and move is not None and move.act == "asks_interviewer":
            before = move.help  # One answer is enough, and this one says what the description has.
        return await self._asked(context, asking, in_one(before, answer))

    @staticmethod
    def _described(context: TurnContext) -> str:
        """What the description of the idea answers to a question of the message."""
        configuration = context.configuration
        if configuration.conduct is None or context.answer.kind != "answer":
            return ""
        return answer_in(configuration.concept, context.answer.text, configuration.conduct.texts)

    @staticmethod
    def _silent(context: TurnContext, move: Move | None) -> str:
        """What is said to a question about the idea that the description does not answer, where another one follows."""
        concept, conduct = context.configuration.concept, context.configuration.conduct
        asks = concept.stimulus and asks_of_idea(context.answer.text, context.state.language)
        told = move is not None and move.act == "asks_interviewer"
        if conduct is None or not conduct.texts.idea_silent or not asks or told or context.answer.kind != "answer":
            return ""
        silent = conduct.texts.idea_silent
        return silent[context.get(ContextOutput).turn_number % len(silent)]

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
        going = await self._by_the_guide(context, going)
        closing = closing_now(context) if not before else None
        if closing is not None and await self._finds_little(context, going):
            context.replace(closing)
            return await asking.ask(await self._requests.one(context, closing))
        ways = ways_of(context, writer)
        if not ways:
            request = await self._requests.one(context, going)
            before = await self._unless_consoled(context, request, before)
            if self._may_put_off(context, going):
                return await self._closing(context, asking, request, before)
            return self._said(context, request, await asking.ask(request, before=before))
        choices = await self._choices(context, ways)
        if closing is not None and _finds_last_words(writer):
            choices.append(await self._requests.one(context, closing))
        before = await self._unless_consoled(context, choices[0], before)
        best = ways[0][0].final_score or 0.0
        behind = [best - (candidate.final_score or 0.0) for candidate, _ in ways]
        request = choices[0].model_copy(update={"offers": tuple(_offer(choice) for choice in choices)})
        weighing = weighing_of(context, ways) if may_stay(context, writer) else None
        asked = await asking.ask(request, before=before, choices=choices, behind=behind, weighing=weighing)
        if asked.own:
            context.replace(chosen_freely(context, asked.own))
            return replace(asked, offers=made(ways))
        if closing is not None and asked.taken == len(ways):
            context.replace(closing)
            return replace(asked, offers=(*made(ways), closing_offer(context)))
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

    async def _unless_consoled(self, context: TurnContext, request: QuestionRequest, before: str) -> str:
        """The reply; without an apology for a question where somebody's death is told: that is answered instead."""
        writer, move = self._questioner.writer, context.get(StrategyOutput).move
        sorry = move is not None and move.act in APOLOGISES and not move.help and before == move.text
        if not before or not sorry or not isinstance(writer, Consoles):
            return before
        return "" if await writer.consolation(request) else before

    async def _consolation(self, context: TurnContext, going: ContinuationOutput) -> str:
        """What is said to a death that the last answer of all tells of."""
        writer, closing = self._questioner.writer, context.strategies.closing
        if closing is None or context.answer.kind != "answer" or not isinstance(writer, Consoles):
            return ""
        return await writer.consolation(await self._requests.one(context, replace(going, strategy=closing.name)))

    def _may_put_off(self, context: TurnContext, going: ContinuationOutput) -> bool:
        """Whether a language model may ask about what was told in place of the closing question.

        Also where somebody refused, or has no more to tell of what was asked, which is no end of all that there is.
        """
        start, writer = context.get(ContextOutput), self._questioner.writer
        room = going.ask_closing and start.max_turns - start.turn_number >= TURNS_FOR_THE_END
        able = _finds_last_words(writer) and chosen_by_writer(context.configuration, compares=False)
        move = context.get(StrategyOutput).move
        return room and able and (move is None or move.then == "engine") and context.answer.kind == "answer"

    @staticmethod
    async def _closing(context: TurnContext, asking: Asking, request: QuestionRequest, before: str) -> QuestionOutput:
        """The closing question, or a question about words of the last answer that a language model would rather ask."""
        offered = request.model_copy(update={"offers": (_offer(request),)})
        asked = await asking.ask(offered, before=before, choices=[request])
        instead = told_late(context, asked.own) if asked.own else None
        if instead is not None:
            context.replace(instead)
        return asked

    async def _by_the_guide(self, context: TurnContext, going: ContinuationOutput) -> ContinuationOutput:
        """The same; with the guide's next topic where it would be asked once more what else there is."""
        writer, topics = self._questioner.writer, context.strategies.topics
        decided = context.get(StrategyOutput).decision is not None and context.get(StrategyOutput).directive is None
        if topics is None or going.ask_closing or going.because or not decided or not isinstance(writer, AsksWhatElse):
            return going
        agenda = agenda_of(context.configuration, context.state.language)
        target = agenda.next_target(context.get(StateOutput).guide, context.get(ContextOutput).turn_number)
        if target is None or not await writer.repeats_what_else(await self._requests.one(context, going)):
            return going
        focus = Focus(target=target, label=target.label)
        context.replace(continued(context, "", strategy=topics, focus=focus, because=NOT_WHAT_ELSE))
        return context.get(ContinuationOutput)

    async def _heard_to_the_end(self, context: TurnContext, going: ContinuationOutput) -> ContinuationOutput:
        """The same; where something weighs that was told so late, what is asked about it before the end."""
        writer, closing = self._questioner.writer, context.strategies.closing
        if closing is None or not (going.complete or going.ask_closing):
            return going
        last = asked_once_more(context) if going.complete else going
        hears = isinstance(writer, HearsOut) or _finds_last_words(writer)
        quote = ""
        if last is not None and isinstance(writer, HearsOut):
            quote = await writer.left_to_tell(await self._requests.one(context, last))
        waits = bool(quote) or (going.ask_closing and not hears)
        instead = (last if going.complete else put_off(context, quote)) if waits else None
        if instead is not None:
            context.replace(instead)
        return instead or going

    async def _last_words(self, context: TurnContext, going: ContinuationOutput, before: str) -> Ending | None:
        """What a language model says to the last answer of all, or asks about it; None where nothing was told."""
        writer, closing = self._questioner.writer, context.strategies.closing
        told = context.answer.kind == "answer" and len(context.answer.text.split()) >= FEW_TOLD
        if not going.complete or closing is None or not told or not _finds_last_words(writer):
            return None
        request = await self._requests.one(context, replace(going, strategy=closing.name))
        may_ask = asked_once_more(context) is not None
        ending = ending_request(request, context.configuration.closing_text, before, may_ask=may_ask)
        return await last_words(writer, ending, self._questioner.secrets)

    def _waits(self, context: TurnContext, going: ContinuationOutput) -> bool:
        """Whether a question of the concept's own waits, where a language model was told something to go on with or
        asked something, which it answers better than the description's words.

        The turn then goes on by the engine's choice.
        """
        chosen, said = context.get(StrategyOutput), context.get(UtteranceOutput)
        tells = len(said.content.split()) >= TELLS_ON_AT_LENGTH or any(
            act.act in ("asks_interviewer", "asks_back") for act in said.utterance.acts
        )
        able = _finds_last_words(self._questioner.writer) and chosen_by_writer(context.configuration, compares=False)
        if chosen.decision is None or not going.can_wait or not able or not tells:
            return False
        context.replace(continued(context, "", strategy=chosen.decision.strategy, focus=chosen.focus))
        return True

    async def _finds_little(self, context: TurnContext, going: ContinuationOutput) -> bool:
        """Whether nothing that could be asked promises much any more."""
        writer = self._questioner.writer
        return isinstance(writer, FindsLittle) and await writer.finds_little(await self._requests.one(context, going))

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
        taken = await writer.weighed(choices, (demanded, *weighing.worth[1:]), weighing.in_a_row)
        if ways[taken][0].strategy not in context.strategies.stays:
            return None
        context.replace(ways[taken][1])
        return replace(await asking.ask(choices[taken], before=before), taken=taken, offers=made(ways))

    async def _choices(self, context: TurnContext, ways: Sequence[Way]) -> list[QuestionRequest]:
        """A request for each way to go on."""
        stays = may_stay(context, self._questioner.writer)
        return await self._requests.all(context, [(way, one.tactic if stays else None) for one, way in ways])

    def _demanded(self, context: TurnContext) -> str | None:
        """The concept's own question that is asked next, in its words."""
        focus = context.get(ContinuationOutput).focus
        if focus is None or focus.target.kind != "topic" or not focus.target.ids[0].startswith(MUST_ASK):
            return None
        forms = questions_of(context.configuration, context.state.language, focus.target)
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

    async def _reply(self, context: TurnContext, asking: Asking, move: Move) -> QuestionOutput:
        """What the interviewer says about an act, with the present question where it is asked again."""
        present = context.state.question
        if move.then == "simpler" and present is not None:
            fixed = reworded(context.state, context.configuration, context.strategies)
            if fixed is not None:
                said = await asking.verbatim(in_one(move.text, fixed), METHOD)
                return replace(said, asked=fixed)
            request = rephrase_request(context.state, context.configuration, context.strategies)
            heard = request.model_copy(update={"lines": (*request.lines, answered(context))})
            return await asking.ask(heard, before=move.text)
        again = present.text if move.then == "again" and present is not None else ""
        described = self._described(context) if move.act == "dont_know" else ""
        said = await asking.verbatim(in_one(described, move.text, move.help, again), "conduct")
        return replace(said, asked=again or (move.text if move.then == "easier" else ""))


def _offer(request: QuestionRequest) -> Offer:
    return Offer(
        purpose=request.strategy.description if request.strategy else "",
        label=request.focus_label or "",
        node_type=request.focus_type,
        quote=request.focus_quote,
        turns_ago=request.focus_said_earlier_turns if request.focus_is_jump else 0,
        closes=request.kind == "closing",
    )
