"""What wrong tokens may cost: a bound per address that keeps nobody out who has a token.

One address may be a whole classroom, so a wrong token must not lock out the right ones that come from there. An
address may send a number of wrong tokens, each of which costs one look at the store. Beyond it, right tokens still get
through and wrong ones are answered with `rate_limited`: tokens that were right lately on this node are looked up at
once, and all others, of all such addresses, one at a time. What finds MOST_WAITING before it is refused without a look.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TypeVar

from server.errors import ApiError
from server.rate_limits import KeyedBuckets

T = TypeVar("T")

MOST_WAITING = 32
MOST_KNOWN = 10_000


class Guesses:
    """Of one node.

    Args:
        buckets: wrong tokens that an address may send.
    """

    def __init__(self, buckets: KeyedBuckets) -> None:
        self._buckets = buckets
        self._one_at_a_time = asyncio.Lock()
        self._waiting = 0
        self._known: OrderedDict[str, None] = OrderedDict()
        """Digests of tokens that were right, the latest last."""

    async def check(self, address: str, digest: str, look_up: Callable[[], Awaitable[T | None]]) -> T | None:
        """What `look_up` finds, None for a wrong token.

        Args:
            address: of the client, as it is counted.
            digest: of the token.
            look_up: asks the store whose token it is.
        Raises:
            ApiError: `rate_limited`, the token is wrong, or not looked up, and the address has sent too many.
        """
        # Taken before the look, so that many at once don't all count as the last one that is allowed.
        wait_s = self._buckets.take(address)
        try:
            alone = wait_s and digest not in self._known
            found = await (self._alone(look_up, wait_s) if alone else look_up())
        except BaseException:
            if not wait_s:
                self._buckets.give_back(address)
            raise
        if found is not None:
            self._remember(digest)
            if not wait_s:
                self._buckets.give_back(address)
            return found
        self._known.pop(digest, None)
        if wait_s:
            raise _too_many(wait_s)
        return None

    async def _alone(self, look_up: Callable[[], Awaitable[T | None]], wait_s: int) -> T | None:
        if self._waiting >= MOST_WAITING:
            raise _too_many(wait_s)
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                return await look_up()
        finally:
            self._waiting -= 1

    def _remember(self, digest: str) -> None:
        self._known[digest] = None
        self._known.move_to_end(digest)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)


def _too_many(wait_s: int) -> ApiError:
    message = f"Too many wrong tokens came from this address. Please wait {wait_s} s."
    return ApiError("rate_limited", message, retryable=True, retry_after_s=wait_s)
