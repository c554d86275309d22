"""`askwell serve` as a process, the double as its only provider, respondents over the socket, and the store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.chaos.oracle import complaints
from tests.chaos.respondent import Conversation
from tests.llm.rig import KEY, PROVIDERS, fragments_of
from tests.support.client import Frame, RespondentClient, key
from tests.support.llm_double import Asked, FormatName, LLMDouble
from tests.support.llm_double.brain import Brain, Task, task_of
from tests.support.patience import PATIENCE_S
from tests.support.process import ServerProcess


@dataclass(frozen=True)
class Kind:
    """So many concepts, with what happens when their model fails, and how long it is waited for."""

    count: int
    on_llm_failure: str
    deadline_s: float = PATIENCE_S


KINDS = {
    "fail": Kind(36, "fail"),
    "offline": Kind(8, "offline"),
    "late": Kind(8, "fail", 4.0),
    "silent": Kind(1, "offline", 0.5),
}
"""Deadlines are long but where one is to pass: some answers of `late` interviews come in time, no `silent` one."""
MODERATOR_TOKEN = "moderator-token-of-these-very-tests"
PRICES = {"double-*": {"input": 2.0, "output": 10.0, "currency": "EUR"}}
ANSWERS = (
    "I like a strong espresso because it wakes me up and then I get through the morning calmly.",
    "The thick crema feels like a small treat, so I take five minutes just for myself.",
    "My old machine is slow, which annoys me when the kids are waiting for their breakfast.",
    "A good cup at work means people come together and we talk about more than projects.",
)


def of(task: Task, model: str) -> Callable[[Asked], bool]:
    """Requests of one task for one model."""
    return lambda asked: task_of(asked) == task and asked.model == model


@dataclass
class Talk:
    """One interview of a test."""

    house: House
    session_id: str
    model: str
    client: RespondentClient
    conversation: Conversation

    async def opened(self) -> Frame:
        """The opening question."""
        return await self.client.until("question.completed", turn_number=0)

    async def answer(self, text: str, turn_key: str | None = None) -> tuple[str, Frame]:
        """Send an answer; its key and how its turn ended."""
        turn_key = turn_key or key()
        self.conversation.answers[turn_key] = text
        await self.client.answer(text, turn_key)
        while True:
            frame = await self.client.next()
            if frame["type"] in ("turn.completed", "turn.failed") and frame["turn_key"] == turn_key:
                return turn_key, frame

    async def goes_well(self, text: str, turn_key: str | None = None) -> str:
        """An answer whose turn completes; the question that follows."""
        _, frame = await self.answer(text, turn_key)
        assert frame["type"] == "turn.completed", frame
        return str(self.questions[-1]["text"])

    async def fails(self, text: str) -> tuple[str, Frame]:
        """An answer whose turn fails; its key and the frame."""
        turn_key, frame = await self.answer(text)
        assert frame["type"] == "turn.failed", frame
        return turn_key, frame

    @property
    def questions(self) -> list[Frame]:
        """Questions that were completed."""
        return [frame for frame in self.client.seen if frame["type"] == "question.completed"]

    @property
    def requests(self) -> list[Asked]:
        """What this interview's model was asked."""
        return [asked for asked in self.house.double.requests if asked.model == self.model]

    def scripted(self, task: Task) -> Callable[[Asked], bool]:
        """A rule for one task of this interview."""
        return of(task, self.model)

    async def settled(self, calls: int | None = None) -> dict[str, Any]:
        """The usage, once every turn (and so many calls) is in the store."""
        turns = len(self.conversation_so_far().completed)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                stored = self.house.rows("select count(*) from scoring_history where session_id = ?", self.session_id)
                usage = await self.house.get(f"/api/sessions/{self.session_id}/usage")
                wanted = len(self.requests) if calls is None else calls
                if stored[0][0] == turns and usage["calls"] >= wanted:
                    return usage
                await asyncio.sleep(0.05)

    def conversation_so_far(self) -> Conversation:
        """What the respondent saw, for the comparison with the store."""
        for frame in self.client.durable():
            self.conversation.note(frame)
        return self.conversation

    async def nothing_lost(self) -> dict[str, Any]:
        """The usage, after the store was compared with what the respondent saw."""
        usage = await self.settled()
        assert complaints(self.house.database, [self.conversation_so_far()]) == []
        return usage


@dataclass
class House:
    """A server and its provider. Each interview has a concept and a model of its own, so that no two meet."""

    server: ServerProcess
    double: LLMDouble
    http: httpx.AsyncClient
    data: Path
    used: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    @property
    def database(self) -> Path:
        """The store."""
        return self.data / "askwell.db"

    @property
    def log(self) -> list[str]:
        """What the server has logged."""
        self.server._read()
        return self.server.lines

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Rows of the store."""
        with sqlite3.connect(f"file:{self.database}?mode=ro", uri=True) as store:
            return store.execute(query, values).fetchall()

    async def reason(self, turn_key: str) -> str:
        """Why a turn failed, as it is on record."""
        async with asyncio.timeout(PATIENCE_S):
            while not (found := self.rows("select error from answers where turn_key = ? and error <> ''", turn_key)):
                await asyncio.sleep(0.02)
        return str(found[0][0])

    async def get(self, path: str) -> dict[str, Any]:
        """What the API says to a moderator."""
        response = await self.http.get(path)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def metric(self, name: str, **labels: str) -> float:
        """A sum over the samples of a metric that have these labels."""
        text = (await self.http.get("/metrics")).text
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        lines = [line for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(one in line for one in wanted))

    def client(self, token: str) -> RespondentClient:
        """A respondent's connection."""
        return RespondentClient(self.server.url.replace("http", "ws", 1), token)

    @asynccontextmanager
    async def talk(self, kind: str = "fail", *, opened: bool = True) -> AsyncIterator[Talk]:
        """An interview, with its opening question asked."""
        concept = f"{kind}_{self.used[kind]:02d}"
        self.used[kind] += 1
        made = await self.http.post("/api/sessions", json={"concept_id": concept, "max_turns": 10})
        assert made.status_code == 201, made.text
        session_id, token = made.json()["session_id"], made.json()["respondent_token"]
        async with self.client(token) as client:
            conversation = Conversation(session_id, token)
            talk = Talk(self, session_id, f"double-{concept}", client, conversation)
            await client.hello()
            if opened:
                await talk.opened()
            yield talk
            assert [asked.problem for asked in talk.requests if asked.problem] == []


def concepts(directory: Path) -> Iterator[str]:
    """Write concepts, alike but for their model, its deadline and what happens when it fails; their ids."""
    for kind, wanted in KINDS.items():
        for number in range(wanted.count):
            name = f"{kind}_{number:02d}"
            model = {"model": f"double-{name}", "deadline_s": wanted.deadline_s}
            concept = {
                "id": name, "name": "coffee", "methodology": "means_end_chain", "objective": "Why coffee",
                "languages": ["en"], "on_llm_failure": wanted.on_llm_failure,
                "llm": {"extraction": model, "scoring": model, "generation": model},
            }  # fmt: skip
            (directory / f"{name}.yaml").write_text(yaml.safe_dump(concept))
            yield name


@asynccontextmanager
async def house(form: FormatName, folder: Path) -> AsyncIterator[House]:
    """A server on an empty data directory. At its end the key is in no line of its log and in no file."""
    config, data = folder / "config", folder / "data"
    (config / "concepts").mkdir(parents=True)
    assert len(list(concepts(config / "concepts"))) == sum(kind.count for kind in KINDS.values())
    (config / "prices.yaml").write_text(yaml.safe_dump(PRICES))
    async with LLMDouble(default=Brain(), key=KEY) as double:
        environment = {
            "ASKWELL_CONFIG_DIR": str(config), "ASKWELL_LOG_FORMAT": "json", "ASKWELL_LOG_LEVEL": "debug",
            "ASKWELL_MODERATOR_TOKEN": MODERATOR_TOKEN,
        }  # fmt: skip
        for role in ("EXTRACTION", "SCORING", "GENERATION"):
            environment |= {
                f"ASKWELL_{role}_PROVIDER": PROVIDERS[form], f"ASKWELL_{role}_MODEL": "double-none",
                f"ASKWELL_{role}_BASE_URL": double.base_url, f"ASKWELL_{role}_API_KEY": KEY,
            }  # fmt: skip
        server = ServerProcess(data, environment)
        async with server:
            headers = {"authorization": f"Bearer {MODERATOR_TOKEN}"}
            async with httpx.AsyncClient(
                base_url=server.url, trust_env=False, timeout=PATIENCE_S, headers=headers
            ) as http:
                yield House(server, double, http, data)
                shown = (await http.get("/metrics")).content
    kept = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
    everything = kept + shown + "\n".join(server.lines).encode()
    assert not [fragment for fragment in fragments_of(KEY) if fragment.encode() in everything]
