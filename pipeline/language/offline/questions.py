"""The offline question writer: fills the templates of the methodology.

The same request and seed always give the same question. Templates are used in rotation, so that none is repeated before
all have been used; a recent question is never repeated.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from pipeline.language.offline.phrasings import LanguagePhrasing, phrasing
from pipeline.ports import Embedder, QuestionRequest
from pipeline.question.bridges import bridge_for
from pipeline.question.checker import check
from pipeline.question.fluency import Phrase, phrase
from pipeline.question.pieces import in_words
from pipeline.question.templates import (
    fill,
    placeholders,
    rotated,
    shuffled,
    stable_hash,
    suits,
    uncapitalised,
    was_asked,
)
from pipeline.question.text import jaccard, word_count, words

ACKNOWLEDGE_ONE_IN = 3
TEMPLATE_SKIPS = 2
FRESH_TRIES = 5
CLOSE_COSINE = 0.90
_ASKS_AT_ONCE = re.compile(r"^\{mention\} (Why|What does|What makes|What would|What exactly|How does|How do)\b")
DONT_KNOW_WORDS = 9
ANCHOR_DEPTH = 2
SHORT_TEMPLATE_WORDS = 12


class OfflineQuestionWriter:
    """Writes questions without a language model. Stateless; safe to share between sessions.

    With an embedder, wordings too close in meaning to a recent question are passed over before the first word is out;
    the vectors it keeps serve the check that follows.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        """The question word by word. Raises ProviderError only where the embedder does."""
        for piece in in_words(await self._fresh(request)):
            yield piece

    def template(self, request: QuestionRequest) -> str:
        """A question of the strategy without acknowledgement, other than the first attempts of `write`."""
        return compose(request.model_copy(update={"avoid_similar": True}), skip=TEMPLATE_SKIPS, plain=True)

    async def _fresh(self, request: QuestionRequest) -> str:
        """The first wording that is not close to a recent question, else the least close of a few."""
        recent = request.recent_questions
        if self._embedder is None or not recent:
            return compose(request, skip=request.variant)
        passed_over: list[tuple[float, str]] = []
        to_skip = request.variant
        for candidate in islice(wordings(request), FRESH_TRIES + request.variant):
            rows = await self._embedder.embed([candidate, *recent])
            closest = float((rows[1:] @ rows[0]).max())
            if closest < CLOSE_COSINE and to_skip == 0:
                return candidate
            to_skip -= closest < CLOSE_COSINE
            passed_over.append((closest, candidate))
        return min(passed_over)[1] if passed_over else compose(request)


def compose(request: QuestionRequest, *, skip: int = 0, plain: bool = False) -> str:
    """The question for a request.

    Args:
        request: what to ask about, and what was said so far.
        skip: how many acceptable wordings to pass over; the last one stands if there are fewer.
        plain: leave acknowledgements out.
    """
    found = list(islice(wordings(request, plain=plain), skip + 1))
    return found[-1] if found else _last_resort(request, phrasing(request.language))


def wordings(request: QuestionRequest, *, plain: bool = False) -> Iterator[str]:
    """Acceptable questions for a request, the best first, none twice."""
    seen: set[str] = set()
    for candidate in _candidates(request, phrasing(request.language), plain):
        if candidate not in seen and _acceptable(candidate, request):
            seen.add(candidate)
            yield candidate


def is_dont_know(answer: str, language: str) -> bool:
    """Whether an answer only says that the respondent has no answer."""
    return len(answer.split()) <= DONT_KNOW_WORDS and bool(_dont_know(language).match(answer.strip().casefold()))


def asks_for_a_benefit(template: str, language: str) -> bool:
    """Whether a template presupposes that its phrase is something good."""
    return bool(_patterns(language)[0].search(template))


def _is_burden(label: str, language: str) -> bool:
    return bool(_patterns(language)[1].search(label.casefold()))


@lru_cache(maxsize=32)
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(phrasing(language).benefit), re.compile(phrasing(language).burden)


@lru_cache(maxsize=32)
def _dont_know(language: str) -> re.Pattern[str]:
    return re.compile(phrasing(language).dont_know)


def _candidates(request: QuestionRequest, speaking: LanguagePhrasing, plain: bool) -> Iterator[str]:
    """Wordings, the best first; some may be unacceptable."""
    about = _phrase_of(request)
    if request.kind == "rephrase":
        yield from _rephrased(request, speaking, about)
        return
    if request.kind == "opening":
        openings = request.methodology.openings.get(_language(request)) or speaking.openings
        yield from _filled(rotated(shuffled(openings, request.seed, "opening"), 0), request, speaking, None, "")
        return
    before = ""
    answer = _last_answer(request)
    if request.follows_reply:
        pass
    elif answer == "":
        before = _pick(speaking.skipped, request, "skipped")
    elif answer is not None and request.kind == "follow_up" and is_dont_know(answer, request.language):
        easier = speaking.easier_focus if about else speaking.easier_topic
        yield from _filled(_turned(easier, request, "easier"), request, speaking, about, "")
    elif not plain and request.kind == "follow_up" and _acknowledges(request, answer or ""):
        before = _fresh_acknowledgement(request, speaking)
    ranked = _ranked(_templates(request, speaking, about), request)
    if before:
        yield from _filled(ranked[:6], request, speaking, about, before)
    yield from _filled(ranked, request, speaking, about, "")
    yield from _filled(speaking.any_focus if about else speaking.any_topic, request, speaking, about, "")
    yield from _filled(_turned(speaking.any_topic, request, "any"), request, speaking, None, "")


def _last_resort(request: QuestionRequest, speaking: LanguagePhrasing) -> str:
    """A general question about the topic, the one least like what was asked lately."""
    general = [fill(template, topic=request.topic) for template in speaking.any_topic]
    return min(general, key=lambda text: max((jaccard(text, asked) for asked in request.recent_questions), default=0.0))


def _rephrased(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None) -> Iterator[str]:
    """Rephrasings: other templates of the same strategy and focus."""
    original = request.original or ""
    if request.strategy is not None:
        pool = [t for t in _templates(request, speaking, about) if not was_asked(t, original)]
        yield from _different(_filled(_ranked(pool, request), request, speaking, about, ""), original)
    else:
        openings = request.methodology.openings.get(_language(request)) or speaking.openings
        if any(was_asked(template, original) for template in openings):
            pool = [template for template in openings if not was_asked(template, original)]
            yield from _different(_filled(_turned(pool, request, "opening"), request, speaking, None, ""), original)
    spoken = original if speaking.keep_case else uncapitalised(original)
    for lead in _turned(speaking.rephrase, request, "rephrase"):
        if original:
            yield lead.replace("{question}", spoken)
    yield from _filled(speaking.rephrase_topic, request, speaking, None, "")


def _different(texts: Iterator[str], original: str) -> Iterator[str]:
    return (text for text in texts if words(text) != words(original))


def _templates(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None) -> list[str]:
    """The strategy's templates that suit the phrase; general ones where it has none in this language."""
    strategy = request.strategy
    own = strategy.templates.get(_language(request), ()) if strategy else ()
    suitable = [template for template in own if suits(template, about)]
    if suitable:
        return suitable
    if request.kind == "closing" or (strategy and strategy.generates_closing_question):
        return list(speaking.closings)
    return list(speaking.any_focus if about else speaking.any_topic)


def _ranked(templates: Sequence[str], request: QuestionRequest) -> list[str]:
    """Templates in the order in which they should be tried.

    First those that no recent question was made from; then those that fit (with the topic where the graph is deep,
    short where the answers are short); then by rotation.
    """
    name = request.strategy.name if request.strategy else request.kind
    turns = rotated(shuffled(templates, request.seed, name), request.turn_number)
    near_topic = any(_names_topic(question, request) for question in request.recent_questions[-2:])
    wants_topic = request.depth >= ANCHOR_DEPTH and not near_topic
    wants_short = _answers_are_short(request)
    burdened = _is_burden(request.focus_label or "", request.language)
    anchors = phrasing(request.language).anchors if wants_topic else ()

    def cost(template: str) -> tuple[int, int, float]:
        asked = sum(was_asked(template, question) for question in request.recent_questions)
        unfit = int(wants_topic and "topic" not in placeholders(template) and not _anchorable(template))
        unfit += 2 * int(burdened and asks_for_a_benefit(template, request.language))
        unfit += int(wants_short and word_count(template) > SHORT_TEMPLATE_WORDS)
        alike = max((jaccard(template, question) for question in request.recent_questions), default=0.0)
        return asked, unfit, round(alike, 2) if request.avoid_similar else 0.0

    ranked = sorted(turns, key=cost)
    anchored_ones = [_anchored(t, _pick(anchors, request, "anchor")) for t in ranked if anchors and _anchorable(t)]
    return [*_merged(ranked, anchored_ones), *ranked] if anchored_ones else ranked


def _anchorable(template: str) -> bool:
    """Whether a reference to the topic can be inserted between the mention and the question."""
    slots = placeholders(template)
    return "mention" in slots and "topic" not in slots and bool(_ASKS_AT_ONCE.match(template))


def _anchored(template: str, anchor: str) -> str:
    """“{mention} Why …” → “{mention} When it comes to {topic}, why …”."""
    return _ASKS_AT_ONCE.sub(lambda match: f"{{mention}} {anchor} {uncapitalised(match.group(1))}", template, count=1)


def _merged(ranked: Sequence[str], anchored: Sequence[str]) -> list[str]:
    """The ranked templates, those without the topic replaced by their anchored forms."""
    forms = iter(anchored)
    return [next(forms) if _anchorable(template) else template for template in ranked]


def _filled(
    templates: Sequence[str], request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase | None, before: str
) -> Iterator[str]:
    """The templates as questions, with what comes before them."""
    for number, template in enumerate(templates):
        if not suits(template, about):
            continue
        slots = placeholders(template)
        mention = _mention(request, speaking, about, number) if about and "mention" in slots else ""
        text = fill(template, topic=request.topic, phrase=about, mention=mention)
        if about and request.focus_is_jump and "mention" not in slots and speaking.jump:
            lead = _pick(speaking.jump, request, "jump")
            text = f"{lead} {text if speaking.keep_case else uncapitalised(text)}"
        yield f"{before} {text}" if before else text


def _mention(request: QuestionRequest, speaking: LanguagePhrasing, about: Phrase, number: int) -> str:
    """The sentence that mentions the phrase, or leads back to it."""
    pick = stable_hash(request.seed, request.turn_number, "mention", number)
    if request.focus_is_jump:
        near, distant = speaking.bridges(about.kind)
        sentence = bridge_for(request.focus_said_earlier_turns, near, distant, request.recent_questions, pick)
    else:
        pool = speaking.mentions(about.kind)
        sentence = bridge_for(0, pool, (), request.recent_questions[-2:], pick)
    return sentence.replace("{x}", about.text)


def _acknowledges(request: QuestionRequest, answer: str) -> bool:
    """Whether to acknowledge the answer: at random, after at least six words, never twice in a row."""
    if len(answer.split()) < 6 or request.focus_is_jump or request.turn_number < 1:
        return False
    spoken = phrasing(request.language).acknowledgements
    if request.recent_questions and any(request.recent_questions[-1].startswith(ack) for ack in spoken):
        return False
    return stable_hash(request.seed, request.turn_number, "acknowledge") % ACKNOWLEDGE_ONE_IN == 0


def _fresh_acknowledgement(request: QuestionRequest, speaking: LanguagePhrasing) -> str:
    unused = [a for a in speaking.acknowledgements if not any(q.startswith(a) for q in request.recent_questions)]
    return _pick(unused or speaking.acknowledgements, request, "acknowledgement")


def _acceptable(text: str, request: QuestionRequest) -> bool:
    said = [line.text for line in request.lines if line.speaker == "respondent"]
    return not check(
        text,
        recent_questions=request.recent_questions,
        language=request.language,
        max_words=request.max_words,
        allowed_words=(*said, request.topic, request.focus_label or ""),
    )


def _phrase_of(request: QuestionRequest) -> Phrase | None:
    if not request.focus_label or (request.strategy and request.strategy.node_binding == "none"):
        return None
    return phrase(request.focus_label, node_type=request.focus_type or "", language=request.language)


def _last_answer(request: QuestionRequest) -> str | None:
    """The latest answer, empty for a skip; none before the first."""
    if not request.lines or request.lines[-1].speaker != "respondent":
        return None
    return request.lines[-1].text


def _answers_are_short(request: QuestionRequest) -> bool:
    limit = phrasing(request.language).shallow_words
    answers = [line.text for line in request.lines if line.speaker == "respondent"][-2:]
    return len(answers) == 2 and all(len(answer.split()) <= limit for answer in answers)


def _names_topic(question: str, request: QuestionRequest) -> bool:
    return request.topic.casefold() in question.casefold()


def _language(request: QuestionRequest) -> str:
    return request.language.casefold().split("-")[0]


def _pick(items: Sequence[str], request: QuestionRequest, what: str) -> str:
    return items[stable_hash(request.seed, request.turn_number, what) % len(items)] if items else ""


def _turned(items: Sequence[str], request: QuestionRequest, what: str) -> list[str]:
    return rotated(shuffled(items, request.seed, what), request.turn_number)
