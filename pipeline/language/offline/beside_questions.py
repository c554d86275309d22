"""What an answer tells beside the questions that are in it."""

from __future__ import annotations

import re

TELLS_WORDS = 12
"""An answer with fewer words outside its questions is taken as it is."""
_QUESTION = re.compile(r"[^.!?…\n\"“”]*\?+")


def without_questions(text: str) -> str:
    """The text with its questions blanked out, each place of the rest where it was; as it is where little is left."""
    told = _QUESTION.sub(lambda match: " " * len(match.group(0)), text)
    return told if len(told.split()) >= TELLS_WORDS else text
