"""Runs a turn: twelve stages in order, two parallel lanes among them, with timings."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from pipeline.acts import Act
from pipeline.concept import SessionConfiguration
from pipeline.conduct.joining import join_acts
from pipeline.context import Answer, SlotNames, TurnContext, Wishes, no_names
from pipeline.contracts import Contract
from pipeline.correcting import CorrectionReader
from pipeline.engines.base import DecisionEngine
from pipeline.engines.registry import ENGINES
from pipeline.errors import PipelineError, PipelineMisbuilt
from pipeline.naming import names_for
from pipeline.opening import opened, rephrased
from pipeline.outcome import Outcome, answer_digest, outcome_of
from pipeline.ports import (
    ActReader,
    Clock,
    ConceptParser,
    Embedder,
    Extractor,
    Parser,
    QuestionSink,
    QuestionWriter,
    Rater,
    SlotProposal,
    SlotProposer,
    Vectors,
)
from pipeline.previewing import Preview, previewed
from pipeline.question.asking import Questioner, Written
from pipeline.settling import settled
from pipeline.signals.base import SignalMatrix
from pipeline.signals.rating import AnswerRating
from pipeline.stages.base import Stage
from pipeline.stages.context import ContextStage
from pipeline.stages.continuation import ContinuationStage
from pipeline.stages.extraction import ExtractionStage
from pipeline.stages.graph import GraphStage
from pipeline.stages.question import QuestionStage
from pipeline.stages.response import ResponseStage
from pipeline.stages.scoring import ScoringStage
from pipeline.stages.slots import SlotsStage
from pipeline.stages.srl import SrlStage
from pipeline.stages.state import StateStage
from pipeline.stages.strategy import StrategyStage
from pipeline.stages.utterance import UtteranceStage, check_answer, straight
from pipeline.state import Directive, InterviewState

__all__ = ["Answer", "Outcome", "Providers", "TurnPipeline", "answer_digest", "check_answer", "straight"]

URGENT: frozenset[Act] = frozenset({"wants_stop", "wants_pause", "wants_withdrawal", "distress", "risk"})

Lane = Literal["before", "knowledge", "rating", "decision", "speech"]


@dataclass(frozen=True)
class Providers:
    """The ports a pipeline works with."""

    extractor: Extractor
    rater: Rater
    slot_proposer: SlotProposer
    writer: QuestionWriter
    embedder: Embedder
    parser: Parser
    act_reader: ActReader
    fallback_writer: QuestionWriter | None = None
    """Writes the question where `writer` fails before any of it was sent; None where the turn then fails."""
    secrets: tuple[str, ...] = ()
    """Texts that no question may repeat: the prompts of the writer."""
    concept_parser: ConceptParser | None = None
    """Makes elements of stimuli before an interview; None where none are made."""


def questioner(providers: Providers) -> Questioner:
    """The part that phrases questions, with these providers."""
    return Questioner(
        providers.writer,
        providers.embedder,
        second=providers.fallback_writer,
        secrets=providers.secrets,
        run_all=run_concurrently,
    )


async def run_concurrently(texts: Sequence[Coroutine[Any, Any, Written]]) -> list[Written]:
    """Await all texts at the same time; the results are in the order of the arguments."""
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(text) for text in texts]
    return [task.result() for task in running]


def default_stages(providers: Providers, engines: Mapping[str, DecisionEngine]) -> list[tuple[Lane, Stage]]:
    """The stages in their order: context, utterance, then (srl, extraction, graph, slots) beside the rating, then
    state, strategy, continuation, question, response, scoring.
    """
    return [
        ("before", ContextStage()),
        ("before", UtteranceStage(providers.act_reader, CorrectionReader(providers.parser, providers.embedder))),
        ("knowledge", SrlStage(providers.parser)),
        ("knowledge", ExtractionStage(providers.extractor)),
        ("knowledge", GraphStage(providers.embedder, providers.parser)),
        ("knowledge", SlotsStage(providers.slot_proposer, providers.embedder, providers.parser)),
        ("rating", AnswerRating(providers.rater)),
        ("decision", StateStage()),
        ("decision", StrategyStage(engines, providers.embedder)),
        ("decision", ContinuationStage(engines)),
        ("speech", QuestionStage(questioner(providers), providers.parser)),
        ("speech", ResponseStage()),
        ("speech", ScoringStage()),
    ]


def check_stages(stages: Sequence[tuple[Lane, Stage]]) -> None:
    """Check that every stage gets what it requires.

    Raises:
        PipelineMisbuilt: a contract is required that no earlier stage provides (the two parallel lanes don't see
            each other), or is provided twice.
    """
    provided: dict[type[Contract], Lane] = {}
    for lane, stage in stages:
        for needed in stage.requires:
            if needed not in provided:
                raise PipelineMisbuilt(
                    f"{needed.__name__} is required but no earlier stage provides it", stage=stage.name
                )
            if {provided[needed], lane} == {"knowledge", "rating"}:
                raise PipelineMisbuilt(f"{needed.__name__} comes from the parallel lane", stage=stage.name)
        if stage.provides in provided:
            raise PipelineMisbuilt(f"{stage.provides.__name__} is provided twice", stage=stage.name)
        provided[stage.provides] = lane


class TurnPipeline:
    """Runs turns: takes a state and an answer, returns an outcome.

    Nothing is stored, so that a turn can be retried, cancelled, or run speculatively.
    """

    def __init__(
        self,
        providers: Providers,
        clock: Clock,
        *,
        engines: Mapping[str, DecisionEngine] | None = None,
        stages: Sequence[tuple[Lane, Stage]] | None = None,
    ) -> None:
        """Args: clock: monotonic seconds, for timings only.

        Raises:
            PipelineMisbuilt: the stages don't fit together.
        """
        self._engines = engines if engines is not None else ENGINES
        self._providers = providers
        self._clock = clock
        self._stages = list(stages if stages is not None else default_stages(providers, self._engines))
        check_stages(self._stages)

    async def open(
        self, state: InterviewState, configuration: SessionConfiguration, *, now: datetime, sink: QuestionSink
    ) -> Outcome:
        """The opening question: turn 0, without a focus. Raises ProviderError."""
        strategies = self._engine_of(state).strategies(configuration)
        return await opened(state, configuration, strategies, questioner(self._providers), now, sink)

    async def preview(
        self,
        state: InterviewState,
        configuration: SessionConfiguration,
        wish: Directive,
        *,
        signals: SignalMatrix | None,
    ) -> Preview:
        """The question that a moderator's directive would lead to now; changes nothing. Raises ProviderError.

        Args:
            state: of the session after its last commit.
            configuration: of the session.
            wish: a strategy, a node, or both.
            signals: of the latest turn; None before the first one.
        """
        engine = self._engine_of(state)
        return await previewed(state, configuration, engine, questioner(self._providers), wish, signals)

    async def rephrase(
        self, state: InterviewState, configuration: SessionConfiguration, *, now: datetime, sink: QuestionSink
    ) -> Outcome:
        """The present question in other words; no turn. Raises ProviderError, InvalidAnswer without a question."""
        strategies = self._engine_of(state).strategies(configuration)
        return await rephrased(state, configuration, strategies, questioner(self._providers), now, sink)

    def defers_naming(self, configuration: SessionConfiguration) -> bool:
        """Whether slots get their names after the question was sent, by `name_slots`."""
        settings = configuration.settings
        return (
            settings.enable_canonical_slots
            and settings.slot_discovery == "deferred"
            and not self._providers.slot_proposer.inline
        )

    async def name_slots(
        self, state: InterviewState, configuration: SessionConfiguration, *, named: Collection[str] = ()
    ) -> list[SlotProposal]:
        """Names for the oldest nodes of the backlog that are not `named` yet, for a later `run`.

        Changes nothing; empty when the backlog has no such nodes.

        Raises:
            ProviderError: the nodes stay in the backlog.
        """
        providers = self._providers
        return await names_for(
            state, configuration, providers.slot_proposer, providers.parser, providers.embedder, named=named
        )

    async def settle(
        self,
        state: InterviewState,
        configuration: SessionConfiguration,
        names: Sequence[SlotProposal],
        *,
        embeddings: Mapping[str, Vectors],
    ) -> Outcome | None:
        """The outcome of applying these names to an interview that has ended; None if none of them fits any more.

        Raises:
            ProviderError: a vector could not be made.
        """
        return await settled(state, configuration, names, self._providers.embedder, embeddings)

    async def run(
        self,
        state: InterviewState,
        answer: Answer,
        configuration: SessionConfiguration,
        *,
        now: datetime,
        sink: QuestionSink,
        embeddings: Mapping[str, Vectors],
        names: SlotNames = no_names,
        wishes: Wishes | None = None,
    ) -> Outcome:
        """One turn.

        Args:
            state: of the session after its last commit.
            answer: what the respondent did.
            configuration: of the session.
            now: with zone.
            sink: receives the question while it is written.
            embeddings: vectors of nodes and slots.
            names: returns what `name_slots` has found; called in stage `slots`.
            wishes: returns the moderators' directives; called when the next question is decided on. Those of the
                state if not given.
        Raises:
            InvalidAnswer: the answer can't be taken.
            ProviderError: a provider did not deliver; `stage` says where.
        """
        context = await self.decide(
            state, answer, configuration, now=now, sink=sink, embeddings=embeddings, names=names, wishes=wishes
        )
        return await self.speak(context)

    async def is_urgent(self, state: InterviewState, answer: Answer) -> bool:
        """Whether the message asks for something that must not wait for anybody: to stop, a pause, help."""
        if answer.kind != "answer":
            return False
        asked = state.question.text if state.question is not None else ""
        heard = await self._providers.act_reader.read(straight(answer.text), asked, state.language)
        return any(act.act in URGENT and act.sure for act in heard)

    async def decide(
        self,
        state: InterviewState,
        answer: Answer,
        configuration: SessionConfiguration,
        *,
        now: datetime,
        sink: QuestionSink,
        embeddings: Mapping[str, Vectors],
        names: SlotNames = no_names,
        wishes: Wishes | None = None,
    ) -> TurnContext:
        """The stages up to `continuation`, without the question. Nothing is sent to the sink."""
        context = TurnContext(
            state=state,
            answer=replace(answer, text=straight(answer.text)),
            configuration=configuration,
            now=now,
            sink=sink,
            embeddings=embeddings,
            strategies=self._engine_of(state).strategies(configuration),
            wishes=wishes if wishes is not None else lambda: state.directives,
            names=names,
        )
        await self._lane(context, "before")
        try:
            async with asyncio.TaskGroup() as lanes:
                lanes.create_task(self._lane(context, "knowledge"))
                lanes.create_task(self._lane(context, "rating"))
        except* PipelineError as group:
            raise _first(group) from group
        join_acts(context)
        await self._lane(context, "decision")
        return context

    async def speak(self, context: TurnContext) -> Outcome:
        """The stages from `question` on, and the outcome of the whole turn."""
        await self._lane(context, "speech")
        return outcome_of(context)

    def _engine_of(self, state: InterviewState) -> DecisionEngine:
        engine = self._engines.get(state.engine)
        if engine is None:
            raise PipelineMisbuilt(f"there is no decision engine {state.engine}")
        return engine

    async def _lane(self, context: TurnContext, lane: Lane) -> None:
        for of_lane, stage in self._stages:
            if of_lane != lane:
                continue
            started = self._clock()
            try:
                contract = await stage.run(context)
            except PipelineError as error:
                error.stage = error.stage or stage.name
                raise
            context.stages_ms[stage.name] = (self._clock() - started) * 1000
            context.put(contract)


def _first(group: BaseExceptionGroup[PipelineError]) -> PipelineError:
    """The first error of a group, however nested."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, PipelineError)
    return error
