"""An interview over the socket, as it should go."""

from __future__ import annotations

from tests.support.client import key
from tests.support.fakes_session import Node, asking_consent


async def test_hello_first_visit_opens_the_interview(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        ready = await client.hello()
        assert ready["session_id"] == state.session_id
        assert (ready["state"], ready["last_event_id"], ready["pending"]) == ("created", 0, None)
        await client.until("question.started", turn_number=0, attempt=1)
        said = ""
        while (frame := await client.next())["type"] == "question.delta":
            said += frame["text"]
        assert frame["type"] == "session.state"
        question = await client.expect("question.completed", turn_number=0, fallback=False)
        assert question["text"] == said


async def test_answer_good_text_streams_the_next_question_then_completes(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        turn_key = await client.answer("I like it strong because it wakes me up.")
        await client.expect("turn.started", turn_key=turn_key, turn_number=1, attempt=1)
        await client.expect("question.started", turn_number=1, attempt=1)
        said = ""
        while (frame := await client.next())["type"] == "question.delta":
            assert frame["attempt"] == 1
            said += frame["text"]
        assert frame["type"] == "question.completed"
        assert frame["text"] == said
        done = await client.expect("turn.completed", turn_key=turn_key, turn_number=1)
        assert done["result"]["should_continue"] is True
        assert done["result"]["max_turns"] == 15
        await client.silence()


async def test_interview_up_to_the_last_turn_ends_with_thanks(node: Node) -> None:
    state = await node.session(max_turns=3)
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed", turn_number=0)
        results = [(await client.turn(f"Answer number {n}."))["result"] for n in range(1, 4)]
        assert [r["should_continue"] for r in results] == [True, True, False]
        await client.until("session.state", state="completed")
        thanks = [f for f in client.durable() if f.get("closing")]
        assert [f["text"] for f in thanks] == ["Thank you very much for your time."]
        assert [f["id"] for f in client.durable()] == list(range(1, len(client.durable()) + 1))
        await client.answer("One more thing.")
        await client.refused("session_completed")


async def test_consent_required_comes_before_the_first_question(node: Node) -> None:
    state = await node.session(asking_consent())
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.silence()
        early = await client.answer("I can't wait.")
        await client.refused("consent_required", ref=early)
        await client.send("consent", version="1", choices={"agree": True})
        await client.refused("invalid_input", ref="consent")
        await client.send("consent", version="2", choices={"agree": True})
        await client.until("question.completed", turn_number=0)
        assert (await client.turn("Now it works."))["turn_number"] == 1


async def test_skip_uses_a_turn_without_content(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        turn_key = key()
        await client.send("skip", turn_key=turn_key)
        done = await client.until("turn.completed", turn_key=turn_key)
        assert done["turn_number"] == 1
    owner = await node.hub.attach(state.session_id)
    said = [u for u in owner.state.utterances if u.speaker == "respondent"]
    assert [(u.kind, u.text) for u in said] == [("skip", "")]


async def test_rephrase_gives_the_same_turn_another_question_without_using_a_turn(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed", turn_number=0)
        await client.turn("I like it strong.")
        node.providing.writer.texts.append("How does it feel when it is strong?")
        await client.send("rephrase")
        other = await client.until("question.completed", turn_number=1)
        assert other["text"] == "How does it feel when it is strong?"
    owner = await node.hub.attach(state.session_id)
    assert owner.state.turn_count == 1
    assert owner.state.question is not None
    assert owner.state.question.text == other["text"]


async def test_correct_last_answer_is_a_turn_that_amends_it(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        first = await client.turn("I drink tea.")
        utterance_id = first["result"]["utterance_id"]
        await client.send("correct", utterance_id="nobody-said-this", text="I drink coffee.", turn_key=key())
        await client.refused("invalid_input")
        turn_key = key()
        await client.send("correct", utterance_id=utterance_id, text="I drink coffee.", turn_key=turn_key)
        await client.until("turn.completed", turn_key=turn_key)
    owner = await node.hub.attach(state.session_id)
    last = owner.state.last_answer()
    assert last is not None
    assert (last.kind, last.text, last.corrects) == ("correct", "I drink coffee.", utterance_id)


async def test_pause_and_resume_by_the_respondent_hold_answers_back(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.send("pause")
        await client.until("session.state", state="paused", reason="by_respondent")
        await client.answer("While paused.")
        await client.refused("session_paused", retryable=True)
        await client.send("resume")
        await client.until("session.state", state="active")
        assert (await client.turn("After the pause."))["turn_number"] == 1


async def test_finish_ends_at_once_with_thanks(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.turn("One answer.")
        await client.send("finish")
        await client.until("question.completed", closing=True, text="Thank you very much for your time.")
        await client.expect("session.state", state="completed", reason="respondent_finished")
        await client.answer("Too late.")
        await client.refused("session_completed", retryable=False)


async def test_withdraw_erases_and_says_goodbye(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.send("withdraw")
        await client.until("session.state", state="completed", reason="withdrawn")
        assert await client.closed() == 1000
    assert await node.hot.inner.is_erased(state.session_id)
    async with node.client(state.session_id) as client:
        await client.send("hello", token=f"token-{state.session_id}")
        await client.refused("not_found")
        assert await client.closed() == 1008


async def test_set_keeps_wishes_with_the_session(node: Node) -> None:
    state = await node.session()
    async with node.client(state.session_id) as client:
        await client.hello()
        await client.until("question.completed")
        await client.send("set", patience="patient", spoken=True)
        await client.send("set", review_transcript=False)
        await client.send("rephrase")
        await client.until("question.completed")
    owner = await node.hub.attach(state.session_id)
    assert owner.state.settings == {"patience": "patient", "spoken": True, "review_transcript": False}
