"""All signals by name: what a methodology may weigh, and how they are detected together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import TopologicalSorter
from math import isfinite
from typing import Literal, get_args

from pipeline.graph.surface import SurfaceGraph
from pipeline.methodology import Form, GridStepName, Methodology, Phase
from pipeline.signals import graph, grid, guide, llm, meta, nodes, temporal, threads
from pipeline.signals.base import NodeColumns, Signal, SignalContext, SignalMatrix

SIGNALS: dict[str, Signal] = {
    signal.name: signal for pool in (graph, nodes, threads, llm, temporal, meta, guide, grid) for signal in pool.SIGNALS
}
ORDER: tuple[str, ...] = tuple(
    TopologicalSorter({name: signal.depends_on for name, signal in SIGNALS.items()}).static_order()
)

LOW, HIGH = 0.25, 0.75
NUMBER_SUFFIXES = ("low", "mid", "high")
BOOL_SUFFIXES = ("true", "false")
PHASES: tuple[Phase, ...] = ("early", "mid", "late")
GRID_STEPS: tuple[GridStepName, ...] = get_args(GridStepName)
Matcher = Literal["value", "true", "false", "low", "mid", "high", "equals"]


@dataclass(frozen=True)
class WeightKey:
    """A parsed weight key: the signal, and which of its values counts.

    `matcher` "value" multiplies a number (1 or 0 for a bool); the others count 1 when the value matches.
    """

    key: str
    signal: Signal
    matcher: Matcher
    wanted: str = ""


@dataclass(frozen=True)
class Problem:
    """A mistake in a methodology: its place (keys and list positions), and the reason."""

    path: tuple[str | int, ...]
    reason: str


def suffixes(signal: Signal) -> tuple[str, ...]:
    """Value suffixes that can match the signal."""
    if signal.type == "category":
        return signal.values
    return BOOL_SUFFIXES if signal.type == "bool" else NUMBER_SUFFIXES if signal.type == "number" else ()


def weight_key(key: str) -> WeightKey:
    """The signal and value that a weight key names. An exact signal name takes precedence.

    Raises:
        ValueError: no such signal, or a suffix that can never match.
    """
    exact = SIGNALS.get(key)
    if exact is not None:
        if exact.type == "category":
            raise ValueError(f"{key} is a category and needs one of its values: {', '.join(exact.values)}")
        if exact.type == "count" and not hasattr(exact, "normalise"):
            raise ValueError(f"{key} is a count without a normaliser and may carry no weight")
        return WeightKey(key, exact, "value")
    name, _, suffix = key.rpartition(".")
    signal = SIGNALS.get(name)
    if signal is None:
        near = get_close_matches(key, SIGNALS, 1) or get_close_matches(name, SIGNALS, 1)
        raise ValueError(f"unknown signal {key}" + (f"; did you mean {near[0]}?" if near else ""))
    if suffix not in suffixes(signal):
        allowed = ", ".join(suffixes(signal)) or "none"
        raise ValueError(f"{name} can never be {suffix!r}; possible: {allowed}")
    if signal.type == "category":
        return WeightKey(key, signal, "equals", suffix)
    matchers: dict[str, Matcher] = {"true": "true", "false": "false", "low": "low", "mid": "mid", "high": "high"}
    return WeightKey(key, signal, matchers[suffix], suffix)


def check(methodology: Methodology) -> list[Problem]:
    """Mistakes across the fields of a methodology: unknown names, duplicates, keys that could never take effect."""
    problems: list[Problem] = []
    for pool, names in methodology.signals.items():
        for position, name in enumerate(names):
            if name not in SIGNALS:
                near = get_close_matches(name, SIGNALS, 1)
                hint = f"; did you mean {near[0]}?" if near else ""
                problems.append(Problem(("signals", pool, position), f"unknown signal {name}{hint}"))
    detected = set(methodology.signal_names)
    seen: set[str] = set()
    for position, strategy in enumerate(methodology.strategies):
        at = ("strategies", position)
        if strategy.name in seen:
            problems.append(Problem((*at, "name"), f"the strategy {strategy.name} is defined twice"))
        seen.add(strategy.name)
        for key, weight in strategy.signal_weights.items():
            where = (*at, "signal_weights", key)
            if not isfinite(weight):
                problems.append(Problem(where, f"{weight} is no weight"))
            try:
                parsed = weight_key(key)
            except ValueError as error:
                problems.append(Problem(where, str(error)))
                continue
            if parsed.signal.name not in detected:
                problems.append(Problem(where, f"{parsed.signal.name} is weighed but not listed under signals"))
            if parsed.signal.scope == "node" and strategy.node_binding == "none":
                problems.append(Problem(where, f"{strategy.name} has node_binding: none and can't weigh a node signal"))
        bonuses = (methodology.phases.profile(p).phase_bonuses.get(strategy.name, 0.0) for p in PHASES)
        speak_for = any(weight > 0 for weight in (*strategy.signal_weights.values(), *bonuses))
        if not speak_for and not strategy.generates_closing_question:
            reason = f"nothing can lead to {strategy.name}: no weight and no bonus of a phase speaks for it"
            problems.append(Problem((*at, "signal_weights"), reason))
    for phase in PHASES:
        profile = methodology.phases.profile(phase)
        for field, weights in (("signal_weights", profile.signal_weights), ("phase_bonuses", profile.phase_bonuses)):
            problems.extend(
                Problem(("phases", phase, field, name), f"unknown strategy {name}")
                for name in weights
                if name not in seen
            )
    problems.extend(_ontology_problems(methodology))
    problems.extend(_question_problems(methodology))
    problems.extend(_grid_problems(methodology))
    if sum(strategy.generates_closing_question for strategy in methodology.strategies) > 1:
        problems.append(Problem(("strategies",), "more than one strategy generates the closing question"))
    return problems


def _ontology_problems(methodology: Methodology) -> list[Problem]:
    problems: list[Problem] = []
    names: set[str] = set()
    for position, node in enumerate(methodology.ontology.nodes):
        if node.name in names:
            problems.append(Problem(("ontology", "nodes", position, "name"), f"the type {node.name} is defined twice"))
        names.add(node.name)
    relations: set[str] = set()
    for position, edge in enumerate(methodology.ontology.edges):
        if edge.name in relations:
            problems.append(Problem(("ontology", "edges", position, "name"), f"{edge.name} is defined twice"))
        relations.add(edge.name)
        for number, pair in enumerate(edge.permitted_connections):
            problems.extend(
                Problem(("ontology", "edges", position, "permitted_connections", number), f"unknown node type {kind}")
                for kind in pair
                if kind != "*" and kind not in names
            )
    for position, example in enumerate(methodology.ontology.relationship_examples):
        if example.type not in relations:
            at = ("ontology", "relationship_examples", position, "type")
            problems.append(Problem(at, f"unknown relation {example.type}"))
    support = methodology.canonical_min_support_nodes
    for name, count in (support if isinstance(support, dict) else {"": support}).items():
        where = ("canonical_min_support_nodes", *((name,) if name else ()))
        if name and name not in names:
            problems.append(Problem(where, f"unknown node type {name}"))
        if count is not None and count < 1:
            problems.append(Problem(where, "a slot needs one node at the least"))
    return problems


def _question_problems(methodology: Methodology) -> list[Problem]:
    """Mistakes in what strategies, their questions and the guide refer to."""
    types = {node.name for node in methodology.ontology.nodes}
    strategies = {strategy.name for strategy in methodology.strategies}
    problems: list[Problem] = []

    def known(names: Iterable[str], among: set[str], what: str, *path: str | int) -> None:
        problems.extend(
            Problem((*path, number), f"unknown {what} {name}") for number, name in enumerate(names) if name not in among
        )

    def forms(of: Mapping[str, Sequence[Form]], *path: str | int) -> None:
        for language, listed in of.items():
            for number, form in enumerate(listed):
                known(form.types, types, "node type", *path, language, number, "types")

    for position, strategy in enumerate(methodology.strategies):
        known(strategy.focus_types, types, "node type", "strategies", position, "focus_types")
        forms(strategy.templates, "strategies", position, "templates")
        if strategy.focus_mode == "guide" and strategy.node_binding != "none":
            reason = f"{strategy.name} asks for topics of the guide and needs node_binding: none"
            problems.append(Problem(("strategies", position, "focus_mode"), reason))
    asking = [strategy for strategy in methodology.strategies if strategy.focus_mode == "guide"]
    if len(asking) > 1:
        problems.append(Problem(("strategies",), "more than one strategy asks for topics of the guide"))
    seen: set[str] = set()
    for position, topic in enumerate(methodology.guide):
        at = ("guide", position)
        if topic.id in seen:
            problems.append(Problem((*at, "id"), f"the topic {topic.id} is defined twice"))
        seen.add(topic.id)
        known(topic.types, types, "node type", *at, "types")
        known(topic.reaches, types, "node type", *at, "reaches")
        known(topic.asked_by, strategies, "strategy", *at, "asked_by")
        forms(topic.questions, *at, "questions")
        if not topic.types and not topic.words and not topic.questions:
            problems.append(Problem(at, f"nothing can cover {topic.id}: it has no types, words or questions"))
        if not topic.asked_by and not (asking and topic.questions):
            problems.append(Problem(at, f"nothing asks for {topic.id}: it needs asked_by, or questions and a strategy"))
    return problems


def _grid_problems(methodology: Methodology) -> list[Problem]:
    """Mistakes in what makes a methodology a repertory grid."""
    grid, types = methodology.grid, {node.name for node in methodology.ontology.nodes}
    relations = {edge.name for edge in methodology.ontology.edges}
    problems: list[Problem] = []
    steps: dict[str, str] = {}
    for position, strategy in enumerate(methodology.strategies):
        at = ("strategies", position)
        if (strategy.focus_mode == "grid") != (strategy.grid_step is not None):
            problems.append(Problem((*at, "grid_step"), f"{strategy.name}: focus_mode: grid and grid_step go together"))
            continue
        if strategy.grid_step is None:
            continue
        if grid is None:
            problems.append(Problem((*at, "grid_step"), f"{strategy.name} serves a grid, and there is no `grid`"))
        if strategy.node_binding != "none":
            problems.append(
                Problem((*at, "node_binding"), f"{strategy.name} serves a grid and needs node_binding: none")
            )
        if strategy.grid_step != "element" and not strategy.templates:
            problems.append(
                Problem((*at, "templates"), f"{strategy.name} is asked in the words of its templates: none")
            )
        if strategy.grid_step in steps:
            reason = f"{strategy.name} and {steps[strategy.grid_step]} serve the same step, {strategy.grid_step}"
            problems.append(Problem((*at, "grid_step"), reason))
        steps[strategy.grid_step] = strategy.name
    if grid is None:
        return problems
    for field in ("element_type", "pole_type"):
        if getattr(grid, field) not in types:
            problems.append(Problem(("grid", field), f"unknown node type {getattr(grid, field)}"))
    for field in ("opposite", "applies"):
        if getattr(grid, field) not in relations:
            problems.append(Problem(("grid", field), f"unknown relation {getattr(grid, field)}"))
    problems.extend(
        Problem(("grid",), f"no strategy serves the step {step}") for step in GRID_STEPS if step not in steps
    )
    if len({role.id for role in grid.roles}) < len(grid.roles):
        problems.append(Problem(("grid", "roles"), "two prompts have the same id"))
    return problems


def detect(context: SignalContext, names: tuple[str, ...]) -> SignalMatrix:
    """The named signals (and the phase, always), in the order of their dependencies."""
    wanted = {*names, "meta.interview.phase"}
    for name in reversed(ORDER):
        if name in wanted:
            wanted.update(SIGNALS[name].depends_on)
    values, per_strategy, columns = {}, {}, {}
    for name in ORDER:
        if name not in wanted:
            continue
        signal = SIGNALS[name]
        found = signal.detect(context)
        if found is None:
            continue
        context.found[name] = found
        if signal.scope == "global":
            values[name] = found
        elif signal.scope == "strategy":
            per_strategy[name] = found
        else:
            columns[name] = tuple(found)
    return SignalMatrix.model_construct(
        values=values,
        strategies=per_strategy,
        nodes=_columns(context, columns, context.graph),
        phase=values["meta.interview.phase"],
    )


def _columns(context: SignalContext, columns: dict[str, tuple[object, ...]], graph: SurfaceGraph) -> NodeColumns:
    return NodeColumns.model_construct(
        keys=tuple(state.key for state in context.nodes),
        labels=tuple(state.label for state in context.nodes),
        node_types=tuple(state.node_type for state in context.nodes),
        sequence=tuple(state.sequence for state in context.nodes),
        mention_sequence=tuple(
            max(graph.nodes[member].mention_sequence for member in state.surface_ids) for state in context.nodes
        ),
        members={state.key: state.surface_ids for state in context.nodes if state.surface_ids != (state.key,)},
        signals=columns,
    )
