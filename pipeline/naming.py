"""Names of canonical slots, proposed by a language model after the question was sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, MutableMapping, Sequence

from pipeline.concept import SessionConfiguration
from pipeline.graph.canonical import CanonicalSlot
from pipeline.graph.slotting import SlotAssignment, completed, slot_name, slot_text
from pipeline.graph.surface import SurfaceGraph
from pipeline.ports import Embedder, Parser, SlotProposal, SlotProposer, SlotRequest, Vectors
from pipeline.state import InterviewState


async def names_for(
    state: InterviewState,
    configuration: SessionConfiguration,
    proposer: SlotProposer,
    parser: Parser,
    embedder: Embedder,
    *,
    named: Collection[str],
) -> list[SlotProposal]:
    """Proposals for the oldest nodes of the backlog, at most a batch, each node in one of them.

    The descriptions are embedded here, so that their vectors are cached when a turn applies them.

    Args:
        state: of the session after its last commit.
        configuration: of the session.
        proposer: proposes the names; it may take seconds.
        parser: for lemmas.
        embedder: for vectors; it caches the latest ones.
        named: nodes of the backlog that have a proposal already.
    Returns:
        No proposals when the backlog has no other nodes.
    Raises:
        ProviderError: the nodes stay in the backlog.
    """
    graph, canonical = state.surface_graph(), state.canonical_graph()
    waiting = set(state.slot_backlog)
    batch = [
        graph.nodes[i]
        for i in state.slot_backlog
        if i not in named and i in graph.nodes and graph.nodes[i].superseded_by is None
    ][: configuration.settings.slot_batch]
    if not batch:
        return []
    final = {m.canonical_slot_id for i, m in canonical.mappings.items() if i not in waiting}
    proposals = await proposer.propose(
        SlotRequest(
            nodes=tuple(batch),
            slots=tuple(slot for slot in canonical.slots.values() if slot.id in final),
            methodology=configuration.methodology,
            language=state.language,
        )
    )
    complete = completed(await lemmatised(proposals, parser), batch)
    await embedder.embed([slot_text(proposal.slot_name, proposal.description) for proposal in complete])
    return complete


def fitting_names(
    proposals: Sequence[SlotProposal], graph: SurfaceGraph, waiting: Collection[str]
) -> list[SlotProposal]:
    """The proposals restricted to waiting nodes of their type; a node belongs to the first proposal that has it."""
    left = set(waiting)
    fitting: list[SlotProposal] = []
    for proposal in proposals:
        ids = tuple(i for i in proposal.node_ids if i in left and graph.nodes[i].node_type == proposal.node_type)
        left.difference_update(ids)
        if ids:
            fitting.append(proposal.model_copy(update={"node_ids": ids}))
    return fitting


async def apply_names(
    assignment: SlotAssignment,
    proposals: Sequence[SlotProposal],
    embedder: Embedder,
    vectors: MutableMapping[str, Vectors],
) -> None:
    """Match each proposal to a slot; missing vectors of slots are added to `vectors`."""
    if not proposals:
        return
    wanted, slots = assignment.compared(proposals, vectors)
    await know_slots(slots.values(), assignment, embedder, vectors)
    order = sorted(wanted)
    texts = [slot_text(proposals[at].slot_name, proposals[at].description) for at in order]
    rows = dict(zip(order, await embedder.embed(texts), strict=True)) if texts else {}
    for number, proposal in enumerate(proposals):
        assignment.apply(proposal, rows.get(number), vectors)


async def know_slots(
    slots: Iterable[CanonicalSlot],
    assignment: SlotAssignment,
    embedder: Embedder,
    vectors: MutableMapping[str, Vectors],
) -> None:
    """Add the vectors of those slots that have none in `vectors`."""
    missing = [slot for slot in slots if slot.id not in vectors]
    if missing:
        rows = await embedder.embed([slot_text(slot.slot_name, slot.description) for slot in missing])
        made = {slot.id: rows[i] for i, slot in enumerate(missing)}
        vectors.update(made)
        assignment.vectors_created.update(made)


async def lemmatised(proposals: Sequence[SlotProposal], parser: Parser) -> list[SlotProposal]:
    """The proposals with lemmatised slot names."""
    names = await parser.lemmas([proposal.slot_name.replace("_", " ") for proposal in proposals])
    return [
        proposal.model_copy(update={"slot_name": slot_name(lemmas or (proposal.slot_name,))})
        for proposal, lemmas in zip(proposals, names, strict=True)
    ]
