"""Reads the acts of a message by the rules of its language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pipeline.acts import AskedBack, HeardAct
from pipeline.language.acts.rules import Rule, Rules, rules_for
from pipeline.language.acts.unreadable import unreadable

LONGEST_NOTHING = 400
"""Characters beyond which nobody looks whether a message has words."""
LONGEST_CLAUSE = 400
"""Characters of a clause that are looked at; longer ones are stories."""
LATE = 3
"""Clauses from the end that are late in a message."""
ANSWERS = 5
"""Words of a clause from which on it is more than the rest of a question."""
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'"})
_HIDDEN = "\x00"
_CLOSING = " \t\r\n\"'”’»)!."


@dataclass(frozen=True)
class _Message:
    """A message as rules look at it, and the question that was asked; `said` are the clauses that are no fillers."""

    clauses: tuple[Clause, ...]
    said: tuple[int, ...]
    around: str
    words: int
    asked: str

    @classmethod
    def of(cls, text: str, question: str, rules: Rules) -> _Message:
        """The message, cut into clauses."""
        clauses = tuple(_clauses(text, rules))
        around = " ".join(clause.text for clause in clauses)
        said = tuple(position for position, clause in enumerate(clauses) if not clause.filler)
        return cls(clauses, said, around, len(around.split()), question.lower().translate(_APOSTROPHES))


@dataclass(frozen=True)
class Clause:
    """A part of the message, with what of it is looked at: lower case, other people's words hidden."""

    start: int
    end: int
    text: str
    filler: bool = False
    asks: bool = False
    """Whether it ends with a question mark."""
    begins: bool = True
    """Whether a sentence begins with it."""


class RuleReader:
    """Hears acts by the rules of each language."""

    async def read(self, text: str, question: str, language: str) -> tuple[HeardAct, ...]:
        """The acts of a message; as `acts_of`."""
        return acts_of(text, question, language)

    async def reply(self, text: str, question: str, asked: AskedBack, language: str) -> HeardAct | None:
        """None: what is answered is known by its words alone."""
        return None


def acts_of(text: str, question: str, language: str) -> tuple[HeardAct, ...]:
    """The acts of a message, in order; together they cover all of its words.

    Args:
        text: the message.
        question: what was asked.
        language: of the message, as a tag; in a language without rules everything tells.
    Returns:
        Acts whose spans do not overlap; `()` where everything tells.
    """
    rules = rules_for(language)
    if rules is None:
        return ()
    return not_said(text, language) or read(text, question, rules)


def not_said(text: str, language: str) -> tuple[HeardAct, ...]:
    """The act of a message without words: a lone question mark asks back, keys struck at random are no answer."""
    if not text or len(text) > LONGEST_NOTHING:
        return ()
    if set(text) <= set("?؟!. \n") and set(text) & set("?؟"):
        return (HeardAct(act="asks_back", start=0, end=len(text)),)
    if unreadable(text, language):
        return (HeardAct(act="aside", start=0, end=len(text), about="unreadable"),)
    return ()


def clauses_of(text: str, language: str) -> list[Clause]:
    """The clauses of a message, fillers among them; none in a language without rules."""
    rules = rules_for(language)
    return _clauses(text, rules) if rules is not None else []


def read(text: str, question: str, rules: Rules) -> tuple[HeardAct, ...]:
    """The acts of a message by these rules; as `acts_of`."""
    return joined(*heard_clauses(text, question, rules))


def heard_clauses(text: str, question: str, rules: Rules) -> tuple[tuple[Clause, ...], list[HeardAct | None]]:
    """The clauses of a message, and the act that each of them is by the rules, None for those that tell."""
    message = _Message.of(text, question, rules)
    found: list[HeardAct | None] = []
    taken: dict[int, Rule] = {}
    for number, clause in enumerate(message.clauses):
        heard = None if clause.filler else _heard(message, number, rules)
        found.append(heard[0] if heard else None)
        if heard:
            taken[number] = heard[1]
    _extend(message.clauses, found, taken)
    return message.clauses, found


def _heard(message: _Message, number: int, rules: Rules) -> tuple[HeardAct, Rule] | None:
    """The act of a clause by the first rule that finds one."""
    clause = message.clauses[number]
    for rule in rules.rules:
        match = _match(rule, message, number)
        if match is not None:
            heard = HeardAct(
                act=rule.act,
                start=clause.start,
                end=clause.end,
                sure=rule.sure,
                about=rule.spec.about,
                details=_details(match),
            )
            return heard, rule
    return None


def _details(match: re.Match[str]) -> dict[str, str]:
    """What the named groups of a pattern found; `topic2` is another place where `topic` may stand."""
    found: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value and value.strip():
            found.setdefault(name.rstrip("0123456789"), value.strip())
    return found


def _match(rule: Rule, message: _Message, number: int) -> re.Match[str] | None:
    spec, clause = rule.spec, message.clauses[number]
    if (
        (spec.first and number != message.said[0])
        or (spec.last and number != message.said[-1])
        or (spec.late and number not in message.said[-LATE:])
        or (spec.begins and not clause.begins)
        or (spec.alone and len(message.said) > 1)
        or (spec.words is not None and message.words > spec.words)
        or (spec.question is not None and spec.question != clause.asks)
    ):
        return None
    match = rule.pattern.fullmatch(clause.text) if spec.whole else rule.pattern.search(clause.text)
    if match is None:
        return None
    barred = (
        (rule.asked is not None and not rule.asked.search(message.asked))
        or (rule.unless_asked is not None and rule.unless_asked.search(message.asked))
        or (rule.unless is not None and rule.unless.search(clause.text))
        or (rule.unless_around is not None and rule.unless_around.search(message.around))
    )
    return None if barred else match


def _extend(clauses: Sequence[Clause], found: list[HeardAct | None], taken: dict[int, Rule]) -> None:
    """Give an act the neighbouring clause that belongs to it, such as the reason for a pause."""
    for number, rule in taken.items():
        for wanted, other in ((rule.spec.takes_next, number + 1), (rule.spec.takes_previous, number - 1)):
            if wanted and 0 <= other < len(clauses) and found[other] is None and not clauses[other].filler:
                heard = found[number]
                assert heard is not None
                if heard.act == "asks_back" and _answers(clauses[number], clauses[other]):
                    continue
                found[other] = heard.model_copy(
                    update={"start": clauses[other].start, "end": clauses[other].end, "details": {}}
                )


def _answers(question: Clause, after: Clause) -> bool:
    """Whether a clause after a question back answers what was asked: "You mean the call? I didn't want to go."."""
    return question.asks and not after.asks and after.start > question.start and len(after.text.split()) >= ANSWERS


def joined(clauses: Sequence[Clause], found: Sequence[HeardAct | None]) -> tuple[HeardAct, ...]:
    """One act per run of clauses of the same kind; fillers go with what they stand beside; `()` where all tell."""
    if not any(found):
        return ()
    acts: list[HeardAct] = []
    waiting: int | None = None
    for clause, heard in zip(clauses, found, strict=True):
        if clause.filler and heard is None:
            if acts:
                acts[-1] = acts[-1].model_copy(update={"end": clause.end})
            elif waiting is None:
                waiting = clause.start
            continue
        one = heard or HeardAct(act="tells", start=clause.start, end=clause.end)
        if waiting is not None:
            one = one.model_copy(update={"start": waiting})
            waiting = None
        if acts and (acts[-1].act, acts[-1].about) == (one.act, one.about):
            before = acts[-1]
            acts[-1] = before.model_copy(
                update={
                    "end": one.end,
                    "sure": before.sure or one.sure,
                    "details": {**one.details, **before.details},
                }
            )
        else:
            acts.append(one)
    return tuple(acts)


def _clauses(text: str, rules: Rules) -> list[Clause]:
    """The message cut at punctuation and before words that begin something else."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # Lower case has another length in a few alphabets; positions must stay those of the text.
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    plain = lowered.translate(_APOSTROPHES)
    hidden = plain
    for pattern in rules.quotes:
        hidden = pattern.sub(lambda match: _HIDDEN * len(match[0]), hidden)
    cuts = {0, len(text)}
    cuts.update(match.end() for match in rules.ends.finditer(plain))
    cuts.update(match.start() for match in rules.breaks.finditer(hidden))
    ordered = sorted(cuts)
    clauses: list[Clause] = []
    for start, end in pairwise(ordered):
        words = hidden[start:end].replace(_HIDDEN, " ")
        if not any(char.isalnum() for char in plain[start:end]):
            if clauses:
                clauses[-1] = replace(clauses[-1], end=end)
            continue
        said = " ".join(words.split()).strip(" .,;:!?…–-\"'()،؛؟«»“”„")[:LONGEST_CLAUSE]
        asks = plain[start:end].rstrip(_CLOSING).endswith(("?", "؟"))
        begins = not plain[:start].rstrip().endswith((",", ";", ":"))
        filler = rules.fillers.fullmatch(said) is not None
        clauses.append(Clause(start, end, said, filler=filler, asks=asks, begins=begins))
    return clauses
