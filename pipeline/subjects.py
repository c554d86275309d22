"""What engines know of the things that can be asked about: concepts and their history, and where knowledge ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import Field

from pipeline.engines.base import DecisionInputs
from pipeline.focus import Target
from pipeline.graph.surface import label_key
from pipeline.methodology import Spec
from pipeline.ports import QualitativeSignals
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


@dataclass(frozen=True)
class Ceiling:
    """Something of which the respondent knows no more: the ids or labels of what it is, and the turn that told it."""

    about: tuple[str, ...]
    turn: int


class CeilingRules(Spec):
    """How it is told that a respondent knows no more of something."""

    use_llm_signals: bool = Field(default=True, description="Go by the rating of a language model, where there is one.")
    window: int = Field(default=10, ge=1, description="Turns that it counts for.")
    dont_know: dict[str, tuple[str, ...]] = Field(default={}, description="Per language: words for not knowing.")
    curious: dict[str, tuple[str, ...]] = Field(
        default={}, description="Per language: words of somebody who goes on exploring, which outweigh the others."
    )


def ceilings_after(before: Sequence[Ceiling], inputs: DecisionInputs, rules: CeilingRules) -> tuple[Ceiling, ...]:
    """What the respondent knows no more of, with what this answer adds.

    It is what the last question was about; where that was nothing in particular, what the answer itself mentions.
    """
    turn = inputs.turn_count
    known = tuple(ceiling for ceiling in before if turn - ceiling.turn < rules.window)
    if not _knows_no_more(inputs, rules):
        return known
    asked = inputs.questions[-1] if inputs.questions else None
    what = about(asked.target, asked.key, asked.label) if asked is not None and asked.turn == turn - 1 else ()
    if asked is None or asked.target is None:
        what = tuple(node.key for node in facts_of(inputs) if node.last_mention_turn == turn)
    return (*known, Ceiling(what, turn)) if what else known


def ceiling_on(target: Target | None, ceilings: Sequence[Ceiling]) -> Ceiling | None:
    """The ceiling that a target is about, if there is one."""
    if target is None:
        return None
    own = {*target.ids, label_key(target.label)}
    return next((ceiling for ceiling in ceilings if own & set(ceiling.about)), None)


def remembered(ceilings: Sequence[Ceiling]) -> list[list[object]]:
    """Ceilings as JSON values, for an engine's state; `recalled` reads them."""
    return [[list(ceiling.about), ceiling.turn] for ceiling in ceilings]


def recalled(values: Sequence[Sequence[object]]) -> tuple[Ceiling, ...]:
    """Ceilings as `remembered` wrote them."""
    return tuple(Ceiling(tuple(about), int(str(turn))) for about, turn in values if isinstance(about, list))


def _knows_no_more(inputs: DecisionInputs, rules: CeilingRules) -> bool:
    quality = quality_of(inputs) if rules.use_llm_signals else None
    if quality is not None:
        if quality.knowledge_ceiling != "none":
            return quality.knowledge_ceiling == "terminal"
        return quality.uncertainty == "terminal"
    language, answer = language_of(inputs), answer_of(inputs)
    return says(answer, rules.dont_know.get(language, ())) and not says(answer, rules.curious.get(language, ()))


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


def says(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether one of some phrases is in a text, as whole words."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    return bool(phrases) and bool(_pattern(phrases).search(plain))


@lru_cache(maxsize=64)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(phrase.casefold()) for phrase in phrases) + r")(?!\w)")


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
