"""Fixed sentences of the offline question writer, one file per language."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict, Field

from pipeline.question.fluency import PhraseKind

FALLBACK = "en"
LANGUAGES = ("en", "de", "ar")


class LanguagePhrasing(BaseModel):
    """The fixed sentences of one language; `{x}` is the respondent's phrase, `{topic}` the concept's name,
    `{element}` an element of the concept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    acknowledgements: tuple[str, ...]
    acknowledgements_hard: tuple[str, ...] = ()
    mention_object: tuple[str, ...] = ()
    mention_saying: tuple[str, ...] = ()
    mention_event: tuple[str, ...] = ()
    mention_quote: tuple[str, ...] = Field(min_length=1)
    mention_word: tuple[str, ...] = ()
    bridge_object: tuple[str, ...] = ()
    bridge_saying: tuple[str, ...] = ()
    bridge_event: tuple[str, ...] = ()
    bridge_quote: tuple[str, ...] = Field(min_length=1)
    bridge_word: tuple[str, ...] = ()
    distant_object: tuple[str, ...] = ()
    distant_saying: tuple[str, ...] = ()
    distant_quote: tuple[str, ...] = ()
    elements: tuple[str, ...] = Field(min_length=2)
    easier_focus: tuple[str, ...]
    easier_topic: tuple[str, ...]
    skipped: tuple[str, ...]
    any_focus: tuple[str, ...]
    any_topic: tuple[str, ...] = Field(min_length=7)
    openings: tuple[str, ...]
    closings: tuple[str, ...]
    rephrase: tuple[str, ...]
    rephrase_topic: tuple[str, ...]
    dont_know: str
    keep_case: bool = False
    burden: str = "(?!)"

    def mentions(self, kind: PhraseKind) -> tuple[str, ...]:
        """Sentences that take up a phrase of that kind."""
        by_kind = {
            "noun": self.mention_object,
            "activity": self.mention_object,
            "saying": self.mention_saying,
            "event": self.mention_event,
            "word": self.mention_word,
        }
        return by_kind.get(kind) or self.mention_quote

    def bridges(self, kind: PhraseKind) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Sentences that lead back to a phrase of that kind: said lately, said a while ago."""
        near = {
            "noun": self.bridge_object,
            "activity": self.bridge_object,
            "saying": self.bridge_saying,
            "event": self.bridge_event,
            "word": self.bridge_word,
        }
        distant = {
            "noun": self.distant_object,
            "activity": self.distant_object,
            "saying": self.distant_saying,
            "event": self.bridge_event,
        }
        return near.get(kind) or self.bridge_quote, distant.get(kind) or self.distant_quote


@lru_cache(maxsize=8)
def phrasing(language: str) -> LanguagePhrasing:
    """The phrasing of a language, by its first subtag; English where there is none."""
    code = language.casefold().split("-")[0]
    text = files(__name__).joinpath(f"{code if code in LANGUAGES else FALLBACK}.yaml").read_text("utf-8")
    return LanguagePhrasing.model_validate(yaml.safe_load(text))
