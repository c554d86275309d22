"""One try: a request, its response, and the answer in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from pipeline.language.clients.base import ChatRequest, Completion, RoleModel
from pipeline.language.clients.faults import (
    Fault,
    TryFailed,
    broken_off,
    from_status,
    not_in_format,
    retry_after_s,
)
from pipeline.language.clients.formats import StreamReader, Usage, WireFormat, WireProblem, max_tokens_of
from pipeline.language.clients.recorder import TryRecorder
from pipeline.language.clients.transport import KeyAuth, Pool, ProviderResponse

CHARS_PER_TOKEN: Final = 16
"""Most characters of an answer per token, on average; ordinary text has four."""

BYTES_PER_TOKEN: Final = 4096
"""Most bytes of a response per token, with the JSON around the text."""

SLACK: Final = 4096
ERROR_BYTES: Final = 16_384
USAGE_WAIT_S: Final = 1.0
"""Longest wait for the usage after the last piece of an answer."""

END_WAIT_S: Final = 0.1
"""Longest wait for the end of a response after its last event; its connection can be kept only then."""


@dataclass(eq=False, repr=False, slots=True)
class PreparedRequest:
    """A request with the model, format and pool that it is sent with. Has no repr: it holds what respondents say."""

    spec: RoleModel
    wire: WireFormat
    pool: Pool
    auth: KeyAuth
    request: ChatRequest
    stream: bool
    wall: Callable[[], float]
    _content: bytes = b""

    @property
    def max_chars(self) -> int:
        """Longest answer, in characters."""
        return CHARS_PER_TOKEN * max_tokens_of(self.spec, self.request) + SLACK

    @property
    def max_bytes(self) -> int:
        """Longest response, in bytes."""
        return BYTES_PER_TOKEN * max_tokens_of(self.spec, self.request) + 256 * SLACK

    async def send(self) -> ProviderResponse:
        """Send it and wait for a response with a status of 2xx.

        Raises:
            TryFailed: there is no response, or one with another status.
        """
        if not self._content:
            self._content = self.wire.body(self.spec, self.request, stream=self.stream)
        response = await self.pool.post(self.spec, self.wire.path, self._content, self.wire.headers, self.auth)
        if 200 <= response.status < 300:
            return response
        try:
            text = (await response.body(ERROR_BYTES)).decode(errors="replace")
        except TryFailed:
            text = ""
        finally:
            await response.aclose()
        raise TryFailed(from_status(self.spec, response.status, text, retry_after_s(response.headers, self.wall())))

    def fault(self, problem: WireProblem) -> Fault:
        """The fault for a problem in an answer."""
        if problem.status is None:
            return not_in_format(self.spec, problem.text)
        return from_status(self.spec, problem.status, problem.text)


async def whole_answer(prepared: PreparedRequest, usage: Usage) -> Completion:
    """Send a request and read the whole answer, also where the server streams it unasked.

    Args:
        prepared: the request.
        usage: filled in as it becomes known.

    Raises:
        TryFailed: there is no answer.
    """
    response = await prepared.send()
    try:
        if response.is_stream:
            stream = _Stream(prepared, response)
            while await stream.piece(usage) is not None:
                pass
            return stream.reader.finish()
        return await _read_whole(prepared, response, usage)
    finally:
        await response.aclose()


async def _read_whole(prepared: PreparedRequest, response: ProviderResponse, usage: Usage) -> Completion:
    raw = await response.body(prepared.max_bytes)
    if len(raw) > prepared.max_bytes:
        raise TryFailed(broken_off(prepared.spec, "is longer than any answer may be"))
    fault: Fault | None = None
    try:
        answer = prepared.wire.answer(raw, prepared.request.form)
    except WireProblem as problem:
        fault = prepared.fault(problem)
    if fault is not None:
        raise TryFailed(fault)
    _copy(answer.usage, usage)
    return answer.completion


class StreamTry:
    """One try at a streamed answer.

    Args:
        prepared: the request.
        recorder: takes the time of the first piece, and the usage.
    """

    def __init__(self, prepared: PreparedRequest, recorder: TryRecorder) -> None:
        self.chars = 0
        self.stop: Literal["end", "length", "refusal", "other"] = "end"
        self._prepared = prepared
        self._recorder = recorder
        self._response: ProviderResponse | None = None
        self._stream: _Stream | None = None
        self._over = False

    async def piece(self) -> str | None:
        """The next piece of the answer, never empty; None at its end.

        Raises:
            TryFailed: it failed, or broke off.
        """
        if self._over:
            return None
        if self._stream is None:
            self._response = await self._prepared.send()
            if not self._response.is_stream:
                return self._counted(await self._unstreamed(self._response))
            self._stream = _Stream(self._prepared, self._response)
        piece = await self._stream.piece(self._recorder.usage)
        if piece is None:
            self._over = True
            self.stop = self._stream.reader.stop or "end"
            return None
        return self._counted(piece)

    async def aclose(self) -> None:
        """Close the response; it need not be at its end."""
        if self._response is not None:
            await self._response.aclose()

    def _counted(self, piece: str) -> str | None:
        if piece and not self.chars:
            self._recorder.first_token()
        self.chars += len(piece)
        return piece or None

    async def _unstreamed(self, response: ProviderResponse) -> str:
        completion = await _read_whole(self._prepared, response, self._recorder.usage)
        self._over = True
        self.stop = completion.stop
        return "" if completion.stop == "refusal" else completion.text


class _Stream:
    """The events of a response, read into pieces of text."""

    def __init__(self, prepared: PreparedRequest, response: ProviderResponse) -> None:
        self.reader: StreamReader = prepared.wire.reader(prepared.request.form)
        self._prepared = prepared
        self._response = response
        self._chars = 0
        self._linger_until: float | None = None

    async def piece(self, usage: Usage) -> str | None:
        """The next piece of text, None at the end of the answer.

        Raises:
            TryFailed: it failed, or broke off before its end.
        """
        reader = self.reader
        while not reader.done:
            event = await (self._next_event() if reader.stop is None else self._late_event(USAGE_WAIT_S))
            if event is None:
                if reader.stop is None and not (self._prepared.request.form is not None and self._chars):
                    raise TryFailed(broken_off(self._prepared.spec, "broke off before its end"))
                return None
            was_whole = reader.stop is not None
            try:
                text = self._fed(*event)
            except TryFailed:
                if was_whole:
                    return None
                raise
            _copy(reader.usage, usage)
            if text:
                self._chars += len(text)
                if self._chars > self._prepared.max_chars:
                    raise TryFailed(broken_off(self._prepared.spec, "does not end"))
                return text
        self._linger_until = None
        await self._late_event(END_WAIT_S)
        return None

    def _fed(self, name: str, data: str) -> str:
        fault: Fault
        try:
            return self.reader.feed(name, data)
        except WireProblem as problem:
            fault = self._prepared.fault(problem)
        raise TryFailed(fault)

    async def _next_event(self) -> tuple[str, str] | None:
        event = await self._response.event(self._prepared.max_bytes)
        return None if event is None else (event.event, event.data)

    async def _late_event(self, linger_s: float) -> tuple[str, str] | None:
        """Another event after the end of the answer; None if it does not come soon or is not in the format."""
        now = asyncio.get_running_loop().time()
        if self._linger_until is None:
            self._linger_until = now + linger_s
        try:
            async with asyncio.timeout_at(self._linger_until):
                return await self._next_event()
        except (TimeoutError, TryFailed):
            return None


def _copy(known: Usage, usage: Usage) -> None:
    usage.input_tokens = known.input_tokens
    usage.output_tokens = known.output_tokens
    usage.cached_tokens = known.cached_tokens
