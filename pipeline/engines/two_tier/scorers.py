"""Tier 2: how good a candidate is, one dimension each. Raw scores go from 0 to 2; 1 is neutral."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from pipeline.engines.shared.rules import Judge, ParamsT
from pipeline.engines.shared.wording import counted
from pipeline.engines.two_tier.file import Category, CategoryOrOther, TwoTierStrategy
from pipeline.engines.two_tier.moment import Moment, PossibleFocus
from pipeline.methodology import Spec
from pipeline.momentum import LITTLE, MUCH, Momentum
from pipeline.signals.base import SignalValue

LEAST, NEUTRAL, MOST = 0.0, 1.0, 2.0
Table = Mapping[CategoryOrOther, float]
Amount = Annotated[float, Field(ge=-2, le=2)]
"""A raw score of a table, or what it adds to one."""


@dataclass(frozen=True)
class RawScore:
    """What one scorer says of a candidate, and what it looked at; `raw_score` is in [0, 2]."""

    scorer_id: str
    raw_score: float
    reasoning: str = ""
    signals: Mapping[str, SignalValue] = field(default_factory=dict)


class Scorer(Judge[ParamsT], ABC):
    """One scorer."""

    @abstractmethod
    def score(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        """The raw score of a candidate."""

    def _output(self, raw: float, reasoning: str, **signals: SignalValue) -> RawScore:
        """The score within its bounds; rounded, so that a sum comes out to the digit."""
        return RawScore(self.name, round(min(MOST, max(LEAST, raw)), 6), reasoning, signals)


def _of(table: Table, category: Category, default: float) -> float:
    return table.get(category, table.get("other", default))


def _followed(focus: PossibleFocus, moment: Moment) -> float:
    """How fresh what a candidate follows is, as far as there is room; 0 where it is about nothing just said."""
    node = moment.by_key.get(focus.node_ids[0]) if len(focus.node_ids) == 1 else None
    just_said = node is not None and node.last_mention_turn == moment.inputs.turn_count
    return focus.confidence * moment.room if just_said else 0.0


def _led(strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> float:
    """How fresh what a candidate follows is, or what it would leave behind, as far as there is room; in [0, 1]."""
    follows = any(rule.source == "recent_node" for rule in strategy.focuses)
    return _followed(focus, moment) if follows else moment.lead * moment.room


class CoverageParams(Spec):
    """What elements and topics to ask about do to each category."""

    per_gap: dict[CategoryOrOther, Amount] = Field(
        default={"coverage": 0.3, "breadth": 0.1, "other": -0.2},
        description="Added for each element, by category; what is taken is not taken from the following of a lead.",
    )
    counted: int = Field(default=2, ge=1, description="Elements that count at the most.")
    pressing: float = Field(
        default=2.0,
        ge=0,
        le=10,
        description="How many times more elements count once they would take all questions until the last phase.",
    )
    topic: Amount = Field(
        default=1.0,
        description="Added to the asking for a topic of the guide, once the open ones would take all turns that are "
        "left for them; less in proportion before.",
    )


class CoverageGap(Scorer[CoverageParams]):
    """`1 + per_gap[category] × min(elements, counted) × (1 + pressing × (1 − room))`, and `topic × pressure`.

    Elements are those to ask about; the last counts for a topic of the guide alone.
    """

    params = CoverageParams

    def score(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        """As of the base."""
        count = len(moment.uncovered)
        effect = _of(self.given.per_gap, strategy.type_category, 0.0) * min(count, self.given.counted)
        effect *= 1 + self.given.pressing * (1 - moment.room)
        if effect < 0:
            effect *= 1 - _followed(focus, moment)
        if focus.target is not None and focus.target.kind == "topic":
            pressure = moment.pressure
            told = f"the guide has {counted(moment.inputs.topics_open, 'open topic')}"
            return self._output(NEUTRAL + effect + self.given.topic * pressure, told, pressure=round(pressure, 4))
        said = f"{counted(count, 'element')} to ask about" if count else "no element is waiting"
        return self._output(NEUTRAL + effect, said, uncovered=count)


class AmbiguityParams(Spec):
    """What an unclear answer does to each category."""

    use_llm_signals: bool = Field(default=True, description="Go by the rating of a language model, where there is one.")
    contradicts: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 1.6, "contrast": 1.6, "other": 0.8}, description="Raw score after a contradiction."
    )
    unclear: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 1.4, "contrast": 1.4, "easing": 1.2, "other": 0.8},
        description="Raw score after an answer that is thinking aloud or hedges a lot.",
    )
    stuck: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 0.6, "contrast": 0.6, "easing": 1.4, "other": 1.0},
        description="Raw score after an uncertainty that leads nowhere.",
    )
    unexplained: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 1.4, "contrast": 1.0, "other": 0.8},
        description="Raw score after a clear answer with a lead, the more so the fresher it is.",
    )


class Ambiguity(Scorer[AmbiguityParams]):
    """By category from the table that fits: the answer contradicts, is stuck, is unclear, leaves a lead unexplained.

    1 where it is clear and leaves nothing unexplained.
    """

    params = AmbiguityParams

    def score(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        """As of the base."""
        contradicts, uncertainty = self._clarity(moment)
        if contradicts:
            table, said = self.given.contradicts, "it contradicts what was said before"
        elif uncertainty == "terminal":
            table, said = self.given.stuck, "the respondent is at a loss"
        elif uncertainty == "productive":
            table, said = self.given.unclear, "the answer was not clear"
        else:
            return self._unexplained(strategy, focus, moment)
        raw = _of(table, strategy.type_category, NEUTRAL)
        return self._output(raw, said, contradiction=contradicts, uncertainty=uncertainty)

    def _unexplained(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        lead = _led(strategy, focus, moment)
        raw = NEUTRAL + lead * (_of(self.given.unexplained, strategy.type_category, NEUTRAL) - NEUTRAL)
        return self._output(raw, "what was just said is not explained yet" if lead else "the answer was clear")

    def _clarity(self, moment: Moment) -> tuple[bool, str]:
        """Whether the answer contradicts something, and how uncertain it is."""
        quality = moment.quality if self.given.use_llm_signals else None
        if quality is not None:
            return bool(quality.contradiction), quality.uncertainty
        hedges = moment.signal("llm.hedging_language") == "high"
        return moment.signal("llm.contradiction") is True, "productive" if hedges else "none"


class BalanceParams(Spec):
    """How depth and breadth are kept in balance."""

    use_llm_signals: bool = Field(default=True, description="Go by the rating of a language model, where there is one.")
    depth: tuple[Category, ...] = Field(default=("depth", "contrast"), description="Categories that go deeper.")
    breadth: tuple[Category, ...] = Field(
        default=("breadth", "coverage", "peripheral"), description="Categories that go wider."
    )
    window: int = Field(default=6, ge=1, description="Latest questions that count.")
    over: float = Field(default=0.8, ge=0, le=2, description="Taken for what has more than half of them, per share.")
    under: float = Field(default=0.2, ge=0, le=2, description="Added for what has less than half of them, per share.")
    integrative: tuple[Category, ...] = Field(
        default=("transition", "reflection"), description="Categories that put together what was said."
    )
    enough_concepts: int = Field(default=5, ge=1, description="Concepts from which on there is enough for that.")
    top: dict[CategoryOrOther, Amount] = Field(
        default={"depth": -0.4, "contrast": -0.2, "breadth": 0.2, "other": 0.0},
        description="Added where the answer has reached what it is all for.",
    )
    concrete: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 0.2, "other": 0.0}, description="Added where a language model finds it on the surface."
    )
    lead: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 1.6, "contrast": -0.2, "transition": -0.2, "closing": 0.0, "other": -1.0},
        description="Added where something fresh was just said, in proportion to its freshness, and less with every "
        "one of the latest questions that went deeper.",
    )
    apart: Amount = Field(
        default=0.8,
        description="Added for going to a concept that nobody linked to another; half of it with one link.",
    )
    due: Amount = Field(
        default=0.4, description="Added for putting together what was said, where that has not been done lately."
    )
    unfinished: Amount = Field(
        default=-0.8, description="Added for closing, where that would be due and a turn is left for it."
    )


class DepthBreadthBalance(Scorer[BalanceParams]):
    """For a side with share s of the latest questions: `1 − over × (s − ½)` above a half, else `1 + under × (½ − s)`.

    For what puts together: `min(1, concepts / enough_concepts)`, and `due`. To that comes what the abstraction of the
    answer adds, and what something fresh in it does: `lead[category] × freshness × (1 − deeper questions / window)`;
    and for what goes to the periphery `apart / (1 + relations)`.
    """

    params = BalanceParams

    def score(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        """As of the base."""
        category, given = strategy.type_category, self.given
        added, reached = self._abstraction(category, moment)
        raw, said, share = self._balance(category, moment)
        lead = _led(strategy, focus, moment) * self._left_to_deepen(moment)
        added += lead * _of(given.lead, category, 0.0)
        if lead and category in given.depth:
            said = f"something new was just said, and {said}"
        if category == "peripheral":
            added += given.apart * focus.confidence
            said = f"it stands apart, and {said}" if focus.confidence == 1 else said
        return self._output(raw + added, said, share=share, lead=round(lead, 4), abstraction=reached)

    def _balance(self, category: Category, moment: Moment) -> tuple[float, str, float]:
        """The raw score as far as former questions make it, why, and the share of them that went the same way."""
        given, count = self.given, len(moment.nodes)
        if category in given.integrative:
            raw = min(NEUTRAL, count / given.enough_concepts) + (given.due if self._is_due(moment) else 0.0)
            return raw, f"{counted(count, 'concept')} to put together", 0.0
        if category == "closing" and self._is_due(moment) and moment.turns_left != 0:
            return NEUTRAL + given.unfinished, "nobody put together yet what was said", 0.0
        sides = [side for side in (given.depth, given.breadth) if category in side]
        asked = [moment.category_of(name) for name in moment.strategies_asked[-given.window :]]
        latest = [known for known in asked if known in (*given.depth, *given.breadth)]
        if not sides or not latest:
            return NEUTRAL, "there is nothing to balance yet", 0.0
        own = sum(known in sides[0] for known in latest) / len(latest)
        raw = NEUTRAL - given.over * (own - 0.5) if own > 0.5 else NEUTRAL + given.under * (0.5 - own)
        side = "deeper" if sides[0] is given.depth else "wider"
        said = f"{round(own * len(latest))} of the last {len(latest)} questions went {side}"
        if len(latest) == 1:
            said = f"the last question {'went' if own else 'did not go'} {side}"
        return raw, said, round(own, 4)

    def _left_to_deepen(self, moment: Moment) -> float:
        """The share of the latest questions that did not go deeper, in [0, 1]."""
        latest = [moment.category_of(name) for name in moment.strategies_asked[-self.given.window :]]
        return 1 - sum(known in self.given.depth for known in latest) / self.given.window

    def _is_due(self, moment: Moment) -> bool:
        """Whether there is enough to put together, and that was not done with one of the latest questions."""
        asked = moment.strategies_asked
        latest = [moment.category_of(name) for name in asked[-self.given.window :]]
        enough = len(asked) >= self.given.window and len(moment.nodes) >= self.given.enough_concepts
        return enough and not any(known in self.given.integrative for known in latest)

    def _abstraction(self, category: Category, moment: Moment) -> tuple[float, str]:
        """What the abstraction of the answer adds, and what it is; by the latest concept where no model rated it."""
        quality = moment.quality if self.given.use_llm_signals else None
        if quality is not None:
            reached = quality.concept_depth
            table = {"value": self.given.top, "surface": self.given.concrete}.get(reached, {})
        else:
            ended = bool(moment.recent) and moment.recent[0].terminal
            reached, table = ("value", self.given.top) if ended else ("functional", {})
        return _of(table, category, 0.0), reached


class EngagementParams(Spec):
    """What each category asks of a respondent with so much momentum."""

    use_llm_signals: bool = Field(default=True, description="Go by the rating of a language model, where there is one.")
    low: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 0.8, "contrast": 0.8, "easing": 1.6, "other": 1.2}, description="Raw score at low momentum."
    )
    neutral: dict[CategoryOrOther, Amount] = Field(
        default={"easing": 0.4, "reflection": 0.8, "other": 1.0}, description="Raw score at neutral momentum."
    )
    high: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 1.2, "contrast": 1.2, "easing": 0.2, "other": 1.0}, description="Raw score at high momentum."
    )
    reasoning: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 0.2, "contrast": 0.2, "reflection": 0.2, "other": 0.0},
        description="Added where the respondent reasons: gives causes, weighs what might be, thinks about thinking.",
    )
    lead: dict[CategoryOrOther, Amount] = Field(
        default={"depth": 0.2, "other": -0.2},
        description="Added where something fresh was just said, in proportion to its freshness.",
    )


class Engagement(Scorer[EngagementParams]):
    """The table of the momentum by category, what reasoning adds, and `lead[category] × freshness`."""

    params = EngagementParams

    def score(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        """As of the base."""
        level, reasons = self._level(moment), self._reasons(moment)
        table = {"low": self.given.low, "neutral": self.given.neutral, "high": self.given.high}[level]
        raw = _of(table, strategy.type_category, NEUTRAL)
        if reasons:
            raw += _of(self.given.reasoning, strategy.type_category, 0.0)
        raw += _led(strategy, focus, moment) * _of(self.given.lead, strategy.type_category, 0.0)
        said = f"the respondent's momentum is {level}" + (", and they reason" if reasons else "")
        return self._output(raw, said, momentum=level, reasons=reasons)

    def _level(self, moment: Moment) -> Momentum:
        if moment.momentum is not None:
            return moment.momentum
        engagement = moment.number("llm.engagement")
        if engagement is None:
            return "neutral"
        return "low" if engagement <= LITTLE else "high" if engagement >= MUCH else "neutral"

    def _reasons(self, moment: Moment) -> bool:
        quality = moment.quality if self.given.use_llm_signals else None
        if quality is not None:
            return quality.reasoning in ("causal", "counterfactual", "metacognitive")
        return (moment.number("llm.intellectual_engagement") or 0.0) >= MUCH


class DiversityParams(Spec):
    """How using a strategy again counts against it."""

    window: int = Field(default=5, ge=1, description="Latest questions that count.")
    per_use: float = Field(default=0.2, ge=0, le=2, description="Taken for each of them by the same strategy.")
    following: tuple[Category, ...] = Field(
        default=("depth",),
        description="Categories of which nothing is taken for following something fresh, or less in proportion to how "
        "fresh it is: a ladder that goes on is not left for the sake of variety.",
    )


class StrategyDiversity(Scorer[DiversityParams]):
    """`1 − per_use × uses among the latest questions`; for `following` that times `1 − freshness`."""

    params = DiversityParams

    def score(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        """As of the base."""
        uses = moment.strategies_asked[-self.given.window :].count(strategy.id)
        said = f"used for {counted(uses, 'question')} lately" if uses else "it was not used lately"
        left = 1 - _followed(focus, moment) if strategy.type_category in self.given.following else 1.0
        return self._output(NEUTRAL - self.given.per_use * uses * left, said, uses=uses)


class NoveltyParams(Spec):
    """How much of a subject is still new."""

    fresh: float = Field(default=1.2, ge=0, le=2, description="For a subject that nobody spoke of.")
    per_mention: float = Field(default=0.2, ge=0, le=2, description="Taken for each answer that spoke of it.")
    per_question: float = Field(default=0.3, ge=0, le=2, description="Taken for each question about it.")


class Novelty(Scorer[NoveltyParams]):
    """`fresh − per_mention × answers − per_question × questions` about one concept or element; 1 for anything else."""

    params = NoveltyParams

    def score(self, strategy: TwoTierStrategy, focus: PossibleFocus, moment: Moment) -> RawScore:
        """As of the base."""
        node = moment.by_key.get(focus.node_ids[0]) if len(focus.node_ids) == 1 else None
        entry = moment.coverage.get(focus.element_id or "")
        if node is not None:
            mentions, asked = node.mentions, node.asked
        elif entry is not None:
            mentions, asked = entry.mentioned, entry.focused
        else:
            return self._output(NEUTRAL, "it is about nothing in particular")
        raw = self.given.fresh - self.given.per_mention * mentions - self.given.per_question * asked
        told, by = counted(mentions, "answer"), counted(asked, "question")
        said = f"{told} spoke of it, and {by} asked about it" if mentions else "nobody spoke of it yet"
        return self._output(raw, said, mentions=mentions, asked=asked)


SCORERS: Mapping[str, type[Scorer[Any]]] = {
    scorer.__name__: scorer
    for scorer in (CoverageGap, Ambiguity, DepthBreadthBalance, Engagement, StrategyDiversity, Novelty)
}
"""All scorers, by the name that the file gives them."""
