"""What strategies and scorers look at: views of the graph, of coverage and of the respondent, made anew each turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.concept import names_of
from pipeline.coverage import share
from pipeline.elements import Names, key_of, named
from pipeline.engines.arbitration.file import ArbitratedStrategy, ArbitrationFile, Tactic
from pipeline.engines.arbitration.leading import SMALL, Followed, leads_in
from pipeline.engines.shared.moment import TurnView
from pipeline.focus import Target
from pipeline.graph.surface import SchemaTension, SurfaceGraph
from pipeline.leads import STORY, LeadKind, is_finished, leads_of, tells_past
from pipeline.question.text import words
from pipeline.subjects import NodeFacts, about, answer_of, language_of

TOLD_TWICE = 2
"""Answers that said something of a side of the idea, from which on it counts as spoken of."""


def traced(graph: SurfaceGraph, latest: str) -> tuple[str, ...]:
    """The branch that leads to a surface node, the node itself first: backwards along firm edges, newest source first.

    Every node is there once, however the edges run. O(nodes + edges).
    """
    incoming: dict[str, list[str]] = {}
    for edge in graph.firm_edges():
        incoming.setdefault(edge.target_id, []).append(edge.source_id)
    branch = [latest]
    while sources := [i for i in incoming.get(branch[-1], ()) if i not in branch]:
        branch.append(max(sources, key=lambda i: (graph.nodes[i].last_mention_turn, graph.nodes[i].sequence)))
    return tuple(branch)


@dataclass(frozen=True)
class Views:
    """The graph as strategies see it; keys are tracked identities.

    Attributes:
        isolated: without any relation.
        ambiguous: unclear in what they mean.
        terminal: of a type at which a chain may end, by the methodology.
        unexplored: with few relations, not terminal, not asked about lately.
        active_branch: from the latest concept back to where it came from.
    """

    isolated: tuple[NodeFacts, ...]
    ambiguous: tuple[NodeFacts, ...]
    terminal: tuple[NodeFacts, ...]
    unexplored: tuple[NodeFacts, ...]
    active_branch: tuple[NodeFacts, ...]


@dataclass(frozen=True)
class Moment(TurnView):
    """One turn."""

    file: ArbitrationFile
    table: Mapping[str, ArbitratedStrategy] = field(default_factory=dict)

    @cached_property
    def views(self) -> Views:
        """The graph as it is now."""
        rules, inputs = self.file.views, self.inputs
        vague = set(rules.vague.get(language_of(inputs), ()))
        quality = self.quality
        unsure = quality is not None and quality.uncertainty == "productive"
        latest = [entry for entry in inputs.questions if entry.target is not None][-rules.focused_lately :]
        lately = {part for entry in latest for part in about(entry.target, entry.key, entry.label)}
        lately = lately if rules.focused_lately else set()

        def unclear(node: NodeFacts) -> bool:
            fresh = node.last_mention_turn == inputs.turn_count and node.mentions == 1 and not node.relations
            spoken = words(node.label)
            return (bool(spoken) and set(spoken) <= vague) or (unsure and fresh)

        return Views(
            isolated=tuple(node for node in self.nodes if not node.relations),
            ambiguous=tuple(node for node in self.nodes if unclear(node)),
            terminal=tuple(node for node in self.nodes if node.terminal),
            unexplored=tuple(
                node
                for node in self.nodes
                if node.relations < rules.explored_relations and not node.terminal and node.key not in lately
            ),
            active_branch=self._branch(),
        )

    def _branch(self) -> tuple[NodeFacts, ...]:
        """The branch of the latest concept; several wordings of one concept count once."""
        recent = self.recent
        if not recent:
            return ()
        graph, columns = self.inputs.graph, self.inputs.signals.nodes
        key_of = {member: key for key in columns.keys for member in columns.members_of(key)}
        members = [i for i in columns.members_of(recent[0].key) if i in graph.nodes]
        if not members:
            return (recent[0],)
        start = max(members, key=lambda i: (graph.nodes[i].last_mention_turn, graph.nodes[i].sequence))
        keys = dict.fromkeys(key_of[i] for i in traced(graph, start) if i in key_of)
        return tuple(self.by_key[key] for key in keys)

    @property
    def covered(self) -> float:
        """The share of elements that lack nothing; without elements 1 once nothing of the guide waits, 0 before."""
        return share(self.gaps) if self.gaps else float(self.inputs.topic is None)

    def freshness_of(self, target: Target | None) -> float:
        """How much the concept that a question would be about asks to be followed, in [0, 1]; 0 for anything else."""
        node = self.by_key.get(target.node_key or "") if target is not None else None
        return self.freshness(node) if node is not None else 0.0

    @cached_property
    def has_room(self) -> bool:
        """Whether a question can be spared that is not about an element that was never spoken of."""
        unmentioned = sum(
            any(gap.kind == "unmentioned" for gap in lacking)
            and not self.coverage[name].exhausted
            and not self.coverage[name].declined
            for name, lacking in self.gaps.items()
        )
        limit = self.inputs.max_turns or self.file.ending.max_turns
        return not limit or limit - self.inputs.turn_count - 1 > unmentioned

    @cached_property
    def tensions(self) -> tuple[SchemaTension, ...]:
        """Relations that the method does not permit between concepts that can be asked about, the latest first."""
        columns = self.inputs.signals.nodes
        there = {member for key in columns.keys for member in columns.members_of(key)}
        asked = {i for entry in self.inputs.questions if entry.target is not None for i in entry.target.ids}
        return tuple(
            tension
            for tension in reversed(self.inputs.tensions)
            if len(tension.node_ids) > 1 and set(tension.node_ids) <= there and tension.id not in asked
        )

    @property
    def is_concept_test(self) -> bool:
        """Whether there are elements, so that a concept is tested."""
        return bool(self.inputs.elements)

    @cached_property
    def names(self) -> Names:
        """What the elements are called."""
        return names_of(self.inputs.elements)

    @cached_property
    def leads(self) -> tuple[Followed, ...]:
        """What answers say of the idea and nobody has followed; nothing but in concept tests."""
        return leads_in(self.inputs, self.file.views.bare_apart) if self.is_concept_test else ()

    @cached_property
    def is_finished(self) -> bool:
        """Whether the answer says that there is no more to say of what it is about."""
        return is_finished(answer_of(self.inputs), language_of(self.inputs))

    @cached_property
    def past_turns(self) -> int:
        """The latest answers in a row that tell of what was rather than of the idea."""
        inputs, count = self.inputs, 0
        for turn in range(inputs.turn_count, 0, -1):
            if not tells_past(inputs.answers.get(turn, ""), self.names, language_of(inputs)):
                break
            count += 1
        return count

    @cached_property
    def is_away(self) -> bool:
        """Whether something was told and asked about, and the answer has not come back to the idea."""
        inputs, turn = self.inputs, self.inputs.turn_count
        if self.past_turns > 1 or turn < 2:
            return self.past_turns > 1
        answer = inputs.answers.get(turn, "")
        led = any(one.turn == turn for one in self.leads)
        of_idea = led or bool(named(answer, self.names)) or self._names_idea(answer)
        last = self.table.get(next(iter(self.strategies_asked[-1:]), ""))
        if self.past_turns and last is not None and last.applies == "leads":
            return True  # A story in answer to a question about the idea is led back from at once.
        deeper = self.phase_of(next(iter(self.strategies_asked[-1:]), "")) == "depth"
        return deeper and not of_idea and not self.is_finished and len(words(answer)) >= STORY

    def _names_idea(self, answer: str) -> bool:
        """Whether an answer has a word of the idea's name."""
        return bool((set(key_of(self.inputs.subject)) - SMALL) & set(key_of(answer)))

    @cached_property
    def left(self) -> int:
        """Questions that are left before the closing one, this one included."""
        return (self.inputs.max_turns or self.file.ending.max_turns) - self.inputs.turn_count - 2

    def open_sides(self, *, last: bool) -> list[Tactic]:
        """Sides of the idea, those for its end or the others, that no question was about and nobody spoke of."""
        language, told = language_of(self.inputs), self.inputs
        said = " ".join((*told.answers.values(), *told.demands, *told.question_texts)).casefold()
        return [
            tactic
            for strategy in self.table.values()
            if strategy.applies == "aspects"
            for tactic in strategy.tactics
            if tactic.last == last and tactic.id not in self.asked_ids
            if not any(phrase.casefold() in said for phrase in tactic.spoken_of.get(language, ()))
            if not self._is_told(tactic)
        ]

    def _is_told(self, side: Tactic) -> bool:
        """Whether answers said what a side of the idea would ask for, by the leads in them."""
        turns = {turn for kind in side.told_by for turn in self._turns_by_lead.get(kind, ())}
        return len(turns) >= TOLD_TWICE or self.inputs.turn_count in turns

    @cached_property
    def _turns_by_lead(self) -> Mapping[LeadKind, set[int]]:
        """The answers that have leads of a kind, whether or not they can be followed."""
        inputs, language = self.inputs, language_of(self.inputs)
        found: dict[LeadKind, set[int]] = {}
        for turn, answer in inputs.answers.items():
            for lead in leads_of(answer, self.names, language):
                found.setdefault(lead.kind, set()).add(turn)
        return found

    @cached_property
    def sides_for_the_end(self) -> list[Tactic]:
        """Those that are still to be asked about at the end.

        A short interview has room for few, and for fewer where the concept has questions of its own.
        """
        own = {t.id for s in self.table.values() if s.applies == "aspects" for t in s.tactics if t.last}
        turns = self.inputs.max_turns or self.file.ending.max_turns
        room = turns // self.file.views.turns_per_ending - len(self.inputs.demands)
        most = min(turns // self.file.views.turns_per_side, room) - len(own & self.asked_ids)
        return self.open_sides(last=True)[: max(0, most)]

    @cached_property
    def asked_ids(self) -> frozenset[str]:
        """The ids of all that questions were about."""
        return frozenset(i for entry in self.inputs.questions if entry.target is not None for i in entry.target.ids)

    def is_passing(self, element: str) -> bool:
        """Whether an element was named in a single answer, and no question was about it."""
        entry = self.coverage[element]
        return entry.mentioned == 1 and not entry.focused

    @cached_property
    def demanded(self) -> int:
        """The concept's own questions that were not asked."""
        said = " ".join(self.inputs.question_texts)
        return sum(demand not in said for demand in self.inputs.demands)

    def phase_of(self, strategy: str) -> str:
        """The phase of a strategy; empty for one that is not the engine's."""
        known = self.table.get(strategy)
        return known.phase if known is not None else ""

    @cached_property
    def depth_turns(self) -> int:
        """The latest questions in a row that went deeper."""
        count = 0
        for name in reversed(self.strategies_asked):
            if self.phase_of(name) != "depth":
                break
            count += 1
        return count
