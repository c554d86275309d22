"""OpenAI chat completions, as the documentation describes them, with habits of compatible servers on request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.support.llm_double.frame import Complaint, Frame, dump

if TYPE_CHECKING:
    from tests.support.llm_double.behaviour import Answer
    from tests.support.llm_double.request import Asked

_KINDS = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("server_error", None),
}
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_REASONING = re.compile(r"^(o\d|gpt-5)")
_STRICT_KEYWORDS = set(
    """type properties required additionalProperties items enum const anyOf $ref $defs definitions description title
    pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems""".split()
)
REFUSED = "I'm sorry, I can't help with that."


class OpenAI:
    """`POST /v1/chat/completions`."""

    def complaint(self, asked: Asked) -> Complaint | None:
        """What is wrong with the request by the documented rules."""
        if not asked.headers.get("content-type", "").startswith("application/json"):
            return Complaint(400, "Unsupported content type")
        problem = _basics(asked.body) or _answer_form(asked) or _tools(asked.body)
        return Complaint(400, problem) if problem else None

    def body(self, answer: Answer, asked: Asked) -> dict[str, Any]:
        """A whole completion."""
        message: dict[str, Any] = {"role": "assistant", "content": answer.content(asked), "refusal": None}
        if answer.ends == "refusal":
            message |= {"content": None, "refusal": REFUSED}
        elif answer.in_form(asked) and asked.way == "tool":
            function = {"name": asked.form_name, "arguments": answer.content(asked)}
            message |= {
                "content": None,
                "tool_calls": [{"id": _id("call", asked), "type": "function", "function": function}],
            }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer, asked)}
        return {
            "id": _id("chatcmpl", asked), "object": "chat.completion", "created": 1_760_000_000, "model": asked.model,
            "choices": [choice], "usage": _usage(answer, asked), "system_fingerprint": "fp_double",
        }  # fmt: skip

    def head(self, answer: Answer, asked: Asked) -> list[Frame]:
        """The first chunk carries the role, and the name of a tool."""
        delta: dict[str, Any] = {"role": "assistant", "content": "", "refusal": None}
        if answer.in_form(asked) and asked.way == "tool":
            function = {"name": asked.form_name, "arguments": ""}
            call = {"index": 0, "id": _id("call", asked), "type": "function", "function": function}
            delta |= {"content": None, "tool_calls": [call]}
        return [_chunk(answer, asked, delta)]

    def tokens(self, answer: Answer, asked: Asked) -> list[Frame]:
        """A chunk each."""
        if answer.ends == "refusal":
            return [_chunk(answer, asked, {"refusal": word}) for word in re.findall(r"\s*\S+", REFUSED)]
        if answer.in_form(asked) and asked.way == "tool":
            parts = [{"index": 0, "function": {"arguments": token}} for token in answer.tokens(asked)]
            return [_chunk(answer, asked, {"tool_calls": [part]}) for part in parts]
        return [_chunk(answer, asked, {"content": token}) for token in answer.tokens(asked)]

    def tail(self, answer: Answer, asked: Asked) -> list[Frame]:
        """Why it ended; the usage where it was asked for, in a chunk without choices; `[DONE]`."""
        frames = [_chunk(answer, asked, {}, _finish(answer, asked))]
        if _wants_usage(asked) and answer.shape.usage:
            choices: list[Any] | None = None if answer.shape.empty_choices_null else []
            last = {**_envelope(asked), "choices": choices, "usage": _usage(answer, asked)}
            frames.append(Frame(dump(last)))
        return [*frames, Frame("[DONE]")] if answer.shape.done else frames

    def noise(self) -> list[Frame]:
        """A content filter's chunk without choices, empty deltas, thoughts, an object of an unknown kind."""
        choice = {"index": 0, "finish_reason": None}
        return [
            Frame(dump({"id": "", "object": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]})),
            Frame(dump({"object": "chat.completion.chunk", "choices": [{**choice, "delta": {}}]})),
            Frame(dump({"object": "chat.completion.chunk", "choices": [{**choice, "delta": {"content": None}}]})),
            Frame(
                dump(
                    {
                        "object": "chat.completion.chunk",
                        "choices": [{**choice, "delta": {"content": None, "reasoning_content": "SECRET-THOUGHT"}}],
                    }
                )
            ),
            Frame(dump({"object": "aurora.borealis", "brightness": 7}), "aurora"),
        ]

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body of an error."""
        kind, code = _KINDS.get(status, ("invalid_request_error", None))
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def error_frame(self, message: str) -> Frame:
        """An object with `error` in the place of a chunk."""
        return Frame(dump({"error": {"message": message, "type": "server_error", "param": None, "code": None}}))

    def models(self, names: tuple[str, ...]) -> dict[str, Any]:
        """`GET /v1/models`."""
        data = [{"id": name, "object": "model", "created": 1_760_000_000, "owned_by": "double"} for name in names]
        return {"object": "list", "data": data}


def _basics(body: dict[str, Any]) -> str:
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        return "you must provide a model parameter"
    if not isinstance(messages, list) or not messages:
        return "Invalid 'messages': empty array. Expected an array with minimum length 1."
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("system", "developer", "user", "assistant"):
            return f"Invalid value: 'messages[{number}].role'."
        if not isinstance(message.get("content"), str | list):
            return f"Invalid type for 'messages[{number}].content': expected a string or an array."
    if "stream_options" in body and body.get("stream") is not True:
        return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    if "max_tokens" in body and "max_completion_tokens" in body:
        return "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    if _REASONING.match(model):
        if "max_tokens" in body:
            return (
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead."
            )
        if body.get("temperature", 1) != 1:
            return "Unsupported value: 'temperature' does not support this value with this model. Only 1 is supported."
    elif "reasoning_effort" in body and re.match(r"^gpt-4", model):
        return "Unrecognized request argument supplied: reasoning_effort"
    if not 0 <= body.get("temperature", 1) <= 2:
        return "Invalid 'temperature': decimal above maximum value. Expected a value <= 2."
    if body.get("reasoning_effort", "low") not in ("none", "minimal", "low", "medium", "high", "xhigh"):
        return "Invalid value for 'reasoning_effort'."
    return ""


def _answer_form(asked: Asked) -> str:
    form = asked.body.get("response_format")
    if form is None:
        return ""
    kind = form.get("type") if isinstance(form, dict) else None
    if kind == "json_object" and "json" not in asked.text.lower():
        return "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    if kind == "json_schema":
        named = form.get("json_schema")
        if not isinstance(named, dict) or not _NAME.match(str(named.get("name", ""))):
            return "Missing required parameter: 'response_format.json_schema.name'."
        if named.get("strict") is True:
            return strict_problem(named.get("schema"), named["name"])
    if kind not in ("text", "json_object", "json_schema"):
        return f"Invalid value: {kind!r}. Supported values are: 'json_object', 'json_schema', and 'text'."
    return ""


def _tools(body: dict[str, Any]) -> str:
    names = []
    for number, tool in enumerate(body.get("tools", [])):
        function = tool.get("function") if tool.get("type") == "function" else None
        if not isinstance(function, dict) or not _NAME.match(str(function.get("name", ""))):
            return f"Invalid 'tools[{number}].function.name': string does not match pattern."
        if function.get("strict") is True:
            problem = strict_problem(function.get("parameters"), function["name"])
            if problem:
                return problem
        names.append(function["name"])
    choice = body.get("tool_choice")
    if choice is None:
        return ""
    if not names:
        return "'tool_choice' is only allowed when 'tools' are specified."
    if isinstance(choice, dict):
        wanted = choice.get("function", {}).get("name")
        return "" if wanted in names else f"Tool choice '{wanted}' not found in 'tools' parameter."
    return "" if choice in ("none", "auto", "required") else f"Invalid value: {choice!r} for 'tool_choice'."


def strict_problem(schema: object, name: str, place: tuple[str, ...] = ()) -> str:
    """Why a schema can't be used in strict mode, empty where it can."""

    def refused(why: str) -> str:
        return f"Invalid schema for response_format '{name}': In context={place!r}, {why}"

    if not isinstance(schema, dict):
        return refused("schema must be an object.")
    if not place and schema.get("type") != "object":
        return refused("schema must be a JSON Schema of 'type: \"object\"'.")
    unknown = sorted(set(schema) - _STRICT_KEYWORDS)
    if unknown:
        return refused(f"'{unknown[0]}' is not permitted.")
    if "$ref" in schema and len(schema) > 1 and set(schema) - {"$ref", "description", "$defs"}:
        return refused("$ref cannot have keywords beside it.")
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            return refused("'additionalProperties' is required to be supplied and to be false.")
        missing = sorted(set(schema.get("properties", {})) - set(schema.get("required", [])))
        if missing:
            return refused(f"'required' must include every key in properties. Missing '{missing[0]}'.")
    parts = {**schema.get("properties", {}), **schema.get("$defs", {}), **schema.get("definitions", {})}
    parts |= {f"anyOf.{number}": part for number, part in enumerate(schema.get("anyOf", []))}
    if "items" in schema:
        parts["items"] = schema["items"]
    found = (strict_problem(part, name, (*place, key)) for key, part in parts.items())
    return next((problem for problem in found if problem), "")


def _finish(answer: Answer, asked: Asked) -> str:
    """A call of a tool that was forced by its name ends with `stop`, any other with `tool_calls`."""
    if answer.ends == "length":
        return "length"
    if answer.ends == "end" and answer.in_form(asked) and asked.way == "tool" and not asked.names_a_tool:
        return "tool_calls"
    return "stop"


def _usage(answer: Answer, asked: Asked) -> dict[str, Any]:
    """Input tokens include those that came from the cache."""
    used = answer.counted(asked)
    return {
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.input + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


def _wants_usage(asked: Asked) -> bool:
    options = asked.body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _envelope(asked: Asked) -> dict[str, Any]:
    return {
        "id": _id("chatcmpl", asked), "object": "chat.completion.chunk", "created": 1_760_000_000,
        "model": asked.model, "system_fingerprint": "fp_double",
    }  # fmt: skip


def _chunk(answer: Answer, asked: Asked, delta: dict[str, Any], finish: str | None = None) -> Frame:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    found = {**_envelope(asked), "choices": [choice]}
    if _wants_usage(asked) and answer.shape.usage:
        found["usage"] = None
    return Frame(dump(found))


def _id(kind: str, asked: Asked) -> str:
    return f"{kind}-{asked.number:024d}"
