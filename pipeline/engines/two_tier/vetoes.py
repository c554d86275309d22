"""Tier 1: what must not be asked, with the reason."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import Field

from pipeline.engines.base import Comparison, DecisionInputs
from pipeline.engines.two_tier.file import TwoTierStrategy
from pipeline.engines.two_tier.moment import Ceiling, Moment, PossibleFocus, about, content_words, overlap
from pipeline.graph.surface import label_key
from pipeline.methodology import Spec
from pipeline.signals.base import SignalValue

ParamsT = TypeVar("ParamsT", bound=Spec)


@dataclass(frozen=True)
class VetoResult:
    """What one veto says of a candidate, and what it looked at."""

    scorer_id: str
    is_veto: bool = False
    reasoning: str = ""
    signals: Mapping[str, SignalValue] = field(default_factory=dict)


class Veto(ABC, Generic[ParamsT]):
    """One veto, made from its parameters."""

    params: ClassVar[type[Spec]]

    def __init__(self, name: str, given: ParamsT) -> None:
        """Args: name: the id that the file gives it; given: its parameters."""
        self.name = name
        self.given = given

    @abstractmethod
    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """Whether the candidate must not be asked."""

    def _passes(self, **signals: SignalValue) -> VetoResult:
        return VetoResult(self.name, signals=signals)

    def _stops(self, reasoning: str, **signals: SignalValue) -> VetoResult:
        return VetoResult(self.name, is_veto=True, reasoning=reasoning, signals=signals)


class CeilingParams(Spec):
    """When a respondent knows no more of something, and what must not be asked about it then."""

    use_llm_signals: bool = Field(default=True, description="Go by the rating of a language model, where there is one.")
    strategies: tuple[str, ...] = Field(default=("deepen", "contrast"), description="What is vetoed about it.")
    window: int = Field(default=10, ge=1, description="Turns that it counts for.")
    dont_know: dict[str, tuple[str, ...]] = Field(default={}, description="Per language: words for not knowing.")
    curious: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words of somebody who goes on exploring, which outweigh the others."
    )


class KnowledgeCeiling(Veto[CeilingParams]):
    """The respondent knows no more of what the candidate is about; it may still be asked about something else."""

    params = CeilingParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        if strategy.id not in self.given.strategies or focus.target is None:
            return self._passes()
        own = {*focus.target.ids, label_key(focus.target.label)}
        for ceiling in self.reached(moment):
            if own & set(ceiling.about):
                turns = moment.inputs.turn_count - ceiling.turn
                said = "just now" if not turns else f"{turns} answers ago"
                return self._stops(f"the respondent knows no more of {focus.target.label}, as they said {said}")
        return self._passes()

    def reached(self, moment: Moment) -> tuple[Ceiling, ...]:
        """What the respondent knows no more of, with what this answer adds."""
        turn = moment.inputs.turn_count
        before = tuple(known for known in moment.ceilings if turn - known.turn < self.given.window)
        if not self._is_terminal(moment):
            return before
        asked = moment.inputs.questions[-1] if moment.inputs.questions else None
        what = about(asked.target, asked.key, asked.label) if asked is not None and asked.turn == turn - 1 else ()
        if asked is None or asked.target is None:
            what = tuple(node.key for node in moment.nodes if node.last_mention_turn == turn)
        return (*before, Ceiling(what, turn)) if what else before

    def _is_terminal(self, moment: Moment) -> bool:
        quality = moment.quality if self.given.use_llm_signals else None
        if quality is not None:
            if quality.knowledge_ceiling != "none":
                return quality.knowledge_ceiling == "terminal"
            return quality.uncertainty == "terminal"
        language = moment.inputs.language.casefold().split("-")[0]
        knows_not, goes_on = self.given.dont_know.get(language, ()), self.given.curious.get(language, ())
        return _says(moment.answer, knows_not) and not _says(moment.answer, goes_on)


class ExhaustedParams(Spec):
    """When an element was spoken of often enough."""

    mentions: int = Field(default=3, ge=1, description="Answers about an element, one after the other, without news.")


class ElementExhausted(Veto[ExhaustedParams]):
    """The element was spoken of again and again, and nothing new came of it."""

    params = ExhaustedParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        entry = moment.coverage.get(focus.element_id or "")
        if entry is None:
            return self._passes()
        count = entry.mentioned_since_new
        if count >= self.given.mentions:
            return self._stops(f"{count} answers about it in a row brought nothing new", mentions=count)
        return self._passes(mentions=count)


class RedundancyParams(Spec):
    """When a focus is too close to something that was asked."""

    window: int = Field(default=6, ge=1, le=50, description="Latest questions that it is compared with.")
    cosine: float = Field(default=0.80, ge=0, le=1, description="Closeness in meaning that makes it the same.")
    jaccard: float = Field(default=0.6, ge=0, le=1, description="Share of content words that makes it the same.")
    plain_words: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words that say nothing of a subject and don't count."
    )


class RecentRedundancy(Veto[RedundancyParams]):
    """What the candidate is about was really asked a moment ago, if in other words."""

    params = RedundancyParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        described = focus.focus_description
        recent = self.recent(moment.inputs)
        if not described or not recent:
            return self._passes()
        cosine = moment.inputs.closeness.get(described, 0.0)
        language = moment.inputs.language.casefold().split("-")[0]
        plain = self.given.plain_words.get(language, ())
        own = content_words(described, plain)
        shared, question = max((overlap(own, content_words(text, plain)), text) for text in recent)
        if cosine >= self.given.cosine:
            return self._stops(f"“{described}” means nearly what was asked lately", cosine=cosine)
        if shared >= self.given.jaccard:
            return self._stops(f"“{described}” is nearly what was asked: “{question}”", jaccard=round(shared, 4))
        return self._passes(cosine=cosine, jaccard=round(shared, 4))

    def recent(self, inputs: DecisionInputs) -> tuple[str, ...]:
        """The latest questions, oldest first."""
        return inputs.question_texts[-self.given.window :]

    def comparison(self, foci: Sequence[PossibleFocus], inputs: DecisionInputs) -> Comparison:
        """What has to be compared in meaning."""
        texts = tuple(focus.focus_description for focus in foci if focus.focus_description)
        return Comparison(texts, self.recent(inputs))


class FatigueParams(Spec):
    """Nothing can be set."""


class Fatigue(Veto[FatigueParams]):
    """The respondent is tired: only what makes it easier, sums up or ends is left."""

    params = FatigueParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        state = moment.inputs.momentum
        signals = {"consecutive_low": state.consecutive_low, "turns_below": state.turns_below}
        return self._stops("the respondent is tired", **signals) if state.fatigued else self._passes(**signals)


VETOES: Mapping[str, type[Veto[Any]]] = {
    veto.__name__: veto for veto in (KnowledgeCeiling, ElementExhausted, RecentRedundancy, Fatigue)
}
"""All vetoes, by the name that the file gives them."""


def _says(text: str, phrases: tuple[str, ...]) -> bool:
    plain = " ".join(text.casefold().replace("’", "'").split())
    return bool(phrases) and bool(_pattern(phrases).search(plain))


@lru_cache(maxsize=64)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(phrase.casefold()) for phrase in phrases) + r")(?!\w)")
