"""What in an answer to a concept test leads back to the idea: a question, a doubt, a condition, a strong reaction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

import yaml

from pipeline.elements import Names, named
from pipeline.question.text import sentences, words

LeadKind = Literal["asks", "unclear", "unseen", "personal", "condition", "doubt", "against", "liking", "raised", "bare"]
"""The respondent asks something about the idea, has not understood it, has not noticed a part of it, comes to what it
would mean in their life, says on what it depends, doubts it, is against it, likes it, brings a part of it up; or says
so little that nobody knows why."""

QUOTED = 12
"""Words that are said back at the most."""
LEAST_QUOTED = 3
CHECKED = 5
"""Words of a statement with a question mark from which on it asks whether it is so; fewer only say something back."""
BRIEF = 8
"""Words of an answer up to which it gives no reason unless it says so."""
TAKES_UP = 9
"""Words of a question at the beginning of an answer up to which it may only take ours up."""
ASIDE = 5
"""Words of the next sentence up to which it answers a question that was not meant as one."""
ADDED = 25
"""Words behind “that's all” from which on somebody goes on telling."""
REASONED: Final[frozenset[LeadKind]] = frozenset({"condition", "doubt", "against", "liking"})
"""Leads after which the reason may be given."""
REASON_IN = 3
"""Sentences behind such a lead in which it is."""
TRAILING = 14
"""Words behind a question up to which it waits for an answer; who has gone on for longer has left it."""
OUTCRY = 3
"""Words of a question up to which somebody who goes on only exclaims: “Where's the bread?”"""
PERSONAL_IN = 30
"""Words behind a sentence up to which what it would mean in somebody's life is what an answer came to."""
STORY = 20
"""Words of an answer from which on it can be a story."""

LANGUAGES: Final = ("en", "de")
"""Languages in which leads are known, each with a file in `pipeline/question/data/leads`."""
_CLAUSES = re.compile(r"\s*(?:[,;:–—]|\s-\s|\s\(|\)\s)\s*")


@dataclass(frozen=True)
class Lead:
    """Something in an answer that is worth a question.

    Attributes:
        kind: what it is.
        words: the respondent's words, short enough to be said back; empty where none are.
        sentence: the whole sentence.
        elements: ids of the elements that the sentence names.
        last: whether “that” would be taken for it: it ends the answer.
        behind: words of the answer after it.
    """

    kind: LeadKind
    words: str
    sentence: str
    elements: tuple[str, ...] = ()
    last: bool = False
    behind: int = 0


@lru_cache(maxsize=256)
def leads_of(answer: str, names: Names, language: str) -> tuple[Lead, ...]:
    """The leads of an answer, in its order, one for a sentence at the most; none in languages that are not known.

    Args:
        answer: what was said.
        names: what the elements of the concept are called.
        language: code of the respondent's language.
    """
    rules = _rules(language)
    return tuple(_leads(answer, names, rules)) if rules else ()


def asks_of_idea(answer: str, language: str) -> bool:
    """Whether a message asks something about the idea, rather than about the interview or the question."""
    return any(lead.kind == "asks" for lead in leads_of(answer, (), language))


def asks_amount(question: str) -> bool:
    """Whether a question, in any language that is known, asks for a quantity."""
    return any(_rules(language)["amount"].search(_plain(question)) for language in LANGUAGES)


@lru_cache(maxsize=256)
def is_finished(answer: str, language: str) -> bool:
    """Whether an answer says that there is no more to say of what it is about, and does not go on all the same.

    So it is where an answer begins with that it was told before.
    """
    rules = _rules(language)
    if not rules:
        return False
    said = [_plain(sentence) for sentence in sentences(answer)]
    first = next((sentence for sentence in said if not sentence.endswith("?")), "")
    if rules["told"].search(first):
        return True  # It is told again all the same, which adds nothing to ask after.
    ends = [at for at, sentence in enumerate(said) if rules["finished"].search(sentence)]
    rest = said[ends[-1] + 1 :] if ends else []
    goes_on = sum(len(words(sentence)) for sentence in rest) > ADDED or any(rules["yet"].search(one) for one in rest)
    return bool(ends) and not goes_on


def is_bare(answer: str, language: str) -> bool:
    """Whether an answer is brief and gives no reason."""
    rules, said = _rules(language), _plain(answer)
    return bool(rules) and 0 < len(words(said)) <= BRIEF and not rules["reason"].search(said)


def subject_of(answer: str, names: Names) -> str | None:
    """The one element that a brief first sentence names, so that “it” stands for it in what follows."""
    told = sentences(answer)
    found = named(told[0], names) if len(told) > 1 and len(words(told[0])) <= BRIEF else ()
    return found[0] if len(found) == 1 else None


def judges(text: str, language: str) -> bool:
    """Whether a text says yes or no to something, or calls it good or bad."""
    rules = _rules(language)
    return bool(rules) and rules["verdict"].search(_plain(text)) is not None


def refers(text: str, language: str) -> bool:
    """Whether a text speaks of something by a mere “it” or “that”."""
    rules = _rules(language)
    return bool(rules) and rules["it"].search(_plain(text)) is not None


def tells_past(answer: str, names: Names, language: str) -> bool:
    """Whether an answer tells of what was, rather than of the idea: a story that names no part of it at its end."""
    rules = _rules(language)
    if not rules or len(words(answer)) < STORY:
        return False
    told = sentences(answer)
    return not named(_plain(told[-1]), names) and _is_story(told, rules)


def _is_story(told: Sequence[str], rules: dict[str, re.Pattern[str]]) -> bool:
    """Whether sentences tell of what was, at some length."""
    said = [_plain(sentence) for sentence in told]
    past, now = (sum(len(rules[time].findall(sentence)) for sentence in said) for time in ("past", "now"))
    return past > now and sum(len(words(sentence)) for sentence in said) >= STORY


def _leads(answer: str, names: Names, rules: dict[str, re.Pattern[str]]) -> Iterator[Lead]:
    told = sentences(answer)
    before: tuple[str, ...] = ()
    for at, sentence in enumerate(told):
        said = _plain(sentence)
        elements, before = _spoken_of(sentence, said, before, names, rules)
        if at == 0 and len(told) > 1 and said.endswith("?") and _takes_up(said, elements, rules):
            continue
        found = _kind(said, rules, bool(elements))
        more, behind = at + 1 < len(told), len(words(" ".join(told[at + 1 :])))
        personal = rules["personal"].search(said) if behind <= PERSONAL_IN else None
        answered = found is not None and found[0] in ("asks", "unclear", "unseen")
        if personal and not answered and not rules["no_personal"].search(said):
            found = "personal", personal.start()
        if found is None:
            continue
        kind, start = found
        unanswered = rules["unanswered"].search(said) is not None if "unanswered" in rules else False
        if kind in ("asks", "unseen") and behind > TRAILING and not unanswered:
            continue
        if kind == "asks" and more and len(words(sentence)) <= OUTCRY:
            continue
        if kind == "asks" and not elements and rules["of_somebody"].search(said) and not rules["one"].search(said):
            continue  # “How's she to know what I mean?”
        if kind == "asks" and not elements and _is_story(told, rules):
            continue  # “In a car, who will shout?”: what a story ends with is not asked of the description.
        if kind == "asks" and more and not unanswered and not sentence.rstrip().endswith(("?", "？")):
            continue  # What somebody would like to know, and goes on from, is told rather than asked.
        if kind == "asks" and more and not unanswered and _is_answered(sentence, told[at + 1], rules):
            continue
        if kind == "asks" and elements and more and not rules["asks"].search(_in_front(said, rules)):
            # What the description says, with a question mark, and then what is thought of it.
            after = _kind(_plain(told[at + 1]), rules, names_element=False)
            if after is not None and after[0] in ("doubt", "against"):
                yield Lead(after[0], "", sentence, elements, at + 2 == len(told))
                continue
        if kind == "asks" and more and not unanswered and not _is_put_as_question(said, rules):
            continue  # Who goes on after a statement with a question mark has only wondered aloud.
        if kind in REASONED and any(
            rules["because"].search(_plain(after)) for after in told[at + 1 : at + 1 + REASON_IN]
        ):
            continue  # Why that is so has been said.
        back = _question(sentence, said, start) if kind == "asks" else ""
        back = back or _said_back(sentence, said, start)
        back = (
            back[len(back) - len(rules["fillers"].sub("", _plain(back))) :] if back == " ".join(back.split()) else back
        )
        yield Lead(kind, back, sentence, elements, at == len(told) - 1, behind)


def _kind(said: str, rules: dict[str, re.Pattern[str]], names_element: bool) -> tuple[LeadKind, int] | None:
    """What a sentence is, and where the words begin that show it."""
    unseen = rules["unseen"].search(said)
    if unseen and (names_element or rules["one"].search(said)):
        return "unseen", unseen.start()
    unclear = rules["unclear"].search(said)
    if unclear and not rules["no_asks"].search(said):
        return "unclear", unclear.start()
    asks = _asks(said, rules)
    if asks is not None:
        # How much and how long stand in the description: who asks has not noticed.
        return ("unseen" if names_element and rules["amount"].search(said) else "asks"), asks
    kinds: tuple[LeadKind, ...] = ("doubt", "condition", "against", "liking")
    for kind in kinds:
        match, against = rules[kind].search(said), rules.get(f"no_{kind}")
        if match and not (against and against.search(said)):
            if kind == "condition" and rules["refusal"].search(said):
                return "against", match.start()  # What would have to be for them to be against it.
            return kind, match.start()
    stops = rules["stops"].search(said) if names_element else None
    return ("raised", stops.start()) if stops else None


def _asks(said: str, rules: dict[str, re.Pattern[str]]) -> int | None:
    """Where a question about the idea begins; it may come behind a comma."""
    if rules["no_asks"].search(said):
        return None
    starts = [0, *(found.end() for found in _CLAUSES.finditer(said))]
    for start in starts:
        bare = rules["fillers"].sub("", said[start:])
        match = rules["asks"].search(bare)
        if match and len(words(bare)) >= LEAST_QUOTED:
            return len(said) - len(bare) + match.start()
    return 0 if said.endswith("?") and len(words(said)) >= CHECKED else None


def _in_front(said: str, rules: dict[str, re.Pattern[str]]) -> str:
    return rules["fillers"].sub("", said)


def _is_put_as_question(said: str, rules: dict[str, re.Pattern[str]]) -> bool:
    """Whether a sentence has a clause that asks by its words, rather than by its mark alone."""
    starts = [0, *(found.end() for found in _CLAUSES.finditer(said))]
    return any(rules["asks"].search(_in_front(said[start:], rules)) for start in starts)


def _is_answered(question: str, following: str, rules: dict[str, re.Pattern[str]]) -> bool:
    """Whether the sentence behind a question answers it, so that it was not meant as one."""
    said = _plain(following)
    if rules["asks_indeed"].search(_plain(question)):
        return False
    if rules["because"].search(said):
        return rules["why"].search(_plain(question)) is not None  # Else it says why that is asked.
    if rules["answers_itself"].search(said):
        return True
    goes_on = said.endswith("?") or rules["asks"].search(said) or rules["of_oneself"].search(said)
    return len(words(said)) <= ASIDE and not goes_on


def _spoken_of(
    sentence: str, said: str, before: tuple[str, ...], names: Names, rules: dict[str, re.Pattern[str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The elements that a sentence is about, and those that a “that” in the next one may stand for.

    Of several the one that the sentence before it was about; where it names none, that one, if it says “it” or “that”.
    """
    own = named(sentence, names)
    again = tuple(name for name in own if name in before)
    if len(own) > 1 and len(again) == 1:
        return again, again
    if not own and len(before) == 1 and rules["stands_for"].search(said):
        return before, ()
    return own, own


def _takes_up(said: str, elements: tuple[str, ...], rules: dict[str, re.Pattern[str]]) -> bool:
    """Whether a question that begins an answer takes up what was asked: “What bothers me?”, “If it's true?”"""
    if len(words(said)) > TAKES_UP or rules["asks_indeed"].search(said):
        return False
    if rules["takes_up"].search(said):
        return True
    return not elements or not _is_put_as_question(said, rules)


def _question(sentence: str, said: str, start: int) -> str:
    """The question at the end of a sentence, without what leads to it; empty where that can't be told apart."""
    asked = " ".join(sentence.split())[start:]
    same = len(said) == len(" ".join(sentence.split()))
    return asked if same and asked.endswith("?") and LEAST_QUOTED <= len(words(asked)) <= QUOTED else ""


def _said_back(sentence: str, said: str, start: int) -> str:
    """The part of a sentence that shows a lead, as it was written; empty where it is too long or too short."""
    whole = sentence.strip().rstrip(".!…").strip()
    if len(words(whole)) <= QUOTED:
        parts = [whole]
    else:
        shows = words(said[start:])[:2]
        parts = [part for part in _CLAUSES.split(whole) if _contains(words(part), shows)]
    fitting = [
        part for part in parts if LEAST_QUOTED <= len(words(part)) <= QUOTED and "“" not in part and '"' not in part
    ]
    return fitting[0] if fitting else ""


def _contains(whole: Sequence[str], part: Sequence[str]) -> bool:
    return any(list(whole[at : at + len(part)]) == list(part) for at in range(len(whole)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


@lru_cache(maxsize=32)
def _rules(language: str) -> dict[str, re.Pattern[str]]:
    """The expressions of a language by what they show; none for one that is not known."""
    code = language.casefold().split("-")[0]
    if code not in LANGUAGES:
        return {}
    text = files("pipeline.question").joinpath(f"data/leads/{code}.yaml").read_text("utf-8")
    found: dict[str, list[str]] = yaml.safe_load(text)
    rules = {name: re.compile("|".join(f"(?:{part})" for part in parts)) for name, parts in found.items()}
    return {**rules, "fillers": re.compile(rf"^(?:{'|'.join(found['fillers'])})+")}
