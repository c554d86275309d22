"""A respondent who does not give up: keeps an answer until it is acknowledged, and remembers every event."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from pipeline.engines.registry import ENGINES
from tests.support.client import Frame, RespondentClient, key

THINGS = "aroma taste price machine morning focus friends kitchen budget sleep texture warmth noise speed habit".split()
REPEATS = 0.2
"""Share of completed answers that are sent once more, as a page does that missed the news."""
AGAIN_S = 0.3
GONE = (OSError, ConnectionClosed, InvalidHandshake, InvalidMessage, TimeoutError, EOFError, httpx.HTTPError)


class Violation(AssertionError):
    """Something the server must never do."""


@dataclass
class Place:
    """Where the server is just now; changes with every restart."""

    url: str = ""
    up: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Conversation:
    """Everything one session's respondent sent and received."""

    session_id: str
    token: str
    answers: dict[str, str] = field(default_factory=dict)
    events: dict[int, Frame] = field(default_factory=dict)
    completed: set[str] = field(default_factory=set)
    pending: tuple[str, str] | None = None
    epoch: str | None = None
    over: bool = False

    def goes_on(self) -> bool:
        """Whether another answer is wanted and none is on its way."""
        return self.pending is None and not self.over

    @property
    def last_id(self) -> int:
        return max(self.events, default=0)

    def note(self, frame: Frame) -> None:
        """A durable event: the same again must be the same, a new one must be the next one."""
        known = self.events.get(frame["id"])
        if known is not None and known != frame:
            raise Violation(f"event {frame['id']} changed: {known} → {frame}")
        if known is None and frame["id"] != self.last_id + 1:
            raise Violation(f"event {frame['id']} came after {self.last_id}")
        self.events[frame["id"]] = frame
        if frame["type"] == "turn.completed":
            if known is None and frame["turn_key"] in self.completed:
                raise Violation(f"turn {frame['turn_key']} completed twice")
            self.completed.add(frame["turn_key"])
            if self.pending and frame["turn_key"] == self.pending[0]:
                self.pending = None
        if frame["type"] == "session.state" and frame["state"] == "completed":
            self.over = True


class Respondent:
    """Holds one interview after the other, through any number of deaths of the server."""

    def __init__(self, place: Place, number: int, seed: int, conversations: list[Conversation]) -> None:
        self._place = place
        self._number = number
        self._random = random.Random(f"{seed}/{number}")
        self._all = conversations
        self._said = 0
        self.leaving = False

    async def live(self) -> None:
        """Interviews until told to leave; the last pending answer is seen through."""
        conversation: Conversation | None = None
        while True:
            await self._place.up.wait()
            if conversation is None or conversation.over:
                if self.leaving:
                    return
                conversation = await self._begin()
                continue
            if self.leaving and conversation.pending is None:
                return
            try:
                await self._talk(conversation)
            except GONE:
                await asyncio.sleep(0.02)

    async def _begin(self) -> Conversation | None:
        engine = tuple(ENGINES)[len(self._all) % len(ENGINES)]
        wish = {"concept_id": "coffee_mec", "max_turns": 8, "engine": engine}
        try:
            async with httpx.AsyncClient(base_url=self._place.url, trust_env=False, timeout=5) as http:
                answer = await http.post("/api/sessions", json=wish)
            if answer.status_code != 201:
                await asyncio.sleep(0.05)
                return None
        except GONE:
            await asyncio.sleep(0.02)
            return None
        made = answer.json()
        conversation = Conversation(made["session_id"], made["respondent_token"])
        self._all.append(conversation)
        return conversation

    async def _talk(self, conversation: Conversation) -> None:
        async with RespondentClient(self._place.url.replace("http", "ws", 1), conversation.token) as client:
            try:
                ready = await client.hello(last_event_id=conversation.last_id, epoch=conversation.epoch)
            except AssertionError as refused:
                if "storage_unavailable" not in str(refused):
                    raise
                await asyncio.sleep(AGAIN_S)
                raise ConnectionAbortedError("storage is away") from refused
            if conversation.epoch not in (None, ready["epoch"]):
                raise Violation("the epoch changed although Redis kept its data")
            conversation.epoch = ready["epoch"]
            if ready["state"] == "created":
                await client.send("consent", version="1", choices={"agree": True})
            waiting = conversation.pending is not None and self._acknowledged(conversation)
            if conversation.pending is not None:
                if not waiting:
                    await client.answer(conversation.pending[1], conversation.pending[0])
            elif conversation.events:
                await self._next_answer(client, conversation)
            while not conversation.over:
                if self.leaving and conversation.pending is None:
                    return
                frame = await client.next()
                if "id" in frame:
                    conversation.note(frame)
                if frame["type"] == "error" and frame["code"] == "storage_unavailable":
                    await asyncio.sleep(AGAIN_S)
                    raise ConnectionAbortedError("the answer is to be sent again")
                if frame["type"] == "error" and frame["code"] not in ("turn_in_progress", "session_completed"):
                    raise Violation(f"error {frame}")
                if frame["type"] == "turn.completed" and self._random.random() < REPEATS:
                    await client.answer(conversation.answers[frame["turn_key"]], frame["turn_key"])
                asked = frame["type"] in ("question.completed", "turn.completed")
                if asked and conversation.goes_on() and not self.leaving:
                    question_due = frame["type"] == "turn.completed" or frame["turn_number"] == 0
                    if question_due:
                        await self._next_answer(client, conversation)

    async def _next_answer(self, client: RespondentClient, conversation: Conversation) -> None:
        self._said += 1
        some = " ".join(self._random.sample(THINGS, 5))
        text = f"{some} because of {self._number}x{self._said}"
        conversation.pending = (key(), text)
        conversation.answers[conversation.pending[0]] = text
        await client.answer(text, conversation.pending[0])

    @staticmethod
    def _acknowledged(conversation: Conversation) -> bool:
        assert conversation.pending is not None
        wanted = conversation.pending[0]
        return any(e["type"] == "turn.started" and e["turn_key"] == wanted for e in conversation.events.values())
