"""Chat completions as defined by OpenAI and offered by others: OpenAI, Kimi, DeepSeek, vLLM, Ollama, llama.cpp.

Servers differ, so little is required of an answer: `usage` may be missing, come in the last chunk, in a chunk without
choices or inside the choice; a stream may end without `[DONE]`; an error may come as an object in a 200 stream;
`delta.content` may be null; reasoning is in a field of its own, which is ignored, or between think tags.
"""

from __future__ import annotations

from typing import Any, Final

from pipeline.language.clients.base import (
    ChatRequest,
    Completion,
    OutputForm,
    ProviderName,
    RoleModel,
    StructuredOutput,
)
from pipeline.language.clients.formats import (
    CompletionResult,
    Stop,
    Usage,
    WireProblem,
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
from pipeline.language.clients.thinking import ThinkingFilter

AUTO: Final[dict[ProviderName, StructuredOutput]] = {
    "openai": "json_schema",
    "openai_compatible": "json_schema",
    "kimi": "tool",
    "deepseek": "json_object",
}
"""The meaning of `structured: auto` by provider."""

STOPS: Final[dict[str, Stop]] = {
    "stop": "end",
    "eos": "end",
    "tool_calls": "end",
    "function_call": "end",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
}

ERROR_STATUS: Final[dict[str, int]] = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "exceed_context_size_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "server_error": 500,
    "unavailable_error": 503,
    "overloaded_error": 529,
}
"""The HTTP status that corresponds to an error without a number."""

STRICT_KEYWORDS: Final = frozenset(
    "type properties required additionalProperties items enum const anyOf $ref $defs description title".split()
)
"""Keywords that OpenAI's strict mode accepts on every model; a schema with any other is sent without strict mode."""


class OpenAIFormat:
    """The wire format of chat completions.

    Args:
        provider: decides on the fields in which providers differ.
    """

    path = "/chat/completions"
    key_header = "authorization"
    key_prefix = "Bearer "
    headers: dict[str, str] = {}

    def __init__(self, provider: ProviderName) -> None:
        self._provider = provider

    def body(self, spec: RoleModel, request: ChatRequest, *, stream: bool) -> bytes:
        """The body of a request."""
        structured = AUTO.get(self._provider, "json_schema") if spec.structured == "auto" else spec.structured
        body: dict[str, Any] = {"model": spec.model}
        messages: list[dict[str, str]] = []
        system = system_text(request, structured)
        if system:
            messages.append({"role": "system", "content": system})
        messages.extend({"role": message.speaker, "content": message.content} for message in request.messages)
        body["messages"] = messages
        body["max_completion_tokens" if self._provider == "openai" else "max_tokens"] = max_tokens_of(spec, request)
        temperature = temperature_of(spec, request)
        if temperature is not None:
            body["temperature"] = temperature
        if spec.effort is not None:
            body["reasoning_effort"] = spec.effort
        if request.form is not None:
            body.update(_form_fields(request.form, structured))
        if stream:
            body["stream"] = True
            body["stream_options"] = {"include_usage": True}
        return encoded(body)

    def answer(self, raw: bytes, form: OutputForm | None) -> CompletionResult:
        """Read a whole answer."""
        payload = decoded(raw)
        _raise_error(payload)
        choice = _first(payload.get("choices"))
        message = choice.get("message") if choice is not None else None
        if choice is None or not isinstance(message, dict):
            raise WireProblem(f"it has no choice with a message, but {keys_of(payload)}")
        usage = Usage()
        _take_usage(usage, payload.get("usage"))
        stop = _stop(choice.get("finish_reason")) or "other"
        refusal = message.get("refusal")
        if isinstance(refusal, str) and refusal:
            return CompletionResult(Completion(text=sanitised(refusal), stop="refusal"), usage)
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        call = _first(message.get("tool_calls"))
        function = call.get("function") if call is not None else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        return CompletionResult(_completion(text, arguments if isinstance(arguments, str) else "", stop, form), usage)

    def reader(self, form: OutputForm | None) -> OpenAIReader:
        """A reader for one stream."""
        return OpenAIReader(form)


class OpenAIReader:
    """Reads the events of one stream."""

    __slots__ = ("_form", "_json", "_refusal", "_texts", "_thinking", "done", "stop", "usage")

    def __init__(self, form: OutputForm | None) -> None:
        self.usage = Usage()
        self.stop: Stop | None = None
        self.done = False
        self._form = form
        self._texts: list[str] = []
        self._json: list[str] = []
        self._refusal: list[str] = []
        self._thinking = ThinkingFilter()

    def feed(self, event: str, data: str) -> str:
        """Take an event; returns the text that it adds to the answer."""
        if not data:
            return ""
        if data.startswith("[DONE]"):
            self.done = True
            return self._said(self._thinking.flush())
        payload = decoded(data)
        if event == "error":
            _raise_error(payload if "error" in payload else {"error": payload})
        _raise_error(payload)
        if "usage" in payload:
            _take_usage(self.usage, payload["usage"])
        choice = _first(payload.get("choices"))
        if choice is None:
            return ""
        if "usage" in choice:
            _take_usage(self.usage, choice["usage"])
        piece = self._delta(choice.get("delta"))
        stop = _stop(choice.get("finish_reason"))
        if stop is not None:
            self.stop = "refusal" if self._refusal else stop
            piece += self._said(self._thinking.flush())
        return piece

    def finish(self) -> Completion:
        """The whole answer so far."""
        if self._refusal:
            return Completion(text="".join(self._refusal), stop="refusal")
        arguments = "".join(self._json)
        text = "".join(self._texts)
        if self.stop is None and not self.done:
            return Completion(text=text or arguments, stop="other")
        return _completion(text, arguments, self.stop or "end", self._form)

    def _delta(self, delta: Any) -> str:
        if not isinstance(delta, dict):
            return ""
        content = delta.get("content")
        if isinstance(content, str) and content:
            return self._said(self._thinking.feed(content))
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._refusal.append(sanitised(refusal))
            self.stop = "refusal"
            return ""
        calls = delta.get("tool_calls")
        if not calls:
            return ""
        call = _first(calls)
        function = call.get("function") if call is not None and call.get("index", 0) == 0 else None
        part = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(part, str):
            self._json.append(part)
            return part
        return ""

    def _said(self, text: str) -> str:
        if not text:
            return ""
        piece = sanitised(text)
        self._texts.append(piece)
        return piece


def _form_fields(form: OutputForm, structured: StructuredOutput) -> dict[str, Any]:
    """The fields of a request that ask for a form; none for `none`, where the prompt asks for it."""
    if structured == "json_schema":
        schema: dict[str, Any] = {"name": form.name, "description": form.description, "schema": form.json_schema}
        if _is_strict(form.json_schema):
            schema["strict"] = True
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if structured == "json_object":
        return {"response_format": {"type": "json_object"}}
    if structured == "tool":
        function = {"name": form.name, "description": form.description, "parameters": form.json_schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": form.name}},
        }
    return {}


def _is_strict(schema: Any) -> bool:
    """Whether a schema keeps to the rules of strict mode: closed objects, every property required, few keywords."""
    if not isinstance(schema, dict):
        return False
    if not schema.keys() <= STRICT_KEYWORDS:
        return False
    properties = schema.get("properties", {})
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties)
    ):
        return False
    inner = [*properties.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    if "items" in schema:
        inner.append(schema["items"])
    return all(_is_strict(part) for part in inner)


def _completion(text: str, arguments: str, stop: Stop, form: OutputForm | None) -> Completion:
    if form is None:
        thinking = ThinkingFilter()
        return Completion(text=sanitised(thinking.feed(text) + thinking.flush()), stop=stop)
    data = object_in(arguments) if arguments else None
    if data is None:
        data = object_in(text)
    return structured_completion(data, text or arguments, stop)


def _first(values: Any) -> dict[str, Any] | None:
    if isinstance(values, list) and values and isinstance(values[0], dict):
        return values[0]
    return None


def _stop(reason: Any) -> Stop | None:
    return STOPS.get(reason, "other") if isinstance(reason, str) and reason else None


def _take_usage(usage: Usage, told: Any) -> None:
    """Copy the figures that are there. Cached tokens are in one of three places: OpenAI's, DeepSeek's or Kimi's."""
    if not isinstance(told, dict):
        return
    details = told.get("prompt_tokens_details")
    cached = token_count(details.get("cached_tokens")) if isinstance(details, dict) else None
    for key in ("prompt_cache_hit_tokens", "cached_tokens"):
        if cached is None:
            cached = token_count(told.get(key))
    if cached is not None:
        usage.cached_tokens = cached
    read = token_count(told.get("prompt_tokens"))
    if read is not None:
        usage.input_tokens = read
    written = token_count(told.get("completion_tokens"))
    if written is not None:
        usage.output_tokens = written


def _raise_error(payload: dict[str, Any]) -> None:
    error = payload.get("error")
    if not error:
        return
    if not isinstance(error, dict):
        raise WireProblem(str(error), 500)
    code, kind = error.get("code"), error.get("type")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    for name in (code, kind):
        if status is None and isinstance(name, str):
            status = int(name) if name.isdecimal() and 400 <= int(name) < 600 else ERROR_STATUS.get(name)
    said = error.get("message")
    raise WireProblem(said if isinstance(said, str) else str(error), status or 500)
