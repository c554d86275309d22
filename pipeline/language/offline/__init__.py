"""The offline provider: interviews without any language model.

`load_offline` gives everything the ports ask for, loaded and warm; one per process serves all sessions.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spacy.language import Language

from pipeline.language.acts.hearing import ActHearing
from pipeline.language.acts.reading import RuleReader
from pipeline.language.embedder import OnnxEmbedder, SentenceTransformerEmbedder
from pipeline.language.offline.advice import Adviser
from pipeline.language.offline.elements import OfflineConceptParser
from pipeline.language.offline.exemplars import ExemplarFiles
from pipeline.language.offline.extraction import OfflineExtractor
from pipeline.language.offline.questions import OfflineQuestionWriter
from pipeline.language.offline.rating import OfflineRater
from pipeline.language.offline.slots import OfflineSlotProposer
from pipeline.language.offline.worth_model import WorthModel, load_worth
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.understanding import Reader
from pipeline.language.srl import SpacyParser, load_model
from pipeline.methodology import Methodology
from pipeline.ports import ActReader, QuestionWriter, RatingRequest

LocalEmbedder = OnnxEmbedder | SentenceTransformerEmbedder


@dataclass(frozen=True)
class OfflineProvider:
    """One implementation per port, sharing one parser and one embedder."""

    extractor: OfflineExtractor
    rater: OfflineRater
    slot_proposer: OfflineSlotProposer
    writer: QuestionWriter
    embedder: LocalEmbedder
    parser: SpacyParser
    reader: Reader | None
    act_reader: ActReader
    concept_parser: OfflineConceptParser

    async def warm(self, *methodologies: Methodology) -> None:
        """Build what is built once per methodology, so that no turn has to."""
        for methodology in methodologies:
            await self.extractor.warm(methodology)


@dataclass(frozen=True)
class SharedModels:
    """What a process loads before it is forked, for all of its children: nothing in it has threads.

    Without `embedder` each child loads a model of sentence-transformers: torch can't be forked once it has run.
    """

    nlp: Language
    embedder: OnnxEmbedder | None
    reader: Reader | None
    worth: WorthModel | None


def load_shared(*, spacy_model: str | None = None, built_in: bool = True, reader: bool = True) -> SharedModels:
    """Load on this thread what children can go on with.

    Args:
        spacy_model: as of `load_offline`.
        built_in: whether the built-in embedding model is used.
        reader: as of `load_offline`.
    Raises:
        ModelUnavailable: as of `load_offline`.
    """
    judge = load_reader() if reader else None
    return SharedModels(
        load_model(spacy_model),
        OnnxEmbedder() if built_in else None,
        judge,
        load_worth(judge) if judge is not None else None,
    )


async def load_offline(
    *,
    shared: SharedModels | None = None,
    executor: Executor | None = None,
    spacy_model: str | None = None,
    embedding_model: str | None = None,
    reader: bool = True,
    methodologies: tuple[Methodology, ...] = (),
    kept: Path | None = None,
) -> OfflineProvider:
    """Load models off the event loop and run each once.

    Args:
        shared: what this process found loaded when it was forked; it is used in place of the same models.
        executor: threads for parsing, embedding and everything that counts; None for the loop's default threads.
        spacy_model: package name; None for the best one installed.
        embedding_model: a model of sentence-transformers by name or path; None for the built-in one.
        reader: whether answers are judged by the trained reader; rules alone without it.
        methodologies: those whose types are to be ready before the first session.
        kept: a folder in which what the models make of methodologies is kept for the next start.
    Raises:
        ModelUnavailable: a model is missing; the message says what to install.
    """
    run = asyncio.get_running_loop().run_in_executor
    parser, embedder, judge = await asyncio.gather(
        run(
            executor,
            partial(SpacyParser, executor=executor, model=spacy_model, nlp=shared.nlp if shared is not None else None),
        ),
        run(executor, _load_embedder, executor, embedding_model, shared),
        run(executor, _load_reader, reader, shared),
    )
    worth = await run(executor, _load_worth, judge, shared)
    provider = _provider(parser, embedder, judge, worth, executor, kept)
    await provider.rater.rate(RatingRequest(text="It is quick, so I save time.", question="Why?", language="en"))
    await provider.embedder.embed(["saves time"])
    await provider.warm(*methodologies)
    return provider


def _load_embedder(executor: Executor | None, model: str | None, shared: SharedModels | None) -> LocalEmbedder:
    if model:
        return SentenceTransformerEmbedder(model, executor=executor)
    if shared is not None and shared.embedder is not None:
        return shared.embedder.on(executor)
    return OnnxEmbedder(executor=executor)


def _load_reader(wanted: bool, shared: SharedModels | None) -> Reader | None:
    if not wanted:
        return None
    return shared.reader if shared is not None and shared.reader is not None else load_reader()


def _load_worth(reader: Reader | None, shared: SharedModels | None) -> WorthModel | None:
    if reader is None:
        return None
    return shared.worth if shared is not None and shared.worth is not None else load_worth(reader)


def _provider(
    parser: SpacyParser,
    embedder: LocalEmbedder,
    reader: Reader | None,
    worth: WorthModel | None,
    executor: Executor | None,
    kept: Path | None,
) -> OfflineProvider:
    files = ExemplarFiles(kept, embedder.version, parser.version) if kept is not None else None
    return OfflineProvider(
        extractor=OfflineExtractor(parser, embedder, executor=executor, files=files, reader=reader),
        rater=OfflineRater(parser, executor=executor),
        slot_proposer=OfflineSlotProposer(parser, embedder, executor=executor),
        writer=OfflineQuestionWriter(
            embedder, Adviser(worth, parser.docs) if worth is not None else None, executor=executor
        ),
        embedder=embedder,
        parser=parser,
        reader=reader,
        act_reader=RuleReader()
        if reader is None
        else ActHearing(
            reader.network,
            reader.settings,
            reader.message,
            reader.talk,
            reader.danger,
            reader.replies,
            executor=executor,
        ),
        concept_parser=OfflineConceptParser(parser, executor=executor),
    )
