"""Connectors: words that join two clauses, found by lookup and not by a parse.

Parsers often get clause boundaries of spoken language wrong, as in "Since I switched I don't have to …" without a
comma. Connectors are therefore looked up first; the parse decides only between several readings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["cause", "purpose", "condition", "contrast", "sequence"]
Side = Literal["after", "before"]


@dataclass(frozen=True)
class Connector:
    """A marker between two clauses.

    `effect` says on which side of the marker the effect (or result, or later event) stands: "after" for "so",
    "before" for "because". `fronted` markers may also open a sentence, with the other clause behind the comma.
    """

    words: tuple[str, ...]
    marker: str
    kind: Kind
    effect: Side
    fronted: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def phrases(text: str) -> frozenset[str]:
    """The phrases of a text, separated by `|`, as a set."""
    return frozenset(" ".join(phrase.split()) for phrase in text.split("|") if phrase.strip())


def _table(kind: Kind, effect: Side, fronted: bool, listed: str) -> list[Connector]:
    found = []
    for phrase in listed.split("|"):
        said, _, marker = phrase.strip().partition("=")
        found.append(Connector(tuple(said.split()), marker or said.strip(), kind, effect, fronted))
    return found


CONNECTORS: tuple[Connector, ...] = tuple(
    sorted(
        [
            *_table(
                "cause",
                "before",
                True,
                "because|because of|'cause=because|cause=because|cos=because|'cos=because|cuz=because|coz=because"
                "|bc=because|due to|thanks to|given that|seeing as|the reason is=because|since|as long as|now that",
            ),
            *_table(
                "cause",
                "after",
                False,
                "so|and so=so|so now=so|so then=so|so like=so|and therefore=therefore|therefore|hence|thus|as a result"
                "|which means|which means that=which means|that means=which means|and that means=which means"
                "|it means=which means|this means=which means|means that=which means|means i=which means|meaning"
                "|which is why|that 's why|that s why=that 's why|that is why=that 's why|this is why=that 's why"
                "|and that 's why=that 's why|and that s why=that 's why|which in turn|that way|and that way=that way"
                "|this way=that way|consequently|in turn",
            ),
            *_table("purpose", "after", False, "so that|in order to|in order that"),
            *_table(
                "condition",
                "before",
                True,
                "if|when|whenever|once|as soon as|every time|each time|unless|in case|until|till|while|whilst",
            ),
            *_table("sequence", "before", True, "after|ever since"),
            *_table("sequence", "after", True, "before"),
            *_table("sequence", "after", False, "and then=then|then|after that|afterwards|and after that=after that"),
            *_table(
                "contrast",
                "after",
                True,
                "but|although|though|even though|however|whereas|except that|except|on the other hand"
                "|but then=but|and yet=but|yet",
            ),
        ],
        key=lambda connector: -len(connector.words),
    )
)
"""Longest first."""

_BY_FIRST: dict[str, list[Connector]] = {}
for _connector in CONNECTORS:
    _BY_FIRST.setdefault(_connector.words[0], []).append(_connector)

STRAIGHT_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "`": "'"})
"""Translation of typographic apostrophes to straight ones."""


def normalised_text(word: str) -> str:
    """A text as it is compared with word lists: lower case, straight apostrophes."""
    return word.translate(STRAIGHT_APOSTROPHES).lower()


def connector_at(spoken: Sequence[str], index: int) -> Connector | None:
    """The longest connector that begins at this word, if any; `spoken` as `normalised_text` gives them."""
    for connector in _BY_FIRST.get(spoken[index], ()):
        if tuple(spoken[index : index + len(connector.words)]) == connector.words:
            return connector
    return None
