"""The strategies that a decision engine chooses from in an interview."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.methodology import Strategy


class Strategies:
    """An engine's strategies, in the order that breaks ties."""

    __slots__ = ("_by_name",)

    def __init__(self, strategies: Iterable[Strategy]) -> None:
        self._by_name = {strategy.name: strategy for strategy in strategies}

    def __iter__(self) -> Iterator[Strategy]:
        return iter(self._by_name.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._by_name)

    @property
    def closing(self) -> Strategy | None:
        """The strategy that ends an interview, if there is one."""
        return next((strategy for strategy in self if strategy.generates_closing_question), None)

    def find(self, name: str | None) -> Strategy | None:
        """The strategy of that name, if the engine has it."""
        return self._by_name.get(name) if name is not None else None

    def __getitem__(self, name: str) -> Strategy:
        """The strategy of that name. Raises KeyError."""
        return self._by_name[name]
