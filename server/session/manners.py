"""How a client behaves: rates, audio that nobody asked for, and how often it may break the rules."""

from __future__ import annotations

from collections.abc import Callable

from server.protocol.codec import AudioFrame, ProtocolProblem, decode_binary
from server.protocol.codes import CLOSE_POLICY
from server.session.settings import SocketSettings

FORGIVEN_EVERY_S = 10.0
"""One violation is forgotten after this time."""


class TokenBucket:
    """Allows `burst` at once and `per_s` on average.

    Args:
        per_s: tokens that come back per second.
        burst: tokens at the most.
        clock: monotonic seconds.
    """

    def __init__(self, per_s: float, burst: float, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._level = burst
        self._at = clock()

    def take(self) -> bool:
        """Take one token, if there is one."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._per_s)
        self._at = now
        if self._level < 1.0:
            return False
        self._level -= 1.0
        return True


class Manners:
    """Watches over one connection.

    Args:
        settings: rates and patience.
        clock: monotonic seconds.
    """

    def __init__(self, settings: SocketSettings, clock: Callable[[], float]) -> None:
        self._messages = TokenBucket(settings.messages_per_s, settings.message_burst, clock)
        self._frames = TokenBucket(settings.frames_per_s, settings.frames_per_s, clock)
        self._patience = TokenBucket(1.0 / FORGIVEN_EVERY_S, settings.patience, clock)

    def check_rate(self) -> None:
        """Count one text frame. Raises ProtocolProblem `rate_limited`."""
        if not self._messages.take():
            raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY)

    def check_audio(self, data: bytes) -> AudioFrame:
        """The audio in one binary frame. Raises ProtocolProblem `audio_format`, `rate_limited`."""
        if not self._frames.take():
            raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY, ref="audio")
        return decode_binary(data)

    def offended(self, problem: ProtocolProblem) -> bool:
        """Count one violation; whether it was one too many."""
        if problem.code in ("invalid_input", "answer_too_long"):
            return False
        return not self._patience.take()
