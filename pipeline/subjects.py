"""What engines know of the things that can be asked about: concepts and their history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.engines.base import DecisionInputs
from pipeline.focus import Target
from pipeline.graph.surface import label_key
from pipeline.ports import QualitativeSignals
from pipeline.question.phrases import can_be_named
from pipeline.question.text import words
from pipeline.threads import salience_of


@dataclass(frozen=True)
class NodeFacts:
    """One concept that can be asked about, by its tracked identity.

    `mentions` counts the answers that speak of it, `asked` the questions about it; `relations` are those of the graph.
    """

    key: str
    label: str
    node_type: str
    mention_sequence: int
    last_mention_turn: int
    mentions: int
    asked: int
    relations: int
    salience: int
    emotion: int
    terminal: bool


def facts_of(inputs: DecisionInputs) -> tuple[NodeFacts, ...]:
    """The concepts that can be asked about, in the order of their creation. O(nodes + edges + questions)."""
    columns, graph = inputs.signals.nodes, inputs.graph
    terminal = inputs.methodology.ontology.terminal_types
    relations: Counter[str] = Counter()
    for edge in graph.live_edges():
        relations.update((edge.source_id, edge.target_id))
    asked = Counter(part for entry in inputs.questions for part in about(entry.target, entry.key, entry.label))
    found = []
    for at, key in enumerate(columns.keys):
        label, kind = columns.labels[at], columns.node_types[at]
        members = [graph.nodes[i] for i in columns.members_of(key) if i in graph.nodes]
        found.append(
            NodeFacts(
                key=key,
                label=label,
                node_type=kind,
                mention_sequence=columns.mention_sequence[at],
                last_mention_turn=max((node.last_mention_turn for node in members), default=0),
                mentions=sum(node.mention_count for node in members),
                asked=max(asked[key], asked[label_key(label)]),
                relations=sum(relations[node.id] for node in members),
                salience=max((salience_of(node) for node in members), default=0),
                emotion=max((node.emotion or 0 for node in members), default=0),
                terminal=kind in terminal,
            )
        )
    return tuple(found)


def latest_first(nodes: Sequence[NodeFacts], turn: int) -> tuple[NodeFacts, ...]:
    """Those of this answer first, then what was said before it; the weightiest first, then the latest."""
    order = sorted(nodes, key=lambda node: (-node.salience, -node.mention_sequence))
    return tuple(sorted(order, key=lambda node: node.last_mention_turn < turn))


def about(target: Target | None, key: str, label: str) -> tuple[str, ...]:
    """By what a question's subject is known again: the ids of its target, its identity then, its wording."""
    ids = target.ids if target is not None else ()
    return tuple(dict.fromkeys(part for part in (*ids, key, label_key(label)) if part))


def quality_of(inputs: DecisionInputs) -> QualitativeSignals | None:
    """The qualities of this answer; None where it was not rated, or by a rater that doesn't tell them."""
    return inputs.qualitative[-1] if inputs.qualitative and answer_of(inputs) else None


def answer_of(inputs: DecisionInputs) -> str:
    """What the respondent just said."""
    return inputs.answers.get(inputs.turn_count, "")


def language_of(inputs: DecisionInputs) -> str:
    """The language of the interview, without its region."""
    return inputs.language.casefold().split("-")[0]


def is_nameable(node: NodeFacts, inputs: DecisionInputs) -> bool:
    """Whether somebody can be led back to a concept by naming it; a piece of a sentence is no name."""
    if language_of(inputs) != "en":
        return True
    return can_be_named(node.label, node.node_type)


def content_words(text: str, plain: Sequence[str]) -> frozenset[str]:
    """The words of a text without those that say nothing of a subject."""
    return frozenset(words(text)) - frozenset(plain)


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words over all words, in [0, 1]; 0 where there are none."""
    together = one | other
    return len(one & other) / len(together) if together else 0.0


def closest(text: str, others: Sequence[str], plain: Sequence[str]) -> tuple[float, str]:
    """The greatest overlap of content words with any of some texts, and with which; 0 and nothing without any."""
    own = content_words(text, plain)
    return max(((overlap(own, content_words(other, plain)), other) for other in others), default=(0.0, ""))


AND = {"en": " and ", "de": " und ", "ar": " و"}
QUOTES = {"de": ("„", "“")}


def together(labels: Sequence[str], language: str) -> str:
    """Several concepts in one phrase, each as the respondent put it."""
    before, after = QUOTES.get(language, ("“", "”"))
    quoted = [f"{before}{label}{after}" for label in labels]
    return AND.get(language, ", ").join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


def described(texts: dict[str, str], inputs: DecisionInputs, label: str) -> str:
    """A focus in words, in the language of the interview or else in English; `{focus}` and `{topic}` are filled in."""
    text = texts.get(language_of(inputs)) or texts.get("en") or next(iter(texts.values()), "")
    return text.replace("{focus}", label).replace("{topic}", inputs.subject)
