"""How a question takes up what somebody said: by a noun phrase of theirs, or by the whole clause that it stood in.

A label is whatever was cut out of an answer. It is spoken without quotation marks only where it is surely a noun phrase
("the price"); else the clause of the answer around it is said back ("You made a chair.") or quoted, and where there is
no short clause, the question has to do without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from pipeline.ports import Rendering
from pipeline.question import lexicon as lex
from pipeline.question.inflection import base_of_third_person, flip, is_plural
from pipeline.question.patterns import word_set
from pipeline.question.text import words
from pipeline.records import Record

PhraseKind = Literal["noun", "clause", "quote"]

MAX_LABEL_WORDS = 14
MAX_NOUN_WORDS = 6
MAX_BARE_NOUN_WORDS = 3
MAX_CLAUSE_WORDS = 9
"""Of a clause that is said back or quoted; longer ones are tedious to hear."""

_SECOND_PERSON = word_set("you your yours yourself you're you've you'd you'll yourselves")
_UNMARKED = re.compile(rf"\b(?:{'|'.join(lex.CONTRACTIONS)})\b", re.IGNORECASE)
_FIRST_PERSON = word_set("i me my mine myself i'm i've i'd i'll we us our ours we're we've we'd we'll ourselves")
_SUBORDINATORS = word_set(
    "because since although though which who so but and or when while if where until unless as that than"
)
_DANGLING = _SUBORDINATORS | word_set(
    "a an the of to in on at for with from by my your our their his her its is are was were not very "
    "really i it they we he she about into me more less just"
)
_SPOKEN_OPENERS = word_set("the my our his her their a an these those")
"""Determiners after which a noun phrase may be taken over as it is."""
_INSIDE_NOUNS = word_set("of for with in on at from about without between after before to by and")
_OPENERS = word_set("and but so because or then also plus though although since that which who if when while")
_FILLERS = word_set("well oh yeah yes no like actually honestly basically hm um uh okay ok right anyway now")
"""What a clause begins with and is not said back; fillers only before a comma."""
_SAYS_OF_THAT = word_set("is was isn't wasn't would could does did has had made makes")
"""What comes behind a “that” of which something is said."""
_LOADED = word_set(
    "hate hated hates love loved loves stupid idiot terrible awful horrible amazing ridiculous "
    "disgusting fantastic brilliant hopeless whatever crap rubbish shit damn"
)
_ASIDE = re.compile(
    r",\s*(?:honestly|actually|basically|really|you know|i mean|to be honest|i guess|like|well)\b", re.I
)
"""What is put in or behind a sentence and is not said back."""
_SENTENCE = re.compile(r"[.!?…;:\n]+|\s[–—-]+\s")
_CLAUSE = re.compile(r",\s|\s(?=(?:and|but|because|so|which|when|if|who|although|while|until)\s)", re.I)
HESITATION = re.compile(
    r"\b(?:u[hm]+|er+m?|hm+)\b|\b(\w+) \1\b|\b(?:he|she|it) like \w+"
    r"|\b(?:they|i|we) like (?:just|totally|went|was|were|said|had|got|came|did|\w+ed)\b",
    re.I,
)
_TURNED = (
    (re.compile(r"\b(?:i was|was i)\b", re.I), "you were"),
    (re.compile(r"\bi wasn'?t\b", re.I), "you weren't"),
    (re.compile(r"\bi am\b", re.I), "you are"),
    (re.compile(r"\bam i\b", re.I), "are you"),
)


class Phrase(Record):
    """What a label was turned into.

    `kind` noun: `text` is a noun phrase, `plural` whether it takes a plural verb; clause: `text` is a clause in the
    second person; quote: `text` is in quotation marks.
    `said_back` is the clause around it as the interviewer may repeat it ("You made a chair."), empty where
    that can't be done; `whole` whether `text` is a whole phrase of the respondent's and not a piece of one.
    """

    kind: PhraseKind
    label: str
    text: str
    plural: bool = False
    said_back: str = ""
    whole: bool = False
    rendering: Rendering = Rendering()
    """What was told, as parts of a sentence."""

    @property
    def inline(self) -> bool:
        """Whether the phrase can be the subject or object of a question."""
        return self.kind == "noun"


def phrase(
    label: str,
    *,
    node_type: str = "",
    language: str = "en",
    said: Sequence[str] = (),
    rendering: Rendering | None = None,
) -> Phrase:
    """The label as a phrase.

    Args:
        label: the respondent's words, as the node is labelled.
        node_type: name of the node's type; a short feature gets an article.
        language: outside English every label is quoted.
        said: what the respondent said, the latest last; where the label is looked for.
        rendering: what the label tells, as parts of a sentence.
    """
    told = rendering or Rendering()
    trimmed, cut = trim(label)
    clause = next((found for text in reversed(said) if (found := clause_around(trimmed, text))), "")
    quoted = clause or trimmed
    whole = bool(clause) or len(trimmed.split()) == 1
    if not language.casefold().startswith("en"):
        opening, closing = ("„", "“") if language.casefold().startswith("de") else ("“", "”")
        return Phrase(kind="quote", label=label, text=f"{opening}{quoted}{closing}", whole=whole)
    said_back = _said_back(clause) if clause else ""
    noun = None if cut else _noun(trimmed.split(), "attribute" in node_type)
    if noun is not None:
        text, plural = noun
        back = said_back or f"{text[:1].upper()}{text[1:]}."
        back = back if _stands(back) else ""
        return Phrase(kind="noun", label=label, text=text, plural=plural, said_back=back, whole=True, rendering=told)
    if told.clause:
        back = f"{told.clause[:1].upper()}{told.clause[1:]}."
        back = back if _stands(back) else ""
        return Phrase(kind="clause", label=label, text=told.clause, said_back=back, whole=True, rendering=told)
    said_back = said_back if _stands(said_back) else ""
    return Phrase(kind="quote", label=label, text=f"“{quoted}”", said_back=said_back, whole=whole, rendering=told)


@lru_cache(maxsize=4096)
def can_be_named(label: str, node_type: str = "") -> bool:
    """Whether a label (English) can be named when it was not just said: as a noun phrase, or as a word by itself.

    Args:
        label: the respondent's words.
        node_type: name of the node's type.
    """
    trimmed, cut = trim(label)
    if not cut and _noun(trimmed.split(), "attribute" in node_type) is not None:
        return True
    low = words(trimmed)
    return len(low) == 1 and not is_finite(low[0]) and low[0] not in _DANGLING | _OBJECTS


def says_nothing(label: str) -> bool:
    """Whether a label (English) has none but small words, so that there is nothing to ask about: “not”, “it is”."""
    return all(word in _DANGLING | _OBJECTS | _FILLERS | _SPOKEN_OPENERS for word in words(label))


def trim(label: str) -> tuple[str, bool]:
    """The label without end punctuation, shortened where it is long; and whether it was shortened.

    A long label is cut before a subordinate clause if that leaves three words or more, else after `MAX_LABEL_WORDS`,
    never behind a word that needs a continuation, such as an article.
    """
    said = re.sub(r"[\"“”„«»{}<>]", "", label).strip(" \t\n.,;:!?…–—-").split()
    if len(said) <= MAX_LABEL_WORDS:
        return " ".join(said), False
    starts = range(3, MAX_LABEL_WORDS + 1)
    at = next((i for i in starts if said[i].casefold() in _SUBORDINATORS or said[i - 1].endswith(",")), MAX_LABEL_WORDS)
    kept = said[:at]
    while len(kept) > 3 and kept[-1].casefold().strip(",") in _DANGLING:
        kept.pop()
    return " ".join(kept).strip(" ,;:–—-") + " …", True


@lru_cache(maxsize=1024)
def clause_around(label: str, text: str) -> str:
    """The whole clause of a text that has the words of the label, at most `MAX_CLAUSE_WORDS`; else nothing.

    The sentence where it is short, else what stands between commas and conjunctions. Fillers at its beginning are left
    out.
    """
    wanted = words(label)
    for piece in _pieces(text):
        kept = _without_openers(piece)
        if (
            wanted
            and not HESITATION.search(kept)
            and _holds(words(kept), wanted)
            and len(kept.split()) <= MAX_CLAUSE_WORDS
        ):
            return "" if kept.split()[-1].casefold() in _DANGLING else kept
    return ""


def _pieces(text: str) -> Iterator[str]:
    """Sentences and clauses of a text, whole sentences first."""
    sentences = [part.strip(" ,") for part in _SENTENCE.split(text) if part.strip(" ,")]
    yield from sentences
    for sentence in sentences:
        for piece in _CLAUSE.split(sentence):
            part = _without_openers(piece.strip(" ,"))
            if _has_subject(part):
                yield part


def _has_subject(piece: str) -> bool:
    first = piece.split(" ", 1)[0].casefold().replace("’", "'")
    return first in lex.SUBJECT_PRONOUNS | lex.CONTRACTED_SUBJECTS | lex.DETERMINERS


def _without_openers(piece: str) -> str:
    found = re.sub(r"[\"“”„«»{}<>]", "", piece).split()
    while found and _is_left_out(found[0].casefold()) and not _is_subject(found):
        found = found[1:]
    return " ".join(found).strip(" ,–—-")


def _is_subject(said: Sequence[str]) -> bool:
    """Whether words begin with a “that” that somebody says something of: “that was love”."""
    return said[0].casefold() == "that" and len(said) > 1 and said[1].casefold() in _SAYS_OF_THAT


def _is_left_out(word: str) -> bool:
    return word.strip(",") in _OPENERS or (word.endswith(",") and word.strip(",") in _FILLERS)


def _holds(text: list[str], wanted: list[str]) -> bool:
    size = len(wanted)
    return any(text[at : at + size] == wanted for at in range(len(text) - size + 1))


_UNSAID = re.compile(
    r"\b(?:sorry|not|never|nothing|nobody|\w+n't|sort of|kind of|i suppose|maybe|perhaps|like so"
    r"|this (?:big|small|much))\b",
    re.I,
)
"""Words of what was denied, softened or shown: said back, it sounds like a reproach, or as if it were certain."""
_LEADING = word_set("about at by for from in it it's of on that that's there there's to with because so than like")
"""Words at the beginning of what is no sentence by itself."""
_IMAGINED = re.compile(
    r"\b(?:would|could|might)\b|\w'd (?:be|have|go|get|sit|stand|say|do|like|want|need|find|see)\b", re.I
)
"""Words of what only would be: said back, it sounds as if it were so."""


def _stands(sentence: str) -> bool:
    """Whether a sentence can be said back by itself: no single word, no end of another, and of what is certain."""
    low = words(sentence)
    return len(low) > 1 and low[0] not in _LEADING and not _IMAGINED.search(sentence) and not _UNSAID.search(sentence)


def _said_back(clause: str) -> str:
    """The clause with first person turned into second, as a sentence; nothing where that is not safe."""
    plain = without_asides(clause)
    if addresses(plain) or is_loaded(plain):
        return ""
    turned = second_person(plain)
    return f"{turned[:1].upper()}{turned[1:]}."


def without_asides(clause: str) -> str:
    """A clause without what is only put in: “it was, honestly, a relief” → “it was a relief”."""
    return _ASIDE.sub("", clause.replace("’", "'"))


def addresses(clause: str) -> bool:
    """Whether a clause has a word for the one it is said to."""
    return any(word in _SECOND_PERSON for word in words(clause))


def is_loaded(clause: str) -> bool:
    """Whether a clause has a word that an interviewer does not say."""
    return any(word in _LOADED or word.startswith("fuck") for word in words(clause))


def with_apostrophes(text: str) -> str:
    """A text with the apostrophes that were left out when it was typed: “cant” → “can't”."""
    return _UNMARKED.sub(lambda found: _as_cased(found[0], lex.CONTRACTIONS[found[0].casefold()]), text)


def _as_cased(word: str, other: str) -> str:
    return f"{other[:1].upper()}{other[1:]}" if word[:1].isupper() else other


def second_person(clause: str) -> str:
    """A clause with first person turned into second: “I was late” → “you were late”, “im late” → “you're late”."""
    clause = with_apostrophes(clause)
    if not any(word in _FIRST_PERSON for word in words(clause)):
        return clause
    for pattern, made in _TURNED:
        clause = pattern.sub(made, clause)
    return flip(clause)


def is_finite(word: str) -> bool:
    """Whether a word is a finite verb by its form, or a pronoun with one."""
    return word in lex.FINITE or word in lex.PAST_FORMS or word in lex.IRREGULAR_PAST or word in lex.CONTRACTED_SUBJECTS


def _noun(said: list[str], feature: bool) -> tuple[str, bool] | None:
    """A noun phrase that may be spoken as it is, and whether it is plural; None where that is not sure."""
    low = [lex.CONTRACTIONS.get(word.casefold(), word.casefold()).replace("’", "'") for word in said]
    opened = bool(low) and low[0] in _SPOKEN_OPENERS and len(low) > 1
    bare = feature and 0 < len(low) <= MAX_BARE_NOUN_WORDS and low[0] not in lex.DETERMINERS | lex.QUANTIFIERS
    if not (opened or bare) or len(low) > MAX_NOUN_WORDS or low[-1] in _DANGLING:
        return None
    if any(_spoils(word, before) for before, word in zip(["", *low], low, strict=False)):
        return None
    head = _head(low)
    if bare and (low[0] in _INSIDE_NOUNS or head in lex.ADJECTIVES or head in lex.PERSON_NOUNS):
        return None
    if bare and len(low) == 1 and not is_plural(head):
        return None
    plural = is_plural(head) and low[0] not in ("a", "an")
    text = flip(" ".join([said[0].casefold(), *said[1:]]))
    return (text if opened or plural else f"the {text}"), plural


def _spoils(word: str, before: str) -> bool:
    """Whether a word shows that a label is no plain noun phrase."""
    if is_finite(word) or "'" in word or "," in word:
        return True
    if word in _SECOND_PERSON or word in _LOADED or word in _OBJECTS or (word in _SUBORDINATORS and word != "and"):
        return True
    if word.endswith("ed") and word not in lex.ADJECTIVES:
        return True
    if word.endswith("ly") and word not in lex.ADJECTIVES:
        return True
    if (not before or is_plural(before)) and word in lex.PURE_VERBS | lex.NOUNISH_VERBS:
        return True
    if word in lex.PURE_VERBS and before not in _SPOKEN_OPENERS:
        return True
    base = base_of_third_person(word)
    if base is not None and (before in lex.PERSON_NOUNS | lex.KIN_NOUNS or before.endswith("er")):
        return True
    return base is not None and base in lex.PURE_VERBS and before not in _SPOKEN_OPENERS


_OBJECTS = word_set("i me us he she they we him them it itself what how why not never no")


def _head(low: list[str]) -> str:
    """The noun a phrase is about: the last word before “of”, “for” …"""
    at = next((i for i, word in enumerate(low) if word in _INSIDE_NOUNS and i), len(low))
    return low[at - 1]
