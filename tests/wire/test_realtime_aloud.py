"""Questions as audio for a Realtime client; the program that reads them is the tests' own."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from config.voice import VoiceSettings
from server.hot.redis import HotStore
from server.metrics import Metrics
from server.speech.settings import ListeningSettings
from server.voice.voices import Voices
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, eventually, running_node
from tests.support.realtime import Event, RealtimeClient
from tests.support.speech import ToneSpeech, silence, speech
from tests.support.voice_program import VoiceProgram, sung

AUDIO = {"output_modalities": ["audio"]}
QUESTION = "That helps me. What else matters to you here?"
SUNG = sung("That helps me.") + sung("What else matters to you here?")


@pytest.fixture
def program(tmp_path: Path) -> VoiceProgram:
    return VoiceProgram(tmp_path)


@pytest.fixture
def providing() -> Providing:
    return Providing()


@pytest.fixture
async def voices(program: VoiceProgram) -> AsyncIterator[Voices]:
    found = Voices(VoiceSettings(voice_command=program.command, voice_deadline_s=20.0), Metrics())
    yield found
    await found.aclose()


@pytest.fixture
async def node(hot: HotStore, providing: Providing, voices: Voices) -> AsyncIterator[Node]:
    async with running_node(
        TroubledHot(hot), MemoryStore(), providing, speech=ToneSpeech(), listening=LISTENING, voices=voices
    ) as running:
        yield running


LISTENING = ListeningSettings(reopen_s=3.0)


@asynccontextmanager
async def listening(node: Node, **session: Any) -> AsyncIterator[RealtimeClient]:
    """A client that had the opening as text, and has what follows as audio."""
    async with RealtimeClient(node.url, f"token-{(await node.session()).session_id}") as client:
        await client.response()
        updated = await client.update(**(session or AUDIO))
        assert updated["output_modalities"] == ["audio"]
        assert updated["audio"]["output"]["format"] == {"type": "audio/pcm", "rate": 24_000}
        client.seen.clear()
        yield client


def sound_of(events: list[Event], item_id: str | None = None) -> bytes:
    """The samples that were sent."""
    return b"".join(
        base64.b64decode(event["delta"])
        for event in events
        if event["type"] == "response.output_audio.delta" and item_id in (None, event["item_id"])
    )


async def test_question_comes_as_audio_with_its_transcript_and_ends_after_it(node: Node, providing: Providing) -> None:
    async with listening(node) as client:
        providing.writer.texts = [QUESTION]
        await client.answer("It is warm.")
        done = (await client.until("response.done"))["response"]
    kinds = [event["type"] for event in client.seen]
    assert sound_of(client.seen, done["output"][0]["id"]) == SUNG
    assert done["output_modalities"] == ["audio"]
    assert done["output"][0]["content"] == [{"type": "output_audio", "transcript": QUESTION}]
    said = "".join(e["delta"] for e in client.seen if e["type"] == "response.output_audio_transcript.delta")
    assert said == QUESTION
    last = [kind for kind in kinds if kind != "response.output_audio.delta"]
    assert last[-5:] == [
        "response.output_audio.done", "response.content_part.done", "response.output_item.done",
        "conversation.item.done", "response.done",
    ]  # fmt: skip
    assert kinds.index("response.output_audio.done") > max(i for i, k in enumerate(kinds) if k.endswith("audio.delta"))
    assert "response.output_text.delta" not in kinds
    assert kinds.count("response.output_audio_transcript.done") == 1


async def test_open_question_is_said_again_on_request(node: Node, program: VoiceProgram) -> None:
    async with listening(node) as client:
        for _ in range(2):  # The first one asks for the response that has come.
            await client.send("response.create")
        done = (await client.until("response.done"))["response"]
    text = done["output"][0]["content"][0]["transcript"]
    assert sound_of(client.seen) == sung(text)
    assert [event["type"] for event in client.seen].count("response.done") == 1


async def test_beta_client_has_the_names_of_the_beta(node: Node) -> None:
    token = f"token-{(await node.session()).session_id}"
    async with RealtimeClient(node.url, token, headers={"OpenAI-Beta": "realtime=v1"}) as client:
        await client.until("response.done")
        await client.send("session.update", session={"modalities": ["text", "audio"], "output_audio_format": "pcm16"})
        session = (await client.until("session.updated"))["session"]
        assert (session["modalities"], session["askwell"]["ignored"]) == (["audio"], [])
        await client.answer("It is warm.")
        await client.until("response.audio.delta")
        await client.until("response.audio.done")
        await client.until("response.done")


@pytest.mark.parametrize("how", ["FAILS", "DIES", "GARBAGE"])
async def test_voice_that_fails_ends_the_audio_and_nothing_else(node: Node, providing: Providing, how: str) -> None:
    async with listening(node) as client:
        providing.writer.texts = [f"That helps me. What {how} to you here?"]
        await client.answer("It is warm.")
        done = (await client.until("response.done"))["response"]
        assert (done["status"], done["askwell"]["audio_complete"]) == ("completed", False)
        assert sound_of(client.seen) == sung("That helps me.")
        assert done["output"][0]["content"][0]["transcript"].endswith(f"What {how} to you here?")
        client.seen.clear()
        providing.writer.texts = [QUESTION]
        await client.answer("It is sweet.")
        assert "audio_complete" not in (await client.until("response.done"))["response"]["askwell"]
        assert sound_of(client.seen) == SUNG


async def test_client_that_plays_no_more_gets_no_more(node: Node, providing: Providing, program: VoiceProgram) -> None:
    async with listening(node) as client:
        providing.writer.texts = ["That HANGS here. What else matters to you?"]
        await client.answer("It is warm.")
        added = await client.until("response.output_item.added")
        await eventually(lambda: bool(program.said))
        item_id = added["item"]["id"]
        await client.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=120)
        cut = await client.until("conversation.item.truncated")
        assert (cut["item_id"], cut["audio_end_ms"]) == (item_id, 120)
        if not [event for event in client.seen if event["type"] == "response.done"]:
            await client.until("response.done")
        assert sound_of(client.seen) == b""
        providing.writer.texts = [QUESTION]
        await client.answer("It is sweet.")
        await client.until("response.done")
        assert sound_of(client.seen) == SUNG


async def test_question_to_an_answer_that_may_go_on_is_not_heard_before_that_is_certain(
    node: Node, providing: Providing, program: VoiceProgram
) -> None:
    async with listening(node) as client:
        providing.writer.texts = ["Why is that so for you?", QUESTION]
        await client.say(speech("it is warm") + silence(1.2))
        await client.until("input_audio_buffer.committed")
        await client.until("response.output_audio_transcript.delta")
        await eventually(lambda: bool(program.said))
        await client.say(silence(0.5) + speech("and sweet") + silence(1.2))
        void = (await client.until("response.done"))["response"]
        assert void["status"] == "cancelled"
        assert sound_of(client.seen) == b"", "nothing of a question that was taken back is heard"
        await client.say(silence(3.4))
        done = (await client.until("response.done"))["response"]
        assert done["status"] == "completed"
        assert sound_of(client.seen, done["output"][0]["id"]) == SUNG


async def test_what_is_heard_while_the_question_plays_is_no_answer(node: Node, providing: Providing) -> None:
    async with listening(node) as client:
        providing.writer.texts = [QUESTION]
        await client.answer("It is warm.")
        await client.until("response.output_audio.delta")
        await client.say(speech("what else matters to you here"))
        await client.until("response.done")
        [owner] = node.hub._owners.values()
        heard = node.listeners.of(owner)
        await eventually(lambda: not heard._playing)
        await client.say(silence(0.3) + speech("it is sweet") + silence(5))
        await client.until("conversation.item.input_audio_transcription.completed", transcript="it is sweet")


async def test_client_that_tells_how_far_it_is_is_believed(node: Node) -> None:
    async with listening(node) as client:
        await client.send("askwell.playback", state="finished")
        await client.answer("It is warm.")
        await client.until("response.done")
        [owner] = node.hub._owners.values()
        assert not node.listeners.of(owner)._playing


@pytest.mark.parametrize(
    ("session", "param"),
    [
        ({**AUDIO, "audio": {"output": {"format": {"type": "audio/pcmu"}}}}, "session.audio.output.format"),
        (
            {**AUDIO, "audio": {"output": {"format": {"type": "audio/pcm", "rate": 8000}}}},
            "session.audio.output.format",
        ),
        ({**AUDIO, "audio": {"output": {"format": "pcm16"}}}, "session.audio.output.format"),
        ({"modalities": ["audio"], "output_audio_format": "g711_ulaw"}, "session.output_audio_format"),
    ],
)
async def test_other_formats_are_refused_whole(node: Node, session: Event, param: str) -> None:
    async with RealtimeClient(node.url, f"token-{(await node.session()).session_id}") as client:
        await client.response()
        await client.send("session.update", session=session)
        error = (await client.until("error"))["error"]
        assert (error["code"], error["param"]) == ("unsupported_value", param)
        assert (await client.update())["output_modalities"] == ["text"]


@pytest.mark.parametrize("modalities", [[], ["video"], ["audio", "video"], "audio", [1]])
async def test_what_is_no_modality_is_refused(node: Node, modalities: Any) -> None:
    async with RealtimeClient(node.url, f"token-{(await node.session()).session_id}") as client:
        await client.response()
        await client.send("session.update", session={"output_modalities": modalities})
        assert (await client.until("error"))["error"]["code"] == "invalid_value"


async def test_text_client_is_told_that_there_is_nothing_to_truncate(node: Node) -> None:
    async with RealtimeClient(node.url, f"token-{(await node.session()).session_id}") as client:
        await client.response()
        await client.send("conversation.item.truncate", item_id="x", content_index=0, audio_end_ms=1)
        assert (await client.until("error"))["error"]["code"] == "unsupported_event"
