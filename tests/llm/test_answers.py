"""Both formats, whole and streamed: good answers in every shape they may have on the wire, and what they cost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.errors import LLMRejected, LLMUnavailable
from pipeline.language.clients.base import Completion, ProviderName, StructuredOutput
from tests.llm.rig import FORM, PRICES, Mode, Rig, request, rigged
from tests.support.llm_double import Answer, Body, FormatName, Pace, Shape, Usage
from tests.support.llm_double.formats import FORMATS

TEXT = "Wärme – und «Ruhe», 茶 😀; it’s calm.\nThat is all."
MOOD = {"mood": 'gelöst – 😀 "so" \\ {}', "score": 4}
SHAPES = [
    Shape(),
    Shape(newline="\r\n"),
    Shape(newline="\r"),
    Shape(piece_bytes=1),
    Shape(piece_bytes=1, newline="\r\n"),
    Shape(piece_bytes=7),
    Shape(one_chunk=True),
    Shape(noise=True),
    Shape(noise=True, piece_bytes=3, newline="\r\n"),
    Shape(done=False),
    Shape(usage=False),
    Shape(done=False, usage=False),
    Shape(empty_choices_null=True),
    Shape(close="announced"),
    Shape(close="silent"),
]
WAYS: dict[FormatName, tuple[StructuredOutput, ...]] = {
    "anthropic": ("auto", "tool", "json_schema", "json_object", "none"),
    "openai": ("auto", "tool", "json_schema", "json_object", "none"),
}
STRUCTURED = [pytest.param(form, way, id=f"{form}-{way}") for form, ways in WAYS.items() for way in ways]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
async def test_answer_in_any_shape_is_the_same_text(rig: Rig, mode: Mode, shape: Shape) -> None:
    rig.double.next(Answer(TEXT, shape=shape, usage=Usage(100, 20, cached=40)))
    assert (await rig.ask(mode)).text == TEXT
    call = rig.calls.peek()[0]
    assert (call.attempt, call.outcome, call.error) == (1, "completed", None)
    known = (call.input_tokens, call.output_tokens, call.cached_tokens)
    assert known == ((100, 20, 40) if shape.usage else (None, None, None))
    assert (call.first_token_ms is not None) == (mode == "stream")
    assert rig.events == ["llm_call_start", "llm_call_complete"]
    assert len(rig.double.requests) == 1


async def test_answer_has_its_price(rig: Rig, mode: Mode) -> None:
    rig.double.next(Answer("Calm.", usage=Usage(1_000_000, 200_000, cached=400_000)))
    await rig.ask(mode, request(task="rating"), role="scoring")
    call = rig.calls.peek()[0]
    assert call.cost == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.2 * 10.0)
    assert (call.currency, call.role, call.task, call.model) == ("EUR", "scoring", "rating", "double-1")
    assert PRICES.price("nobody-1") is None


async def test_answer_of_a_model_without_a_price_has_none(rig: Rig, mode: Mode) -> None:
    await rig.ask(mode, model="nobody-1")
    assert (rig.calls.peek()[0].cost, rig.calls.peek()[0].currency) == (None, None)
    assert rig.calls.peek()[0].output_tokens == 6


async def test_request_says_what_the_role_says(rig: Rig, mode: Mode) -> None:
    await rig.ask(mode, temperature=0.3, max_tokens=77)
    await rig.ask(mode, request(temperature=0.9, max_tokens=55), temperature=0.3, max_tokens=77)
    await rig.ask(mode, request(temperature=0.9), temperature=None)
    first, second, third = rig.double.requests
    assert [asked.body.get("temperature") for asked in rig.double.requests] == [0.3, 0.9, None]
    assert (first.body["max_tokens"], second.body["max_tokens"]) == (77, 55)
    assert first.stream is (mode == "stream")
    assert first.system == "You are brief."
    assert first.said == (("user", "Why do people drink tea? Answer as json."),)
    assert first.key is not None
    assert third.model == "double-1"


async def test_request_to_a_reasoning_model_is_one_that_it_takes(mode: Mode) -> None:
    async with rigged("openai") as rig:
        await rig.ask(mode, provider="openai", model="gpt-5-mini", temperature=None, effort="low")
        asked = rig.double.requests[0]
    assert (asked.problem, asked.body["reasoning_effort"]) == ("", "low")
    assert "max_tokens" not in asked.body


@pytest.mark.parametrize("effort", ["minimal", "low", "medium", "high"])
async def test_effort_is_said_in_words_the_provider_knows(rig: Rig, mode: Mode, effort: Any) -> None:
    await rig.ask(mode, effort=effort)
    asked = rig.double.requests[0]
    assert asked.problem == ""
    if rig.form == "anthropic":
        assert asked.body["output_config"]["effort"] == ("low" if effort == "minimal" else effort)
    else:
        assert asked.body["reasoning_effort"] == effort


async def test_server_without_a_key_gets_none(mode: Mode) -> None:
    async with rigged("openai") as rig:
        await rig.ask(mode, api_key=None)
        assert rig.double.requests[0].key is None
        assert "authorization" not in rig.double.requests[0].headers


async def test_pieces_leave_as_they_come(rig: Rig) -> None:
    rig.double.next(Answer("one two three four", pace=Pace(token_s=0.02)))
    await rig.ask("stream")
    assert [piece.strip() for piece in rig.pieces] == ["one", "two", "three", "four"]
    call = rig.calls.peek()[0]
    assert call.first_token_ms is not None
    assert call.latency_ms - call.first_token_ms > 45


async def test_one_huge_chunk_is_read_whole(rig: Rig, mode: Mode) -> None:
    text = "ünendlich " * 1200
    rig.double.next(Answer(text, shape=Shape(one_chunk=True)))
    assert (await rig.ask(mode)).text == text


async def test_one_event_too_long_for_any_answer_is_not_kept(rig: Rig, mode: Mode) -> None:
    kind = "text/event-stream" if mode == "stream" else "application/json"
    body = b'data: {"choices": [{"delta": {"content": "' + b"x" * 8_000_000 + b'"}}]}\n\n'
    rig.double.always(Body(body, content_type=kind))
    with pytest.raises(LLMUnavailable):
        await rig.ask(mode, request(max_tokens=50))
    assert rig.outcomes[0] == (1, "failed", "LLMUnavailable")


async def test_empty_answer_is_no_text(rig: Rig, mode: Mode) -> None:
    rig.double.next(Answer(""))
    assert (await rig.ask(mode)).text == ""
    assert rig.outcomes == [(1, "completed", None)]


async def test_answer_cut_by_its_length_says_so(rig: Rig) -> None:
    rig.double.next(Answer("a b cd", ends="length"))
    answer = await rig.ask("complete")
    assert (answer.text, answer.stop) == ("a b", "length")


async def test_refusal_of_a_whole_answer_is_told(rig: Rig) -> None:
    rig.double.next(Answer(ends="refusal"))
    assert (await rig.ask("complete")).stop == "refusal"
    rig.double.next(Answer(ends="refusal"))
    answer = await rig.ask("complete", request(form=FORM))
    assert (answer.stop, answer.data) == ("refusal", None)


async def test_refusal_of_a_stream_is_an_error_that_names_the_model(rig: Rig) -> None:
    rig.double.always(Answer(ends="refusal"))
    with pytest.raises(LLMRejected, match="ASKWELL_GENERATION_MODEL"):
        await rig.ask("stream")
    assert rig.pieces == []
    assert len(rig.double.requests) == 1


@pytest.mark.parametrize("tag", ["<think>He wants\ntea.</think>\n\n", "\n<think></think>"])
async def test_thoughts_said_aloud_are_not_part_of_the_answer(mode: Mode, tag: str) -> None:
    async with rigged("openai") as rig:
        for size in (None, 1):
            rig.double.next(Answer(tag + "It calms.", shape=Shape(piece_bytes=size)))
            assert (await rig.ask(mode)).text == "It calms."


def as_events(rig: Rig, answer: Answer) -> bytes:
    """An answer as the body of a stream, for the latest request."""
    form, asked = FORMATS[rig.form], rig.double.requests[-1]
    frames = [*form.head(answer, asked), *form.tokens(answer, asked), *form.tail(answer, asked)]
    return "".join(f"event: {frame.event}\ndata: {frame.data}\n\n" for frame in frames).encode()


async def test_provider_that_streams_what_was_asked_whole_is_understood(rig: Rig) -> None:
    await rig.ask("stream")
    rig.double.next(Body(as_events(rig, Answer("It calms.")), content_type="text/event-stream"))
    assert (await rig.ask("complete")).text == "It calms."


async def test_provider_that_answers_whole_what_was_asked_as_a_stream_is_understood(rig: Rig) -> None:
    await rig.ask("complete")
    whole = FORMATS[rig.form].body(Answer("It calms."), rig.double.requests[-1])
    rig.double.next(Body(json.dumps(whole).encode()))
    assert (await rig.ask("stream")).text == "It calms."


async def ask_for_form(rig: Rig, way: StructuredOutput, answer: Answer, **fields: Any) -> Completion:
    rig.double.next(answer)
    completion = await rig.ask("complete", request(form=FORM), structured=way, **fields)
    assert rig.double.requests[-1].problem == ""
    return completion


@pytest.mark.parametrize(("form", "way"), STRUCTURED)
async def test_form_is_asked_for_and_read_in_every_way(form: FormatName, way: StructuredOutput) -> None:
    async with rigged(form) as rig:
        for shape in (Shape(), Shape(piece_bytes=1), Shape(usage=False)):
            completion = await ask_for_form(rig, way, Answer(data=MOOD, shape=shape))
            assert (completion.data, completion.stop) == (MOOD, "end")
        expected = {"auto": "tool" if form == "anthropic" else "json_schema"}.get(way, way)
        asked = rig.double.requests[0]
        if form == "anthropic" and way == "json_object":
            expected = "none"
        assert asked.way == expected
        if expected in ("tool", "json_schema"):
            assert (asked.schema, asked.form_name) == (FORM.json_schema, "record_mood" if asked.form_name else "")
        else:
            assert "score" in asked.system


@pytest.mark.parametrize(
    ("provider", "way"),
    [("openai", "json_schema"), ("kimi", "tool"), ("deepseek", "json_object"), ("openai_compatible", "json_schema")],
)
async def test_form_is_asked_for_in_the_way_the_provider_has(provider: ProviderName, way: str) -> None:
    async with rigged("openai") as rig:
        completion = await ask_for_form(rig, "auto", Answer(data=MOOD), provider=provider)
        assert completion.data == MOOD
        assert rig.double.requests[0].way == way


@pytest.mark.parametrize(("form", "way"), STRUCTURED)
@pytest.mark.parametrize(
    "said",
    [
        "```json\n{}\n```",
        "```\n{}\n```",
        "Here you are:\n\n{}\n\nAnything else?",
        "Sure! ```json\n{}\n```",
        "  \n{}\n",
    ],
    ids=["fence", "bare_fence", "prose_around", "prose_and_fence", "blank"],
)
async def test_form_wrapped_in_prose_or_fences_is_unwrapped(form: FormatName, way: StructuredOutput, said: str) -> None:
    text = said.replace("{}", json.dumps({"mood": "calm {so to say}", "score": 3}))
    async with rigged(form) as rig:
        completion = await ask_for_form(rig, way, Answer(text))
        assert completion.data == {"mood": "calm {so to say}", "score": 3}


@pytest.mark.parametrize(("form", "way"), STRUCTURED)
@pytest.mark.parametrize(
    "said", ["I would say they are calm.", "", '{"mood": "ca', "{mood: calm}", "[1, 2]", "null", '"calm"']
)
async def test_prose_for_json_is_told_as_text_without_data(form: FormatName, way: StructuredOutput, said: str) -> None:
    async with rigged(form) as rig:
        completion = await ask_for_form(rig, way, Answer(said))
        assert (completion.data, completion.text.strip()) == (None, said.strip())
        assert len(rig.double.requests) == 1


@pytest.mark.parametrize(("form", "way"), STRUCTURED)
async def test_form_cut_in_half_by_its_length_is_no_data(form: FormatName, way: StructuredOutput) -> None:
    async with rigged(form) as rig:
        completion = await ask_for_form(rig, way, Answer(data=MOOD, ends="length"))
        assert (completion.data, completion.stop) == (None, "length")


@pytest.mark.parametrize(("form", "way"), STRUCTURED)
async def test_form_with_other_fields_and_odd_values_is_handed_on(form: FormatName, way: StructuredOutput) -> None:
    odd = {"mood": 7, "extra": [None, {"deep": True}], "": "", "score": "four"}
    async with rigged(form) as rig:
        assert (await ask_for_form(rig, way, Answer(data=odd))).data == odd


@pytest.mark.parametrize(("form", "way"), STRUCTURED)
async def test_form_with_400_elements_is_handed_on(form: FormatName, way: StructuredOutput) -> None:
    many = {"concepts": [{"label": f"concept {number}", "quote": "tea"} for number in range(400)]}
    async with rigged(form) as rig:
        answer = await ask_for_form(rig, way, Answer(data=many), max_tokens=4000)
        assert answer.data == many


@pytest.mark.parametrize(("form", "way"), STRUCTURED)
async def test_lone_surrogates_and_nul_do_not_pass(form: FormatName, way: StructuredOutput) -> None:
    async with rigged(form) as rig:
        completion = await ask_for_form(rig, way, Answer(data='{"mood": "a\\ud800b\\u0000", "score": 1}'))
        assert completion.data is not None
        completion.model_dump_json()
        assert "\0" not in completion.data["mood"]
