"""The Anthropic Messages API (version 2023-06-01), as its documentation describes it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.support.llm_double.frame import Complaint, Frame, dump
from tests.support.llm_double.request import plain

if TYPE_CHECKING:
    from tests.support.llm_double.behaviour import Answer
    from tests.support.llm_double.request import Asked

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_PARAMETERS = set(
    """model messages max_tokens system stream temperature top_p top_k stop_sequences metadata tools tool_choice
    thinking service_tier container context_management mcp_servers output_config output_format cache_control
    inference_geo""".split()
)
_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")


class Anthropic:
    """`POST /v1/messages`."""

    def complaint(self, asked: Asked) -> Complaint | None:
        """What is wrong with the request by the documented rules."""
        if not asked.headers.get("x-api-key"):
            return Complaint(401, "x-api-key header is required")
        if not re.match(r"^\d{4}-\d\d-\d\d$", asked.headers.get("anthropic-version", "")):
            return Complaint(400, "anthropic-version: header is required")
        if not asked.headers.get("content-type", "").startswith("application/json"):
            return Complaint(400, "content-type: must be application/json")
        body = asked.body
        for name in ("model", "max_tokens", "messages"):
            if name not in body:
                return Complaint(400, f"{name}: Field required")
        for name in body:
            if name not in _PARAMETERS:
                return Complaint(400, f"{name}: Extra inputs are not permitted")
        problem = _limits(body) or _messages(body) or _tools(body) or _open_object(asked)
        return Complaint(400, problem) if problem else None

    def body(self, answer: Answer, asked: Asked) -> dict[str, Any]:
        """A whole message."""
        content = answer.content(asked)
        blocks: list[dict[str, Any]] = []
        if answer.in_form(asked) and asked.way == "tool":
            blocks.append(
                {"type": "tool_use", "id": _id("toolu", asked), "name": asked.form_name, "input": _input(content)}
            )
        elif content and answer.ends != "refusal":
            blocks.append({"type": "text", "text": content})
        used = answer.counted(asked)
        return {
            "id": _id("msg", asked), "type": "message", "role": "assistant", "model": asked.model, "content": blocks,
            "stop_reason": _stop(answer, asked), "stop_sequence": None,
            "usage": {**_prompt_usage(answer, asked), "output_tokens": used.output},
        }  # fmt: skip

    def head(self, answer: Answer, asked: Asked) -> list[Frame]:
        """`message_start`, the start of the block, a ping."""
        message: dict[str, Any] = {
            "id": _id("msg", asked), "type": "message", "role": "assistant", "model": asked.model, "content": [],
            "stop_reason": None, "stop_sequence": None,
        }  # fmt: skip
        if answer.shape.usage:
            message["usage"] = {**_prompt_usage(answer, asked), "output_tokens": 1}
        frames = [_frame("message_start", message=message)]
        if answer.ends == "refusal":
            return frames
        block: dict[str, Any] = {"type": "text", "text": ""}
        if answer.in_form(asked) and asked.way == "tool":
            block = {"type": "tool_use", "id": _id("toolu", asked), "name": asked.form_name, "input": {}}
        return [*frames, _frame("content_block_start", index=0, content_block=block), _frame("ping")]

    def tokens(self, answer: Answer, asked: Asked) -> list[Frame]:
        """A `content_block_delta` each."""
        if answer.ends == "refusal":
            return []
        tool = answer.in_form(asked) and asked.way == "tool"
        kind, name = ("input_json_delta", "partial_json") if tool else ("text_delta", "text")
        return [
            _frame("content_block_delta", index=0, delta={"type": kind, name: token}) for token in answer.tokens(asked)
        ]

    def tail(self, answer: Answer, asked: Asked) -> list[Frame]:
        """The end of the block, `message_delta` with reason and usage, `message_stop`."""
        frames = [] if answer.ends == "refusal" else [_frame("content_block_stop", index=0)]
        delta: dict[str, Any] = {"delta": {"stop_reason": _stop(answer, asked), "stop_sequence": None}}
        if answer.shape.usage:
            delta["usage"] = {"output_tokens": answer.counted(asked).output}
        frames.append(_frame("message_delta", **delta))
        return [*frames, _frame("message_stop")] if answer.shape.done else frames

    def noise(self) -> list[Frame]:
        """Pings, an event of a later version, thoughts."""
        return [
            _frame("ping"),
            _frame("aurora_borealis", brightness=7),
            _frame("content_block_delta", index=0, delta={"type": "aurora_delta", "aurora": "green"}),
            _frame("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "SECRET-THOUGHT"}),
        ]

    def error(self, status: int, message: str) -> dict[str, Any]:
        """The body of an error."""
        kind = _KINDS.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_double"}

    def error_frame(self, message: str) -> Frame:
        """An `error` event."""
        return Frame(dump({"type": "error", "error": {"type": "overloaded_error", "message": message}}), "error")

    def models(self, names: tuple[str, ...]) -> dict[str, Any]:
        """`GET /v1/models`."""
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"} for name in names
        ]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _limits(body: dict[str, Any]) -> str:
    most = body["max_tokens"]
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        return "max_tokens: must be greater than or equal to 1"
    temperature = body.get("temperature", 1.0)
    if not isinstance(temperature, int | float) or not 0 <= temperature <= 1:
        return "temperature: range: 0..1"
    thinking = body.get("thinking", {"type": "disabled"})
    if thinking.get("type") != "disabled":
        if temperature != 1:
            return "`temperature` may only be set to 1 when thinking is enabled."
        if body.get("tool_choice", {"type": "auto"}).get("type") in ("tool", "any"):
            return "Thinking may not be enabled when tool_choice forces tool use."
    effort = body.get("output_config", {}).get("effort", "high")
    if effort not in ("low", "medium", "high", "xhigh", "max"):
        return f"output_config.effort: Input should be 'low', 'medium' or 'high', not {effort!r}"
    return ""


def _messages(body: dict[str, Any]) -> str:
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            return f"messages.{number}.role: Input should be 'user' or 'assistant'"
        if set(message) - {"role", "content"}:
            return f"messages.{number}: Extra inputs are not permitted"
        if not plain(message.get("content")).strip():
            return f"messages.{number}: text content blocks must contain non-whitespace text"
    if messages[-1]["role"] == "assistant" and plain(messages[-1]["content"])[-1:].isspace():
        return "messages: final assistant content cannot end with trailing whitespace"
    if "system" in body and not plain(body["system"]).strip():
        return "system: text content blocks must be non-empty"
    return ""


def _tools(body: dict[str, Any]) -> str:
    names = []
    for number, tool in enumerate(body.get("tools", [])):
        if not _TOOL_NAME.match(str(tool.get("name", ""))):
            return f"tools.{number}.name: String should match pattern '{_TOOL_NAME.pattern}'"
        schema = tool.get("input_schema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            return f"tools.{number}.input_schema.type: Field required"
        names.append(tool["name"])
    choice = body.get("tool_choice")
    if choice is None:
        return ""
    if not names:
        return "tool_choice may only be specified while providing tools."
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        return "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
    if choice["type"] == "tool" and choice.get("name") not in names:
        return f"Tool '{choice.get('name')}' not found in provided tools"
    return ""


def _open_object(asked: Asked) -> str:
    """Output in a schema wants every object closed; a tool's input does not."""
    waiting: list[object] = [asked.schema] if asked.way == "json_schema" else []
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("type") == "object" and part.get("additionalProperties") is not False:
                return "output_config.format.schema: For 'object' type, 'additionalProperties' must be set to false"
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return ""


def _stop(answer: Answer, asked: Asked) -> str:
    if answer.ends != "end":
        return "max_tokens" if answer.ends == "length" else "refusal"
    return "tool_use" if answer.in_form(asked) and asked.way == "tool" else "end_turn"


def _prompt_usage(answer: Answer, asked: Asked) -> dict[str, Any]:
    """Input tokens without those that came from the cache, which are counted beside them."""
    used = answer.counted(asked)
    return {
        "input_tokens": used.input - used.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": used.cached,
        "service_tier": "standard",
    }


def _input(content: str) -> Any:
    """A tool's input; one that was cut in half arrives without the half-written part."""
    try:
        return json.loads(content)
    except ValueError:
        return {}


def _id(kind: str, asked: Asked) -> str:
    return f"{kind}_{asked.number:024d}"


def _frame(event: str, **fields: Any) -> Frame:
    return Frame(dump({"type": event, **fields}), event)
