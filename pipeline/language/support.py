"""Which languages are understood and spoken without a language model; a model is taken to know any."""

from __future__ import annotations

from typing import Final

from pipeline.calls import Role

OFFLINE: Final[dict[Role, frozenset[str]]] = {
    "extraction": frozenset({"en"}),
    "scoring": frozenset({"en"}),
    "generation": frozenset({"en", "de", "ar"}),
}
"""First subtags of languages per role of the offline provider: it reads English, and asks in more."""


def speaks_offline(role: Role, language: str) -> bool:
    """Whether the offline provider does that role in that language, such as `en` or `de-AT`."""
    return language.casefold().split("-")[0].split("_")[0] in OFFLINE[role]
