"""What vetoes and scorers look at: one turn, seen from the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.engines.shared.moment import TurnView
from pipeline.engines.two_tier.file import TwoTierFile, TwoTierStrategy
from pipeline.engines.two_tier.phases import questions_before_last
from pipeline.focus import Target


@dataclass(frozen=True)
class PossibleFocus:
    """What a strategy could be about.

    Attributes:
        focus_type: as the rule calls it.
        target: what a question would be about; None for nothing in particular.
        focus_description: in words, in the language of the interview.
        confidence: how sure it is that there is something to find out by it, in [0, 1].
    """

    focus_type: str
    target: Target | None = None
    focus_description: str = ""
    confidence: float = 1.0

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The tracked identities of the concepts it is about."""
        return self.target.node_keys if self.target is not None else ()

    @property
    def element_id(self) -> str | None:
        """The element it is about."""
        return self.target.ids[0] if self.target is not None and self.target.kind == "element" else None


@dataclass(frozen=True)
class Moment(TurnView):
    """One turn."""

    file: TwoTierFile
    table: Mapping[str, TwoTierStrategy] = field(default_factory=dict)

    @property
    def pressure(self) -> float:
        """The open topics of the guide over the questions until the last phase, in [0, 1]."""
        return min(1.0, self.inputs.topics_open / max(1, questions_before_last(self.file, self.inputs)))

    @property
    def room(self) -> float:
        """How much room elements leave for anything else, in [0, 1].

        1 while they would take no more than half of the questions until the last phase, 0 once they would take all.
        """
        share = len(self.uncovered) / max(1, questions_before_last(self.file, self.inputs))
        return min(1.0, max(0.0, 2 - 2 * share))

    @property
    def turns_left(self) -> int | None:
        """Questions that can be answered after the next one; None without a limit."""
        return max(0, self.inputs.max_turns - self.inputs.turn_count - 1) if self.inputs.max_turns else None

    @cached_property
    def uncovered(self) -> tuple[str, ...]:
        """Elements to ask about, in the concept's order: with a gap, not exhausted, not declined."""
        return tuple(
            name
            for name, lacking in self.gaps.items()
            if any(gap.kind in self.file.uncovered for gap in lacking)
            and not self.coverage[name].exhausted
            and not self.coverage[name].declined
        )

    def category_of(self, strategy: str) -> str:
        """The category of a strategy; empty for one that is not the engine's, such as a moderator's question."""
        known = self.table.get(strategy)
        return known.type_category if known is not None else ""

    def signal(self, name: str) -> bool | int | float | str | None:
        """A signal of this answer; None where it has none."""
        return self.inputs.signals.values.get(name)

    def number(self, name: str) -> float | None:
        """The same as a number."""
        value = self.signal(name)
        return float(value) if isinstance(value, int | float) else None
