"""Decision engine `signal_pools`: weighted signals, strategies and nodes scored together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.concept import SessionConfiguration
from pipeline.engines.base import (
    EXPLAINED,
    EXPLAINED_CANDIDATES,
    PHASE,
    SCORE_DIGITS,
    STORED_DIGITS,
    CandidateScores,
    Decision,
    DecisionInputs,
    Pinned,
    ScoredCandidate,
    Term,
)
from pipeline.focus import Target
from pipeline.methodology import Methodology, PhaseProfile, Strategy
from pipeline.signals.base import SignalMatrix, SignalValue
from pipeline.signals.registry import HIGH, LOW, WeightKey, weight_key
from pipeline.strategies import Strategies

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Weighted:
    """A weight key with its weight."""

    key: WeightKey
    weight: float


@dataclass(frozen=True)
class CompiledStrategy:
    """A strategy with its weights separated into those of global and those of node signals."""

    strategy: Strategy
    position: int
    global_weights: tuple[Weighted, ...]
    node_weights: tuple[Weighted, ...]


def compile_strategies(methodology: Methodology) -> tuple[CompiledStrategy, ...]:
    """The methodology's strategies, in file order. Raises ValueError for a key that `registry.check` refuses."""
    compiled = []
    for position, strategy in enumerate(methodology.strategies):
        weighted = [Weighted(weight_key(key), weight) for key, weight in strategy.signal_weights.items()]
        compiled.append(
            CompiledStrategy(
                strategy,
                position,
                tuple(w for w in weighted if w.key.signal.scope != "node"),
                tuple(w for w in weighted if w.key.signal.scope == "node"),
            )
        )
    return tuple(compiled)


def strength(key: WeightKey, value: SignalValue) -> float:
    """How much of a weight applies for this value: 0 or 1 for matches, the number itself for numbers.

    A number with a suffix matches `.low` up to 0.25, `.high` from 0.75 and `.mid` in between.
    """
    if key.matcher == "equals":
        return float(value == key.wanted)
    if key.matcher in ("true", "false"):
        return float(bool(value) is (key.matcher == "true"))
    number = float(value)
    if key.matcher == "low":
        return float(number <= LOW)
    if key.matcher == "high":
        return float(number >= HIGH)
    if key.matcher == "mid":
        return float(LOW < number < HIGH)
    normalise: Callable[[float], float] | None = getattr(key.signal, "normalise", None)
    return normalise(number) if normalise is not None else number


def weighted_term(weighted: Weighted, value: SignalValue) -> Term:
    """What one weight adds for this value."""
    return Term(
        name=weighted.key.key,
        signal=weighted.key.signal.name,
        value=value,
        weight=weighted.weight,
        amount=weighted.weight * strength(weighted.key, value),
    )


class _Scoring:
    """Scores of one turn's candidates; node columns are turned into arrays once per signal."""

    def __init__(self, matrix: SignalMatrix, profile: PhaseProfile) -> None:
        self.matrix = matrix
        self.profile = profile
        self.count = len(matrix.nodes.keys)
        self._strengths: dict[str, Floats] = {}
        self._global_lines: dict[str, tuple[Term, ...]] = {}

    def global_lines(self, compiled: CompiledStrategy) -> tuple[Term, ...]:
        """Contributions that are the same for every node; missing signals contribute nothing."""
        name = compiled.strategy.name
        if name not in self._global_lines:
            self._global_lines[name] = tuple(self._lines(compiled))
        return self._global_lines[name]

    def _lines(self, compiled: CompiledStrategy) -> Iterator[Term]:
        for weighted in compiled.global_weights:
            name = weighted.key.signal.name
            value = self.matrix.values.get(name)
            if value is None:
                value = self.matrix.strategies.get(name, {}).get(compiled.strategy.name)
            if value is not None:
                yield weighted_term(weighted, value)

    def node_scores(self, compiled: CompiledStrategy) -> Floats:
        """Sum of node contributions for every candidate node, shape [nodes]."""
        total = np.zeros(self.count)
        for weighted in compiled.node_weights:
            if weighted.key.signal.name in self.matrix.nodes.signals:
                total += weighted.weight * self._strength(weighted.key)
        return total

    def node_lines(self, compiled: CompiledStrategy, index: int) -> list[Term]:
        """The node contributions of one candidate."""
        signals = self.matrix.nodes.signals
        return [
            weighted_term(weighted, signals[weighted.key.signal.name][index])
            for weighted in compiled.node_weights
            if weighted.key.signal.name in signals
        ]

    def bindable(self, strategy: Strategy) -> NDArray[np.int64]:
        """Positions of the nodes of the types that a strategy may be about."""
        types = self.matrix.nodes.node_types
        return np.array([i for i, name in enumerate(types) if name in strategy.focus_types], dtype=np.int64)

    def final(self, strategy: str, base: Floats) -> Floats:
        """`base × phase multiplier + phase bonus`."""
        return base * self.multiplier(strategy) + self.bonus(strategy)

    def multiplier(self, strategy: str) -> float:
        return self.profile.signal_weights.get(strategy, 1.0)

    def bonus(self, strategy: str) -> float:
        return self.profile.phase_bonuses.get(strategy, 0.0)

    def _strength(self, key: WeightKey) -> Floats:
        found = self._strengths.get(key.key)
        if found is None:
            column = self.matrix.nodes.signals[key.signal.name]
            of_value = {value: strength(key, value) for value in set(column)}
            found = np.fromiter((of_value[value] for value in column), float, self.count)
            self._strengths[key.key] = found
        return found


@dataclass(frozen=True)
class _Pair:
    compiled: CompiledStrategy
    node: int | None
    final: float


@dataclass(frozen=True)
class _Ranking:
    """The best pairs, best first; the scores of all, and how many there are."""

    best: list[_Pair]
    count: int
    scores: CandidateScores


class SignalPools:
    """Scores every (strategy, node) pair together, or the strategies first and then the nodes of the best one."""

    name: ClassVar[str] = "signal_pools"
    closes_on_saturation: ClassVar[bool] = True

    def __init__(self) -> None:
        self._compiled = lru_cache(maxsize=64)(_compiled_of)

    def strategies(self, configuration: SessionConfiguration) -> Strategies:
        """Those of the methodology."""
        return Strategies(configuration.methodology.strategies)

    def decide(self, inputs: DecisionInputs) -> Decision:
        """The candidate with the highest score.

        Equal scores: the strategy that comes first in the file, then the node mentioned last, then the older node.
        """
        matrix = inputs.signals
        profile = inputs.methodology.phases.profile(matrix.phase)  # type: ignore[arg-type]
        scoring = _Scoring(matrix, profile)
        compiled = _allowed(self._compiled(Pinned(inputs.methodology)), inputs)
        wanted = inputs.target.node_key if inputs.target is not None else None
        if inputs.methodology.selection == "two_stage":
            ranking = self._two_stage(scoring, compiled, wanted)
        else:
            ranking = self._joint(scoring, compiled, wanted)
        candidates = tuple(
            self._explained(scoring, pair, rank, inputs) for rank, pair in enumerate(ranking.best, start=1)
        )
        best = ranking.best[0]
        return Decision(
            engine=self.name,
            strategy=best.compiled.strategy.name,
            target=candidates[0].target,
            close=best.compiled.strategy.generates_closing_question,
            phase=matrix.phase,
            reason=explanation(candidates[0]),
            candidates=candidates,
            candidate_count=ranking.count,
            scores=ranking.scores,
        )

    def _joint(self, scoring: _Scoring, compiled: Sequence[CompiledStrategy], only: str | None) -> _Ranking:
        keys = scoring.matrix.nodes.keys
        strategy_of: list[NDArray[np.int64]] = []
        node_of: list[NDArray[np.int64]] = []
        finals: list[Floats] = []
        of_nodes: dict[str, tuple[float | None, ...]] = {}
        of_others: list[tuple[str, tuple[str, ...], float | None]] = []
        for number, entry in enumerate(compiled):
            shared = sum(term.amount for term in scoring.global_lines(entry))
            if entry.strategy.node_binding == "none" or not keys:
                base, nodes = np.array([shared]), np.array([-1])
            else:
                base, nodes = shared + scoring.node_scores(entry), np.arange(len(keys))
                if only is not None and only in keys:
                    nodes = np.array([keys.index(only)])
                elif entry.strategy.focus_types:
                    nodes = scoring.bindable(entry.strategy)
                base = base[nodes]
            strategy_of.append(np.full(len(nodes), number))
            node_of.append(nodes)
            final = scoring.final(entry.strategy.name, base)
            finals.append(final)
            listed = tuple(np.round(final, STORED_DIGITS).tolist())
            if len(nodes) == len(keys) and nodes[0] >= 0:
                of_nodes[entry.strategy.name] = listed
            else:
                about = [(keys[node],) if node >= 0 else () for node in nodes]
                of_others += [(entry.strategy.name, ids, score) for ids, score in zip(about, listed, strict=True)]
        strategies, nodes = np.concatenate(strategy_of), np.concatenate(node_of)
        scores = np.concatenate(finals)
        mentions = np.array([*scoring.matrix.nodes.mention_sequence, 0])[nodes]
        creation = np.array([*scoring.matrix.nodes.sequence, 0])[nodes]
        order = np.lexsort((creation, -mentions, strategies, -np.round(scores, SCORE_DIGITS)))
        pairs = [
            _Pair(
                compiled[int(strategies[i])],
                int(nodes[i]) if nodes[i] >= 0 else None,
                float(scores[i]),
            )
            for i in order[:EXPLAINED_CANDIDATES]
        ]
        return _Ranking(pairs, len(order), CandidateScores(of_nodes=of_nodes, of_others=tuple(of_others)))

    def _two_stage(self, scoring: _Scoring, compiled: Sequence[CompiledStrategy], only: str | None) -> _Ranking:
        """Strategies on non-node weights, then nodes for the winner on node weights.

        The terms of a pair are those of both; pairs of the winner come first, then the other strategies without a node.
        """
        pairs: list[_Pair] = []
        for entry in compiled:
            base = sum(term.amount for term in scoring.global_lines(entry))
            pairs.append(_Pair(entry, None, float(scoring.final(entry.strategy.name, np.array([base]))[0])))
        pairs.sort(key=lambda pair: (-round(pair.final, SCORE_DIGITS), pair.compiled.position))
        winner, others = pairs[0], pairs[1:]
        alone = winner.compiled.strategy.node_binding == "none" or not scoring.count
        chosen = _Ranking([winner], 1, CandidateScores()) if alone else self._joint(scoring, [winner.compiled], only)
        listed = tuple(
            (pair.compiled.strategy.name, (), round(pair.final, STORED_DIGITS)) for pair in (pairs if alone else others)
        )
        scores = CandidateScores(of_nodes=chosen.scores.of_nodes, of_others=(*chosen.scores.of_others, *listed))
        return _Ranking([*chosen.best, *others][:EXPLAINED_CANDIDATES], chosen.count + len(others), scores)

    def _explained(self, scoring: _Scoring, pair: _Pair, rank: int, inputs: DecisionInputs) -> ScoredCandidate:
        strategy = pair.compiled.strategy
        name = strategy.name
        terms = [*scoring.global_lines(pair.compiled)]
        if pair.node is not None:
            terms += scoring.node_lines(pair.compiled, pair.node)
        terms += [
            Term(kind="multiplied", name=PHASE, amount=scoring.multiplier(name)),
            Term(kind="bonus", name=PHASE, amount=scoring.bonus(name)),
        ]
        nodes, target = scoring.matrix.nodes, _target_of(strategy, inputs)
        if pair.node is not None:
            target = Target.node(nodes.keys[pair.node], nodes.labels[pair.node])
        return ScoredCandidate(
            strategy=name,
            target=target,
            terms=tuple(terms),
            final_score=pair.final,
            rank=rank,
            selected=rank == 1,
        )


def _allowed(compiled: Sequence[CompiledStrategy], inputs: DecisionInputs) -> list[CompiledStrategy]:
    """The strategies that can be followed now and that a moderator's directive allows.

    One that has nothing to be about is left out, unless there is no other; a strategy or node that does not exist
    restricts nothing.
    """
    compiled = [c for c in compiled if _has_target(c.strategy, inputs)] or list(compiled)
    left = [c for c in compiled if inputs.strategy in (None, c.strategy.name)] or list(compiled)
    if inputs.target is not None and inputs.target.node_key in inputs.signals.nodes.keys:
        left = [c for c in left if c.strategy.node_binding == "required"] or left
    return left


def _target_of(strategy: Strategy, inputs: DecisionInputs) -> Target | None:
    """What a strategy without a node is about: the topic of the guide, or what the grid needs."""
    if strategy.focus_mode == "grid" and inputs.step is not None:
        return inputs.step.target if inputs.step.name == strategy.grid_step else None
    return inputs.topic if strategy.focus_mode == "guide" else None


def _has_target(strategy: Strategy, inputs: DecisionInputs) -> bool:
    if strategy.focus_mode == "guide":
        return inputs.topic is not None
    if strategy.focus_mode == "grid":
        return _target_of(strategy, inputs) is not None
    types = inputs.signals.nodes.node_types
    asked = inputs.target is not None
    if strategy.node_binding == "none" or not strategy.focus_types or not types or asked:
        return True
    return any(name in strategy.focus_types for name in types)


def _compiled_of(key: Pinned[Methodology]) -> tuple[CompiledStrategy, ...]:
    """The compiled strategies of one methodology object."""
    return compile_strategies(key.data)


def explanation(candidate: ScoredCandidate) -> str:
    """The weight keys that contributed most to a candidate, and its phase weights, as one line of text."""
    strongest = sorted(candidate.amounts("weighted"), key=lambda term: -term.amount)[:EXPLAINED]
    reasons = [f"{term.name} {term.amount:+.2f}" for term in strongest if term.amount > 0]
    multiplier, bonus = (term.amount for term in candidate.amounts("multiplied", "bonus"))
    if multiplier != 1.0 or bonus:
        reasons.append(f"phase ×{multiplier:g} {bonus:+.2f}")
    return "; ".join(reasons) or "no signal spoke for another strategy"
