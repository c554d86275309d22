"""Texts made to keep a pattern busy: nothing but breaks, or one beginning over and over."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.language.acts.danger import in_danger
from pipeline.language.acts.outright import Said, said_outright
from pipeline.language.acts.study import of_the_study

LENGTH = 40_000
"""Characters; a pattern that tries each break with every later one takes minutes over so many."""


@pytest.mark.parametrize("piece", ["\n", " ", "\n ", ". ", "can you please "])
@pytest.mark.parametrize("heard", [in_danger, of_the_study, lambda text: said_outright(text, "What happened next?")])
def test_it_is_read_to_the_end(piece: str, heard: Callable[[str], tuple[Said, ...]]) -> None:
    assert heard((piece * LENGTH)[:LENGTH]) == ()
