"""Asks one question: written, checked while it streams, written again once, else made of the strategy's template."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import structlog

from pipeline.concept import PipelineSettings
from pipeline.contracts import QuestionOutput
from pipeline.errors import ProviderError
from pipeline.ports import (
    ComparesWordings,
    Embedder,
    JudgesWordings,
    QuestionRequest,
    QuestionSink,
    QuestionWriter,
    RefusedText,
)
from pipeline.question.announced import OFFER
from pipeline.question.checker import LEAD_WORDS, Checker, Refusal, check
from pipeline.question.pieces import in_words
from pipeline.question.selection import best
from pipeline.question.stream import StreamGuard, Verdict
from pipeline.question.text import sentences
from pipeline.strategies import Move

CANDIDATES = 3
OWN_PURPOSE = "Go on from these words as the moment wants it."
"""What a second try should do where a model chose itself what it is about."""

log = structlog.get_logger()


Written = str | ProviderError
RunAll = Callable[[Sequence[Coroutine[Any, Any, Written]]], Awaitable[list[Written]]]


async def run_in_order(texts: Sequence[Coroutine[Any, Any, Written]]) -> list[Written]:
    """Await the texts one after the other."""
    return [await text for text in texts]


class Questioner:
    """Phrases questions, for all sessions with the same writer."""

    def __init__(
        self,
        writer: QuestionWriter,
        embedder: Embedder,
        *,
        second: QuestionWriter | None = None,
        secrets: Sequence[str] = (),
        run_all: RunAll = run_in_order,
    ) -> None:
        """Args:
        writer: writes.
        embedder: measures how close two questions are.
        second: writes where the first fails before anything was sent; None where that is an error.
        secrets: texts that no question may repeat.
        run_all: awaits several texts.
        """
        self.writer = writer
        self.second = second
        self.embedder = embedder
        self.secrets = tuple(secrets)
        self.run_all = run_all

    def asking(self, settings: PipelineSettings, sink: QuestionSink, turn_number: int) -> Asking:
        """One question that is sent to `sink`."""
        return Asking(self, settings, sink, turn_number)


@dataclass(frozen=True)
class Weighing:
    """What each of several questions of a concept test is, or is worth, and how many of the latest stayed."""

    worth: tuple[Move | float, ...]
    in_a_row: int


class Asking:
    """One question that is sent to `sink`. What was sent stays unless it is retracted."""

    def __init__(self, who: Questioner, settings: PipelineSettings, sink: QuestionSink, turn_number: int) -> None:
        self._writer = who.writer
        self._second = who.second
        self._embedder = who.embedder
        self._secrets = who.secrets
        self._run_all = who.run_all
        self._settings = settings
        self._sink = sink
        self._turn_number = turn_number
        self._refused: list[str] = []
        self._reasons: list[str] = []
        self._unusable: list[RefusedText] = []
        self._attempts = 0
        self._before = ""
        self._request: QuestionRequest | None = None
        self._choices: tuple[QuestionRequest, ...] = ()
        self._taken = 0
        self._said: int | None = None
        self._own = ""

    async def verbatim(self, text: str, provider: str) -> QuestionOutput:
        """Send a fixed text, unchecked."""
        await self._sink.started(self._turn_number)
        await self._say(text)
        return QuestionOutput(text=text, fallback=False, provider=provider, attempts=1)

    async def ask(
        self,
        request: QuestionRequest,
        *,
        before: str = "",
        choices: Sequence[QuestionRequest] = (),
        behind: Sequence[float] = (),
        weighing: Weighing | None = None,
    ) -> QuestionOutput:
        """Write, check and send a question, behind a reply that is sent as it is.

        Args:
            request: what it is about, with what else is offered.
            before: the reply.
            choices: a request for each offer alone, in the same order.
            behind: how much less each of them scored than the first.
            weighing: in a concept test, what each choice is worth.
        Raises:
            ProviderError: the writer failed before anything was out, and there is no second one.
        """
        if self._secrets:
            self._secrets = (*self._secrets, *request.instructions)
        if before:
            request = request.model_copy(update={"follows_reply": True, "reply": before})
        self._request = request
        self._choices = tuple(choices)
        if choices and isinstance(self._writer, ComparesWordings):
            writer = self._writer
            if weighing is not None:
                self._taken = await writer.weighed(choices, weighing.worth, weighing.in_a_row)
            else:
                self._taken = await writer.preferred(choices, behind)
            self._request = request = self._choices[self._taken]
            request = request.model_copy(update={"follows_reply": True, "reply": before}) if before else request
        self._before = before
        await self._begin()
        try:
            return await self._ask(request)
        except ProviderError as error:
            if self._second is None:
                raise
            log.warning("llm_fallback", role="generation", task=request.kind, error=type(error).__name__)
        self._refused.append("provider_error")
        self._writer, self._second = self._second, None
        request = await self._saying_it(self._settled(request))
        return replace(await self._ask(request), fallback=True, by_second=True)

    async def _ask(self, request: QuestionRequest) -> QuestionOutput:
        if self._settings.enable_question_self_selection and request.kind == "follow_up":
            chosen = await self._selected(self._settled(request))
            if chosen is not None:
                return await self._send(chosen, fallback=False)
            return await self._by_template(request)
        sent = await self._stream(request.model_copy(update={"variant": 0}))
        if sent is not None:
            return sent
        self._choose_again(request)
        try:
            sent = await self._stream(request.model_copy(update={"variant": 1, "refused": tuple(self._unusable)}))
        except ProviderError:
            self._refused.append("provider_error")
        return sent or await self._by_template(self._settled(request))

    async def _by_template(self, request: QuestionRequest) -> QuestionOutput:
        return await self._send(self._writer.template(await self._saying_it(request)), fallback=True)

    async def _saying_it(self, request: QuestionRequest) -> QuestionRequest:
        """The request, behind what the writer was to say before its question and can't."""
        if not request.unsaid or request.follows_reply:
            return request
        await self._say(f"{request.unsaid} ")
        self._before = request.unsaid
        return request.model_copy(update={"follows_reply": True, "reply": request.unsaid, "unsaid": ""})

    async def _stream(self, request: QuestionRequest) -> QuestionOutput | None:
        """One attempt; None when it was refused and nothing of it stays with the respondent."""
        self._attempts += 1
        cosines: dict[str, float] = {}
        guard = self._guard(request, cosines)
        try:
            verdict = Verdict()
            async with aclosing(self._writer.write(request)) as pieces:
                async for piece in pieces:
                    if request.offers and self._takes(piece):
                        if fixed := demanded_of(request, self._own):
                            lead = "".join([rest async for rest in pieces])
                            return await self._send(in_one(self._lead(lead, fixed, request), fixed), fallback=False)
                        continue
                    verdict = guard.feed(piece)
                    await self._pass_on(verdict.release)
                    if verdict.action != "go":
                        break
            if verdict.action == "go":
                cosines.update(await self._cosines(guard.text, request.recent_questions))
                verdict = guard.finish()
                if verdict.action == "go":
                    await self._pass_on(verdict.release)
                    return self._output(guard.out, fallback=False)
        except ProviderError:
            if not guard.out:
                raise
            self._refused.append("provider_error")
            if _is_whole(guard.text) and (verdict := guard.finish()).action == "go":
                await self._pass_on(verdict.release)
                return self._output(guard.out, fallback=False)
            return await self._mend(guard, self._settled(request))
        self._note(verdict.refusals)
        reasons = tuple(f"{refusal.code}: {refusal.detail}" for refusal in verdict.refusals)
        self._unusable.append(RefusedText(text=guard.text, reasons=reasons))
        if verdict.action == "retract":
            await self._sink.retracted()
            await self._begin()
            return None
        return None if verdict.action == "rewrite" else await self._mend(guard, self._settled(request))

    def _takes(self, piece: str) -> bool:
        """Whether a piece is the number of an offer, which is then taken; the first one for a number that is none."""
        found = OFFER.fullmatch(piece)
        if found is None or self._said is not None:
            return False
        self._said = int(found[1])
        if 1 <= self._said <= len(self._choices):
            self._taken = self._said - 1
            self._request = self._choices[self._taken]
        elif self._said == 0 and self._request is not None:
            self._own = said_in(self._request, found[2] or "") or topic_in(self._request, found[2] or "")
        return True

    def _lead(self, text: str, fixed: str, request: QuestionRequest) -> str:
        """The sentences of a text that lead to a question of the study's own, up to the first that may not be said."""
        before = re.split(re.escape(fixed), text, maxsplit=1, flags=re.I)[0].strip(' “”"')
        if not before or any(mark in before for mark in "?؟"):
            return ""
        checker = Checker(
            language=request.language, max_words=LEAD_WORDS, allowed_words=own_words(request), secrets=self._secrets
        )
        told = sentences(before)
        fits = next((end for end in range(len(told), 0, -1) if not checker.statement(" ".join(told[:end]))), 0)
        return " ".join(told[:fits])

    def _choose_again(self, request: QuestionRequest) -> None:
        """Let the second try take something else: what can't be asked of one thing may be asked of another."""
        if request.offers:
            self._taken, self._said, self._own = 0, None, ""
            self._request = request

    def _settled(self, request: QuestionRequest) -> QuestionRequest:
        """The request for the offer that was taken, with nothing left to choose."""
        if not request.offers or not self._choices:
            return request
        choice = self._choices[self._taken]
        update: dict[str, Any] = {"follows_reply": request.follows_reply, "reply": request.reply}
        if self._own:
            # What the engine would have asked of something else is no purpose for this.
            free = choice.strategy and choice.strategy.model_copy(update={"description": OWN_PURPOSE, "templates": {}})
            update |= {"focus_label": self._own, "focus_quote": self._own, "focus_type": None, "strategy": free}
            update |= {"kind": "follow_up"}
            if topic_in(request, self._own):
                update |= {"focus_label": None, "focus_quote": None}
        return choice.model_copy(update=update)

    async def _begin(self) -> None:
        await self._sink.started(self._turn_number)
        await self._say(self._before + " " if self._before else "")

    async def _mend(self, guard: StreamGuard, request: QuestionRequest) -> QuestionOutput:
        """Complete a question of which the beginning was sent, with an acceptable rest."""
        self._attempts += 1
        rest = guard.replacement(self._writer.template(request))
        await self._say(rest)
        trimmed = not rest.strip(" ?؟")
        return self._output(guard.out + rest, fallback=not trimmed)

    async def _selected(self, request: QuestionRequest) -> str | None:
        """The best of three acceptable candidates; none if none is acceptable.

        Raises:
            ProviderError: not one of them could be written.
        """
        acceptable: list[str] = []
        failures: list[ProviderError] = []
        self._attempts += CANDIDATES
        written = await self._run_all([self._written(request, variant) for variant in range(CANDIDATES)])
        for text in written:
            if isinstance(text, ProviderError):
                failures.append(text)
                self._refused.append("provider_error")
                continue
            refusals = check(
                text,
                recent_questions=request.recent_questions,
                language=request.language,
                max_words=request.max_words,
                cosine=await self._cosines(text, request.recent_questions),
                allowed_words=own_words(request),
                repeat_window=self._settings.repeat_window,
                repeat_jaccard=self._settings.repeat_jaccard,
                repeat_cosine=self._settings.repeat_cosine,
                secrets=self._secrets,
            )
            if refusals:
                self._note(refusals)
            else:
                acceptable.append(text)
        if len(failures) == CANDIDATES:
            raise failures[0]
        return best(acceptable, request) if acceptable else None

    async def _written(self, request: QuestionRequest, variant: int) -> Written:
        """A whole question, or why there is none."""
        try:
            async with aclosing(self._writer.write(request.model_copy(update={"variant": variant}))) as written:
                return "".join([piece async for piece in written]).strip()
        except ProviderError as error:
            return error

    async def _send(self, text: str, *, fallback: bool) -> QuestionOutput:
        await self._say(text)
        return self._output(text, fallback=fallback)

    async def _pass_on(self, released: str) -> None:
        """Send what was released: word by word, or as it comes where sentences are held."""
        if self._settings.question_streaming == "live":
            await self._say(released)
        elif released:
            await self._sink.delta(released)

    async def _say(self, text: str) -> None:
        """Send a text word by word."""
        for piece in in_words(text):
            await self._sink.delta(piece)

    async def _cosines(self, text: str, recent: Sequence[str]) -> dict[str, float]:
        if not recent or not text.strip():
            return {}
        rows = await self._embedder.embed([text, *recent])
        return dict(zip(recent, (rows[1:] @ rows[0]).tolist(), strict=True))

    def _guard(self, request: QuestionRequest, cosines: dict[str, float]) -> StreamGuard:
        return StreamGuard(
            mode=self._settings.question_streaming,
            hold_words=self._settings.hold_words,
            language=request.language,
            max_words=request.max_words,
            recent_questions=request.recent_questions,
            allowed_words=own_words(request),
            cosine=cosines,
            repeat_window=self._settings.repeat_window,
            repeat_jaccard=self._settings.repeat_jaccard,
            repeat_cosine=self._settings.repeat_cosine,
            secrets=self._secrets,
        )

    def _note(self, refusals: Sequence[Refusal]) -> None:
        self._refused.extend(refusal.code for refusal in refusals)
        self._reasons.extend(f"{refusal.code}: {refusal.detail}" for refusal in refusals)
        log.info("question_refused", codes=[refusal.code for refusal in refusals])

    def _output(self, text: str, *, fallback: bool) -> QuestionOutput:
        return QuestionOutput(
            text=in_one(self._before, text),
            asked=text if self._before else "",
            fallback=fallback,
            provider=type(self._writer).__name__,
            attempts=max(1, self._attempts),
            refusals=tuple(self._refused),
            reasons=tuple(self._reasons),
            worth=_worth(self._writer, self._request, text),
            taken=self._taken,
            said=self._said,
            own=self._own,
        )


def _worth(writer: QuestionWriter, request: QuestionRequest | None, text: str) -> float | None:
    """What a writer thinks of a wording, if it tells."""
    return writer.worth(request, text) if request and isinstance(writer, JudgesWordings) else None


def said_in(request: QuestionRequest, quote: str) -> str:
    """Words that a model goes on from, as the respondent said them; empty where they did not say them."""
    said = [line.text for line in (*request.briefing.conversation, *request.lines) if line.speaker == "respondent"]
    said.append(request.briefing.answer)
    wanted = r"\W+".join(map(re.escape, re.findall(r"\w+", quote)))
    if not wanted:
        return ""
    found = (re.search(rf"\b{wanted}\b", text, re.I) for text in reversed(said))
    return next((match[0] for match in found if match is not None), "")


def topic_in(request: QuestionRequest, label: str) -> str:
    """The topic of the guide that a model names; empty where it names none."""
    wanted = " ".join(re.findall(r"\w+", label.casefold()))
    topics = {" ".join(re.findall(r"\w+", one.label.casefold())): one.label for one in request.briefing.guide}
    return topics.get(wanted, "") if wanted else ""


def demanded_of(request: QuestionRequest, topic: str) -> str:
    """The study's own question for a topic that a model names; empty where there is none."""
    asked = (one.question for one in request.briefing.guide if topic and one.label == topic)
    return next(asked, "")


def in_one(*parts: str) -> str:
    """The parts that are not empty, as one text."""
    return " ".join(part for part in parts if part)


def own_words(request: QuestionRequest) -> tuple[str, ...]:
    """Words of the respondent and of the topic, which a question may use."""
    lines = (*request.lines, *request.briefing.conversation)
    said = [*(line.text for line in lines if line.speaker == "respondent"), request.briefing.answer]
    quotes = (request.focus_quote, *(offer.quote for offer in request.offers))
    words = (*said, request.topic, request.stimulus, *(quote for quote in quotes if quote))
    return tuple(" ".join(words).casefold().split())


def _is_whole(text: str) -> bool:
    """Whether a text ends with a question mark, so that it can be used although the writer failed after it."""
    return text.rstrip().endswith(("?", "؟"))
