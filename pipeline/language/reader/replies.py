"""What somebody means who was asked back: whether to go on, to stop, whether anybody is in danger (English).

“let me blow my nose”, “haha no it's hay fever”, “scrub my kids names and keep the rest”: people answer such questions
in words of their own more often than in those of the question. A linear model over the reader's vectors of the message
and what its words, one by one and in pairs, speak for have learned from messages that were written for it by several
hands. They are made by `python -m pipeline.language.training.replies`, and lie beside the reader's model as
`replies.npz`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.acts import AskedBack
from pipeline.language.reader.linear import LinearModel
from pipeline.language.reader.network import Floats, Reading

Meaning = Literal[
    "pause",
    "go_on",
    "not_upset",
    "something_else",
    "stop",
    "tells",
    "in_danger",
    "no_danger",
    "unsure",
    "delete_all",
    "keep",
    "part",
]
MEANINGS: Final[tuple[Meaning, ...]] = (
    "pause", "go_on", "not_upset", "something_else", "stop", "tells", "in_danger", "no_danger", "unsure",
    "delete_all", "keep", "part",
)  # fmt: skip
"""A break; to go on; they are not upset; another subject; the end; nothing but to tell on; somebody is in danger;
nobody is; they will not say; everything is to be deleted; nothing; a part."""
MEANT: Final[Mapping[AskedBack, tuple[Meaning, ...]]] = {
    "ways": ("pause", "go_on", "not_upset", "something_else", "stop", "tells"),
    "stop": ("pause", "go_on", "stop", "tells"),
    "pause": ("pause", "go_on", "stop", "tells"),
    "risk": ("in_danger", "no_danger", "unsure"),
    "withdrawal": ("delete_all", "keep", "part"),
}
"""What may be meant after each question."""
READER_DIGEST: Final = "encoder_sha256"
_NEVER: Final = -1e9


class ReplyModel:
    """The model, ready to be asked; safe to use from several threads.

    Args:
        model: its weights.
        encoder_sha256: digest of the reader's encoder that it is for.
    """

    def __init__(self, model: LinearModel, encoder_sha256: str) -> None:
        self.encoder_sha256 = encoder_sha256
        self._model = model

    @classmethod
    def read(cls, content: bytes) -> ReplyModel:
        """From the content of `replies.npz`.

        Raises:
            KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile: it is damaged.
        """
        with np.load(io.BytesIO(content), allow_pickle=False) as kept:
            return cls(LinearModel.read(kept, len(MEANINGS)), str(kept[READER_DIGEST]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `read` reads, by name."""
        return self._model.arrays() | {READER_DIGEST: np.array(self.encoder_sha256)}

    def most(self, text: str, reading: Reading, asked: AskedBack) -> tuple[Meaning, float] | None:
        """What is most likely meant, and its probability among what may be; None where nothing was read.

        Args:
            text: the message.
            reading: it, read behind the question.
            asked: what was asked.
        """
        if not reading.words:
            return None
        chances = np.exp(self._model.log_chances(text, reading, open_to(asked)))
        best = int(chances.argmax())
        return MEANINGS[best], float(chances[best])


def open_to(asked: AskedBack) -> Floats:
    """What is added to the odds of each meaning, so that only what may be meant counts, [meanings]."""
    return np.array([0.0 if meaning in MEANT[asked] else _NEVER for meaning in MEANINGS], dtype=np.float32)
