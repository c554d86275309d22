"""Chooses the best of several acceptable questions by clarity, fit, naturalness (counted twice) and anchoring."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pipeline.ports import QuestionRequest
from pipeline.question.bridges import has_bridge
from pipeline.question.checker import check
from pipeline.question.languages import FUNCTION_WORDS
from pipeline.question.text import jaccard, word_count, words
from pipeline.records import Record

NATURALNESS_WEIGHT = 2.0

_STIFF = re.compile(
    r"\b(?:regarding|pertaining|aforementioned|utili[sz]e|facilitate|elaborate upon|with respect to|in terms of|"
    r"aspects?|factors?|elements?|concept|context|significance|implications?|characteristics?|leverage|furthermore|"
    r"thus|hence|whereby|your perception|impact your|overall experience)\b",
    re.I,
)
_GUSH = re.compile(
    r"\b(?:great|fantastic|wonderful|amazing|fascinating|excellent|interesting) (?:answer|point|insight)\b|!", re.I
)
_PERSONAL = frozenset(("you", "your", "yourself", "sie", "ihnen", "ihr", "ihre", "ihrem", "ihren"))
_ABSTRACT = frozenset(("life", "meaning", "society", "existence", "happiness", "leben", "sinn", "gesellschaft"))


class SelectionScore(Record):
    """How good a question is, each in [0, 1]; `total` in [0, 5]."""

    clarity: float
    fit: float
    naturalness: float
    anchoring: float

    @property
    def total(self) -> float:
        """The sum, naturalness counted twice."""
        return self.clarity + self.fit + NATURALNESS_WEIGHT * self.naturalness + self.anchoring


def lemma_set(text: str, language: str = "en") -> frozenset[str]:
    """Content words of a text, with a simple stemmer, for comparing short texts."""
    common = FUNCTION_WORDS.get(language[:2], frozenset())
    return frozenset(_stem(word) for word in words(text) if word not in common and len(word) > 2)


def _stem(word: str) -> str:
    for ending in ("ings", "ing", "edly", "ed", "ies", "es", "s", "ly", "en", "er"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return word.rstrip("e") if len(word) > 4 else word


def score(
    text: str,
    *,
    focus: Collection[str] = (),
    topic: Collection[str] = (),
    purpose: Collection[str] = (),
    answer: Collection[str] = (),
    recent_questions: Sequence[str] = (),
    bridge_needed: bool = False,
    depth: int = 0,
    max_words: int = 25,
    language: str = "en",
) -> SelectionScore:
    """How good a question is; pure on the text and on lemma sets.

    Args:
        text: the question.
        focus: lemmas of what it should be about.
        topic: lemmas of the research topic.
        purpose: lemmas of the strategy's description.
        answer: lemmas of the last answer.
        recent_questions: earlier questions, oldest first.
        bridge_needed: the focus is something said before the last answer.
        depth: longest chain so far, in nodes; from 2 on, staying with the topic counts more.
        max_words: most words allowed.
        language: language code.
    """
    lemmas = lemma_set(text, language)
    return SelectionScore(
        clarity=_clarity(text, max_words, language),
        fit=_fit(lemmas, focus, purpose, bridge_needed, has_bridge(text)),
        naturalness=_naturalness(text, recent_questions),
        anchoring=_anchoring(lemmas, words(text), topic, answer, focus, depth),
    )


def best(candidates: Sequence[str], request: QuestionRequest) -> str:
    """The candidate with the highest total; the first one of equals.

    Raises:
        ValueError: there are no candidates.
    """
    if not candidates:
        raise ValueError("no candidates to choose from")
    said = [line.text for line in request.lines if line.speaker == "respondent" and line.text]
    language = request.language

    def total(text: str) -> float:
        return score(
            text,
            focus=lemma_set(request.focus_label or "", language),
            topic=lemma_set(request.topic, language),
            purpose=lemma_set(request.strategy.description if request.strategy else "", language),
            answer=lemma_set(said[-1] if said else "", language),
            recent_questions=request.recent_questions,
            bridge_needed=request.focus_is_jump,
            depth=request.depth,
            max_words=request.max_words,
            language=language,
        ).total

    return max(candidates, key=total)


def _share(part: Collection[str], whole: Collection[str]) -> float:
    return len(set(part) & set(whole)) / len(set(whole)) if whole else 0.0


def _clarity(text: str, max_words: int, language: str) -> float:
    """Clarity: short, one sentence, no faults."""
    count = word_count(text)
    ideal = max_words * 0.6
    length = 1.0 if count <= ideal else max(0.0, 1.0 - (count - ideal) / max_words)
    too_short = 0.3 if count < 3 else 0.0
    commas = max(0, text.count(",") + text.count(";") - 1)
    faults = len(check(text, language=language, max_words=max_words))
    return min(1.0, max(0.0, length - too_short - 0.15 * commas - 0.5 * faults))


def _fit(
    lemmas: Collection[str], focus: Collection[str], purpose: Collection[str], bridge_needed: bool, bridged: bool
) -> float:
    """Fit: about the focus, in the sense of the strategy, with a bridge exactly where one is needed."""
    about = _share(lemmas, focus) if focus else 1.0
    doing = min(1.0, 3.0 * _share(lemmas, purpose)) if purpose else 0.5
    return 0.6 * about + 0.2 * doing + (0.2 if bridged == bridge_needed else 0.0)


def _naturalness(text: str, recent_questions: Sequence[str]) -> float:
    """Naturalness: addresses the person, no formal words, no praise, another opening than recent questions."""
    value = 0.7
    if _PERSONAL & set(words(text)):
        value += 0.2
    value -= 0.25 * len(_STIFF.findall(text)) + 0.4 * len(_GUSH.findall(text))
    opening = tuple(words(text)[:2])
    value -= 0.15 * sum(tuple(words(question)[:2]) == opening for question in recent_questions[-3:])
    closest = max((jaccard(text, question) for question in recent_questions), default=0.0)
    if closest < 0.3:
        value += 0.1
    return min(1.0, max(0.0, value - 0.5 * max(0.0, closest - 0.4)))


def _anchoring(
    lemmas: Collection[str],
    said: Sequence[str],
    topic: Collection[str],
    answer: Collection[str],
    focus: Collection[str],
    depth: int,
) -> float:
    """Anchoring: tied to the topic or to the respondent's words; lower where the question is about life in general."""
    to_topic = 1.0 if set(topic) & set(lemmas) else 0.0
    to_answer = min(1.0, 2.0 * len(set(lemmas) & (set(answer) | set(focus))) / max(1, len(lemmas)))
    weight = 0.6 if depth >= 2 else 0.4
    adrift = 0.4 if not to_topic and not to_answer and _ABSTRACT & set(said) else 0.0
    return max(0.0, weight * to_topic + (1.0 - weight) * to_answer - adrift)
