"""The model of what is worth saying next: an encoder of answers, and what judges its vectors.

It is made by `python -m pipeline.language.training.worth` from moderators' ratings of what could be said next, and lies
in the folder `worth` beside this module: `encoder.onnx`, and `heads.npz` with the digest of the encoder that it is for.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from pipeline.language.embedder import ModelUnavailable
from pipeline.language.offline.perceptron import Perceptron
from pipeline.language.reader.files import REMEDY
from pipeline.language.reader.network import AnswerEncoder

FOLDER: Final = Path(__file__).with_name("worth")
ENCODER, HEADS, DIGEST = "encoder.onnx", "heads.npz", "encoder_sha256"


@dataclass(frozen=True)
class WorthModel:
    """A model, ready to be asked.

    Attributes:
        encoder: reads answers.
        echoes: of a clause that could be said back, its rating, and how well each probe behind it fits.
        moves: of a moment, the rating of each kind of bare probe, and of each way to go on in a concept test.
    """

    encoder: AnswerEncoder
    echoes: Perceptron
    moves: Perceptron


def load_worth(folder: Path = FOLDER) -> WorthModel:
    """The model in a folder.

    Raises:
        ModelUnavailable: a file is missing, damaged, or of another model; the message says what to do.
    """
    try:
        encoder, heads = (folder / ENCODER).read_bytes(), (folder / HEADS).read_bytes()
    except OSError as exc:
        raise ModelUnavailable(f"{exc.filename} can't be read: {exc.strerror}. {REMEDY}") from exc
    try:
        with np.load(io.BytesIO(heads), allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept.files}
        wanted, found = str(arrays[DIGEST]), hashlib.sha256(encoder).hexdigest()
        if wanted != found:
            raise ModelUnavailable(
                f"{folder / ENCODER} is not the file that belongs to {HEADS}: SHA-256 {found}. {REMEDY}"
            )
        return WorthModel(AnswerEncoder(encoder), *(Perceptron.read(arrays, name) for name in ("echoes", "moves")))
    except (EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as exc:
        raise ModelUnavailable(f"{folder / HEADS} is damaged: {exc}. {REMEDY}") from exc
