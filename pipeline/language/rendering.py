"""How a question may say in its own sentence what somebody told: as a clause, by a gerund, by what they did (English).

Everything here works on a parse, in the second person, and leaves empty what is not sure to be grammatical: a question
can do without, but not with half a phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from spacy.tokens import Doc, Span, Token

from pipeline.language.clauses import text_of
from pipeline.language.connectors import normalised_text, words
from pipeline.language.embedder import known_words
from pipeline.ports import Rendering
from pipeline.question.inflection import FLIP, gerund_of
from pipeline.question.inflection import VERBS as KNOWN_VERBS
from pipeline.question.phrases import with_apostrophes

MAX_CLAUSE_WORDS = 12
MAX_ACT_WORDS = 9
MAX_SUBJECT_WORDS = 4
MAX_THING_WORDS = 6
MAX_PART_WORDS = 4

VERBS = words("VERB AUX")
FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
SUBJECTS = words("nsubj nsubjpass expl")
PLURALS = frozenset({"NNS", "NNPS"})
FIRST = words("i me my mine myself we us our ours ourselves")
SECOND = words("you your yours yourself yourselves")
WITHOUT_A_NAME = words("this that these those which who whom what whose it he she they him her them one there")
"""Subjects that say nothing once something else was talked about."""
POINTING = words("this that these those which who whom what whose")
FILLERS = words(
    "just really actually basically literally honestly simply probably maybe perhaps obviously definitely anyway "
    "though either then so finally suddenly also even only usually normally kinda sorta well okay"
)
"""Adverbs left out between a subject and its verb, and at the end."""
SAYS = words("think guess suppose mean reckon believe feel say know imagine hope bet find")
"""Verbs after which "I …" only introduces what is told."""
SAYING = words("say tell reply answer shout write insist claim")
"""Verbs behind which it is somebody else's word, where it is somebody else who says it."""
LEADS_IN = words("want like love need try hope prefer wish")
"""Verbs whose infinitive is what a person is after."""
UNWILLED = words(
    "be have seem look hear see feel know think want like love hate notice get forget remember need die fall lose "
    "find own cost mean believe wish hope matter belong happen realise realize understand guess suppose wonder "
    "sleep wake dream become grow last fit weigh smell taste sound appear miss stay remain should would could must "
    "might may can will fail enjoy prefer care worry trust fear let dread manage win suffer live arrive slip trip "
    "drop break recognise recognize sit stand lie kneel lean cry weep sob howl laugh smile shake tremble breathe blush "
    "sweat"
)
"""Verbs of what nobody decides to do, at least not each time."""
STATIVE = words("be have do get go doubt wonder know say tell ask owe feel")
LIGHT = words("go come try get sit stand stop run")
"""Verbs that only lead to what is done: “go and stand”."""
SLANG = words(
    "dinnae wasnae cannae ken hev wi gon wan na gotta ta ai y'all ya ye me'self fuck fucking fucked shit damn crap"
)
NEVER_FIRST = words("and but or so because since although though that which if when while as than")
COMPLEMENTS = words("dobj attr acomp xcomp ccomp oprd prt dative agent pobj pcomp")
"""Children of a verb that may not be cut off."""
LEFT_OUT = words("advcl parataxis conj cc mark intj punct discourse meta relcl")
CUT = words("det poss prep aux auxpass case mark cc punct neg amod nummod compound advmod predet quantmod nmod")
"""What no phrase ends with unless all of its head is there."""
FEELINGS = words(
    "afraid alone angry anxious ashamed awful awkward bored calm cold cheated comfortable confident confused "
    "content desperate disappointed embarrassed empty excited exhausted exposed foolish free frightened frustrated "
    "furious glad grateful guilty happy helpless humiliated hurt ignored insecure invisible irritated isolated "
    "jealous lonely lost loved lucky mad miserable nervous numb offended overwhelmed panicky peaceful powerless "
    "pressured proud reassured relaxed relieved responsible respected rested sad safe satisfied scared secure "
    "shocked sick silly small stressed stupid sure surprised tense terrible terrified tired torn trapped "
    "uncomfortable uneasy unhappy unsure upset useless valued vulnerable wanted weak weird worried worthless"
)
PLACES_OF_PARTS = words("dobj pobj nsubj attr ROOT conj appos")
TIMES_AND_AMOUNTS = words("DATE TIME MONEY PERCENT CARDINAL ORDINAL QUANTITY")
SAYS_NOTHING = words(
    "time day week weekend month year decade morning afternoon evening night moment minute second hour while today "
    "thing stuff bit lot way kind sort type point end start beginning middle side part piece rest half one something "
    "anything everything nothing sense idea reason fact case matter course god goodness number couple pair load top "
    "bottom front back place mind head hand eye face foot arm finger leg shoulder hair world age name word use go "
    "turn look chance trouble problem difference situation example people person man woman guy bloke fella lady "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december spring summer autumn winter christmas pound quid euro dollar pence percent"
)
"""Nouns that nobody would ask to hear more about by themselves."""
COMPARES = words("like as if though unless")
"""What begins a clause that is not so, or not quite."""
GLUED = words("m ve d ll s re")
"""What was typed without its apostrophe: "im", "ive"."""
OBJECT_FORMS = {"he": "him", "she": "her", "they": "them", "who": ""}
_TAG = re.compile(r"n't (?:you|it|i|he|she|they|we)$")
_WORD = re.compile(r"[^\W_]")


def rendered(doc: Doc, quote: str) -> Rendering:
    """The ways to say what the words of `quote` tell in this answer; all empty where they are not in it."""
    span = _found(doc, quote)
    if span is None or _shouted(text_of(doc)):
        return Rendering()
    thing = Rendering(thing=_thing(span), plural=span.root.tag_ in PLURALS, part=_part(span))
    verb = _verb_of(span)
    # “Or he did not want to” is one of two things that may be.
    may_be = normalised_text(span.sent[0].text) == "or"
    return thing if verb is None or may_be else _of_verb(verb, thing, span.root)


def _of_verb(verb: Token, thing: Rendering, root: Token) -> Rendering:
    """What is rendered around a verb; each way has to say the word that the others of the quote hang on."""
    finite = _finite_of(verb)
    subject = _subject_of(finite) if finite is not None else None
    clause = _clause(finite, subject, root) if finite is not None and subject is not None else ""
    if finite is not None and subject is not None and _asks(finite, subject):
        return thing
    own = subject is not None and _is_own(subject, finite) if finite is not None else None
    doing = _act(verb, finite, root) if own or (own is None and (_begins(verb) or _aims(verb))) else None
    other, other_act = ("", "") if own or finite is None or subject is None else _other(finite, subject, root)
    named = subject is None or normalised_text(subject.text) not in WITHOUT_A_NAME or clause.startswith("there")
    return Rendering(
        clause=clause,
        gerund=doing.gerund if doing else "",
        act=doing.base if doing else "",
        deed=doing.base if doing and doing.deliberate else "",
        feeling=_feeling(verb, finite) if own else "",
        other=other,
        other_act=other_act,
        thing=thing.thing,
        plural=thing.plural,
        part=thing.part,
        named=named,
    )


def _is_own(subject: Token, finite: Token | None) -> bool:
    """Whether the respondent is the subject; “you” is, where it tells of what one does, not of what somebody did."""
    low = normalised_text(subject.text)
    past = finite is not None and any(token.tag_ == "VBD" for token in (finite, *finite.lefts))
    return low in {"i", "we"} or (low == "you" and not past)


def _found(doc: Doc, quote: str) -> Span | None:
    at = text_of(doc).casefold().find(quote.casefold()) if quote.strip() else -1
    return doc.char_span(at, at + len(quote), alignment_mode="expand") if at >= 0 else None


@lru_cache(maxsize=64)
def _shouted(text: str) -> bool:
    letters = [ch for ch in text if ch.isalpha()]
    return len(letters) > 12 and sum(ch.isupper() for ch in letters) > len(letters) / 2


def _verb_of(span: Span) -> Token | None:
    """The verb that the words are about: the highest one among them, else the one that governs them."""
    own = [token for token in span if token.pos_ in VERBS and token.dep_ not in {"aux", "auxpass", "amod", "compound"}]
    if own:
        return min(own, key=lambda token: (sum(1 for _ in token.ancestors), token.i))
    for token in (span.root, *span.root.ancestors):
        if token.pos_ in VERBS and token.dep_ not in {"aux", "auxpass", "amod", "compound"}:
            near = token.i - 4 <= span.end and span.start - 6 <= token.i
            return token if near and token.sent == span.root.sent else None
    return None


def _finite_of(verb: Token) -> Token | None:
    """The verb itself where it is finite, the one that an infinitive hangs on, or nothing."""
    if verb.tag_ in FINITE or any(child.tag_ in FINITE and child.dep_ in {"aux", "auxpass"} for child in verb.lefts):
        return verb
    if verb.dep_ == "xcomp" and verb.head.pos_ in VERBS:
        return _finite_of(verb.head)
    if verb.dep_ == "conj" and verb.head.pos_ in VERBS and _subject_of(verb) is not None:
        return _finite_of(verb.head) and verb if verb.tag_ in FINITE else None
    return None


def _subject_of(verb: Token) -> Token | None:
    """The subject: its own, or for a second verb ("I grab it and eat it") that of the first one."""
    own = [child for child in verb.lefts if child.dep_ in SUBJECTS]
    if own:
        return own[-1]
    if verb.dep_ == "conj" and verb.head.pos_ in VERBS and verb.tag_ in FINITE:
        return _subject_of(verb.head)
    return None


def _begins(verb: Token) -> bool:
    """Whether a verb without a subject opens its sentence and is the respondent's: "Back it up on Sundays"."""
    before = verb.doc[verb.sent.start : verb.i]
    opens = not any(
        _WORD.search(token.text) for token in before if token.head != verb or token.dep_ not in {"neg", "aux"}
    )
    return opens and verb.tag_ in {"VB", "VBP", "VBG"}


def _aims(verb: Token) -> bool:
    """Whether a verb is an infinitive that opens its sentence: "To see the kids at breakfast"."""
    to = next((child for child in verb.lefts if child.tag_ == "TO"), None)
    if to is None or verb.tag_ != "VB" or verb.dep_ == "xcomp":
        return False
    before = verb.doc[verb.sent.start : to.i]
    return all(not _WORD.search(token.text) or token.pos_ in {"CCONJ", "INTJ", "SCONJ"} for token in before)


# -- clauses


@dataclass(frozen=True)
class _Doing:
    base: str
    gerund: str
    deliberate: bool


def _clause(verb: Token, subject: Token, root: Token) -> str:
    """Subject, verb, and what belongs to it, in the second person; nothing where it can't be said."""
    if not _agrees(subject, verb) or verb.dep_ == "relcl" or normalised_text(subject.text) == "you":
        return ""  # said back, a general “you” would be the respondent
    if normalised_text(subject.text) in {"mine", "ours"}:
        return ""  # “yours would have felt …” says nothing of whose
    if _is_anothers(verb):
        return ""  # “she said your English is fine” is not theirs
    front = _subject_words(subject, own=subject.head == verb)
    tail = _tail(verb)
    if not front or tail is None or any(token.dep_ in {"nsubjpass"} and token != subject for token in verb.lefts):
        return ""
    if normalised_text(subject.text) == "it" and verb.lemma_ == "be":
        return ""  # “when it is a system” asks about nothing
    if not tail and _lemma(verb) in STATIVE:
        return ""
    first = next((token for token in verb.lefts if token.dep_ in {"aux", "auxpass", "neg"}), verb)
    start = min(first.i, verb.i)
    if subject.i < start - 1 and subject.doc[start - 1].text == "," and subject.doc[subject.i + 1].text == ",":
        return ""  # “Omelette, ate it standing up”: what stands before the comma does nothing.
    between = [token for token in verb.doc[start : verb.i] if _kept_between(token, verb)]
    if verb.tag_ == "VBN" and any(normalised_text(t.text) in {"had", "'d"} for t in verb.lefts if t.dep_ == "aux"):
        return ""  # what had been so before is no moment to ask about
    if any(t.dep_ in {"nsubj", "nsubjpass"} and not _agrees(t, t.head) for t in tail if t.head.tag_ in FINITE):
        return ""
    tail = _before_another(tail)
    tokens = [*front, *between, verb, *tail]
    if _goes_on_with_a_deed(tokens[-1]):
        return ""  # “you had to go” of “I had to go and stand in the corridor”
    if root not in tokens or verb.tag_ == "MD" or not 2 <= len(_spoken(tokens)) <= MAX_CLAUSE_WORDS:
        return ""
    return _second_person(tokens, own=normalised_text(subject.text) in {"i", "we"})


def _is_anothers(verb: Token) -> bool:
    """Whether somebody else said what the verb tells: “She said, your English is fine.”"""
    before = [token for token in verb.sent if token.i < verb.i and token.lemma_.lower() in SAYING and token != verb]
    if not before:
        return False
    said = before[-1]
    subject = next((child for child in said.children if child.dep_ == "nsubj"), None)
    told = verb.dep_ == "ccomp" and verb.head == said
    quoted = said.dep_ == "parataxis" or said.nbor().text in {",", ":"}
    return subject is not None and normalised_text(subject.text) not in {"i", "we", "you"} and (told or quoted)


def _goes_on_with_a_deed(last: Token) -> bool:
    """Whether a verb of going or trying stands last whose deed follows with “and” or “to”."""
    doc = last.doc
    if last.pos_ not in VERBS or normalised_text(last.lemma_) not in LIGHT or last.i + 2 >= len(doc):
        return False
    return normalised_text(doc[last.i + 1].text) in {"and", "to"} and doc[last.i + 2].pos_ in VERBS


def _before_another(tail: list[Token]) -> list[Token]:
    """The words after a verb without the subject of the next clause, where the parse took it for one of them."""
    if len(tail) > 1 and normalised_text(tail[-2].text) in {"and", "but", "or"}:
        follows = tail[-1].i + 1
        if follows < len(tail[-1].doc) and tail[-1].doc[follows].tag_ in FINITE:
            return tail[:-2]
    return tail


def _asks(verb: Token, subject: Token) -> bool:
    """Whether the verb or its auxiliary stands before the subject."""
    return subject.head == verb and any(
        t.i < subject.i for t in (verb, *verb.lefts) if t.dep_ in {"aux", "auxpass"} or t == verb
    )


def _kept_between(token: Token, verb: Token) -> bool:
    if token.dep_ in {"aux", "auxpass", "neg"}:
        return True
    return token.dep_ == "advmod" and token.head == verb and normalised_text(token.text) not in FILLERS


def _subject_words(subject: Token, *, own: bool) -> list[Token]:
    """The words of a short subject; none where it points to something or has a clause of its own."""
    low = normalised_text(subject.text)
    if low in POINTING or low in {"me", "him", "us", "them"} or subject.dep_ == "csubj":
        return []
    noun = subject.tag_ == "NN" or (subject.tag_ == "NNP" and subject.is_sent_start and low in known_words())
    bare = noun and not any(child.dep_ in {"det", "poss"} for child in subject.lefts)
    if bare and low not in words("nobody everybody somebody anybody nothing everything something anything"):
        return []
    found = list(subject.subtree)
    if normalised_text(found[0].text) in POINTING or subject.doc[min(subject.i + 1, len(subject.doc) - 1)].text == "-":
        return []
    if any(token.dep_ in {"relcl", "acl", "punct", "appos", "conj", "advcl"} for token in found):
        found = [token for token in found if token.i <= subject.i]
        if any(token.dep_ in {"punct", "conj", "cc"} for token in found):
            return []
    whole = found == list(subject.doc[found[0].i : found[-1].i + 1])
    return found if whole and len(found) <= MAX_SUBJECT_WORDS else []


def _agrees(subject: Token, verb: Token) -> bool:
    """Whether subject and verb go together; a mistake is not said back."""
    low = normalised_text(subject.text)
    finite = next((t for t in verb.lefts if t.dep_ in {"aux", "auxpass"} and t.tag_ in FINITE), verb)
    if low == "there":
        return finite.lemma_ == "be"
    singular = low in {"he", "she", "it", "nobody", "everybody", "somebody", "everyone", "someone", "everything"} or (
        subject.tag_ in {"NN", "NNP"} and not any(child.dep_ == "conj" for child in subject.children)
    )
    plural = low in {"i", "we", "you", "they"} or subject.tag_ in {"NNS", "NNPS"}
    text = normalised_text(finite.text)
    if finite.tag_ == "VBZ" or text in {"is", "'s", "was", "has", "does"}:
        return singular or (low == "i" and text == "was")
    if finite.tag_ == "VBP" or text in {"are", "'re", "were", "have", "do", "'ve"}:
        return plural
    return True


def _tail(verb: Token, limit: int = MAX_ACT_WORDS) -> list[Token] | None:
    """What belongs to a verb behind it, as far as it was said in one go; None where something it needs is cut off."""
    doc, kept, ends = verb.doc, [], verb.i
    open_children = [child for child in verb.rights if child.dep_ in COMPLEMENTS]
    subtree = {token.i for token in verb.subtree}
    index = verb.i + 1
    while index < len(doc) and index in subtree:
        token = doc[index]
        if _stops(token, verb):
            break
        if _skipped(token, verb):
            index += 1
            continue
        kept.append(token)
        index += 1
    kept = _within(kept, verb, limit)
    ends = kept[-1].i if kept else verb.i
    needed = [
        child for child in open_children if child.dep_ in {"dobj", "attr", "acomp", "xcomp", "ccomp", "oprd", "prt"}
    ]
    if any(_right_edge(child, doc) > ends for child in needed[:2]):
        return None
    if kept and (kept[-1].dep_ in CUT and kept[-1].head.i > kept[-1].i):
        return None
    if kept and any(child.dep_ in {"relcl", "acl"} and child.i > ends for child in kept[-1].children):
        return None
    return kept


def _right_edge(token: Token, doc: Doc) -> int:
    """Where what belongs to a token ends, clauses that hang on it left out."""
    ends = [t.i for t in token.subtree if not _hangs(t, token)]
    return max(ends, default=token.i)


def _hangs(token: Token, top: Token) -> bool:
    for each in (token, *token.ancestors):
        if each == top:
            return False
        if each.dep_ in {"relcl", "acl", "advcl", "conj", "cc", "punct", "appos", "parataxis", "prep"}:
            return True
    return False


def _stops(token: Token, verb: Token) -> bool:
    """Whether what was said in one go ends before a token."""
    if token.is_punct and token.text not in {"-", "'", "’"}:
        return True
    if token.dep_ in {"mark", "advcl", "parataxis", "relcl"} and token.dep_ != "aux":
        return True
    top = _child_of(token, verb)
    if top is not None and top.dep_ in LEFT_OUT and top.left_edge == token:
        return True
    if token.dep_ == "cc" and token.head.pos_ in VERBS:
        return True
    if any(up.dep_ in {"relcl", "advcl"} and up.left_edge == token for up in token.ancestors if up.i != verb.i):
        return any(up.dep_ in {"relcl", "advcl"} for up in _between(token, verb))
    return token.tag_ == "UH" or token.is_space


def _between(token: Token, verb: Token) -> Iterator[Token]:
    for up in token.ancestors:
        if up == verb:
            return
        yield up


def _child_of(token: Token, verb: Token) -> Token | None:
    """The child of a verb that a token belongs to."""
    for each in (token, *token.ancestors):
        if each.head == verb and each != verb:
            return each
    return None


def _skipped(token: Token, verb: Token) -> bool:
    return token.head == verb and token.dep_ == "advmod" and normalised_text(token.text) in FILLERS


def _within(kept: list[Token], verb: Token, limit: int) -> list[Token]:
    """At most so many words, cut where a child of the verb ends; and without fillers at the end."""
    while len(_spoken(kept)) > limit:
        last = _child_of(kept[-1], verb)
        start = last.left_edge.i if last is not None else kept[-1].i
        shorter = [token for token in kept if token.i < start]
        if shorter == kept:
            shorter = kept[:-1]
        kept = shorter
    while kept and normalised_text(kept[-1].text) in FILLERS | {"like", "too", "as"} and kept[-1].dep_ != "prt":
        kept = kept[:-1]
    return kept


# -- acts


def _act(verb: Token, finite: Token | None, root: Token) -> _Doing | None:
    """What the respondent does, did or is after, as an infinitive without “to” and as a gerund."""
    if finite is not None and finite != verb and verb.dep_ != "xcomp":
        return None
    if normalised_text(verb.lemma_) in LEADS_IN:
        inner = next((child for child in verb.rights if child.dep_ == "xcomp"), None)
        denied = any(child.dep_ == "neg" for child in verb.children)
        if inner is not None and inner.tag_ == "VB":
            return _act_of(inner, root, denied=denied)
        if verb.lemma_ in {"want", "need", "wish", "hope"}:
            return None
    if normalised_text(verb.lemma_) == "go" and verb.tag_ == "VBG":
        later = next((child for child in verb.rights if child.dep_ == "xcomp" and child.tag_ == "VB"), None)
        if later is not None:
            return _act_of(later, root, denied=any(child.dep_ == "neg" for child in verb.children))
    return _act_of(verb, root, denied=False)


def _act_of(verb: Token, root: Token, *, denied: bool) -> _Doing | None:
    tail = _tail(verb)
    if tail is None or (root not in tail and not _over(root, verb)):
        return None
    auxiliaries = [child for child in verb.lefts if child.dep_ in {"aux", "auxpass"}]
    if any(normalised_text(a.text) in {"must", "might", "may", "should", "could", "would"} for a in auxiliaries):
        return None
    if any(a.tag_ == "MD" and normalised_text(a.text) in {"'d", "d"} for a in auxiliaries):
        return None
    lemma = _lemma(verb)
    if not lemma.isalpha() or (not tail and lemma in STATIVE):
        return None
    denied = denied or any(child.dep_ == "neg" and normalised_text(child.text) != "never" for child in verb.lefts)
    never = any(normalised_text(child.text) == "never" for child in verb.lefts)
    rest = _second_person(tail, own=True) if tail else ""
    if (tail and not rest) or rest.split(" ", 1)[0] in ("n't", "not"):
        return None  # The verb itself is left out: “we nearly didn't”.
    able = any(normalised_text(a.text) in {"can", "ca", "could"} for a in auxiliaries)
    passive = any(a.dep_ == "auxpass" for a in auxiliaries)
    base, gerund = lemma, gerund_of(lemma)
    if passive:
        base, gerund = f"be {verb.text.casefold()}", f"being {verb.text.casefold()}"
    if able:
        base, gerund = f"be able to {base}", f"being able to {base}"
    lead = "not " if denied else "never " if never else ""
    deliberate = not (lead or able or passive) and lemma not in UNWILLED
    return _Doing(f"{lead}{base} {rest}".strip(), f"{lead}{gerund} {rest}".strip(), deliberate)


def _over(root: Token, verb: Token) -> bool:
    """Whether the words hang on the verb itself, or on what introduces it ("want to", "going to")."""
    return root == verb or any(up == root for up in verb.ancestors)


def _lemma(verb: Token) -> str:
    lemma = normalised_text(verb.lemma_)
    if lemma in {"'s", "'m", "'re", "m", "re", "am", "are", "is"}:
        lemma = "be"
    if lemma in {"'ve", "'d", "ve"}:
        lemma = "have"
    text = normalised_text(verb.text)
    for ending, base in (("ed", text[:-1]), ("ing", text[:-3] + "e")):
        if (
            text.endswith(ending)
            and base in KNOWN_VERBS
            and (lemma not in KNOWN_VERBS or text != _regular(lemma, ending))
        ):
            lemma = base
    return lemma if lemma.isalpha() and lemma not in SLANG else ""


def _regular(base: str, ending: str) -> str:
    """The regular form of a verb with an ending: “hate” → “hated”, “skip” → “skipped”."""
    if ending == "ing":
        return gerund_of(base)
    return f"{base}d" if base.endswith("e") else f"{gerund_of(base)[:-3]}ed"


def _other(verb: Token, subject: Token, root: Token) -> tuple[str, str]:
    """Somebody else, and what they did as an infinitive without “to”; empty where nobody did anything."""
    person = normalised_text(subject.text) in OBJECT_FORMS or (
        subject.pos_ in {"NOUN", "PROPN"} and _is_person(subject)
    )
    if not person or subject.dep_ != "nsubj" or _lemma(verb) in UNWILLED:
        return "", ""
    if any(child.dep_ in {"neg", "aux", "auxpass"} for child in verb.lefts):
        return "", ""
    tail, front = _tail(verb), _subject_words(subject, own=True)
    if tail is None or not front or not _agrees(subject, verb) or (root != verb and root not in [*front, *tail]):
        return "", ""
    low = normalised_text(subject.text)
    who = OBJECT_FORMS[low] if low in OBJECT_FORMS else _second_person(front, own=False)
    rest = _second_person(tail, own=False) if tail else ""
    lemma = _lemma(verb)
    return (who, f"{lemma} {rest}".strip()) if who and lemma and (rest or not tail) else ("", "")


_PEOPLE = words(
    "man woman boy girl guy lady mum mom mother dad father wife husband son daughter brother sister boss manager "
    "doctor nurse waiter waitress driver agent colleague colleagues friend friends neighbour neighbours neighbor "
    "teacher kids children child people parents partner partners staff police officer clerk assistant customer "
    "customers guest guests grandson granddaughter grandmother grandfather nan grandma grandad aunt uncle cousin "
    "flatmate chef cook owner receptionist landlord plumber mechanic dentist vet midwife surgeon conductor "
    "inspector crew team"
)


def _is_person(noun: Token) -> bool:
    return normalised_text(noun.text) in _PEOPLE or noun.ent_type_ == "PERSON"


def _feeling(verb: Token, finite: Token | None) -> str:
    """What the respondent feels, as one adjective."""
    heads = [verb, *([finite] if finite is not None else [])]
    for head in heads:
        if normalised_text(head.lemma_) not in {"feel", "be", "get", "become", "'m", "'s"}:
            continue
        if any(child.dep_ == "neg" for each in (head, *head.ancestors) for child in each.children):
            return ""
        if any(child.dep_ == "mark" and normalised_text(child.text) in COMPARES for child in head.lefts):
            return ""
        for child in head.rights:
            low = normalised_text(child.text)
            if child.dep_ in {"acomp", "oprd", "attr", "advmod"} and low in FEELINGS and not _compared(child):
                return "" if low == "afraid" and _regrets(child) else low
    return ""


def _regrets(afraid: Token) -> bool:
    """Whether “I'm afraid” only softens what follows: “I'm afraid I sat down”."""
    after = afraid.nbor(1) if afraid.i + 1 < len(afraid.doc) else None
    return after is not None and normalised_text(after.text) in words("i he she it we they you so not there that the")


def _compared(word: Token) -> bool:
    return any(normalised_text(child.text) in {"more", "less", "as", "too", "not"} for child in word.lefts)


# -- things


def _thing(span: Span) -> str:
    """The words as a noun phrase that points at what was said: “that silence”, “your own teeth”; else nothing."""
    root = span.root
    if root.pos_ not in {"NOUN", "PROPN"} or root.dep_ in {"compound", "amod", "intj", "vocative"}:
        return ""
    if normalised_text(root.text) == "home":
        return ""  # “that home”
    if root.dep_ == "npadvmod" and not (root.left_edge.i and root.doc[root.left_edge.i - 1].is_punct):
        return ""  # “that day”, “this time”
    if any(token.pos_ in VERBS and token.tag_ in FINITE for token in span):
        return ""
    return _pointed_at(root)


def _part(span: Span) -> str:
    """Somebody or something in what was told, as a noun phrase that points at it; what was said last counts most.

    Nothing of what was denied, of times and amounts, and of words that say nothing by themselves.
    """
    found = [token for token in span if _can_be_asked_about(token)]
    for token in sorted(found, key=lambda token: (_closeness(token), token.i), reverse=True):
        said = _pointed_at(token)
        if said and len(said.split()) <= MAX_PART_WORDS:
            return said
    return ""


def _can_be_asked_about(token: Token) -> bool:
    if token.pos_ not in {"NOUN", "PROPN"} or token.dep_ not in PLACES_OF_PARTS:
        return False
    if normalised_text(token.lemma_) in SAYS_NOTHING or token.ent_type_ in TIMES_AND_AMOUNTS or token.like_num:
        return False
    determined = [normalised_text(child.text) for child in token.lefts if child.dep_ in {"det", "poss"}]
    if set(determined) & {"no", "any", "every", "each", "another", "either", "neither", "your"}:
        return False
    if not determined and token.ent_type_ != "PERSON":
        return False
    governing = next((up for up in token.ancestors if up.pos_ in VERBS), None)
    return governing is None or not any(child.dep_ == "neg" for child in governing.children)


def _closeness(token: Token) -> int:
    """2 for somebody, and for what is the respondent's own; 1 for what is the object of a deed; else 0."""
    own = any(child.dep_ == "poss" and normalised_text(child.text) in FIRST for child in token.lefts)
    return 2 if own or _is_person(token) else 1 if token.dep_ in {"dobj", "attr"} else 0


def _pointed_at(root: Token) -> str:
    """A noun with what belongs to it: “that silence”, “your own teeth”, “Carys”; nothing where that is not safe."""
    left = [token for token in root.lefts if token.dep_ in {"det", "poss", "amod", "compound", "nummod", "nmod"}]
    start = min([token.left_edge.i for token in left], default=root.i)
    tokens = list(root.doc[start : root.i + 1])
    of = next((child for child in root.rights if child.dep_ == "prep" and child.i == root.i + 1), None)
    if of is not None and normalised_text(of.text) in {"of", "for"}:
        inside = list(of.subtree)
        if not any(token.dep_ in {"relcl", "acl", "advcl", "punct", "conj", "pcomp"} for token in inside):
            tokens += inside
    if len(tokens) > MAX_THING_WORDS or any(token.is_punct and token.text != "-" for token in tokens):
        return ""
    if root.tag_ in {"NNP", "NNPS"} and len(tokens) == 1:
        return root.text
    first, low = tokens[0], normalised_text(tokens[0].text)
    if first.dep_ == "poss" or (first.dep_ == "det" and low == "the"):
        return _second_person(tokens, own=False)
    if first.dep_ == "det":
        if low not in {"a", "an", "this", "that", "these", "those"}:
            return ""
        tokens = tokens[1:]
    if any(token.dep_ == "det" for token in tokens[:-1] if token.head == root):
        return ""
    plural = root.tag_ in PLURALS
    said = _second_person(tokens, own=False)
    if any(token.dep_ == "case" for token in tokens):
        return said
    return f"{'those' if plural else 'that'} {said}" if said else ""


# -- words


def _spoken(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if _WORD.search(token.text) and not token.text.startswith(("'", "’"))]


def _second_person(tokens: Sequence[Token], *, own: bool) -> str:
    """The words with first person turned into second, spaced as they were; nothing where that is not safe.

    `own`: the respondent is the subject, so that “was” and “am” are “were” and “are”.
    """
    low = [normalised_text(token.text) for token in tokens]
    if any(word in SLANG for word in low) or any(token.text in {'"', "“", "”", "(", ")", "*"} for token in tokens):
        return ""
    pairs = list(pairwise(low))
    if (
        len(pairs) != len(set(pairs))
        or any(a == b for a, b in pairs)
        or _TAG.search(" ".join(low))
        or any(t.tag_ in {"UH", "XX"} for t in tokens)
    ):
        return ""
    if any(word in FIRST for word in low) and any(word in SECOND for word in low):
        return ""
    pieces: list[str] = []
    for place, token in enumerate(tokens):
        pieces.append(_turned(token, low, place, own=own))
        joined = place + 1 < len(tokens) and tokens[place + 1].i == token.i + 1 and not token.whitespace_
        pieces.append("" if joined else " ")
    text = re.sub(r"\s+", " ", "".join(pieces)).strip()
    return with_apostrophes(text.replace("’", "'"))


def _turned(token: Token, low: Sequence[str], place: int, *, own: bool) -> str:
    word = low[place]
    if place == 0 and word in {"a", "an"} and token.dep_ == "det" and token.head.dep_ in SUBJECTS:
        return "the"  # it was spoken of before
    if word in FLIP and word in FIRST:
        return FLIP[word]
    subject_first = own and place and any(each in {"i", "we"} for each in low[:place][:1])
    if place and word in GLUED and not token.doc[token.i - 1].whitespace_ and token.doc[token.i - 1].is_alpha:
        word = f"'{word}"
    verbs = {"am": "are", "'m": "'re", "was": "were"}
    if word in verbs and place and (low[place - 1] == "i" or (subject_first and low[0] == "i" and place == 1)):
        return verbs[word]
    if word != low[place]:
        return word
    if place == 0 and token.pos_ != "PROPN" and token.text[:1].isupper() and token.text != "I":
        return token.text[:1].lower() + token.text[1:]
    return token.text
