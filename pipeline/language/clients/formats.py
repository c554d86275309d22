"""What the wire formats have in common: what a request becomes, and what an answer is read into. No input or output.

A `WireFormat` turns a request into a body and a whole answer into an `Answer`; its `reader` takes the events of a
stream one after another. Whatever is wrong with an answer is a `WireProblem`.
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
_UNSPEAKABLE = re.compile("[\ud800-\udfff\x00]")
_STARTS_TRIED = 8
_QUOTED = 2000

PLAIN_FORM = (
    "Answer with one JSON object and nothing else: no introduction, no code fence. "
    "It must follow this JSON schema:\n{schema}"
)


@dataclass(slots=True)
class Usage:
    """The provider's own figures, in tokens; `input_tokens` includes `cached_tokens`. None where it told none."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(slots=True)
class Answer:
    """A whole answer and what it took."""

    completion: Completion
    usage: Usage = field(default_factory=Usage)


class WireProblem(Exception):
    """The provider answered 200 and said that something went wrong, or something that is not in the format.

    Args:
        text: what was wrong, in the provider's words or ours; may repeat secrets, so it is redacted before use.
        status: the HTTP status that stands for it; None for an answer that is not in the format at all.
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
    """How one family of providers is spoken to."""

    path: str
    key_header: str
    key_prefix: str
    headers: dict[str, str]

    def body(self, spec: RoleModel, request: ChatRequest, *, stream: bool) -> bytes:
        """The body of a request, UTF-8 JSON."""
        ...

    def answer(self, raw: bytes, form: OutputForm | None) -> Answer:
        """Read a whole answer.

        Raises:
            WireProblem: it reports an error, or is not in the format.
        """
        ...

    def reader(self, form: OutputForm | None) -> StreamReader:
        """Something to read one stream with."""
        ...


def encoded(body: dict[str, Any]) -> bytes:
    """A body as compact UTF-8 JSON; lone surrogates, which UTF-8 has no place for, become U+FFFD."""
    text = _ENCODER.encode(body)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _UNSPEAKABLE.sub("\ufffd", text).encode()


def decoded(raw: str | bytes) -> dict[str, Any]:
    """The JSON object in a body or an event.

    Raises:
        WireProblem: it is something else.
    """
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise WireProblem(_described(raw))
    return value


def _described(raw: str | bytes) -> str:
    """What is not in the format, quoted only where it can't be a part of an answer: pages and plain words."""
    text = raw[:_QUOTED] if isinstance(raw, str) else raw[:_QUOTED].decode(errors="replace")
    if not text.strip():
        return "it is empty"
    if text.lstrip().startswith(("{", "[", '"', "data:", "event:")):
        return f"{len(raw)} characters that are not a JSON object, or not all of one"
    return text


def keys_of(payload: dict[str, Any]) -> str:
    """The keys of an object that lacks what it should have; never their values."""
    return ", ".join(str(key)[:40] for key in list(payload)[:8]) or "nothing"


def speakable(text: str) -> str:
    """Text without lone surrogates and NUL, which no store and no socket takes; U+FFFD stands for each."""
    return text if text.isascii() and "\0" not in text else _UNSPEAKABLE.sub("\ufffd", text)


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is or contains, None if there is none that can be read.

    Code fences and prose around it are passed over, as is what a model thinks aloud between `<think>` and `</think>`.
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
    """A decoded object with every string made speakable; None if it is not an object or nested beyond reason."""
    if not isinstance(value, dict):
        return None
    try:
        cleaned_value: dict[str, Any] = _clean(value)
    except RecursionError:
        return None
    return cleaned_value


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return speakable(value)
    if isinstance(value, dict):
        return {speakable(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return value


def structured_completion(data: dict[str, Any] | None, text: str, stop: Stop) -> Completion:
    """A structured answer: the object, or the text that came instead. What was cut short is no object."""
    if data is None or stop in ("length", "refusal"):
        return Completion(text=speakable(text), data=None, stop=stop)
    return Completion(text="", data=data, stop=stop)


def system_text(request: ChatRequest, structured: StructuredOutput) -> str:
    """The system prompt, with the form described at its end where the provider is not told about it otherwise."""
    if request.form is None or structured not in ("json_object", "none"):
        return request.system
    schema = PLAIN_FORM.format(schema=_ENCODER.encode(request.form.json_schema))
    return f"{request.system}\n\n{schema}" if request.system else schema


def temperature_of(spec: RoleModel, request: ChatRequest) -> float | None:
    """The temperature to send; None where the role leaves the parameter out, whatever the request says."""
    if spec.temperature is None or request.temperature is None:
        return spec.temperature
    return request.temperature


def longest(spec: RoleModel, request: ChatRequest) -> int:
    """The longest answer to a request, in tokens."""
    return spec.max_tokens if request.max_tokens is None else request.max_tokens


def count(value: Any) -> int | None:
    """A number of tokens as the provider told it; None for anything that is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
