"""Extraction of concepts and relations by a language model, checked against the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.language.clients.base import ChatClient, ChatMessage, ChatRequest, OutputForm
from pipeline.language.prompted.delimiting import block, quoted
from pipeline.language.prompted.extraction_form import extraction_form
from pipeline.language.prompted.findings import MAX_CONCEPTS, CheckedExtraction
from pipeline.language.prompted.languages import language_name
from pipeline.language.prompted.memo import PerObject
from pipeline.language.prompted.prompts import Prompts
from pipeline.language.prompted.structured import OutputProblem, ask
from pipeline.language.prompted.terms import method_values, type_values
from pipeline.methodology import EdgeType, Methodology
from pipeline.ports import Extraction, ExtractionRequest

NAME = "extraction"
MAX_HINTS = 12
"""Discourse relations in a prompt at most."""


class PromptedExtractor:
    """Extractor of the ports. Stateless but for what is made once per methodology; safe to share between sessions."""

    def __init__(self, client: ChatClient, prompts: Prompts) -> None:
        self._client = client
        self._prompts = prompts
        self._prepared: PerObject[tuple[str, OutputForm]] = PerObject()

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Concepts and relations of one answer; what can't be used is in `dropped`, with a reason.

        Raises:
            ProviderOutputInvalid: the model refused, or its output breaks the form also after one repair.
            ProviderError: as the client raises it.
        """
        methodology = request.methodology
        system, form = self._prepared.get(methodology, None, lambda: self._prepare(methodology))
        user = self._prompts.user(NAME, user_values(request))
        chat = ChatRequest(task=NAME, system=system, messages=(ChatMessage(speaker="user", content=user),), form=form)

        def found(data: dict[str, Any]) -> Extraction:
            return _extraction(data, request, self._client.spec.provider)

        return await ask(self._client, chat, found, self._prompts, seed=request.seed)

    def _prepare(self, methodology: Methodology) -> tuple[str, OutputForm]:
        return self._prompts.system(NAME, system_values(methodology)), extraction_form(methodology)


def system_values(methodology: Methodology) -> dict[str, Any]:
    """What the prompt says about a methodology; the keys are variables of `config/prompts/extraction.md`."""
    ontology = methodology.ontology
    return {
        **method_values(methodology),
        "node_types": type_values(methodology),
        "edge_types": [
            {"name": edge.name, "description": edge.description, "connections": _connections(edge)}
            for edge in ontology.edges
        ],
        "levelled": any(node.level for node in ontology.nodes),
        "revises": ontology.edge_type("revises") is not None,
        "guidelines": list(ontology.extraction_guidelines),
        "relationship_examples": [example.model_dump() for example in ontology.relationship_examples],
        "extract": list(ontology.extractability_criteria.extract),
        "skip": list(ontology.extractability_criteria.skip),
        "naming": ontology.concept_naming_convention,
        "max_concepts": MAX_CONCEPTS,
    }


def user_values(request: ExtractionRequest) -> dict[str, Any]:
    """What the prompt says about one answer; respondents' words are JSON strings and a block. Keys as above."""
    parse = request.parse
    return {
        "topic": request.topic,
        "language": language_name(request.language),
        "question": quoted(request.question),
        "focus": quoted(request.focus_label) if request.focus_label else None,
        "focus_type": request.focus_type,
        "existing": [{"label": quoted(label), "type": node_type} for label, node_type in request.existing],
        "discourse": [
            {
                "kind": relation.kind,
                "marker": quoted(relation.marker),
                "antecedent": quoted(relation.antecedent),
                "consequent": quoted(relation.consequent),
            }
            for relation in (parse.discourse[:MAX_HINTS] if parse else ())
        ],
        "purpose": request.purpose or None,
        "answer": block("answer", request.text, request.seed),
    }


def _connections(edge: EdgeType) -> list[str]:
    """Permitted connections, one line per source type."""
    return [
        *_connection_lines(edge.permitted_connections),
        *(f"only if said outright: {line}" for line in _connection_lines(edge.permitted_where_stated)),
    ]


def _connection_lines(pairs: Sequence[tuple[str, str]]) -> list[str]:
    targets: dict[str, list[str]] = {}
    for source, target in pairs:
        targets.setdefault(source, []).append(target)
    any_type = "any type"
    return [
        f"{any_type if source == '*' else source} → {', '.join(any_type if t == '*' else t for t in names)}"
        for source, names in targets.items()
    ]


def _extraction(data: dict[str, Any], request: ExtractionRequest, provider: str) -> Extraction:
    """The extraction in a model's output. Raises OutputProblem."""
    extractable = data.get("extractable", True)
    if isinstance(extractable, str) and extractable.casefold() in ("true", "false"):
        extractable = extractable.casefold() == "true"
    if not isinstance(extractable, bool):
        extractable = True  # What can't be read costs no content.
    missing = [key for key in ("concepts", "relationships") if not isinstance(data.get(key), list)]
    if missing and extractable:
        raise OutputProblem(*(f"{key}: should be a list" for key in missing))
    findings = CheckedExtraction(request)
    concepts, relationships = (data[key] if key not in missing else [] for key in ("concepts", "relationships"))
    if not extractable:
        findings.drop_all(concepts, relationships, "not_extractable")
        return Extraction(extractable=False, dropped=tuple(findings.dropped), provider=provider)
    findings.add_concepts(concepts)
    findings.add_relationships(relationships)
    return Extraction(
        concepts=findings.concepts,
        relationships=tuple(findings.relationships),
        dropped=tuple(findings.dropped),
        provider=provider,
    )
