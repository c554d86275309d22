"""One parser and one embedder for all tests of the offline provider."""

from __future__ import annotations

import pytest

from pipeline.language.embedder import OnnxEmbedder
from pipeline.language.offline.worth_model import WorthModel, load_worth
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.understanding import Reader
from pipeline.language.srl import SpacyParser


@pytest.fixture(scope="session")
def parser() -> SpacyParser:
    return SpacyParser()


@pytest.fixture(scope="session")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture(scope="session")
def reader() -> Reader:
    """The reader that is shipped."""
    return load_reader()


@pytest.fixture(scope="session")
def worth(reader: Reader) -> WorthModel:
    """The model of what is worth saying next, which is shipped."""
    return load_worth(reader)
