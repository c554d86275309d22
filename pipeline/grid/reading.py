"""Reads elements, distinctions and poles from answers, by rules a person can read (English, German, some Arabic).

What is said stays as it was said: labels are parts of the answer. An answer from which nothing can be read adds
nothing; it is never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from pipeline.records import Record

MOST_NAMED = 40
"""Elements that one answer can name."""
SHORT = 3
"""Letters of names from which on an s at their end is their plural."""
WORDS_BEFORE = 2
"""Words that may stand before the name of an element where it is what a clause is about."""
READ, PARTS = 600, 12
"""Characters of an answer that are read for a distinction, and commas at which a clause may be parted."""
LONGEST_NAME, LONGEST_POLE = 6, 12
"""Words of the name of an element, and of a pole."""


class Compared(Record):
    """An element that was asked about, with other words for it."""

    id: str
    label: str
    aliases: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be called."""
        return (self.label, *self.aliases)


class HeardDistinction(Record):
    """What an answer to a comparison says; None and empty where it does not say it."""

    emergent: str | None = None
    contrast: str | None = None
    alike: tuple[str, ...] = ()
    apart: str | None = None


_LEAD = (
    r"(?:(?:well|um+|uh+|er+|oh|hm+|so|ok(?:ay)?|yes|yeah|right|probably|maybe|perhaps|honestly|and|also|then|"
    r"mainly|mostly|"
    r"na ja|naja|also|ja|äh+|ähm|vielleicht|wohl|und|dann|meistens|vor allem)[,.…]*\s+)*"
)
_NAMING = re.compile(
    rf"^\s*{_LEAD}"
    r"(?:(?:i(?:'d| would) (?:say|pick|choose|go for|name)|i (?:guess|think|suppose)|that(?:'d| would) be|"
    r"that(?:'s| is)|"
    r"it(?:'s| is|'d be| would be)|there(?:'s| is| are)|the one (?:i|that)\b[^,.]*?\bis|(?:(?:i|we) )"
    r"(?:mostly |usually |always |often |sometimes |really |quite |also |do |never |hardly ever )*(?:use|go to|"
    r"shop at|buy from|know|like|love|hate|"
    r"visit|trust|see|have|tried|go with|avoid|prefer|can think of)|"
    r"das (?:wäre|ist|sind)|da(?:s)? gibt es|ich (?:würde sagen|denke|glaube|kenne|mag|nutze|nehme|gehe zu|"
    r"kaufe bei))\s+)?",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s*(?:[(–—:]|\s-\s|,?\s*\b(?:because|'cause|since|who|whom|whose|which|where|when|if|though|although|but|"
    r"as (?:it|they|he|she|i|we)|"
    r"that (?:i|we|is|was|has|are)|is|are|was|were|has|weil|der|die|das|wo|wenn|aber|obwohl|da ich|لأن|الذي|"
    r"التي)\b).*$",
    re.IGNORECASE,
)
_NAMES_MORE = re.compile(r"(?:\w+,? )*?(?:i|we|there|ich|wir|da)\b")
_NAMES_ONE = re.compile(r"(?:\w+,? )*?(?:that|it|das)\b")
"""“That would be my boss, Karen.” names one person twice."""
_ARTICLE_START = re.compile(r"^(?:der|die|das)\s+", re.IGNORECASE)
_STARTS_ELSEWHERE = re.compile(
    r"^\s*(?:it|they|he|she|this|there|you|we|i|that|because|which|but|er|sie|es|ich|wir|man|weil|aber)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"^\s*(?:i (?:really )?(?:don't|do not|can't|cannot) (?:know|think of|say|remember)\b[^,]*|no idea[^,]*|"
    r"none(?: of (?:them|those))?|nothing|nobody|no one|no|"
    r"not? sure|dunno|not any|there isn't (?:one|any).*|keine?r?|nichts|niemand|weiß nicht.*|keine ahnung.*|"
    r"لا أعرف.*|لا شيء.*)\W*$",
    re.IGNORECASE,
)
_NOT_OF_IT = re.compile(
    r"\?\s*$|\b(?:your (?:english|question|questions|words?|study|programme?)|my english)\b|\b(?:tell|answer|ask"
    r"|explain)(?:ed)? (?:to )?me\b"
    r"|\bi (?:don't|do not|didn't) understand\b|\b(?:is|are) not (?:an? )?(?:shops?|places?|persons?|brands?"
    r"|products?)\b",
    re.IGNORECASE,
)
"""A sentence to the interviewer, or of what is no element."""
_NO_NAME = re.compile(
    r"(?:fine|ok(?:ay)?|sure|thanks?|thank you|sorry|please|hello|hi|yes|same|again|first|both|dirty|clean|expensive"
    r"|cheap|good|bad|nice|far|near|big|small|old|new|busy|quiet|loud|cold|hot|friendly|rude|slow|fast|close|closed"
    r"|open|crowded|empty|ugly|smelly|boring)\W*$",
    re.IGNORECASE,
)
"""Words that name nothing: courtesies, and what something is like."""
_SAME = re.compile(
    r"\b(?:all (?:the|pretty much the|much the|more or less the|about the)? ?same|"
    r"all (?:three )?(?:are )?(?:alike|similar|identical)|"
    r"(?:no|not (?:any|a|much of a)) difference|can't tell (?:them|any)|nothing (?:different|separates)|"
    r"don't see (?:any|a|the) difference|"
    r"alle (?:drei )?gleich|kein(?:en)? unterschied|kaum unterschied|alle dasselbe)\b|كلها (?:متشابهة|سواء)|لا فرق",
    re.IGNORECASE,
)
_SPLIT_NAMES = re.compile(r"\s*(?:[,;/\n،؛•]|\band\b|&|\bor\b|\bund\b|\boder\b)\s*", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?؟])\s+|\n+")
_CLAUSES = re.compile(
    r"\s*(?:[.;!?؟]+(?:\s+|$)|\s[–—-]\s|,?\s*\b(?:but|whereas|while|whilst|unlike|however|as opposed to|aber|"
    r"während|hingegen|dagegen|sondern|im gegensatz zu)\b\s*|"
    r"\s*(?:،\s*)?(?:بينما|لكن)\s+|,?\s+and (?=(?:the (?:third|other|last)|one)\b)|,\s+(?=(?:and )?the (?:third|"
    r"other|last)\b)|,?\s+und (?=(?:der|die|das) (?:dritte|andere)\b)|,\s+(?=(?:der|die|das) (?:dritte|andere)\b))",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"\b(?:both(?: of (?:them|those|these))?|the first two|the last two|the other two|those two|these two|"
    r"the two(?: of them)?|they(?: both)?|two of them|"
    r"zwei (?:davon|von (?:ihnen|denen))|two (?=are|have|feel|let|make)|"
    r"die (?:ersten|letzten|anderen)? ?(?:beiden|zwei)|beide)\b|"
    r"كلاهما|الاثنان",
    re.IGNORECASE,
)
_ODD = re.compile(
    r"\b(?:the (?:third|other|odd|last)(?: one)?|one(?=['’]s| is| has)|"
    r"the odd one out|it|this one|that one|he|she|(?:der|die|"
    r"das) (?:dritte|andere|letzte)|er|sie|es)\b|الثالث[ةه]?|الأخرى|الآخر",
    re.IGNORECASE,
)
_FIRST_TWO = re.compile(r"\bthe first two\b|\bdie ersten (?:beiden|zwei)\b", re.IGNORECASE)
_LAST_TWO = re.compile(r"\bthe last two\b|\bdie letzten (?:beiden|zwei)\b", re.IGNORECASE)
_VERB = re.compile(
    r"^(?:(?:\s|,|both|all|and|just|really|much|obviously|sort of|kind of|quite|a bit|definitely|beide|einfach|"
    r"wirklich|eher|ziemlich)*)"
    r"(?:are alike (?:in (?:that|how) (?:they(?:'re| are)?)?|because (?:they(?:'re| are)?)?)|"
    r"are (?:the )?(?:same|similar|alike)\s*(?:[,:]|because|in that)\s*(?:they(?:'re| are)?)?|"
    r"are|'re|’re|is|'s|’s|were|was|would be|seem(?:s)?|feel(?:s)?(?: like)?|sind|ist|waren|war|wirken|wirkt)?(?!\w)"
    r"(?:(?:\s|,|both|all|just|really|much|more of|sort of|kind of|quite|a bit|beide|einfach|wirklich|eher|"
    r"ziemlich)*)\s*",
    re.IGNORECASE,
)
_POLE_LEAD = re.compile(
    rf"^\s*(?:i don't know,\s+)?{_LEAD}(?:(?:the )?opposite (?:of that )?(?:would be|is|'d be)|the other (?:end|"
    rf"extreme|side) (?:would be|is)|"
    r"(?:for me )?(?:it|that|they|those)(?:'d| would) be|that(?:'s| is)|i(?:'d| would) say|i (?:guess|think|"
    r"suppose)|something (?:like|that(?:'s| is))|"
    r"(?:somewhere|someone|somebody|a (?:place|person|shop)|one) (?:that|who|where)(?:'s| is|'re| are)?|"
    r"when (?:it|they|you)(?:'s|'re| is| are)?|being|(?:that )?they(?:'re| are)|"
    r"das (?:gegenteil )?(?:wäre|ist)|wenn (?:es|sie|man)|ich würde sagen|العكس هو)?\s*",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(?:,\s+(?:and\s+|und\s+)?|\s(?:and|und)\s)", re.IGNORECASE)
_TAG = re.compile(r",?\s*\b(?:aren|isn|don|doesn|haven|hasn|weren|wasn)['’]t (?:they|it)\b", re.IGNORECASE)
"""“They're screens, aren't they.”"""
_DENIES = re.compile(r"\b(?:doesn't|isn't|don't|aren't|hasn't|not|nicht)\W*$", re.IGNORECASE)
_VERSUS = re.compile(
    r"\s*[,(]?\s*\b(?:versus|vs\.?|as opposed to|rather than|instead of|gegen(?:über)?|statt)\s+", re.IGNORECASE
)
_ASIDE = re.compile(
    r",?\s*\b(?:i (?:suppose|guess|think|mean)|really|probably|or so|or something(?: like that)?|for me|"
    r"to be honest|honestly|though|"
    r"oder so|glaube ich|denke ich|für mich)\W*$",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^\s*,?\s*(?:because|as|since|in that|weil|da)\s+(?:(?:they|both|it|he|she|sie|beide|er|"
    r"es)(?:\s+both)?(?=['’\s]))?\s*",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r",\s+(?=(?:you|i|they|it|we|he|she|man|ich|sie|es)\b)", re.IGNORECASE)
_BECAUSE = re.compile(
    r",?\s*\b(?:because|since|so that|which (?:is|means|i)|weil|damit|لأن)\b.*$", re.IGNORECASE | re.DOTALL
)
_EDGE = " \t\n.,;:!?؟،…–—-\"“”„'‘’()"
_RELATIVE = re.compile(
    r"^\s*(?:der|die|das|den|dem|who|which|that|where|wo)\s+(?:hat|haben|ist|sind|war|wurde|gibt|ich|wir|man|es|i"
    r"|we|is|was|has)\b",
    re.IGNORECASE,
)
_ARTICLES = frozenset("the a an der die das den dem ein eine einen".split())
_FIRST_PERSON = {
    "my": "your",
    "our": "your",
    "meine": "Ihre",
    "mein": "Ihr",
    "meinen": "Ihren",
    "meiner": "Ihrer",
    "unsere": "Ihre",
    "unser": "Ihr",
}
_EMPTY_POLE = frozenset(
    "hm hmm oh well um uh yes no ja nein "
    "alike same similar the that like different ones two way sort kind and both not doesn t don isn aren s is are "
    "gleich ähnlich anders nicht".split()
)


def names_in(text: str, language: str = "en") -> tuple[str, ...]:
    """The elements that an answer names, in its order, none twice; at most MOST_NAMED.

    “I mostly use Lidl, and the market on Saturdays.” names Lidl and the market on Saturdays.
    """
    found: list[str] = []
    for number, sentence in enumerate(_SENTENCES.split(text.strip())):
        if _NOTHING.match(sentence) or _NOT_OF_IT.search(sentence):
            continue
        lead = _NAMING.match(sentence)
        rest = sentence[lead.end() :] if lead else sentence
        said = lead.group(0).strip().casefold() if lead else ""
        if number > 0 and _STARTS_ELSEWHERE.match(sentence) and not _NAMES_MORE.match(said):
            continue
        names = [name for part in _SPLIT_NAMES.split(rest) if (name := _name(part))]
        found.extend(names[:1] if _NAMES_ONE.match(said) else names)
    kept: list[str] = []
    for name in found:
        if not any(same_words(name, other) for other in kept):
            kept.append(name)
    return tuple(kept[:MOST_NAMED])


def _name(part: str) -> str | None:
    """An element as it is called, in second person; None for what is no name."""
    if _RELATIVE.match(part):
        return None
    lead = _NAMING.match(part)
    told = part[lead.end() :] if lead else part
    article = _ARTICLE_START.match(told)
    start = article.end() if article else 0
    told = (told[:start] + _TAIL.sub("", told[start:])).strip(_EDGE)
    words = told.split()
    if not words or len(words) > LONGEST_NAME or _NOTHING.match(told) or _STARTS_ELSEWHERE.match(told):
        return None
    if _NO_NAME.match(told) or words[0].lower() in ("their", "its"):
        return None
    words[0] = words[0].lower() if words[0].lower() in _ARTICLES else words[0]
    return " ".join(_FIRST_PERSON.get(word.casefold(), word) for word in words)


def distinction_in(
    text: str, compared: Sequence[Compared], language: str = "en", others: Sequence[Compared] = ()
) -> HeardDistinction:
    """What makes elements alike and different, by an answer to a comparison; `others` are those it was not about.

    “Aldi and Lidl are no-frills, Waitrose pampers you.” → no-frills, pampers you. Without a contrast only the first
    pole; with “Aldi and Lidl.” only which two; nothing where all are the same to somebody.
    """
    if not text.strip() or _NOTHING.match(text) or (_SAME.search(text) and len(text.split()) <= 12):
        return HeardDistinction()
    text = _TAG.sub("", text[:READ])
    ids = [element.id for element in compared]
    emergent = contrast = None
    several = False
    alike: tuple[str, ...] = ()
    apart: str | None = None
    known = (*compared, *others)
    told = [(clause, *_subject(clause, known, len(ids))) for clause in _clauses(text, known)]
    of_them = [one for one in told if one[2] and (one[1] or _PAIR.search(one[0]) or _ODD.match(one[0]))]
    for clause, named, predicate in told:
        if not named and of_them and (clause, named, predicate) not in of_them:
            continue  # What is said of nothing that was asked about is said by the way.
        several = several or (not named and bool(predicate and _PAIR.search(clause)))
        if len(named) >= 2 and not alike:
            alike = named
            emergent = emergent or predicate
        elif len(named) == 1 and (alike or emergent):
            if named[0] not in alike:
                apart = named[0]
            contrast = contrast or predicate
        elif len(named) == 1:
            apart = apart or named[0]
            emergent = emergent or predicate
        elif emergent is None:
            emergent = predicate
        elif contrast is None and _ODD.match(clause):
            contrast = predicate
    if emergent is not None and contrast is None and len(parts := _VERSUS.split(emergent, maxsplit=1)) == 2:
        emergent, contrast = _pole(parts[0]), _pole(parts[1])
    if len(alike) == len(ids):
        alike = ()
    if apart is None and len(alike) == len(ids) - 1:
        apart = next((name for name in ids if name not in alike), None)
    if not alike and apart is not None and several:
        alike = tuple(name for name in ids if name != apart)
    return HeardDistinction(emergent=emergent, contrast=contrast, alike=alike, apart=apart)


def pole_in(text: str, language: str = "en") -> str | None:
    """The pole that an answer names; None where it names none."""
    if _NOTHING.match(text) or (_SAME.search(text) and len(text.split()) <= 12):
        return None
    said = [part for part in _SENTENCES.split(text[:READ].strip()) if part.strip(_EDGE)]
    first = next((part for part in said if len(part.split()) <= LONGEST_POLE), said[0] if said else "")
    lead = _POLE_LEAD.match(first)
    told = first[lead.end() :] if lead else first
    return _pole(told) or _pole(first)


def same_words(one: str, other: str) -> bool:
    """Whether two labels are the same but for case, articles, degree and punctuation."""
    return _plain(one) == _plain(other) != ()


@lru_cache(maxsize=512)
def _plain(text: str) -> tuple[str, ...]:
    spared = {
        "the",
        "a",
        "an",
        "very",
        "really",
        "more",
        "quite",
        "so",
        "too",
        "der",
        "die",
        "das",
        "ein",
        "eine",
        "sehr",
        "both",
        "your",
        "my",
    }
    words = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text.casefold().replace("’", "'"))
    return tuple(word for word in words if word not in spared) or tuple(words)


def _clauses(text: str, compared: Sequence[Compared]) -> Iterator[str]:
    """Clauses, also parted where a comma is followed by the name of an element that has a verb of its own."""
    for clause in _CLAUSES.split(text.strip()):
        if not clause or not clause.strip(_EDGE):
            continue
        at = 0
        for comma in islice(_PARTS.finditer(clause), PARTS):
            before, after = clause[at : comma.start()], clause[comma.end() :]
            if not _begins_with(after, compared):
                continue
            own = _subject(after, compared)
            if len(own[0]) == 1 and (own[1] or _DENIES.search(after)) and _subject(before, compared)[1]:
                yield before.strip()
                at = comma.end()
        yield clause[at:].strip()


def _subject(clause: str, compared: Sequence[Compared], asked: int | None = None) -> tuple[tuple[str, ...], str | None]:
    """Which elements a clause is about, in the order of the question, and what it says of them."""
    ids = [element.id for element in compared]
    spans = [(span, element.id) for element in compared if (span := _mention(clause, element.names)) is not None]
    first = _first_words(clause)
    pair, odd = _PAIR.search(clause), _ODD.search(clause)
    named = [name for _, name in sorted(spans)]
    end = max((span[1] for span, _ in spans), default=0)
    if pair is not None and pair.start() <= max(end, first):
        end = max(end, pair.end())
        if len(named) < 2 and _FIRST_TWO.search(pair.group(0)):
            named = ids[:2]
        elif len(named) < 2 and _LAST_TWO.search(pair.group(0)):
            named = ids[:asked][-2:]
    elif not named and odd is not None and odd.start() <= first:
        end = odd.end()
    rest = _REASON.sub(" ", clause[end:])
    verb = _VERB.match(rest) if end else re.match(rf"\s*{_LEAD}", rest, re.IGNORECASE)
    predicate = rest[verb.end() :] if verb else rest
    return tuple(name for name in ids if name in named), _pole(predicate)


def _begins_with(clause: str, compared: Sequence[Compared]) -> bool:
    """Whether a clause begins with the name of an element, but for a word or two."""
    starts = [span[0] for element in compared if (span := _mention(clause, element.names)) is not None]
    before = clause[: min(starts)] if starts else clause
    return bool(starts) and len(before.split()) <= WORDS_BEFORE and not re.search(r"[,;،]", before)


def _first_words(clause: str) -> int:
    """Where the fourth word of a clause begins: a subject without a name stands before."""
    starts = [match.start() for match in re.finditer(r"\S+", clause)]
    return starts[3] if len(starts) > 3 else len(clause)


def mention_of(text: str, names: Sequence[str]) -> str | None:
    """The part of an answer that is one of the names, as it stands there, or what the names name; None without any."""
    for name in names:
        whole = re.search(re.escape(name), text, re.IGNORECASE)
        if whole is not None:
            return whole.group(0)
    span = _mention(text, names)
    return text[span[0] : span[1]] if span is not None else None


def _mention(clause: str, names: Sequence[str]) -> tuple[int, int] | None:
    """Where a clause names an element: by a whole name, else by the longest word of the first one."""
    low = clause.lower()
    whole = [name.lower() for name in names]
    words = sorted((w for w in re.findall(r"[^\W_]+", whole[0]) if len(w) > 2 and w not in _COMMON), key=len)
    for name in (*whole, re.sub(r"^(?:your|ihre?r?)\s+", "", whole[0]), *words[::-1]):
        stem = name[:-1] if name.endswith("s") and len(name) > SHORT else name
        found = re.search(rf"(?<!\w){re.escape(stem)}s?(?:['’]s)?(?!\w)", low)
        if found is not None:
            return found.span()
    return None


_COMMON = frozenset("the and your one who you that being der die das und ihr ihre".split())


def _pole(text: str) -> str | None:
    """A pole in the words of the answer; None where hardly anything is said."""
    told = _ASIDE.sub("", _GOES_ON.split(_BECAUSE.sub("", text))[0]).strip(_EDGE)
    told = re.sub(
        r"^(?:(?:just|more|very|really|sort of|kind of|like|a bit|a|an|the|eher|sehr|einfach|und|and|that|"
        r"in that|because)\s+)+",
        "",
        told,
        flags=re.IGNORECASE,
    )
    told = " ".join(told.split()[:LONGEST_POLE]).strip(_EDGE)
    words = re.findall(r"[^\W_]+", told.casefold())
    if not words or all(word in _EMPTY_POLE for word in words):
        return None
    return told
