"""A respondent who speaks through a Realtime client, over a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from server.hot.redis import HotStore
from server.speech.settings import ListeningSettings
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, asking_consent, running_node
from tests.support.realtime import RealtimeClient, encoded, text_of
from tests.support.speech import ToneSpeech, noise, silence, speech

PAUSE = silence(2)


@pytest.fixture
async def voice() -> ToneSpeech:
    return ToneSpeech()


@pytest.fixture
async def node(hot: HotStore, voice: ToneSpeech) -> AsyncIterator[Node]:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice) as running:
        yield running


@asynccontextmanager
async def speaking(node: Node, session_id: str = "") -> AsyncIterator[RealtimeClient]:
    """A client whose question waits for an answer."""
    session_id = session_id or (await node.session()).session_id
    async with RealtimeClient(node.url, f"token-{session_id}") as client:
        await client.response()
        yield client


def answers(node: Node) -> list[str]:
    """What the respondent has said, as it is committed."""
    [owner] = node.hub._owners.values()
    return [said.text for said in owner.state.utterances if said.speaker == "respondent"]


@pytest.mark.parametrize("rate_hz", [24_000, 16_000])
async def test_speech_ends_by_silence_and_becomes_a_turn(node: Node, rate_hz: int) -> None:
    async with speaking(node) as client:
        if rate_hz != 24_000:
            await client.update(audio={"input": {"format": {"type": "audio/pcm", "rate": rate_hz}}})
        await client.say(silence(0.5) + speech("it is warm and cosy") + PAUSE, rate_hz=rate_hz)
        started = await client.until("input_audio_buffer.speech_started")
        stopped = await client.until("input_audio_buffer.speech_stopped", item_id=started["item_id"])
        committed = await client.until("input_audio_buffer.committed", item_id=started["item_id"])
        added = await client.until("conversation.item.added")
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        done = await client.until("conversation.item.done")
        response = await client.response()
    assert abs(started["audio_start_ms"] - 500) <= 64
    assert started["audio_start_ms"] < stopped["audio_end_ms"] <= 500 + 5 * 384 + 128
    assert added["item"]["id"] == heard["item_id"] == done["item"]["id"] == started["item_id"]
    assert added["previous_item_id"] == committed["previous_item_id"] is not None
    assert heard["transcript"] == "it is warm and cosy"
    assert response["askwell"]["turn_number"] == 1
    assert answers(node) == ["it is warm and cosy"]


@pytest.mark.parametrize("step_s", [0.0201, 0.0333, 1.0, 1.9])
async def test_words_do_not_depend_on_the_size_of_the_events(node: Node, step_s: float) -> None:
    async with speaking(node) as client:
        await client.say(silence(0.5) + speech("it is warm and cosy") + PAUSE, step_s=step_s)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        await client.response()
    assert heard["transcript"] == "it is warm and cosy"


async def test_rate_may_change_between_answers(node: Node) -> None:
    async with speaking(node) as client:
        for rate_hz in (24_000, 16_000, 24_000):
            await client.update(audio={"input": {"format": {"type": "audio/pcm", "rate": rate_hz}}})
            await client.say(speech("it is warm") + PAUSE, rate_hz=rate_hz)
            heard = await client.until("conversation.item.input_audio_transcription.completed")
            assert heard["transcript"] == "it is warm"
            await client.response()


async def test_connection_lost_in_mid_sentence_leaves_the_interview_as_it_was(node: Node) -> None:
    session_id = (await node.session()).session_id
    async with speaking(node, session_id) as client:
        await client.say(speech("these words are"))
        await client.until("input_audio_buffer.speech_started")
    async with RealtimeClient(node.url, f"token-{session_id}") as client:
        await client.until("conversation.item.done")
        await client.answer("I rather write.")
        await client.response()
        await client.say(speech("and speak again") + PAUSE)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        await client.response()
    assert heard["transcript"] == "and speak again"
    assert answers(node) == ["I rather write.", "and speak again"]


async def test_broken_model_is_told_and_a_typed_answer_counts(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        voice.transcriber.failing = True
        await client.say(speech("nobody hears this"))
        await client.send("input_audio_buffer.commit")
        await client.until("conversation.item.input_audio_transcription.failed")
        await client.refused("transcriber_unavailable")
        voice.transcriber.failing = False
        await client.say(speech("but this"))
        await client.send("input_audio_buffer.commit")
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        await client.response()
    assert heard["transcript"] == "but this"


async def test_broken_model_does_not_keep_what_follows_from_being_heard(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        voice.transcriber.failing = True
        await client.say(speech("nobody hears this") + PAUSE)
        await client.until("conversation.item.input_audio_transcription.failed")
        await client.refused("transcriber_unavailable")
        voice.transcriber.failing = False
        await client.say(speech("but this") + PAUSE)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        # A part of the answer may be missing: the respondent has a look at it.
        assert (heard["transcript"], heard["askwell"]) == ("but this", {"review": True})
        await client.send("response.create")
        await client.response()
        await client.say(speech("and that") + PAUSE)
        await client.response()
    assert answers(node) == ["but this", "and that"]


async def test_noise_that_ends_by_silence_is_noticed_and_what_follows_is_heard(node: Node) -> None:
    async with speaking(node) as client:
        for _ in range(2):
            await client.say(noise(1.0) + PAUSE)
            assert (await client.until("askwell.notice"))["code"] == "didnt_catch"
        await client.say(speech("now in words") + PAUSE)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        await client.response()
        await client.say(noise(0.5) + PAUSE + speech("and more") + PAUSE)
        await client.response()
    assert heard["transcript"] == "now in words"
    assert answers(node) == ["now in words", "and more"]


async def test_longest_answer_ends_and_the_next_one_is_heard(hot: HotStore, voice: ToneSpeech) -> None:
    listening = ListeningSettings(reopen_s=0.0, max_answer_s=10.0)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=listening) as node,
        speaking(node) as client,
    ):
        words = [f"word{number}" for number in range(28)]
        await client.say(speech(" ".join(words)))
        await client.refused("audio_too_long")
        first = await client.until("conversation.item.input_audio_transcription.completed")
        await client.say(silence(8))
        started = await client.until("input_audio_buffer.speech_started")
        second = await client.next()
        while second["type"] != "conversation.item.input_audio_transcription.completed":
            # The silence after it may make the second one too long, too.
            second = await client.next()
        while len(answers(node)) < 2:
            await client.response()
    said = f"{first['transcript']} {second['transcript']}".replace("-", "").split()
    assert list(dict.fromkeys(said)) == words
    # It begins where the first one ended, long before the audio that came last.
    assert len(first["transcript"].split()) * 384 - 500 <= started["audio_start_ms"] <= 10_500


async def test_server_without_speech_says_so_once(hot: HotStore) -> None:
    async with running_node(TroubledHot(hot), MemoryStore(), Providing()) as node, speaking(node) as client:
        await client.say(silence(12), event_id="first")
        await client.refused("transcriber_unavailable", event_id="first")
        await client.answer("In writing, then.")
        assert (await client.response())["askwell"]["turn_number"] == 1
        assert client.names().count("error") == 1


async def test_questions_that_a_client_reads_aloud_are_not_heard(node: Node) -> None:
    async with speaking(node) as client:
        await client.send("askwell.playback", state="started")
        await client.say(speech("what do you like"))
        await client.send("askwell.playback", state="finished")
        await client.say(speech("its smell") + PAUSE)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
    assert heard["transcript"] == "its smell"


async def test_deltas_of_a_transcript_are_a_beginning_of_it(node: Node) -> None:
    async with speaking(node) as client:
        await client.say(speech(" ".join(["long"] * 12)) + PAUSE)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
    name = "conversation.item.input_audio_transcription.delta"
    deltas = [event for event in client.seen if event["type"] == name]
    assert {event["item_id"] for event in deltas} <= {heard["item_id"]}
    assert heard["transcript"].startswith("".join(event["delta"] for event in deltas))


async def test_commit_ends_the_answer_and_silence_does_not_where_the_client_commits(node: Node) -> None:
    async with speaking(node) as client:
        session = await client.update(audio={"input": {"turn_detection": None}})
        assert session["audio"]["input"]["turn_detection"] is None
        await client.say(speech("first this") + silence(4) + speech("then that") + silence(3))
        await client.send("input_audio_buffer.commit")
        committed = await client.until("input_audio_buffer.committed")
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        await client.send("response.create")
        assert (await client.response())["askwell"]["turn_number"] == 1
    assert heard["item_id"] == committed["item_id"]
    assert heard["transcript"] == "first this then that"
    assert answers(node) == ["first this then that"]


async def test_answers_follow_each_other_and_none_of_what_is_said_is_lost(node: Node) -> None:
    async with speaking(node) as client:
        for number in range(1, 4):
            await client.say(silence(0.3) + speech(f"answer number {number}") + PAUSE)
            heard = await client.until("conversation.item.input_audio_transcription.completed")
            assert heard["transcript"] == f"answer number {number}"
            await client.response()
    assert answers(node) == ["answer number 1", "answer number 2", "answer number 3"]


async def test_audio_after_a_commit_waits_for_the_answer_before_it(node: Node, voice: ToneSpeech) -> None:
    async with speaking(node) as client:
        await client.say(speech("the first one"))
        await client.send("input_audio_buffer.commit")
        await client.say(speech("the second one"))
        await client.send("input_audio_buffer.commit")
        first = await client.until("conversation.item.input_audio_transcription.completed")
        second = await client.until("conversation.item.input_audio_transcription.completed")
        while len(answers(node)) < 2:
            await client.response()
    assert (first["transcript"], second["transcript"]) == ("the first one", "the second one")
    assert first["item_id"] != second["item_id"]
    assert answers(node) == ["the first one", "the second one"]


async def test_cleared_audio_is_no_answer(node: Node) -> None:
    async with speaking(node) as client:
        await client.say(speech("never mind"))
        await client.until("input_audio_buffer.speech_started")
        await client.send("input_audio_buffer.clear")
        await client.until("input_audio_buffer.cleared")
        await client.send("input_audio_buffer.commit", event_id="e-1")
        await client.refused("input_audio_buffer_commit_empty", event_id="e-1")
        await client.say(speech("but this counts") + PAUSE)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
    assert heard["transcript"] == "but this counts"


async def test_noise_without_words_is_told_and_the_next_answer_is_heard(node: Node) -> None:
    async with speaking(node) as client:
        await client.say(noise(1.0))
        await client.send("input_audio_buffer.commit")
        failed = await client.until("conversation.item.input_audio_transcription.failed")
        assert failed["error"]["code"] == "didnt_catch"
        await client.say(speech("now in words"))
        await client.send("input_audio_buffer.commit")
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        await client.response()
    assert heard["transcript"] == "now in words"
    assert answers(node) == ["now in words"]


async def test_reviewed_transcript_counts_when_a_response_is_asked_for(node: Node) -> None:
    async with speaking(node) as client:
        await client.update(askwell={"review_transcript": True})
        await client.say(speech("warm and cosy"))
        await client.send("input_audio_buffer.commit")
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        assert heard["askwell"] == {"review": True}
        assert answers(node) == []
        await client.send("response.create")
        assert (await client.response())["askwell"]["turn_number"] == 1
    assert answers(node) == ["warm and cosy"]


async def test_reviewed_transcript_may_be_corrected(node: Node) -> None:
    async with speaking(node) as client:
        await client.update(askwell={"review_transcript": True})
        await client.say(speech("warm and cosy"))
        await client.send("input_audio_buffer.commit")
        await client.until("conversation.item.input_audio_transcription.completed")
        await client.answer("warm and rosy")
        assert (await client.response())["askwell"]["turn_number"] == 1
    assert answers(node) == ["warm and rosy"]


async def test_speech_after_the_end_takes_the_question_back(hot: HotStore, voice: ToneSpeech) -> None:
    listening = ListeningSettings(reopen_s=3.0)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=listening) as node,
        speaking(node) as client,
    ):
        await client.say(speech("it is warm") + silence(1.5))
        taken_back = (await client.until("response.output_item.added"))["item"]["id"]
        await client.say(speech("and cosy"))
        cancelled = await client.response()
        assert (cancelled["status"], cancelled["status_details"]["reason"]) == ("cancelled", "turn_detected")
        assert cancelled["output"] == []
        await client.say(silence(6))
        heard = await client.until("conversation.item.input_audio_transcription.completed")
        response = await client.response()
        assert heard["transcript"] == "it is warm and cosy"
        assert (response["status"], response["askwell"]["turn_number"]) == ("completed", 1)
        assert answers(node) == ["it is warm and cosy"]
    deleted = [event["item_id"] for event in client.seen if event["type"] == "conversation.item.deleted"]
    assert deleted == [taken_back]
    items = [event["item"]["id"] for event in client.seen if event["type"] == "conversation.item.added"]
    assert len(items) == len(set(items))
    assert text_of(response)


async def test_speech_before_consent_is_refused_once_and_nothing_of_it_is_kept(node: Node) -> None:
    state = await node.session(asking_consent())
    async with RealtimeClient(node.url, f"token-{state.session_id}") as client:
        await client.until("session.created")
        before = await node.hot.inner.read(state.session_id)
        await client.say(speech("listen to me") + PAUSE)
        await client.refused("consent_required")
        await client.send("input_audio_buffer.commit")
        await client.refused("input_audio_buffer_commit_empty")
        assert [name for name in client.names() if name == "error"] == ["error"] * 2
        after = await node.hot.inner.read(state.session_id)
        assert (after.rev, after.last_event_id) == (before.rev, before.last_event_id)
        await client.update(askwell={"consent": {"version": "2"}})
        await client.response()
        await client.say(speech("now I agree") + PAUSE)
        heard = await client.until("conversation.item.input_audio_transcription.completed")
    assert heard["transcript"] == "now I agree"


BAD_AUDIO = {
    "no base64": "this is no audio!",
    "cut base64": encoded(b"\1\0\2\0")[:-2],
    "empty": "",
    "half a sample": encoded(b"\1\0\2"),
    "line breaks": encoded(b"\1\0" * 30) + "\n",
    "not ascii": "ÄÖÜ=",
}


@pytest.mark.parametrize("name", BAD_AUDIO)
async def test_audio_that_is_none_is_refused_and_harms_nothing(node: Node, name: str) -> None:
    async with speaking(node) as client:
        await client.say(speech("before"))
        await client.send("input_audio_buffer.append", audio=BAD_AUDIO[name], event_id="bad")
        await client.refused("invalid_value", param="audio", event_id="bad")
        await client.say(speech("and after"))
        await client.send("input_audio_buffer.commit")
        heard = await client.until("conversation.item.input_audio_transcription.completed")
    assert heard["transcript"] == "before and after"


async def test_more_audio_than_anybody_speaks_is_refused(node: Node) -> None:
    async with speaking(node) as client:
        second = encoded(silence(1) * 3)
        for _ in range(40):
            await client.send("input_audio_buffer.append", audio=second, event_id="flood")
        await client.refused("rate_limited", event_id="flood")
