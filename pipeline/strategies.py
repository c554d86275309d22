"""The strategies that a decision engine chooses from in an interview."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from pipeline.methodology import Strategy

Move = Literal["part", "side", "else", "stay"]
"""A kind of question of a concept test: for a part of the idea, another side of it, anything else, or for what was just
said."""


class Strategies:
    """An engine's strategies, in the order that breaks ties.

    Args:
        strategies: all of them.
        elements: the name of the one that asks about elements of the concept as such.
        elements_press: whether elements that are open take the turns that are left; false where the engine weighs them
            against what people bring up.
        topics: the name of the one that asks for topics of the guide; by itself the one with `focus_mode: guide`.
        tactics: what a strategy becomes when it is followed in a certain way, by its name and that of the tactic.
        stays: names of those that stay with what was just said, which a writer that compares its wordings may take
            instead of what the engine chose.
        weighs: what questions are worth then, by name of the strategy and tactic: of a kind of move, or a number from 0
            to 3; what is not there is asked where the engine chooses it.
    """

    __slots__ = ("_by_name", "_tactics", "elements", "elements_press", "stays", "topics", "weighs")

    def __init__(
        self,
        strategies: Iterable[Strategy],
        *,
        elements: str | None = None,
        elements_press: bool = True,
        topics: str | None = None,
        tactics: Mapping[tuple[str, str], Strategy] | None = None,
        stays: Iterable[str] = (),
        weighs: Mapping[tuple[str, str], Move | float] | None = None,
    ) -> None:
        self.stays = frozenset(stays)
        self.weighs = dict(weighs or {})
        self._tactics = dict(tactics or {})
        self.elements = elements
        self.elements_press = elements_press
        self.topics = topics
        self._by_name = {strategy.name: strategy for strategy in strategies}
        if topics is None:
            self.topics = next((s.name for s in self if s.focus_mode == "guide"), None)

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

    def by_tactic(self, name: str | None, tactic: str) -> Strategy | None:
        """The strategy of that name as it asks by a tactic; as it is where it has no such tactic."""
        return self._tactics.get((name or "", tactic)) or self.find(name)
