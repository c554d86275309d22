"""Languages that the offline provider supports; language models are assumed to support any."""

from __future__ import annotations

from typing import Final

from pipeline.calls import Role

OFFLINE: Final[dict[Role, frozenset[str]]] = {
    "extraction": frozenset({"en"}),
    "scoring": frozenset({"en"}),
    "generation": frozenset({"en", "de", "ar"}),
}
"""First subtags of the languages that the offline provider supports, per role."""


def speaks_offline(role: Role, language: str) -> bool:
    """Whether the offline provider does that role in that language, such as `en` or `de-AT`."""
    return language.casefold().split("-")[0].split("_")[0] in OFFLINE[role]
