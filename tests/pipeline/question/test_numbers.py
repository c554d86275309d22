"""How figures are spoken."""

from __future__ import annotations

import pytest

from pipeline.elements import named
from pipeline.question.numbers import spoken


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("15 euros", "fifteen euros"),
        ("3.90", "three ninety"),
        ("3.90", "three euros ninety"),
        ("2,50 a month", "two fifty a month"),
        ("150", "a hundred and fifty"),
        ("150", "one hundred fifty"),
        ("21 days", "twenty-one days"),
        ("2.00", "two"),
        ("1000 steps", "a thousand steps"),
        ("2 of 3", "two of three"),
    ],
)
def test_figures_are_said_in_words(name: str, said: str) -> None:
    assert said in spoken(name)


@pytest.mark.parametrize("name", ["", "the price", "99999", "1234 steps", "A4", "3.905", "1 2 3", "v2"])
def test_what_nobody_says_so_has_no_other_way(name: str) -> None:
    assert spoken(name) == ()


def test_element_is_known_by_its_figure_in_words() -> None:
    names = (("price", ("3.90", "15 euros")), ("bonus", ("150 euros",)))
    assert named("Three ninety, I spend more than that.", names) == ("price",)
    assert named("Fifteen euros a month, and a hundred and fifty euros back.", names) == ("price", "bonus")
    assert named("Ninety-three of them.", names) == ()
