"""Which of two concepts brings about the other, by the connector between them."""

from __future__ import annotations

import re

import pytest

from pipeline.language.reader.directions import said_directions


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("[I arrive fresh] because [the motor helps].", {(1, 0)}),
        ("[It doesn't hurt] since [the saddle is soft].", {(1, 0)}),
        ("[I save money], mostly because [it lasts].", {(1, 0)}),
        ("[I save money] [because it lasts].", {(1, 0)}),
        ("[It is light], so [I can wear it all day].", {(0, 1)}),
        ("[It is light], and that means [I can wear it all day].", {(0, 1)}),
        ("Because [it is soft], [my back doesn't hurt].", {(0, 1)}),
        ("Because of the [soft pads] [my back doesn't hurt].", set()),
        ("[It is light]. So [I wear it].", set()),
        ("[It is light] and [it is so cheap].", set()),
        ("[I wear it] when [I ride].", set()),
        ("[It is red], [it lasts], so [I like it] because [my son does].", {(1, 2), (3, 2)}),
        ("[It is light].", set()),
        ("", set()),
    ],
)
def test_connectors_say_which_comes_of_which(answer: str, found: set[tuple[int, int]]) -> None:
    text, spans = "", []
    for part in re.split(r"(\[[^\]]*\])", answer):
        if part.startswith("["):
            spans.append((len(text), len(text) + len(part) - 2))
            part = part[1:-1]
        text += part
    assert said_directions(text, spans) == found
