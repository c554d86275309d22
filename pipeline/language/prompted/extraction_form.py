"""The form of an extraction: a JSON schema per methodology, with its own types as the only choices.

    {"extractable": true,
     "concepts": [{"quote": "…", "label": "…", "node_type": "…", "stance": "neutral", "confidence": 0.9}],
     "relationships": [{"source": "…", "target": "…", "edge_type": "…", "basis": "stated", "quote": "…",
                        "confidence": 0.8}]}

The schema uses only what the strict mode of every provider supports: objects without additional properties, everything
required. The quote comes before the values concluded from it, because models write properties in this order.
"""

from __future__ import annotations

from typing import Any

from pipeline.graph.surface import Basis
from pipeline.language.clients.base import OutputForm
from pipeline.methodology import Methodology

BASES: tuple[Basis, ...] = ("stated", "answered", "inferred")
STANCES = {"negative": -1, "neutral": 0, "positive": 1}


def extraction_form(methodology: Methodology) -> OutputForm:
    """The form for a methodology."""
    ontology = methodology.ontology
    concept = _object(
        {
            "quote": _text("The respondent's own words, copied letter by letter from the answer."),
            "label": _text("A short name for the concept in the respondent's words; a known label exactly as it is."),
            "node_type": _choice("Its type.", [node.name for node in ontology.nodes]),
            "stance": _choice("How the respondent feels about it.", list(STANCES)),
            "confidence": {"type": "number", "description": "From 0 to 1: how sure this reading is."},
        }
    )
    relationship = _object(
        {
            "quote": _text("The respondent's own words that join the two, copied letter by letter from the answer."),
            "source": _text("Label of the concept where the relation starts."),
            "target": _text("Label of the concept where it ends."),
            "edge_type": _choice("Its type.", [edge.name for edge in ontology.edges]),
            "basis": _choice("What it rests on.", list(BASES)),
            "confidence": {"type": "number", "description": "From 0 to 1: how sure this reading is."},
        }
    )
    schema = _object(
        {
            "extractable": {"type": "boolean", "description": "Whether the answer says anything about the topic."},
            "concepts": {"type": "array", "items": concept, "description": "Empty when there are none."},
            "relationships": {"type": "array", "items": relationship, "description": "Empty when there are none."},
        }
    )
    return OutputForm(
        name="record_extraction",
        description="Record the concepts and relations found in the respondent's answer.",
        json_schema=schema,
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _choice(description: str, values: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": values, "description": description}
