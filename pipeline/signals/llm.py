"""Pool `llm`: the ratings of this answer, and the trend of the latest ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pipeline.graph.tracker import Depth
from pipeline.signals.base import Scope, SignalContext, SignalType

DEPTH_POINTS: dict[Depth, int] = {"surface": 1, "shallow": 2, "moderate": 3, "deep": 4}
TREND_WINDOW = 6
TREND_STEP = 0.5


def response_trend(depths: Sequence[Depth]) -> str:
    """How the latest answers develop.

    Of the last six depths: four or more surface or shallow → fatigued; fewer than four entries → stable; else the
    mean of the newer half (the last ⌈n/2⌉) against the older half: half a point up deepening, down shallowing.
    """
    points = [DEPTH_POINTS[depth] for depth in depths[-TREND_WINDOW:]]
    if sum(point <= 2 for point in points) >= 4:
        return "fatigued"
    if len(points) < 4:
        return "stable"
    half = len(points) // 2
    older, newer = points[:half], points[half:]
    change = sum(newer) / len(newer) - sum(older) / len(older)
    return "deepening" if change >= TREND_STEP else "shallowing" if change <= -TREND_STEP else "stable"


class _AnswerSignal:
    type: ClassVar[SignalType] = "number"
    scope: ClassVar[Scope] = "global"
    values: ClassVar[tuple[str, ...]] = ()
    depends_on: ClassVar[tuple[str, ...]] = ()


class ResponseDepth(_AnswerSignal):
    name = "llm.response_depth"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("surface", "shallow", "moderate", "deep")
    description = "How much elaboration the answer has."

    def detect(self, context: SignalContext) -> str | None:
        return context.rated.depth if context.rated else None


class Specificity(_AnswerSignal):
    name = "llm.specificity"
    description = "How concrete the answer is."

    def detect(self, context: SignalContext) -> float | None:
        return context.rated.specificity if context.rated else None


class Certainty(_AnswerSignal):
    name = "llm.certainty"
    description = "How sure the respondent sounds."

    def detect(self, context: SignalContext) -> float | None:
        return context.rated.certainty if context.rated else None


class Valence(_AnswerSignal):
    name = "llm.valence"
    description = "0 for negative to 1 for positive."

    def detect(self, context: SignalContext) -> float | None:
        return context.rated.valence if context.rated else None


class Engagement(_AnswerSignal):
    name = "llm.engagement"
    description = "How much the respondent volunteers."

    def detect(self, context: SignalContext) -> float | None:
        return context.rated.engagement if context.rated else None


class IntellectualEngagement(_AnswerSignal):
    name = "llm.intellectual_engagement"
    description = "How much the respondent reasons and weighs."

    def detect(self, context: SignalContext) -> float | None:
        return context.rated.intellectual_engagement if context.rated else None


class HedgingLanguage(_AnswerSignal):
    name = "llm.hedging_language"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("none", "low", "medium", "high")
    description = "How much the answer hedges."

    def detect(self, context: SignalContext) -> str | None:
        return context.rated.hedging if context.rated else None


class Contradiction(_AnswerSignal):
    name = "llm.contradiction"
    type: ClassVar[SignalType] = "bool"
    description = "The answer contradicts itself, or what was said before."

    def detect(self, context: SignalContext) -> bool | None:
        return context.rated.contradiction if context.rated else None


class TurningPoint(_AnswerSignal):
    name = "llm.turning_point"
    type: ClassVar[SignalType] = "bool"
    description = "The answer tells of a moment that changed things: a decision, a realisation, a last straw."

    def detect(self, context: SignalContext) -> bool | None:
        return context.rated.turning_point if context.rated else None


class GlobalResponseTrend(_AnswerSignal):
    name = "llm.global_response_trend"
    type: ClassVar[SignalType] = "category"
    values: ClassVar[tuple[str, ...]] = ("deepening", "stable", "shallowing", "fatigued")
    description = "How the last six answers develop."

    def detect(self, context: SignalContext) -> str:
        return response_trend(context.depths)


SIGNALS = (
    ResponseDepth(),
    Specificity(),
    Certainty(),
    Valence(),
    Engagement(),
    IntellectualEngagement(),
    HedgingLanguage(),
    Contradiction(),
    TurningPoint(),
    GlobalResponseTrend(),
)
