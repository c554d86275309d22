"""A small network that judges clauses of an answer, over the vectors of the model of what is worth saying next."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Self

import numpy as np

from pipeline.language.reader.network import Floats
from pipeline.language.reader.perceptron import Perceptron

MADE_FOR: Final = "upper_sha256"
"""Name in the file of the digest of the model whose vectors it reads."""


class ClauseModel:
    """The network, ready to be asked; safe to use from several threads.

    Args:
        network: its weights.
        upper_sha256: digest of the model whose vectors it has learned to read.
    """

    file: ClassVar[str]
    """Its file in the folder `worth`."""
    judge: ClassVar[str]
    """Begins the names of its weights in the file."""

    def __init__(self, network: Perceptron, upper_sha256: str) -> None:
        self.network = network
        self.upper_sha256 = upper_sha256

    @classmethod
    def read(cls, content: bytes) -> Self:
        """From the content of the file.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            return cls(Perceptron.read(kept, cls.judge), str(kept[MADE_FOR]))

    def probabilities(self, rows: Iterable[tuple[Floats, Mapping[str, float]]]) -> Floats:
        """Of each clause, by what is seen of it and its features, how likely it is, [clauses] in [0, 1]."""
        found = [self.network.row(seen, named) for seen, named in rows]
        if not found:
            return np.zeros(0, dtype=np.float32)
        return np.asarray(1.0 / (1.0 + np.exp(-self.network.outputs(found)[:, 0])), dtype=np.float32)
