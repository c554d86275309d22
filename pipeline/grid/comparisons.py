"""Which elements are compared next: evenly, and the same ones for the same seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from pipeline.question.templates import stable_hash


def next_comparison(
    elements: Sequence[str], compared: Sequence[tuple[str, ...]], seed: int, size: int = 3
) -> tuple[str, ...] | None:
    """The elements to compare next, in the order in which they are named; None with fewer than `size` elements.

    A comparison comes again only after all others; before that, elements and pairs of them that were together least
    often come first. What is still equal is decided by the seed.

    Args:
        elements: ids of all elements.
        compared: the comparisons asked for before, each in any order.
        seed: of the session.
        size: how many are compared.
    """
    before = Counter(frozenset(one) for one in compared)
    pairs = Counter(frozenset(pair) for one in compared for pair in combinations(sorted(one), 2))
    alone = Counter(element for one in compared for element in one)

    def cost(chosen: tuple[str, ...]) -> tuple[int, int, int, int, int]:
        together = [pairs[frozenset(pair)] for pair in combinations(chosen, 2)]
        return (
            before[frozenset(chosen)],
            max(together),
            sum(together),
            sum(alone[element] for element in chosen),
            stable_hash(seed, "comparison", *chosen),
        )

    options = list(combinations(sorted(set(elements)), size))
    if not options:
        return None
    chosen = min(options, key=cost)
    return tuple(sorted(chosen, key=lambda element: stable_hash(seed, len(compared), element)))
