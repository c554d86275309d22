"""Elements of a stimulus without a language model: noun phrases and offers of its sentences, and what joins them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from spacy.tokens import Doc, Span, Token

from pipeline.concept import Element
from pipeline.elements import ids_of, key_of
from pipeline.language.clauses import split
from pipeline.language.connectors import normalised_text, words
from pipeline.language.offline.answer import PROVIDER
from pipeline.language.srl import SpacyParser, discourse_relations
from pipeline.ports import MOST_ELEMENTS, ParsedStimulus, StimulusRequest
from pipeline.question.inflection import gerund_of
from pipeline.question.text import word_count

MOST_CHARS = 30_000
"""Characters of a stimulus that are looked at."""
MOST_ALIASES = 6
LABEL_WORDS = 5
PRICE, PRICES = "price", ("cost", "fee", "expensive", "cheap", "money")
UNSPECIFIC = words(
    "anyone anybody audience bit box case choice client company concept consumer customer day detail everyone "
    "everything example fact family friend future guest half home hour idea kind lot love man matter member "
    "minute moment month name need new number offer one other package part people person piece place point "
    "problem product range reason rest result service set shop side sort start story stuff thing time today "
    "tomorrow top type user use variety way week weekend woman world year"
)
"""Nouns that name nothing of the concept when they stand alone."""
CIRCUMSTANTIAL = words(
    "day hour minute month moment morning evening night second time today tomorrow week weekend year monday tuesday "
    "wednesday thursday friday saturday sunday mile kilometre kilometer metre meter inch gram kilogram kg kilo litre "
    "liter ml percent degree door"
)
JOINING = words(
    "add allow bring build cause cut enable ensure free give guarantee help improve keep lead let lower make mean "
    "offer prevent protect provide raise reduce remove replace save show spare support take turn"
)
"""Verbs by which one thing brings another about."""
DURATIONS = words("second minute hour day week month year")
INTRODUCING = words("discover introduce meet present try")
BARE = words("be come do feel get go have know like live look love meet need receive see try use want work")
"""Verbs that name no offer when they stand alone."""
_BULLET = re.compile(r"^\s*(?:[-*•–—·]|\d{1,2}[.)])\s+")
_MONEY = re.compile(
    r"(?:[£$€¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[£$€¥]|euros?\b|pounds?\b|dollars?\b|pence\b|cents?\b))(?:\s?(?:a|an|per|each|every|/)\s?\w+)?",
    re.IGNORECASE,
)
_THANKS = re.compile(r"\b(?:thanks to|because of|due to|by means of)\b", re.IGNORECASE)
_SKIPPED = frozenset({"DET", "PRON", "PUNCT", "SYM", "SPACE", "CCONJ"})


@dataclass
class _Found:
    """One element in the making; `head` is the key of its noun, `weight` how much it is an element."""

    label: str
    head: tuple[str, ...]
    weight: float
    at: tuple[int, int]
    """Block and token at which it first stands."""
    aliases: list[str] = field(default_factory=list)
    spots: list[tuple[int, int]] = field(default_factory=list)
    """Blocks and tokens at which it stands."""
    lead: str = "the "
    """What stands before it in a question."""


class OfflineConceptParser:
    """ConceptParser of the ports, for English; in other languages it knows the lines of a list only."""

    def __init__(self, parser: SpacyParser, *, executor: Executor | None = None) -> None:
        self._parser = parser
        self._executor = executor

    async def parse_stimulus(self, request: StimulusRequest) -> ParsedStimulus:
        """Elements in the order of the text."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self.parse_stimulus_sync, request)

    def parse_stimulus_sync(self, request: StimulusRequest) -> ParsedStimulus:
        """As `parse_stimulus`, for callers that already are on a worker thread."""
        listed = blocks(request.text[:MOST_CHARS])
        if not request.language.casefold().startswith("en"):
            return ParsedStimulus(elements=_of_lines(listed), provider=PROVIDER)
        docs = [self._parser.docs.doc(text) for text, _ in listed]
        return ParsedStimulus(elements=_Gathering(docs, request.topic).elements(), provider=PROVIDER)


def blocks(text: str) -> list[tuple[str, bool]]:
    """The paragraphs and list items of a text, each on one line, and whether it is an item."""
    found: list[tuple[str, bool]] = []
    fresh = True
    for line in text.splitlines():
        item = _BULLET.match(line)
        said = " ".join((line[item.end() :] if item else line).split())
        if not said:
            fresh = True
        elif item or fresh or found[-1][1] or not found:
            found.append((said, item is not None))
            fresh = False
        else:
            found[-1] = (f"{found[-1][0]} {said}", False)
    return found


class _Gathering:
    """The elements of one stimulus."""

    def __init__(self, docs: Sequence[Doc], topic: str) -> None:
        self._docs = docs
        self._topic = frozenset(key_of(topic))
        self._noun = key_of(topic)[-1:]
        self._brand = _brand(docs[0]) if docs else frozenset()
        self._found: dict[tuple[str, ...], _Found] = {}

    def elements(self) -> tuple[Element, ...]:
        """The weightiest, in the order of the text."""
        for number, doc in enumerate(self._docs):
            for sentence in doc.sents:
                self._take_prices(number, sentence)
                self._take_phrases(number, sentence)
                self._take_offers(number, sentence)
        chosen = sorted(self._found.values(), key=lambda one: (-one.weight, one.at))[:MOST_ELEMENTS]
        chosen.sort(key=lambda one: one.at)
        ids = ids_of([one.label for one in chosen])
        required = self._requirements(chosen)
        taken = {key_of(one.label) for one in chosen}
        return tuple(
            Element(
                id=ids[i],
                label=one.lead + one.label,
                aliases=_aliases(one, taken),
                connection_requirements=tuple(ids[j] for j in sorted(required.get(i, ()))),
            )
            for i, one in enumerate(chosen)
        )

    def _keep(
        self, head: tuple[str, ...], label: str, weight: float, at: tuple[int, int], aliases: Sequence[str]
    ) -> None:
        known = self._found.get(head) or next(
            (o for o in self._found.values() if key_of(o.label) == key_of(label)), None
        )
        if known is None:
            known = self._found[head] = _Found(label, head, 0.0, at)
        elif word_count(label) > word_count(known.label):
            known.aliases.append(known.label)
            known.label = label
        elif key_of(label) != key_of(known.label):
            known.aliases.append(label)
        known.weight += weight
        known.spots.append(at)
        known.aliases += aliases

    def _take_prices(self, number: int, sentence: Span) -> None:
        for money in _MONEY.finditer(sentence.text):
            at = next((t.i for t in sentence if t.idx - sentence.start_char >= money.start()), sentence.start)
            self._keep((PRICE,), PRICE, 3.0, (number, at), (" ".join(money[0].rstrip(".,").split()), *PRICES))

    def _take_phrases(self, number: int, sentence: Span) -> None:
        for chunk in sentence.noun_chunks:
            root = chunk.root
            said, head = _telling(chunk), key_of(" ".join(t.text for t in _compound(root)))
            noun = root.lemma_.lower()
            if not said or root.pos_ not in ("NOUN", "PROPN") or len(root) < 2 or self._is_topic(said, head):
                continue
            if _is_promise(chunk):
                label = normalised_text(" ".join(t.text for t in chunk if t.dep_ not in ("det", "poss", "predet")))
                self._keep((*key_of(label),), label, 1.25, (number, root.i), ())
                continue
            if _MONEY.search(chunk.text) or noun in CIRCUMSTANTIAL or (len(said) == 1 and noun in UNSPECIFIC):
                continue
            if noun in (PRICE, *PRICES):
                self._keep((PRICE,), PRICE, 1.0, (number, root.i), PRICES)
                continue
            label = _label(said, chunk)
            plain = normalised_text(" ".join(t.text for t in _compound(root)))
            weight = (
                1.0 + 0.5 * min(len(said) - 1, 2) + (0.5 if root.dep_ in ("dobj", "attr", "ROOT", "nsubj") else 0.0)
            )
            weight -= 0.5 if noun in UNSPECIFIC else 0.25 if len(said) == 1 else 0.0
            aliases = () if plain == label or plain in UNSPECIFIC or plain.split()[-1] in self._topic else (plain,)
            self._keep(head, label, weight, (number, root.i), aliases)
            if root.pos_ == "PROPN" and head in self._found:
                self._found[head].lead = ""

    def _take_offers(self, number: int, sentence: Span) -> None:
        """What the reader may do: “you can pause or cancel”."""
        for verb in sentence:
            if verb.pos_ != "VERB" or verb.lemma_.lower() in BARE | JOINING or not _offered(verb):
                continue
            joined = [verb, *(t for t in verb.rights if t.dep_ == "conj" and t.pos_ == "VERB")]
            objects = [t for one in joined for t in one.rights if t.dep_ in ("dobj", "ccomp", "xcomp")]
            if objects and objects[0].lemma_.lower() not in CIRCUMSTANTIAL:
                continue
            if objects:
                joined = [verb]
            bases = [normalised_text(t.lemma_) for t in joined]
            label = f"{', '.join(bases[:-1])} or {bases[-1]}" if len(bases) > 1 else bases[0]
            if objects:
                label = f"{bases[0]} {normalised_text(sentence.doc[objects[0].left_edge.i : objects[0].i + 1].text)}"
            aliases = [form for base in bases for form in (base, gerund_of(base)) if form != label]
            self._keep(tuple(bases), label, 2.0, (number, verb.i), aliases)
            self._found[tuple(bases)].lead = "being able to "

    def _is_topic(self, said: Sequence[Token], head: tuple[str, ...]) -> bool:
        """Whether a phrase names the concept itself: by its topic's noun, or by the name it goes by."""
        own = frozenset(key_of(" ".join(t.text for t in said)))
        if own <= self._brand or (said[-1].pos_ == "PROPN" and frozenset(head) <= self._brand):
            return True
        return own <= self._topic and head[-1:] == self._noun

    def _requirements(self, chosen: Sequence[_Found]) -> dict[int, set[int]]:
        """By position: the elements that one is said to come of."""
        places = {spot: i for i, one in enumerate(chosen) for spot in one.spots}
        required: dict[int, set[int]] = {}
        for number, doc in enumerate(self._docs):
            here = {token: i for (block, token), i in places.items() if block == number}
            for cause, effect in (*_by_connector(doc, here), *_by_verb(doc, here), *_by_preposition(doc, here)):
                if cause != effect and effect not in required.get(cause, ()):
                    required.setdefault(effect, set()).add(cause)
        return required


def _telling(chunk: Span) -> list[Token]:
    """The words of a noun phrase that name something: without articles, pronouns, numbers and what stands before."""
    said = [t for t in chunk if t.pos_ not in _SKIPPED and not t.like_num and t.dep_ not in ("det", "poss", "predet")]
    while said and (
        said[0].pos_ in ("ADP", "SCONJ") or said[0].lemma_.lower() in ("new", "own", "other", "next", "many")
    ):
        said.pop(0)
    return said


def _is_promise(chunk: Span) -> bool:
    """Whether a phrase says how long something takes or lasts: “within two working days”."""
    root = chunk.root
    timed = root.lemma_.lower() in DURATIONS and any(t.like_num for t in chunk)
    return timed and root.dep_ == "pobj" and root.head.lower_ in ("within", "in", "for", "after", "under")


def _label(said: Sequence[Token], chunk: Span) -> str:
    """The words of a phrase from the first telling one on, without a quotation's marks."""
    kept = said[-LABEL_WORDS:]
    return normalised_text(" ".join(chunk.doc[kept[0].i : chunk.end].text.split())).strip("“”\"'.,;:!? ")


def _compound(root: Token) -> list[Token]:
    return [*(t for t in root.lefts if t.dep_ == "compound" and t.pos_ in ("NOUN", "PROPN")), root]


def _brand(doc: Doc) -> frozenset[str]:
    """The words of the name that the first sentence introduces: “Kettle Club is a …”."""
    for sentence in doc.sents:
        for chunk in sentence.noun_chunks:
            introduced = chunk.root.dep_ == "dobj" and chunk.root.head.lemma_.lower() in INTRODUCING
            if (introduced or chunk.root.dep_ in ("nsubj", "nsubjpass")) and any(t.pos_ == "PROPN" for t in chunk):
                return frozenset(key_of(chunk.text))
        break
    return frozenset()


def _offered(verb: Token) -> bool:
    """Whether the reader is told that they can do it."""
    subject = next((t for t in verb.lefts if t.dep_ == "nsubj"), None)
    able = any(t.dep_ == "aux" and t.lower_ in ("can", "may", "could") for t in verb.lefts)
    return able and (subject is None or subject.lower_ == "you")


def _by_connector(doc: Doc, here: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Pairs (cause, effect) of elements that a connector joins."""
    for relation in discourse_relations(doc, split(doc)):
        if relation.kind in ("cause", "purpose"):
            causes, effects = (_within(doc, part, here) for part in (relation.antecedent, relation.consequent))
            if relation.kind == "purpose" and not effects:
                causes, effects = effects, causes
            yield from ((cause, effect) for cause in causes for effect in effects)


def _by_verb(doc: Doc, here: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Pairs (cause, effect) of elements where one brings the other about."""
    for token, i in here.items():
        if token >= len(doc) or doc[token].dep_ not in ("nsubj", "nsubjpass"):
            continue
        verb = doc[token].head
        if verb.lemma_.lower() in JOINING:
            objects = {t.i for t in verb.rights if t.dep_ in ("dobj", "nsubj")}
            yield from ((i, other) for at, other in here.items() if at in objects)


def _by_preposition(doc: Doc, here: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Pairs (cause, effect) of elements: “thanks to the cool box the vegetables stay fresh”."""
    for found in _THANKS.finditer(doc.text):
        after = sorted(at for at in here if at < len(doc) and doc[at].idx >= found.end())
        if not after or doc[after[0]].sent.start_char > found.start():
            continue
        sentence = doc[after[0]].sent
        for at, other in here.items():
            if sentence.start <= at < sentence.end and doc[at].dep_ in ("nsubj", "nsubjpass", "dobj"):
                yield here[after[0]], other


def _within(doc: Doc, part: str, here: dict[int, int]) -> Collection[int]:
    start = doc.text.find(part)
    if start < 0:
        return ()
    return {i for token, i in here.items() if token < len(doc) and start <= doc[token].idx < start + len(part)}


def _aliases(one: _Found, taken: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    found: dict[tuple[str, ...], str] = {}
    if one.lead not in ("", "the "):
        found[key_of(one.label)] = one.label
    for alias in one.aliases:
        key = key_of(alias)
        if key and key not in taken:
            found.setdefault(key, alias)
    return tuple(found.values())[:MOST_ALIASES]


def _of_lines(listed: Sequence[tuple[str, bool]]) -> tuple[Element, ...]:
    """The short items of lists, where the language is not parsed."""
    labels = list(
        dict.fromkeys(text.rstrip(" .;,!") for text, item in listed if item and word_count(text) <= LABEL_WORDS)
    )
    return tuple(Element(id=i, label=label) for i, label in zip(ids_of(labels), labels, strict=True))[:MOST_ELEMENTS]
