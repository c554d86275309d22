"""How likely it is that somebody speaks: Silero VAD v6, frame by frame, and a gate for what is too quiet to be speech.

One model serves any number of streams; what it remembers of a stream lies in the stream's own state, so streams are
independent and may be asked from different threads (each stream from one thread at a time).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from audio.endpoint import FRAME_SAMPLES, Probabilities
from audio.errors import ModelMissing
from audio.types import Samples

CONTEXT_SAMPLES = 64
"""The model sees the end of the frame before: 4 ms."""
STATE_SIZE = 128
MAX_BATCH_FRAMES = 256
"""Frames given to the model at once (8 s): bounds memory for a whole recording."""
MIN_SPEECH_DBFS = -84.0
"""Under this (2 of 32 768) nobody speaks: a muted microphone, whatever the model remembers of the last word."""


class VoiceActivityStream(Protocol):
    """Voice activity of one stream of audio."""

    def push(self, samples: Samples) -> Probabilities:
        """Probabilities in [0, 1] of the frames that these samples (any number, mono at RATE_HZ) complete, `[n]`."""
        ...


class VoiceActivityDetector(Protocol):
    """Makes streams; one for the whole process."""

    def open(self) -> VoiceActivityStream:
        """A stream that has heard nothing yet."""
        ...


def packaged_vad_model() -> Path:
    """The model that faster-whisper carries; its code is not imported.

    Raises:
        ModelMissing: it is not installed or carries none.
    """
    found = importlib.util.find_spec("faster_whisper")
    for folder in (found.submodule_search_locations or ()) if found else ():
        models = sorted(Path(folder, "assets").glob("silero_vad_v6*.onnx"))
        if models:
            return models[-1]
    raise ModelMissing("No voice activity model: pip install 'faster-whisper>=1.2,<1.3', which carries it")


class SileroDetector:
    """Silero VAD v6 in onnxruntime, one thread per call.

    Raises:
        ModelMissing: there is no such file.
    """

    def __init__(self, model: Path | None = None) -> None:
        path = model or packaged_vad_model()
        if not path.is_file():
            raise ModelMissing(f"No voice activity model at {path}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )

    def open(self) -> SileroStream:
        """A stream that has heard nothing yet."""
        return SileroStream(self._session)


class SileroStream:
    """One stream: the model's memory, the last 64 samples, and what does not fill a frame yet."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._h = np.zeros((1, 1, STATE_SIZE), np.float32)
        self._c = np.zeros((1, 1, STATE_SIZE), np.float32)
        self._context = np.zeros(CONTEXT_SAMPLES, np.float32)
        self._rest = np.zeros(0, np.int16)

    def push(self, samples: Samples) -> Probabilities:
        """Probabilities in [0, 1] of the frames that these samples complete, shape `[n]`."""
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
    """For frames `[n, FRAME_SAMPLES]` in [-1, 1]: whether each is loud enough to be speech, `[n]`.

    A threshold above the measured noise floor would cost a third of the speech at 0 dB and gain nothing: the model
    itself says nothing on noise, hum, music and clicks.
    """
    heard: NDArray[np.bool_] = np.mean(np.square(frames), axis=1) >= 10.0 ** (MIN_SPEECH_DBFS / 10.0)
    return heard
