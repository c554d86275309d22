"""Whatever fails when: every answer counts once, every durable event comes once and in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from pipeline.errors import LLMUnavailable
from pipeline.turn import Answer
from server.hot.errors import HotError
from server.hot.redis import HotStore
from server.session.problems import SessionProblem
from tests.support.client import key
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, running_hub

OPERATIONS = ("accept", "commit", "fail", "read", "claim", "events_after", "embeddings")
ANSWERS = 6


class Faults:
    """Does harm to two nodes that share a session, as chance has it."""

    def __init__(self, random: Random, nodes: tuple[Node, Node]) -> None:
        self._random = random
        self._nodes = nodes

    def strike(self) -> None:
        """Arrange for zero to two things to go wrong soon."""
        for _ in range(self._random.choice((0, 0, 1, 1, 2))):
            node = self._random.choice(self._nodes)
            if self._random.random() < 0.3:
                node.providing.extractor.errors.append(LLMUnavailable("down"))
            else:
                node.hot.lose(self._random.choice(OPERATIONS), self._random.choice(("before", "after")))

    def node(self) -> Node:
        """Where the client's next connection ends up."""
        return self._random.choice(self._nodes)


async def until_done(work: Callable[[], Awaitable[object]]) -> int:
    """Try as a client does, until it works; how often it took."""
    for attempt in range(1, 60):
        try:
            await work()
        except (SessionProblem, HotError):
            await asyncio.sleep(0.005)
        else:
            return attempt
    raise AssertionError("never worked")


@pytest.mark.parametrize("seed", range(25))
async def test_interview_among_faults_and_takeovers_counts_everything_once(hot: HotStore, seed: int) -> None:
    random = Random(seed)
    store, providing = MemoryStore(), Providing()
    async with (
        running_hub(TroubledHot(hot), store, providing) as one,
        running_hub(TroubledHot(hot), store, providing) as two,
    ):
        faults = Faults(random, (one, two))
        session_id = (await one.session()).session_id
        answers = [Answer(turn_key=key(), text=f"Answer {number}.") for number in range(1, ANSWERS + 1)]

        async def start() -> None:
            await (await faults.node().hub.attach(session_id)).start()

        await until_done(start)
        for answer in answers:
            faults.strike()

            async def say(answer: Answer = answer) -> None:
                nodes = {faults.node().hub for _ in range(random.choice((1, 1, 2)))}
                results = await asyncio.gather(*(submit(hub, answer) for hub in nodes), return_exceptions=True)
                if not any(result is None for result in results):
                    raise next(result for result in results if isinstance(result, Exception))

            async def submit(hub: object, answer: Answer) -> None:
                owner = await hub.attach(session_id)  # type: ignore[attr-defined]
                receipt = await owner.submit(answer)
                assert receipt.turn_key == answer.turn_key

            await until_done(say)
        await until_done(lambda: one.hub.attach(session_id))
        owner = await one.hub.attach(session_id)
        await owner.context.worker.settled()

        stored = await hot.read(session_id)
        state = owner.state
        said = [u.text for u in state.utterances if u.speaker == "respondent"]
        assert said == [answer.text for answer in answers]
        assert [r.turn_key for r in state.receipts] == [answer.turn_key for answer in answers]
        assert (state.rev, state.turn_count) == (stored.rev, ANSWERS)
        assert stored.pending is None
        events = await hot.events_after(session_id, 0)
        assert [event.id for event in events] == list(range(1, len(events) + 1))
        counts = Counter(event.data["type"] for event in events)
        assert counts["turn.completed"] == ANSWERS
        assert counts["question.completed"] == ANSWERS + 1
        completed = [e.data["turn_key"] for e in events if e.data["type"] == "turn.completed"]
        assert completed == [answer.turn_key for answer in answers]
