"""Elements in what people say: labels and aliases, the longest name first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.elements import ids_of, key_of, named

NAMES = (
    ("price", ("price", "cost")),
    ("plan", ("subscription price", "monthly fee")),
    ("battery", ("battery life",)),
    ("box", ("box",)),
    ("cool_box", ("cool box", "Kühlbox")),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The prices are high.", ("price",)),
        ("The subscription price puts me off.", ("plan",)),
        ("The subscription price, well, any price.", ("price", "plan")),
        ("It's the monthly fees I mind.", ("plan",)),
        ("The battery's life? No: its battery lives on.", ("battery",)),
        ("A cool-box, not just a box", ("box", "cool_box")),
        ("Die Kühlbox gefällt mir.", ("cool_box",)),
        ("priceless, costly, inboxes", ()),
        ("", ()),
    ],
)
def test_element_named_by_label_or_alias_the_longest_alone(text: str, expected: tuple[str, ...]) -> None:
    assert named(text, NAMES) == expected


def test_article_of_a_name_need_not_be_said() -> None:
    assert named("My lid is loose.", (("lid", ("the lid",)),)) == ("lid",)


def test_longest_name_wins_also_where_a_shorter_one_begins_before_it() -> None:
    names = (("one", ("paper bag",)), ("two", ("bag with a handle",)))
    assert named("a paper bag with a handle", names) == ("two",)


def test_name_that_two_elements_share_names_both() -> None:
    assert named("the price", (("a", ("price",)), ("b", ("Price",)))) == ("a", "b")


def test_identifiers_are_different_and_plain() -> None:
    assert ids_of(["Cool box!", "cool box", "سعر", "x" * 90]) == ["cool_box", "cool_box_2", "element_3", "x" * 40]


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=6))
def test_any_text_names_only_elements_whose_words_it_has(text: str, labels: list[str]) -> None:
    names = tuple((str(number), (label,)) for number, label in enumerate(labels))
    said = set(key_of("and " + text))
    for element in named(text, names):
        assert set(key_of(labels[int(element)])) <= said
    for number, label in enumerate(labels):
        if key_of(label):
            assert str(number) in named(label, names)
