"""Joins what a language model heard with what the rules heard, before anything is decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pipeline.acts import Act, HeardAct
from pipeline.context import TurnContext
from pipeline.contracts import GraphOutput, RatingOutput, SlotsOutput, UtteranceOutput

ADDED: frozenset[Act] = frozenset(
    {"wants_stop", "wants_withdrawal", "wants_pause", "distress", "risk", "minor", "asks_back", "asks_interviewer"}
)
"""Acts that a model may add."""
ASKED_FIRST: frozenset[Act] = frozenset({"wants_stop", "wants_pause", "minor"})
"""Acts that are asked back where only one of the two heard them."""


def join_acts(context: TurnContext) -> None:
    """Add the model's acts to those of the utterance; nodes that stand only on their words count no more.

    A model may add, never remove. Where it alone hears that somebody wants to stop or needs a pause, that is asked
    back; where both hear it, it is sure.
    """
    rating = context.get(RatingOutput).rating
    said = context.get(UtteranceOutput)
    if rating is None or not rating.acts or context.configuration.conduct is None or said.kind != "answer":
        return
    acts = joined(said.utterance.text, said.acts, rating.acts)
    if acts == said.acts:
        return
    utterance = said.utterance.model_copy(update={"acts": acts})
    context.replace(replace(said, utterance=utterance, acts=acts))
    _discard(context, [act for act in acts if act.act != "tells" and act.heard_by == "model"])


def joined(text: str, rules: tuple[HeardAct, ...], model: Iterable[tuple[Act, str]]) -> tuple[HeardAct, ...]:
    """The acts of a message by both."""
    acts = list(rules) or [HeardAct(act="tells", start=0, end=len(text))]
    for act, words in model:
        if act not in ADDED:
            continue
        known = next((at for at, heard in enumerate(acts) if heard.act == act), None)
        if known is not None:
            acts[known] = acts[known].model_copy(update={"sure": True})
            continue
        start = text.find(words)
        if start < 0 or not words.strip():
            continue
        heard = HeardAct(act=act, start=start, end=start + len(words), sure=act not in ASKED_FIRST, heard_by="model")
        acts = _with(text, acts, heard)
    return tuple(acts) if any(heard.act != "tells" for heard in acts) else rules


def _with(text: str, acts: list[HeardAct], heard: HeardAct) -> list[HeardAct]:
    """The acts with one more, cut out of what tells; where its words are another act already, they stay that."""
    if any(one.act != "tells" and one.start < heard.end and heard.start < one.end for one in acts):
        return acts
    cut: list[HeardAct] = []
    for one in acts:
        if one.act != "tells" or one.end <= heard.start or heard.end <= one.start:
            cut.append(one)
            continue
        pieces = ((one.start, heard.start), (heard.end, one.end))
        cut += [
            one.model_copy(update={"start": start, "end": end})
            for start, end in pieces
            if any(char.isalnum() for char in text[start:end])
        ]
    return sorted([*cut, heard], key=lambda one: one.start)


def _discard(context: TurnContext, acts: list[HeardAct]) -> None:
    """Let nodes that were found only in the words of these acts count no more."""
    if not acts:
        return
    said, changed, slots = context.get(UtteranceOutput), context.get(GraphOutput), context.get(SlotsOutput)
    spoken = [said.utterance.text[act.start : act.end] for act in acts]
    gone = {
        node.id
        for node in changed.nodes_added
        if all(any(mention.quote in words for words in spoken) for mention in node.mentions)
    }
    if not gone:
        return
    graph, tracker = changed.graph.copy(), slots.tracker.copy()
    key_of = slots.canonical.key_of if slots.canonical is not None else (lambda node_id: node_id)
    for node_id in gone:
        graph.put_node(graph.nodes[node_id].model_copy(update={"superseded_by": said.utterance.id}))
        tracker.forget(node_id, key_of(node_id))
    left = tuple(node for node in changed.nodes_added if node.id not in gone)
    context.replace(replace(changed, graph=graph, nodes_added=left))
    backlog = tuple(node_id for node_id in slots.backlog if node_id not in gone)
    context.replace(replace(slots, tracker=tracker, backlog=backlog))
