"""Doubt and curiosity in so many words."""

from __future__ import annotations

import pytest

from pipeline.reactions import doubts, wonders


@pytest.mark.parametrize(
    ("text", "language", "doubt", "wonder"),
    [
        ("I’m sceptical. A technician may be honest, but I'd have to see it.", "en", True, False),
        ("I don't really believe that", "en", True, False),
        ("Lovely, if it's true.", "en", True, False),
        ("I'd like to know how it tastes.", "en", False, True),
        ("I believe it and I trust them.", "en", False, False),
        ("There is no doubt, it is good.", "en", False, False),
        ("It is a wonderful idea.", "en", False, False),
        ("Da bin ich skeptisch.", "de", True, False),
        ("Ich frage mich, wie das schmeckt.", "de", False, True),
        ("أنا متشكك في هذا", "ar", True, False),
        ("je doute", "fr", False, False),
        ("", "en", False, False),
    ],
)
def test_doubt_and_curiosity_are_told_by_words(text: str, language: str, doubt: bool, wonder: bool) -> None:
    assert (doubts(text, language), wonders(text, language)) == (doubt, wonder)
