"""The PIN that unlocks the operator's functions of a kiosk; wrong PINs lead to growing waits."""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from server.errors import ApiError

UNLOCKED_S = 300
FREE_TRIES = 3
FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 900.0
FORGET_S = 3600.0
"""Failures older than this don't count any more."""
MOST_HOLDERS = 1000


@dataclass
class _Failures:
    count: int = 0
    last_at: float = 0.0
    closed_until: float = 0.0


class OperatorLock:
    """Gives out keys for the right PIN. A key is valid for UNLOCKED_S, for its holder, and in this process only.

    Args:
        pin: of the operator; without one nothing can be unlocked.
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, pin: str | None, clock: Callable[[], float]) -> None:
        self._digest = None if pin is None else _digest(pin)
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._failures: OrderedDict[str, _Failures] = OrderedDict()

    @property
    def possible(self) -> bool:
        """Whether there is a PIN."""
        return self._digest is not None

    def unlock(self, holder: str, pin: str) -> str:
        """A key for the operator's functions.

        Args:
            holder: id of the token of the request.
            pin: as it was typed.
        Raises:
            ApiError: `forbidden`, it is wrong or there is none; `rate_limited`, too many were wrong. Until the wait is
                over, the right one is refused too.
        """
        if self._digest is None:
            raise ApiError("forbidden", "No PIN is set on this machine: set ASKWELL_KIOSK_PIN to use this corner.")
        now, failures = self._clock(), self._of(holder)
        if now < failures.closed_until:
            raise _wait(failures.closed_until - now)
        if now - failures.last_at > FORGET_S:
            failures.count = 0
        if not hmac.compare_digest(_digest(pin), self._digest):
            failures.count += 1
            failures.last_at = now
            over = failures.count - FREE_TRIES
            if over >= 0:
                failures.closed_until = now + min(FIRST_WAIT_S * 2.0**over, LONGEST_WAIT_S)
            raise ApiError("forbidden", "This is not the PIN.")
        self._failures.pop(holder, None)
        expires = math.ceil(now + UNLOCKED_S)
        return f"{expires}.{self._signature(holder, expires)}"

    def check(self, holder: str, key: str) -> None:
        """Accept a valid key of that holder. Raises ApiError `forbidden`."""
        expires, _, signature = key.partition(".")
        if expires.isascii() and expires.isdecimal() and len(expires) <= 12 and signature.isascii():
            right = hmac.compare_digest(signature, self._signature(holder, int(expires)))
            if right and self._clock() < int(expires):
                return
        raise ApiError("forbidden", "This corner is locked: enter the PIN.")

    def _of(self, holder: str) -> _Failures:
        found = self._failures.setdefault(holder, _Failures())
        self._failures.move_to_end(holder)
        if len(self._failures) > MOST_HOLDERS:
            self._failures.popitem(last=False)
        return found

    def _signature(self, holder: str, expires: int) -> str:
        return hmac.new(self._secret, f"{expires} {holder}".encode(), hashlib.sha256).hexdigest()


def _digest(pin: str) -> bytes:
    return hashlib.sha256(pin.encode("utf-8", "surrogatepass")).digest()


def _wait(seconds: float) -> ApiError:
    wait_s = math.ceil(seconds)
    message = f"Too many wrong PINs. Please wait {wait_s} s."
    return ApiError("rate_limited", message, retryable=True, retry_after_s=wait_s)
