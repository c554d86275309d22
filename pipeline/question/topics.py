"""Which questions a topic's name fits into (English): a thing, an event, something that is done, or a whole clause."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from pipeline.question.inflection import is_plural
from pipeline.question.text import words

TopicKind = Literal["thing", "event", "doing", "clause"]

_CLAUSE = frozenset("what how why where when who whom whose which whether if that".split())
_NO_DOING = frozenset(
    "bedding clothing ceiling wedding pudding building bring string spring evening morning something nothing anything "
    "everything during".split()
)
_DONE_TO_MANY = frozenset("planning making buying cooking watching changing losing getting selling having".split())
"""What is done to several things; other such words in front of a plural are part of a name: “frying pans”."""
_EVENT = re.compile(
    r"^(?:an?|the|my|your|our|one'?s|his|her|their|that|this|one)? ?(?:(?!(?:to|of|and|or|with|for)\b)[\w'’-]+ ){0,2}?"
    r"(?:day|night|evening|morning|afternoon|week|weekend|hour|moment|time|visit|stay|trip|journey)\b",
    re.IGNORECASE,
)
_ASKS: tuple[tuple[re.Pattern[str], frozenset[TopicKind]], ...] = (
    # What is chosen, bought or used is a thing.
    (re.compile(r"\b(?:choos\w+|chose|chosen|buy|buying|bought|us(?:e|ed|ing)) \{topic\}"), frozenset({"thing"})),
    (re.compile(r"\bthe ones? (?:you|that)\b"), frozenset({"thing", "event", "doing"})),
    # What somebody has an experience with is a thing, or something that is done.
    (
        re.compile(r"\b(?:experience|relationship|time|times|occasion|moment|day|anything|start) with \{topic\}"),
        frozenset({"thing", "doing"}),
    ),
    (re.compile(r"\bwith \{topic\}"), frozenset({"thing", "doing", "event"})),
    (re.compile(r"\bwithout \{topic\}"), frozenset({"thing", "doing"})),
    (
        re.compile(r"(?:^|[,.] )(?:[Ww]hen |[Dd]id )?\{topic\} |\bhow was \{topic\}"),
        frozenset({"thing", "event", "doing"}),
    ),
    (
        re.compile(r"\b(?:part|place|time|side|sides) (?:of|to|for) \{topic\}|\bhad to do with \{topic\}"),
        frozenset({"thing", "doing"}),
    ),
)
"""Wordings, and the kinds of topics that fit into them; what is not here fits any."""


_ONCE = re.compile(r"\b(?:last|first) time you (?:chose|bought) \{topic\}")
_PAIRS = frozenset(
    "boots shoes socks slippers sandals trainers gloves mittens skis skates glasses jeans trousers shorts tights pants "
    "headphones earphones earplugs scissors pliers binoculars curtains groceries clothes".split()
)
"""Plurals of which one is bought at a time."""


@lru_cache(maxsize=256)
def kind_of_topic(topic: str) -> TopicKind:
    """What a topic is by its name: "trains" a thing, "a day at the office" an event, "cooking" something that is done,
    "what people eat" a clause.
    """
    low = words(topic)
    if not low:
        return "thing"
    if low[0] in _CLAUSE and len(low) > 2:
        return "clause"
    if _EVENT.match(topic.strip()):
        return "event"
    named = len(low) == 2 and is_plural(low[1]) and low[0] not in _DONE_TO_MANY
    doing = low[0].endswith("ing") and len(low[0]) > len("ring") and low[0] not in _NO_DOING
    return "doing" if doing and not named else "thing"


def fits_topic(template: str, topic: str) -> bool:
    """Whether a question with `{topic}` in it reads well with this topic."""
    kind = kind_of_topic(topic)
    if _ONCE.search(template) and _is_of_many(topic):
        return False
    return all(kind in kinds for pattern, kinds in _ASKS if pattern.search(template))


def _is_of_many(topic: str) -> bool:
    """Whether a topic's name speaks of several things of which one is chosen at a time: “kettles”, not “boots”."""
    low = words(topic)
    return bool(low) and is_plural(low[-1]) and low[-1] not in _PAIRS
