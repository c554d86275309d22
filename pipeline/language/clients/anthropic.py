"""Anthropic's Messages API, version 2023-06-01, as a wire format.

Structured answers come as the input of a tool that the request forces (`auto`, `tool`), as output in a JSON
schema (`output_config.format`; `json_schema`), or as text, with the schema in the prompt (`json_object`, `none`).
The system prompt is marked for the provider's cache, since it is the same from turn to turn.
"""

from __future__ import annotations

from typing import Any, Final

from pipeline.language.clients.base import ChatRequest, Completion, Effort, OutputForm, RoleModel, StructuredOutput
from pipeline.language.clients.formats import (
    CompletionResult,
    Stop,
    Usage,
    WireProblem,
    cleaned,
    decoded,
    encoded,
    keys_of,
    max_tokens_of,
    object_in,
    sanitised,
    structured_completion,
    system_text,
    temperature_of,
    token_count,
)

EFFORTS: Final[dict[Effort, str]] = {"minimal": "low", "low": "low", "medium": "medium", "high": "high"}
"""The API has no effort below low."""

STOPS: Final[dict[str, Stop]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}

ERROR_STATUS: Final[dict[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status that corresponds to each type of error, also of errors in a stream."""


class AnthropicFormat:
    """The wire format of Anthropic."""

    path = "/messages"
    key_header = "x-api-key"
    key_prefix = ""
    headers: dict[str, str] = {"anthropic-version": "2023-06-01"}

    def body(self, spec: RoleModel, request: ChatRequest, *, stream: bool) -> bytes:
        """The body of a request."""
        structured = _structured_output(spec)
        system = system_text(request, structured)
        body: dict[str, Any] = {
            "model": spec.model,
            "max_tokens": max_tokens_of(spec, request),
        }
        temperature = temperature_of(spec, request)
        if temperature is not None:
            body["temperature"] = temperature
        if system:
            body["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
        body["messages"] = [{"role": message.speaker, "content": message.content} for message in request.messages]
        output: dict[str, Any] = {} if spec.effort is None else {"effort": EFFORTS[spec.effort]}
        form = request.form
        if form is not None and structured == "tool":
            body["tools"] = [{"name": form.name, "description": form.description, "input_schema": form.json_schema}]
            body["tool_choice"] = {"type": "tool", "name": form.name}
        elif form is not None and structured == "json_schema":
            output["format"] = {"type": "json_schema", "schema": form.json_schema}
        if output:
            body["output_config"] = output
        if stream:
            body["stream"] = True
        return encoded(body)

    def answer(self, raw: bytes, form: OutputForm | None) -> CompletionResult:
        """Read a whole answer."""
        payload = decoded(raw)
        _raise_error(payload)
        blocks = payload.get("content")
        if not isinstance(blocks, list):
            raise WireProblem(f"it has no list of content, but {keys_of(payload)}")
        texts: list[str] = []
        data: dict[str, Any] | None = None
        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text" and isinstance(block.get("text"), str):
                texts.append(block["text"])
            elif kind == "tool_use" and data is None:
                data = cleaned(block.get("input"))
        usage = Usage()
        _take_usage(usage, payload.get("usage"))
        return CompletionResult(_completion("".join(texts), data, _stop(payload.get("stop_reason")), form), usage)

    def reader(self, form: OutputForm | None) -> AnthropicReader:
        """A reader for one stream."""
        return AnthropicReader(form)


class AnthropicReader:
    """Reads the events of one stream."""

    __slots__ = ("_form", "_json", "_texts", "_tool", "done", "stop", "usage")

    def __init__(self, form: OutputForm | None) -> None:
        self.usage = Usage()
        self.stop: Stop | None = None
        self.done = False
        self._form = form
        self._texts: list[str] = []
        self._json: list[str] = []
        self._tool: int | None = None

    def feed(self, event: str, data: str) -> str:
        """Take an event; returns the text that it adds to the answer."""
        if not data or event == "ping":
            return ""
        payload = decoded(data)
        kind = payload.get("type")
        if kind == "content_block_delta":
            return self._delta(payload)
        if kind == "message_start":
            message = payload.get("message")
            if isinstance(message, dict):
                _take_usage(self.usage, message.get("usage"))
        elif kind == "content_block_start":
            return self._start(payload)
        elif kind == "message_delta":
            _take_usage(self.usage, payload.get("usage"))
            delta = payload.get("delta")
            reason = delta.get("stop_reason") if isinstance(delta, dict) else None
            if reason is not None:
                self.stop = _stop(reason)
        elif kind == "message_stop":
            self.done = True
        elif kind == "error" or "error" in payload:
            _raise_error({"type": "error", **payload})
        return ""

    def finish(self) -> Completion:
        """The whole answer so far."""
        arguments = "".join(self._json)
        text = "".join(self._texts)
        if self.stop is None and not self.done:
            return Completion(text=text or arguments, stop="other")
        data = object_in(arguments) if arguments else None
        return _completion(text or arguments, data, self.stop or "end", self._form)

    def _start(self, payload: dict[str, Any]) -> str:
        block = payload.get("content_block")
        if not isinstance(block, dict):
            return ""
        if block.get("type") == "tool_use" and self._tool is None:
            self._tool = payload.get("index", 0)
        elif block.get("type") == "text" and isinstance(block.get("text"), str):
            return self._text(block["text"])
        return ""

    def _delta(self, payload: dict[str, Any]) -> str:
        delta = payload.get("delta")
        if not isinstance(delta, dict):
            return ""
        text = delta.get("text")
        if delta.get("type") == "text_delta" and isinstance(text, str):
            return self._text(text)
        part = delta.get("partial_json")
        if delta.get("type") == "input_json_delta" and isinstance(part, str) and payload.get("index", 0) == self._tool:
            self._json.append(part)
            return part
        return ""

    def _text(self, text: str) -> str:
        piece = sanitised(text)
        self._texts.append(piece)
        return piece


def _structured_output(spec: RoleModel) -> StructuredOutput:
    return "tool" if spec.structured == "auto" else spec.structured


def _completion(text: str, data: dict[str, Any] | None, stop: Stop, form: OutputForm | None) -> Completion:
    if form is None:
        return Completion(text=sanitised(text), stop=stop)
    return structured_completion(data if data is not None else object_in(text), text, stop)


def _stop(reason: Any) -> Stop:
    return STOPS.get(reason, "other") if isinstance(reason, str) else "other"


def _take_usage(usage: Usage, told: Any) -> None:
    """Copy the figures that are there; input tokens are those read, written to the cache and read from it."""
    if not isinstance(told, dict):
        return
    fresh = token_count(told.get("input_tokens"))
    read = token_count(told.get("cache_read_input_tokens"))
    if fresh is not None:
        whole = fresh + (read or 0) + (token_count(told.get("cache_creation_input_tokens")) or 0)
        usage.input_tokens = max(whole, usage.input_tokens or 0)  # later events may leave the cache's share out
    if read is not None:
        usage.cached_tokens = read
    output = token_count(told.get("output_tokens"))
    if output is not None:
        usage.output_tokens = output


def _raise_error(payload: dict[str, Any]) -> None:
    if payload.get("type") != "error":
        return
    error = payload.get("error")
    if not isinstance(error, dict):
        raise WireProblem(str(error), 500)
    kind = str(error.get("type", ""))
    raise WireProblem(f"{kind}: {error.get('message', '')}", ERROR_STATUS.get(kind, 500))
