"""Proposes canonical slots by a language model.

{"proposals": [{"slot_name": "time_saving", "description": "…", "nodes": [1, 3]}]}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from pipeline.graph.canonical import CanonicalSlot
from pipeline.graph.slotting import slot_name
from pipeline.graph.surface import KGNode
from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest, OutputForm
from pipeline.language.prompted.delimiting import clean, quoted
from pipeline.language.prompted.languages import language_name
from pipeline.language.prompted.memo import PerObject
from pipeline.language.prompted.prompts import Prompts
from pipeline.language.prompted.structured import OutputProblem, ask
from pipeline.language.prompted.terms import method_values, type_values
from pipeline.methodology import Methodology
from pipeline.ports import SlotProposal, SlotRequest

NAME = "slots"
MAX_SLOTS = 60
"""Known slots offered for reuse, the best supported first."""
MAX_NAME_CHARS = 60
MAX_DESCRIPTION_CHARS = 200


class PromptedSlotProposer:
    """SlotProposer of the ports; too slow to be used within a turn. Safe to share between sessions."""

    def __init__(self, client: ChatClient, prompts: Prompts) -> None:
        self._client = client
        self._prompts = prompts
        self._systems: PerObject[str] = PerObject()
        self._form = slots_form()

    @property
    def inline(self) -> bool:
        """Whether proposing is fast enough for a turn: a call of a language model is not."""
        return False

    async def propose(self, request: SlotRequest) -> list[SlotProposal]:
        """Proposals for the nodes that the model placed; a node it forgot has none.

        Raises:
            ProviderOutputInvalid: the model refused, or its answer breaks the form also after one repair.
            ProviderError: as the client raises it.
        """
        if not request.nodes:
            return []
        methodology = request.methodology
        system = self._systems.get(methodology, None, lambda: self._prompts.system(NAME, system_values(methodology)))
        chat = ChatRequest(
            task=NAME,
            system=system,
            messages=(ChatMessage(speaker="user", content=self._prompts.user(NAME, user_values(request))),),
            form=self._form,
        )

        def found(data: dict[str, Any]) -> list[SlotProposal]:
            return _proposals(data, request.nodes, _type_names(request.methodology))

        return await ask(self._client, chat, found, self._prompts)


def system_values(methodology: Methodology) -> dict[str, Any]:
    """What the prompt says about a methodology."""
    return {**method_values(methodology), "node_types": type_values(methodology)}


def user_values(request: SlotRequest) -> dict[str, Any]:
    """What the prompt says about the nodes of the request and the known slots."""
    types = {node.node_type for node in request.nodes}
    slots = sorted((slot for slot in request.slots if slot.node_type in types), key=_by_support)[:MAX_SLOTS]
    return {
        "language": language_name(request.language),
        "nodes": [
            {
                "number": number,
                "label": quoted(node.label),
                "type": node.node_type,
                "quote": quoted(node.mentions[-1].quote),
            }
            for number, node in enumerate(request.nodes, 1)
        ],
        "slots": [
            {"name": slot.slot_name, "type": slot.node_type, "description": quoted(slot.description)} for slot in slots
        ],
    }


def slots_form() -> OutputForm:
    """The form of the proposals."""
    proposal = {
        "slot_name": {"type": "string", "description": "snake_case, one to four words in their base form."},
        "description": {"type": "string", "description": "What the slot stands for, in a few words."},
        "nodes": {"type": "array", "items": {"type": "integer"}, "description": "Numbers of the nodes it holds."},
    }
    item = {"type": "object", "properties": proposal, "required": list(proposal), "additionalProperties": False}
    schema = {
        "type": "object",
        "properties": {"proposals": {"type": "array", "items": item}},
        "required": ["proposals"],
        "additionalProperties": False,
    }
    return OutputForm(name="propose_slots", description="Propose a slot for each node.", json_schema=schema)


def _by_support(slot: CanonicalSlot) -> tuple[int, int]:
    return -slot.support_count, -slot.first_seen_turn


def _type_names(methodology: Methodology) -> frozenset[str]:
    """Names of node types, which are no slot names."""
    ontology = methodology.ontology
    return frozenset(_name(name) for name in (*(n.name for n in ontology.nodes), *(e.name for e in ontology.edges)))


def _proposals(data: dict[str, Any], nodes: tuple[KGNode, ...], type_names: Collection[str] = ()) -> list[SlotProposal]:
    """Proposals of one type each; unknown numbers and those used before are left out. Raises OutputProblem.

    A slot named after a type would take in every node of it: such a name is no proposal, the nodes keep their own.
    """
    items = data.get("proposals")
    if not isinstance(items, list):
        raise OutputProblem("proposals: should be a list")
    used: set[int] = set()
    proposals: list[SlotProposal] = []
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("nodes"), list):
            continue
        name = _name(item.get("slot_name"))
        if not name or name in type_names:
            continue
        by_type: dict[str, list[str]] = {}
        for number in _numbers(item["nodes"]):
            if 1 <= number <= len(nodes) and number not in used:
                used.add(number)
                node = nodes[number - 1]
                by_type.setdefault(node.node_type, []).append(node.id)
        proposals += [
            SlotProposal(
                slot_name=name,
                description=_description(item.get("description")),
                node_type=node_type,
                node_ids=tuple(ids),
            )
            for node_type, ids in by_type.items()
        ]
    named = [_name(item.get("slot_name")) for item in items if isinstance(item, dict)]
    if not proposals and not any(name in type_names for name in named):
        raise OutputProblem("proposals: none of the nodes is placed; use their numbers and give each slot a name")
    return proposals


def _numbers(values: Iterable[Any]) -> list[int]:
    numbers = []
    for value in values:
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 9:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            numbers.append(value)
    return numbers


def _name(value: Any) -> str:
    """A slot's name in snake_case; empty where there are no letters."""
    if not isinstance(value, str) or not any(ch.isalnum() for ch in value):
        return ""
    parts = slot_name([clean(value)]).split("_")
    while len(parts) > 1 and len("_".join(parts)) > MAX_NAME_CHARS:
        parts.pop()
    return "_".join(part for part in parts if part)[:MAX_NAME_CHARS].strip("_")


def _description(value: Any) -> str:
    return " ".join(clean(value).split())[:MAX_DESCRIPTION_CHARS].strip() if isinstance(value, str) else ""
