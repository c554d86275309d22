"""Sentences that were read before, so that none is read twice; those that were used least recently go first."""

from __future__ import annotations

from collections import OrderedDict

Key = tuple[tuple[str, ...], str]
"""The program with its arguments, and the sentence."""


class RememberedSounds:
    """Sounds in memory.

    Args:
        most_bytes: what they may take together.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._sounds: OrderedDict[Key, bytes] = OrderedDict()
        self.bytes = 0
        """What they take."""

    def get(self, key: Key) -> bytes | None:
        """The sound of a sentence; None if it is not remembered."""
        if key not in self._sounds:
            return None
        self._sounds.move_to_end(key)
        return self._sounds[key]

    def put(self, key: Key, sound: bytes) -> None:
        """Remember a sound, unless it is too large."""
        if len(sound) > self._most_bytes:
            return
        self.bytes += len(sound) - len(self._sounds.pop(key, b""))
        self._sounds[key] = sound
        while self.bytes > self._most_bytes:
            _, forgotten = self._sounds.popitem(last=False)
            self.bytes -= len(forgotten)
