"""A cache of values that are made once per object, such as a methodology."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
MOST = 64


class PerObject(Generic[T]):
    """Values by object identity and key; the least recently used are removed.

    The object is referenced, so that its identity is not reused.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._made: OrderedDict[tuple[int, Hashable], tuple[object, T]] = OrderedDict()

    def get(self, owner: object, key: Hashable, make: Callable[[], T]) -> T:
        """The value for that object and key, made when it is asked for the first time."""
        place = (id(owner), key)
        known = self._made.get(place)
        if known is not None:
            self._made.move_to_end(place)
            return known[1]
        value = make()
        self._made[place] = (owner, value)
        if len(self._made) > self._most:
            self._made.popitem(last=False)
        return value
