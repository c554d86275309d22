"""Names for what several wordings have in common, found after the question is out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pipeline.concept import SessionConfiguration
from pipeline.graph.slotting import completed, slot_name, slot_text
from pipeline.ports import Embedder, Parser, SlotProposal, SlotProposer, SlotRequest
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

    The descriptions are embedded here, so that the turn which applies them finds their vectors at hand.

    Args:
        state: of the session after its last commit.
        configuration: of the session.
        proposer: a model that takes its time.
        parser: for lemmas.
        embedder: for vectors; it keeps those it made lately.
        named: nodes of the backlog that have a proposal already.
    Returns:
        No proposals when nothing waits.
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


async def lemmatised(proposals: Sequence[SlotProposal], parser: Parser) -> list[SlotProposal]:
    """Proposals with lemmas for names; a provider of ours gives them that way already."""
    names = await parser.lemmas([proposal.slot_name.replace("_", " ") for proposal in proposals])
    return [
        proposal.model_copy(update={"slot_name": slot_name(lemmas or (proposal.slot_name,))})
        for proposal, lemmas in zip(proposals, names, strict=True)
    ]
