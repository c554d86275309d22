"""When Python looks for garbage, and when memory is given back.

Through the young objects it looks whenever it likes, through all of them when nobody waits.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable

from server.resident_memory import give_back

YOUNG = 2_000
"""Objects that are made and not let go of before the youngest are looked through; a turn makes more than 700."""
MIDDLE = 5
NEVER = 1_000_000
"""So often the middle-aged would have to be looked through before Python looked through all by itself."""
LOOK_S = 1.0
WORTH_IT = 20
"""After looking so often through the middle-aged it is time for all, if nobody waits: 200 000 objects more."""
AT_ONCE = 200
"""After so many, whoever waits."""
GIVE_BACK_S = 10.0
"""How often at the most memory is given back to the operating system, in seconds, while no turn runs."""


class GarbageCollection:
    """Looks through all objects while no turn runs: it stops every session, for longer the more of them there are.

    Args:
        is_quiet: whether no turn runs.
        observe: called with how long it took, in milliseconds.
        pending: how often the middle-aged were looked through since.
        collect: looks through all.
        give_back: gives memory back; called in a thread.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        is_quiet: Callable[[], bool],
        observe: Callable[[float], None],
        *,
        pending: Callable[[], int] = lambda: gc.get_count()[2],
        collect: Callable[[], object] = gc.collect,
        give_back: Callable[[], object] = give_back,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._is_quiet = is_quiet
        self._observe = observe
        self._pending = pending
        self._collect = collect
        self._give_back = give_back
        self._given_back_at = clock()
        self._clock = clock

    async def run(self) -> None:
        """Choose the moments until cancelled; then Python chooses them again."""
        before = gc.get_threshold()
        gc.set_threshold(YOUNG, MIDDLE, NEVER)
        try:
            while True:
                await asyncio.sleep(LOOK_S)
                self.look()
                await self.tidy()
        finally:
            gc.set_threshold(*before)

    async def tidy(self) -> bool:
        """Give memory back if it is time and nobody waits; whether it was."""
        if self._clock() - self._given_back_at < GIVE_BACK_S or not self._is_quiet():
            return False
        await asyncio.to_thread(self._give_back)
        self._given_back_at = self._clock()
        return True

    def look(self) -> bool:
        """Look through all objects if it is time; whether it was."""
        pending = self._pending()
        if pending < WORTH_IT or (pending < AT_ONCE and not self._is_quiet()):
            return False
        began = self._clock()
        self._collect()
        self._observe((self._clock() - began) * 1000)
        return True
