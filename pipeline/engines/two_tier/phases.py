"""Which phase a turn belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.engines.base import DecisionInputs
from pipeline.engines.two_tier.file import PhaseRule, TwoTierFile

LEFT_FOR_CLOSING = 2
"""Turns before the last one at which the last phase begins at the latest: its question needs an answer."""
LAST_PHASE = 5
"""Turns that the last phase has in an interview with more turns than the phases before it."""


def phase_of(file: TwoTierFile, inputs: DecisionInputs, left: Iterable[str] = ()) -> PhaseRule:
    """The phase of a turn, by the turns that were completed before it.

    Where the interview has more turns than the phases and `LAST_PHASE` after them, the phases are that much longer;
    where it has too few, the last phase begins early. A phase in `left` ended early.
    """
    done, gone = inputs.turn_count - 1, frozenset(left)
    if inputs.max_turns and done >= inputs.max_turns - LEFT_FOR_CLOSING:
        return file.phases[-1]
    for phase, end in ends_of(file, inputs.max_turns):
        if done < end and phase.name not in gone:
            return phase
    return file.phases[-1]


def questions_before_last(file: TwoTierFile, inputs: DecisionInputs) -> int:
    """How many questions are asked before the last phase begins, the next one included; 0 once it has begun."""
    begins = max((end for _, end in ends_of(file, inputs.max_turns)), default=0.0)
    if inputs.max_turns:
        begins = min(begins, float(inputs.max_turns - LEFT_FOR_CLOSING))
    return max(0, int(begins) - (inputs.turn_count - 1))


def left_out(file: TwoTierFile, max_turns: int) -> tuple[str, ...]:
    """The phases that an interview of so many turns never comes to, unless those before them end early."""
    last, begins, names = max_turns - LEFT_FOR_CLOSING, 0.0, []
    for phase, end in ends_of(file, max_turns):
        if begins >= last:
            names.append(phase.name)
        begins = end
    return tuple(names)


def ends_of(file: TwoTierFile, max_turns: int) -> Iterator[tuple[PhaseRule, float]]:
    """Each phase but the last, with the completed turns at which it ends in an interview of so many (0: no limit)."""
    planned = sum(phase.turns or 0 for phase in file.phases)
    longer = max(1.0, (max_turns - LAST_PHASE) / planned) if planned else 1.0
    end = 0
    for phase in file.phases[:-1]:
        end += phase.turns or 0
        yield phase, end * longer
