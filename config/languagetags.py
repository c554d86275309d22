"""Tags of languages as concept files name them: “en”, “de-AT”."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_BY_NAME = {
    "english": "en",
    "german": "de",
    "deutsch": "de",
    "arabic": "ar",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
    "polish": "pl",
    "turkish": "tr",
    "russian": "ru",
    "ukrainian": "uk",
    "chinese": "zh",
    "japanese": "ja",
    "hindi": "hi",
    "persian": "fa",
}
"""Languages by the names that people write in place of their tags."""


def language_problems(languages: Sequence[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Entries that are no tag of a language, or are there twice: where, and what is wrong."""
    for at, language in enumerate(languages):
        if _TAG.fullmatch(language) is None:
            meant = _BY_NAME.get(language.casefold())
            yield (
                ("languages", at),
                f"not a tag of a language{f'; did you mean `{meant}`?' if meant else ', such as `en`'}",
            )
        elif language in languages[:at]:
            yield ("languages", at), f"`{language}` is there twice"
