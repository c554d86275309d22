"""Tier 1: what must not be asked, with the reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from pipeline.ceilings import CeilingRules, ceiling_on
from pipeline.engines.shared.rules import Judge, ParamsT
from pipeline.engines.shared.wording import counted
from pipeline.engines.two_tier.file import TwoTierStrategy
from pipeline.engines.two_tier.moment import Moment, PossibleFocus
from pipeline.leads import is_finished
from pipeline.methodology import Spec
from pipeline.signals.base import SignalValue
from pipeline.subjects import about, answer_of, closest, language_of


@dataclass(frozen=True)
class VetoResult:
    """What one veto says of a candidate, and what it looked at."""

    scorer_id: str
    is_veto: bool = False
    reasoning: str = ""
    signals: Mapping[str, SignalValue] = field(default_factory=dict)


class Veto(Judge[ParamsT], ABC):
    """One veto."""

    @abstractmethod
    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """Whether the candidate must not be asked."""

    def _passes(self, **signals: SignalValue) -> VetoResult:
        return VetoResult(self.name, signals=signals)

    def _stops(self, reasoning: str, **signals: SignalValue) -> VetoResult:
        return VetoResult(self.name, is_veto=True, reasoning=reasoning, signals=signals)


class CeilingParams(CeilingRules):
    """When a respondent knows no more of something, and what must not be asked about it then."""

    strategies: tuple[str, ...] = Field(default=("deepen", "contrast"), description="What is vetoed about it.")


class KnowledgeCeiling(Veto[CeilingParams]):
    """The respondent knows no more of what the candidate is about; it may still be asked about something else."""

    params = CeilingParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        found = ceiling_on(focus.target, moment.ceilings) if strategy.id in self.given.strategies else None
        if found is None or focus.target is None:
            return self._passes()
        turns = moment.inputs.turn_count - found.turn
        said = f"{counted(turns, 'answer')} ago" if turns else "just now"
        return self._stops(f"the respondent knows no more of {focus.target.label}, as they said {said}", turns=turns)


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
            reason = f"{counted(count, 'answer')} about it in a row brought nothing new"
            return self._stops(reason, mentions=count)
        return self._passes(mentions=count)


class RedundancyParams(Spec):
    """When a focus is too close to something that was asked."""

    window: int = Field(default=6, ge=1, le=50, description="Latest questions that it is compared with.")
    cosine: float = Field(default=0.80, gt=0, le=1, description="Closeness in meaning that makes it the same.")
    jaccard: float = Field(default=0.6, gt=0, le=1, description="Share of content words that makes it the same.")
    plain_words: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words that say nothing of a subject and don't count."
    )


class RecentRedundancy(Veto[RedundancyParams]):
    """What the candidate is about was really asked a moment ago, if in other words."""

    params = RedundancyParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        described = focus.focus_description
        recent = moment.inputs.question_texts[-self.given.window :]
        if not described or not recent:
            return self._passes()
        cosine = moment.inputs.closest(described, self.given.window)
        plain = self.given.plain_words.get(language_of(moment.inputs), ())
        shared, question = closest(described, recent, plain)
        if cosine >= self.given.cosine:
            return self._stops(f"“{described}” means nearly what was asked lately", cosine=cosine)
        if shared >= self.given.jaccard:
            return self._stops(f"“{described}” is nearly what was asked: “{question}”", jaccard=round(shared, 4))
        return self._passes(cosine=cosine, jaccard=round(shared, 4))


class FinishedParams(Spec):
    """What is not asked any more of something about which everything was said."""

    strategies: tuple[str, ...] = Field(default=("deepen", "contrast"), description="What is vetoed about it.")


class Finished(Veto[FinishedParams]):
    """The respondent says that there is no more to tell of what this answer is about, or that this was the top."""

    params = FinishedParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        if strategy.id not in self.given.strategies or not is_finished(
            answer_of(moment.inputs), language_of(moment.inputs)
        ):
            return self._passes()
        asked = moment.inputs.questions[-1:]
        last = {part for entry in asked for part in about(entry.target, entry.key, entry.label)}
        nodes = [moment.by_key[key] for key in focus.node_ids if key in moment.by_key]
        turn = moment.inputs.turn_count
        if any(node.last_mention_turn == turn or node.key in last for node in nodes):
            return self._stops("the respondent has no more to say about it")
        return self._passes()


class WeighsParams(Spec):
    """When what was just told is not left."""

    strategies: tuple[str, ...] = Field(
        default=("cover_element", "broaden"), description="What leaves it, and is vetoed then."
    )
    emotion: int = Field(default=2, ge=1, le=2, description="Feeling in a concept of the answer that makes it weigh.")
    in_a_row: int = Field(default=3, ge=1, description="Questions in a row that stay, after which nothing is vetoed.")


class Weighs(Veto[WeighsParams]):
    """The answer tells of something with much feeling, and the candidate would leave it for the plan."""

    params = WeighsParams

    def evaluate(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> VetoResult:
        """As of the base."""
        turn = moment.inputs.turn_count
        told = [node for node in moment.nodes if node.last_mention_turn == turn]
        feeling = max((node.emotion for node in told), default=0)
        latest = moment.inputs.questions[-self.given.in_a_row :]
        stayed = len(latest) == self.given.in_a_row and all(
            entry.strategy not in self.given.strategies for entry in latest
        )
        leaves = strategy.id in self.given.strategies and moment.wanted is None
        if leaves and feeling >= self.given.emotion and not stayed:
            return self._stops("what was just told has much feeling in it, and is not left for that", emotion=feeling)
        return self._passes(emotion=feeling)


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
    veto.__name__: veto for veto in (KnowledgeCeiling, Finished, ElementExhausted, RecentRedundancy, Weighs, Fatigue)
}
"""All vetoes, by the name that the file gives them."""
