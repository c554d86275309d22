"""Stage `utterance`: the respondent's utterance, checked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import ClassVar

from pipeline.acts import ANSWERS_NO, FAINT, WHERE, HeardAct, heeded, told
from pipeline.conduct.choices import (
    LONGEST_WISH,
    asked_back,
    asked_of,
    chosen_act,
    outweighs,
    question_of,
    returned,
    says_exactly,
    wished,
)
from pipeline.conduct.moment import moment_of
from pipeline.conduct.move import Moment
from pipeline.conduct.moves import meant, put_right
from pipeline.context import TurnContext
from pipeline.contracts import ContextOutput, Contract, UtteranceOutput
from pipeline.correcting import LANGUAGE, CorrectionReader
from pipeline.errors import InvalidAnswer
from pipeline.grid.moment import answered_step
from pipeline.grid.rating import in_words, parsed
from pipeline.grid.steps import begun
from pipeline.ports import ActReader
from pipeline.state import Utterance, utterance_id

SAYS_MORE = 14
"""Words of a message from which on one that chooses what is offered tells something besides, which is not lost."""


_APOSTROPHES = re.compile(
    r"(?<=[^\W\d_])[’ʼ‘`´＇](?=[^\W\d_])|(?<!\w)[’‘](?=(?:cause|cos|em|tis|twas|til|bout)\b)", re.IGNORECASE
)
"""Apostrophes in words, or that a word begins with, as keyboards of phones write them."""


def straight(text: str) -> str:
    """The text, as long as before, with straight apostrophes in its words: a phone writes “don’t”, a keyboard “don't”,
    and neither is more of what was said.
    """
    return _APOSTROPHES.sub("'", text)


def check_answer(text: str, max_chars: int) -> str:
    """The answer as it is kept: outer white space removed, apostrophes straight, everything else as it was said.

    Args:
        text: what came in.
        max_chars: longest answer, in characters (code points).
    Raises:
        InvalidAnswer: blank or without a visible character, with NUL or lone surrogates (`invalid_input`), or too
            long (`answer_too_long`).
    """
    if "\x00" in text:
        raise InvalidAnswer("The answer contains NUL characters, which can't be stored.")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidAnswer("The answer contains broken characters (lone surrogates).")
    kept = straight(text.strip())
    if len(kept) > max_chars:
        raise InvalidAnswer(
            f"The answer has {len(kept)} characters; at most {max_chars} are possible.", code="answer_too_long"
        )
    if not any(unicodedata.category(char)[0] not in "CZ" for char in kept):
        raise InvalidAnswer("The answer is empty.")
    return kept


class UtteranceStage:
    """Makes the utterance and hears its acts; a skip has no text, an amendment is content."""

    name: ClassVar[str] = "utterance"
    requires: ClassVar[tuple[type[Contract], ...]] = (ContextOutput,)
    provides: ClassVar[type[Contract]] = UtteranceOutput

    def __init__(self, reader: ActReader, corrections: CorrectionReader) -> None:
        self._reader = reader
        self._corrections = corrections

    async def run(self, context: TurnContext) -> UtteranceOutput:
        """The utterance of this turn. Raises InvalidAnswer, ProviderError."""
        answer = context.answer
        start = context.get(ContextOutput)
        text = ""
        if answer.kind != "skip":
            text = check_answer(answer.text, context.configuration.settings.max_answer_chars)
        if answer.kind == "correct":
            last = context.state.last_answer()
            if last is None or last.id != answer.corrects:
                raise InvalidAnswer("Only the last answer can be corrected.")
        if answer.kind == "rate":
            return self._rated(context, text)
        acts = await self._corrected(context, text, await self._acts(context, text, start.question))
        utterance = Utterance(
            id=utterance_id(context.state, start.turn_number, "respondent"),
            turn_number=start.turn_number,
            speaker="respondent",
            kind=answer.kind,
            text=text,
            recorded_at=context.now,
            focus_key=start.focus_key,
            corrects=answer.corrects if answer.kind == "correct" else None,
            spoken=answer.spoken,
            confidence=answer.confidence,
            speech_ms=answer.speech_ms,
            acts=acts,
        )
        rights = [put_right(text, act) for act in acts if act.act == "corrects" and act.sure]
        content = "\n\n".join(part for part in (told(text, acts), *rights) if part)
        return UtteranceOutput(
            utterance=utterance, kind=answer.kind, has_content=bool(content), content=content, acts=acts
        )

    def _rated(self, context: TurnContext, text: str) -> UtteranceOutput:
        """Ratings, told in words; there is nothing else to understand in them."""
        asked, number = context.state.question, context.get(ContextOutput).turn_number
        progress = begun(context.state.grid, context.configuration)
        ratings = parsed(text, progress, asked.target if asked is not None else None)
        utterance = Utterance(
            id=utterance_id(context.state, number, "respondent"),
            turn_number=number,
            speaker="respondent",
            kind="rate",
            text=in_words(ratings, progress),
            recorded_at=context.now,
        )
        return UtteranceOutput(utterance=utterance, kind="rate", has_content=False, content="", acts=())

    async def _acts(self, context: TurnContext, text: str, question: str) -> tuple[HeardAct, ...]:
        moment = moment_of(context, ())
        if moment is None or not text:
            return ()
        chosen = chosen_act(moment)
        if chosen is not None and says_exactly(moment):
            return (HeardAct(act=chosen, start=0, end=len(text), heard_by="offer"),)
        asked = asked_back(moment) or question
        read = await self._reader.read(text, asked, context.state.language)
        if chosen is not None and returned(moment) and (lost := [act for act in read if act.about == WHERE]):
            return (*lost,)
        clear, kind = heeded(text, read), asked_of(moment)
        if not outweighs(clear, kind):
            reply = await self._replied(context, moment, clear) or wished(moment)
            if reply is not None:
                return (reply,)
        by_words = not outweighs(clear, kind, plainly=returned(moment))
        most = LONGEST_WISH if kind == "pause" else SAYS_MORE
        if chosen is not None and by_words and len(text.split()) <= most:
            return (HeardAct(act=chosen, start=0, end=len(text), heard_by="offer"),)
        wishes = any(act.act == "wants_withdrawal" and act.sure for act in clear)
        asks_again = bool(moment.texts.withdrawal_again) and not wishes and len(text.split()) <= LONGEST_WISH
        if kind == "withdrawal" and asks_again and not outweighs(clear, kind):
            # Nothing is deleted, and nothing told on, before that is clear.
            return (HeardAct(act="wants_withdrawal", start=0, end=len(text), sure=False, heard_by="offer"),)
        heard = meant(moment, read)
        step = answered_step(context)
        if step is not None and step.name == "opposite":
            # "The opposite would be …" answers the question and takes nothing back.
            heard = tuple(act for act in heard if act.act != "corrects" or act.details)
        if step is not None:
            # A comparison has words of questions in it: “they show you how it looks”.
            heard = tuple(
                HeardAct(act="tells", start=act.start, end=act.end) if _only_compares(act, text) else act
                for act in heard
            )
        return heeded(text, heard)

    async def _replied(self, context: TurnContext, moment: Moment, heard: Sequence[HeardAct]) -> HeardAct | None:
        """What somebody answers to what was asked back, in any words; None where that is not understood.

        Nobody is taken for safe who is heard to be in danger; a subject that they name is asked for.
        """
        asked = asked_of(moment)
        if asked is None:
            return None
        question, text = question_of(moment, asked), moment.said
        reply = await self._reader.reply(text, question, asked, context.state.language)
        if reply is None:
            return None
        in_danger = reply.about == ANSWERS_NO and any(act.act == "risk" and act.about != FAINT for act in heard)
        named = any(act.act == "wants_topic" and act.details.get("topic") for act in heard)
        return None if in_danger or (named and reply.act == "wants_topic") else reply

    async def _corrected(self, context: TurnContext, text: str, acts: tuple[HeardAct, ...]) -> tuple[HeardAct, ...]:
        """The acts, with what is put right of the answers before; an amendment of an answer is none of it."""
        state = context.state
        heard = context.configuration.conduct is not None and context.answer.kind == "answer"
        if not heard or state.language.casefold().split("-")[0] != LANGUAGE or answered_step(context) is not None:
            return acts
        told = [u.text for u in state.utterances if u.speaker == "respondent" and u.text]
        return await self._corrections.read(text, acts, told, context.get(ContextOutput).question)


def _only_compares(heard: HeardAct, text: str) -> bool:
    """Whether an answer to a comparison asks nothing back, though the reader alone hears that it does."""
    return heard.act == "asks_back" and heard.heard_by == "reader" and "?" not in text
