"""An interview with the client library that the Realtime door is for: OpenAI's own, as its users write it."""

from __future__ import annotations

import asyncio
import base64
import functools
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from config.voice import VoiceSettings
from server.hot.redis import HotStore
from server.metrics import Metrics
from server.voice.voices import Voices
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, asking_consent, running_node
from tests.support.patience import PATIENCE_S
from tests.support.realtime import at_rate
from tests.support.speech import ToneSpeech, silence, speech
from tests.support.voice_program import VoiceProgram, sung

pytestmark = pytest.mark.needs("openai")


@pytest.fixture
async def node(hot: HotStore) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=ToneSpeech()) as running:
        yield running


@asynccontextmanager
async def connected(node: Node, session_id: str, **options: Any) -> AsyncIterator[Any]:
    """The library's connection to a session."""
    from openai import AsyncOpenAI

    base = node.url.replace("ws://", "http://") + "/v1"
    async with (
        AsyncOpenAI(api_key=f"token-{session_id}", base_url=base, max_retries=0) as client,
        client.realtime.connect(model="coffee", **options) as connection,
    ):
        yield connection


@functools.cache
def published() -> TypeAdapter[Any]:
    """The events as the library has published them; it does not compare what comes with that itself."""
    from openai.types.realtime import RealtimeServerEvent

    return TypeAdapter(RealtimeServerEvent)


async def until(connection: Any, kind: str, see: Callable[[Any], None] = lambda event: None) -> Any:
    """The first event of this type, each before it is shown to `see`; all are as published."""
    async with asyncio.timeout(PATIENCE_S):
        async for event in connection:
            if not event.type.startswith("askwell."):
                as_published = published().validate_python(event.model_dump())
                assert type(as_published) is type(event)
            see(event)
            if event.type == kind:
                return event
    raise AssertionError(f"the connection ended before {kind}")


def user(text: str) -> dict[str, Any]:
    """An answer, as the library's guide writes it."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def encoded(pcm: bytes) -> str:
    """Samples at 24 kHz, the rate that the library's users send."""
    return base64.b64encode(at_rate(pcm, 24_000)).decode()


async def test_interview_in_writing_is_held_from_consent_to_the_closing(node: Node) -> None:
    from openai.types.realtime import RealtimeErrorEvent, ResponseDoneEvent, ResponseTextDeltaEvent, SessionCreatedEvent

    state = await node.session(asking_consent(), max_turns=3)
    written: list[str] = []

    def see(event: Any) -> None:
        if isinstance(event, ResponseTextDeltaEvent):
            written.append(event.delta)

    async with connected(node, state.session_id) as connection:
        created = await until(connection, "session.created")
        assert isinstance(created, SessionCreatedEvent)
        assert created.session.model == "coffee"
        assert created.session.askwell["consent"]["text"] == "Do you agree?"
        await connection.conversation.item.create(item=user("Too early."))
        refused = await until(connection, "error")
        assert isinstance(refused, RealtimeErrorEvent)
        assert refused.error.code == "consent_required"
        agreed = {"type": "realtime", "output_modalities": ["text"], "askwell": {"consent": {"version": "2"}}}
        await connection.session.update(session=agreed)
        done = await until(connection, "response.done", see)
        for number in range(3):
            assert isinstance(done, ResponseDoneEvent)
            [item] = done.response.output
            assert item.content[0].text == "".join(written) != ""
            written.clear()
            await connection.conversation.item.create(item=user(f"Answer number {number}."))
            await connection.response.create()
            done = await until(connection, "response.done", see)
        assert done.response.status == "completed"
        assert done.response.askwell["closing"] is True
    [owner] = node.hub._owners.values()
    assert owner.state.status == "completed"
    assert [u.text for u in owner.state.utterances if u.speaker == "respondent"] == [
        "Answer number 0.", "Answer number 1.", "Answer number 2.",
    ]  # fmt: skip


async def test_spoken_answer_is_transcribed_and_answered(node: Node) -> None:
    seen: list[str] = []
    state = await node.session()
    async with connected(node, state.session_id) as connection:
        await until(connection, "response.done")
        pcm = silence(0.3) + speech("it is warm and cosy") + silence(2)
        for start in range(0, len(pcm), 3200):
            await connection.input_audio_buffer.append(audio=encoded(pcm[start : start + 3200]))
        heard = await until(
            connection,
            "conversation.item.input_audio_transcription.completed",
            lambda event: seen.append(event.type),
        )
        done = await until(connection, "response.done")
    assert heard.transcript == "it is warm and cosy"
    assert seen[0] == "input_audio_buffer.speech_started"
    assert "input_audio_buffer.committed" in seen
    assert done.response.status == "completed"


async def test_spoken_answer_ends_when_the_client_commits(node: Node) -> None:
    state = await node.session()
    async with connected(node, state.session_id) as connection:
        await until(connection, "response.done")
        manual = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}
        await connection.session.update(session=manual)
        updated = await until(connection, "session.updated")
        assert updated.session.audio.input.turn_detection is None
        await connection.input_audio_buffer.append(audio=encoded(speech("pressed and held")))
        await connection.input_audio_buffer.commit()
        await connection.response.create()
        heard = await until(connection, "conversation.item.input_audio_transcription.completed")
        assert heard.transcript == "pressed and held"
        await until(connection, "response.done")


async def test_what_has_no_counterpart_is_told_as_an_error_of_the_library(node: Node) -> None:
    state = await node.session()
    async with connected(node, state.session_id) as connection:
        await until(connection, "response.done")
        await connection.response.cancel(event_id="mine")
        refused = (await until(connection, "error")).error
        assert (refused.code, refused.event_id) == ("unsupported_event", "mine")
        await connection.session.update(session={"type": "realtime", "output_modalities": ["audio"]})
        refused = (await until(connection, "error")).error
        assert (refused.code, refused.param) == ("unsupported_value", "session.output_modalities")


async def test_wrong_key_is_told(node: Node) -> None:
    from openai import AsyncOpenAI

    base = node.url.replace("ws://", "http://") + "/v1"
    async with (
        AsyncOpenAI(api_key="sk-wrong", base_url=base) as client,
        client.realtime.connect(model="coffee") as connection,
    ):
        assert (await until(connection, "error")).error.code == "unauthorised"


async def test_program_of_the_page_holds_an_interview(
    node: Node, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (root / "docs/realtime.md").read_text(encoding="utf-8")
    [program] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program = program.replace("http://127.0.0.1:8080", node.url.replace("ws://", "http://"))
    program, started, _ = program.replace("coffee_mec", "coffee").partition("asyncio.run(")
    assert started
    state = await node.session(asking_consent(), max_turns=3)
    asked: list[str] = []

    def ask(text: str) -> str:
        asked.append(text)
        return "yes" if text == "Do you agree?" else f"Answer number {len(asked)}."

    names: dict[str, Any] = {}
    exec(program, names)
    async with asyncio.timeout(PATIENCE_S):
        await names["interview"](f"token-{state.session_id}", ask)
    [owner] = node.hub._owners.values()
    assert owner.state.status == "completed"
    assert len(asked) == 4
    printed = capsys.readouterr().out
    assert all(u.text in printed for u in owner.state.utterances if u.speaker == "interviewer")


async def test_questions_are_heard_where_the_server_has_a_voice(hot: HotStore, tmp_path: Path) -> None:
    from openai.types.realtime import ResponseAudioDeltaEvent, ResponseAudioTranscriptDeltaEvent

    voices = Voices(VoiceSettings(voice_command=VoiceProgram(tmp_path).command), Metrics())
    heard, read = bytearray(), []

    def see(event: Any) -> None:
        if isinstance(event, ResponseAudioDeltaEvent):
            heard.extend(base64.b64decode(event.delta))
        if isinstance(event, ResponseAudioTranscriptDeltaEvent):
            read.append(event.delta)

    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=ToneSpeech(), voices=voices) as node:
        state = await node.session()
        async with connected(node, state.session_id) as connection:
            await until(connection, "response.done")
            await connection.session.update(session={"type": "realtime", "output_modalities": ["audio"]})
            updated = await until(connection, "session.updated")
            assert updated.session.output_modalities == ["audio"]
            await connection.conversation.item.create(item=user("It is warm."))
            added = await until(connection, "response.output_item.added", see)
            done = await until(connection, "response.done", see)
            await connection.conversation.item.truncate(item_id=added.item.id, content_index=0, audio_end_ms=100)
            await until(connection, "conversation.item.truncated")
    await voices.aclose()
    assert done.response.output[0].content[0].transcript == "".join(read)
    assert bytes(heard) == sung("".join(read))
