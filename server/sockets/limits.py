"""How much one client may send, and how often it may break the rules."""

from __future__ import annotations

from collections.abc import Callable

from server.protocol.codec import ProtocolProblem
from server.protocol.codes import CLOSE_POLICY
from server.rate_limits import TokenBucket
from server.sockets.settings import SocketSettings

VIOLATION_FORGOTTEN_AFTER_S = 10.0


class RateLimiter:
    """Counts the messages, audio frames and violations of one connection.

    Args:
        settings: rates, and the number of violations that are answered.
        clock: monotonic seconds.
    """

    def __init__(self, settings: SocketSettings, clock: Callable[[], float]) -> None:
        self._messages = TokenBucket(settings.messages_per_s, settings.message_burst, clock)
        self._frames = TokenBucket(settings.frames_per_s, settings.frames_per_s, clock)
        self._violations = TokenBucket(1.0 / VIOLATION_FORGOTTEN_AFTER_S, settings.patience, clock)

    def count_message(self) -> None:
        """Count one text message. Raises ProtocolProblem `rate_limited`."""
        if self._messages.take() > 0:
            raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY)

    def count_frame(self) -> None:
        """Count one audio frame. Raises ProtocolProblem `rate_limited`."""
        if self._frames.take() > 0:
            raise ProtocolProblem("rate_limited", close_code=CLOSE_POLICY, ref="audio")

    def exceeds_violations(self, problem: ProtocolProblem) -> bool:
        """Count one violation; whether it was one too many."""
        if problem.code in ("invalid_input", "answer_too_long"):
            return False
        return self._violations.take() > 0
