"""Turns a node's label into a phrase that can stand in a question.

A label is whatever the extractor cut out of an answer: a noun phrase ("quiet motor"), a verb phrase ("saves me time"),
a clause ("my son does the uploading"), an adjective ("heavy"). Where the rules are sure of the kind, the phrase is
inflected and its pronouns turned round (my → your); where they are not, it is quoted, which is always grammatical.
"""

from __future__ import annotations

import re
from typing import Literal

from pipeline.question import lexicon as lex
from pipeline.question.inflection import (
    FLIP,
    VERBS,
    base_of_third_person,
    flip,
    flipped,
    gerund_phrase,
    is_ing_form,
    is_plural,
)
from pipeline.question.patterns import word_set
from pipeline.records import Record

PhraseKind = Literal["noun", "activity", "saying", "event", "quote", "word"]

MAX_LABEL_WORDS = 14
MAX_INLINE_WORDS = 8

_CONCRETE_TYPES = (
    "attribute",
    "solution",
    "situation",
    "context",
    "trigger",
    "pain_point",
    "incident",
    "outcome",
    "action",
)
_FEELING_TYPES = ("emotion", "psychosocial", "value", "social_job")

_SECOND_PERSON = word_set("you your yours yourself you're you've you'd you'll")
_OBJECT_FIRST_PERSON = word_set("me us")
_SUBJECTS = word_set("i he she they we")
_THINGS_DO = word_set(
    "be make save keep give help let take cost stop work last taste smell feel fit look leave dry break go come bring "
    "hurt burn wake calm clear allow enable have need"
)
"""What a thing does, so that “it” can stand before it."""
_PARTICIPLES = word_set(
    "stuck torn gone done broken worn sold hurt counted booked known given taken seen made thrown stolen "
    "driven eaten written spoken frozen woken beaten bitten chosen hidden ridden shaken"
)
_SUBORDINATORS = word_set(
    "because since although though which who so but and or when while if where until unless as that than"
)
_DANGLING = _SUBORDINATORS | word_set(
    "a an the of to in on at for with from by my your our their his her its is are was were not very "
    "really i it they we he she about into me more less just"
)
_CLAUSE_OPENERS = word_set("that which who when where if because how what i you it they we he she to till until")
_PREPOSITIONS = word_set(
    "in on at before after during when while if until like as without with from by between near next under over for to"
)
_NOUN_PREPOSITIONS = word_set("with from over of for in to")
_HEAD_STOPS = word_set("of for with in on at from to that which who without about after when by between")
_LOADED = word_set(
    "hate hated hates love loved loves stupid idiot terrible awful horrible amazing ridiculous "
    "disgusting fantastic brilliant hopeless whatever crap rubbish shit damn"
)
_PLAIN_OBJECTS = word_set("the my it them him her")
_NAMES = word_set(
    "monday tuesday wednesday thursday friday saturday sunday christmas easter january bluetooth wi-fi wifi"
)


class Phrase(Record):
    """A label ready to be spoken.

    `kind` noun: `text` is a noun phrase; activity: a gerund phrase; saying: `text` continues “You said …”; event, quote
    and word: `text` is in quotation marks, an event being something that happened, a word a single one.
    `plural` tells whether it takes a plural verb.
    """

    kind: PhraseKind
    label: str
    text: str
    plural: bool = False

    @property
    def inline(self) -> bool:
        """Whether the phrase can be the subject or object of a question."""
        negative = self.text.startswith(("not ", "never "))
        return self.kind in ("noun", "activity") and not negative and len(self.text.split()) <= MAX_INLINE_WORDS


def phrase(label: str, *, node_type: str = "", language: str = "en") -> Phrase:
    """The label as a phrase.

    Args:
        label: the respondent's words, as the node is labelled.
        node_type: name of the node's type; concrete things get an article, feelings become “feeling …”.
        language: outside English every label is quoted.
    """
    trimmed, cut = trim(label)
    if not language.casefold().startswith("en"):
        opening, closing = ("„", "“") if language.casefold().startswith("de") else ("“", "”")
        return Phrase(kind="quote", label=label, text=f"{opening}{trimmed}{closing}")
    said = [lex.CONTRACTIONS.get(word.casefold(), word).replace("’", "'") for word in trimmed.split()]
    low = [word.casefold().strip(",") for word in said]
    if cut or not said or "," in trimmed or _mixes_persons(low) or _loaded(low) or _is_no_phrase(low):
        return _quoted(label, trimmed)
    feeling = any(part in node_type for part in _FEELING_TYPES)
    compound = "attribute" in node_type and len(low) == 2 and low[0].endswith("ing") and low[1] not in lex.OBJECT_STARTS
    for rule in () if compound else (_clause, _negation, _causative, _adverb, _past, _activity, _adjective):
        found = rule(said, low, feeling)
        if found is not None:
            kind, made = found
            return Phrase(kind=kind, label=label, text=made) if made else _quoted(label, trimmed, kind == "event")
    concrete = any(part in node_type for part in _CONCRETE_TYPES)
    made, plural = _noun(said, low, concrete, feeling)
    return Phrase(kind="noun", label=label, text=made, plural=plural) if made else _quoted(label, trimmed)


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


def _quoted(label: str, trimmed: str, event: bool = False) -> Phrase:
    kind: PhraseKind = "word" if len(trimmed.split()) == 1 else "event" if event else "quote"
    return Phrase(kind=kind, label=label, text=f'"{trimmed}"')


def _mixes_persons(low: list[str]) -> bool:
    """Whether a label has both first and second person, so that its pronouns cannot be exchanged."""
    second = any(word in _SECOND_PERSON for word in low)
    return second and (any(word in FLIP and word != "am" for word in low) or low[0] not in _SECOND_PERSON)


def _is_no_phrase(low: list[str]) -> bool:
    """Whether a label can't be trusted to be one phrase: a clause within it, or a beginning that needs what is gone."""
    first, more = low[0], low[1:]
    verb = next((i for i, word in enumerate(low) if word in lex.FINITE or base_of_third_person(word)), len(low))
    starts = _SUBJECTS | lex.CONTRACTED_SUBJECTS
    subjects = [i for i in range(1, min(verb + 1, len(low))) if low[i] in starts and low[i - 1] not in _CLAUSE_OPENERS]
    own_clause = first in lex.SUBJECT_PRONOUNS or first in lex.CONTRACTED_SUBJECTS
    if subjects and not own_clause:
        return True
    if len(low) == 1 and first.endswith("ing") and first in lex.ADJECTIVES:
        return True
    if first in _PARTICIPLES or (first.endswith("ly") and first not in lex.ADJECTIVES | lex.LEADING_ADVERBS):
        return True
    if first == "like" and more and more[0] in ("a", "an", "the", "that", "this", "my"):
        return True
    return first in ("it", "that", "this") and bool(more) and not _may_be_finite(more[0])


def _may_be_finite(word: str) -> bool:
    """Whether a word can be what “it” does."""
    known = word in lex.FINITE or word in lex.PAST_FORMS or word in lex.IRREGULAR_PAST
    return known or base_of_third_person(word) is not None or word.endswith(("ed", "ly")) or word in lex.LEADING_ADVERBS


def _loaded(low: list[str]) -> bool:
    """Whether a label has words that a respondent may use and an interviewer may not."""
    return any(word in _LOADED or word.startswith("fuck") for word in low)


Found = tuple[PhraseKind, str] | None
_QUOTE: Found = ("quote", "")


def _clause(said: list[str], low: list[str], feeling: bool) -> Found:
    """Subject and finite verb: reported after “You said …” where the subject is spelled out, else quoted."""
    pronoun = low[0] in lex.SUBJECT_PRONOUNS and low[0] not in ("that", "this", "one", "people") and len(low) > 1
    if low[0] in lex.CONTRACTED_SUBJECTS or pronoun:
        return _QUOTE if low[0] in _SECOND_PERSON else ("saying", " ".join(flipped(said)))
    if low[0] in lex.LEADING_ADVERBS or _starts_as_verb(low):
        return None
    at = next((i for i in range(1, len(low)) if _verb_inside(low, i)), None)
    if at is None:
        return None
    reported = " ".join(flipped(said))
    if low[0] in lex.KIN_NOUNS:
        return "saying", f"your {_lowered(reported)}"
    if low[0] in lex.PERSON_NOUNS:
        return "saying", f"the {_lowered(reported)}"
    spelled_out = low[0] in lex.DETERMINERS or low[0] == "people" or (at <= 2 and is_plural(low[at - 1]))
    return ("saying", _lowered(reported)) if spelled_out and low[0] not in ("that", "this") else _QUOTE


def _lowered(text: str) -> str:
    return text[:1].casefold() + text[1:]


def _verb_inside(low: list[str], at: int) -> bool:
    """Whether the word at `at` is the finite verb of the whole label, not of a clause inside a noun phrase."""
    if any(word in _CLAUSE_OPENERS for word in low[:at]):
        return False
    word, more = low[at], low[at + 1 : at + 2]
    if word in lex.FINITE or word in lex.PAST_FORMS:
        return True
    if low[0] in lex.KIN_NOUNS | lex.PERSON_NOUNS and (low[at - 1] in ("never", "always") or _is_past(word)):
        return True
    base = base_of_third_person(word)
    if base and more and base in lex.PURE_VERBS:
        return True
    if more and word in lex.PURE_VERBS and is_plural(low[at - 1]):
        return True
    if low[at - 1] in lex.PERSON_NOUNS | lex.KIN_NOUNS and _is_past(word):
        return True
    is_past = word.endswith("ed") and bool(more) and more[0] in _OBJECT_FIRST_PERSON | _PLAIN_OBJECTS
    return is_past or bool(more and (base or (low[0] == "people" and word in VERBS)) and more[0] in lex.OBJECT_STARTS)


def _is_past(word: str) -> bool:
    return word in lex.IRREGULAR_PAST or word in lex.PAST_FORMS or (word.endswith("ed") and word not in lex.ADJECTIVES)


def _starts_as_verb(low: list[str]) -> bool:
    first = low[0]
    if _noun_before_preposition(low):
        return False
    if first in lex.PURE_VERBS or first in lex.PAST_FORMS or first in lex.IRREGULAR_PAST or first in lex.FINITE:
        return True
    if first in lex.NOUNISH_VERBS or base_of_third_person(first):
        return len(low) > 1 and low[1] in lex.OBJECT_STARTS
    return is_ing_form(first, "".join(low[1:2]))


def _noun_before_preposition(low: list[str]) -> bool:
    return low[0] in lex.NOUNS_BEFORE_PREPOSITION and bool(_NOUN_PREPOSITIONS & set(low[1:2]))


def _is_verb(low: list[str]) -> bool:
    return bool(low) and (low[0] in lex.PURE_VERBS or low[0] in lex.NOUNISH_VERBS or low[0] == "be")


def _negation(said: list[str], low: list[str], feeling: bool) -> Found:
    """“don't have to think” → “not having to think”; “can't carry it” → “not being able to carry it”."""
    first, rest, rest_low = low[0], said[1:], low[1:]
    if first in ("not", "never") and rest_low and is_ing_form(rest_low[0]):
        return "activity", " ".join([first, *flipped(rest)])
    if _is_verb(rest_low) and not (first.startswith("could") and _OBJECT_FIRST_PERSON & set(low)):
        if first == "don't":
            return "activity", "not " + gerund_phrase(rest, rest_low)
        if first in ("can't", "cannot", "couldn't"):
            return "activity", "not being able to " + " ".join(flipped(rest))
        if first in ("can", "could"):
            return "activity", "being able to " + " ".join(flipped(rest))
        if first in ("not", "never") and (
            rest_low[0] in lex.PURE_VERBS or (rest_low[1:2] and rest_low[1] in lex.OBJECT_STARTS)
        ):
            return "activity", f"{first} " + gerund_phrase(rest, rest_low)
    if first == "not" and feeling and rest_low and rest_low[0] in lex.ADJECTIVES:
        return "activity", "not feeling " + " ".join(flipped(rest))
    if first in ("not", "never") or (first in lex.FINITE and base_of_third_person(first) is None):
        return _QUOTE
    return None


_CAUSATIVES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), made)
    for pattern, made in (
        (r"(?:it )?(?:makes?|made|making) (?:me|us) feel (?P<x>(?:\w+ ){0,3}\w+)$", "feeling {x}"),
        (
            r"(?:it )?(?:helps?|helping|lets?|letting|allows?|enables?) (?:me|us)(?: to)? "
            r"(?P<v>(?!with\b)[a-z]+)(?P<rest>.*)$",
            "being able to {v}{rest}",
        ),
        (
            r"(?:keeps?|keeping) (?:me|us) "
            r"(?P<x>(?:awake|calm|warm|focused|fit|healthy|busy|safe|alert|motivated|sane).*)$",
            "staying {x}",
        ),
        (r"(?:saves?|saving) (?:me|us) (?P<x>.+)$", "saving {x}"),
        (r"(?:gives?|giving) (?:me|us) (?P<x>.+)$", "having {x}"),
        (r"(?:wakes?|waking) (?:me|us) up(?P<rest>.*)$", "waking up{rest}"),
        (r"(?:calms?|calming) (?:me|us) down(?P<rest>.*)$", "calming down{rest}"),
        (r"(?:clears?|clearing) (?:my|our) (?P<x>.+)$", "clearing your {x}"),
    )
)


def _causative(said: list[str], low: list[str], feeling: bool) -> Found:
    """“makes me feel safe” → “feeling safe”, “saves me time” → “saving time”."""
    text = " ".join(low)
    for pattern, made in _CAUSATIVES:
        if match := pattern.match(text):
            return "activity", flip(made.format(**match.groupdict()))
    nervous = re.match(r"(?:makes?|made) (?:me|us) (\w+)$", text)
    if nervous and nervous.group(1) in lex.ADJECTIVES:
        return "activity", f"feeling {nervous.group(1)}"
    return None


def _adverb(said: list[str], low: list[str], feeling: bool) -> Found:
    """“just check the numbers” → “just checking the numbers”; other labels with an adverb first are quoted."""
    if low[0] not in lex.LEADING_ADVERBS or len(low) == 1:
        return None
    if _is_verb(low[1:]) and _starts_as_verb(low[1:]):
        return "activity", f"{low[0]} " + gerund_phrase(said[1:], low[1:])
    if is_ing_form(low[1]):
        return "activity", " ".join([low[0], *flipped(said[1:])])
    clause = _clause(said[1:], low[1:], feeling) if low[0] in word_set("sometimes often usually now always") else None
    return ("saying", f"{low[0]} {clause[1]}") if clause and clause[1] else _QUOTE


def _past(said: list[str], low: list[str], feeling: bool) -> Found:
    """“felt guilty” → “feeling guilty” where the respondent is the subject; else the label is quoted."""
    base = lex.IRREGULAR_PAST.get(low[0])
    others = _OBJECT_FIRST_PERSON & set(low) or low[:2] in (["left", "with"], ["left", "out"], ["lost", "in"])
    if base in ("learn", "realise", "realize", "decide", "notice") and low[1:2] == ["that"]:
        return "saying", "you " + " ".join(flipped(said))
    if low[0] == "got" and low[1:2] and (low[1] in lex.QUANTIFIERS or low[1][0].isdigit()):
        base = "have"
    if base and len(low) > 1 and not others:
        return "activity", gerund_phrase([base, *said[1:]], [base, *low[1:]])
    followed = len(low) == 1 or low[1] in lex.OBJECT_STARTS or low[1] in _PREPOSITIONS or low[1].endswith("ly")
    regular = low[0].endswith("ed") and low[0] not in lex.ADJECTIVES and followed
    return ("event", "") if base or low[0] in lex.PAST_FORMS or regular else None


def _activity(said: list[str], low: list[str], feeling: bool) -> Found:
    """Base forms, -ing forms and third-person forms."""
    first, more = low[0], low[1:]
    if first in ("be", "being"):
        return ("activity", " ".join(["being", *flipped(said[1:])])) if more else _QUOTE
    if _noun_before_preposition(low):
        return None
    if first in lex.PURE_VERBS or (first in lex.NOUNISH_VERBS and more and more[0] in lex.OBJECT_STARTS):
        return _QUOTE if _OBJECT_FIRST_PERSON & set(low) else ("activity", gerund_phrase(said, low))
    if is_ing_form(first, "".join(more[:1])):
        compound = more and more[0] in lex.ING_NOUNS_AFTER and more[0] not in ("time", "money", "space")
        return None if compound else ("activity", " ".join([first, *flipped(said[1:])]))
    base = base_of_third_person(first)
    if base and more and (base in lex.PURE_VERBS or _starts_as_verb(low)):
        return ("saying", "it " + " ".join([first, *flipped(said[1:])])) if base in _THINGS_DO else _QUOTE
    return None


def _adjective(said: list[str], low: list[str], feeling: bool) -> Found:
    """Adjectives: feelings are felt, qualities are quoted. Phrases that open with a preposition are quoted."""
    core = low[1:] if len(low) > 1 and low[0] in ("so", "very", "too", "more", "less", "really", "quite", "a") else low
    after = core[1:2]
    followed = not after or after[0] in lex.OBJECT_STARTS or after[0] in word_set("and or when because at of enough by")
    compound = len(core) <= 2 and core[-1] in lex.ADJECTIVES | {"free"} and bool(lex.ADJECTIVE_ENDINGS.search(core[-1]))
    if (core[0] in lex.ADJECTIVES and followed) or compound:
        felt = feeling and low[0] != "a" and not core[-1].endswith("free")
        return ("activity", "feeling " + " ".join(flipped(said)).casefold()) if felt else _QUOTE
    if low[0] == "in" and (low[-1] == "mood" or low[1:2] == ["control"]):
        return "activity", "being " + " ".join(flipped(said)).casefold()
    return _QUOTE if low[0] in _PREPOSITIONS else None


def _noun(said: list[str], low: list[str], concrete: bool, feeling: bool) -> tuple[str, bool]:
    """A noun phrase with an article where English wants one, and whether it is plural; empty text when in doubt."""
    spoken = flipped(said)
    name = low[0] in _NAMES or (len(said[0]) > 1 and said[0].isupper())
    if not name:
        spoken[0] = spoken[0].casefold()
    text, head, plural = " ".join(spoken), _head(low), is_plural(_head(low))
    if low[-1] in _DANGLING or "if" in low or low[-1] in _SECOND_PERSON:
        return "", False
    if low[0] in word_set("whatever what how which whichever so too very no nothing such something much many"):
        return "", False
    if low[0] in lex.DETERMINERS or low[0] in lex.QUANTIFIERS or low[0][0].isdigit():
        return text, plural and low[0] not in ("a", "an", "every", "each")
    if low[0] in word_set("sense feeling kind sort bit lot way place person source waste"):
        return "a " + text, False
    if head in lex.PERSON_NOUNS or any(word in lex.PAST_FORMS or word in lex.IRREGULAR_PAST for word in low[1:]):
        return "", False
    if any(word.endswith("ed") and word not in lex.ADJECTIVES for word in low[1:]):
        return "", False
    if plural or name:
        return text, plural
    abstract = bool(lex.MASS_OR_ABSTRACT_ENDINGS.search(head))
    if concrete and (len(low) > 1 or not abstract):
        return "the " + text, False
    return (text, False) if abstract or (feeling and len(low) <= 3) else ("", False)


def _head(low: list[str]) -> str:
    """The noun a phrase is about: the last word before “of”, “for” …; before a participle, if that is plural."""
    at = next((i for i, word in enumerate(low) if word in _HEAD_STOPS and i), len(low))
    head = low[at - 1]
    return low[at - 2] if head.endswith("ing") and at >= 2 and is_plural(low[at - 2]) else head
