"""Text that no question may contain: refusals, talk about its writer, insults, requests for personal data.

The words and patterns stand in `data/unacceptable`, one YAML file per language. English ones always apply, because
language models fall back on English; those of the respondent's language apply besides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipeline.errors import WordListInvalid
from pipeline.question.refusals import Refusal
from pipeline.question.unions import union

LANGUAGES = ("en", "de", "fr", "es", "nl", "it", "tr", "ar")
"""Languages that have a file, by the first two letters of their code."""
FOLDER = "data/unacceptable"

_EXCUSING_WORDS = 5
"""Words behind a refusal that may make it none."""
_SENTENCE_END = re.compile(r"[.?!]")

AFTER, END = "{after}", "{end}"
"""What a pattern for personal data may contain; `LanguageRules` says what for."""


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern.replace(AFTER, "").replace(END, ""))
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


def _filled(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if not entries:
        raise ValueError("the list is empty")
    return entries


Pattern = Annotated[str, Field(min_length=1), AfterValidator(_compiles)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Rule(_Strict):
    """A regular expression: either a plain string, or `before`, one of `any_of`, and `after`."""

    before: str = ""
    any_of: tuple[Pattern, ...] = Field(default=(), strict=False)
    after: str = ""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        if isinstance(data, str):
            if not data:
                raise ValueError("the pattern is empty")
            return {"before": data}
        if isinstance(data, dict) and not data.get("any_of"):
            raise ValueError("any_of is missing or empty")
        return data

    @model_validator(mode="after")
    def _whole_compiles(self) -> Rule:
        _compiles(self.source)
        return self

    @property
    def source(self) -> str:
        """The regular expression."""
        return self.before + (f"(?:{'|'.join(self.any_of)})" if self.any_of else "") + self.after


class StatementRule(_Strict):
    """How a sentence begins that states something: a subject before one of `verbs`, or before none of `not_before`."""

    subject: Pattern
    verbs: tuple[Pattern, ...] = Field(default=(), strict=False)
    not_before: tuple[Pattern, ...] = Field(default=(), strict=False)

    @model_validator(mode="after")
    def _one_list(self) -> StatementRule:
        if bool(self.verbs) == bool(self.not_before):
            raise ValueError("one of verbs and not_before is needed, and not both")
        return self

    @property
    def source(self) -> str:
        """The regular expression of subject and verb."""
        if self.verbs:
            return f"{self.subject} (?:{'|'.join(self.verbs)})"
        return rf"{self.subject} (?!{'|'.join(self.not_before)})\w+"


class LanguageRules(_Strict):
    """One file. Patterns are searched for in lower-case text with straight apostrophes.

    `about_itself`: the writer refuses, offers help, or speaks of itself. `statements`: beginnings of sentences that
    tell something of the writer's own; they apply in this language only. `personal_data`: requests for what is nobody's
    business. In them `{after}` stands for the end of the request (a mark, or one of `words_after_data` of any
    language), `{end}` for the end of the text, which counts only where nothing more follows. `slurs`: insults wherever
    they stand; `swearing`: insults unless the respondent said them; both are whole words. `insults`:
    further patterns, unless they are the respondent's words in quotation marks.
    `beyond_hearing`: what is more than that something was heard: praise, advice, comfort, a promise. `never_said`: what
    no interviewer says anywhere: advice, promises, that it is a person; `diagnoses`: the same, unless the respondent
    used the words.
    """

    about_itself: Annotated[tuple[Rule, ...], AfterValidator(_filled)] = Field(strict=False)
    statements: tuple[StatementRule, ...] = Field(default=(), strict=False)
    personal_data: Annotated[tuple[Rule, ...], AfterValidator(_filled)] = Field(strict=False)
    words_after_data: tuple[Pattern, ...] = Field(default=(), strict=False)
    slurs: Annotated[tuple[Pattern, ...], AfterValidator(_filled)] = Field(strict=False)
    swearing: tuple[Pattern, ...] = Field(default=(), strict=False)
    insults: tuple[Rule, ...] = Field(default=(), strict=False)
    beyond_hearing: tuple[Pattern, ...] = Field(default=(), strict=False)
    never_said: tuple[Rule, ...] = Field(default=(), strict=False)
    diagnoses: tuple[Pattern, ...] = Field(default=(), strict=False)


def language_rules(text: str, file: str) -> LanguageRules:
    """The rules of a file.

    Args:
        text: the file's content.
        file: how the file is called in messages.
    Raises:
        WordListInvalid: it is not YAML, has an unknown key, an empty entry, or a pattern that does not compile; the
            message names the file and the key.
    """
    try:
        return LanguageRules.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise WordListInvalid(f"{file}: not YAML: {error}") from error
    except ValidationError as error:
        problems = (f"{file}: {_key(found['loc'])}: {found['msg']}" for found in error.errors(include_url=False))
        raise WordListInvalid("\n".join(problems)) from error


def _key(location: Iterable[str | int]) -> str:
    """A place in a file: `personal_data[0].any_of[2]`."""
    key = ""
    for part in location:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key or "the file"


@lru_cache(maxsize=len(LANGUAGES))
def _packaged(code: str) -> LanguageRules:
    """The rules that come along for one of LANGUAGES."""
    name = f"{FOLDER}/{code}.yaml"
    return language_rules(files("pipeline.question").joinpath(name).read_text("utf-8"), f"pipeline/question/{name}")


@dataclass(frozen=True)
class UnacceptableText:
    """The rules that apply in one language, compiled.

    `statement` matches the beginning of a sentence; all others are searched for. `personal_data` are requests in a
    whole text, `personal_data_so_far` those in a text that may go on.
    """

    about_itself: re.Pattern[str]
    statement: re.Pattern[str] | None
    personal_data: re.Pattern[str]
    personal_data_so_far: re.Pattern[str]
    slurs: re.Pattern[str]
    insults: re.Pattern[str]
    swearing: re.Pattern[str]
    beyond_hearing: re.Pattern[str]
    never_said: re.Pattern[str]
    diagnoses: re.Pattern[str]


@lru_cache(maxsize=64)
def unacceptable_text(language: str) -> UnacceptableText:
    """The rules for a language code: English ones and its own. Raises WordListInvalid."""
    own = language.casefold()[:2]
    applied = [_packaged(code) for code in dict.fromkeys(("en", own)) if code in LANGUAGES]
    statements = _packaged(own).statements if own in LANGUAGES else ()
    requests = _joined(rule for rules in applied for rule in rules.personal_data).replace(AFTER, _after_data())
    return UnacceptableText(
        about_itself=union(_joined(rule for rules in applied for rule in rules.about_itself)),
        statement=re.compile(rf"(?:{_joined(statements)})\s+\w+") if statements else None,
        personal_data=union(requests.replace(END, r"|\s*$")),
        personal_data_so_far=union(requests.replace(END, "")),
        slurs=union(_whole_words(word for rules in applied for word in rules.slurs)),
        insults=union(*(rule.source for rules in applied for rule in rules.insults)),
        swearing=union(_whole_words(word for rules in applied for word in rules.swearing)),
        beyond_hearing=union(*(pattern for rules in applied for pattern in rules.beyond_hearing)),
        never_said=union(*(rule.source for rules in applied for rule in rules.never_said)),
        diagnoses=union(*(pattern for rules in applied for pattern in rules.diagnoses)),
    )


def _after_data() -> str:
    """What has to follow a kind of personal data, so that `your card` is not found in `your card game`."""
    following = "|".join(word for code in LANGUAGES for word in _packaged(code).words_after_data)
    return rf"(?=\s*[?.,;:!)\"”]|\s+(?:{following})\b{END})"


def _joined(rules: Iterable[Rule | StatementRule]) -> str:
    return "|".join(rule.source for rule in rules)


def _whole_words(words: Iterable[str]) -> str:
    return rf"\b(?:{'|'.join(words)})\b"


def self_refusals(plain: str, language: str, *, whole: bool) -> list[Refusal]:
    """Whether a text refuses, offers help, or speaks of who wrote it.

    Args:
        plain: normalised, quotations masked.
        language: code of the respondent's language.
        whole: nothing more comes; else what the next two words may excuse is accepted.
    """
    match = unacceptable_text(language).about_itself.search(plain)
    if match is None or (not whole and _may_be_excused(plain, match)):
        return []
    return [Refusal(code="refusal", detail=f"“{match.group(0).strip()}”")]


def may_refuse(plain: str, language: str) -> bool:
    """Whether the next two words tell if a beginning refuses: “I can't tell” may become “I can't tell you.”"""
    match = unacceptable_text(language).about_itself.search(plain)
    return match is not None and _may_be_excused(plain, match)


def _may_be_excused(plain: str, match: re.Match[str]) -> bool:
    rest = plain[match.end() :]
    return len(rest.split()) < _EXCUSING_WORDS and not _SENTENCE_END.search(rest)


def overstepping_refusals(plain: str, spared: str, language: str) -> list[Refusal]:
    """Whether a text advises, promises, diagnoses, or claims that a person writes it.

    Args:
        plain: normalised, quotations masked.
        spared: the same, with the respondent's words masked.
        language: code of the respondent's language.
    """
    rules = unacceptable_text(language)
    match = rules.never_said.search(plain) or rules.diagnoses.search(spared)
    return [Refusal(code="unsafe", detail=f"“{match.group(0).strip(' .,:!?')}” is not for you to say")] if match else []


def statement_refusals(sentences: list[str], language: str) -> list[Refusal]:
    """Whether one of some normalised sentences tells something of its own instead of asking."""
    rule = unacceptable_text(language).statement
    for sentence in sentences if rule else ():
        assert rule is not None
        if match := rule.match(sentence):
            return [Refusal(code="not_a_question", detail=f"“{match.group(0)}” begins a statement")]
    return []


_TO_YOU = ("you ", "sie ")
"""How words begin that may be the respondent's own, turned round."""


def beyond_hearing_refusals(plain: str, spared: str, language: str) -> list[Refusal]:
    """Whether a text praises, advises, comforts or promises, where it should only show that something was heard.

    “You can still get down on the floor.” says back what they can, and advises nothing.

    Args:
        plain: normalised, quotations masked.
        spared: the same, with the respondent's words masked.
        language: code of the respondent's language; English, German and Arabic have lists.
    """
    found = (match[0].strip() for match in unacceptable_text(language).beyond_hearing.finditer(plain))
    kept = [words for words in found if not words.startswith(_TO_YOU) or f"{words} q q" not in spared]
    return [Refusal(code="leading", detail=f"“{words}” says more than that it was heard") for words in kept[:1]]


def may_ask_for_data(plain: str, language: str) -> bool:
    """Whether a beginning asks for personal data if it ends here, which the next word will tell."""
    return bool(unacceptable_text(language).personal_data.search(plain))


def unsafe_refusals(plain: str, own_quotes_spared: str, language: str, *, whole: bool) -> list[Refusal]:
    """Whether a text insults, swears, or asks for personal data.

    Args:
        plain: lower case, white space collapsed, quotations kept.
        own_quotes_spared: the same; inside quotations the respondent's words are masked.
        language: code of the respondent's language.
        whole: nothing more comes.
    """
    rules = unacceptable_text(language)
    quoted = rules.swearing.search(own_quotes_spared) or rules.insults.search(own_quotes_spared)
    if match := rules.slurs.search(plain) or quoted:
        return [Refusal(code="unsafe", detail=f"“{match.group(0)}” insults")]
    if match := (rules.personal_data if whole else rules.personal_data_so_far).search(plain):
        return [Refusal(code="unsafe", detail=f"“{match.group(0).strip()}” asks for personal data")]
    return []
