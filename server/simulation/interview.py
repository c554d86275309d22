"""Holds one interview with a simulated respondent, without a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pipeline.concept import SessionConfiguration
from pipeline.context import Answer
from pipeline.outcome import Outcome
from pipeline.ports import Vectors
from pipeline.state import InterviewState
from pipeline.turn import TurnPipeline
from server.session.new import NewSession
from server.simulation.respondent import Told

BEGINS = datetime(2026, 1, 1, 9, tzinfo=UTC)
EVERY = timedelta(seconds=30)
GO_ON = "Let's go on."
SPARE = 10
"""Messages beyond the number of turns after which an interview is broken off."""

GOING_ON = ("active", "closing")

Answering = Callable[[str], Awaitable[Told]]
"""Answers a question."""


@dataclass(frozen=True)
class Exchange:
    """A question and its answer.

    Attributes:
        question: as it was put.
        strategy, about: what it was asked for; empty for openings and replies.
        told: the answer.
        utterance_id: of the answer.
        turn: of the answer; the same twice where the first used none.
    """

    question: str
    strategy: str
    about: str
    told: Told
    utterance_id: str
    turn: int


@dataclass
class Held:
    """An interview that was held."""

    exchanges: list[Exchange] = field(default_factory=list)
    state: InterviewState | None = None
    broken_off: bool = False
    """Whether it did not come to an end by itself."""


class Silent:
    """A sink of questions that nobody reads while they are written."""

    async def started(self, turn_number: int) -> None:
        """Nothing."""

    async def delta(self, text: str) -> None:
        """Nothing."""

    async def retracted(self) -> None:
        """Nothing."""


async def hold(
    pipeline: TurnPipeline, configuration: SessionConfiguration, answering: Answering, *, name: str, seed: int
) -> Held:
    """Interview somebody until the interview ends.

    Args:
        pipeline: that asks.
        configuration: of the interview.
        answering: the respondent.
        name: of the session; letters, digits, `_` and `-`.
        seed: of the session.
    Raises:
        ProviderError: a language model that the interview needs failed.
    """
    new = NewSession(name, configuration, "simulated", configuration.concept.languages[0], seed)
    held = Held()
    now, sink = BEGINS, Silent()
    outcome = await pipeline.open(new.state(now), configuration, now=now, sink=sink)
    vectors: dict[str, Vectors] = {}
    limit = 2 * outcome.state.max_turns + SPARE
    while outcome.state.status in GOING_ON:
        if len(held.exchanges) >= limit:
            held.broken_off = True
            break
        state = outcome.state
        question = state.utterances[-1]
        now += EVERY
        told = await answering(question.text) if _open(outcome) else Told(GO_ON, reason="goes_on")
        answer = Answer(f"{name}-{len(held.exchanges)}", told.text, "answer", None)
        outcome = await pipeline.run(state, answer, configuration, now=now, sink=sink, embeddings=vectors)
        vectors.update(outcome.embeddings)
        said = next(u for u in reversed(outcome.state.utterances) if u.speaker == "respondent")
        focus = state.question.target.label if state.question and state.question.target else ""
        held.exchanges.append(
            Exchange(question.text, question.strategy or "", focus or "", told, said.id, said.turn_number)
        )
        if outcome.state.conduct.stopping_until is not None:
            held.broken_off = True
            break
    held.state = outcome.state
    held.broken_off |= outcome.state.status != "completed"
    return held


def _open(outcome: Outcome) -> bool:
    """Whether a question waits for an answer."""
    return outcome.state.question is not None
