"""Puts recorded answers to an interviewer of another engine or configuration, without server or network."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from pydantic import ValidationError

from config.fitting import engine_refused
from config.settings import ROLES, Settings
from pipeline.concept import SessionConfiguration
from pipeline.context import Answer
from pipeline.contracts import TurnRecord
from pipeline.engines.registry import ENGINES
from pipeline.errors import InvalidAnswer
from pipeline.language.support import speaks_offline
from pipeline.methodology import Methodology
from pipeline.outcome import Outcome
from pipeline.ports import Vectors
from pipeline.signals.registry import SIGNALS, weight_key
from pipeline.state import AnswerKind, InterviewState
from pipeline.turn import TurnPipeline
from server.comparison.errors import Unplayable
from server.comparison.recording import Message, Recording
from server.language import load_providers
from server.session import rules
from server.session.new import NewSession
from server.simulation.interview import BEGINS, EVERY, GOING_ON, Silent

HELD = "as held"
"""How the run is called that is the interview as it was held, behind its engine."""


@dataclass(frozen=True)
class Variant:
    """A way to hold the interview: a name for tables, and the configuration with its engine."""

    name: str
    configuration: SessionConfiguration

    @property
    def engine(self) -> str:
        """The decision engine."""
        return self.configuration.concept.engine


@dataclass(frozen=True)
class Run:
    """An interview that was held, or played from recorded answers.

    Attributes:
        name: for tables.
        engine, configuration: of the interview.
        state: after its last message.
        records: of its turns, oldest first.
        given: the messages that there were; it may have closed before the last.
        was_held: whether it is the interview as it was held, and not played.
    """

    name: str
    engine: str
    configuration: SessionConfiguration
    state: InterviewState
    records: tuple[TurnRecord, ...]
    given: tuple[Message, ...]
    was_held: bool = False


def held(recording: Recording) -> Run | None:
    """The interview as it was held, where the recording has it."""
    state, configuration = recording.state, recording.configuration
    if state is None or configuration is None:
        return None
    name = f"{state.engine} ({HELD})"
    return Run(name, state.engine, configuration, state, recording.records, recording.messages, was_held=True)


def with_engine(
    configuration: SessionConfiguration, engine: str, files: Mapping[str, Mapping[str, object]]
) -> SessionConfiguration:
    """The same interview with another engine, held offline; what the engine proposes is asked.

    Args:
        configuration: of the interview.
        engine: name of one that there is.
        files: what the files of engines say, by engine.
    Raises:
        Unplayable: the engine can't serve it.
    """
    if engine not in ENGINES:
        raise Unplayable(f"this version of askwell has no engine `{engine}` (it has {', '.join(ENGINES)})")
    if name := _unknown_signal(configuration.methodology):
        method = configuration.methodology.name
        raise Unplayable(f"{method} is of another version of askwell: this one has no signal for `{name}`")
    if refused := engine_refused(configuration.methodology, engine):
        raise Unplayable(refused)
    kept = configuration.concept.engine == engine and configuration.engine_file
    changed = configuration.model_copy(
        update={
            "concept": configuration.concept.model_copy(update={"engine": engine, "choice": "engine"}),
            "engine_file": configuration.engine_file if kept else dict(files.get(engine, {})),
            "prompts": {},
        }
    )
    try:
        ENGINES[engine].strategies(changed)
    except (ValidationError, ValueError, KeyError) as error:
        reason = "its file was written for another version" if isinstance(error, ValidationError) else str(error)
        raise Unplayable(f"{engine} can't be used with {configuration.methodology.name}: {reason}") from error
    return changed


def _unknown_signal(methodology: Methodology) -> str:
    """The first signal or weight that a pinned methodology names and this version doesn't know; empty without one."""
    for name in methodology.signal_names:
        if name not in SIGNALS:
            return name
    for key in (key for strategy in methodology.strategies for key in strategy.signal_weights):
        try:
            weight_key(key)
        except ValueError:
            return key
    return ""


@asynccontextmanager
async def offline(settings: Settings, methodologies: Iterable[Methodology]) -> AsyncIterator[TurnPipeline]:
    """A pipeline of what works on this machine, whatever the settings name. Raises ProviderError."""
    with ThreadPoolExecutor(settings.language.language_threads, thread_name_prefix="language") as executor:
        yield TurnPipeline(await load_providers(settings, executor, tuple(methodologies)), time.perf_counter)


async def play(pipeline: TurnPipeline, variant: Variant, recording: Recording) -> Run:
    """Say what was recorded, message by message, until the interview is over or nothing is left to say.

    Raises:
        Unplayable: the language is not spoken offline, or a message can't be taken.
        ProviderError: a model of this machine failed.
    """
    configuration = variant.configuration
    language = recording.language or configuration.concept.languages[0]
    if not all(speaks_offline(role, language) for role in ROLES):
        raise Unplayable(f"interviews in `{language}` can't be held without a language model, and this is done offline")
    new = NewSession(
        recording.session_id,
        configuration,
        "compared",
        language,
        recording.seed,
        max_turns=recording.max_turns,
        engine=variant.engine,
    )
    now, vectors, records = BEGINS, dict[str, Vectors](), list[TurnRecord]()
    outcome = await pipeline.open(new.state(now), configuration, now=now, sink=Silent())
    for at, message in enumerate(recording.messages):
        state = _going_on(outcome.state)
        if state is None:
            break
        now += EVERY
        try:
            answer = _answer(state, message, at)
            outcome = await pipeline.run(state, answer, configuration, now=now, sink=Silent(), embeddings=vectors)
        except InvalidAnswer as error:
            raise Unplayable(f"answer {at + 1} can't be taken: {str(error)[:1].lower()}{str(error)[1:]}") from error
        vectors.update(outcome.embeddings)
        records += _recorded(outcome)
    return Run(variant.name, variant.engine, configuration, outcome.state, tuple(records), recording.messages)


def _recorded(outcome: Outcome) -> Sequence[TurnRecord]:
    return (outcome.record,) if outcome.record is not None else ()


def _going_on(state: InterviewState) -> InterviewState | None:
    """The state in which the next message comes; None where the interview is over.

    Who wanted to stop and nevertheless says more has taken it back.
    """
    if state.conduct.withdrawing or state.status not in GOING_ON:
        return None
    if rules.is_stopping(state):
        return rules.resume(state, "respondent", state.updated_at, timedelta()).state
    return state


def _answer(state: InterviewState, message: Message, at: int) -> Answer:
    """The message as an answer; an amendment of nothing is an answer of its own."""
    last = state.last_answer()
    if message.kind == "correct" and last is not None:
        return Answer(f"message-{at}", message.text, "correct", last.id, spoken=message.spoken)
    kind: AnswerKind = "skip" if message.kind == "skip" else "answer"
    return Answer(f"message-{at}", message.text, kind, spoken=message.spoken)
