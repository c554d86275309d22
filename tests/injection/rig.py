"""Models that obey whoever speaks last, and an interview held with nothing but such models."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pipeline.concept import Concept, PipelineSettings, SessionConfiguration
from pipeline.context import Answer
from pipeline.language.acts.reading import RuleReader
from pipeline.language.clients.base import ChatRequest, Completion, RoleModel
from pipeline.language.offline.questions import OfflineQuestionWriter
from pipeline.language.prompted.extraction import PromptedExtractor
from pipeline.language.prompted.prompts import Prompts
from pipeline.language.prompted.questions import PromptedQuestionWriter
from pipeline.language.prompted.rating import PromptedRater
from pipeline.language.prompted.slots import PromptedSlotProposer
from pipeline.methodology import Methodology
from pipeline.outcome import Outcome
from pipeline.ports import RATED_SIGNALS, SlotProposal, Vectors
from pipeline.state import InterviewState
from pipeline.turn import Providers, TurnPipeline
from tests.support.interview import NOW, TableEmbedder, Ticks, WordParser, new_state

CONFIG = Path(__file__).parents[2] / "config"
NOTHING_FOUND: dict[str, Any] = {"extractable": True, "concepts": [], "relationships": []}
CALM_RATING: dict[str, Any] = {
    **{name: {"rationale": "It says so.", "score": 3} for name in RATED_SIGNALS},
    "hedging_language": {"rationale": "It says so.", "level": "none"},
    "momentum": {"rationale": "It says so.", "level": "neutral"},
    "qualitative": {
        "uncertainty": "none",
        "reasoning": "none",
        "emotion": "none",
        "contradiction": "",
        "knowledge_ceiling": "none",
        "concept_depth": "surface",
    },
}
OPENING = "What comes to your mind first when you think of coffee?"
GOOD_QUESTION = "What does the smell remind you of on a slow morning?"


@cache
def methodology() -> Methodology:
    """A methodology that comes with askwell."""
    return Methodology.model_validate(
        yaml.safe_load((CONFIG / "methodologies" / "means_end_chain.yaml").read_text("utf-8"))
    )


@cache
def prompts() -> Prompts:
    """The prompts that come with askwell."""
    return Prompts({path.stem: path.read_text("utf-8") for path in (CONFIG / "prompts").glob("*.md")})


class Obedient:
    """ChatClient of all roles: answers each task with what it was given, and remembers what it was asked.

    `data` answers structured tasks; `questions` are streamed one after the other, the last one again and again.
    """

    def __init__(self, questions: Sequence[str] = (OPENING,), **data: dict[str, Any]) -> None:
        self.spec = RoleModel(
            role="generation", provider="openai_compatible", model="obedient", base_url="http://localhost:1/v1"
        )
        self.requests: list[ChatRequest] = []
        self.data: dict[str, dict[str, Any]] = {"extraction": NOTHING_FOUND, "rating": CALM_RATING, **data}
        self.questions = list(questions)

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        answer = self.data[request.task.removesuffix(".repair")]
        return Completion(text=json.dumps(answer), data=answer)

    async def stream(self, request: ChatRequest) -> AsyncIterator[str]:
        self.requests.append(request)
        text = self.questions.pop(0) if len(self.questions) > 1 else self.questions[0]
        for piece in re.findall(r"\s*\S{1,5}", text):
            yield piece

    def sent(self, task: str) -> ChatRequest:
        """The latest request of a task."""
        return next(request for request in reversed(self.requests) if request.task == task)


@dataclass
class Ear:
    """A sink that forgets nothing: every piece that was ever out, and what stands at the end."""

    pieces: list[str] = field(default_factory=list)
    standing: str = ""
    retractions: int = 0

    async def started(self, turn_number: int) -> None:
        self.standing = ""

    async def delta(self, text: str) -> None:
        self.pieces.append(text)
        self.standing += text

    async def retracted(self) -> None:
        self.retractions += 1
        self.pieces.append(" ⟂ ")

    @property
    def everything(self) -> str:
        """All that was out, retracted pieces too, parted by a sign."""
        return "".join(self.pieces)


def configuration(**settings: Any) -> SessionConfiguration:
    """A concept about coffee by a methodology that comes with askwell."""
    return SessionConfiguration(
        concept=Concept(id="coffee", name="coffee", methodology="means_end_chain", objective="Why people drink it."),
        methodology=methodology(),
        settings=PipelineSettings(**settings),
        closing_text="Thank you very much for your time.",
        prompts=dict(prompts().texts),
    )


@dataclass
class Talk:
    """An interview held by an obedient model, state kept between turns as a session's owner does."""

    model: Obedient
    configuration: SessionConfiguration = field(default_factory=configuration)
    state: InterviewState = field(default_factory=lambda: new_state(methodology="means_end_chain"))
    embeddings: dict[str, Vectors] = field(default_factory=dict)
    names: list[SlotProposal] = field(default_factory=list)
    ear: Ear = field(default_factory=Ear)

    def pipeline(self) -> TurnPipeline:
        """All providers prompted, as for a session with a remote model."""
        return TurnPipeline(
            Providers(
                extractor=PromptedExtractor(self.model, prompts()),
                rater=PromptedRater(self.model, prompts()),
                slot_proposer=PromptedSlotProposer(self.model, prompts()),
                writer=PromptedQuestionWriter(self.model, prompts(), OfflineQuestionWriter()),
                embedder=TableEmbedder(),
                parser=WordParser(),
                act_reader=RuleReader(),
                secrets=tuple(prompts().texts.values()),
            ),
            Ticks(),
        )

    async def open(self) -> Outcome:
        """The opening question."""
        self.ear = Ear()
        outcome = await self.pipeline().open(self.state, self.configuration, now=NOW, sink=self.ear)
        self.state = outcome.state
        return outcome

    async def say(self, text: str) -> Outcome:
        """One turn."""
        if self.state.question is None:
            await self.open()
        self.ear = Ear()
        outcome = await self.pipeline().run(
            self.state,
            Answer(f"key-{self.state.turn_count + 1}", text, "answer", None),
            self.configuration,
            now=NOW,
            sink=self.ear,
            embeddings=self.embeddings,
            names=lambda: self.names,
        )
        self.names = []
        self.state = InterviewState.load(outcome.state.dump())
        self.embeddings.update(outcome.embeddings)
        return outcome

    async def name_slots(self) -> None:
        """What happens between turns: names for the next one."""
        self.names += await self.pipeline().name_slots(self.state, self.configuration, named=set())
