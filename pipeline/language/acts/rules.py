"""Rules by which dialogue acts are read: the form of a language's file, and its patterns ready for matching."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field

from pipeline.acts import Act

LANGUAGES = ("en", "de", "ar")
ORDER: tuple[Act, ...] = (
    "risk",
    "distress",
    "wants_withdrawal",
    "wants_stop",
    "wants_pause",
    "minor",
    "personal_data",
    "corrects",
    "asks_back",
    "asks_interviewer",
    "complains",
    "declines",
    "wants_topic",
    "dont_know",
    "aside",
    "thanks_greets",
)
"""Which act a clause is, where several rules find it."""
_NAME = re.compile(r"<(\w+)>")


class RuleSpec(BaseModel):
    """One rule. All patterns are regular expressions, searched in the clause in lower case with plain apostrophes.

    `<name>` in a pattern stands for the fragment of that name under `fragments`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sure: str | None = Field(default=None, description="Pattern of a clause that is the act.")
    maybe: str | None = Field(default=None, description="Pattern of a clause that may be the act: it is asked back.")
    whole: bool = Field(default=False, description="The pattern must match the whole clause.")
    begins: bool = Field(default=False, description="Only in a clause with which a sentence begins.")
    alone: bool = Field(default=False, description="Only where the message has nothing but this act and fillers.")
    first: bool = Field(default=False, description="Only in the first clause.")
    last: bool = Field(default=False, description="Only in the last clause.")
    late: bool = Field(default=False, description="Only in one of the last three clauses.")
    question: bool | None = Field(default=None, description="Only in clauses that end with a question mark, or do not.")
    unless: str | None = Field(default=None, description="Not where this is found in the clause.")
    unless_around: str | None = Field(default=None, description="Not where this is found anywhere in the message.")
    asked: str | None = Field(default=None, description="Only where this is found in the question that was asked.")
    unless_asked: str | None = Field(default=None, description="Not where this is found in the question.")
    words: int | None = Field(default=None, description="Only in messages of at most so many words.")
    about: str = Field(default="", description="What narrows the act down, such as `machine`.")
    takes_next: bool = Field(default=False, description="The clause after it belongs to the act, too (a reason).")
    takes_previous: bool = Field(default=False, description="The clause before it belongs to the act, too.")


class RulesSpec(BaseModel):
    """A language's file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fragments: dict[str, str] = Field(default={}, description="Parts of patterns, by name.")
    ends: str = Field(description="Pattern of what ends a clause where there is punctuation.")
    breaks: str = Field(
        description="Pattern before which speech without punctuation is cut; it stays in the later part."
    )
    fillers: str = Field(description="Pattern of a whole clause that means nothing by itself.")
    quotes: tuple[str, ...] = Field(default=(), description="Patterns of other people's words; they are never an act.")
    acts: dict[Act, tuple[RuleSpec, ...]]


@dataclass(frozen=True)
class Rule:
    """A rule, compiled."""

    act: Act
    sure: bool
    pattern: re.Pattern[str]
    spec: RuleSpec
    unless: re.Pattern[str] | None
    unless_around: re.Pattern[str] | None
    asked: re.Pattern[str] | None
    unless_asked: re.Pattern[str] | None


@dataclass(frozen=True)
class Rules:
    """A language's rules, compiled; the first that finds a clause says what it is."""

    ends: re.Pattern[str]
    breaks: re.Pattern[str]
    fillers: re.Pattern[str]
    quotes: tuple[re.Pattern[str], ...]
    rules: tuple[Rule, ...]


@cache
def rules_for(language: str) -> Rules | None:
    """The rules of a language by its tag ("de", "de-AT"); None where there are none."""
    short = language.split("-")[0].lower()
    if short not in LANGUAGES:
        return None
    text = (files("pipeline.language.acts") / f"{short}.yaml").read_text(encoding="utf-8")
    return compiled(RulesSpec.model_validate(yaml.safe_load(text)))


def compiled(spec: RulesSpec) -> Rules:
    """The rules ready for matching. Raises ValueError: a pattern can't be read, or names no fragment."""
    fragments = dict(spec.fragments)

    def ready(pattern: str | None) -> re.Pattern[str] | None:
        return None if pattern is None else _compiled(pattern, fragments)

    def must(pattern: str) -> re.Pattern[str]:
        return _compiled(pattern, fragments)

    rules = (
        Rule(
            act,
            sure,
            must(pattern),
            rule,
            ready(rule.unless),
            ready(rule.unless_around),
            ready(rule.asked),
            ready(rule.unless_asked),
        )
        for act, rule, sure, pattern in _patterns(spec.acts)
    )
    return Rules(
        ends=must(spec.ends),
        breaks=must(spec.breaks),
        fillers=must(spec.fillers),
        quotes=tuple(must(pattern) for pattern in spec.quotes),
        rules=tuple(sorted(rules, key=_place)),
    )


def _place(rule: Rule) -> tuple[bool, bool, int]:
    """Where a rule stands among those that may find the same clause.

    A correction that is one only by what was asked comes last: “I prefer not to answer that.”
    """
    by_question = rule.act == "corrects" and rule.asked is not None
    return by_question, not rule.sure, ORDER.index(rule.act) if rule.act in ORDER else len(ORDER)


def _patterns(acts: Mapping[Act, tuple[RuleSpec, ...]]) -> Iterator[tuple[Act, RuleSpec, bool, str]]:
    for act, rules in acts.items():
        for sure in (True, False):
            for rule in rules:
                pattern = rule.sure if sure else rule.maybe
                if pattern is not None:
                    yield act, rule, sure, pattern


def _compiled(pattern: str, fragments: Mapping[str, str]) -> re.Pattern[str]:
    def fragment(match: re.Match[str]) -> str:
        if match[1] not in fragments:
            raise ValueError(f"there is no fragment {match[1]}")
        return f"(?:{expanded(fragments[match[1]])})"

    def expanded(text: str) -> str:
        # Named groups are written (?P<name>…): what follows "(?P" is no fragment.
        return re.sub(r"(?<!\(\?P)<(\w+)>", fragment, text)

    try:
        return re.compile(expanded(pattern))
    except (re.error, RecursionError) as exc:
        raise ValueError(f"the pattern {pattern!r} can't be read: {exc}") from exc


def loaded(data: Mapping[str, Any]) -> Rules:
    """Rules from the parsed content of a file. Raises ValueError."""
    return compiled(RulesSpec.model_validate(data))
