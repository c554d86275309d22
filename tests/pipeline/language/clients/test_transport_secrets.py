"""The key is on the wire and nowhere else: not in messages, log lines, tracebacks, local variables or chains."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from pydantic import SecretStr

from pipeline.calls import CallLog, recording
from pipeline.errors import ProviderError
from pipeline.language.clients.base import ChatMessage, ChatRequest, ProviderName, RoleModel
from pipeline.language.clients.clients import Clients
from pipeline.language.clients.timing import Timing
from tests.support.llm_double import Answer, Behaviour, Break, Bytes, Cut, Fail, LLMDouble, page, refused_url

KEY = "Q7vX2mLkP9dRtB4wYzN8cF6hJ1sG3aE5"
SAID = "My neighbour Aloysius drinks it."
PROVIDERS: tuple[ProviderName, ...] = ("anthropic", "openai")
FAULTS: dict[str, Behaviour] = {
    "refused": Fail(401, f"Incorrect API key provided: {KEY}"),
    "refused_in_part": Fail(400, f"header x-api-key: {KEY[:16]}... is odd"),
    "in_headers": Fail(500, f"upstream said {{'authorization': 'Bearer {KEY}'}}", headers=(("x-echo", KEY),)),
    "page": page(200),
    "reset": Break("reset"),
    "silence": Break("silence"),
    "garbage": Bytes(KEY.encode() + b"\r\n\r\n"),
    "echoed": Bytes(b"HTTP/1.1 200 OK\r\n" + KEY.encode() + b"\r\n\r\n"),
    "broken": Answer(cut=Cut(1, "reset")),
}


async def no_sleep(seconds: float) -> None:
    """Take no time."""


@pytest.fixture
async def double() -> AsyncIterator[LLMDouble]:
    async with LLMDouble() as running:
        yield running


@pytest.fixture
def written() -> Iterator[list[str]]:
    """Every line that structlog renders with dict tracebacks, and that the standard library's loggers emit."""
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(f"{record.getMessage()} {record.__dict__!r}")

    def keep(logger: Any, method: str, event: Any) -> Any:
        lines.append(json.dumps(event, default=repr))
        raise structlog.DropEvent

    handler = Lines(logging.DEBUG)
    logging.getLogger().addHandler(handler)
    tracebacks = structlog.processors.ExceptionRenderer(
        structlog.tracebacks.ExceptionDictTransformer(
            show_locals=True, locals_max_string=100_000, locals_max_length=999
        )
    )
    structlog.configure(processors=[structlog.processors.add_log_level, tracebacks, keep])
    yield lines
    structlog.reset_defaults()
    logging.getLogger().removeHandler(handler)


def spec(double: LLMDouble, provider: ProviderName, **changes: Any) -> RoleModel:
    usual: dict[str, Any] = {"model": "m", "base_url": double.base_url, "api_key": SecretStr(KEY), "deadline_s": 30}
    return RoleModel(role="generation", provider=provider, **(usual | changes))


def question() -> ChatRequest:
    return ChatRequest(task="question", system="Ask.", messages=(ChatMessage(speaker="user", content=SAID),))


async def raised(clients: Clients, spec: RoleModel, *, streamed: bool) -> ProviderError:
    """What the client raises; its frames, without those of the test."""
    client = clients.client(spec)
    with pytest.raises(ProviderError) as caught:
        await (exhaust(client.stream(question())) if streamed else client.complete(question()))
    frames = caught.value.__traceback__
    while frames is not None and Path(frames.tb_frame.f_code.co_filename).name == Path(__file__).name:
        frames = frames.tb_next
    assert frames is not None
    return caught.value.with_traceback(frames)


async def exhaust(pieces: AsyncIterator[str]) -> None:
    async for _ in pieces:
        pass


def everything(error: BaseException, written: list[str], calls: CallLog, clients: Clients) -> str:
    frames = traceback.TracebackException.from_exception(error, capture_locals=True)
    shown = ["".join(frames.format()), repr(error), *written, repr(calls.peek()), repr(vars(clients))]
    here = Path(__file__).name
    assert here not in "".join(frames.format())
    return "\n".join(shown)


def fragments(text: str) -> set[str]:
    return {text[i : i + 10] for i in range(len(text) - 9)}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", sorted(FAULTS))
async def test_key_of_a_failed_call_is_nowhere(
    double: LLMDouble, written: list[str], provider: ProviderName, fault: str, streamed: bool
) -> None:
    double.always(FAULTS[fault])
    if fault == "broken" and not streamed:
        double.always(Answer(cut=Cut(20, "reset")))
    clients = Clients(timing=Timing(sleep=no_sleep))
    calls = CallLog()
    with recording(calls):
        # Only silence is waited out; elsewhere a busy machine must not meet the deadline before the request is sent.
        changes = {"deadline_s": 2} if fault == "silence" else {}
        error = await raised(clients, spec(double, provider, **changes), streamed=streamed)
    structlog.get_logger().error("turn.failed", exc_info=error)
    found = everything(error, written, calls, clients)
    await clients.aclose()
    assert double.requests[0].key == KEY
    assert error.__cause__ is error.__context__ is None
    assert not fragments(KEY) & fragments(found)
    assert any("turn.failed" in line for line in written)
    assert "frames" in next(line for line in written if "turn.failed" in line)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_what_a_respondent_said_is_in_no_log_line(
    double: LLMDouble, written: list[str], provider: ProviderName
) -> None:
    double.always(Answer(f"Why does {SAID}?"))
    clients = Clients()
    client = clients.client(spec(double, provider))
    await client.complete(question())
    async for _ in client.stream(question()):
        break
    double.always(page(200))
    error = await raised(clients, spec(double, provider), streamed=False)
    structlog.get_logger().error("turn.failed", exc_info=error)
    await clients.aclose()
    assert "Aloysius" not in "\n".join(written)
    assert "Aloysius" not in repr(question())
    assert any("llm_call_complete" in line for line in written)


@pytest.mark.parametrize("url", ["http://me:hunter2secret@127.0.0.1:1/v1", "http://me:hunter2secret@[/v1"])
async def test_password_in_a_base_url_is_nowhere(double: LLMDouble, written: list[str], url: str) -> None:
    clients = Clients(timing=Timing(sleep=no_sleep))
    with recording(CallLog()):
        error = await raised(clients, spec(double, "openai", base_url=url), streamed=False)
    await clients.aclose()
    assert "hunter2secret" not in str(error) + "\n".join(written)


async def test_key_with_a_line_break_is_not_repeated(double: LLMDouble, written: list[str]) -> None:
    clients = Clients(timing=Timing(sleep=no_sleep))
    broken = spec(double, "openai", api_key=SecretStr(f"{KEY}\r\nx: y"))
    error = await raised(clients, broken, streamed=True)
    found = everything(error, written, CallLog(), clients)
    await clients.aclose()
    assert not fragments(KEY) & fragments(found)


async def test_warming_with_a_wrong_key_does_not_repeat_it(written: list[str]) -> None:
    async with LLMDouble(key="another") as double, refused_url() as dead:
        clients = Clients()
        for model in (spec(double, "openai"), spec(double, "anthropic"), spec(double, "openai", base_url=dead)):
            clients.client(model)
        problems = await clients.warm()
        await clients.aclose()
    assert len(problems) == 3
    assert not fragments(KEY) & fragments("\n".join([*problems, *written]))
