"""Questions by a language model, streamed while they are written."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest
from pipeline.language.prompted.delimiting import block, conversation, quoted
from pipeline.language.prompted.languages import language_name
from pipeline.language.prompted.memo import PerObject
from pipeline.language.prompted.prompts import Prompts
from pipeline.language.prompted.terms import method_values, signal_words, spaced
from pipeline.language.prompted.tidying import Tidying
from pipeline.ports import Briefing, Ending, Line, Offer, QuestionRequest, QuestionWriter
from pipeline.question.announced import OFFER, Announced
from pipeline.question.templates import shuffled, was_asked
from pipeline.question.text import sentences

EXAMPLES = 3
"""Template questions that a prompt shows as examples of style."""
PIECES_AFTER = 4
"""Pieces after the question that are read before the stream is closed, so that a model can end it normally."""
SENTENCE_WORDS = 45
"""Words of a sentence up to which it is shown whole in place of a piece of it."""
ALONE_WORDS, ASKED_WORDS = 5, 6
"""Words of a sentence from which it stands alone, and of a question from which it tells something as well."""
_ASKS = re.compile(r"[?؟][\s\"”’»]*$")
_NO_MORE = re.compile(
    r"\b(?:that'?s|that’s|it'?s|it’s) (?:all|it|private|enough)\b|\brather (?:not|leave|keep)\b"
    r"|\bnot (?:a lot|much) (?:more )?to (?:tell|say)\b|\bleave (?:that|this) one\b|\bdon'?t go near\b",
    re.I,
)
"""What closes a subject and stands alone, so that what is before it can be asked about."""
LEAST_WORDS, MOST_SENTENCES = 2, 16
"""Words of a sentence, and sentences of the last answer, that may be chosen."""
FEW_WORDS, LONG_AGO = 3, 1
"""Words of a sentence below which it says next to nothing, and answers ago behind which it has been told to its end."""
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
        numbers = {shown["number"]: _taking(shown, at) for at, shown in enumerate(_offers(request), 1)}
        pieces = self._client.stream(self._chat(request))
        left = PIECES_AFTER
        try:
            async for piece in pieces:
                for ready in cleaning.feed(piece):
                    yield _as_offered(ready, numbers)
                left -= cleaning.ended
                if left < 0:
                    return
            for ready in cleaning.finish():
                yield _as_offered(ready, numbers)
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
        "offers": _offers(request),
        **_briefing_values(request),
        "stimulus": _stimulus(request),
        "signals": [
            {"name": signal_words(signal.name), "value": _value_text(signal.value), "description": signal.description}
            for signal in request.signals
        ],
    }


def _as_offered(piece: str, numbers: Mapping[int, str]) -> str:
    """A piece of what a model wrote; the number of an offer as it was shown becomes what it stands for."""
    found = OFFER.fullmatch(piece)
    shown = int(found[1]) if found is not None and not found[2] else 0
    return numbers.get(shown, piece)


def _taking(shown: Mapping[str, Any], at: int) -> str:
    """What is written for an offer that was taken: its number in the request, or the words of a sentence."""
    return f"[0: {shown['own']}]" if shown["own"] else f"[{at}]"


def _offers(request: QuestionRequest) -> list[dict[str, Any]]:
    """What may be chosen: what the engine offers, and each sentence of the last answer that it does not.

    Those that are worth showing are counted first, the sentences of the last answer in the order they were said in.
    """
    found = _offered(request)
    answer = request.briefing.answer
    held = {one["sentence"] for one in found if not one["weak"]}
    if found and request.kind == "follow_up" and not (request.turned_away or request.spent):
        told = (sentence for sentence in _said(answer)[:MOST_SENTENCES] if _tells(sentence, request.briefing))
        found += [_own_sentence(sentence) for sentence in told if quoted(sentence) not in held]
    at = {quoted(sentence): number for number, sentence in enumerate(_said(answer))}
    shown = sorted(found, key=lambda one: (bool(one["weak"]), at.get(one["sentence"] or "", len(at))))
    for number, one in enumerate(shown, 1):
        one["number"] = number
    return found


def _said(text: str) -> list[str]:
    """The sentences of an answer, none over a line's end; what says little alone stands with the one before it."""
    found: list[str] = []
    for line in text.splitlines():
        units: list[str] = []
        for sentence in sentences(line):
            alone = (
                len(sentence.split()) >= ALONE_WORDS or not units or _ASKS.search(sentence) or _ASKS.search(units[-1])
            )
            if alone or _NO_MORE.search(sentence):
                units.append(sentence)
            else:
                units[-1] += f" {sentence}"
        found += map(_unquoted, units)
    return found


def _unquoted(sentence: str) -> str:
    """A sentence without a quotation mark whose other one is in the next sentence."""
    cut = sentence.count("“") != sentence.count("”")
    return sentence.replace("“", "").replace("”", "") if cut else sentence


def _tells(sentence: str, told: Briefing) -> bool:
    """Whether a sentence of the last answer is something that may be asked about."""
    asks = _ASKS.search(sentence) is not None and len(sentence.split()) < ASKED_WORDS
    left = any(sentence in words or words in sentence for words in told.unasked)
    fits = LEAST_WORDS <= len(sentence.split()) <= SENTENCE_WORDS
    return fits and not asks and not left and not _NO_MORE.search(sentence) and "]" not in sentence


def _own_sentence(sentence: str) -> dict[str, Any]:
    """A sentence of the last answer of which the engine offers nothing."""
    shown = {"sentence": quoted(sentence), "own": sentence, "quote": quoted(sentence)}
    return {**shown, "weak": False, "purpose": "", "label": None, "node_type": None, "turns_ago": 0, "closes": False}


def _offered(request: QuestionRequest) -> list[dict[str, Any]]:
    """What the engine offers, each with the sentence that tells it, unless that stands there already."""
    said = [line.text for line in request.briefing.conversation if line.speaker == "respondent"]
    said.append(request.briefing.answer)
    topics = {topic.label for topic in request.briefing.guide}  # They are listed for themselves, and can be named.
    found: list[dict[str, Any]] = []
    for offer in request.offers:
        sentence = _sentence_of(offer.quote or "", said)
        shown = " ".join(one["sentence"] or one["quote"] or "" for one in found).casefold()
        found.append(
            {
                "weak": offer.label in topics
                or _is_weak(sentence, offer, shown, left=request.turned_away or request.spent),
                "purpose": "" if _was_said(offer.label, said) else offer.purpose,
                "label": quoted(offer.label) if offer.label else None,
                "sentence": None if sentence in [one["sentence"] for one in found] else sentence,
                "node_type": spaced(offer.node_type) if offer.node_type else None,
                "quote": quoted(offer.quote) if offer.quote else None,
                "turns_ago": offer.turns_ago,
                "closes": offer.closes,
                "own": "",
            }
        )
    return found


def _was_said(label: str, said: Sequence[str]) -> bool:
    """Whether an offer goes by words of the respondent; what the engine would ask of them is left to the model."""
    return len(label.split()) > 1 and any(label.strip(' "“”').casefold() in text.casefold() for text in said)


def _is_weak(sentence: str | None, offer: Offer, shown: str, *, left: bool) -> bool:
    """Whether words that are offered say next to nothing, stand in another offer, or were told long ago.

    Or just now, by somebody who leaves what was asked.
    """
    if offer.quote is None:
        return False
    if left:
        return not offer.turns_ago
    again, told = offer.quote.casefold() in shown, sentence or offer.quote
    asks = told.rstrip(' "”').endswith("?")  # What they ask is answered, and not asked about.
    cut = any(mark in offer.quote for mark in '“”„«»"')  # Words that somebody else said, cut out of theirs.
    return again or asks or cut or len(told.split()) < FEW_WORDS or offer.turns_ago > LONG_AGO


def _sentence_of(quote: str, said: Sequence[str]) -> str | None:
    """The latest sentence of the respondent that holds these words, as it was said; None for a long one, or none."""
    for text in reversed(said):
        for sentence in _said(text):
            if quote and quote.casefold() in sentence.casefold():
                is_cut = sentence.count("“") != sentence.count("”") or sentence.count('"') % 2 == 1
                return None if is_cut or len(sentence.split()) > SENTENCE_WORDS else quoted(sentence)
    return None


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
