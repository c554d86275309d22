"""Which elements are compared: evenly, and the same ones for the same seed."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.grid.comparisons import next_comparison


def sequence(elements: list[str], seed: int, count: int, size: int = 3) -> list[tuple[str, ...]]:
    made: list[tuple[str, ...]] = []
    for _ in range(count):
        chosen = next_comparison(elements, made, seed, size)
        assert chosen is not None
        made.append(chosen)
    return made


@given(st.integers(3, 8), st.integers(0, 2**63 - 1))
def test_no_comparison_comes_twice_before_all_were_made(count: int, seed: int) -> None:
    elements = [f"e{n}" for n in range(count)]
    possible = len(list(combinations(elements, 3)))
    made = sequence(elements, seed, min(possible, 20))
    assert len({frozenset(one) for one in made}) == len(made)
    assert all(len(set(one)) == 3 for one in made)


@given(st.integers(5, 9), st.integers(0, 2**63 - 1))
def test_pairs_are_repeated_only_where_they_must(count: int, seed: int) -> None:
    elements = [f"e{n}" for n in range(count)]
    made = sequence(elements, seed, 6)
    pairs = Counter(frozenset(pair) for one in made for pair in combinations(one, 2))
    assert max(pairs.values()) <= 3
    first_two = [frozenset(pair) for one in made[:2] for pair in combinations(one, 2)]
    assert len(set(first_two)) == len(first_two)


@given(st.integers(0, 2**63 - 1))
def test_same_seed_makes_the_same_comparisons_whatever_the_order_of_elements(seed: int) -> None:
    elements = ["lidl", "aldi", "market", "iceland", "spar"]
    assert sequence(elements, seed, 5) == sequence(elements[::-1], seed, 5)


def test_seeds_differ_in_what_comes_first() -> None:
    elements = [f"e{n}" for n in range(6)]
    assert len({sequence(elements, seed, 1)[0] for seed in range(30)}) > 5


def test_too_few_elements_can_not_be_compared() -> None:
    assert next_comparison([], [], 1) is None
    assert next_comparison(["a", "b"], [], 1) is None
    assert next_comparison(["a", "a", "b"], [], 1) is None
    assert set(next_comparison(["a", "b"], [], 1, 2) or ()) == {"a", "b"}


def test_three_elements_are_compared_again_when_there_is_nothing_else() -> None:
    made = sequence(["a", "b", "c"], 5, 3)
    assert {frozenset(one) for one in made} == {frozenset("abc")}
