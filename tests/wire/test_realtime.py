"""An interview in writing through a Realtime client, over a real socket; and what such a client may do wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from pipeline.errors import LLMUnavailable
from server.hot.redis import HotStore
from server.sockets.settings import SocketSettings
from tests.support.client import key
from tests.support.fakes_session import MemoryStore, Node, Providing, TroubledHot, asking_consent, running_node
from tests.support.realtime import RealtimeClient, answer, text_of


@asynccontextmanager
async def in_interview(node: Node, **options: Any) -> AsyncIterator[RealtimeClient]:
    """A client whose opening question is there."""
    state = await node.session()
    async with RealtimeClient(node.url, f"token-{state.session_id}", **options) as client:
        await client.response()
        yield client


def said(node: Node) -> list[str]:
    """What respondents have said, as it is committed."""
    return [u.text for owner in node.hub._owners.values() for u in owner.state.utterances if u.speaker == "respondent"]


async def written(node: Node, session_id: str) -> tuple[int, int]:
    """Revision and number of durable events of a session."""
    session = await node.hot.inner.read(session_id)
    return session.rev, session.last_event_id


# An interview


async def test_answer_is_an_item_and_the_question_after_it_a_response(node: Node) -> None:
    async with in_interview(node) as client:
        assert client.names()[:2] == ["session.created", "conversation.created"]
        client.seen.clear()
        await client.answer("It is warm.", id="item_mine")
        await client.send("response.create")
        response = await client.response()
    names = client.names()
    deltas = [event["delta"] for event in client.seen if event["type"] == "response.output_text.delta"]
    assert [name for name in names if name != "response.output_text.delta"] == [
        "conversation.item.added", "conversation.item.done", "response.created",
        "response.output_item.added", "conversation.item.added", "response.content_part.added",
        "response.output_text.done", "response.content_part.done", "response.output_item.done",
        "conversation.item.done", "response.done",
    ]  # fmt: skip
    assert "".join(deltas) == text_of(response) != ""
    mine, question = client.seen[0]["item"], client.seen[-2]
    assert (mine["id"], mine["role"], mine["content"]) == (
        "item_mine", "user", [{"type": "input_text", "text": "It is warm."}],
    )  # fmt: skip
    assert question["previous_item_id"] == "item_mine"
    assert response["askwell"]["turn_number"] == 1
    assert said(node) == ["It is warm."]


async def test_interview_ends_with_a_closing_and_refuses_more(node: Node) -> None:
    state = await node.session(max_turns=3)
    async with RealtimeClient(node.url, f"token-{state.session_id}") as client:
        await client.response()
        for number in range(3):
            await client.answer(f"Answer {number}.")
            response = await client.response()
        assert response["askwell"]["closing"] is True
        ended = await client.until("session.updated")
        assert ended["session"]["askwell"]["state"] == "completed"
        await client.answer("One more.", id="late")
        await client.refused("session_completed")
        await client.send("response.create", event_id="e")
        await client.refused("session_completed", event_id="e")


async def test_second_connection_gets_what_was_said_and_may_hear_the_question_again(node: Node) -> None:
    state = await node.session()
    token = f"token-{state.session_id}"
    async with RealtimeClient(node.url, token) as client:
        await client.response()
        await client.answer("It is warm.")
        question = text_of(await client.response())
    async with RealtimeClient(node.url, token) as client:
        await client.until("conversation.created")
        items = [(await client.until("conversation.item.done"))["item"] for _ in range(3)]
        assert [item["role"] for item in items] == ["assistant", "user", "assistant"]
        assert items[2]["content"] == [{"type": "output_text", "text": question}]
        await client.send("response.create")
        again = await client.response()
        assert (text_of(again), again["askwell"]["again"]) == (question, True)
        await client.answer("And it is cosy.")
        assert (await client.response())["askwell"]["turn_number"] == 2


async def test_newer_connection_takes_over_whatever_its_format(node: Node) -> None:
    state = await node.session()
    async with RealtimeClient(node.url, f"token-{state.session_id}") as first:
        await first.response()
        async with node.client(state.session_id) as second:
            await second.hello()
            assert await first.closed() == 4001
            async with RealtimeClient(node.url, f"token-{state.session_id}") as third:
                await third.until("session.created")
                assert await second.closed() == 4001


async def test_answer_that_is_sent_again_after_a_reconnection_counts_once(node: Node) -> None:
    state = await node.session()
    token = f"token-{state.session_id}"
    async with RealtimeClient(node.url, token) as client:
        await client.response()
        await client.answer("It is warm.", id="once")
        first = await client.response()
    async with RealtimeClient(node.url, token) as client:
        await client.answer("It is warm.", id="once")
        assert text_of(await client.response()) == text_of(first)
        await client.send("conversation.item.create", item=answer("It is cold.", id="once"), event_id="other")
        await client.refused("invalid_input", event_id="other")
    assert said(node) == ["It is warm."]


async def test_answer_before_a_lost_connection_is_committed(node: Node) -> None:
    gate = node.providing.extractor.close_gate()
    state = await node.session()
    token = f"token-{state.session_id}"
    async with RealtimeClient(node.url, token) as client:
        await client.response()
        await client.answer("It is warm.", id="mine")
        await client.until("response.created")
    async with RealtimeClient(node.url, token) as client:
        await client.until("response.created")
        gate.set()
        assert (await client.response())["askwell"]["turn_number"] == 1
    assert said(node) == ["It is warm."]


async def test_turn_that_failed_is_tried_again_when_a_response_is_asked_for(node: Node) -> None:
    async with in_interview(node) as client:
        node.providing.extractor.errors.extend([LLMUnavailable("down")] * 9)
        await client.answer("It is warm.")
        await client.send("response.create")
        failed = await client.response()
        assert (failed["status"], failed["status_details"]["error"]["code"]) == ("failed", "llm_unavailable")
        node.providing.extractor.errors.clear()
        await client.send("response.create")
        assert (await client.response())["status"] == "completed"
    assert said(node) == ["It is warm."]


# Consent


async def test_nothing_is_asked_or_stored_before_consent(node: Node) -> None:
    state = await node.session(asking_consent())
    async with RealtimeClient(node.url, f"token-{state.session_id}") as client:
        created = await client.until("session.created")
        assert created["session"]["askwell"]["consent"] == {
            "required": True, "given": False, "version": "2", "text": "Do you agree?",
        }  # fmt: skip
        before = await written(node, state.session_id)
        await client.answer("It is warm.")
        await client.refused("consent_required")
        await client.send("response.create", event_id="r")
        await client.refused("consent_required", event_id="r")
        await client.send("session.update", session={"type": "realtime", "askwell": {"consent": {"version": "1"}}})
        await client.refused("invalid_input")
        assert await written(node, state.session_id) == before
        await client.send("session.update", session={"type": "realtime", "askwell": {"consent": {"version": "2"}}})
        await client.response()
    given = [event["session"]["askwell"]["consent"]["given"] for event in client.seen if "session" in event]
    assert (given[0], given[-1]) == (False, True)


async def test_consent_may_be_an_event_of_its_own(node: Node) -> None:
    state = await node.session(asking_consent())
    async with RealtimeClient(node.url, f"token-{state.session_id}") as client:
        await client.send("askwell.consent", version="2")
        await client.response()


async def test_respondent_may_skip_pause_resume_and_finish(node: Node) -> None:
    async with in_interview(node) as client:
        await client.send("askwell.skip")
        assert (await client.response())["askwell"]["turn_number"] == 1
        await client.send("askwell.rephrase")
        assert "turn_number" in (await client.response())["askwell"]
        await client.send("askwell.pause")
        paused = await client.until("session.updated")
        assert paused["session"]["askwell"]["state"] == "paused"
        await client.answer("Too early.")
        await client.refused("session_paused")
        await client.send("askwell.resume")
        await client.until("session.updated")
        await client.send("askwell.finish")
        while (await client.until("session.updated"))["session"]["askwell"]["state"] != "completed":
            continue


async def test_withdrawal_erases_everything_and_closes(node: Node) -> None:
    async with in_interview(node) as client:
        await client.answer("It is warm.")
        await client.response()
        await client.send("askwell.withdraw")
        assert await client.closed() == 1000


# Names of the beta, and transcripts


async def test_beta_client_gets_the_names_of_the_beta(node: Node) -> None:
    async with in_interview(node, headers={"OpenAI-Beta": "realtime=v1"}) as client:
        session = client.seen[0]["session"]
        assert (session["modalities"], session["input_audio_format"]) == (["text"], "pcm16")
        await client.send(
            "session.update", session={"modalities": ["text"], "turn_detection": None, "temperature": 0.8}
        )
        updated = await client.until("session.updated")
        assert updated["session"]["turn_detection"] is None
        assert updated["session"]["askwell"]["ignored"] == ["session.temperature"]
        await client.answer("It is warm.")
        response = await client.response()
    assert {"conversation.item.created", "response.text.delta", "response.text.done"} <= set(client.names())
    assert not {"conversation.item.added", "response.output_text.delta"} & set(client.names())
    assert response["output"][0]["content"][0]["type"] == "text"


async def test_questions_come_as_transcripts_where_the_client_wants_them_so(node: Node) -> None:
    async with in_interview(node) as client:
        await client.update(askwell={"text_events": "output_audio_transcript"})
        await client.answer("It is warm.")
        response = await client.response()
    name = "response.output_audio_transcript.delta"
    assert "".join(event["delta"] for event in client.seen if event["type"] == name) == text_of(response)
    assert response["output"][0]["content"][0]["type"] == "output_audio"


# Who may connect


async def test_connection_without_a_token_is_told_what_to_send_and_closed(node: Node) -> None:
    async with RealtimeClient(node.url) as client:
        await client.refused("unauthorised")
        assert await client.closed() == 1008


@pytest.mark.parametrize("token", ["wrong", "x" * 600])
async def test_wrong_token_is_refused(node: Node, token: str) -> None:
    async with RealtimeClient(node.url, token) as client:
        await client.refused("unauthorised")
        assert await client.closed() == 1008


async def test_browser_sends_its_token_as_a_subprotocol(node: Node) -> None:
    state = await node.session()
    offered = ("realtime", f"openai-insecure-api-key.token-{state.session_id}", "openai-beta.realtime-v1")
    async with RealtimeClient(node.url, subprotocols=offered) as client:
        assert client.socket.subprotocol == "realtime"
        await client.response()
    assert "response.text.done" in client.names()


async def test_foreign_page_is_refused(node: Node) -> None:
    state = await node.session()
    with pytest.raises(InvalidStatus):
        async with RealtimeClient(
            node.url, f"token-{state.session_id}", headers={"Origin": "https://elsewhere.example"}
        ):
            pass


@pytest.mark.parametrize("model", [None, "coffee"])
async def test_model_names_the_concept(node: Node, model: str | None) -> None:
    state = await node.session()
    async with RealtimeClient(node.url, f"token-{state.session_id}", model=model) as client:
        assert (await client.until("session.created"))["session"]["model"] == "coffee"


async def test_other_model_is_refused_and_takes_nothing_over(node: Node) -> None:
    async with in_interview(node) as client:
        [owner] = node.hub._owners.values()
        async with RealtimeClient(node.url, f"token-{owner.session_id}", model="gpt-realtime") as other:
            assert "coffee" in (await other.refused("invalid_input"))["message"]
            assert await other.closed() == 1008
        await client.answer("It is warm.")
        await client.response()


async def test_interviews_of_one_address_are_bounded_together_with_pages(hot: HotStore) -> None:
    bounded = SocketSettings(sessions_per_address=1)
    async with running_node(TroubledHot(hot), MemoryStore(), Providing(), sockets=bounded) as node:
        state = await node.session()
        async with node.client(state.session_id) as page:
            await page.hello()
            other = await node.session()
            async with RealtimeClient(node.url, f"token-{other.session_id}") as client:
                await client.refused("too_many_sessions")
                assert await client.closed() == 1012


# Bad input

BAD_EVENTS: dict[str, tuple[str, str]] = {
    "no json": ("hello?", "invalid_message"),
    "no object": ("[1, 2]", "invalid_message"),
    "not a number": ('{"type": "response.create", "event_id": NaN}', "invalid_message"),
    "nested": ("[" * 100_000, "invalid_message"),
    "field twice": ('{"type": "response.create", "type": "response.create"}', "invalid_message"),
    "no type": ("{}", "missing_required_parameter"),
    "type is a number": ('{"type": 5}', "missing_required_parameter"),
    "type is unknown": ('{"type": "response.please"}', "unknown_event"),
    "of the server": ('{"type": "response.done", "response": {}}', "unknown_event"),
    "of the page": ('{"type": "hello", "token": "x"}', "unknown_event"),
    "field missing": ('{"type": "conversation.item.create"}', "missing_required_parameter"),
    "field too many": ('{"type": "input_audio_buffer.commit", "now": true}', "unknown_parameter"),
    "audio is a number": ('{"type": "input_audio_buffer.append", "audio": 5}', "invalid_type"),
    "event id is a number": ('{"type": "response.create", "event_id": 5}', "invalid_type"),
    "event id is long": (json.dumps({"type": "response.create", "event_id": "x" * 513}), "invalid_value"),
    "event id is no text": ('{"type": "response.create", "event_id": "\\ud800"}', "invalid_value"),
    "nul": ('{"type": "session.update", "session": {"instructions": "a\\u0000b"}}', "invalid_value"),
    "session is a list": ('{"type": "session.update", "session": []}', "invalid_type"),
    "parameter is unknown": ('{"type": "session.update", "session": {"mood": "good"}}', "unknown_parameter"),
    "audio is a text": ('{"type": "session.update", "session": {"audio": "pcm"}}', "invalid_type"),
    "input is a text": ('{"type": "session.update", "session": {"audio": {"input": 1}}}', "invalid_type"),
    "own is unknown": ('{"type": "session.update", "session": {"askwell": {"x": 1}}}', "unknown_parameter"),
    "item is empty": ('{"type": "conversation.item.create", "item": {}}', "missing_required_parameter"),
    "no part": (
        json.dumps({"type": "conversation.item.create", "item": {**answer(""), "content": []}}),
        "invalid_value",
    ),
    "extension": ('{"type": "askwell.rate", "ratings": 5}', "invalid_message"),
    "extension unknown": ('{"type": "askwell.fly"}', "unknown_event"),
}


@pytest.mark.parametrize("name", BAD_EVENTS)
async def test_event_that_is_wrong_is_refused_and_the_interview_goes_on(node: Node, name: str) -> None:
    text, code = BAD_EVENTS[name]
    async with in_interview(node) as client:
        [owner] = node.hub._owners.values()
        before = await written(node, owner.session_id)
        await client.raw(text)
        await client.refused(code)
        assert await written(node, owner.session_id) == before
        await client.answer("It is warm.")
        assert (await client.response())["askwell"]["turn_number"] == 1


UNSUPPORTED: dict[str, tuple[dict[str, Any], str, str]] = {
    "audio out": (
        {"type": "session.update", "session": {"type": "realtime", "output_modalities": ["audio"]}},
        "unsupported_value", "session.output_modalities",
    ),
    "audio out of one response": (
        {"type": "response.create", "response": {"output_modalities": ["audio"]}},
        "unsupported_value", "response.output_modalities",
    ),
    "tools": (
        {"type": "session.update", "session": {"tools": [{"type": "function", "name": "look"}]}},
        "unsupported_value", "session.tools",
    ),
    "telephone": (
        {"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/pcmu"}}}}},
        "unsupported_value", "session.audio.input.format.type",
    ),
    "rate": (
        {"type": "session.update", "session": {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 8000}}}}},
        "unsupported_value", "session.audio.input.format.rate",
    ),
    "language": (
        {"type": "session.update", "session": {"audio": {"input": {"transcription": {"language": "fr"}}}}},
        "unsupported_value", "session.audio.input.transcription.language",
    ),
    "transcription only": (
        {"type": "session.update", "session": {"type": "transcription"}}, "unsupported_value", "session.type",
    ),
    "system": (
        {"type": "conversation.item.create", "item": {**answer("Be nice."), "role": "system"}},
        "unsupported_value", "item.role",
    ),
    "tool output": (
        {"type": "conversation.item.create", "item": {"type": "function_call_output", "call_id": "1", "output": ""}},
        "unsupported_value", "item.type",
    ),
    "image": (
        {
            "type": "conversation.item.create",
            "item": {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "data:"}]},
        },
        "unsupported_value", "item.content",
    ),
    "aside": (
        {"type": "response.create", "response": {"conversation": "none"}},
        "unsupported_value", "response.conversation",
    ),
    "cancel": ({"type": "response.cancel"}, "unsupported_event", "type"),
    "truncate": (
        {"type": "conversation.item.truncate", "item_id": "i", "content_index": 0, "audio_end_ms": 5},
        "unsupported_event", "type",
    ),
    "delete": ({"type": "conversation.item.delete", "item_id": "i"}, "unsupported_event", "type"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
async def test_what_has_no_counterpart_is_told_as_often_as_it_is_asked_for(node: Node, name: str) -> None:
    event, code, param = UNSUPPORTED[name]
    async with in_interview(node) as client:
        for number in range(8):
            await client.send(event["type"], event_id=f"e-{number}", **{k: v for k, v in event.items() if k != "type"})
            await client.refused(code, param=param, event_id=f"e-{number}")
        await client.answer("It is warm.")
        await client.response()


async def test_update_that_is_refused_changes_nothing(node: Node) -> None:
    async with in_interview(node) as client:
        wanted = {"audio": {"input": {"turn_detection": None}}, "output_modalities": ["audio", "text"]}
        await client.send("session.update", session=wanted)
        await client.refused("unsupported_value")
        assert (await client.update())["audio"]["input"]["turn_detection"]["type"] == "semantic_vad"


async def test_parameters_without_a_counterpart_are_reported_as_ignored(node: Node) -> None:
    async with in_interview(node) as client:
        session = await client.update(
            instructions="Be nice.",
            temperature=0.7,
            output_modalities=["text"],
            tools=[],
            audio={
                "output": {"voice": "marin"},
                "input": {
                    "transcription": {"model": "whisper-1", "language": "en"},
                    "turn_detection": {"type": "server_vad", "silence_duration_ms": 200},
                },
            },
        )
    assert session["askwell"]["ignored"] == [
        "session.audio.input.transcription", "session.audio.input.turn_detection.silence_duration_ms",
        "session.audio.output", "session.instructions", "session.temperature",
    ]  # fmt: skip
    assert session["instructions"] == ""


@pytest.mark.parametrize(("eagerness", "patience"), [("low", "patient"), ("medium", "normal"), ("high", "quick")])
async def test_eagerness_is_the_patience_of_the_session(node: Node, eagerness: str, patience: str) -> None:
    async with in_interview(node) as client:
        detection = {"type": "semantic_vad", "eagerness": eagerness}
        session = await client.update(audio={"input": {"turn_detection": detection}})
        assert session["askwell"]["patience"] == patience
        assert session["audio"]["input"]["turn_detection"]["eagerness"] == eagerness
        [owner] = node.hub._owners.values()
        assert owner.state.settings["patience"] == patience


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "x" * 8001])
async def test_answer_that_is_no_answer_is_refused_and_uses_no_turn(node: Node, text: str) -> None:
    async with in_interview(node) as client:
        await client.send("conversation.item.create", item=answer(text), event_id="e")
        await client.refused("answer_too_long" if len(text) > 8000 else "invalid_input", event_id="e")
        await client.answer("It is warm.")
        assert (await client.response())["askwell"]["turn_number"] == 1


async def test_event_ids_may_repeat(node: Node) -> None:
    async with in_interview(node) as client:
        for number in range(1, 3):
            item = answer(f"Answer {number}.")
            await client.send("conversation.item.create", item=item, event_id="same")
            assert (await client.response())["askwell"]["turn_number"] == number
    assert said(node) == ["Answer 1.", "Answer 2."]


async def test_answer_while_the_last_one_is_worked_on_is_refused(node: Node) -> None:
    async with in_interview(node) as client:
        gate = node.providing.extractor.close_gate()
        await client.answer("It is warm.")
        await client.until("response.created")
        await client.send("conversation.item.create", item=answer("And cosy."), event_id="early")
        await client.refused("turn_in_progress", event_id="early")
        await client.send("response.create")
        await client.send("response.create", event_id="twice")
        await client.refused("conversation_already_has_active_response", event_id="twice")
        gate.set()
        await client.response()
    assert said(node) == ["It is warm."]


async def test_response_that_is_asked_for_twice_at_once_is_made_once(node: Node) -> None:
    async with in_interview(node) as client:
        client.seen.clear()
        await client.answer("It is warm.")
        await client.send("response.create")
        await client.send("response.create", event_id="twice")
        await client.refused("conversation_already_has_active_response", event_id="twice")
        await client.response()
        assert client.names().count("response.created") == 1
        await client.send("response.create")
        await client.until("response.done")
        await client.send("conversation.item.create", item=answer("x" * 9000), event_id="long")
        await client.refused("answer_too_long", event_id="long")
        await client.send("response.create")
        await client.until("response.done")


async def test_frame_that_is_too_long_is_refused(node: Node) -> None:
    async with in_interview(node) as client:
        await client.send("input_audio_buffer.append", audio="A" * 140_000)
        assert "128 KiB" in (await client.refused("invalid_message"))["message"]
        await client.answer("It is warm.")
        await client.response()


async def test_binary_frames_and_repeated_nonsense_end_the_connection_and_not_the_interview(node: Node) -> None:
    state = await node.session()
    token = f"token-{state.session_id}"
    for data, code in ((b"\0\1\2\3", 1003), ("nonsense", 1002)):
        async with RealtimeClient(node.url, token) as client:
            await client.until("session.created")
            for _ in range(12):
                await client.raw(data)
            assert await client.closed() == code
    async with RealtimeClient(node.url, token) as client:
        await client.until("conversation.item.done")
        await client.answer("It is warm.")
        await client.response()


async def test_flood_of_events_is_told_and_ended(node: Node) -> None:
    async with in_interview(node) as client:
        for _ in range(200):
            await client.send("session.update", session={})
        assert await client.closed() == 1008
    assert "rate_limited" in [event["error"]["code"] for event in client.seen if event["type"] == "error"]


async def test_page_and_realtime_client_take_turns_at_one_interview(node: Node) -> None:
    state = await node.session()
    async with RealtimeClient(node.url, f"token-{state.session_id}") as client:
        await client.response()
        await client.answer("It is warm.")
        await client.response()
    async with node.client(state.session_id) as page:
        await page.hello()
        assert (await page.turn("And cosy.", key()))["turn_number"] == 2
