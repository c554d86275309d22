"""A speech stream that is counted while it is open."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from prometheus_client import Gauge

from audio.speech import SpeechStream


class CountedStream(SpeechStream):
    """As its base; arguments too, and `gauge`, which counts."""

    def __init__(self, *args: Any, gauge: Gauge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._gauge = gauge

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._gauge.inc()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gauge.dec()
        await super().__aexit__(kind, exc, trace)
