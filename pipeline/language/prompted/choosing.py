"""What a language model may choose its question to be about, as a prompt shows it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.language.prompted.delimiting import quoted
from pipeline.language.prompted.terms import spaced
from pipeline.ports import Briefing, Offer, QuestionRequest
from pipeline.question.announced import OFFER
from pipeline.question.text import sentences

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


def as_offered(piece: str, numbers: Mapping[int, str]) -> str:
    """A piece of what a model wrote; the number of an offer as it was shown becomes what it stands for."""
    found = OFFER.fullmatch(piece)
    shown = int(found[1]) if found is not None and not found[2] else 0
    return numbers.get(shown, piece)


def taking(shown: Mapping[str, Any], at: int) -> str:
    """What is written for an offer that was taken: its number in the request, or the words of a sentence."""
    return f"[0: {shown['own']}]" if shown["own"] else f"[{at}]"


def shown_offers(request: QuestionRequest) -> list[dict[str, Any]]:
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
