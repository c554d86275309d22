"""What the wire formats have in common. No input or output.

A `WireFormat` encodes a request as a body and decodes a whole answer into a `CompletionResult`; its `reader` takes the
events of a stream one after another. Errors that an answer reports, and errors in its format, are a `WireProblem`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pipeline.language.clients.base import ChatRequest, Completion, OutputForm, RoleModel, StructuredOutput

Stop = Literal["end", "length", "refusal", "other"]

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder()
_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_INVALID_CHARACTERS = re.compile("[\ud800-\udfff\x00]")
_STARTS_TRIED = 8
_QUOTED = 2000

PLAIN_FORM = (
    "Answer with one JSON object and nothing else: no introduction, no code fence. "
    "It must follow this JSON schema:\n{schema}"
)


@dataclass(slots=True)
class Usage:
    """Tokens as the provider counted them; `input_tokens` includes `cached_tokens`. None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(slots=True)
class CompletionResult:
    """A whole answer with its usage."""

    completion: Completion
    usage: Usage = field(default_factory=Usage)


class WireProblem(Exception):
    """A response with status 200 that reports an error, or is not in the format.

    Args:
        text: description, of the provider or ours; may repeat secrets, so it is redacted before use.
        status: the HTTP status that corresponds to the error; None for an answer that is not in the format.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.status = status


class StreamReader(Protocol):
    """Reads the events of one stream, in order."""

    usage: Usage
    stop: Stop | None
    done: bool

    def feed(self, event: str, data: str) -> str:
        """Take an event; returns the text that it adds to the answer, "" for none.

        Raises:
            WireProblem: the event reports an error, or is not in the format.
        """
        ...

    def finish(self) -> Completion:
        """The whole answer so far. `stop` is "other" when no end was announced."""
        ...


class WireFormat(Protocol):
    """Requests and answers of one family of providers."""

    path: str
    key_header: str
    key_prefix: str
    headers: dict[str, str]

    def body(self, spec: RoleModel, request: ChatRequest, *, stream: bool) -> bytes:
        """The body of a request, UTF-8 JSON."""
        ...

    def answer(self, raw: bytes, form: OutputForm | None) -> CompletionResult:
        """Read a whole answer.

        Raises:
            WireProblem: it reports an error, or is not in the format.
        """
        ...

    def reader(self, form: OutputForm | None) -> StreamReader:
        """A reader for one stream."""
        ...


def encoded(body: dict[str, Any]) -> bytes:
    """A body as compact UTF-8 JSON; lone surrogates, which UTF-8 can't encode, become U+FFFD."""
    text = _ENCODER.encode(body)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _INVALID_CHARACTERS.sub("\ufffd", text).encode()


def decoded(raw: str | bytes) -> dict[str, Any]:
    """The JSON object in a body or an event.

    Raises:
        WireProblem: it is not a JSON object.
    """
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise WireProblem(_described(raw))
    return value


def _described(raw: str | bytes) -> str:
    """Description of a body that is not in the format; quoted unless it may be part of an answer (JSON, events)."""
    text = raw[:_QUOTED] if isinstance(raw, str) else raw[:_QUOTED].decode(errors="replace")
    if not text.strip():
        return "it is empty"
    if text.lstrip().startswith(("{", "[", '"', "data:", "event:")):
        return f"{len(raw)} characters that are not a JSON object, or not all of one"
    return text


def keys_of(payload: dict[str, Any]) -> str:
    """The keys of an object, for messages; values may be confidential."""
    return ", ".join(str(key)[:40] for key in list(payload)[:8]) or "nothing"


def sanitised(text: str) -> str:
    """Text with U+FFFD in place of lone surrogates and NUL, which neither the store nor a socket accepts."""
    return text if text.isascii() and "\0" not in text else _INVALID_CHARACTERS.sub("\ufffd", text)


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is or contains, None if there is none that is valid.

    Code fences and prose around it are skipped, as is reasoning between `<think>` and `</think>`.
    """
    _, closing, rest = text.partition("</think>")
    if closing:
        text = rest
    fenced = _FENCE.match(text)
    if fenced:
        text = fenced.group(1)
    start = text.find("{")
    for _ in range(_STARTS_TRIED):
        if start < 0:
            return None
        try:
            value, _end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
        else:
            return cleaned(value)
    return None


def cleaned(value: Any) -> dict[str, Any] | None:
    """A decoded object with every string `sanitised`; None if it is not an object or nested too deeply."""
    if not isinstance(value, dict):
        return None
    try:
        cleaned_value: dict[str, Any] = _clean(value)
    except RecursionError:
        return None
    return cleaned_value


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return sanitised(value)
    if isinstance(value, dict):
        return {sanitised(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return value


def structured_completion(data: dict[str, Any] | None, text: str, stop: Stop) -> Completion:
    """A structured answer: the object, or the text where there is none or the answer is incomplete or refused."""
    if data is None or stop in ("length", "refusal"):
        return Completion(text=sanitised(text), data=None, stop=stop)
    return Completion(text="", data=data, stop=stop)


def system_text(request: ChatRequest, structured: StructuredOutput) -> str:
    """The system prompt, with the JSON schema at its end where the request has no other field for it."""
    if request.form is None or structured not in ("json_object", "none"):
        return request.system
    schema = PLAIN_FORM.format(schema=_ENCODER.encode(request.form.json_schema))
    return f"{request.system}\n\n{schema}" if request.system else schema


def temperature_of(spec: RoleModel, request: ChatRequest) -> float | None:
    """The temperature to send; None where that of the role is None, whatever the request has."""
    if spec.temperature is None or request.temperature is None:
        return spec.temperature
    return request.temperature


def max_tokens_of(spec: RoleModel, request: ChatRequest) -> int:
    """The longest answer to a request, in tokens."""
    return spec.max_tokens if request.max_tokens is None else request.max_tokens


def token_count(value: Any) -> int | None:
    """A number of tokens from a response; None for a value that is not a whole number of at least 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
