"""What the models make of the exemplars of a methodology, kept in a file: computing it takes seconds at each start."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from pipeline.ports import Vectors

WIDTH_DIGEST = 32


@dataclass(frozen=True, slots=True)
class Exemplars:
    """Vectors, shape [texts, dimension], and shape features, one set per text."""

    vectors: Vectors
    shapes: list[frozenset[str]]


class ExemplarFiles:
    """Files in a folder, one per list of texts and set of models; a file that can't be used is made again.

    Args:
        folder: where they are; made when the first one is kept.
        models: ids of the models with their versions.
    """

    def __init__(self, folder: Path, *models: str) -> None:
        self._folder = folder
        self._models = models

    def find(self, texts: Sequence[str]) -> Exemplars | None:
        """What is kept for these texts, None if nothing is."""
        try:
            with np.load(self._path(texts), allow_pickle=False) as kept:
                vectors = np.asarray(kept["vectors"], dtype=np.float32)
                shapes = [frozenset(shape) for shape in json.loads(str(kept["shapes"]))]
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None
        if vectors.ndim != 2 or len(vectors) != len(texts) or len(shapes) != len(texts):
            return None
        return Exemplars(vectors, shapes) if bool(np.isfinite(vectors).all()) else None

    def keep(self, texts: Sequence[str], found: Exemplars) -> None:
        """Keep it for the next start, where there is room."""
        path = self._path(texts)
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, scratch = tempfile.mkstemp(dir=path.parent, suffix=".new")
            try:
                with open(descriptor, "wb") as file:
                    shapes = json.dumps([sorted(shape) for shape in found.shapes])
                    np.savez(file, vectors=found.vectors, shapes=np.asarray(shapes))
                os.replace(scratch, path)
            except OSError:
                Path(scratch).unlink(missing_ok=True)
                raise

    def _path(self, texts: Sequence[str]) -> Path:
        content = json.dumps([*self._models, code_digest(), *texts])
        return self._folder / f"{hashlib.sha256(content.encode()).hexdigest()[:WIDTH_DIGEST]}.npz"


@cache
def code_digest() -> str:
    """Digest of the code and word lists that shapes follow from."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent.parent
    for path in sorted([*folder.glob("*.py"), *folder.glob("offline/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()
