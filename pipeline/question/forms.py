"""The form of a question: how many there are, open or closed, neutral or leading.

Everything here works on text that went through `normalise`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from pipeline.question.patterns import CLOSED_GENERIC, TABLES, LanguageTable, word_set
from pipeline.question.refusals import Refusal
from pipeline.question.text import sentences
from pipeline.question.unions import union

_SCENES = (
    "think ", "please think ", "picture ", "imagine ", "take me back ", "put yourself ",
    "denken sie ", "stellen sie sich ", "versetzen sie sich ",
)  # fmt: skip
_BEHIND = re.compile(r": | [–—-] |, (?=(?:tell|describe|take|walk|talk) (?:me|us)\b)")
"""What stands between words and the request behind them."""
_GENTLE = re.compile(r"do(?:n't| not)?(?: (?:take|rush|hurry|worry)\b|$)")
"""What begins like a closed question, and is none: “Do take your time.”, “Don't rush.”"""
_AND_WHAT = re.compile(r"[,;\s–—-]*and (?:what|how|where)")
_OF_IT = re.compile(
    r"\s+(?:you|he|she|it|they|we|that|this|your|his|her|their|the)\b[^?]*\b(?:it|that|this|them|him|her|there|then)\W*$"
    r"|\s+(?:it|that|this) (?:turned out|ended|began|started|went|came (?:about|to that)|worked out)\b"
)
_INTEREST = re.compile(
    r"i(?:'d| would) (?:love|like) to (?:understand|hear|know|learn) (?:that|this|it|more)\b[^?,:;]*\.$"
)
_COMPASSION = re.compile(
    r"(?:^|[.!] )(?:that|it|this) (?:sounds|must feel) (?:really |so |pretty )?(?:terrible|awful|horrible|"
    r"horrendous|dreadful|"
    r"shocking)(?: for \w+(?: of \w+)?)?(?=[.,])"
)
"""A brief human acknowledgement of something bad."""
_PROBE_WORDS, _ECHO_WORDS = 3, 5
_EXCUSED = re.compile(r"(?:\b(?:i|we) think|\bof course)$")
_TOLD_WORDS = 8
"""Words behind “and what” that may make a question a statement: “Who reads this, and what for, that I don't know.”"""
_ADDRESSED = re.compile(r"\b(?:you|your|so|right|sie|ihr|ihre|du|dein)\b")
QUESTION_MARKS = re.compile(r"[?؟？]")


def table_of(language: str) -> LanguageTable | None:
    """What is known of a language's forms; none for a language without a table."""
    return TABLES.get(language.casefold()[:2])


def whole_refusals(plain: str, language: str) -> list[Refusal]:
    """Refusals about how many questions there are and of which form.

    Args:
        plain: the whole text, normalised.
        language: code of the respondent's language.
    """
    table = table_of(language)
    parts = sentences(plain)
    marked = [part for part in parts if QUESTION_MARKS.search(part)]
    if table and len(marked) > 1 and (_is_probe(marked[0], table) or _is_echo(marked[0], table)):
        # “And then? What did you click?”, “Four times? What happened on the fourth?”
        parts = parts[parts.index(marked[0]) + 1 :]
        plain, marked = " ".join(parts), marked[1:]
    if table is None:
        generic = CLOSED_GENERIC.get(language.casefold()[:2])
        if len(QUESTION_MARKS.findall(plain)) > 1:
            return [Refusal(code="double", detail="more than one question mark")]
        if not marked:
            return [Refusal(code="not_a_question", detail="no question mark")]
        if generic and any(generic.match(part) for part in marked):
            return [Refusal(code="closed", detail="begins like a yes-or-no question")]
        return []
    requests = [part for part in parts if part not in marked and is_request(part, table)]
    asks = [*requests, *marked]
    found: list[Refusal] = []
    if len(QUESTION_MARKS.findall(plain)) > 1 or not _is_one(parts, requests):
        found.append(Refusal(code="double", detail="more than one question"))
    if not asks:
        return [*found, Refusal(code="not_a_question", detail="nothing is asked")]
    for part in asks:
        found += _double_inside(part, table)
        found += _closed(part, table)
    return found


def _is_one(parts: Sequence[str], requests: Sequence[str]) -> bool:
    """Whether requests and questions are one: a request may be followed by the question that it leads to."""
    asks = [part for part in requests if not sets_a_scene(part)]
    if len(asks) > 1:
        return False
    asked = next((number for number, part in enumerate(parts) if QUESTION_MARKS.search(part)), len(parts))
    return not asks or parts.index(asks[0]) < asked


def beginning_refusals(plain: str, language: str) -> list[Refusal]:
    """Refusals about the form that hold for a text and for everything that continues it.

    A polite form ("Could you tell me …") needs up to seven words; until then a beginning of one is accepted.
    """
    table = table_of(language)
    if table is None:
        generic = CLOSED_GENERIC.get(language.casefold()[:2])
        if generic and generic.match(plain) and len(plain.split()) >= 2:
            return [Refusal(code="closed", detail="begins like a yes-or-no question")]
        return []
    parts = sentences(plain)
    current = parts[-1] if parts else ""
    asked = [part for part in parts[:-1] if QUESTION_MARKS.search(part)]
    asked = asked[1:] if asked and (_is_probe(asked[0], table) or _is_echo(asked[0], table)) else asked
    requested = [part for part in parts[:-1] if is_request(part, table) and not sets_a_scene(part)]
    core = _core(current, table)
    found: list[Refusal] = []
    if (asked and table.interrogatives.match(core)) or ((asked or requested) and is_request(current, table)):
        found.append(Refusal(code="double", detail="a second question begins"))
    if not _is_open(_second(current, table), current, _TOLD_WORDS):
        found += _double_inside(current, table)
    head = table.auxiliaries.match(core)
    if head and not _may_be_polite(core, table) and not _GENTLE.match(core):
        found.append(Refusal(code="closed", detail=f"begins with “{head.group(0)}”"))
    suggesting = _suggesting(core, current, _leading_so_far(table))
    if suggesting and not _may_suggest_nothing(suggesting):
        found.append(_suggested(suggesting))
    return found


def may_be_refused(plain: str, language: str) -> bool:
    """Whether the next words tell if a beginning, which `beginning_refusals` accepts, asks twice or suggests.

    “Who reads this, and what for” may become “…, that I don't know.”, and “I think” “I think I see.”
    """
    table = table_of(language)
    if table is None:
        return False
    current = (sentences(plain) or [""])[-1]
    suggesting = _suggesting(_core(current, table), current, _leading_so_far(table))
    return _is_open(_second(current, table), current, _TOLD_WORDS) or _may_suggest_nothing(suggesting)


def _may_suggest_nothing(match: re.Match[str] | None) -> bool:
    """Whether words still to come tell if “I think” or “of course” suggest anything: “Of course, that stays.”"""
    return match is not None and bool(_EXCUSED.search(match[0])) and _is_open(match, match.string, 6)


def _is_open(match: re.Match[str] | None, text: str, words: int) -> bool:
    """Whether fewer than so many words are behind what was found, and the sentence goes on."""
    if match is None:
        return False
    rest = text[match.end() :]
    return len(rest.split()) < words and not QUESTION_MARKS.search(rest)


def leading_refusals(plain: str, language: str) -> list[Refusal]:
    """A text that suggests its answer."""
    table = table_of(language)
    for part in sentences(plain) if table else ():
        assert table is not None
        if suggesting := _suggesting(_core(part, table), part, _leading(table)):
            return [_suggested(suggesting)]
    return []


Rules = tuple[re.Pattern[str], re.Pattern[str]]


@cache
def _leading(table: LanguageTable) -> Rules:
    return _parted(table.leading)


@cache
def _leading_so_far(table: LanguageTable) -> Rules:
    return _parted([pattern for pattern in table.leading if not pattern.pattern.endswith("$")])


def _parted(patterns: Iterable[re.Pattern[str]]) -> Rules:
    """The patterns that refer to the beginning of the question (with `^`), and the others, each joined to one."""
    sources = [pattern.pattern for pattern in patterns]
    return union(*(s for s in sources if "^" in s)), union(*(s for s in sources if "^" not in s))


def _suggesting(core: str, part: str, rules: Rules) -> re.Match[str] | None:
    anchored, floating = rules
    return anchored.search(core) or anchored.search(part) or floating.search(part)


def _suggested(match: re.Match[str]) -> Refusal:
    return Refusal(code="leading", detail=f"“{match.group(0).strip()}”")


def loaded_refusals(spared: str, language: str) -> list[Refusal]:
    """A word that judges and is not the respondent's own."""
    table = table_of(language)
    if table and table.leading_words and (match := table.leading_words.search(_COMPASSION.sub(" ", spared))):
        return [Refusal(code="leading", detail=f"“{match.group(0)}” judges")]
    return []


def sets_a_scene(part: str) -> bool:
    """Whether a sentence prepares a question without being one: “Think of the last time …”."""
    return part.startswith(_SCENES) or bool(_INTEREST.match(part))


def _double_inside(part: str, table: LanguageTable) -> list[Refusal]:
    match = _second(part, table)
    return [Refusal(code="double", detail=f"“{match.group(0).strip()}” begins a second question")] if match else []


def _second(part: str, table: LanguageTable) -> re.Match[str] | None:
    """Where a second question begins in a sentence."""
    spared = table.double_spared.sub(" ", part)
    if not table.interrogatives.search(part) and not table.auxiliaries.search(part):
        return None
    for pattern in table.double:
        match = pattern.search(spared)
        asked_before = match and (
            table.interrogatives.search(spared[: match.start()])
            or table.auxiliaries.match(_core(spared[: match.start()] + " ", table))
            or is_request(spared, table)
        )
        if match and asked_before and not _is_told_of(match, spared, part, table):
            return match
    return None


def _is_told_of(match: re.Match[str], spared: str, part: str, table: LanguageTable) -> bool:
    """Whether a second part is told of beside a first: “Tell me about the bill and what you did with it.”"""
    named = not table.interrogatives.search(spared[: match.start()])
    follows = _AND_WHAT.fullmatch(match[0]) and _OF_IT.match(spared, match.end())
    return named and bool(follows) and is_request(part, table)


def _closed(part: str, table: LanguageTable) -> list[Refusal]:
    core = _core(part, table)
    for pattern in table.closed:
        if match := pattern.search(core) or pattern.search(part):
            if _pair_of_opposites(match.group(0)):
                continue
            return [Refusal(code="closed", detail=f"“{match.group(0).strip()}” offers the answers")]
    if table.polite.match(core) or is_request(part, table):
        return []
    if match := table.auxiliaries.match(core):
        return [Refusal(code="closed", detail=f"begins with “{match.group(0)}”")]
    if not table.interrogatives.search(part) and not (table.probes and table.probes.match(part)):
        return [Refusal(code="closed", detail="a statement with a question mark")]
    return []


def _is_probe(part: str, table: LanguageTable) -> bool:
    """Whether a question is so short that the next one only says it again in full."""
    return bool(table.probes and len(part.split()) <= _PROBE_WORDS and table.probes.match(part))


def _is_echo(part: str, table: LanguageTable) -> bool:
    """Whether some words are only said back, with a question mark: no question word, no verb in front, no “you”."""
    told = part.split()
    return (
        len(told) <= _ECHO_WORDS
        and not table.interrogatives.search(part)
        and not table.auxiliaries.match(_core(part, table))
        and not _ADDRESSED.search(part)
    )


_OF_WHAT_WAS_SAID = re.compile(
    r"^\W*(?:(?:add|put right|put differently|weigh differently|weigh|say differently|change|leave out|take back)"
    r"|(?:(?:with|about|to) )?(?:him|her|it|that|them|this) or otherwise"
    r"|(?:to|about|on) (?:that|this|it|them|him|her) or (?:(?:to|about|on) )?anything else)\b"
    r"|\bor (?:put (?:right|differently)|weigh (?:it )?differently|say differently|take back)\W*$",
    re.IGNORECASE,
)
"""What a last question leaves open in several words: “What would you add, put right or weigh differently?”"""


def _pair_of_opposites(text: str) -> bool:
    if _OF_WHAT_WAS_SAID.search(text.lstrip(", ")):
        return True
    pairs = (
        "good or bad",
        "big or small",
        "small or big",
        "large or small",
        "positive or negative",
        "small or large",
    )
    return any(pair in text for pair in pairs) or "one way or" in text or "gut oder schlecht" in text


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


def is_request(part: str, table: LanguageTable) -> bool:
    """Whether a sentence asks for a story without being a question."""
    # “That third glass: tell me about it.”, “You told her so – tell me more.” ask behind what they are about.
    behind = _BEHIND.split(part, maxsplit=1)[-1]
    core = _core(part, table)
    asks = any(table.requests.match(text) for text in (core, part, behind) if text)
    return asks or bool(table.polite.match(core))


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
    if said[0] in ("is", "was"):
        return said[1:2] in ([], ["there"]) and len(said) < 3
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
