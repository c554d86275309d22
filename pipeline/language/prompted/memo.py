"""Something made once per methodology, or once per any other object that lives as long as a configuration."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
MOST = 64


class PerObject(Generic[T]):
    """Values by object identity and key; the object is kept, so that its identity stays its own. Oldest go first."""

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
