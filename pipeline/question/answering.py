"""What the interviewer answers to a question about the idea: what the description says, and that there is no more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.concept import Concept, names_of
from pipeline.conduct.policy import ConductTexts
from pipeline.elements import key_of, named
from pipeline.focus import Target
from pipeline.leads import asks_amount
from pipeline.question.templates import capitalised
from pipeline.question.text import sentences, words

LONGEST_SAID = 40
"""Words of a sentence of the description that is said again at the most."""
MOST_SAID = 2
"""Sentences of the description that are said again at once at the most."""
LEAST_SAID = 4
"""Words of a sentence that answers because it names the same part, at the least: a name alone says nothing."""
LONGEST_ASKED = 16
"""Words of a question that is said again at the most."""
HALF = 0.5
"""Share of what a question asks that a sentence has to have to answer it."""
CONTENT = 4
"""Letters of a word from which on it says what a question is about."""
LEAST_SHARED = 3
"""Letters of a word that a question has in common with what may answer it."""
SHARED = 2
"""Such words that a question and a sentence have in common, where nothing else says that one is about the other."""
PLAIN = frozenset(
    (
        "about again also another because been being could does doing done every from have here into just "
        "know less like long make many mean more most much only other over really said same should some "
        "somebody something sure take than that them then there these they thing think this those very want "
        "well were what when where which while will with would your aber alle auch beim dann dass dein diese "
        "doch eine einem einen einer etwas ganz haben hier hätte immer jede kann mein mehr muss nach nicht "
        "noch oder schon sein sich sind über viel vielleicht wann warum wenn werden wird wäre würde zwar"
    ).split()
)
"""Words that say nothing of what a question is about."""
OF_AMOUNTS = frozenset("cost costs price long much many often take last kosten kostet preis lang lange dauert".split())
"""Words of questions for a quantity that need not be in the answer."""
_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred"
    r"|once|twice|half|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig|dreißig|fünfzig|hundert|einmal"
    r"|zweimal|halb\w*)\b",
    re.IGNORECASE,
)
_ASKS_SIZE = re.compile(
    r"\bhow (?:much (?:of it )?(?:is|fits|goes|comes|are) (?:there )?(?:in|into)|(?:big|large|heavy) (?:is|are))\b"
    r"|\bwhat(?:'s| is) the (?:size|weight|volume)\b|\bhow much is in\b",
    re.IGNORECASE,
)
_SIZE = re.compile(
    r"\d ?(?:ml|cl|l|g|kg|oz|mm|cm|m|grams?|grammes?|litres?|liters?|millilit\w+|inch\w*|portions?|servings?)\b"
    r"|\b(?:full|whole|half|single|double) (?:meal|portion|serving|litre|liter|size)\b"
    r"|\bfor (?:one|two|three|four) people\b",
    re.IGNORECASE,
)
"""A question for the size of something, and words of a description that tell it."""
_ASKS = re.compile(
    r"^(?:(?:but|and|so|well|sorry|ok|okay),? )*(?:what|how (?:much|many|long|often|old)|when|who|where|which)"
    r" (?:do|does|is|are|will|would|can|must) (?:it|they|i|we|you|the|that|this)\b"
    r"|\?[\"”’)]*$|\bi(?:'ve| have)?(?: (?:did|just|still|also|already|only|really))*(?: (?:asked?|ask you"
    r"|asked you|wonder|wondered"
    r"|want to know|need to know|have to know|don't know|do not know|can't see|cannot see))+(?: you)?,? "
    r"(?:what|how|who|whether|if|when|where|which|why)\b"
    r"|\b(?:ich (?:weiß|frage|fragte|wüsste)|fragte ich|frage mich)\b.{0,30}\b(?:was|wie|wer|ob|wann|wo|welche\w*"
    r"|warum)\b",
    re.IGNORECASE,
)
"""A sentence that asks, …"""
_WHETHER = re.compile(
    r"^(?:\W|(?:but|and|so|well|sorry|ok|okay|you mean)\b)*(?:is|are|do|does|can|could|will|would|you mean)(?:n't)?\b"
    r"|,(?: and)? (?:\w+n't|\w+ not|is|are|does|do) (?:it|he|she|they|you|there|one)\?|^(?!.*\?).*\bi\b"
    r"|^(?:\W|(?:und|aber|also)\b)*(?:ist|sind|kann|wird|gibt|muss|bekomm\w*|zahl\w*|kostet)\b",
    re.IGNORECASE,
)
"""… whether something is so, or what they asked before, …"""
_WHAT = re.compile(
    r"^(?:\W|(?:but|and|so|well|sorry|ok|okay|und|aber|also)\b)*"
    r"(?:how|what|what's|when|who|who's|where|which|was|wie|wann|wer|wo)\b",
    re.IGNORECASE,
)
"""… or what; …"""
_OTHERWISE = re.compile(
    r"\bor about\b|\bis (?:this|that|it) about\b|\b(?:about|for|of) (?:which|what)\b|\bwhich (?:bit|one|part)\b"
    r"|\b(?:could|can|would|should|do|did|am|was|have|had)(?:n't)? i\b",
    re.IGNORECASE,
)
"""… not of the interview, or of themselves."""
_PRICE = re.compile(
    r"\b(?:costs?|prices?|pay|pays|paid|charges?|fees?|kostet|kosten|preis|zahlen|zahlst|zahlt"
    r"|bezahl\w*)\b",
    re.IGNORECASE,
)
"""Words of what something costs, …"""
_WHO = re.compile(r"\b(?:who|wer)\b", re.IGNORECASE)
"""… unless it is asked who pays."""
ANSWERED = ("asks", "unseen")
"""Kinds of leads that are answered."""


def said_of(concept: Concept, element: str | None, asked: str) -> str:
    """What the description says of a part of it that was not noticed; empty where it says nothing.

    That is the sentence that names the element and has most words of what was said; where it is about no element, the
    one that has most of them and at least `SHARED`.
    """
    names = dict(names_of(concept.elements)).get(element or "", ())
    wanted = _content(" ".join((asked, *names[:1])))
    best, most = "", 0 if element is not None else SHARED - 1
    for sentence in _sentences(concept):
        if element is not None and not named(sentence, [(element, names)]):
            continue
        shared = len(wanted & _content(sentence)) + (element is not None)
        if shared > most:
            best, most = sentence, shared
    return best


def answered_by(concept: Concept, element: str | None, question: str) -> str:
    """The sentence of the description that answers a question; empty where none surely does.

    It names the element that the question is about, and has besides at least half of the words that say what is asked
    of it; for a quantity it has a figure. Where the question is about no element, `SHARED` words are the least.
    """
    names = dict(names_of(concept.elements)).get(element or "", ())
    amount = asks_amount(question)
    asked = _content(question) - _content(" ".join(names)) - (OF_AMOUNTS if amount else frozenset())
    if element is None and len(asked) < SHARED:
        return ""
    best, most = "", 0.0
    for sentence in _sentences(concept):
        if element is not None and not named(sentence, [(element, names)]):
            continue
        if amount and not _FIGURE.search(sentence):
            continue
        share = len(asked & _content(sentence)) / len(asked) if asked else float(amount)
        enough = share >= HALF and (element is not None or share * len(asked) >= SHARED)
        if enough and share > most:
            best, most = sentence, share
    return best


def answer_in(concept: Concept, message: str, texts: ConductTexts) -> str:
    """What is said to the questions of a message that the description answers, or that name a part of the idea.

    Args:
        concept: with its description, in the language of the interview.
        message: the respondent's words.
        texts: what the interviewer says.
    Empty where nobody asks, or the description says nothing of it.
    """
    if not concept.stimulus or not texts.idea_says:
        return ""
    names = names_of(concept.elements)
    found: list[str] = []
    more = False
    for sentence in sentences(message):
        whether = _WHETHER.search(sentence) is not None
        if not _ASKS.search(sentence) or _OTHERWISE.search(sentence) or not (whether or _WHAT.search(sentence)):
            continue
        about = named(sentence, names)
        priced = _PRICE.search(sentence) is not None and _WHO.search(sentence) is None
        if priced and (says := next((one for one in _sentences(concept) if _says_price(one)), "")):
            found.append(says)
            continue
        if _ASKS_SIZE.search(sentence):
            found += [one for one in _sentences(concept) if _SIZE.search(one)][:1]
            continue
        for element in about or (None,):
            if says := answered_by(concept, element, sentence):
                found.append(says)
                break
        else:
            says = said_of(concept, about[0], sentence) if len(about) == 1 else ""
            amount = asks_amount(sentence)
            told = _FIGURE.search(says) is not None if amount else _shared(sentence, says, concept)
            if len(words(says)) >= LEAST_SAID and told and (whether or amount):
                found.append(says)
                more = True
    said = " ".join(list(dict.fromkeys(found))[:MOST_SAID])
    quoted = texts.idea_says.replace("{says}", said) if said else ""
    return f"{quoted} {texts.idea_no_more}".strip() if quoted and more else quoted


def _sentences(concept: Concept) -> Iterator[str]:
    found = sentences(" ".join((concept.stimulus or "").split()))
    return (sentence for sentence in found if len(words(sentence)) <= LONGEST_SAID)


def _says_price(sentence: str) -> bool:
    """Whether a sentence says what somebody pays, whatever other sums the description has."""
    return _PRICE.search(sentence) is not None and _FIGURE.search(sentence) is not None


def _shared(asked: str, says: str, concept: Concept) -> bool:
    """Whether a sentence has a word of a question, not only a name of what it is about; the idea's does not count."""
    plain = {*key_of(concept.name)} | PLAIN
    return any(len(word) >= LEAST_SHARED and word not in plain for word in set(key_of(asked)) & set(key_of(says)))


def _content(text: str) -> set[str]:
    return {word for word in key_of(text) if len(word) >= CONTENT and word not in PLAIN}


def answer_to(target: Target | None, concept: Concept, texts: ConductTexts, turn: int, *, said: str) -> str:
    """What is said before the question that follows a question about the idea; empty before any other one.

    Args:
        target: what the question is about.
        concept: with its description, in the language of the interview.
        texts: what the interviewer says.
        turn: of the interview; another number takes another wording.
        said: the respondent's message; a question that ends it need not be said again.
    What is quoted is what answers the question, or what was not noticed; where the description has no answer, nothing.
    """
    kind = target.ids[0].split(".")[0] if target is not None and target.kind == "lead" else ""
    if target is None or kind not in ANSWERED or not texts.idea_silent:
        return ""
    element = target.ids[1] if len(target.ids) > 1 else None
    if kind == "asks" and element is not None and element not in named(said, names_of(concept.elements)):
        element = None  # “They” and “it” may stand for anything: only what the message names is sure.
    if kind == "asks":
        says = answered_by(concept, element, target.label)
    else:
        says = said_of(concept, element, said if len(target.ids) > 1 else target.label)
    told = texts.idea_says.replace("{says}", says) if says else ""
    if kind == "unseen" and told:
        return told
    if told:
        return f"{told} {texts.idea_no_more}"
    last = said.rstrip(" .!?…").endswith(target.label.rstrip(" .!?…"))
    again = target.label.rstrip().endswith("?") and len(words(target.label)) <= LONGEST_ASKED
    asked = texts.idea_asked.replace("{question}", capitalised(target.label.rstrip(" ?"))) if again and not last else ""
    silent = texts.idea_silent[turn % len(texts.idea_silent)]
    return f"{asked} {silent}".strip()
