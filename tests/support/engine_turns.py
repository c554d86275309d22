"""Turns as decision engines see them, made of a few concepts, relations and former questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import pytest
import yaml

from config.enginefiles import read_engine
from config.yamlfile import ConfigError, parse
from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.engines.base import Decision, DecisionInputs, ScoredCandidate, as_asked
from pipeline.engines.registry import ENGINES
from pipeline.graph.surface import Basis, KGEdge, KGNode, Mention, SurfaceGraph
from pipeline.repeating import inputs_of
from pipeline.signals.base import NodeColumns, SignalMatrix
from pipeline.state import FocusEntry, InterviewState
from tests.support.interview import Interview, concepts, small_methodology

Change = Callable[[dict[str, Any]], Any]
SAID = "sweet bitter cheap strong warm dark fresh mild rich thin old new hot soft loud".split()


def shipped_text(engine: str) -> str:
    """The engine's file as it comes along."""
    return (files("config") / "engines" / f"{engine}.yaml").read_text(encoding="utf-8")


def shipped(engine: str) -> dict[str, Any]:
    """What a session pins of it."""
    file, _ = read_engine(shipped_text(engine), f"{engine}.yaml", engine)
    return file.model_dump(mode="json", by_alias=True)


def node(
    name: str,
    turn: int = 1,
    *,
    label: str = "",
    mentions: int = 1,
    emotion: int = 0,
    salience: int | None = None,
    kind: str = "attribute",
) -> KGNode:
    """A concept that was spoken of last in this turn."""
    return KGNode(
        id=name,
        label=label or name,
        node_type=kind,
        mentions=(Mention(utterance_id=f"u{turn}", quote=name),),
        confidence=0.7,
        emotion=emotion,
        salience=salience,
        created_turn=1,
        last_mention_turn=turn,
        sequence=turn,
        mention_sequence=turn,
        mention_count=mentions,
    )


def edge(source: str, target: str, basis: Basis = "stated") -> KGEdge:
    """A relation between two concepts."""
    return KGEdge(
        id=f"{source}-{target}",
        source_id=source,
        target_id=target,
        edge_type="leads_to",
        mentions=(),
        confidence=0.7,
        basis=basis,
        created_turn=1,
        sequence=1,
    )


def turn_of(
    engine_file: Mapping[str, Any],
    nodes: Sequence[KGNode] = (),
    strategies: Sequence[str] = (),
    *,
    edges: Sequence[KGEdge] = (),
    values: Mapping[str, Any] | None = None,
    members: Mapping[str, tuple[str, ...]] | None = None,
    **changes: Any,
) -> DecisionInputs:
    """The turn after these questions, with these concepts."""
    columns = NodeColumns(
        keys=tuple(one.id for one in nodes),
        labels=tuple(one.label for one in nodes),
        node_types=tuple(one.node_type for one in nodes),
        sequence=tuple(one.sequence for one in nodes),
        mention_sequence=tuple(one.mention_sequence for one in nodes),
        members=dict(members or {}),
    )
    fields: dict[str, Any] = {
        "methodology": small_methodology(),
        "signals": SignalMatrix(nodes=columns, values=dict(values or {})),
        "graph": SurfaceGraph(nodes, edges),
        "questions": tuple(FocusEntry(turn=at, strategy=name) for at, name in enumerate(strategies, start=1)),
        "turn_count": len(strategies) + 1,
        "subject": "coffee",
        "engine_file": engine_file,
    }
    return DecisionInputs(**{**fields, **changes})


def candidate(decision: Decision, strategy: str, label: str | None = None) -> ScoredCandidate:
    """The best candidate of a strategy, about what is called so."""
    return next(
        one
        for one in decision.candidates
        if one.strategy == strategy and (label is None or (one.target is not None and one.target.label == label))
    )


def mistakes(engine: str, change: Change) -> list[str]:
    """Why the file that comes along is refused once it is changed."""
    data = parse(shipped_text(engine), f"{engine}.yaml").data
    change(data)
    with pytest.raises(ConfigError) as caught:
        read_engine(yaml.safe_dump(data, allow_unicode=True), f"{engine}.yaml", engine)
    return [problem.reason for problem in caught.value.problems]


async def lead(interview: Interview) -> None:
    """Answer with a new concept each time, to the end of the interview."""
    for text in SAID:
        if interview.state.status == "completed":
            return
        await interview.say(text, concepts((text, "attribute")))


def differences(state: InterviewState, record: TurnRecord, configuration: SessionConfiguration) -> list[str]:
    """What of a stored choice does not come out when it is made again from what was stored; nothing where it does.

    Args:
        state: of the session after that turn or any later one.
        record: of the turn, with candidates.
        configuration: that the session is pinned to.
    """
    engine = ENGINES[state.engine]
    again = engine.decide(inputs_of(state, record, configuration, engine.strategies(configuration)))
    overruled = not record.candidates[0].selected
    candidates = as_asked(again.candidates, record.strategy, record.target) if overruled else again.candidates
    found = []
    if candidates != record.candidates:
        found.append("the decomposition can't be recomputed")
    if (again.scores, again.candidate_count) != (record.scores, record.candidate_count):
        found.append("the scores of all candidates can't be recomputed")
    stands = not overruled and not record.question.taken
    if stands and (again.strategy, again.node_key) != (record.strategy, record.node_key):
        found.append(f"{record.strategy} was stored, {again.strategy} comes out")
    if stands and not record.reason.endswith(again.reason):
        found.append(f"it was asked because {record.reason!r}, and {again.reason!r} comes out")
    return found
