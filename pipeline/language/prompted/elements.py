"""Elements of a stimulus by a language model.

{"elements": [{"id": "cool_box", "label": "cool box", "aliases": ["insulated box"], "quote": "…",
"connection_requirements": [{"target_element_id": "freshness"}]}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.concept import Element
from pipeline.elements import ids_of, key_of
from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest, OutputForm
from pipeline.language.prompted.delimiting import block, clean
from pipeline.language.prompted.grounding import AnswerText
from pipeline.language.prompted.languages import language_name
from pipeline.language.prompted.prompts import Prompts
from pipeline.language.prompted.structured import OutputProblem, ask
from pipeline.ports import MOST_ELEMENTS, ParsedStimulus, StimulusRequest
from pipeline.question.text import word_count

NAME = "elements"
LABEL_WORDS = 6
MAX_LABEL_CHARS = 60
MAX_ALIASES = 8
MAX_REQUIREMENTS = 4
MOST_READ = 60
"""Entries of a list that are read at most."""


class PromptedConceptParser:
    """ConceptParser of the ports. Safe to share between sessions."""

    def __init__(self, client: ChatClient, prompts: Prompts) -> None:
        self._client = client
        self._prompts = prompts
        self._form = elements_form()

    async def parse_stimulus(self, request: StimulusRequest) -> ParsedStimulus:
        """What the model found and the text bears out; the rest is left out.

        Raises:
            ProviderOutputInvalid: the model refused, or its answer breaks the form also after one repair.
            ProviderError: as the client raises it.
        """
        if not request.text.strip():
            return ParsedStimulus(provider=self._client.spec.provider)
        rendered = self._prompts.render(NAME, {**system_values(), **user_values(request)})
        chat = ChatRequest(
            task=NAME,
            system=rendered.system,
            messages=(ChatMessage(speaker="user", content=rendered.user),),
            form=self._form,
        )
        found = await ask(
            self._client, chat, lambda data: checked_elements(data, request.text), self._prompts, seed=request.seed
        )
        return ParsedStimulus(elements=found, provider=self._client.spec.provider)


def system_values() -> dict[str, Any]:
    """What the prompt says about every stimulus."""
    return {"most": MOST_ELEMENTS, "label_words": LABEL_WORDS}


def user_values(request: StimulusRequest) -> dict[str, Any]:
    """What the prompt says about this one."""
    return {
        "topic": request.topic,
        "language": language_name(request.language),
        "stimulus": block("stimulus", request.text, request.seed),
    }


def elements_form() -> OutputForm:
    """The form of the elements."""
    requirement = _object({"target_element_id": _text("The id of the other element.")})
    element = _object(
        {
            "id": _text("snake_case, different for each element."),
            "label": _text(f"At most {LABEL_WORDS} words, as people would call it."),
            "aliases": {"type": "array", "items": {"type": "string"}, "description": "Other words for it."},
            "quote": _text("The words of the text that it stands for, verbatim."),
            "connection_requirements": {
                "type": "array",
                "items": requirement,
                "description": "Other elements that the text says this one depends on.",
            },
        }
    )
    schema = _object({"elements": {"type": "array", "items": element}})
    return OutputForm(name="list_elements", description="List the elements of the concept.", json_schema=schema)


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


@dataclass
class _Kept:
    given: str
    label: str
    aliases: list[str]
    wanted: list[str] = field(default_factory=list)


def checked_elements(data: Mapping[str, Any], text: str) -> tuple[Element, ...]:
    """The elements that can be used, in the model's order, the first `MOST_ELEMENTS`.

    An element without a label, whose quote is not in the text, or whose name is another one's, is left out, and so are
    aliases of that kind and requirements that name no other element.

    Raises:
        OutputProblem: there is no list, or nothing of it can be used.
    """
    items = data.get("elements")
    if not isinstance(items, list):
        raise OutputProblem("elements: should be a list")
    source = AnswerText(text)
    kept: list[_Kept] = []
    names: set[tuple[str, ...]] = set()
    for item in items[:MOST_READ]:
        if len(kept) == MOST_ELEMENTS or not isinstance(item, dict):
            continue
        label, quote = _line(item.get("label")), item.get("quote")
        key = key_of(label)
        grounded = isinstance(quote, str) and source.find(quote) is not None
        if not key or key in names or not grounded or word_count(label) > LABEL_WORDS:
            continue
        names.add(key)
        kept.append(_Kept(_line(item.get("id")), label, _lines(item.get("aliases")), _targets(item)))
    if not kept:
        raise OutputProblem("elements: none can be used; each needs a short label, and a quote verbatim from the text")
    ids = ids_of([one.label for one in kept])
    known = {one.given: name for one, name in zip(kept, ids, strict=True) if one.given}
    found = []
    for one, name in zip(kept, ids, strict=True):
        wanted = dict.fromkeys(known[target] for target in one.wanted if target in known)
        required = tuple(target for target in wanted if target != name)[:MAX_REQUIREMENTS]
        aliases = []
        for alias in one.aliases:
            key = key_of(alias)
            if key and key not in names:
                names.add(key)
                aliases.append(alias)
        found.append(
            Element(id=name, label=one.label, aliases=tuple(aliases[:MAX_ALIASES]), connection_requirements=required)
        )
    return tuple(found)


def _line(value: Any) -> str:
    """Text on one line; empty for what is none, or too long for a name."""
    text = " ".join(clean(value).split()) if isinstance(value, str) else ""
    return text if len(text) <= MAX_LABEL_CHARS else ""


def _lines(values: Any) -> list[str]:
    return [line for value in values[:MOST_READ] if (line := _line(value))] if isinstance(values, list) else []


def _targets(item: Mapping[str, Any]) -> list[str]:
    wanted = item.get("connection_requirements")
    listed = wanted[:MOST_READ] if isinstance(wanted, list) else []
    named = [one.get("target_element_id") if isinstance(one, dict) else one for one in listed]
    return [line for value in named if (line := _line(value))]
