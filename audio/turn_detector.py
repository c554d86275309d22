"""The turn detector: how likely it sounds, by its last seconds, that somebody has finished. Smart Turn v3, by Daily.

It hears how words are said and not which: the pitch that falls, the syllable that is drawn out. Words are judged
elsewhere (`audio.endpoint.is_unfinished`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime

from artefacts.checking import check_bytes
from artefacts.errors import ArtefactError
from artefacts.table import of_kind
from audio.errors import DetectorFailed, ModelMissing
from audio.log_mel import log_mel
from audio.types import RATE_HZ, Samples

HEARD_SAMPLES = 8 * RATE_HZ
"""The model hears the last 8 s; what is shorter is preceded by silence."""
LEAST_VARIANCE = 1e-7


class TurnDetector(Protocol):
    """Judges whether somebody has finished."""

    def finished(self, samples: Samples) -> float:
        """The probability, in [0, 1], that nothing follows. Takes some 50 ms of one processor; from any thread.

        Args:
            samples: the sound up to now, with the beginning of the silence; only its last HEARD_SAMPLES count.
        Raises:
            DetectorFailed: the model failed.
        """
        ...


def packaged_turn_model() -> Path:
    """The path of the model in askwell's own package; whether it is there is not looked at."""
    (artefact,) = of_kind("turn")
    return (artefact.folder() or Path()) / artefact.files[0].path


class SmartTurn:
    """Smart Turn v3 in onnxruntime; each call takes one thread.

    Args:
        model: path of the ONNX file; None for the packaged one.
    Raises:
        ModelMissing: there is no such file, or it is not the pinned one.
    """

    def __init__(self, model: Path | None = None) -> None:
        path = model or packaged_turn_model()
        (artefact,) = of_kind("turn")
        try:
            data = path.read_bytes()
            check_bytes(path, data, artefact.files[0].sha256, artefact.remedy)
        except OSError as exc:
            raise ModelMissing(f"{path} can't be read: {exc.strerror}. {artefact.remedy}") from exc
        except ArtefactError as exc:
            raise ModelMissing(str(exc)) from exc
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(
                data, sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as exc:  # onnxruntime raises types of its own
            raise ModelMissing(f"{path} can't be loaded: {exc}. {artefact.remedy}") from exc

    def finished(self, samples: Samples) -> float:
        """As `TurnDetector.finished`."""
        heard = samples[-HEARD_SAMPLES:].astype(np.float32) / 32768.0
        sound = np.zeros(HEARD_SAMPLES, np.float32)
        sound[HEARD_SAMPLES - len(heard) :] = heard
        sound = (sound - sound.mean()) / np.sqrt(sound.var() + LEAST_VARIANCE)
        try:
            (found,) = self._session.run(None, {"input_features": log_mel(sound)[None]})
        except Exception as exc:  # as above
            raise DetectorFailed(f"The turn detector failed: {exc}") from exc
        return float(found.item())
