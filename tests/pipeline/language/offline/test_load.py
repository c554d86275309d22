"""The provider as a whole: every port filled, nothing on the event loop's thread."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.language.embedder import ModelUnavailable
from pipeline.language.offline import load_offline
from pipeline.ports import Embedder, ExtractionRequest, Parser, RatingRequest, SlotProposer
from tests.quality.run import methodology


async def test_load_offline_fills_every_port_and_works_on_its_executor() -> None:
    used: set[str] = set()

    def note() -> None:
        used.add(threading.current_thread().name)

    with ThreadPoolExecutor(1, thread_name_prefix="models", initializer=note) as executor:
        provider = await load_offline(executor=executor, methodologies=(methodology("means_end_chain"),))
        assert isinstance(provider.parser, Parser)
        assert isinstance(provider.embedder, Embedder)
        assert isinstance(provider.slot_proposer, SlotProposer)
        request = ExtractionRequest(
            text="It is light, so I take it everywhere.",
            utterance_id="u",
            question="What do you like?",
            topic="a tent",
            methodology=methodology("means_end_chain"),
            language="en",
        )
        assert len((await provider.extractor.extract(request)).concepts) == 2
        rating = await provider.rater.rate(RatingRequest(text=request.text, question=request.question, language="en"))
        assert rating.provider == "offline"
        assert used == {"models_0"}


async def test_load_offline_unknown_spacy_model_says_so() -> None:
    with pytest.raises(ModelUnavailable, match="xx_core_nowhere"):
        await load_offline(spacy_model="xx_core_nowhere")
