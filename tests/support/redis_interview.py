"""A whole interview through hot storage: what a session's owner does, without sockets."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.context import Answer
from pipeline.outcome import Outcome, answer_digest
from pipeline.ports import Extraction
from server.hot.redis import HotStore
from server.hot.values import Accepted
from server.session.change import ChangeRecord
from tests.support.interview import Interview, concepts, new_state


@dataclass
class HotInterview:
    """Runs turns of a small interview and commits them."""

    hot: HotStore
    session_id: str
    owner: str = "anna"
    interview: Interview = field(default_factory=Interview)

    async def begin(self) -> None:
        """Create the session and ask the opening question."""
        self.interview.state = new_state(session_id=self.session_id)
        await self.hot.create(self.session_id, state=self.interview.state.dump())
        await self.hot.claim(self.session_id, self.owner)
        opened = await self.interview.open()
        await self.commit(opened, "opening", keep_pending=True)

    async def accept(self, key: str, text: str) -> Accepted:
        """Have an answer accepted."""
        state = self.interview.state
        done = await self.hot.accept(
            self.session_id,
            owner=self.owner,
            rev=state.rev,
            turn_key=key,
            payload=text.encode(),
            digest=answer_digest(Answer(key, text)),
            turn_number=state.turn_count + 1,
            event={"type": "turn.started", "turn_number": state.turn_count + 1, "turn_key": key},
        )
        assert isinstance(done, Accepted)
        return done

    async def say(self, text: str, found: Extraction | None = None) -> Outcome:
        """One whole turn."""
        key = f"key-{self.interview.state.turn_count + 1}"
        await self.accept(key, text)
        outcome = await self.interview.say(text, found)
        await self.commit(outcome, key)
        return outcome

    async def say_all(self, count: int) -> None:
        """`count` turns, each with a new chain of concepts."""
        for _ in range(count):
            number = self.interview.state.turn_count + 1
            feature, effect = f"feature {number}", f"effect {number}"
            await self.say(
                f"I like {feature} because of {effect}",
                concepts((feature, "attribute"), (effect, "consequence"), links=[(feature, effect)]),
            )

    async def commit(self, outcome: Outcome, key: str, *, keep_pending: bool = False) -> None:
        """Commit what came out."""
        receipt = outcome.state.receipt(key)
        await self.hot.commit(
            self.session_id,
            owner=self.owner,
            rev=outcome.state.rev - 1,
            turn_key=key,
            state=outcome.state.dump(),
            events=outcome.events,
            record=ChangeRecord(outcome.record).dump(),
            receipt=receipt.model_dump_json().encode() if receipt is not None else b"",
            keep_pending=keep_pending,
        )
