"""A respondent who speaks, over a real socket; every word is a tone, so what was heard can be read back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pipeline.errors import LLMUnavailable
from pipeline.state import Utterance
from server.hot.redis import HotStore
from server.speech.settings import ListeningSettings
from tests.support.client import RespondentClient
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, eventually, running_node
from tests.support.interview import configuration
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
async def speaking(node: Node, session_id: str = "") -> AsyncIterator[RespondentClient]:
    """A client whose question waits for an answer."""
    session_id = session_id or (await node.session()).session_id
    async with node.client(session_id) as client:
        await client.hello()
        await client.until("question.completed")
        yield client


async def reviewing(node: Node, client: RespondentClient) -> None:
    """Have transcripts shown before they count."""
    await client.send("set", review_transcript=True)
    [owner] = node.hub._owners.values()
    await eventually(lambda: owner.state.settings.get("review_transcript") is True)


def last_answer(node: Node) -> Utterance:
    [owner] = node.hub._owners.values()
    said = owner.state.last_answer()
    assert said is not None
    return said


def said_so_far(node: Node) -> str:
    """Of an answer that goes on after the silence that would have ended it."""
    [owner] = node.hub._owners.values()
    answer = node.listeners.of(owner)._answer
    return "" if answer is None else answer.transcript.text


async def test_spoken_answer_becomes_a_turn(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await client.say(silence(0.5) + speech("it is warm and cosy") + PAUSE)
        final = await client.until("transcript.final", turn_key=turn_key)
        assert final["text"] == "it is warm and cosy"
        await client.expect("turn.started", turn_key=turn_key, id=final["id"] + 1, attempt=1)
        await client.until("turn.completed", turn_key=turn_key)
    said = last_answer(node)
    assert (said.text, said.spoken, said.confidence) == ("it is warm and cosy", True, 0.9)
    assert said.speech_ms == 5 * 320 + 4 * 64


async def test_words_of_a_final_transcript_have_times_and_confidence(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        await client.say(silence(1.024) + speech("one two") + PAUSE)
        final = await client.until("transcript.final")
    assert final["words"] == [
        {"text": "one", "start_ms": 1024, "end_ms": 1344, "confidence": 0.9},
        {"text": "two", "start_ms": 1408, "end_ms": 1728, "confidence": 0.9},
    ]


async def test_respondent_hears_that_they_are_heard(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        await client.say(silence(0.512) + speech(" ".join(["long"] * 8)) + PAUSE)
        started = await client.until("speech.started")
        partial = await client.until("transcript.partial")
        stopped = await client.until("speech.stopped")
        await client.until("transcript.final")
    assert abs(started["at_ms"] - 512) <= 32
    assert partial["text"].startswith("long")
    assert partial["turn_key"] is None
    assert abs(stopped["at_ms"] - (512 + 8 * 384 - 64)) <= 64


async def test_done_ends_the_answer_at_once(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        await client.say(speech("that is all"))
        await client.send("audio.stop")
        final = await client.until("transcript.final", turn_key=turn_key)
    assert final["text"] == "that is all"


async def test_several_spoken_turns_follow_each_other(node: Node) -> None:
    async with speaking(node) as client:
        seq = 0
        for number in range(1, 4):
            turn_key = await client.audio_start(first_seq=seq)
            seq = await client.say(silence(0.3) + speech(f"answer number {number}") + PAUSE, seq)
            final = await client.until("transcript.final", turn_key=turn_key)
            assert final["text"] == f"answer number {number}"
            await client.until("turn.completed", turn_number=number)


async def test_acknowledged_audio_is_all_of_it(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        after = await client.say(speech("one two three four"))
        while (await client.until("audio.ack"))["seq"] != after - 1:
            pass


async def test_speech_after_the_endpoint_opens_the_next_answer(node: Node) -> None:
    async with speaking(node) as client:
        first = await client.audio_start()
        seq = await client.say(speech("first thought") + PAUSE + speech("second thought"))
        final = await client.until("transcript.final", turn_key=first)
        assert final["text"] == "first thought"
        assert final["last_seq"] is not None
        await client.until("turn.completed")
        second = await client.audio_start(first_seq=seq)
        seq = await client.say(speech("goes on") + PAUSE + silence(5), seq)
        final = await client.until("transcript.final", turn_key=second)
    assert final["text"] == "second thought goes on"


async def test_kept_speech_can_be_named_by_its_first_frame(node: Node) -> None:
    """What `last_seq` says is where a client takes the next answer up, wherever it is sent to."""
    async with speaking(node) as client:
        first = await client.audio_start()
        seq = await client.say(speech("first thought") + PAUSE + speech("second thought"))
        final = await client.until("transcript.final", turn_key=first)
        await client.until("turn.completed")
        second = await client.audio_start(first_seq=final["last_seq"] + 1)
        await client.say(PAUSE + silence(8), seq)
        final = await client.until("transcript.final", turn_key=second)
    assert final["text"] == "second thought"


async def test_speech_while_a_question_streams_waits_for_it(node: Node) -> None:
    gate = node.providing.writer
    async with speaking(node) as client:
        opened = gate.close_gate(6)
        first = await client.audio_start()
        seq = await client.say(speech("first thought") + PAUSE)
        await client.until("turn.started", turn_key=first)
        await client.until("question.delta")
        second = await client.audio_start(first_seq=seq)
        seq = await client.say(speech("one more thing") + silence(2), seq)
        await eventually(lambda: said_so_far(node) == "one more thing")
        opened.set()
        await client.until("turn.completed", turn_key=first)
        await client.say(silence(0.5) + speech("and this") + silence(2), seq)
        final = await client.until("transcript.final", turn_key=second)
    assert final["text"] == "one more thing and this"


async def test_speech_before_the_question_counts_once_nobody_goes_on(node: Node) -> None:
    async with speaking(node) as client:
        opened = node.providing.writer.close_gate(2)
        first = await client.audio_start()
        seq = await client.say(speech("first thought") + PAUSE)
        await client.until("turn.started", turn_key=first)
        second = await client.audio_start(first_seq=seq)
        seq = await client.say(speech("one more thing") + silence(2), seq)
        await client.until("speech.stopped")
        opened.set()
        await client.until("turn.completed", turn_key=first)
        await client.say(silence(4), seq)
        final = await client.until("transcript.final", turn_key=second)
    assert final["text"] == "one more thing"


async def test_done_while_a_question_streams_is_kept_until_it_is_out(node: Node) -> None:
    async with speaking(node) as client:
        opened = node.providing.writer.close_gate(2)
        first = await client.audio_start()
        seq = await client.say(speech("first thought") + PAUSE)
        await client.until("turn.started", turn_key=first)
        second = await client.audio_start(first_seq=seq)
        await client.say(speech("quite sure"), seq)
        await client.send("audio.stop")
        await client.until("speech.started")
        opened.set()
        await client.until("turn.completed", turn_key=first)
        final = await client.until("transcript.final", turn_key=second)
        await client.until("turn.completed", turn_key=second)
    assert final["text"] == "quite sure"


async def test_sound_without_words_is_told_and_is_no_turn(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(noise(0.8) + silence(2))
        notice = await client.until("notice")
        assert notice["code"] == "didnt_catch"
        await client.say(speech("now then") + PAUSE, seq)
        final = await client.until("transcript.final", turn_key=turn_key)
    assert final["text"] == "now then"
    assert [measure.outcome for measure in node.heard] == ["missed", "answer"]


async def test_done_without_a_word_is_told_and_the_same_key_may_be_used_again(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(silence(0.5))
        await client.send("audio.stop")
        assert (await client.until("notice"))["code"] == "didnt_catch"
        await client.audio_start(turn_key, first_seq=seq)
        await client.say(speech("here it is") + PAUSE, seq)
        assert (await client.until("transcript.final", turn_key=turn_key))["text"] == "here it is"


async def test_cancelled_answer_leaves_nothing(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        seq = await client.say(speech("forget this"))
        await client.until("speech.started")
        await client.send("audio.cancel")
        second = await client.audio_start(first_seq=seq)
        await client.say(speech("keep that") + PAUSE, seq)
        final = await client.until("transcript.final")
    assert (final["turn_key"], final["text"]) == (second, "keep that")


# Patience


async def test_patience_of_the_session_decides_how_long_a_silence_ends_an_answer(node: Node) -> None:
    async with speaking(node) as client:
        await client.send("set", patience="quick")
        [owner] = node.hub._owners.values()
        await eventually(lambda: owner.state.settings.get("patience") == "quick")
        await client.audio_start()
        await client.say(speech("in short") + silence(0.6))
        assert (await client.until("transcript.final"))["text"] == "in short"


async def test_patience_of_the_concept_counts_where_the_session_says_nothing(node: Node, voice: ToneSpeech) -> None:
    plain = configuration()
    chosen = plain.model_copy(
        update={"concept": plain.concept.model_copy(update={"patience": "patient", "max_answer_s": 60})}
    )
    state = await node.session(chosen, config_hash="hash-patient")
    async with speaking(node, state.session_id) as client:
        await client.audio_start()
        await client.say(speech("slowly") + silence(1.5) + speech("now") + silence(2.5))
        final = await client.until("transcript.final")
    assert final["text"] == "slowly now"
    assert (voice.opened[0].patience, voice.opened[0].max_answer_s) == ("patient", 60)


async def test_wish_for_time_makes_silence_wait(node: Node) -> None:
    async with speaking(node) as client:
        await client.audio_start()
        seq = await client.say(speech("let me think"))
        await client.until("speech.started")
        await client.send("set", take_your_time=True)
        await client.send("ping", t=1)
        await client.until("pong")
        seq = await client.say(silence(10) + speech("yes") + silence(10), seq)
        final = await client.until("transcript.final")
    assert final["text"] == "let me think yes"


# Looking at the transcript before it counts


async def test_reviewed_transcript_is_offered_and_counts_when_it_is_sent(node: Node) -> None:
    async with speaking(node) as client:
        await reviewing(node, client)
        turn_key = await client.audio_start()
        await client.say(speech("the wrong word") + PAUSE)
        offer = await client.until("transcript.partial", turn_key=turn_key)
        assert (offer["text"], offer["stable"]) == ("the wrong word", len("the wrong word"))
        await client.answer("the right word", turn_key)
        await client.until("turn.completed", turn_key=turn_key)
        assert not [frame for frame in client.seen if frame["type"] == "transcript.final"]
    said = last_answer(node)
    assert (said.text, said.spoken, said.confidence) == ("the right word", True, None)


async def test_offered_transcript_that_is_sent_as_it_is_keeps_its_confidence(node: Node) -> None:
    async with speaking(node) as client:
        await reviewing(node, client)
        turn_key = await client.audio_start()
        await client.say(speech("quite right") + PAUSE)
        offer = await client.until("transcript.partial", turn_key=turn_key)
        await client.turn(offer["text"], turn_key)
    assert last_answer(node).confidence == 0.9


async def test_offer_is_told_again_to_whoever_comes_back(node: Node) -> None:
    state = await node.session()
    async with speaking(node, state.session_id) as client:
        await reviewing(node, client)
        turn_key = await client.audio_start()
        await client.say(speech("to be seen") + PAUSE)
        await client.until("transcript.partial", turn_key=turn_key)
        last = client.last_id
    async with node.client(state.session_id) as client:
        await client.hello(last_event_id=last)
        assert (await client.until("transcript.partial"))["turn_key"] == turn_key


# Reading questions aloud


async def test_half_duplex_passes_over_what_is_heard_while_a_question_is_read(node: Node) -> None:
    async with speaking(node) as client:
        await client.send("playback", state="started")
        await client.audio_start()
        seq = await client.say(speech("what does the loudspeaker say") + silence(0.5))
        await client.until("audio.ack")
        await client.send("playback", state="finished")
        await client.say(speech("my own words") + PAUSE, seq)
        final = await client.until("transcript.final")
    assert final["text"] == "my own words"


async def test_barge_in_hears_words_while_a_question_is_read(hot: HotStore, voice: ToneSpeech) -> None:
    listening = ListeningSettings(barge_in=True, reopen_s=0.0)
    async with (
        running_node(TroubledHot(hot), MemoryStore(), Providing(), speech=voice, listening=listening) as node,
        speaking(node) as client,
    ):
        await client.send("playback", state="started")
        await client.audio_start()
        await client.say(speech("may I interrupt") + PAUSE)
        final = await client.until("transcript.final")
    assert final["text"] == "may I interrupt"


async def test_playback_of_a_lost_connection_does_not_deafen_the_next_one(node: Node) -> None:
    state = await node.session()
    async with speaking(node, state.session_id) as client:
        await client.send("playback", state="started")
        await client.silence()
        last = client.last_id
    async with node.client(state.session_id) as client:
        await client.hello(last_event_id=last)
        await client.audio_start()
        await client.say(speech("here I am") + PAUSE)
        assert (await client.until("transcript.final"))["text"] == "here I am"


# Writing and speaking


async def test_written_answer_under_the_key_of_a_spoken_one_ends_the_listening(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech("what I began to say"))
        await client.until("speech.started")
        await client.turn("what I wrote", turn_key)
        second = await client.audio_start(first_seq=seq)
        await client.say(speech("spoken again") + PAUSE, seq)
        final = await client.until("transcript.final")
    assert (final["turn_key"], final["text"]) == (second, "spoken again")


async def test_written_answer_does_not_overtake_a_spoken_one_that_has_ended(node: Node) -> None:
    async with speaking(node) as client:
        spoken = await client.audio_start()
        await client.say(speech(" ".join(["long"] * 20)))
        await client.send("audio.stop")
        written = await client.answer("and this I wrote")
        await client.refused("turn_in_progress", ref=written)
        await client.until("turn.completed", turn_key=spoken)
        await client.turn("and this I wrote", written)
    assert last_answer(node).text == "and this I wrote"


async def test_final_transcript_is_replayed_before_its_turn(node: Node) -> None:
    state = await node.session()
    async with speaking(node, state.session_id) as client:
        await client.audio_start()
        await client.say(speech("once more") + PAUSE)
        await client.until("turn.completed")
    async with node.client(state.session_id) as client:
        await client.hello()
        kinds = []
        while (frame := await client.next())["type"] != "turn.completed":
            kinds.append(frame["type"])
    turn = kinds[kinds.index("transcript.final") - 1 :]
    assert turn == ["question.completed", "transcript.final", "turn.started", "question.completed"]


async def test_start_of_an_answer_that_was_taken_repeats_what_came_of_it(node: Node) -> None:
    async with speaking(node) as client:
        turn_key = await client.audio_start()
        seq = await client.say(speech("already taken") + PAUSE)
        final = await client.until("transcript.final")
        await client.until("turn.completed")
        await client.audio_start(turn_key, first_seq=seq)
        again = await client.until("transcript.final")
        await client.until("turn.completed", turn_key=turn_key)
    assert again == final


async def test_retry_of_a_failed_turn_by_its_words_stays_a_spoken_answer(node: Node) -> None:
    async with speaking(node) as client:
        node.providing.extractor.errors.append(LLMUnavailable("away"))
        turn_key = await client.audio_start()
        await client.say(speech("try again") + PAUSE)
        final = await client.until("transcript.final")
        await client.until("turn.failed", turn_key=turn_key)
        await client.answer(final["text"], turn_key)
        await client.until("turn.completed", turn_key=turn_key)
        assert len([frame for frame in client.durable() if frame["type"] == "transcript.final"]) == 1
    assert last_answer(node).spoken
