"""The model of what is worth saying next: layers over what the reader's first layers see, and what judges them.

It is made by `python -m pipeline.language.training.worth` from moderators' ratings of what could be said next, and lies
in the folder `worth` beside this module: `upper.onnx`, and `heads.npz` with the digests of that and of the encoder of
the reader that both are for. `dangling.npz` and `loss.npz` go with it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import onnxruntime

from pipeline.language.embedder import ModelUnavailable, session_options
from pipeline.language.offline.clause_model import ClauseModel
from pipeline.language.offline.dangling import DanglingModel
from pipeline.language.offline.loss import LossModel
from pipeline.language.reader.files import REMEDY
from pipeline.language.reader.network import REMEMBERED, Floats, Reading
from pipeline.language.reader.perceptron import Perceptron
from pipeline.language.reader.understanding import Reader

FOLDER: Final = Path(__file__).with_name("worth")
UPPER, HEADS = "upper.onnx", "heads.npz"
UPPER_DIGEST, READER_DIGEST = "upper_sha256", "encoder_sha256"
Judging = TypeVar("Judging", bound=ClauseModel)


class Upper:
    """The layers over what the reader's first layers see; safe to use from several threads.

    Args:
        reader: reads answers first.
        content: of the ONNX file.
    """

    def __init__(self, reader: Reader, content: bytes) -> None:
        self._network = reader.network
        self._session = onnxruntime.InferenceSession(content, session_options(), providers=["CPUExecutionProvider"])
        self._over = lru_cache(REMEMBERED)(self._read)

    def read(self, question: str, answer: str) -> Reading:
        """An answer as the model sees it; the same one again without work."""
        return self._over(self._network.read(question, "", answer))

    def _read(self, reading: Reading) -> Reading:
        hidden: list[Floats] = []
        for early in reading.early:
            mask = np.ones((1, len(early)), dtype=np.int64)
            [seen] = self._session.run(["hidden"], {"early": early[None], "mask": mask})
            hidden.append(np.asarray(seen[0], dtype=np.float32))
        return Reading.of(reading.encoding, hidden, (), reading.mean.shape[1])


@dataclass(frozen=True)
class WorthModel:
    """A model, ready to be asked; safe to use from several threads.

    Attributes:
        upper: its layers.
        echoes: of a clause that could be said back, its rating, and how well each probe behind it fits.
        moves: of a moment, the rating of each kind of bare probe, and of each way to go on in a concept test.
        dangling: of a clause that could be said back, whether there is more to it.
        loss: of an answer, the words that tell of a death.
    """

    upper: Upper
    echoes: Perceptron
    moves: Perceptron
    dangling: DanglingModel
    loss: LossModel

    def read(self, question: str, answer: str) -> Reading:
        """An answer as the model sees it; the same one again without work."""
        return self.upper.read(question, answer)


def load_worth(reader: Reader, folder: Path = FOLDER) -> WorthModel:
    """The model in a folder.

    Raises:
        ModelUnavailable: a file is missing, damaged, or of another model or reader; the message says what to do.
    """
    try:
        upper, heads = ((folder / name).read_bytes() for name in (UPPER, HEADS))
    except OSError as exc:
        raise ModelUnavailable(f"{exc.filename} can't be read: {exc.strerror}. {REMEDY}") from exc
    try:
        with np.load(io.BytesIO(heads), allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        wanted, found = str(arrays[UPPER_DIGEST]), hashlib.sha256(upper).hexdigest()
        if wanted != found:
            told = f"{folder / UPPER} is not the file that belongs to {HEADS}: SHA-256 {found}."
            raise ModelUnavailable(f"{told} {REMEDY}")
        if str(arrays[READER_DIGEST]) != reader.settings.encoder_sha256:
            raise ModelUnavailable(f"{folder / HEADS} is for another reader. {REMEDY}")
        echoes, moves = (Perceptron.read(arrays, name) for name in ("echoes", "moves"))
    except (EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as exc:
        raise ModelUnavailable(f"{folder / HEADS} is damaged: {exc}. {REMEDY}") from exc
    judges = Upper(reader, upper), echoes, moves
    return WorthModel(*judges, _judging(DanglingModel, folder, wanted), _judging(LossModel, folder, wanted))


def _judging(kind: type[Judging], folder: Path, upper_sha256: str) -> Judging:
    """A model of clauses that goes with some layers. Raises ModelUnavailable."""
    path = folder / kind.file
    try:
        model = kind.read(path.read_bytes())
    except OSError as exc:
        raise ModelUnavailable(f"{path} can't be read: {exc.strerror}. {REMEDY}") from exc
    except (EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as exc:
        raise ModelUnavailable(f"{path} is damaged: {exc}. {REMEDY}") from exc
    if model.upper_sha256 != upper_sha256:
        raise ModelUnavailable(f"{path} is for another {UPPER}. {REMEDY}")
    return model
