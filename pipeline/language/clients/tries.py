"""One try: a request, its response, and what the response says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from pipeline.language.clients.accounts import TryAccount
from pipeline.language.clients.base import ChatRequest, Completion, RoleModel
from pipeline.language.clients.faults import (
    Fault,
    TryFailed,
    broken_off,
    from_status,
    not_in_format,
    wait_asked,
)
from pipeline.language.clients.formats import StreamReader, Usage, WireFormat, WireProblem, longest
from pipeline.language.clients.transport import KeyAuth, Pool, ProviderResponse

CHARS_PER_TOKEN: Final = 16
"""More characters than this per token, on average, is no answer; ordinary text has four."""

BYTES_PER_TOKEN: Final = 4096
"""Of a response, with everything around the text of a token."""

SLACK: Final = 4096
ERROR_BYTES: Final = 16_384
FIGURES_S: Final = 1.0
"""How long to wait for the figures of an answer that is known to be whole."""

ENDING_S: Final = 0.1
"""How long to wait for a response to end after its last event, so that its connection can be kept."""


@dataclass(eq=False, repr=False, slots=True)
class Question:
    """What is asked, of whom and how. Without a repr, since it holds what respondents say."""

    spec: RoleModel
    wire: WireFormat
    pool: Pool
    auth: KeyAuth
    request: ChatRequest
    stream: bool
    wall: Callable[[], float]
    _content: bytes = b""

    @property
    def longest_chars(self) -> int:
        """Of an answer."""
        return CHARS_PER_TOKEN * longest(self.spec, self.request) + SLACK

    @property
    def longest_bytes(self) -> int:
        """Of a response."""
        return BYTES_PER_TOKEN * longest(self.spec, self.request) + 256 * SLACK

    async def ask(self) -> ProviderResponse:
        """Send it and wait for a response that is an answer.

        Raises:
            TryFailed: there is none.
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
        raise TryFailed(from_status(self.spec, response.status, text, wait_asked(response.headers, self.wall())))

    def fault(self, problem: WireProblem) -> Fault:
        """What a problem in an answer comes down to."""
        if problem.status is None:
            return not_in_format(self.spec, problem.text)
        return from_status(self.spec, problem.status, problem.text)


async def whole_answer(question: Question, usage: Usage) -> Completion:
    """Ask, and read the whole answer; an answer that is streamed all the same is read, too.

    Args:
        question: what is asked.
        usage: filled in as it becomes known.

    Raises:
        TryFailed: there is no answer.
    """
    response = await question.ask()
    try:
        if response.is_stream:
            stream = _Stream(question, response)
            while await stream.piece(usage) is not None:
                pass
            return stream.reader.finish()
        return await _read_whole(question, response, usage)
    finally:
        await response.aclose()


async def _read_whole(question: Question, response: ProviderResponse, usage: Usage) -> Completion:
    raw = await response.body(question.longest_bytes)
    if len(raw) > question.longest_bytes:
        raise TryFailed(broken_off(question.spec, "is longer than any answer may be"))
    fault: Fault | None = None
    try:
        answer = question.wire.answer(raw, question.request.form)
    except WireProblem as problem:
        fault = question.fault(problem)
    if fault is not None:
        raise TryFailed(fault)
    _copy(answer.usage, usage)
    return answer.completion


class StreamTry:
    """One try at a streamed answer.

    Args:
        question: what is asked.
        account: told of the first piece, and of tokens as they become known.
    """

    def __init__(self, question: Question, account: TryAccount) -> None:
        self.chars = 0
        self.stop: Literal["end", "length", "refusal", "other"] = "end"
        self._question = question
        self._account = account
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
            self._response = await self._question.ask()
            if not self._response.is_stream:
                return self._counted(await self._unstreamed(self._response))
            self._stream = _Stream(self._question, self._response)
        piece = await self._stream.piece(self._account.usage)
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
            self._account.first_token()
        self.chars += len(piece)
        return piece or None

    async def _unstreamed(self, response: ProviderResponse) -> str:
        completion = await _read_whole(self._question, response, self._account.usage)
        self._over = True
        self.stop = completion.stop
        return "" if completion.stop == "refusal" else completion.text


class _Stream:
    """The events of a response, read into pieces of text."""

    def __init__(self, question: Question, response: ProviderResponse) -> None:
        self.reader: StreamReader = question.wire.reader(question.request.form)
        self._question = question
        self._response = response
        self._chars = 0
        self._linger_until: float | None = None

    async def piece(self, usage: Usage) -> str | None:
        """The next piece of text, None at the end of the answer.

        Raises:
            TryFailed: it failed, or ended without having come to an end.
        """
        reader = self.reader
        while not reader.done:
            event = await (self._next_event() if reader.stop is None else self._late_event(FIGURES_S))
            if event is None:
                if reader.stop is None and not (self._question.request.form is not None and self._chars):
                    raise TryFailed(broken_off(self._question.spec, "broke off before its end"))
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
                if self._chars > self._question.longest_chars:
                    raise TryFailed(broken_off(self._question.spec, "does not end"))
                return text
        self._linger_until = None
        await self._late_event(ENDING_S)
        return None

    def _fed(self, name: str, data: str) -> str:
        fault: Fault
        try:
            return self.reader.feed(name, data)
        except WireProblem as problem:
            fault = self._question.fault(problem)
        raise TryFailed(fault)

    async def _next_event(self) -> tuple[str, str] | None:
        event = await self._response.event(self._question.longest_bytes)
        return None if event is None else (event.event, event.data)

    async def _late_event(self, linger_s: float) -> tuple[str, str] | None:
        """Another event of an answer that is whole; one that does not come soon, or can't be read, is not missed."""
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
