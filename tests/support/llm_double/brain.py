"""Answers that make sense: structured ones by the schema that was sent, out of the words that were sent; questions.

It knows no task by heart. Whatever form is asked for, the schema says which fields there are, and the answer of the
respondent in the request gives the words: labels and quotes are verbatim stretches of it.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.llm_double.behaviour import Answer, Pace
from tests.support.llm_double.request import Asked
from tests.support.llm_double.wire import Wire

Task = Literal["extraction", "rating", "slots", "question", "other"]
QUESTIONS = (
    "What makes that important to you?",
    "How did that come about at first?",
    "When did you last notice that yourself?",
    "What would you miss without it?",
    "Why does that matter in everyday life?",
    "How does that make you feel afterwards?",
    "What did you do right after that happened?",
    "Who else was part of that moment?",
    "Where were you when that came up?",
    "What had you tried before you settled on this?",
    "How would you describe it to a friend?",
    "What gets in the way on a busy day?",
    "What does a good day with it look like?",
    "How has your view of it changed over time?",
    "What went through your mind just then?",
    "Which part of it stays with you most?",
    "What would have to happen for you to stop?",
    "How do other people around you react to it?",
    "What does it allow you to do instead?",
    "When does it work less well for you?",
    "What surprised you most about all of this?",
    "How do you decide between one option and another?",
    "What were you hoping for in the beginning?",
    "What do you get out of that in the end?",
)
_BLOCK = re.compile(r"<(answer-\w+)>\n(.*?)\n</\1>", re.DOTALL)
_NUMBERED = re.compile(r'^\d+\. ("(?:[^"\\]|\\.)*")', re.MULTILINE)
_SMALL = set(
    """a about after all also an and are as at be because been but by can could did do does for from get had has have he
    her his how i if in into is it its just like me more most my no not of on one or our out she so some than that the
    their them then there they this to too up was we were what when which while who will with would you your""".split()
)
STRETCH = 3
MOST = 3


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long each task takes, in seconds; `token_s` lies between two tokens of a question."""

    extraction_s: float = 0.0
    rating_s: float = 0.0
    slots_s: float = 0.0
    first_token_s: float = 0.0
    token_s: float = 0.0


@dataclass(slots=True)
class Brain:
    """A behaviour that plays a cooperative model; the default of the double that runs as a process."""

    latencies: Latencies = field(default_factory=Latencies)

    async def play(self, asked: Asked, wire: Wire) -> None:
        """Answer in time."""
        await answer_for(asked, self.latencies).play(asked, wire)


def task_of(asked: Asked) -> Task:
    """What a request is for, by the name of its form; without a form it is a question."""
    name = asked.form_name.lower()
    if not name:
        return "question" if asked.way == "none" else "other"
    for words, task in _TASK_WORDS.items():
        if any(word in name for word in words):
            return task
    return "other"


_TASK_WORDS: dict[tuple[str, ...], Task] = {
    ("extract", "concept"): "extraction",
    ("rat", "score", "signal"): "rating",
    ("slot",): "slots",
}


def answer_for(asked: Asked, latencies: Latencies | None = None) -> Answer:
    """A sensible answer to a request."""
    known = latencies or Latencies()
    task = task_of(asked)
    if task == "question":
        pace = Pace(whole_s=known.first_token_s, first_token_s=known.first_token_s, token_s=known.token_s)
        return Answer(question_for(asked), pace=pace)
    whole = {"extraction": known.extraction_s, "rating": known.rating_s, "slots": known.slots_s}.get(task, 0.0)
    return Answer(data=structured(asked), pace=Pace(whole_s=whole))


def question_for(asked: Asked) -> str:
    """A question that does not occur in the request, and so was not asked lately."""
    start = zlib.crc32(asked.said[-1][1].encode()) if asked.said else 0
    turned = (QUESTIONS[(start + step) % len(QUESTIONS)] for step in range(len(QUESTIONS)))
    return next((question for question in turned if question not in asked.text), QUESTIONS[0])


def structured(asked: Asked) -> dict[str, Any]:
    """An object of the schema that was sent."""
    schema = asked.schema or {"type": "object"}
    filled = _Filling(asked, schema).value(schema, "", 0)
    return filled if isinstance(filled, dict) else {}


def respondent_words(asked: Asked) -> str:
    """The latest answer in the request, out of its block; else the last line that was said."""
    blocks = _BLOCK.findall(asked.text)
    if blocks:
        return str(blocks[-1][1])
    return asked.said[-1][1] if asked.said else ""


def stretches(text: str) -> list[str]:
    """Up to three short, distinct, verbatim stretches of a text, rich in content."""
    found: dict[str, str] = {}
    for sentence in re.split(r"[.!?;:,\n]+|\b(?:because|so that|and|which)\b", text):
        words = list(re.finditer(r"[\w'’-]+", sentence))
        while words and words[0][0].lower() in _SMALL:
            words.pop(0)
        words = words[:STRETCH]
        while words and words[-1][0].lower() in _SMALL:
            words.pop()
        if words:
            stretch = sentence[words[0].start() : words[-1].end()]
            found.setdefault(stretch.lower(), stretch)
    return list(found.values())[:MOST]


class _Filling:
    """Fills one schema."""

    def __init__(self, asked: Asked, root: dict[str, Any]) -> None:
        self._root = root
        self._words_said = respondent_words(asked)
        self._stretches = stretches(self._words_said) or ["it"]
        self._labels = [json.loads(label) for label in _NUMBERED.findall(asked.said[-1][1])]
        """Labels that the request lists by number, from 1."""

    def value(self, schema: dict[str, Any], name: str, number: int) -> Any:
        """A value for the field `name`, in the element `number` of the array around it."""
        schema = self._resolved(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._choice(schema["enum"], name, number)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if kind == "object" or "properties" in schema:
            return {key: self.value(part, key, number) for key, part in schema.get("properties", {}).items()}
        if kind == "array":
            return [
                self.value(schema.get("items", {}), name, element) for element in self._elements(schema, name, number)
            ]
        if kind in ("integer", "number"):
            return number + 1 if kind == "integer" else min(0.7, float(schema.get("maximum", 1.0)))
        return True if kind == "boolean" else None if kind == "null" else self._words(name, number)

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            found: Any = self._root
            for part in schema["$ref"].lstrip("#/").split("/"):
                found = found[part]
            schema = found
        options = schema.get("anyOf") or schema.get("oneOf")
        if not options:
            return schema
        resolved = [self._resolved(option) for option in options]
        return next((option for option in resolved if option.get("type") != "null"), resolved[0])

    def _elements(self, items: dict[str, Any], name: str, number: int) -> range:
        """One element per numbered label, else per stretch; relations join neighbours; lists of numbers have one.

        No acts are listed: those whom the double listens to do nothing but tell.
        """
        if name == "acts":
            return range(0)
        if self._resolved(items).get("type") == "integer":
            return range(number, number + 1)
        return range(len(self._labels) or max(0, len(self._stretches) - ("relation" in name)))

    def _choice(self, options: list[Any], name: str, number: int) -> Any:
        """Types go up with the number of the element; scores vary around the middle; the rest is in the middle."""
        real = [option for option in options if option is not None] or options
        if name.endswith("type"):
            return real[number % len(real)]
        middle = (len(real) - 1) // 2
        if name == "score" and len(real) >= 3:
            return real[middle - 1 + zlib.crc32(f"{self._words_said}{number}".encode()) % 3]
        return real[middle]

    def _words(self, name: str, number: int) -> str:
        if name in ("contradiction", "turning_point"):
            return ""
        if name == "slot_name" and self._labels:
            return "_".join(re.findall(r"\w+", self._labels[number].lower())[:STRETCH])
        return self._stretches[(number + (name == "target")) % len(self._stretches)]
