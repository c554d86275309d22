"""What belongs to a model of the reader besides its weights: thresholds and calibration, found when it was trained."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

VERSION = 1
"""Form of the model that this code reads; a model of another one is refused."""


class ActThreshold(BaseModel):
    """From which probability an act counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alone: float = Field(ge=0, le=1, description="Heard by the reader alone: it is asked back, or done if `sure`.")
    agrees: float = Field(ge=0, le=1, description="Enough to confirm what a rule has heard.")
    sure: float = Field(default=1.01, ge=0, description="Done without a rule; above 1 never.")


class ReaderSettings(BaseModel):
    """The content of `reader.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(description="Form of the model.")
    encoder_sha256: str = Field(description="Digest of `encoder.onnx`.")
    heads_sha256: str = Field(description="Digest of `heads.npz`.")
    corpus_sha256: str = Field(description="Digest of what it was trained on.")
    keep_from: float = Field(description="Logit from which a span is a concept.")
    none_from: float = Field(ge=0, le=1, description="Probability of no type from which a concept is dropped.")
    link_from: float = Field(ge=0, le=1, description="Calibrated probability from which a link is stated or answered.")
    guess_from: float = Field(ge=0, le=1, description="Calibrated probability from which it is kept as inferred.")
    link_scale: float = Field(description="Calibration of links: factor of the logit.")
    link_shift: float = Field(description="Calibration of links: what is added to it.")
    acts: dict[str, ActThreshold] = Field(description="By act, in the order of the network's outputs after `tells`.")
