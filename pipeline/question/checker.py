"""Refuses questions that a careful moderator would not ask. Source: semantics of questions (one at a time, open,
non-leading, short, in the respondent's language, never about the machinery).

Two entrances: `check` for a whole question, `check_beginning` for its first words; `prefix_refusals` serves the
stream guard and is true of every prefix that can't be saved by what follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from pipeline.question.patterns import (
    CLOSED_GENERIC,
    FUNCTION_WORDS,
    QUOTED,
    TABLES,
    UNSAFE,
    LanguageTable,
    normalise,
    word_set,
)
from pipeline.question.text import WORD, jaccard, sentences, word_count, words
from pipeline.records import Record

Code = Literal[
    "empty",
    "unsafe",
    "machinery",
    "not_a_question",
    "double",
    "closed",
    "leading",
    "too_long",
    "repeated",
    "language",
]
RETRACTING: frozenset[Code] = frozenset({"machinery", "unsafe"})
"""Refusals for which even what is already out must go."""

REPEAT_WINDOW = 6
REPEAT_JACCARD = 0.85
REPEAT_COSINE = 0.92

Similarity = Callable[[str, str], float] | Mapping[str, float] | Sequence[float]

_SCENES = (
    "think ", "please think ", "picture ", "imagine ", "take me back ", "put yourself ",
    "denken sie ", "stellen sie sich ", "versetzen sie sich ",
)  # fmt: skip
_QUESTION_MARKS = re.compile(r"[?؟？]")


class Refusal(Record):
    """Why a question may not be asked; `detail` is for logs and for the writer's second try."""

    code: Code
    detail: str


def check(
    text: str,
    *,
    recent_questions: Sequence[str] = (),
    language: str = "en",
    max_words: int = 25,
    cosine: Similarity | None = None,
    allowed_words: Collection[str] = (),
    repeat_window: int = REPEAT_WINDOW,
    repeat_jaccard: float = REPEAT_JACCARD,
    repeat_cosine: float = REPEAT_COSINE,
) -> list[Refusal]:
    """Everything that is wrong with a question; empty when it may be asked.

    Args:
        text: the whole question as the respondent would see it.
        recent_questions: earlier questions, oldest first; the last `repeat_window` count.
        language: code of the respondent's language; without a table only the general rules apply.
        max_words: most words allowed.
        cosine: a function of two texts, a mapping from earlier question to similarity, or similarities aligned with
            the end of `recent_questions`; in [-1, 1].
        allowed_words: words that belong to the topic or to the respondent; never machinery, never loaded.
        repeat_window: how many earlier questions a new one is compared with.
        repeat_jaccard: word overlap that makes a repetition.
        repeat_cosine: cosine that makes a repetition.
    """
    if not text.strip() or not WORD.search(text):
        return [Refusal(code="empty", detail="there is no text")]
    table = _table(language)
    plain = normalise(text)
    spared = _spare(plain, allowed_words)
    found = [
        *_unsafe(text),
        *_machinery(spared, table),
        *_language(text, spared, language),
        *_form(plain, table, language),
    ]
    if table:
        found += _leading(plain, spared, table)
    count = word_count(text)
    if count > max_words:
        found.append(Refusal(code="too_long", detail=f"{count} words, at most {max_words}"))
    window = recent_questions[-repeat_window:] if repeat_window else ()
    found += _repeated(text, window, cosine, repeat_jaccard, repeat_cosine)
    return list({refusal.code: refusal for refusal in reversed(found)}.values())[::-1]


def check_beginning(first_words: str, *, language: str = "en", allowed_words: Collection[str] = ()) -> list[Refusal]:
    """What is already wrong with the first words of a question, whatever follows.

    Args:
        first_words: the complete words so far, with or without white space after the last one.
        language: code of the respondent's language.
        allowed_words: words that belong to the topic or to the respondent.
    """
    return prefix_refusals(first_words, language=language, max_words=None, allowed_words=allowed_words)


def prefix_refusals(
    prefix: str, *, language: str, max_words: int | None, allowed_words: Collection[str] = ()
) -> list[Refusal]:
    """Refusals that hold for `prefix` and for every text that continues it.

    The polite forms ("Could you tell me …") need up to seven words; until then they are given the benefit of doubt.
    """
    table = _table(language)
    plain = normalise(_open_quote_removed(prefix))
    spared = _spare(plain, allowed_words)
    found = [*_unsafe(prefix), *_machinery(spared, table)]
    if max_words is not None and word_count(prefix) > max_words:
        found.append(Refusal(code="too_long", detail=f"more than {max_words} words"))
    if table is None:
        generic = CLOSED_GENERIC.get(language[:2])
        if generic and generic.match(plain) and len(plain.split()) >= 2:
            found.append(Refusal(code="closed", detail="begins like a yes-or-no question"))
        return found
    parts = sentences(plain)
    current = parts[-1] if parts else ""
    asked = [
        part
        for part in parts[:-1]
        if _QUESTION_MARKS.search(part) or (_is_request(part, table) and not _sets_a_scene(part))
    ]
    core = _core(current, table)
    if asked and (table.interrogatives.match(core) or _is_request(current, table)):
        found.append(Refusal(code="double", detail="a second question begins"))
    found += _double_inside(current, table)
    head = table.auxiliaries.match(core)
    if head and not _may_be_polite(core, table):
        found.append(Refusal(code="closed", detail=f"begins with “{head.group(0)}”"))
    found += [
        Refusal(code="leading", detail=f"“{match.group(0).strip()}”")
        for pattern in table.leading
        if not pattern.pattern.endswith("$") and (match := pattern.search(core) or pattern.search(current))
    ][:1]
    if table.leading_words and (match := table.leading_words.search(spared)):
        found.append(Refusal(code="leading", detail=f"“{match.group(0)}” judges"))
    return list({refusal.code: refusal for refusal in reversed(found)}.values())[::-1]


def question_part(text: str, language: str = "en") -> str:
    """The sentence that asks, without what leads up to it; the whole text if none does."""
    table = _table(language)
    for part in reversed(sentences(text)):
        if _QUESTION_MARKS.search(part) or (table and _is_request(normalise(part), table)):
            return part
    return text.strip()


def sets_a_scene(text: str, language: str = "en") -> bool:
    """Whether the last sentence only prepares a question, so that another question would not fit behind it."""
    table = _table(language)
    last = sentences(normalise(text))[-1:]
    return bool(
        table
        and last
        and not _QUESTION_MARKS.search(last[0])
        and (_sets_a_scene(last[0]) or _is_request(last[0], table))
    )


def _table(language: str) -> LanguageTable | None:
    return TABLES.get(language.casefold()[:2])


def _spare(plain: str, allowed: Collection[str]) -> str:
    """Allowed words masked, so that no list of forbidden words finds them."""
    masked = {word for phrase in allowed for word in words(phrase)}
    return WORD.sub(lambda match: "q" if match.group(0) in masked else match.group(0), plain) if masked else plain


def _open_quote_removed(prefix: str) -> str:
    """A quotation that is not closed yet is the respondent's, as far as anybody can tell."""
    for opening, closing in (("“", "”"), ("„", "“"), ("«", "»")):
        at = prefix.rfind(opening)
        if at >= 0 and closing not in prefix[at + 1 :]:
            return prefix[:at] + QUOTED
    if prefix.count('"') % 2:
        return prefix[: prefix.rfind('"')] + QUOTED
    return prefix


def _unsafe(text: str) -> list[Refusal]:
    return [Refusal(code="unsafe", detail=what) for what, pattern in UNSAFE if pattern.search(text)][:1]


def _machinery(plain: str, table: LanguageTable | None) -> list[Refusal]:
    for known in (table,) if table else TABLES.values():
        if match := known.machinery.search(known.machinery_spared.sub(" ", plain)):
            return [Refusal(code="machinery", detail=f"“{match.group(0)}” names the machinery")]
    return []


def _language(text: str, plain: str, language: str) -> list[Refusal]:
    code = language.casefold()[:2]
    letters = [letter for letter in text if letter.isalpha()]
    arabic = sum("\u0600" <= letter <= "\u06ff" for letter in letters)
    latin = sum(letter < "\u0250" for letter in letters)
    if letters and code == "ar" and arabic < latin:
        return [Refusal(code="language", detail="not in Arabic script")]
    if letters and code in FUNCTION_WORDS and latin < len(letters) / 2:
        return [Refusal(code="language", detail="not in Latin script")]
    own = FUNCTION_WORDS.get(code)
    if own is None:
        return []
    said = [word for word in words(plain) if word != "q"]
    for name, known in FUNCTION_WORDS.items():
        theirs = sum(word in known and word not in own for word in said)
        mine = sum(word in own and word not in known for word in said)
        if theirs >= 2 and theirs > mine:
            return [Refusal(code="language", detail=f"reads like “{name}”, not “{code}”")]
    return []


def _form(plain: str, table: LanguageTable | None, language: str) -> list[Refusal]:
    """Refusals about how many questions there are and of which form."""
    parts = sentences(plain)
    marked = [part for part in parts if _QUESTION_MARKS.search(part)]
    if table is None:
        generic = CLOSED_GENERIC.get(language.casefold()[:2])
        if len(_QUESTION_MARKS.findall(plain)) > 1:
            return [Refusal(code="double", detail="more than one question mark")]
        if not marked:
            return [Refusal(code="not_a_question", detail="no question mark")]
        if generic and any(generic.match(part) for part in marked):
            return [Refusal(code="closed", detail="begins like a yes-or-no question")]
        return []
    requests = [part for part in parts if part not in marked and _is_request(part, table)]
    asks = [*requests, *marked]
    found: list[Refusal] = []
    if len(_QUESTION_MARKS.findall(plain)) > 1 or len([a for a in asks if not _sets_a_scene(a)]) > 1:
        found.append(Refusal(code="double", detail="more than one question"))
    if not asks:
        return [*found, Refusal(code="not_a_question", detail="nothing is asked")]
    for part in asks:
        found += _double_inside(part, table)
        found += _closed(part, table)
    return found


def _sets_a_scene(part: str) -> bool:
    """“Think of the last time …” prepares a question, it isn't one."""
    return part.startswith(_SCENES)


def _double_inside(part: str, table: LanguageTable) -> list[Refusal]:
    spared = table.double_spared.sub(" ", part)
    if not table.interrogatives.search(part) and not table.auxiliaries.search(part):
        return []
    for pattern in table.double:
        match = pattern.search(spared)
        asked_before = match and (
            table.interrogatives.search(spared[: match.start()])
            or table.auxiliaries.match(_core(spared[: match.start()] + " ", table))
            or _is_request(spared, table)
        )
        if match and asked_before:
            return [Refusal(code="double", detail=f"“{match.group(0).strip()}” begins a second question")]
    return []


def _closed(part: str, table: LanguageTable) -> list[Refusal]:
    core = _core(part, table)
    for pattern in table.closed:
        if match := pattern.search(core) or pattern.search(part):
            if _pair_of_opposites(match.group(0)):
                continue
            return [Refusal(code="closed", detail=f"“{match.group(0).strip()}” offers the answers")]
    if table.polite.match(core) or _is_request(part, table):
        return []
    if match := table.auxiliaries.match(core):
        return [Refusal(code="closed", detail=f"begins with “{match.group(0)}”")]
    if not table.interrogatives.search(part):
        return [Refusal(code="closed", detail="a statement with a question mark")]
    return []


def _pair_of_opposites(text: str) -> bool:
    pairs = (
        "good or bad",
        "big or small",
        "small or big",
        "large or small",
        "positive or negative",
        "small or large",
    )
    return any(pair in text for pair in pairs) or "one way or" in text or "gut oder schlecht" in text


def _leading(plain: str, spared: str, table: LanguageTable) -> list[Refusal]:
    for part in sentences(plain):
        core = _core(part, table)
        for pattern in table.leading:
            if match := pattern.search(core) or pattern.search(part):
                return [Refusal(code="leading", detail=f"“{match.group(0).strip()}”")]
    if table.leading_words and (match := table.leading_words.search(spared)):
        return [Refusal(code="leading", detail=f"“{match.group(0)}” judges")]
    return []


def _core(part: str, table: LanguageTable) -> str:
    """The sentence without conjunctions, acknowledgements and subordinate clauses in front of the question."""
    core = part.lstrip(" -–—,;:…¿¡\"“'")
    for _ in range(6):
        if table.auxiliaries.match(core) and not table.lead_ins.match(core):
            break
        match = table.lead_ins.match(core)
        if not match or match.end() == 0:
            break
        rest = core[match.end() :].lstrip()
        if not rest:
            break
        core = rest
    return core


def _is_request(part: str, table: LanguageTable) -> bool:
    core = _core(part, table)
    return bool(table.requests.match(core) or table.requests.match(part) or table.polite.match(core))


def _may_be_polite(core: str, table: LanguageTable) -> bool:
    """Whether the opening is, or may still become, a polite request."""
    if table.polite.match(core):
        return True
    said = core.split()
    if table is TABLES["de"]:
        return said[0] in (
            "können",
            "könnten",
            "würden",
            "möchten",
            "mögen",
            "kannst",
            "könntest",
            "würdest",
            "magst",
        )
    return (
        len(said) < 7
        and said[0] in ("can", "could", "would", "will", "might", "may")
        and (len(said) < 3 or (said[1] in ("you", "i", "we") and _polite_so_far(said)))
    )


_POLITE_STARTS = word_set(
    "tell describe walk talk take explain say share give help paint put think expand elaborate go bring "
    "remember recall "
    "name picture imagine hear show sketch unpack ask please perhaps maybe just kindly be like care try invite"
)


def _polite_so_far(said: Sequence[str]) -> bool:
    """Whether the verb after “could you …” is one that invites a story, or still to come."""
    if said[2] not in _POLITE_STARTS:
        return False
    return not {"if", "whether"} & set(said[3:])


def _repeated(
    text: str, window: Sequence[str], cosine: Similarity | None, least_jaccard: float, least_cosine: float
) -> list[Refusal]:
    for index, earlier in enumerate(window):
        overlap = jaccard(text, earlier)
        if overlap >= least_jaccard:
            return [Refusal(code="repeated", detail=f"word overlap {overlap:.2f} with “{earlier}”")]
        if cosine is None:
            continue
        if callable(cosine):
            similar = cosine(text, earlier)
        elif isinstance(cosine, Mapping):
            similar = cosine.get(earlier, 0.0)
        else:
            from_end = len(window) - index
            similar = cosine[-from_end] if from_end <= len(cosine) else 0.0
        if similar >= least_cosine:
            return [Refusal(code="repeated", detail=f"cosine {similar:.2f} with “{earlier}”")]
    return []
