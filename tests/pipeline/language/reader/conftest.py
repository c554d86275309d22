"""The reader with its model, loaded once."""

from __future__ import annotations

import pytest

from pipeline.language.reader.files import load_reader
from pipeline.language.reader.understanding import Reader


@pytest.fixture(scope="session")
def reader() -> Reader:
    return load_reader()
