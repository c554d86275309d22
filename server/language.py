"""The language providers that the settings ask for, loaded once per process and warm."""

from __future__ import annotations

from concurrent.futures import Executor

from config.settings import Settings
from pipeline.methodology import Methodology
from pipeline.turn import Providers


async def load_providers(settings: Settings, executor: Executor, methodologies: tuple[Methodology, ...]) -> Providers:
    """Providers of all roles.

    Args:
        settings: which embedder and parser; every role is `offline` in this version.
        executor: where parsing and embedding run.
        methodologies: those whose types are to be ready before the first session.
    Raises:
        ProviderError: a model is missing or can't be loaded.
    """
    # Imported here: it takes seconds that commands without a model should not spend.
    from pipeline.language.offline import load_offline

    language = settings.language
    offline = await load_offline(
        executor=executor,
        spacy_model=language.spacy_model,
        embedding_model=language.embedder_model if language.embedder == "sentence-transformers" else None,
        methodologies=methodologies,
    )
    return Providers(
        extractor=offline.extractor,
        rater=offline.rater,
        slot_proposer=offline.slot_proposer,
        writer=offline.writer,
        embedder=offline.embedder,
        parser=offline.parser,
    )
