"""What of a parsed answer can be said back: clauses with their subject, and phrases that somebody left as they are
(English).

"I went in and walked out again without it." → "You walked out again without it." Which of them is worth saying back is
judged elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spacy.tokens import Doc, Span, Token

from pipeline.language.clauses import text_of
from pipeline.language.offline.echoes import (
    DOUBTED,
    LAUGHS,
    YOU_THINK,
    Echo,
    can_be_heard,
    echoes,
    is_imagined,
    may_be_imagined,
    placed,
)
from pipeline.language.rendering import SAYING
from pipeline.question.clauses import FRAGMENT_IN_IT, NO_END, NO_START, plain
from pipeline.question.phrases import HESITATION, addresses, is_loaded, second_person
from pipeline.question.text import sentences, words

LATEST = 8
"""Sentences at the end of an answer of which something is said back."""
MOST = 12
"""Pieces that are looked at, the latest first."""
SHORTEST, LONGEST = 3, 12
"""Words of a clause that is said back."""
PHRASE, PHRASE_AT_END = (2, 7), (2, 6)
"""Words of a sentence without a verb, and of the end of another sentence."""
INHERITED = 3
"""Words of a subject that is said again before a verb that shares it with another one."""
SAME = 0.75
"""Share of common words from which on two pieces are the same."""

_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_VERBS = frozenset({"VERB", "AUX"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
_ASKING = frozenset({"WDT", "WP", "WRB", "WP$"})
_CONDITIONS = frozenset({"if", "unless", "whether"})
_BINDS = frozenset("time whenever until till whatever whoever however".split())
"""Words right before a clause that bind it to another one."""
_INTRODUCES = frozenset("think guess suppose mean reckon believe say know imagine hope wonder".split())
"""Verbs that with a clause behind them only introduce it."""
_WISHES_TO = frozenset("want wish hope like love need have try prefer".split())
"""What stands before “to know” or “to think” where it is not known: “I want to know I was a good teacher.”"""
_WISHED = frozenset({"prefer", "wish", "hope"})
"""Verbs behind which it is only wished."""
_THOUGHT = frozenset("think suppose imagine hope believe guess reckon assume fear pretend wish dream expect".split())
"""Verbs behind which it need not be so."""
_OWN = frozenset({"i", "we", "you"})
_OTHERS = frozenset({"he", "she", "they"})
"""Subjects about whom somebody who only thinks it may be wrong: “I think she was waiting.”"""
_NOT_ALWAYS = frozenset("sometimes mostly usually maybe perhaps hardly rarely otherwise".split())
"""Words before a clause without which it would say more than was said."""
_LIGHT = frozenset("be have do get go say think know mean see guess suppose make come like want".split())
"""Verbs that say nothing by themselves."""
_ALWAYS_CUT = frozenset({"parataxis", "intj", "punct", "mark", "discourse", "meta", "dep"})
_CUTS = (
    _ALWAYS_CUT,
    _ALWAYS_CUT | {"conj", "cc", "advcl", "appos"},
    _ALWAYS_CUT | {"conj", "cc", "relcl", "appos"},
    _ALWAYS_CUT | {"conj", "cc", "advcl", "relcl", "appos"},
)
"""What is left out around a verb, from the longest version of its clause to the shortest."""
_OPENS_NO_PHRASE = frozenset({"INTJ", "CCONJ", "SCONJ", "VERB", "AUX", "ADP"})
_NAMES = frozenset({"NOUN", "PROPN", "ADJ"})
_END = re.compile(r"[,:;]\s+([^,:;]+?)[.!…]*$")
_WHOLLY = re.compile(
    r"\b(?:nobody|no one|nothing|never|always|everybody|everyone|everything|only|all)\b|(?:n't"
    r"|\bnot)\b",
    re.IGNORECASE,
)
"""Words of what holds for all, or not at all, …"""
_ONLY_WHEN = re.compile(r",?\s+(?:when|while|if|unless|until|till|except|as long as|whenever|once)\b", re.IGNORECASE)
"""… unless a condition stands behind it."""
_SOMEBODY = re.compile(
    r"\b(?:your|our|his|her|their) (?:husband|wife|partner|mum|mom|mother|dad|father|sister|brother|son|daughter|friend"
    r"|boss|neighbour|girlfriend|boyfriend|colleague|mate)$",
    re.IGNORECASE,
)
_AND_I = re.compile(r"\s+and (?:i|we|he|she|they)\b", re.IGNORECASE)
"""Somebody who is half of the subject of what follows: “instead of the bread my husband and I have”."""
_DENIED_AT_ONCE = re.compile(
    r"[.!,;]\s*(?:which|but) (?:i|we|he|she|it|they|that)?\s?(?:had|was|were|did|is|do|does|have|has|could"
    r"|would)(?:n't|\snot)(?: \w+)?(?=[.!,;]|$)"
    r"|[.!]\s*(?:not true|which (?:is|was)(?:n't| not) true|rubbish|nonsense)\b",
    re.IGNORECASE,
)
"""Words behind what somebody said that was not so."""
_NO_SUCH = re.compile(
    r"\W*no (?!one\b|but\b|because\b|not\b|i\b|it\b|he\b|she\b|we\b|they\b|that\b|you\b|there\b|my\b|the\b"
    r"|really\b|honestly\b|never\b|more than\b)\w+(?! \w*,)",
    re.IGNORECASE,
)
"""A sentence of what there is not: “No bones in a fish finger.”"""
_IF = re.compile(
    r"\b(?<!as )(?:unless|(?<!i )suppose|(?<!i )imagine"
    r"|if(?! (?:you (?:mean|ask|like|want to know|must know)|i'm (?:honest|truthful)|i am honest|anything)\b))\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:afraid|scared|imagine|suppose)\b[^.?!]*\bif\b", re.IGNORECASE)
"""A sentence of what would be, or is feared, which the next one may go on from: “And then we buy a car.”"""
_WAS = re.compile(r"\b(?:was|were|had|did|didn't|\w{2,}ed)\b", re.IGNORECASE)
_TRAILS = re.compile(
    r"\b(?:i'd|i would|he'd|she'd|it'd|we'd|they'd) be (?:so |very |quite |really )?"
    r"(?:happy|fine|good|glad|ok|okay|all right|alright|done|set|sorted)$",
    re.IGNORECASE,
)
"""A clause that only says that it would do: “A week, and I'd be happy.”"""
_TO_THE_LISTENER = re.compile(
    r"\byou(?:'ve|'re|'d|'ll)?(?: \w+(?:n't)?)? (?:ask\w*|sa(?:y|id|ying)|mean\w*|t(?:ell|old|elling)|want\w*"
    r"|know|knew"
    r"|see|hear\w*|think|thought|call\w*|write|wrote|read|guess\w*|understand|understood|imagine|mind|like|wonder\w*"
    r"|keep|right|wrong|listen\w*|put)\b"
    r"|\b(?:thank|let|tell|ask|show|told|asked|forgive|excuse|promise|between|to|for|with) you\b"
    r"|\byour (?:question|study|programme?|machine|idea|company|job|turn|card|example|choice)s?\b"
    r"|\byou (?:people|lot)\b",
    re.IGNORECASE,
)
"""“You” for the one who asks; else it is for anybody: “Nobody trains you for that bit.”"""
_YOU = re.compile(r"\b(?:you|yours?|yourself)(?:'\w+)?", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_BREAKS_OFF = re.compile(r"\b(?:probably|perhaps|maybe|mostly|only|just|also)$", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:any|some|once|no|much) more$", re.IGNORECASE)
"""What may end a clause all the same, …"""
_ENDS_SENTENCE = re.compile(
    r"\b(?:her|so|that)$|^(?:it|that|this)(?:'s| is| was) (?:\S+ ){3,}(?:to|in|on|at|for|with|from|of|was|were)$",
    re.IGNORECASE,
)
"""… or the clause that ends a sentence."""
_SO = re.compile(r"\bso(?: that)?\W*$", re.IGNORECASE)
_MEANT_TO = re.compile(
    r"\b(?:can|could|would|might|will|wouldn't|couldn't|won't|can't|\w+'d|didn't have to)\b", re.IGNORECASE
)
_ONLY_FOR = re.compile(
    r"(?:(?:and|but|so|well),? )*(?:only |even |just )?(?:for|with|without|to|against|next to|compared (?:to|with)) "
    r"(?:(?:my|the|our|his|her|their|other|most|some) )?[\w'-]+,? *$",
    re.IGNORECASE,
)
"""What stands before a clause that holds for that alone."""
_OF_NOTHING_TOLD = re.compile(
    r"\byou can (?:guess|imagine|picture|work (?:it|that|the rest) out|work out|do the sums|see why|tell|fill in)\b"
    r"|\b(?:have|'ve|had|'d)(?: not|n't| never) (?:said|told|admitted) (?:that|this|it|any of (?:it|this"
    r"|that))(?: \w+){0,4}? before\b"
    r"|\bcould (?:have|'ve) (?:killed|murdered|strangled|throttled|kicked|slapped|shot|hugged|kissed) (?:her|him"
    r"|them|myself|me|you)\b"
    r"|\b(?:that|it|this) (?:sounds|sounded) (?:worse|bad|silly|daft|soft|mad|awful|stupid)\b",
    re.IGNORECASE,
)
"""Words to the listener, of the telling itself, or mere hyperbole: nothing of what was told."""
_RUN_TOGETHER = re.compile(r"\b(?:something|anything|him|her|them) it(?:'s| is| was)\b", re.IGNORECASE)
_TRAILING_SO = re.compile(r", so$", re.IGNORECASE)
"""What somebody leaves open: “A particular person did pop up, so.”"""
_SAID_AGAIN = re.compile(
    r",(?: [^\s,]+){0,3} (?:i|you|he|she|it|we|they) (?:did|do|does|was|were|is|are|am|had|have|has)$", re.IGNORECASE
)
"""What only says again that it is so: “I parked by the chapel, three year I did.”"""
_ONLY_TOLD = re.compile(
    r"\bthat(?:'s| is| was) what (?:i|he|she|we|they) (?:tell|tells|told|say|says|said|call|calls|called)\b",
    re.IGNORECASE,
)
"""What stands behind words only told to people: “I was protecting her, that's what I tell them.”"""
_ONLY = re.compile(r"\b(?:just|only) (?:me|you|him|her|us|them|the|an?|one|two|my|for|in|on)\b", re.IGNORECASE)
_ONLY_SAID = re.compile(r"\b(?:just|only)\b", re.IGNORECASE)
"""Words that narrow what they stand before, which a piece must not lose: “on the bike its just me”."""
_TEARS = re.compile(r"\b(?:a cry|a weep|cried|crying|tears|wept|sobb\w+|throat)\b", re.IGNORECASE)
_CONFIDED = re.compile(r"n['’]t (?:[\w']+ ){0,3}(?:tell|telling|told) (?:it|that|this)\b", re.IGNORECASE)
"""What is answered, and not said back: tears, and that something is told to nobody."""
_IN_PIECES = re.compile(
    r"[.!?…]\s+\S|\bwhich (?:looks?|looked|feels?|felt|is|was|sounds?|sounded|seems?|seemed|gets?|got|makes?|made)"
    r"[.…]?$|(?:^|\s)(?:tbh|lol|haha|imo|idk|too|so|very|really|quite"
    r"|as|than|the|an?|my|your|just|even|(?:felt|feel|was|were|got) a (?:bit|little))[.…]?$",
    re.IGNORECASE,
)
"""Pieces that end in the middle, or go on over the end of a sentence: “…, which looks.” of “…, which looks daft.”"""
_WAS_THOUGHT = re.compile(
    r"(?:^|[.!?;,]\s*)(?:(?:and|but|so|well|then|still),? )*i (?:just |only |always |still |sort of )?"
    r"(?:thought|hoped|assumed|supposed|imagined|figured|feared) (?:that )?$",
    re.IGNORECASE,
)
"""Words behind which it need not have been so: “I thought that meant it was all right.”"""
_NOT_AS_IT_IS = re.compile(
    r"\b(?:he|she|they)(?:'ll| will| must| would) have (?:\w+ ){0,2}\w+"
    r"|,? like (?:i|he|she|they|we) (?:did|do|does|was|were|is|are|had|have|has|would)\b"
    r"|\b(?:i|he|she|we|they) did (?!n't\b|not\b|it\b|that\b|this\b|so\b|the\b|an?\b|my\b|his\b|her\b|our\b"
    r"|their\b|all\b|no\w*\b|some\w*\b|any\w*\b|every\w*\b|what\b|well\b|wrong\b|one\b|two\b|both\b|badly\b|for\b"
    r"|to\b|on\b|in\b|with\b)\w+",
    re.IGNORECASE,
)
"""What is supposed of somebody, or holds against what was thought: “I did park there.”"""
_LONG_ENOUGH = 5
"""Words of a clause from which on it says something, however plain its verbs are: “I'd have to say why I went.”"""
_BEFORE_VERBS = frozenset("never nearly almost still just only always".split())
"""What may stand before the verb that a sentence without a subject begins with: “Never told her.”"""
_WITHOUT_SUBJECT = (2, 8)
"""Words of a sentence that begins with its verb, as somebody sparing of words tells it: “Deleted it.”"""
_TAG = re.compile(
    r",? (?:is|isn't|does|doesn't|do|don't|was|wasn't|have|haven't|did|didn't) (?:it|he|she|they|i|you|that)$"
)


_SAYS_AND_QUOTES = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\bi just )\b(?:says?|said|goes|replied|shouted|answered|(?:was|is|were|are) like"
    r"|(?:told|asked|tells|asks) (?:me|us|him|her|them))(?: to (?:me|us|him|her))?[,:]\s",
    re.IGNORECASE,
)
"""Words behind which a sentence goes on with what somebody else said: “She said, your English is fine.”"""


@dataclass(frozen=True)
class _Piece:
    """Characters `start` to `end` of an answer, and the subject that they lack."""

    start: int
    end: int
    subject: str = ""


def sayable(answer: str, doc: Doc) -> tuple[Echo, ...]:
    """What of an answer can be said back, the latest first, at most `MOST`.

    Args:
        answer: its words.
        doc: the same, parsed; positions are those of `answer`.
    """
    own = (echo for echo in echoes(answer) if len(echo.text.split()) >= SHORTEST)
    found = {
        echo.text.casefold(): echo
        for echo in own
        if not (_is_without_subject(doc, echo) or _runs_on(doc, echo.start, echo.end))
        and not _HANGS_ON.match(echo.sentence)
        and _SAYS_AND_QUOTES.search(answer[_sentence_start(answer, echo) : echo.start]) is None
        and not _is_taken_back(answer[echo.start : echo.end], answer[echo.start :], echo.text)
        and _OF_NOTHING_TOLD.search(answer[echo.start : echo.end]) is None
        and _WAS_THOUGHT.search(answer[: _begins(answer, echo)]) is None
        and _is_whole(answer, echo)
    }
    for echo in sorted(_echoes(answer, doc), key=lambda each: (each.back, -each.start)):
        if _is_whole(answer, echo) and not any(_alike(echo.text, other.text) for other in found.values()):
            found[echo.text.casefold()] = echo
    right = (each for each in found.values() if not _misrepresents(answer, each))
    latest = sorted(right, key=lambda each: (each.back, -each.start))[:MOST]
    return tuple(replace(each, is_now=_is_now(doc, each)) for each in latest)


_AND_THAT_IS = re.compile(r"\w,? that(?:'s|’s| is) (?:\w+ )?\w+(?: right)?\.?$", re.IGNORECASE)
"""What its teller thinks of it, with nothing between: “she wouldn't see what I spent it on, that's sad right”."""
RUN_ON = 3
"""Words of a piece from which on a “just” is no filler: “I kept my old one just changed the SIM”."""


def _is_whole(answer: str, echo: Echo) -> bool:
    """Whether a piece does not end in the middle, and has the “just” and “only” without which it says more."""
    left_out = _ONLY.search(answer[echo.start : echo.end]) is not None and _ONLY_SAID.search(echo.text) is None
    inside = [word.casefold() for word in answer[echo.start : echo.end].split()[RUN_ON:]]
    left_out = left_out or ("just" in inside and "just" not in echo.text.casefold())
    judged = _AND_THAT_IS.search(echo.text) is not None
    moved = _TEARS.search(echo.text) is not None or _CONFIDED.search(echo.sentence) is not None
    return _IN_PIECES.search(echo.text) is None and not left_out and not judged and not moved


def _is_now(doc: Doc, echo: Echo) -> bool | None:
    """Whether the first finite verb of a piece is one of what is; None where it has none."""
    span = doc.char_span(echo.start, echo.end, alignment_mode="expand") or ()
    tag = next((token.tag_ for token in span if token.tag_ in _FINITE and token.pos_ in _VERBS), None)
    return None if tag in (None, "MD") else tag != "VBD"


def _misrepresents(answer: str, echo: Echo) -> bool:
    """Whether a piece says more than was said, by what stands before it or behind it."""
    behind = answer[echo.end :]
    goes_on = not answer[: echo.end].rstrip().endswith((".", "!", "?", "…"))
    if goes_on and _SOMEBODY.search(echo.text.rstrip(".")) and _AND_I.match(behind):
        return True  # “It would be instead of the bread my husband | and I have.”
    if goes_on and _WHOLLY.search(echo.text) and _ONLY_WHEN.match(behind):
        return True  # “Nobody talks to me when I have them on.”
    if _DENIED_AT_ONCE.match(behind):
        return True  # “We had booked under the wrong name. Which we had not.”
    return _NO_SUCH.match(echo.sentence) is not None and not echo.text.casefold().startswith("no ")


def _echoes(answer: str, doc: Doc) -> Iterator[Echo]:
    """All pieces as they would be said back."""
    latest = [(at, at + len(sentence), sentence) for at, sentence in placed(answer)][-LATEST:]
    sayable_ones = [
        (*each, len(latest) - 1 - number)
        for number, each in enumerate(latest)
        if not (each[2].endswith("?") or LAUGHS.match(each[2]) or YOU_THINK.match(each[2]))
    ]
    for piece in _clauses(doc):
        within = next((each for each in sayable_ones if each[0] <= piece.start < each[1]), None)
        if within is None:
            continue
        said = answer[piece.start : piece.end]
        if _runs_on(doc, piece.start, piece.end) or _HANGS_ON.match(within[2]):
            continue
        if _SAYS_AND_QUOTES.search(within[2][: piece.start - within[0]]):
            continue  # What somebody else said of them is not said back as if it were theirs.
        if _IF.search(within[2][: piece.start - within[0]]) and not (is_imagined(said) or may_be_imagined(said)):
            continue  # Behind an “if” it is not so, or not yet.
        if _SO.search(within[2][: piece.start - within[0]]) and _MEANT_TO.search(said):
            continue  # “So he could put his hands back in his pockets” says what it was done for.
        if _ONLY_FOR.match(within[2][: piece.start - within[0]]):
            continue  # “For my daughter I always managed. For me, not so much.”
        if _OF_NOTHING_TOLD.search(said):
            continue  # “You can work it out.”
        if _RUN_TOGETHER.search(said):
            continue  # “(As soon as) I touched something it was give it here.”
        if DOUBTED.search(within[2][: piece.end - within[0]]):
            continue  # “Maybe he came to be made to laugh, and he got what he came for.”
        if _goes_on_supposing(within, sayable_ones) and not (is_imagined(said) or may_be_imagined(said)):
            continue
        if _is_taken_back(said, answer[piece.start :]) or _WAS_THOUGHT.search(answer[: piece.start]):
            continue
        clause = _TRAILING_SO.sub("", _SAID_AGAIN.sub("", _TAG.sub("", plain(answer[piece.start : piece.end]))))
        clause = f"{piece.subject} {clause}" if piece.subject else clause
        if _LACKS_ITS_VERB.match(clause) or _THERE.search(within[2][: piece.start - within[0]]):
            continue
        finished = piece.end >= within[0] + len(within[2].rstrip(" .!…"))
        if _can_be_said(clause, finished=finished) and _says_something(doc, piece):
            yield _echo(clause, piece, within[3], within[2])
    for start, end, sentence, back in sayable_ones:
        bare = plain(sentence)
        if _begins_with_verb(doc, start, end) and _is_told_shortly(bare):
            yield _echo(bare, _Piece(start, end), back, sentence)
        ending = _ending(start, sentence)
        bounded = [(_Piece(start, end), PHRASE), *([(ending, PHRASE_AT_END)] if ending is not None else [])]
        for piece, (least, most) in bounded:
            phrase = plain(answer[piece.start : piece.end])
            if least <= len(phrase.split()) <= most and _is_phrase(phrase, piece, doc, start):
                yield _echo(phrase, piece, back, sentence)


def _begins(answer: str, echo: Echo) -> int:
    """Where the words of a piece begin, behind what was left out before them."""
    at = answer.casefold().find(" ".join(echo.clause.casefold().split()[:2]), echo.start)
    return at if at >= 0 else echo.start


def _is_taken_back(said: str, rest: str, echo: str = "") -> bool:
    """Whether a piece is not so as it stands, or is said with more words than it has.

    Args:
        said: the piece.
        rest: the answer from there on.
        echo: how it would be said back, where that is settled.
    """
    first = next(iter(sentences(rest)), rest)
    ends_badly = any(pattern.search(echo.rstrip(".")) for pattern in (_SAID_AGAIN, _TRAILING_SO))
    return ends_badly or _NOT_AS_IT_IS.search(said) is not None or _ONLY_TOLD.search(first) is not None


def _is_told_shortly(bare: str) -> bool:
    """Whether a sentence without a subject can be said back."""
    least, most = _WITHOUT_SUBJECT
    whole = not (NO_END.search(bare) or FRAGMENT_IN_IT.search(bare))
    return least <= len(bare.split()) <= most and whole and can_be_heard(bare)


def _begins_with_verb(doc: Doc, start: int, end: int) -> bool:
    """Whether a sentence begins with a verb of what was, whose subject is left out."""
    span = doc.char_span(start, end, alignment_mode="expand")
    if span is None or not len(span):
        return False
    first = span[1] if len(span) > 1 and span[0].lower_ in _BEFORE_VERBS else span[0]
    done = first.tag_ == "VBD" or (first.tag_ == "VBN" and any(child.dep_ == "dobj" for child in first.children))
    return done and first.pos_ == "VERB" and first.dep_ == "ROOT" and _subject(first) is None


def _goes_on_supposing(within: tuple[int, int, str, int], latest: Sequence[tuple[int, int, str, int]]) -> bool:
    """Whether a sentence without a past goes on from one of what would be."""
    before = next((sentence for _, _, sentence, back in latest if back == within[3] + 1), "")
    return _SUPPOSED.search(before) is not None and _WAS.search(within[2]) is None


def _echo(clause: str, piece: _Piece, back: int, sentence: str) -> Echo:
    turned = second_person(clause)
    return Echo(f"{turned[:1].upper()}{turned[1:]}.", clause, piece.start, piece.end, back, False, sentence)


def _alike(one: str, other: str) -> bool:
    a, b = set(words(one.casefold())), set(words(other.casefold()))
    return len(a & b) >= SAME * len(a | b)


def _clauses(doc: Doc) -> Iterator[_Piece]:
    """Clauses around finite verbs, each in versions of several lengths; none that asks, doubts or hangs on a noun."""
    for verb in doc:
        if verb.pos_ not in _VERBS or verb.dep_ in ("aux", "auxpass") or not _is_finite(verb):
            continue
        children = list(verb.children)
        if verb.dep_ == "relcl":
            if _tells_when(verb):
                yield from _versions(verb, _subject(verb), "", doc)
            continue
        if _is_condition(verb) or (verb.dep_ == "conj" and _is_condition(verb.head)):
            continue
        if any(child.tag_ in _ASKING and child.i < verb.i for child in children):
            continue
        if verb.lemma_.lower() in _INTRODUCES and any(child.dep_ in ("ccomp", "xcomp") for child in children):
            continue
        if verb.dep_ == "ccomp" and (_is_only_thought(verb.head, _subject(verb)) or _is_anothers(verb.head)):
            continue
        own = _subject(verb)
        shared = _shared_subject(verb) if own is None else None
        subject = own if own is not None else shared
        if subject is None or subject.tag_ in ("WDT", "WP"):
            continue
        if own is not None and own.i > verb.i and own.dep_ != "expl":
            continue
        if own is not None and any(child.dep_ in ("aux", "auxpass") and child.i < own.i for child in children):
            continue  # “Do I get a reminder or a letter”, whatever mark ends it.
        start = own.left_edge.i if own is not None else _start(verb)
        if any(child.i < start and child.lower_ in _NOT_ALWAYS for child in children):
            continue  # “Sometimes I find that comforting” does not say that it is.
        if start > 0 and doc[start - 1].lower_ in _BINDS:
            continue  # “Every time I need rescuing it feels like a point for them” is no clause of “I need”.
        said = doc[subject.left_edge.i : subject.right_edge.i + 1].text if own is None else ""
        yield from _versions(verb, own, said, doc)


def _versions(verb: Token, own: Token | None, said: str, doc: Doc) -> Iterator[_Piece]:
    """A clause in its lengths; the shortest ends at the first comma behind its verb."""
    start = own.left_edge.i if own is not None else _start(verb)
    ends = []
    for cut in _CUTS:
        end = _end(verb, start, _kept(verb, cut), doc)
        if end > verb.i:
            ends.append(end)
    comma = next((child.i for child in verb.children if child.i > verb.i and child.text == ","), None)
    if comma is not None and ends and comma < min(ends):
        ends.append(comma)
    for end in dict.fromkeys(ends):
        yield _Piece(doc[start].idx, doc[end - 1].idx + len(doc[end - 1]), said)


def _tells_when(verb: Token) -> bool:
    """Whether a clause that hangs on a noun says when or where, and so stands by itself without that word."""
    asking = [child for child in verb.children if child.tag_ in _ASKING]
    own = _subject(verb)
    return (
        own is not None
        and own.tag_ not in _ASKING
        and own.i < verb.i
        and [each.lower_ for each in asking] in (["when"], ["where"])
        and asking[0].i < own.left_edge.i
    )


def _is_condition(verb: Token) -> bool:
    return any(child.dep_ == "mark" and child.lower_ in _CONDITIONS for child in verb.children)


def _is_only_thought(verb: Token, about: Token | None) -> bool:
    """Whether what somebody says behind this verb was only thought, hoped or feared, or is denied; or is thought now of
    somebody else.
    """
    denied = any(child.dep_ == "neg" for child in verb.children)
    lemma = verb.lemma_.lower()
    guessed = about is not None and about.lower_ in _OTHERS
    return (
        denied
        or lemma in _WISHED
        or lemma == "afraid"
        or (lemma in _THOUGHT and (guessed or verb.tag_ in ("VBD", "VBN")))
        or (verb.dep_ == "xcomp" and verb.head.lemma_.lower() in _WISHES_TO)
        or (verb.dep_ == "ccomp" and verb.head is not verb and _is_only_thought(verb.head, about))
    )


def _is_anothers(verb: Token) -> bool:
    """Whether somebody else says what stands behind a verb of saying."""
    subject = _subject(verb)
    return verb.lemma_.lower() in SAYING and subject is not None and subject.lower_ not in _OWN


_HANGS_ON = re.compile(r"^\W*(?:that|which|who)(?: \w+ly)? (?:i|we|you|he|she|they)\b", re.IGNORECASE)
"""A sentence that hangs on the one before: “That I actually use.”"""


_LACKS_ITS_VERB = re.compile(r"^(?:you|we|they|i|he|she|it) not\b", re.IGNORECASE)
"""A subject said again before what hung on another verb: “(I was walking home and) not sat on my own.”"""


_THERE = re.compile(r"\bthere\s*$", re.IGNORECASE)
"""What stands before “I am on my anniversary” where that is told as a story: “So there I am …”"""


def _runs_on(doc: Doc, start: int, end: int) -> bool:
    """Whether two clauses run together in a piece, or a subject is none: “hands go numb cant feel the bricks”,
    “Omelette, ate it standing up”.
    """
    span = doc.char_span(start, end, alignment_mode="expand") or ()
    if any(token.dep_ == "nsubj" and [t.text for t in doc[token.i + 1 : token.head.i]] == [","] for token in span):
        return True
    inside = {token.i for token in span}
    return any(
        token.dep_ == "conj"
        and token.pos_ in _VERBS
        and token.head.i in inside
        and token.head.pos_ in _VERBS
        and not any(between.dep_ == "cc" or between.is_punct for between in doc[token.head.i + 1 : token.i])
        for token in span
    )


def _is_without_subject(doc: Doc, echo: Echo) -> bool:
    """Whether a piece begins with a verb in its plain form, which sounds like a command: “lose half an hour”."""
    span = doc.char_span(echo.start, echo.end, alignment_mode="expand")
    first = span[0] if span is not None and len(span) else None
    return first is not None and first.tag_ in ("VB", "VBP") and first.pos_ == "VERB" and _subject(first) is None


def _sentence_start(answer: str, echo: Echo) -> int:
    """Where the sentence of a piece begins."""
    return max(0, answer.rfind(echo.sentence, 0, echo.start + len(echo.sentence)))


def _is_finite(verb: Token) -> bool:
    return verb.tag_ in _FINITE or any(
        child.dep_ in ("aux", "auxpass") and child.tag_ in _FINITE for child in verb.children
    )


def _subject(verb: Token) -> Token | None:
    return next((child for child in verb.children if child.dep_ in _SUBJECTS), None)


def _shared_subject(verb: Token) -> Token | None:
    """The subject that a verb shares with the one before “and”; None where it is long, or all of it hangs on a noun."""
    if verb.dep_ != "conj":
        return None
    head = verb.head
    while head.dep_ == "conj" and _subject(head) is None:
        head = head.head
    if head.dep_ == "relcl" or any(child.tag_ in ("WDT", "WP", "WRB") for child in head.children):
        return None
    found = _subject(head)
    if not any(child.dep_ == "cc" or child.text == "," for child in head.children):
        return None  # “hands go numb cant feel the bricks” leaves out who can't.
    if verb.tag_ == "VBD" and head.tag_ in ("VB", "VBP", "VBZ"):
        return None  # “You fetch it, and dressed up as being neighbourly”: who fetches did not dress up.
    return found if found is not None and len(list(found.subtree)) <= INHERITED else None


def _start(verb: Token) -> int:
    """Where a verb begins whose subject stands elsewhere."""
    before = ("aux", "neg", "auxpass", "advmod")
    left = (child.left_edge.i for child in verb.children if child.dep_ in before and child.i < verb.i)
    return min((verb.i, *left))


def _kept(verb: Token, cut: frozenset[str]) -> set[int]:
    """Tokens of a verb's clause without what is cut; what is joined by “and” stays where it is no verb."""
    kept = {verb.i}
    for child in verb.children:
        if child.dep_ not in cut or (child.dep_ == "conj" and child.pos_ not in _VERBS):
            kept.update(token.i for token in child.subtree)
    return kept


def _end(verb: Token, start: int, kept: set[int], doc: Doc) -> int:
    """The token behind the clause: where the first word comes that is not its own."""
    end, last = max(start, verb.i), max(kept)
    while end <= last and (end in kept or end <= verb.i or (doc[end].is_punct and end + 1 in kept)):
        end += 1
    while end > start and (doc[end - 1].is_punct or doc[end - 1].tag_ == "CC"):
        end -= 1
    return end


def _can_be_said(clause: str, *, finished: bool) -> bool:
    """Whether a clause can be said back; one that ends its sentence may end in more words: “I told her”."""
    ends = NO_END.search(clause) is None or (finished and _ENDS_SENTENCE.search(clause) is not None)
    return (
        SHORTEST <= len(clause.split()) <= LONGEST
        and _can_be_heard(clause)
        and (ends or _ENDS.search(clause) is not None)
        and not any(pattern.search(clause) for pattern in (NO_START, FRAGMENT_IN_IT, _TRAILS, _BREAKS_OFF))
        and "?" not in clause
    )


def _can_be_heard(clause: str) -> bool:
    """Whether nothing in a clause sounds wrong from somebody else; “you” may be anybody there."""
    if not addresses(clause):
        return can_be_heard(clause)
    if _TO_THE_LISTENER.search(clause) or _FIRST.search(clause):
        return False
    return can_be_heard(_YOU.sub("one", clause))


def _says_something(doc: Doc, piece: _Piece) -> bool:
    if len(text_of(doc)[piece.start : piece.end].split()) >= _LONG_ENOUGH:
        return True
    return any(
        token.pos_ in _NAMES
        or token.pos_ == "NUM"
        or (token.pos_ in ("VERB", "ADV") and token.lemma_.lower() not in _LIGHT and not token.is_stop)
        for token in _span(doc, piece)
    )


def _span(doc: Doc, piece: _Piece) -> Span | tuple[Token, ...]:
    return doc.char_span(piece.start, piece.end, alignment_mode="expand") or ()


def _ending(start: int, sentence: str) -> _Piece | None:
    """What stands behind the last comma of a sentence."""
    found = _END.search(sentence)
    return _Piece(start + found.start(1), start + found.end(1)) if found is not None else None


def _is_phrase(phrase: str, piece: _Piece, doc: Doc, start: int) -> bool:
    """Whether words without a verb name something that can be said back: “Not even an onion.”"""
    span = _span(doc, piece)
    if not span or any(token.tag_ in _FINITE for token in span) or not any(token.pos_ in _NAMES for token in span):
        return False
    opens = span[0].pos_
    if span[0].tag_ in ("VB", "VBP") and opens == "VERB":
        return False  # “Go on the bus and sit upstairs” sounds like a command.
    if opens == "INTJ" or (piece.start != start and (opens in _OPENS_NO_PHRASE or span[0].dep_ == "cc")):
        return False
    if piece.start != start and FRAGMENT_IN_IT.search(phrase):
        return False
    return not (HESITATION.search(phrase) or addresses(phrase) or is_loaded(phrase) or "?" in phrase)
