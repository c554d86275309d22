"""What an answer to a step of a grid adds to the graph."""

from __future__ import annotations

from pipeline.graph.surface import Basis
from pipeline.grid.model import GridProgress, GridStep
from pipeline.grid.reading import mention_of, names_in
from pipeline.grid.steps import heard
from pipeline.methodology import Grid
from pipeline.ports import ExtractedConcept, ExtractedRelationship, Extraction

PROVIDER = "grid"
SALIENT = 2
MENTIONED = 1


def extracted(step: GridStep, progress: GridProgress, content: str, language: str, grid: Grid) -> Extraction:
    """Elements, poles and their relations, as the grid reads them; quotes are parts of the answer."""
    if step.name == "rate":
        return Extraction(extractable=False, provider=PROVIDER)
    if step.name == "element":
        names = names_in(content, language)
        concepts = [_concept(grid.element_type, name, content, SALIENT) for name in names]
        return Extraction(concepts=tuple(c for c in concepts if c), extractable=bool(names), provider=PROVIDER)
    told = heard(progress, step, content, language)
    named = [_concept(grid.pole_type, pole, content, SALIENT) for pole in (told.emergent, told.contrast) if pole]
    emergent = told.emergent
    if step.name == "opposite":
        known = progress.known_construct(step.target.ids[0])
        emergent = known.emergent if known is not None else None
    relations = []
    if emergent and told.contrast and emergent != told.contrast:
        basis: Basis = "answered" if step.name == "opposite" else "stated"
        relations.append(
            ExtractedRelationship(
                source=emergent, target=told.contrast, edge_type=grid.opposite, quote=told.contrast, basis=basis
            )
        )
    elements = []
    of = [(told.emergent, name) for name in told.alike] + ([(told.contrast, told.apart)] if told.apart else [])
    for pole, name in of:
        element = progress.known_element(name)
        quote = mention_of(content, (element.label, *element.aliases)) if element is not None else None
        if element is None or quote is None or pole is None:
            continue
        elements.append(
            ExtractedConcept(label=element.label, node_type=grid.element_type, quote=quote, salience=MENTIONED)
        )
        relations.append(ExtractedRelationship(source=pole, target=element.label, edge_type=grid.applies, quote=quote))
    found = (*elements, *(pole for pole in named if pole is not None))
    return Extraction(concepts=found, relationships=tuple(relations), extractable=bool(found), provider=PROVIDER)


def _concept(node_type: str, label: str, content: str, salience: int) -> ExtractedConcept | None:
    quote = mention_of(content, (label,))
    if quote is None:
        return None
    return ExtractedConcept(label=label, node_type=node_type, quote=quote, confidence=0.9, salience=salience)
