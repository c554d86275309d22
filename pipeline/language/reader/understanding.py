"""Reads an answer: its concepts with types, salience and feeling, and the links between them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from pipeline.graph.surface import REVISES, Basis
from pipeline.language.reader import heads
from pipeline.language.reader.danger import DangerModel
from pipeline.language.reader.directions import said_directions
from pipeline.language.reader.encoding import WORD, Word, described, focus_text
from pipeline.language.reader.message import MessageModel
from pipeline.language.reader.network import Floats, ReaderNetwork, Reading
from pipeline.language.reader.replies import ReplyModel
from pipeline.language.reader.settings import ReaderSettings
from pipeline.language.reader.talk import TalkModel
from pipeline.methodology import EdgeType, Ontology
from pipeline.question.text import ended

FOCUS = -1
"""Stands for the focus where links name concepts by their position."""
MOST_CONCEPTS = 24
"""Concepts of an answer among which links are looked for; more come from pasted texts only."""
LIKE_EXEMPLAR = 1.0
"""What is added to the logit of a type for a concept that has all content words of one of its exemplars."""
ABBREVIATION = 3
"""Most letters of a word whose full stop may not end a sentence."""
SECOND_CHOICE = 0.35
"""Probability from which a type other than the best may be taken to make a likely link possible."""


@dataclass(frozen=True)
class ReadConcept:
    """A concept: the characters `start` to `end` of the answer, and what was judged of it.

    `types` are (name, probability), best first; `chance` is that of its being a concept at all; `salience` is from 0 to
    3, `stance` −1, 0 or 1, `emotion` from 0 to 2.
    """

    start: int
    end: int
    types: tuple[tuple[str, float], ...]
    chance: float
    salience: int
    stance: int
    emotion: int


@dataclass(frozen=True)
class ReadLink:
    """A link between two concepts, by position, or the focus; `chance` is calibrated."""

    source: int
    target: int
    edge_type: str
    basis: Basis
    chance: float


@dataclass(frozen=True)
class Understood:
    """What was read in an answer. `refused` are likely links that the methodology has no relation for."""

    concepts: tuple[ReadConcept, ...]
    links: tuple[ReadLink, ...]
    refused: tuple[ReadLink, ...]


@dataclass(frozen=True)
class _Method:
    """A methodology in the network's terms."""

    names: tuple[str, ...]
    types: heads.TypeVectors
    exemplars: tuple[tuple[frozenset[str], int], ...]
    edges: tuple[EdgeType, ...]
    edge_vectors: Floats


class Reader:
    """Understands answers in the words of any methodology. Safe to use from several threads.

    Args:
        network: runs the encoder and the heads.
        settings: thresholds and calibration of that network.
        message: judges what messages do as a whole; None to go by their clauses alone.
        talk: hears what clauses do besides telling; None to go by rules and the network's own judgement.
        danger: finds danger in single sentences; None to go by the others.
        replies: hears what somebody means who was asked back; None to go by words.
        limit: methodologies whose words are kept prepared.
    """

    def __init__(
        self,
        network: ReaderNetwork,
        settings: ReaderSettings,
        message: MessageModel | None = None,
        talk: TalkModel | None = None,
        danger: DangerModel | None = None,
        replies: ReplyModel | None = None,
        limit: int = 32,
    ) -> None:
        self.network = network
        self.settings = settings
        self.message = message
        self.talk = talk
        self.danger = danger
        self.replies = replies
        self._limit = limit
        self._methods: OrderedDict[str, _Method] = OrderedDict()
        self._lock = Lock()

    def prepare(self, ontology: Ontology) -> _Method:
        """The methodology's words in the network's terms; computed once, which takes some seconds for a large one."""
        key = hashlib.sha256(
            repr([[(n.name, n.description, n.examples, n.exemplars) for n in ontology.nodes], ontology.edges]).encode()
        ).hexdigest()
        with self._lock:
            known = self._methods.get(key)
            if known is not None:
                self._methods.move_to_end(key)
                return known
        fresh = self._method(ontology)
        with self._lock:
            self._methods[key] = fresh
            while len(self._methods) > self._limit:
                self._methods.popitem(last=False)
        return fresh

    def understand(
        self, answer: str, question: str, focus: str | None, focus_type: str | None, ontology: Ontology
    ) -> Understood:
        """What the answer says.

        Args:
            answer: the respondent's words.
            question: what was asked.
            focus: label of what it was about, the topic where it was about that.
            focus_type: its type.
            ontology: the types of concepts and relations.
        """
        method = self.prepare(ontology)
        reading = self.network.read(question, focus_text(focus, focus_type), ended(answer))
        if not reading.words:
            return Understood((), (), ())
        fitting = _within_sentences(heads.span_logits(self.network, reading), reading, answer)
        found = heads.best_spans(fitting, self.settings.keep_from)
        if not found:
            return Understood((), (), ())
        places = [place for place, _ in found]
        seen = heads.seen_concepts(reading, places)
        logits = heads.type_logits(self.network, seen, method.types)
        for number, (first, last) in enumerate(places):
            logits[number, :-1] += _likeness(answer[reading.words[first].start : reading.words[last].end], method)
        chances = heads.softmax(logits)
        kept = [i for i in range(len(places)) if chances[i, -1] < self.settings.none_from]
        if not kept:
            return Understood((), (), ())
        places, vectors = [places[i] for i in kept], heads.concept_vectors(self.network, seen[kept])
        shares = chances[kept, :-1] / np.maximum(1.0 - chances[kept, -1:], 1e-6)
        types = shares.argmax(axis=1)
        spans = [(reading.words[first].start, reading.words[last].end) for first, last in places]
        # Where types have no levels, relations have directions of their own: a push “leads to” what was bought for it.
        stated = said_directions(answer, spans) if any(node.level for node in ontology.nodes) else set()
        links, refused = self._links(reading, method, places, vectors, shares, types, focus_type, stated)
        return Understood(
            self._concepts(reading, method, places, vectors, shares, types, [found[i][1] for i in kept]), links, refused
        )

    def _method(self, ontology: Ontology) -> _Method:
        shown = [
            (text, i)
            for i, node in enumerate(ontology.nodes)
            for text in dict.fromkeys((*node.exemplars, *node.examples))
        ]
        edges = tuple(edge for edge in ontology.edges if edge.name != REVISES)
        return _Method(
            names=tuple(node.name for node in ontology.nodes),
            types=heads.type_vectors(
                self.network,
                [described(node.name, node.description) for node in ontology.nodes],
                [text for text, _ in shown],
                [owner for _, owner in shown],
            ),
            exemplars=tuple((words, owner) for text, owner in shown if (words := _content(text))),
            edges=edges,
            edge_vectors=heads.edge_vectors(self.network, [described(e.name, e.description) for e in edges])
            if edges
            else np.zeros((0, 1), dtype=np.float32),
        )

    def _concepts(
        self,
        reading: Reading,
        method: _Method,
        places: Sequence[heads.Place],
        vectors: Floats,
        shares: Floats,
        types: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
        logits: Sequence[float],
    ) -> tuple[ReadConcept, ...]:
        judged = {name: self.network.linear(name, vectors) for name in ("salience", "stance", "emotion")}
        concepts = []
        for i, (first, last) in enumerate(places):
            order = [int(types[i]), *(int(t) for t in np.argsort(-shares[i], kind="stable") if t != types[i])]
            concepts.append(
                ReadConcept(
                    start=reading.words[first].start,
                    end=reading.words[last].end,
                    types=tuple((method.names[t], round(float(shares[i, t]), 3)) for t in order),
                    chance=float(heads.sigmoid(np.asarray(logits[i], dtype=np.float32))),
                    salience=int(judged["salience"][i].argmax()),
                    stance=int(judged["stance"][i].argmax()) - 1,
                    emotion=int(judged["emotion"][i].argmax()),
                )
            )
        return tuple(concepts)

    def _links(
        self,
        reading: Reading,
        method: _Method,
        places: Sequence[heads.Place],
        vectors: Floats,
        shares: Floats,
        types: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
        focus_type: str | None,
        said: set[tuple[int, int]],
    ) -> tuple[tuple[ReadLink, ...], tuple[ReadLink, ...]]:
        """Likely links, at most one between two concepts; `types` is changed where that makes a likely one possible.

        Those of which a connector says what brings about what, `said`, run that way.
        """
        ends: list[tuple[Floats, heads.Place | None]] = list(
            zip(vectors[:MOST_CONCEPTS], places[:MOST_CONCEPTS], strict=True)
        )
        numbers = list(range(len(ends)))
        about = heads.seen_focus(reading)
        if about is not None:
            ends.append((heads.concept_vectors(self.network, about)[0], None))
            numbers.append(FOCUS)
        pairs = [(i, j) for i in range(len(ends)) for j in range(len(ends)) if i != j]
        if not pairs or not method.edges:
            return (), ()
        found = heads.pair_vectors(self.network, reading, ends, pairs)
        logits = self.network.linear("link", found)[:, 0]
        chances = heads.sigmoid(self.settings.link_scale * logits + self.settings.link_shift)
        _turn(chances, pairs, said)
        fits = heads.edge_logits(self.network, found, method.edge_vectors)
        bases = self.network.linear("basis", found).argmax(axis=1)
        order = np.argsort(-chances, kind="stable")
        taken: set[frozenset[int]] = set()
        settled: set[int] = set()
        links: list[ReadLink] = []
        refused: list[ReadLink] = []
        for at in order:
            chance = float(chances[at])
            if chance < self.settings.guess_from:
                break
            i, j = pairs[at]
            if frozenset((i, j)) in taken:
                continue
            firm = chance >= self.settings.link_from
            basis: Basis = "inferred"
            if firm:
                basis = "answered" if bases[at] and FOCUS in (numbers[i], numbers[j]) else "stated"
            chosen = self._edge(method, fits[at], numbers[i], numbers[j], shares, types, focus_type, basis, settled)
            if chosen is not None:
                taken.add(frozenset((i, j)))
                settled |= {numbers[i], numbers[j]}
                links.append(ReadLink(numbers[i], numbers[j], chosen, basis, round(chance, 3)))
            elif firm:
                taken.add(frozenset((i, j)))
                best = method.edges[int(fits[at].argmax())].name
                refused.append(ReadLink(numbers[i], numbers[j], best, basis, round(chance, 3)))
        return tuple(self._without_needless(links)), tuple(refused)

    def _edge(
        self,
        method: _Method,
        fits: Floats,
        source: int,
        target: int,
        shares: Floats,
        types: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
        focus_type: str | None,
        basis: Basis,
        settled: set[int],
    ) -> str | None:
        """The best relation that the types of both ends permit; an end not settled yet may take another type."""
        firm = basis != "inferred"
        best: tuple[float, str, int, int] | None = None
        for own, own_chance in self._choices(source, shares, types, firm and source not in settled):
            for other, other_chance in self._choices(target, shares, types, firm and target not in settled):
                names = [focus_type if t == FOCUS else method.names[t] for t in (own, other)]
                for edge, fit in zip(method.edges, fits, strict=True):
                    if names[0] is None or names[1] is None:
                        allowed = True
                    else:
                        allowed = edge.permits(names[0], names[1], stated=basis == "stated")
                    score = float(fit) + 2.0 * float(np.log(own_chance) + np.log(other_chance))
                    if allowed and (best is None or score > best[0]):
                        best = (score, edge.name, own, other)
        if best is None:
            return None
        for end, chosen in ((source, best[2]), (target, best[3])):
            if end != FOCUS:
                types[end] = chosen
        return best[1]

    @staticmethod
    def _choices(
        end: int, shares: Floats, types: np.ndarray[tuple[int, ...], np.dtype[np.int64]], others: bool
    ) -> list[tuple[int, float]]:
        """Types that an end may have, with their probability: the current one, and `others` that are likely."""
        if end == FOCUS:
            return [(FOCUS, 1.0)]
        current = int(types[end])
        found = [(current, float(shares[end, current]))]
        if others:
            found += [
                (t, float(share)) for t, share in enumerate(shares[end]) if t != current and share >= SECOND_CHOICE
            ]
        return found

    @staticmethod
    def _without_needless(links: Sequence[ReadLink]) -> list[ReadLink]:
        """Inferred links only where they join a concept that nothing else does; the likeliest first."""
        joined: set[int] = set()
        kept = []
        for link in sorted(links, key=lambda link: (link.basis == "inferred", -link.chance)):
            ends = {link.source, link.target} - {FOCUS}
            if link.basis != "inferred" or ends - joined:
                kept.append(link)
                joined |= ends
        return kept


def _turn(chances: Floats, pairs: Sequence[tuple[int, int]], said: set[tuple[int, int]]) -> None:
    """Give the likelier direction's chance of a link to the direction that was said, and none to the other one."""
    at = {pair: number for number, pair in enumerate(pairs)}
    for cause, effect in said:
        if (cause, effect) in at:
            forward, back = at[cause, effect], at[effect, cause]
            chances[forward], chances[back] = max(chances[forward], chances[back]), 0.0


def _content(text: str) -> frozenset[str]:
    """The content words of a text."""
    return frozenset(word for match in WORD.finditer(text.lower()) if heads.is_content(word := match[0]))


def _within_sentences(logits: Floats, reading: Reading, answer: str) -> Floats:
    """The logits of spans without those that go on after a sentence has ended: “retiring? Quiet.” is two things."""
    words = reading.words
    ends = [_ends_sentence(answer, words, number) for number in range(len(words))]
    if not any(ends):
        return logits
    number = np.concatenate([[0], np.cumsum(ends[:-1])])
    first = np.arange(len(words))[:, None]
    last = np.minimum(first + np.arange(logits.shape[1])[None], len(words) - 1)
    return np.where(number[last] == number[first], logits, -np.inf).astype(np.float32)


def _ends_sentence(answer: str, words: Sequence[Word], number: int) -> bool:
    """Whether a mark ends a sentence; the full stop of a short word, as in “Mr. Hollis”, may not."""
    mark = "" if words[number].spoken else answer[words[number].start : words[number].end]
    if not set(mark) & set("?!."):
        return False
    before = words[number - 1] if number else None
    short = before is None or before.end - before.start <= ABBREVIATION
    return not (short and mark == ".")


def _likeness(said: str, method: _Method) -> Floats:
    """What the exemplars of each type add where their words were said."""
    own = _content(said)
    added = np.zeros(len(method.names), dtype=np.float32)
    for words, owner in method.exemplars:
        if not words.isdisjoint(own):
            added[owner] = max(added[owner], LIKE_EXEMPLAR * len(words & own) / len(words))
    return added
