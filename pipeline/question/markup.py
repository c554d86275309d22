"""Refuses text that is not plain words: markup, addresses, labels of a transcript, invisible characters.

All rules work on the text as it came, quotations included.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import pairwise

from pipeline.question.refusals import Refusal

MIXED_WORDS = 4
"""From this many words with capitals or digits inside on, a text counts as encoded; fewer may be product names."""
LONGEST_WORD = 48

_RULES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        "control or invisible characters",
        "",
        re.compile(
            r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2028-\u202e"
            r"\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0e\ufeff\uffa0\ufff0-\uffff"
            r"\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
        ),
    ),
    (
        "an e-mail address",
        "@[(",
        re.compile(r"[\w.+-]+\s?(?:@|\[at\]|\(at\))\s?[\w-]+\s?(?:\.|\[dot\]|\(dot\))\s?\w{2,}", re.I),
    ),
    (
        "a tag, a token of a model or a template's gap",
        "<>{}\\`[$&|",
        re.compile(r"<[a-z/!?|｜_\s]|<<|>>|\|>|[{}\\`]|\[/?[A-Z_]{2,}\]|\$\$|&(?:#\w+|[a-z]{2,8});", re.I),
    ),
    (
        "formatting",
        "",
        re.compile(
            r"\*\*|##|(?<![\w*])\*(?=[^\W\d_])|(?<!\w)_+[^\W_]|~~|\]\(|!\[|^\s{0,3}(?:#{1,6}\s|>\s|[-*•‣◦+]\s|"
            r"(?:\d{1,2}|"
            r"[a-z])[.)]\s)"
            r"|[•‣◦|]|//|^\s*(?:-{3,}|={3,}|\*{3,}|_{3,})\s*$|\S[^\S\n]*\n\s*\n\s*\S",
            re.I | re.M,
        ),
    ),
    ("brackets", "[]", re.compile(r"\[(?!(?:…|\.\.\.)\])|(?<!…)(?<!\.\.\.)\]")),
    (
        "a call of a function",
        "(=",
        re.compile(r"[^\W\d]\w+\((?!e?s\)|e?n\)|r\)|in\)|innen\))|\w\.\w+\(|[\w\"]\s*:=|=>|==|\w=[\w\"']"),
    ),
    (
        "a speaker or a label",
        "",
        re.compile(
            r"(?:^|[\n.?!؟|>]\s*)(?:question|interviewer|moderator|assistant|system|user|human|ai|bot|model|"
            r"respondent|interviewee|participant|answer|response|output|rationale|reasoning|explanation|note|context|"
            r"follow[- ]?up(?: question)?|rephrased?(?: question)?|opening(?: question)?|translation|analysis|thought|"
            r"focus|strategy|final|tool|function|developer|instructions?|rules?|"
            r"q|a|frage|antwort|interviewerin|moderatorin|nutzer|befragter?|anschlussfrage|hinweis|begründung|"
            r"réponse|intervieweur|utilisateur|pregunta|respuesta|entrevistador|usuario|vraag|antwoord|domanda|"
            r"risposta|"
            r"intervistatore|soru|cevap|görüşmeci|kullanıcı|سؤال|السؤال|جواب|الجواب|المحاور|النظام|المستخدم)"
            r"\s*\d*\s*[:：](?!\d)"
            r"|(?:^|\n)\s*(?:q|question|follow[- ]?up)\s*\d+\s*[-–—.)]"
            r"|\b(?:depth|score|confidence|strategy|signals?|level|rationale|node|turn)\s*[:=]\s*\w",
            re.I,
        ),
    ),
)
"""Name of what is found, characters one of which it must contain (empty: always search), and its pattern."""
_RUNS_OF_SIGNS = re.compile(r"(?:(?:^|\s)[^\w\s]+(?=\s|$)){3,}|[^\w\s]{6,}")
_ADDRESS = re.compile(
    r"\b(?:https?|ftp|file|wss?):/\S*|\b(?:javascript|mailto|tel|data):\S+|//[\w.-]+\.\w{2,}\S*|\bwww\.\S+|"
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?\S*|"
    r"(?<![\w@])(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|info|app|co|me|eu|de|fr|es|nl|it|tr|ru|uk|us|ch|at|be|cn|xyz|"
    r"biz|shop|site|online|example|test|invalid|onion|gov|edu|tk|cc|link|click|to|ly)\b(?:[/?#:]\S*)?",
    re.I,
)
_NAME_OF_A_SITE = re.compile(r"(?!www\.)[\w-]+(?:\.[\w-]+){1,2}")
"""What people call a site by; a whole address is never repeated."""
_DATE = re.compile(
    r"\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b\d{4}-\d{2}-\d{2}\b|\b(?:19|20)\d\d\s*[–-]\s*(?:(?:19|20)\d\d|\d\d)\b"
)
_PHONE = re.compile(
    r"(?:\+|\b00)\s?\d[\d\s().\-/]{5,}\d|(?<![\d.,])\(?\d{3}\)?[\s.-]?\d{3}-\d{4}\b|(?<![\d.,-])\d{3}-\d{4}\b(?!-)|"
    r"(?<![\d.,])0\d{2,5}[\s/-]\d{4,}|(?<![.,\d])\d(?:[\s().\-/]?\d){9,}(?![.,]\d)"
)
_TOKEN = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_HEX = re.compile(r"\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{16,}\b|%[0-9a-f]{2}%[0-9a-f]{2}|\b(?:[0-9a-f]{2} ){6,}", re.I)
_SPELLED_OUT = re.compile(r"(?<!\w)(?:[^\W\d_][\s._·*-]{1,3}){5,}[^\W\d_](?!\w)")
_DIGIT = re.compile(r"\d")
_CAPITAL_OR_DIGIT = re.compile(r"[A-Z0-9]")
_MIXED = re.compile(r"\b\w*(?:[a-z][A-Z]\w*[a-z][A-Z]|[A-Za-z]\d+[A-Za-z])\w*\b")
_LATIN_AND_OTHER = re.compile(
    r"[A-Za-z][\u0370-\u03ff\u0400-\u052f\u0531-\u058a\u13a0-\u13ff]|"
    r"[\u0370-\u03ff\u0400-\u052f\u0531-\u058a\u13a0-\u13ff][A-Za-z]"
)
_STYLED_LETTERS = re.compile(
    r"[\u2460-\u24ff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\U0001f100-\U0001f1e5]"
)
_WHOLLY_QUOTED = re.compile(r"\s*([\"“„«'‘])[^\"“”„«»]*[\"“”»'’]\s*")
_JOINERS = frozenset("\u200c\u200d\u200e\u200f")
_EDGES = ".,;:!?…\"'“”„«»()‘’"


def markup_refusals(text: str, *, said: Collection[str] = (), whole: bool) -> list[Refusal]:
    """What in a text is not plain words.

    Args:
        text: the text as it came; at most some hundred characters.
        said: words of the respondent or the topic, case-folded; the name of a site among them may be repeated.
        whole: nothing more comes.
    """
    for what in _found(text, said, whole):
        return [Refusal(code="markup", detail=what)]
    return []


def _found(text: str, said: Collection[str], whole: bool) -> Iterator[str]:
    for what, signs, pattern in _RULES:
        if (not signs or any(sign in text for sign in signs)) and pattern.search(text):
            yield what
    if _RUNS_OF_SIGNS.search(text):
        yield "signs instead of words"
    if "." in text or ":" in text or "//" in text:
        for match in _ADDRESS.finditer(text):
            found = match.group(0).casefold().strip(_EDGES)
            if found not in said or not _NAME_OF_A_SITE.fullmatch(found):
                yield "a web address"
    if _DIGIT.search(text):
        if _PHONE.search(_DATE.sub(" ", text)):
            yield "a telephone number or the like"
        if _HEX.search(text):
            yield "a coded text"
    if any(_is_coded(match.group(0)) for match in _TOKEN.finditer(text)) or _SPELLED_OUT.search(text):
        yield "a coded text"
    if (
        len(_CAPITAL_OR_DIGIT.findall(text)) >= MIXED_WORDS
        and len({word.casefold() for word in _MIXED.findall(text)} - set(said)) >= MIXED_WORDS
    ):
        yield "a coded text"
    if not text.isascii():
        yield from _disguised(text)
    if whole and _WHOLLY_QUOTED.fullmatch(text):
        yield "all of it is in quotation marks"


def _is_coded(token: str) -> bool:
    """A long run of letters that no compound noun explains."""
    capitals_inside = any(one.islower() and next_one.isupper() for one, next_one in pairwise(token))
    return capitals_inside or len(token) > LONGEST_WORD or any(sign.isdigit() or sign in "+/=" for sign in token)


def _disguised(text: str) -> Iterator[str]:
    """Letters that look like others, and signs that only joined scripts need."""
    if _LATIN_AND_OTHER.search(text):
        yield "two scripts in one word"
    if _STYLED_LETTERS.search(text):
        yield "letters in disguise"
    for at, letter in enumerate(text):
        if letter in _JOINERS and not _needs_joiner(text[at - 1 : at] if at else "", text[at + 1 : at + 2]):
            yield "control or invisible characters"
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.category(letter) == "Mn" else 0
        if marks > 3:
            yield "letters in disguise"


def _needs_joiner(before: str, after: str) -> bool:
    """Joiners and direction marks belong between letters of scripts that join or run from right to left, and emoji."""
    return any(sign > "\u0590" and not "\u2000" <= sign < "\u2190" for sign in (before, after))
