"""Real clients in front of the double, everything they record and say, and a search of it all for the key."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, MutableMapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import structlog
from pydantic import SecretStr
from structlog.testing import capture_logs

from pipeline.calls import CallLog, LLMCall, recording
from pipeline.language.clients.base import ChatMessage, ChatRequest, Completion, OutputForm, ProviderName, RoleModel
from pipeline.language.clients.clients import Clients
from pipeline.language.clients.prices import Price, PriceTable
from pipeline.language.clients.timing import Timing
from tests.support.llm_double import FormatName, LLMDouble

Mode = Literal["complete", "stream"]
KEY = "sk-proj-Q7vX2mLkP9dRtB4wYzN8cF6hJ1sG3aE5"
DEADLINE_S = 20.0
"""Of calls that are not to run out of time, also on a busy machine."""
SHORT_S = 0.3
"""Of those that are."""
TESTS = Path(__file__).resolve().parent.parent
PROVIDERS: dict[FormatName, ProviderName] = {"anthropic": "anthropic", "openai": "openai_compatible"}
FORM = OutputForm(
    name="record_mood",
    description="Record the mood.",
    json_schema={
        "type": "object",
        "properties": {"mood": {"type": "string"}, "score": {"type": "integer"}},
        "required": ["mood", "score"],
        "additionalProperties": False,
    },
)
PRICES = PriceTable({"double-*": Price(input=2.0, output=10.0, cached_input=0.5, currency="EUR")})


def request(*, form: OutputForm | None = None, task: str = "question", **fields: Any) -> ChatRequest:
    """Something to ask."""
    said = (ChatMessage(speaker="user", content="Why do people drink tea? Answer as json."),)
    return ChatRequest(task=task, system="You are brief.", messages=said, form=form, **fields)


@dataclass
class Rig:
    """Clients of one format, with recorded sleeps that take no time.

    `said` are the log events, `slept` the pauses in seconds, `observed` what the observer was told, `pieces` the
    latest stream's pieces, also of one that failed, and `problems` every error that was raised.
    """

    form: FormatName
    double: LLMDouble
    said: list[MutableMapping[str, Any]]
    calls: CallLog = field(default_factory=CallLog)
    observed: list[LLMCall] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    problems: list[BaseException] = field(default_factory=list)
    now_s: float = 0.0
    """Added to the clients' clocks."""
    clients: Clients = field(init=False)

    def __post_init__(self) -> None:
        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        loop = asyncio.get_running_loop()
        timing = Timing(clock=lambda: loop.time() + self.now_s, sleep=sleep, jitter=lambda: 0.5)
        self.clients = Clients(prices=PRICES, observe=self.observed.append, timing=timing)

    def spec(self, **fields: Any) -> RoleModel:
        """The double as a role's model."""
        usual: dict[str, Any] = {
            "role": "generation", "provider": PROVIDERS[self.form], "model": "double-1",
            "base_url": self.double.base_url, "api_key": SecretStr(KEY), "temperature": 0.3, "deadline_s": DEADLINE_S,
            "key_setting": "ASKWELL_GENERATION_API_KEY",
        }  # fmt: skip
        return RoleModel(**{**usual, **fields})

    async def ask(self, mode: Mode, asked: ChatRequest | None = None, **fields: Any) -> Completion:
        """Ask; a stream's pieces are put together.

        Raises:
            BaseException: as the client did; kept in `problems`.
        """
        client = self.clients.client(self.spec(**fields))
        asked = asked if asked is not None else request()
        heard: list[str] = []
        self.pieces = heard
        with recording(self.calls):
            try:
                if mode == "complete":
                    return await client.complete(asked)
                async with aclosing(stream_of(client.stream(asked))) as pieces:
                    async for piece in pieces:
                        heard.append(piece)
                return Completion(text="".join(heard))
            except BaseException as error:
                self.problems.append(error)
                raise

    @property
    def events(self) -> list[str]:
        """Names of the log events, in order."""
        return [str(line["event"]) for line in self.said]

    @property
    def outcomes(self) -> list[tuple[int, str, str | None]]:
        """(attempt, outcome, error) of every call on record."""
        return [(call.attempt, call.outcome, call.error) for call in self.calls.peek()]

    def traces(self) -> str:
        """Everything that was recorded, said, logged or raised, and every local variable of every frame."""
        shown = [repr(self.said), repr(self.calls.peek()), repr(self.observed), repr(self.clients.breakers)]
        for error in self.problems:
            shown += [repr(error), str(error), *_frames(error)]
        return "\n".join(shown)


def _frames(error: BaseException) -> Iterator[str]:
    """Frames and local variables of an error and of all it came from, without those of the tests themselves."""
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None:
            continue
        waiting += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
        for frame in traceback.TracebackException.from_exception(one, capture_locals=True).stack:
            if TESTS not in Path(frame.filename).parents:
                yield f"{one!r} {frame.filename}:{frame.lineno} {frame.name} {frame.line} {frame.locals}"


async def stream_of(pieces: AsyncIterator[str]) -> AsyncGenerator[str, None]:
    """A stream that can be closed, whatever kind of iterator it is."""
    try:
        async for piece in pieces:
            yield piece
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.getMessage()} {record.__dict__!r}")


@contextmanager
def listening(names: Sequence[str] = ("httpx2", "httpcore2", "asyncio", "h11", "")) -> Iterator[list[str]]:
    """The lines of the standard library's loggers."""
    handler = _Lines()
    for name in names:
        logging.getLogger(name).addHandler(handler)
    try:
        yield handler.lines
    finally:
        for name in names:
            logging.getLogger(name).removeHandler(handler)


@asynccontextmanager
async def rigged(form: FormatName, **fields: Any) -> AsyncIterator[Rig]:
    """A rig with a double of its own. At its end the key must not be anywhere but on the wire."""
    structlog.reset_defaults()
    with listening() as lines, capture_logs() as said:
        async with LLMDouble(**fields) as double:
            rig = Rig(form, double, said)
            try:
                yield rig
            finally:
                await rig.clients.aclose()
            observed_all = rig.observed == list(rig.calls.peek())
    trace = rig.traces() + "\n".join(lines)
    found = fragments_of(KEY) & {trace[i : i + 12] for i in range(len(trace) - 11)}
    assert not found, f"the key leaked: {sorted(found)}"
    assert observed_all


def fragments_of(key: str) -> set[str]:
    """All stretches of twelve characters of a key."""
    return {key[i : i + 12] for i in range(len(key) - 11)}
