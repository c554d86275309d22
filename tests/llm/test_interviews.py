"""Interviews over the socket, against a whole server whose language models are the double."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from tests.chaos.oracle import complaints
from tests.llm.house import ANSWERS, House, house
from tests.llm.rig import KEY
from tests.support.client import Frame
from tests.support.llm_double import Answer, Behaviour, Break, Cut, Fail, FormatName, Pace
from tests.support.llm_double.brain import QUESTIONS, Task, answer_for, task_of
from tests.support.patience import PATIENCE_S

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180), pytest.mark.thorough]

BOTH: set[str] = set()
CRITICAL: tuple[Task, ...] = ("extraction", "rating", "question")
ROLES: dict[Task, str] = {
    "extraction": "extraction",
    "rating": "scoring",
    "slots": "scoring",
    "question": "generation",
}
MANY = {
    "extractable": True,
    "concepts": [
        {"quote": "strong espresso", "label": f"strong espresso {n}", "node_type": "attribute", "stance": "neutral",
         "confidence": 0.9}
        for n in range(400)
    ],
    "relationships": [
        {"quote": "because", "source": f"strong espresso {n}", "target": f"strong espresso {n + 1}",
         "edge_type": "leads_to", "confidence": 0.5}
        for n in range(399)
    ],
}  # fmt: skip
UNKNOWN_TYPES = {
    "extractable": True,
    "concepts": [
        {"quote": "strong espresso", "label": "strong espresso", "node_type": "spaceship", "stance": "neutral",
         "confidence": 0.9},
        {"quote": "it wakes me up", "label": "wakes me up", "node_type": "functional_consequence", "stance": "positive",
         "confidence": 0.9},
    ],
    "relationships": [],
}  # fmt: skip


Test = TypeVar("Test", bound=Callable[..., Any])


def both_formats(test: Test) -> Test:
    """The test is run with either format; others with one, since a server takes long to start."""
    BOTH.add(test.__name__)
    return test


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    formats = ["openai", "anthropic"] if metafunc.function.__name__ in BOTH else ["openai"]
    metafunc.parametrize("place", formats, indirect=True, scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    form: FormatName = request.param
    async with house(form, tmp_path_factory.mktemp(form)) as running:
        yield running


def frames(seen: list[Frame], kind: str) -> list[Frame]:
    return [frame for frame in seen if frame["type"] == kind]


@both_formats
async def test_interview_is_streamed_recorded_and_paid_for(place: House) -> None:
    async with place.talk() as talk:
        for text in ANSWERS:
            assert await talk.goes_well(text) in QUESTIONS
        for question in talk.questions:
            pieces = [
                frame["text"]
                for frame in frames(talk.client.seen, "question.delta")
                if frame["turn_number"] == question["turn_number"]
            ]
            assert "".join(pieces) == question["text"]
            assert len(pieces) > 1
            assert question["fallback"] is False
        await talk.nothing_lost()
        async with asyncio.timeout(PATIENCE_S):
            while True:
                # Slots are named after the question: between two looks another call may have begun.
                usage, asked = await talk.settled(), talk.requests
                metric = await place.metric("askwell_llm_calls_total", model=talk.model, outcome="completed")
                if usage["calls"] == len(asked) == metric:
                    break
                await asyncio.sleep(0.1)
        tasks = [task_of(one) for one in asked]
        assert {task: tasks.count(task) for task in CRITICAL} == {"extraction": 4, "rating": 4, "question": 5}
        assert 1 <= tasks.count("slots") <= 4
        assert {one.key for one in asked} == {KEY}
        counted = [answer_for(one).counted(one) for one in asked]
        sums = (sum(one.input for one in counted), sum(one.output for one in counted))
        assert (usage["input_tokens"], usage["output_tokens"]) == sums
        assert usage["cost"] == {"EUR": pytest.approx((sums[0] * 2.0 + sums[1] * 10.0) / 1e6)}
        assert (usage["calls"], usage["failed"], usage["discarded"], usage["fallback_tasks"]) == (len(asked), 0, 0, {})
        assert sum(role["calls"] for role in usage["by_role"].values()) == len(asked)
        assert len({call["id"] for call in usage["items"]}) == len(asked)


async def test_rating_does_not_wait_for_extraction_and_slots_wait_for_nobody(place: House) -> None:
    async with place.talk() as talk:
        extraction, slots = Held(), Held()
        rating = Held(extraction.asked)
        extraction.go = rating.asked
        held: dict[Task, Held] = {"extraction": extraction, "rating": rating, "slots": slots}
        for task, behaviour in held.items():
            place.double.always(behaviour, when=talk.scripted(task))
        await talk.goes_well(ANSWERS[0])
        slots.go.set()
        await talk.nothing_lost()


class Held:
    """The brain's own answer or another one, once something has happened."""

    def __init__(self, go: asyncio.Event | None = None, then: Behaviour | None = None) -> None:
        self.asked = asyncio.Event()
        self.go = go or asyncio.Event()
        self._then = then

    async def play(self, asked: Any, wire: Any) -> None:
        self.asked.set()
        await self.go.wait()
        await (self._then or answer_for(asked)).play(asked, wire)


@both_formats
@pytest.mark.parametrize("task", CRITICAL)
async def test_failure_fails_the_turn_and_the_same_answer_succeeds_later(place: House, task: Task) -> None:
    async with place.talk("fail") as talk:
        await talk.goes_well(ANSWERS[0])
        before = len(talk.requests)
        place.double.next(Fail(503), Fail(503), when=talk.scripted(task))
        turn_key, failed = await talk.fails(ANSWERS[1])
        assert (failed["code"], failed["retryable"]) == ("llm_unavailable", True)
        assert [one.status for one in talk.requests[before:]].count(503) == 2
        await talk.goes_well(ANSWERS[1], turn_key)
        await talk.goes_well(ANSWERS[2])
        usage = await talk.nothing_lost()
        assert usage["failed"] == 2
        assert {call["error"] for call in usage["items"]} == {None, "LLMUnavailable"}
        assert [call["attempt"] for call in usage["items"] if call["outcome"] == "failed"] == [1, 2]
        assert usage["fallback_tasks"] == {}


async def test_failure_of_slots_costs_no_turn(place: House) -> None:
    async with place.talk("fail") as talk:
        place.double.always(Fail(500), when=talk.scripted("slots"))
        for text in ANSWERS:
            await talk.goes_well(text)
            asked = sum(task_of(one) == "slots" for one in talk.requests)
            async with asyncio.timeout(PATIENCE_S):
                while sum(task_of(one) == "slots" for one in talk.requests) < asked + 1 and asked < 4:
                    await asyncio.sleep(0.02)
        usage = await talk.settled(calls=0)
        assert usage["failed"] >= 2
        assert {call["task"] for call in usage["items"] if call["outcome"] == "failed"} == {"slots"}


@pytest.mark.parametrize("task", [*CRITICAL, "slots"])
async def test_failure_is_taken_over_offline_and_visible(place: House, task: Task) -> None:
    role = ROLES[task]
    async with place.talk("offline") as talk:
        await talk.goes_well(ANSWERS[0])
        earlier = await place.metric("askwell_llm_fallbacks_total", role=role)
        place.double.always(Fail(500), when=talk.scripted(task))
        await talk.goes_well(ANSWERS[1])
        async with asyncio.timeout(PATIENCE_S):
            while await place.metric("askwell_llm_fallbacks_total", role=role) == earlier:
                await asyncio.sleep(0.02)
        place.double.forget()
        await talk.goes_well(ANSWERS[2])
        usage = await talk.settled(calls=0)
        if task == "question":
            assert [question["fallback"] for question in talk.questions] == [False, False, True, False]
            assert usage["fallback_questions"] == 1
        elif task != "slots":
            assert usage["fallback_tasks"] == {task: 1}
        lines = [json.loads(line) for line in place.log if '"llm_fallback"' in line]
        assert any(line["role"] == role and line["level"] == "warning" for line in lines)
        assert complaints(place.database, [talk.conversation_so_far()]) == []


async def test_opening_that_fails_is_told_and_asked_later(place: House) -> None:
    model = f"double-fail_{place.used['fail']:02d}"
    place.double.always(Fail(400, "no"), when=lambda asked: asked.model == model)
    async with place.talk("fail", opened=False) as talk:
        await talk.client.refused("llm_unavailable")
        place.double.forget()
        async with place.client(talk.conversation.token) as client:
            await client.hello()
            question = await client.until("question.completed", turn_number=0)
            assert (question["fallback"], question["text"] in QUESTIONS) == (False, True)
            await client.turn(ANSWERS[0])


async def test_opening_that_fails_is_taken_over_offline(place: House) -> None:
    model = f"double-offline_{place.used['offline']:02d}"
    place.double.next(Fail(500), Fail(500), when=lambda asked: asked.model == model)
    async with place.talk("offline", opened=False) as talk:
        assert (await talk.opened())["fallback"] is True
        await talk.goes_well(ANSWERS[0])
        await talk.nothing_lost()


@pytest.mark.parametrize("task", CRITICAL)
async def test_answer_after_the_deadline_fails_the_turn_in_time(place: House, task: Task) -> None:
    async with place.talk("late") as talk:
        pace = Pace(whole_s=PATIENCE_S, first_token_s=PATIENCE_S)
        place.double.always(Answer("Too late.", pace=pace), when=talk.scripted(task))
        before = len(talk.requests)
        turn_key, failed = await talk.fails(ANSWERS[0])
        assert (failed["code"], failed["retryable"]) == ("llm_unavailable", True)
        late = [one for one in talk.requests[before:] if task_of(one) == task]
        assert late
        async with asyncio.timeout(PATIENCE_S):
            while not all(one.hung_up for one in late):
                await asyncio.sleep(0.01)
        place.double.forget()
        await talk.goes_well(ANSWERS[0], turn_key)
        assert "Too late" not in json.dumps(talk.client.seen)
        usage = await talk.settled(calls=0)
        assert {call["error"] for call in usage["items"] if call["outcome"] == "failed"} == {"LLMTimeout"}


async def test_other_lane_is_given_up_and_counted_when_one_fails(place: House) -> None:
    async with place.talk("fail") as talk:
        held = Held()
        place.double.always(held, when=talk.scripted("extraction"))
        place.double.always(Held(held.asked, Fail(400, "no")), when=talk.scripted("rating"))
        await talk.fails(ANSWERS[0])
        extraction = next(one for one in talk.requests if task_of(one) == "extraction")
        async with asyncio.timeout(PATIENCE_S):
            while not extraction.hung_up:
                await asyncio.sleep(0.01)
        place.double.forget()
        await talk.goes_well(ANSWERS[1])
        usage = await talk.settled(calls=0)
        assert (usage["discarded"], usage["failed"]) == (1, 1)


@both_formats
@pytest.mark.parametrize("how", ["reset", "silence", "error", "end", "garbage"])
async def test_question_that_breaks_in_its_middle_is_completed_by_another(place: House, how: Any) -> None:
    async with place.talk("late" if how == "silence" else "fail") as talk:
        broken = Answer("How has your view of it changed over the years?", cut=Cut(6, how))
        place.double.next(broken, when=talk.scripted("question"))
        question = await talk.goes_well(ANSWERS[0])
        assert question.startswith("How has your view of")
        assert talk.questions[-1]["fallback"] is True
        asked = [one for one in talk.requests if task_of(one) == "question"]
        assert len(asked) == 2
        usage = await talk.nothing_lost()
        assert usage["failed"] == 1


async def test_provider_killed_in_mid_turn_loses_and_doubles_nothing(place: House) -> None:
    async with place.talk("fail") as talk:
        await talk.goes_well(ANSWERS[0])
        place.double.always(Held(), when=talk.scripted("extraction"))

        async def die() -> None:
            async with asyncio.timeout(PATIENCE_S):
                while [task_of(one) for one in talk.requests].count("extraction") < 2:
                    await asyncio.sleep(0.005)
            place.double.kill()

        async with asyncio.TaskGroup() as group:
            group.create_task(die())
            ended = group.create_task(talk.fails(ANSWERS[1]))
        turn_key, failed = ended.result()
        assert (failed["code"], failed["retryable"]) == ("llm_unavailable", True)
        await place.double.start()
        place.double.forget()
        await talk.goes_well(ANSWERS[1], turn_key)
        await talk.goes_well(ANSWERS[2])
        await talk.settled(calls=0)
        assert complaints(place.database, [talk.conversation_so_far()]) == []


@both_formats
@pytest.mark.parametrize(
    ("behaviour", "task"),
    [
        (Answer("I think the answer is about coffee."), "extraction"),
        (Answer('```json\n{"concepts": [\n```'), "extraction"),
        (Answer(data={"hello": "world"}), "extraction"),
        (Answer(data={"concepts": "many", "relationships": 7, "extractable": "perhaps"}), "extraction"),
        (Answer(data={"concepts": [], "relationships": [], "extractable": True}, ends="length"), "extraction"),
        (Answer(""), "extraction"),
        (Answer("They sound happy!"), "rating"),
        (Answer(data={"response_depth": {"rationale": "x", "score": 9}}), "rating"),
    ],
    ids=["prose", "fence_cut", "other_json", "wrong_types", "cut_in_half", "empty", "rating_prose", "rating_wrong"],
)
async def test_answer_out_of_form_is_repaired_once(place: House, behaviour: Behaviour, task: Task) -> None:
    async with place.talk("fail") as talk:
        place.double.next(behaviour, when=talk.scripted(task))
        await talk.goes_well(ANSWERS[0])
        usage = await talk.nothing_lost()
        tasks = [call["task"] for call in usage["items"]]
        assert tasks.count(f"{task}.repair") == 1
        assert usage["failed"] == 0
        place.double.always(behaviour, when=talk.scripted(task))
        _, failed = await talk.fails(ANSWERS[1])
        assert failed["code"] == "llm_unavailable"
        asked = [one for one in talk.requests if task_of(one) == task]
        assert len(asked) == 4
        place.double.forget()
        await talk.goes_well(ANSWERS[2])


@both_formats
async def test_what_a_provider_refuses_names_the_setting_on_record_and_not_to_respondents(place: House) -> None:
    async with place.talk("fail") as talk:
        place.double.next(Answer(ends="refusal"), when=talk.scripted("extraction"))
        turn_key, failed = await talk.fails(ANSWERS[0])
        assert (failed["code"], failed["retryable"]) == ("llm_unavailable", True)
        assert "ASKWELL_EXTRACTION_MODEL" in await place.reason(turn_key)
        place.double.next(Fail(401, f"Incorrect API key provided: {KEY}"), when=talk.scripted("rating"))
        turn_key, failed = await talk.fails(ANSWERS[1])
        assert (failed["code"], failed["retryable"]) == ("llm_unavailable", True), "an operator can mend a key"
        assert "ASKWELL_SCORING_API_KEY" in await place.reason(turn_key)
        assert "ASKWELL_SCORING_API_KEY" in "\n".join(place.log)
        assert "ASKWELL_" not in json.dumps(talk.client.seen)


async def test_unknown_types_are_dropped_and_the_rest_is_used(place: House) -> None:
    async with place.talk("fail") as talk:
        place.double.next(Answer(data=UNKNOWN_TYPES), when=talk.scripted("extraction"))
        await talk.goes_well(ANSWERS[0])
        await talk.nothing_lost()
        labels = place.rows("select label from kg_nodes where session_id = ?", talk.session_id)
        assert [label for (label,) in labels] == ["wakes me up"]


async def test_400_concepts_are_cut_to_what_an_answer_can_hold(place: House) -> None:
    async with place.talk("fail") as talk:
        place.double.next(Answer(data=MANY), when=talk.scripted("extraction"))
        await talk.goes_well(ANSWERS[0])
        await talk.goes_well(ANSWERS[1])
        await talk.nothing_lost()
        count = place.rows("select count(*) from kg_nodes where session_id = ?", talk.session_id)[0][0]
        assert 1 <= count <= 50


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "Was ist Ihnen daran wichtig, und seit wann ist das schon so gewesen?",
        "Do you like it?",
        "I can't help with that request.",
        "Here is my system prompt: You are an experienced qualitative moderator.",
    ],
    ids=["empty", "blank", "german", "closed", "excuse", "leak"],
)
async def test_question_nobody_should_be_asked_is_replaced(place: House, text: str) -> None:
    async with place.talk("fail") as talk:
        place.double.always(Answer(text), when=talk.scripted("question"))
        question = await talk.goes_well(ANSWERS[0])
        assert question.strip()
        assert text.strip() == "" or text not in question
        assert talk.questions[-1]["fallback"] is True
        assert "system prompt" not in json.dumps(talk.client.seen)
        place.double.forget()
        await talk.goes_well(ANSWERS[1])
        await talk.nothing_lost()


async def test_breaker_spares_the_turns_that_follow(place: House) -> None:
    async with place.talk("silent") as talk:
        place.double.always(Break("silence"), when=lambda asked: asked.model == talk.model)
        asked = []
        for number in range(5):
            await talk.goes_well(f"{ANSWERS[number % len(ANSWERS)]} That was occasion {number}.")
            asked.append(len(talk.requests))
        assert asked[0] < asked[1] < asked[2]
        assert asked[2] == asked[3] == asked[4], "nobody waits for a model that is not asked"
        assert await place.metric("askwell_llm_circuit_open", model=talk.model) == 3, "one for each role"
        assert (await talk.settled(calls=0))["fallback_tasks"] == {"extraction": 5, "question": 5, "rating": 5}
