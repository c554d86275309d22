"""The guide of an interview: what it should have spoken of before it ends, and how far that is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from pipeline.concept import Concept, SessionConfiguration, names_of
from pipeline.elements import named
from pipeline.focus import Target
from pipeline.graph.surface import GUESSED, KGNode, SurfaceGraph
from pipeline.methodology import STANCES, Form, GuideTopic
from pipeline.records import Record

TopicStatus = Literal["open", "covered", "asked", "declined", "left"]
MUST_ASK, ELEMENT = "must_ask.", "element."
"""What the ids of topics begin with that a concept adds."""
DEMANDED = "must_ask"
"""The strategy of a question that the concept demands, where the engine has none that asks for topics."""


class TopicProgress(Record):
    """How far one topic of the guide is.

    `open`: not spoken of yet. `covered`: an answer spoke of it, in `turn`, `node_ids` are what did. `asked`: it was
    asked for in `turn`, and the answer did not show that it was covered. `declined`: the respondent would not say.
    `left`: the interview ended before it could be asked, for `reason`.
    """

    id: str
    label: str
    status: TopicStatus = "open"
    turn: int | None = None
    node_ids: tuple[str, ...] = ()
    reason: str = ""


class Agenda:
    """The topics of one configuration, in the order in which they would be asked for.

    Those of the method come first, then the elements of the concept, then its own questions.
    """

    def __init__(self, configuration: SessionConfiguration, language: str) -> None:
        self._by_id: dict[str, GuideTopic] = {
            topic.id: topic
            for topic in configuration.methodology.guide
            if topic.id not in configuration.concept.leave_out
        }
        compares = configuration.methodology.grid is not None
        for topic in _of_concept(configuration.concept, language, elements=not compares):
            self._by_id[topic.id] = topic
        self._names = names_of(configuration.concept.elements)

    def topic(self, topic_id: str) -> GuideTopic | None:
        """The topic of that id."""
        return self._by_id.get(topic_id)

    def begun(self, progress: Sequence[TopicProgress]) -> tuple[TopicProgress, ...]:
        """The progress on all topics, beginning with nothing; topics that are known keep theirs."""
        known = {item.id: item for item in progress}
        return tuple(known.get(t.id) or TopicProgress(id=t.id, label=t.label) for t in self._by_id.values())

    def after_answer(
        self,
        progress: Sequence[TopicProgress],
        graph: SurfaceGraph,
        content: str,
        *,
        turn: int,
        language: str,
        declined: str | None = None,
    ) -> tuple[TopicProgress, ...]:
        """The progress after an answer.

        Args:
            progress: before it.
            graph: after it.
            content: what of the answer tells.
            turn: of the answer.
            language: code of the respondent's language.
            declined: id of the topic that was asked for and that the respondent would not speak about.
        """
        said = {ELEMENT + element for element in named(content, self._names)}

        def now(item: TopicProgress) -> TopicProgress:
            topic = self._by_id.get(item.id)
            if topic is None or item.status not in ("open", "asked"):
                return item
            if item.id == declined:
                return item.model_copy(update={"status": "declined", "turn": turn})
            nodes = _covering(topic, graph)
            if len(nodes) >= topic.count and topic.types:
                found = tuple(node.id for node in nodes)
                return item.model_copy(update={"status": "covered", "turn": turn, "node_ids": found})
            if item.id in said or (content and _spoken(topic, language, content)):
                return item.model_copy(update={"status": "covered", "turn": turn})
            return item

        return tuple(now(item) for item in self.begun(progress))

    def next_target(self, progress: Iterable[TopicProgress], turn: int) -> Target | None:
        """The next topic that has to be asked for outright, if there is one."""
        for item in progress:
            topic = self._by_id.get(item.id)
            if topic is None or item.status != "open" or topic.asked_by or turn < topic.from_turn:
                continue
            return Target(kind="topic", ids=(topic.id,), label=topic.label)
        return None

    def must_ask(self, progress: Iterable[TopicProgress], *, elements: bool = True) -> Target | None:
        """The next of the concept's own questions, and of its elements unless those are left out, that is open."""
        found = _demanded(progress, elements=elements)
        return next((Target(kind="topic", ids=(item.id,), label=item.label) for item in found), None)

    def demanded(self, progress: Iterable[TopicProgress], *, elements: bool = True) -> int:
        """The number of the concept's own questions, and of its elements unless those are left out, that are open."""
        return len(_demanded(progress, elements=elements))

    def to_ask(self, progress: Iterable[TopicProgress]) -> int:
        """The number of open topics that have to be asked for outright."""
        topics = (self._by_id.get(item.id) for item in progress if item.status == "open")
        return sum(topic is not None and not topic.asked_by for topic in topics)

    def gaps(self, progress: Iterable[TopicProgress], strategies: Iterable[str]) -> dict[str, float]:
        """Per strategy the share of the topics that it works on which are open, in [0, 1]; none that it has none."""
        of: dict[str, list[bool]] = {}
        for item in progress:
            topic = self._by_id.get(item.id)
            for name in topic.asked_by if topic is not None else ():
                of.setdefault(name, []).append(item.status == "open")
        return {name: sum(of[name]) / len(of[name]) if name in of else 0.0 for name in strategies}

    def finished(self, progress: Iterable[TopicProgress]) -> bool:
        """Whether there is a guide and nothing of it is open any more."""
        listed = list(progress)
        return bool(listed) and all(item.status != "open" for item in listed)


def topic_of(target: Target | None) -> str | None:
    """The id of the topic that a question is about; an element of the concept is one."""
    if target is None or target.kind not in ("topic", "element"):
        return None
    return target.ids[0] if target.kind == "topic" else ELEMENT + target.ids[0]


def asked_for(progress: Iterable[TopicProgress], target: Target | None, turn: int) -> tuple[TopicProgress, ...]:
    """The progress after a question about a topic was decided on."""
    wanted = topic_of(target)
    return tuple(
        item.model_copy(update={"status": "asked", "turn": turn})
        if item.id == wanted and item.status == "open"
        else item
        for item in progress
    )


def given_up(progress: Iterable[TopicProgress], reason: str) -> tuple[TopicProgress, ...]:
    """The progress of an interview that ends: what is open stays so, with the reason."""
    return tuple(
        item.model_copy(update={"status": "left", "reason": reason}) if item.status == "open" else item
        for item in progress
    )


def taken_up(progress: Iterable[TopicProgress]) -> tuple[TopicProgress, ...]:
    """The progress of an interview that goes on after all: what was given up at its end is open again."""
    return tuple(
        item.model_copy(update={"status": "open", "reason": ""}) if item.status == "left" else item for item in progress
    )


@lru_cache(maxsize=128)
def _agenda(key: _Same, language: str) -> Agenda:
    return Agenda(key.configuration, language)


class _Same:
    """A configuration as a cache key, compared by identity: a session's configuration is pinned."""

    __slots__ = ("configuration",)

    def __init__(self, configuration: SessionConfiguration) -> None:
        self.configuration = configuration

    def __hash__(self) -> int:
        return id(self.configuration)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.configuration is self.configuration


def agenda_of(configuration: SessionConfiguration, language: str) -> Agenda:
    """The agenda of a configuration, made once."""
    return _agenda(_Same(configuration), language)


def questions_of(configuration: SessionConfiguration, language: str, target: Target | None) -> tuple[Form, ...]:
    """How a topic of the guide is asked for; nothing where a question is about something else."""
    if target is None or target.kind != "topic":
        return ()
    topic = agenda_of(configuration, language).topic(target.ids[0])
    by_language = topic.questions if topic is not None else {}
    return by_language.get(language) or by_language.get(language.split("-")[0]) or ()


def own_questions(
    configuration: SessionConfiguration, language: str, progress: Iterable[TopicProgress]
) -> dict[str, str]:
    """The concept's own questions that are open, by the label of their topic."""
    found: dict[str, str] = {}
    for item in _demanded(progress, elements=False):
        forms = questions_of(configuration, language, Target(kind="topic", ids=(item.id,), label=item.label))
        if forms:
            found[item.label] = forms[0].ask
    return found


def _of_concept(concept: Concept, language: str, *, elements: bool) -> Iterable[GuideTopic]:
    """What the concept adds: its elements, unless they are compared with each other, and its own questions."""
    for element in concept.elements if elements else ():
        topic = GuideTopic(id="element", label=element.label)
        yield topic.model_copy(update={"id": ELEMENT + element.id})
    for wanted in concept.must_ask:
        question = wanted.question_in(language)
        topic = GuideTopic(
            id=wanted.id,
            label=wanted.label or question or wanted.id,
            words={language: wanted.words},
            questions={language: (Form(ask=question),)} if question else {},
        )
        yield topic.model_copy(update={"id": MUST_ASK + wanted.id})


def _demanded(progress: Iterable[TopicProgress], *, elements: bool) -> list[TopicProgress]:
    wanted = (MUST_ASK, ELEMENT) if elements else (MUST_ASK,)
    return [item for item in progress if item.id.startswith(wanted) and item.status == "open"]


def _covering(topic: GuideTopic, graph: SurfaceGraph) -> list[KGNode]:
    """The live nodes that cover a topic."""
    nodes = [
        node
        for node in graph.live_nodes()
        if node.node_type in topic.types and (topic.stance is None or STANCES[node.stance] == topic.stance)
    ]
    if topic.reaches and nodes:
        above: dict[str, set[str]] = {}
        for edge in graph.live_edges():
            if edge.basis != GUESSED:
                above.setdefault(edge.source_id, set()).add(edge.target_id)
        nodes = [node for node in nodes if _reaches(node.id, topic.reaches, above, graph)]
    return nodes


def _reaches(start: str, types: Sequence[str], above: dict[str, set[str]], graph: SurfaceGraph) -> bool:
    seen, ahead = {start}, [start]
    while ahead:
        for node_id in above.get(ahead.pop(), ()):
            if graph.nodes[node_id].node_type in types:
                return True
            if node_id not in seen:
                seen.add(node_id)
                ahead.append(node_id)
    return False


def _spoken(topic: GuideTopic, language: str, content: str) -> bool:
    """Whether words of the topic are in an answer."""
    phrases = topic.words.get(language) or topic.words.get(language.split("-")[0]) or ()
    return bool(phrases) and bool(_pattern(phrases).search(" ".join(content.casefold().replace("’", "'").split())))


@lru_cache(maxsize=512)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(re.escape(phrase.casefold()) for phrase in phrases) + r")\b")
