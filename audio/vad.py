"""Voice activity detection: the probability of speech in each frame of 32 ms, by Silero VAD v6.

One model serves any number of streams. Each stream has its own recurrent state, so streams are independent and may be
used from different threads (each stream from one thread at a time).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from artefacts.checking import check_bytes
from artefacts.errors import ArtefactError
from artefacts.table import of_kind
from audio.endpoint import FRAME_SAMPLES, Probabilities
from audio.errors import ModelMissing
from audio.types import Samples

CONTEXT_SAMPLES = 64
"""The model is given the last 4 ms of the previous frame, too."""
STATE_SIZE = 128
"""Width of the recurrent state."""
MAX_BATCH_FRAMES = 256
"""Most frames that are given to the model at once (8 s), which bounds the memory for a long recording."""
MIN_SPEECH_DBFS = -84.0
"""Frames below this loudness (a sample value of 2) are not speech, whatever the model says: the microphone is muted."""


class VoiceActivityStream(Protocol):
    """Voice activity detection in one stream of audio."""

    def push(self, samples: Samples) -> Probabilities:
        """The probability of speech, in [0, 1], of each frame that is now complete.

        Args:
            samples: the next ones, any number, mono, at RATE_HZ.
        Returns:
            Shape `[n]`, for `n` newly completed frames of FRAME_SAMPLES.
        """
        ...


class VoiceActivityDetector(Protocol):
    """Voice activity detection for a whole process; opens streams."""

    def open(self) -> VoiceActivityStream:
        """Open a new stream."""
        ...


def packaged_vad_model() -> Path:
    """The path of the model inside the package faster-whisper, which is not imported.

    Raises:
        ModelMissing: the package is not installed or does not contain the model.
    """
    (artefact,) = of_kind("vad")
    folder = artefact.folder()
    for file in artefact.files if folder is not None else ():
        if folder is not None and (folder / file.path).is_file():
            return folder / file.path
    raise ModelMissing(f"No voice activity model: pip install {artefact.packages[0]}, which carries it")


class SileroDetector:
    """Silero VAD v6 in onnxruntime; each call takes one thread.

    Args:
        model: path of the ONNX file; None for the one inside faster-whisper.
    Raises:
        ModelMissing: there is no such file, or it is not the pinned one.
    """

    def __init__(self, model: Path | None = None) -> None:
        path = model or packaged_vad_model()
        (artefact,) = of_kind("vad")
        try:
            data = path.read_bytes()
            check_bytes(path, data, artefact.files[0].sha256, artefact.remedy)
        except OSError as exc:
            raise ModelMissing(f"No voice activity model at {path}") from exc
        except ArtefactError as exc:
            raise ModelMissing(f"The voice activity model can't be used: {exc}") from exc
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            data, sess_options=options, providers=["CPUExecutionProvider"]
        )

    def open(self) -> SileroStream:
        """Open a new stream."""
        return SileroStream(self._session)


class SileroStream:
    """One stream: the recurrent state, the end of the last frame, and the samples of an incomplete frame."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._h = np.zeros((1, 1, STATE_SIZE), np.float32)
        self._c = np.zeros((1, 1, STATE_SIZE), np.float32)
        self._context = np.zeros(CONTEXT_SAMPLES, np.float32)
        self._rest = np.zeros(0, np.int16)

    def push(self, samples: Samples) -> Probabilities:
        """As `VoiceActivityStream.push`."""
        joined = np.concatenate([self._rest, samples])
        count = len(joined) // FRAME_SAMPLES
        self._rest = joined[count * FRAME_SAMPLES :].copy()
        found = [
            self._run(joined[first * FRAME_SAMPLES : min(first + MAX_BATCH_FRAMES, count) * FRAME_SAMPLES])
            for first in range(0, count, MAX_BATCH_FRAMES)
        ]
        return np.concatenate(found) if found else np.zeros(0, np.float32)

    def _run(self, samples: Samples) -> Probabilities:
        frames = samples.reshape(-1, FRAME_SAMPLES).astype(np.float32) / 32768.0
        context = np.concatenate([self._context[None], frames[:-1, -CONTEXT_SAMPLES:]])
        self._context = frames[-1, -CONTEXT_SAMPLES:].copy()
        feed = {"input": np.concatenate([context, frames], axis=1), "h": self._h, "c": self._c}
        probabilities, self._h, self._c = self._session.run(None, feed)
        return np.where(is_audible(frames), probabilities, np.float32(0)).astype(np.float32)


def is_audible(frames: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether each frame is loud enough to be speech; `[n, FRAME_SAMPLES]` in [-1, 1] → `[n]`.

    A threshold relative to the noise floor would cost a third of the speech in noise of 0 dB and gain nothing: the
    model itself reports no speech for noise, hum, music and clicks.
    """
    loud_enough: NDArray[np.bool_] = np.mean(np.square(frames), axis=1) >= 10.0 ** (MIN_SPEECH_DBFS / 10.0)
    return loud_enough
