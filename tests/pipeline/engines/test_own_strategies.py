"""An engine chooses from strategies of its own, which no methodology knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pipeline.concept import SessionConfiguration
from pipeline.engines.base import Decision, DecisionInputs
from pipeline.methodology import Form, Strategy
from pipeline.strategies import Strategies
from pipeline.turn import TurnPipeline
from tests.support.interview import Interview, Ticks, concepts

BROADEN = Strategy(
    name="broaden",
    signal_weights={},
    node_binding="none",
    focus_mode="topic",
    templates={"en": (Form(ask="What else comes to mind about {topic}?"),)},
)
FINISH = Strategy(
    name="finish",
    signal_weights={},
    node_binding="none",
    generates_closing_question=True,
    templates={"en": (Form(ask="What would you like to add?"),)},
)


@dataclass
class Broadener:
    """Broadens until a turn, then closes."""

    name: ClassVar[str] = "broadener"
    closes_on_saturation: ClassVar[bool] = True
    until: int = 3
    asked: list[Sequence[str]] = field(default_factory=list)

    def strategies(self, configuration: SessionConfiguration) -> Strategies:
        return Strategies((BROADEN, FINISH))

    def decide(self, inputs: DecisionInputs) -> Decision:
        self.asked.append(tuple(inputs.strategies.names))
        close = len(self.asked) >= self.until
        return Decision(engine=self.name, strategy="finish" if close else "broaden", close=close, phase="wandering")


@dataclass
class OwnTable(Interview):
    """An interview with that engine."""

    engine: Broadener = field(default_factory=Broadener)

    def pipeline(self) -> TurnPipeline:
        return TurnPipeline(super().pipeline()._providers, Ticks(), engines={"broadener": self.engine})


async def test_interview_is_led_to_its_end_by_strategies_that_the_methodology_lacks() -> None:
    interview = OwnTable()
    interview.state = interview.state.model_copy(update={"engine": "broadener"})
    strategies = []
    for text in ("taste", "price", "smell"):
        await interview.say(text, concepts((text, "attribute")))
        strategies.append(interview.state.strategy_history[-1])
    assert strategies == ["broaden", "broaden", "finish"]
    statuses = [interview.state.status]
    assert interview.state.phase == "wandering"
    assert interview.engine.asked == [("broaden", "finish")] * 3
    assert interview.state.focus_history[0].label == interview.configuration.concept.name
    await interview.say("no")
    assert [*statuses, interview.state.status] == ["closing", "completed"]
