"""Questions by a language model, streamed while they are written."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest
from pipeline.language.prompted.choosing import as_offered, shown_offers, taking
from pipeline.language.prompted.delimiting import block, conversation, quoted
from pipeline.language.prompted.languages import language_name
from pipeline.language.prompted.memo import PerObject
from pipeline.language.prompted.prompts import Prompts
from pipeline.language.prompted.terms import method_values, signal_words, spaced
from pipeline.language.prompted.tidying import Tidying
from pipeline.ports import Ending, Line, QuestionRequest, QuestionWriter
from pipeline.question.announced import OFFER, Announced
from pipeline.question.templates import shuffled, was_asked

EXAMPLES = 3
"""Template questions that a prompt shows as examples of style."""
PIECES_AFTER = 4
"""Pieces after the question that are read before the stream is closed, so that a model can end it normally."""
_TAKEN = re.compile(r"\[([^\]\n]{2,300})\]\s*(.+)", re.S)
"""What the last question takes up, where the number before it was forgotten."""
_SLOT = re.compile(r"\{(\w+)\}")
_PROMPTS = {
    "opening": "opening",
    "follow_up": "question",
    "closing": "question",
    "rephrase": "rephrase",
    "ending": "ending",
}
_TASKS = {**_PROMPTS, "closing": "closing"}


class PromptedQuestionWriter:
    """QuestionWriter of the ports; safe to share between sessions."""

    def __init__(
        self, client: ChatClient, prompts: Prompts, templates: QuestionWriter, opening_temperature: float = 0.9
    ) -> None:
        """Args: templates: makes template questions; opening_temperature: for the opening question."""
        self._client = client
        self._prompts = prompts
        self._templates = templates
        self._opening_temperature = opening_temperature
        self._systems: PerObject[str] = PerObject()

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        """The question in pieces, as the model writes it, without quotation marks or labels around it.

        Raises:
            ProviderError: as the client raises it.
        """
        cleaning = _Cleaning(bool(request.offers))
        numbers = {shown["number"]: taking(shown, at) for at, shown in enumerate(shown_offers(request), 1)}
        pieces = self._client.stream(self._chat(request))
        left = PIECES_AFTER
        try:
            async for piece in pieces:
                for ready in cleaning.feed(piece):
                    yield as_offered(ready, numbers)
                left -= cleaning.ended
                if left < 0:
                    return
            for ready in cleaning.finish():
                yield as_offered(ready, numbers)
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()

    def template(self, request: QuestionRequest) -> str:
        """A template question of the strategy, from `templates`."""
        return self._templates.template(request)

    @property
    def finds_last_words(self) -> bool:
        """Whether it ends an interview in words of its own: not where its prompts are from before that."""
        return "ending" in self._prompts.texts

    async def last_words(self, request: QuestionRequest) -> Ending:
        """What it says to the last answer of all, or a question about it. Raises ProviderError."""
        cleaning = _Cleaning(chooses=True)
        pieces = self._client.stream(self._chat(request))
        said = [ready async for piece in pieces for ready in cleaning.feed(piece)] + cleaning.finish()
        text = "".join(part for part in said if not OFFER.fullmatch(part)).strip()
        taken = _TAKEN.fullmatch(text)
        return Ending(text=taken[2] if taken else text, asks_about=taken[1].strip(' “”"…') if taken else cleaning.own)

    def _chat(self, request: QuestionRequest) -> ChatRequest:
        name = _PROMPTS[request.kind]
        system = self._systems.get(
            request.methodology,
            (name, request.topic, request.language, request.max_words, request.ends_with),
            lambda: self._prompts.system(name, system_values(request)),
        )
        user = self._prompts.user(name, user_values(request))
        takes_temperature = request.kind == "opening" and self._client.spec.temperature is not None
        return ChatRequest(
            task=_TASKS[request.kind],
            system=system,
            messages=(ChatMessage(speaker="user", content=user),),
            temperature=self._opening_temperature if takes_temperature else None,
        )


class _Cleaning:
    """What a model wrote, without what it put around its question, behind the number of the offer that it took."""

    def __init__(self, chooses: bool) -> None:
        self._announced = Announced() if chooses else None
        self._around, self._inside = Tidying(), Tidying()

    @property
    def ended(self) -> bool:
        return self._around.ended

    @property
    def own(self) -> str:
        """The words of the respondent that it chose itself."""
        return self._announced.own if self._announced is not None else ""

    def feed(self, piece: str) -> list[str]:
        return self._numbered(self._around.feed(piece), final=False)

    def finish(self) -> list[str]:
        return self._numbered(self._around.finish(), final=True)

    def _numbered(self, text: str, *, final: bool) -> list[str]:
        if self._announced is None:
            return [text] if text else []
        known = self._announced.number
        ready = self._announced.feed(text)
        if final:
            ready += self._announced.finish()
        clean = self._inside.feed(ready) + (self._inside.finish() if final else "")
        number = self._announced.number if known is None else None
        taken = f"[0: {self._announced.own}]" if self._announced.own else f"[{number}]"
        return [part for part in ("" if number is None else taken, clean) if part]


def system_values(request: QuestionRequest) -> dict[str, Any]:
    """What a prompt says about the interview as a whole."""
    if request.kind == "rephrase":
        return _topic_values(request)
    if request.kind == "ending":
        return {**_topic_values(request), "ends_with": request.ends_with}
    values: dict[str, Any] = {**method_values(request.methodology), **_topic_values(request)}
    if request.kind == "opening":
        values["opening_bias"] = request.methodology.method.opening_bias
    return values


def user_values(request: QuestionRequest) -> dict[str, Any]:
    """What a prompt says about this question; what was said so far comes as JSON strings."""
    recent = [quoted(question) for question in request.recent_questions]
    if request.kind == "opening":
        told = {
            "objective": request.objective,
            "stimulus": _stimulus(request),
            "recent_questions": recent,
            "examples": examples(request),
            "variant": request.variant,
            "refused": _refused(request),
        }
        return {**_topic_values(request), **told}
    if request.kind == "ending":
        told = _briefing_values(request)
        shared = {name: told[name] for name in ("conversation", "earlier", "reply", "refused", "objective", "consent")}
        return {**_topic_values(request), **shared, "stimulus": _stimulus(request), "may_ask": request.may_ask}
    talk: dict[str, Any] = {**_topic_values(request), "recent_questions": recent, "variant": request.variant}
    if request.kind == "rephrase":
        return {
            **talk,
            "lines": conversation(request.lines),
            "original": quoted(request.original or ""),
            "reply": quoted(request.reply) if request.reply else None,
            "refused": _refused(request),
        }
    return {
        **talk,
        "questions_left": request.questions_left,
        "strategy": request.strategy.description if request.strategy else "",
        "closing": request.kind == "closing",
        "examples": examples(request),
        "focus": quoted(request.focus_label) if request.focus_label else None,
        "focus_type": spaced(request.focus_type) if request.focus_type else None,
        "focus_quote": quoted(request.focus_quote) if request.focus_quote else None,
        "jump": request.focus_is_jump,
        "turns_ago": request.focus_said_earlier_turns,
        "avoid_similar": request.avoid_similar,
        "offers": shown_offers(request),
        **_briefing_values(request),
        "stimulus": _stimulus(request),
        "signals": [
            {"name": signal_words(signal.name), "value": _value_text(signal.value), "description": signal.description}
            for signal in request.signals
        ],
    }


def _stimulus(request: QuestionRequest) -> str | None:
    return block("stimulus", request.stimulus, request.seed) if request.stimulus else None


def _briefing_values(request: QuestionRequest) -> dict[str, Any]:
    """What a prompt says of the interview so far."""
    told = request.briefing
    return {
        "conversation": conversation(_as_said(told.conversation or request.lines, told.answer)),
        "earlier": [quoted(label) for label in told.earlier],
        "threads": [
            {
                "label": quoted(thread.label),
                "quote": quoted(thread.quote),
                "left_turn": thread.left_turn,
            }
            for thread in told.threads
        ],
        "guide": [
            {
                "label": topic.label,
                "status": topic.status,
                "question": quoted(topic.question) if topic.question else None,
            }
            for topic in told.guide
        ],
        "did": list(told.did),
        "untaken": [quoted(sentence) for sentence in told.untaken],
        "reply": quoted(request.reply) if request.reply else None,
        "refused": _refused(request),
        "objective": request.objective,
        "consent": " ".join(request.consent.split()),
    }


def _as_said(lines: Sequence[Line], answer: str) -> Sequence[Line]:
    """The lines with the whole of the last answer, of which the others that read it get what it tells."""
    if not answer or not lines or lines[-1].speaker != "respondent":
        return lines
    return (*lines[:-1], lines[-1].model_copy(update={"text": answer}))


def _refused(request: QuestionRequest) -> list[dict[str, Any]]:
    return [
        {"text": quoted(one.text), "reasons": [quoted(reason) for reason in one.reasons]} for one in request.refused
    ]


def examples(request: QuestionRequest) -> list[str]:
    """A few template questions of the strategy, or openings of the method, with "…" for what they are about.

    They are in the respondent's language, others from turn to turn, and none that was asked lately; none where the
    methodology has no templates in that language.
    """
    if request.strategy is None:
        openings = request.methodology.openings
        templates = openings.get(request.language) or openings.get(request.language.split("-")[0]) or ()
    else:
        of_strategy = request.strategy.templates
        forms = request.forms or of_strategy.get(request.language) or of_strategy.get(request.language.split("-")[0])
        kind = request.focus_type
        templates = tuple(form.ask for form in forms or () if not form.types or kind is None or kind in form.types)
    fresh = [t for t in templates if not any(was_asked(t, question) for question in request.recent_questions)]
    chosen = shuffled(fresh, request.seed, request.turn_number, request.variant)[:EXAMPLES]
    return [_blank(template, request.topic) for template in chosen]


def _blank(template: str, topic: str) -> str:
    values = {"topic": topic, "focus": "…", "mention": "", "does": "does", "is": "is", "was": "was"}
    return " ".join(_SLOT.sub(lambda match: values.get(match[1], "…"), template).split())


def _topic_values(request: QuestionRequest) -> dict[str, Any]:
    return {
        "topic": request.topic,
        "language": language_name(request.language),
        "max_words": request.max_words,
    }


def _value_text(value: bool | int | float | str) -> str:
    """A signal's value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
