"""Refuses text that gives away instructions, prompts or identifiers, or that copies a secret text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from pipeline.question.refusals import Refusal
from pipeline.question.unions import union

COPIED_WORDS = 7
"""So many consecutive words of a secret text are a copy."""
SUSPECT_WORDS = 4
"""From this many consecutive words of a secret text on, words are held back until it is clear that they are no copy."""

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile(r"(?<=\w)['’](?=\w)")
_INVISIBLE = re.compile(r"[\xad\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_ENDS = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|\n+")
_ASKS = re.compile(r"\?[\"'”’)»]*\.?$")
_EXAMPLE = re.compile(r'(?<!\{\{ )(?<!else )"[A-Z][^"{}]{2,160}[.?!…]"')
"""What may be said, in quotation marks in a prompt; what a template puts into the prompt is none."""
_MARKER = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{12,}\b|\b\w+_\w+\b")
_CAMEL = re.compile(r"[a-z][A-Z]")
_IDENTIFIER = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]{2,}(?:[A-Z][a-z]+){2,}\b")


class Secrets:
    """Texts that must not be repeated, made ready for many comparisons.

    Words are compared case-folded and without punctuation or invisible signs. Sentences that ask and sentences in
    quotation marks are left out: they are examples of what may be said. Markers are identifiers and mixed codes of
    twelve characters or more.
    """

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.markers: frozenset[str] = frozenset(
            match.group(0).casefold() for text in texts for match in _MARKER.finditer(text)
        )
        copied: set[tuple[str, ...]] = set()
        suspect: set[tuple[str, ...]] = set()
        for text in texts:
            for stretch in _stretches(text):
                copied.update(_windows(stretch, COPIED_WORDS))
                suspect.update(_windows(stretch, SUSPECT_WORDS))
        self._copied = frozenset(copied)
        self._suspect = frozenset(suspect)

    def __bool__(self) -> bool:
        return bool(self._copied or self.markers)

    def copy_in(self, text: str) -> str:
        """The first stretch of a text that is a copy; empty if there is none."""
        return next((" ".join(w) for w in _windows(_plain_words(text), COPIED_WORDS) if w in self._copied), "")

    def marker_in(self, text: str, said: Collection[str] = ()) -> str:
        """A marker in a text that is not among `said`; empty if there is none."""
        if not self.markers:
            return ""
        found = (match.group(0).casefold() for match in re.finditer(r"[\w-]+", text))
        return next((token for token in found if token in self.markers and token not in said), "")

    def without_suspect_words(self, out: str, waiting: str) -> str:
        """The part of `waiting`, which follows `out`, that is not the beginning of a copy.

        Words that might become a copy are those at the end, from `SUSPECT_WORDS` on, that a secret text has in a row.
        """
        if not self._suspect:
            return waiting
        said = _plain_words(out + waiting)
        first = len(said) - SUSPECT_WORDS
        while first >= 0 and tuple(said[first : first + SUSPECT_WORDS]) in self._suspect:
            first -= 1
        suspect = len(said) - (first + 1)
        if suspect < SUSPECT_WORDS:
            return waiting
        starts = [match.start() for match in _WORD.finditer(_APOSTROPHES.sub("x", waiting))]
        return waiting[: starts[-suspect]] if suspect <= len(starts) else ""


@lru_cache(maxsize=64)
def secrets_of(texts: tuple[str, ...]) -> Secrets:
    """`Secrets` of these texts, cached."""
    return Secrets(texts)


def leak_refusals(
    text: str, plain: str, spared: str, said: Collection[str], secrets: Secrets, *, whole: bool
) -> list[Refusal]:
    """What in a text gives away how it was made.

    Args:
        text: the text as it came.
        plain: lower case, apostrophes straight, white space collapsed, quotations kept.
        spared: `plain` with the words of the respondent and the topic masked.
        said: those words, case-folded.
        secrets: texts that must not be repeated.
        whole: nothing more comes.
    """
    for what in _found(text, plain, spared, said, secrets, whole):
        return [Refusal(code="leak", detail=what)]
    return []


def _found(text: str, plain: str, spared: str, said: Collection[str], secrets: Secrets, whole: bool) -> Iterator[str]:
    if secrets:
        if copy := secrets.copy_in(text):
            yield f"repeats “{copy}”"
        if marker := secrets.marker_in(text, said):
            yield f"repeats the marker “{marker}”"
    if match := _PHRASES.search(plain):
        yield f"“{match.group(0)}” speaks of instructions"
    if match := (_WORDS_WHOLE if whole else _WORDS).search(spared):
        yield f"“{match.group(0)}” speaks of instructions"
    for match in _IDENTIFIER.finditer(text) if "_" in text or _CAMEL.search(text) else ():
        if match.group(0).casefold() not in said:
            yield f"“{match.group(0)}” is an identifier"


def _stretches(text: str) -> Iterator[list[str]]:
    """Words of sentences in a row that are no examples of what may be said."""
    stretch: list[str] = []
    for sentence in _ENDS.split(_EXAMPLE.sub("\n?\n", text)):
        if _ASKS.search(sentence.strip()):
            yield stretch
            stretch = []
        else:
            stretch += _plain_words(sentence)
    yield stretch


def _plain_words(text: str) -> list[str]:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    return _WORD.findall(_APOSTROPHES.sub("", text.casefold()))


def _windows(said: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return (tuple(said[at : at + size]) for at in range(len(said) - size + 1))


_OWN = r"(?:my|these|those|previous|above|prior|earlier|system|hidden|initial|original|secret|internal|following)"
_PHRASES = union(
    rf"\b{_OWN} (?:system )?(?:prompts?\b|instructions?\b)|\bsystem[ -]?prompts?\b|\b(?:system|developer) (?:message|"
    rf"role)s?\b|"
    r"\bprompts? (?:injection|leak|template)|\b(?:ignore|disregard|forget|override|bypass) (?:all |any |the |your |my "
    r"|these |every )*"
    r"(?:previous|prior|above|earlier|preceding|instructions?|rules?|guidelines|prompts?)\b|"
    r"\binstructions? (?:i|we) (?:was|were|am|are|have|had|got|received|must)\b|\b(?:i|we) (?:was|were|am|are|have "
    r"been) "
    r"(?:told|instructed|prompted|asked|given|programmed) (?:to|by|with|the|instructions)\b|"
    r"\byou are an? (?:\w+ ){0,2}(?:interviewer|moderator|assistant|researcher|analyst|annotator|rater|expert|model|"
    r"ai)\b|"
    r"\byour task is to\b|\bas an? (?:interviewer|moderator|researcher), (?:you|i)\b|\b(?:do not|never) (?:reveal|"
    r"disclose|mention) "
    r"(?:the|your|these|this|any)\b|\bcontext window\b|\bprompt engineering\b|\btraining data\b|\bjailbreak|\bdan "
    r"mode\b|\bdeveloper mode\b|"
    r"\b(?:the|this|your) prompts? (?:says?|said|tells?|told|asks?|asked|instructs?|states?|above|below|i was)\b|"
    r"\brespondent(?:'s)? (?:answer|utterance|text|message)\b|"
    r"\b(?:meine|diese|die obigen|vorherige[nr]?|ursprüngliche[nr]?|interne[nr]?) (?:system)?(?:anweisung(?:en)?|"
    r"prompts?|vorgaben)\b|"
    r"\bsystem-?(?:anweisung|nachricht|eingabeaufforderung)\w*|\bmir wurde (?:gesagt|aufgetragen)\b|"
    r"\bdu bist ein(?:e)? (?:\w+ )?(?:interviewer|moderator|assistent)|\bsie sind ein(?:e)? (?:\w+ )?(?:interviewer|"
    r"moderator|assistent)|"
    r"\bignorier\w* (?:alle |die |sie |deine |ihre )*(?:vorherigen|bisherigen|obigen|anweisung)|"
    r"\b(?:mes|ces) (?:instructions|consignes)\b|\b(?:les )?instructions (?:précédentes|du système|système)\b|"
    r"\binvite système\b|"
    r"\b(?:mis|estas) instrucciones\b|\binstrucciones (?:anteriores|del sistema)\b|\bprompt del sistema\b|"
    r"\bmijn (?:instructies|opdracht|prompt)\b|\b(?:vorige|eerdere) instructies\b|\bsysteemprompt\b|"
    r"\ble mie istruzioni\b|\bistruzioni (?:precedenti|di sistema)\b|\bprompt di sistema\b|"
    r"\b(?:sistem|önceki) (?:istemi|talimat\w*)|\btalimatlarım\b|"
    r"تعليماتي|التعليمات السابقة|تعليمات النظام|موجه النظام"
)
_WORDS_SOURCE = (
    r"\b(?:(?:the|your|this|that|a) prompts?(?= (?:i|is|was|text|for|to|itself|given)\b{end})|"
    r"(?:the|your) instructions?|jailbreaks?|chatgpt|openai|anthropic|gpt-?\d*|llama|deepseek|api keys?|access "
    r"tokens?|prompting)\b"
)
_WORDS = union(_WORDS_SOURCE.replace("{end}", ""))
_WORDS_WHOLE = union(_WORDS_SOURCE.replace("{end}", r"|[?.,:;!]|$"))
