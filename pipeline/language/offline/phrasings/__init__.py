"""Fixed sentences of the offline question writer, one file per language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from pipeline.question.phrases import PhraseKind

FALLBACK = "en"
LANGUAGES = ("en", "de", "ar")


class Hint(BaseModel):
    """Words that hold something back, and the question for it; `{x}` is what the pattern calls x.

    `wished` says that they ask to be asked for it, which goes before anything else.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    said: str
    ask: str
    wished: bool = False


class OwnProbe(BaseModel):
    """Clauses in the second person that have a probe of their own, and what saying one back gains by it, 0 to 3."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    said: str
    ask: str
    gains: float = Field(ge=0, le=3)


ToldAs = Literal["past", "present", "imagined"]
"""When what is said back is so."""


class AfterEcho(BaseModel):
    """What is asked after a sentence was said back that tells of what was, of what is, and of what would be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    past: tuple[str, ...] = Field(min_length=1)
    present: tuple[str, ...] = ()
    imagined: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.past, *self.present, *self.imagined)


class LanguagePhrasing(BaseModel):
    """The fixed sentences of one language; `{x}` is the respondent's phrase, `{topic}` the concept's name,
    `{element}` an element of the concept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    acknowledgements: tuple[str, ...] = ()
    acknowledgements_loss: tuple[str, ...] = ()
    acknowledgements_loss_of: tuple[str, ...] = ()
    family: str = "(?!)"
    of_others: str = "(?!)"
    after_loss: tuple[str, ...] = ()
    after_loss_of_him: tuple[str, ...] = ()
    after_loss_of_her: tuple[str, ...] = ()
    remembers_him: tuple[str, ...] = ()
    remembers_her: tuple[str, ...] = ()
    women: str = "(?!)"
    men: str = "(?!)"
    confides: str = "(?!)"
    acknowledgements_confided: tuple[str, ...] = ()
    apologises: str = "(?!)"
    acknowledgements_apology: tuple[str, ...] = ()
    wept: str = "(?!)"
    harmed: str = "(?!)"
    grumbles: str = "(?!)"
    tired_of_more: str = "(?!)"
    echo_weary: str = "(?!)"
    weary_of_more: str = "(?!)"
    thanks: tuple[str, ...] = ()
    quotes: bool = True
    mention_object: tuple[str, ...] = ()
    mention_quote: tuple[str, ...] = Field(min_length=1)
    mention_clause: tuple[str, ...] = ()
    bridge_clause: tuple[str, ...] = ()
    distant_clause: tuple[str, ...] = ()
    bridge_object: tuple[str, ...] = ()
    bridge_quote: tuple[str, ...] = Field(min_length=1)
    distant_object: tuple[str, ...] = ()
    distant_quote: tuple[str, ...] = ()
    elements: tuple[str, ...] = Field(min_length=2)
    easier_focus: tuple[str, ...]
    easier_topic: tuple[str, ...]
    skipped: tuple[str, ...]
    probes: tuple[str, ...] = Field(min_length=2)
    any_focus: tuple[str, ...]
    any_topic: tuple[str, ...] = Field(min_length=7)
    openings: tuple[str, ...]
    presenting: tuple[str, ...] = Field(min_length=2)
    closings: tuple[str, ...]
    closings_heavy: tuple[str, ...] = ()
    closings_back: tuple[str, ...] = ()
    closings_after: tuple[str, ...] = ()
    over_already: str = "(?!)"
    not_over: str = ""
    closings_after_back: tuple[str, ...] = ()
    rephrase: tuple[str, ...]
    rephrase_topic: tuple[str, ...]
    dont_know: str
    keep_case: bool = False
    burden: str = "(?!)"
    relief: str = "(?!)"
    loss: str = "(?!)"
    since_loss: str = "(?!)"
    expected: str = "(?!)"
    lost_it: str = "(?!)"
    gone_long: str = "(?!)"
    mourned: str = "(?!)"
    laughs: str = "(?!)"
    retells: str = "(?!)"
    reflects: str = "(?!)"
    exhausted: str = "(?!)"
    planned: str = "(?!)"
    supposes: str = "(?!)"
    introduces: str = "(?!)"
    turning: str = "(?!)"
    contradicts: str = "(?!)"
    naming_probes: tuple[str, ...] = ()
    newcomers: tuple[str, ...] = ()
    hints: tuple[Hint, ...] = ()
    appears: str = "(?!)"
    appearing: tuple[str, ...] = ()
    back_to_story: tuple[str, ...] = ()
    enumerates: str = "(?!)"
    which_most: tuple[str, ...] = ()
    asks_which: str = "(?!)"
    whichever: tuple[str, ...] = ()
    hesitating: tuple[str, ...] = ()
    hesitates: str = "(?!)"
    takes_time: tuple[str, ...] = ()
    moved: str = "(?!)"
    story_probes: tuple[str, ...] = ()
    after_echo: Mapping[str, AfterEcho] = {}
    own_probes: tuple[OwnProbe, ...] = ()
    go_on: tuple[str, ...] = ()
    hears_on: tuple[str, ...] = ()
    lived: str = ""
    ranks: str = "(?!)"
    past: str = ""
    present: str = "(?!)"
    over: str = "(?!)"
    ended: str = "(?!)"
    felt: str = "(?!)"
    figures: str = "(?!)"
    dates: str = "(?!)"
    closed: str = "(?!)"
    peak: str = "(?!)"
    slips: str = "(?!)"
    origins: str = "(?!)"

    def behind(self, probe: str, time: ToldAs) -> tuple[str, ...]:
        """How a probe is asked after a sentence was said back that tells of that time."""
        known = self.after_echo.get(probe)
        if known is None:
            return ()
        return known.past if time == "past" else known.present if time == "present" else known.imagined

    def mentions(self, kind: PhraseKind) -> tuple[str, ...]:
        """Sentences that take up a phrase of that kind."""
        own = {"noun": self.mention_object, "clause": self.mention_clause, "quote": self.mention_quote}
        return own[kind] or self.mention_quote

    def bridges(self, kind: PhraseKind) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Sentences that lead back to a phrase of that kind: said lately, said a while ago."""
        if kind == "noun" and self.bridge_object:
            return self.bridge_object, self.distant_object or self.distant_quote
        if kind == "clause" and self.bridge_clause:
            return self.bridge_clause, self.distant_clause
        return self.bridge_quote, self.distant_quote


@lru_cache(maxsize=8)
def phrasing(language: str) -> LanguagePhrasing:
    """The phrasing of a language, by its first subtag; English where there is none."""
    code = language.casefold().split("-")[0]
    text = files(__name__).joinpath(f"{code if code in LANGUAGES else FALLBACK}.yaml").read_text("utf-8")
    return LanguagePhrasing.model_validate(yaml.safe_load(text))
