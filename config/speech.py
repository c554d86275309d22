"""Settings of speech: what understands it, how respondents are listened to, what their browsers do to the sound.

And what a concept that records has to say to its respondents.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from config.group import Group
from pipeline.concept import Concept, Patience

NO_MODEL = "none"
DEFAULT_WHISPER_MODEL = "tiny.en"


RECORDING = re.compile(
    r"\b(?:audio|voice|sound)[ -]?record|\brecord(?:ed|ing|s)?\b|aufgezeichnet|aufzeich|aufgenommen|aufnahme|aufnehm"
    r"|enregistr|grab(?:a|ó|ad|ación)|registra(?:r|d|z|t)|تسجيل|نسجل|يُسجَّل|يسجل",
    re.IGNORECASE,
)
"""Words by which a consent text may say that speech is kept, in the languages of the interface and their neighbours."""


def unannounced_recording(concept: Concept) -> str | None:
    """Why respondents would not know that their speech is kept; None if they would, or if it is not."""
    if not concept.record_audio:
        return None
    if concept.consent is None:
        return "nothing will be recorded: without a consent text nobody agrees to it"
    if RECORDING.search(concept.consent.text) is None:
        return "the consent text does not say that what respondents say is recorded"
    return None


class SpeechSettings(Group):
    """How respondents are heard; all of it happens on this machine."""

    whisper_model: str = Field(
        default=DEFAULT_WHISPER_MODEL,
        min_length=1,
        description="Speech model: a Whisper model by name, a directory with one in CTranslate2 form, or an installed "
        "package that holds one. `none`: answers are typed.",
    )
    whisper_workers: int | None = Field(
        default=None,
        ge=1,
        le=64,
        description="Transcriptions at the same time, one CPU thread each; if not set, one for each core, 4 at most.",
    )
    whisper_compute: str = Field(
        default="auto",
        pattern=r"^[a-z0-9_]+$",
        description="Numbers the model computes with, as CTranslate2 calls them; `auto`: `int8` on a CPU, `float16` "
        "on CUDA.",
    )
    whisper_download: bool = Field(
        default=False, description="Whether an official model that is not there may be downloaded at the start."
    )
    speculate: Literal["auto", "off", "transcript", "turn"] = Field(
        default="auto",
        description="How far work runs ahead while it is not yet certain that an answer is over: not at all, to its "
        "words, or to the decision on them. `auto`: `turn` where nothing is asked of a language model, which may cost "
        "money, else `transcript`.",
    )
    patience: Patience = Field(
        default="normal",
        description="How long a silence ends a spoken answer, where neither session nor concept says: 0.5, 0.8 or 1.8 "
        "s, longer after an unfinished sentence.",
    )
    turn_detector: bool = Field(
        default=True,
        description="Whether it is judged by the sound, too, that a speaker has finished, by a small model on this "
        "machine; a silence after what sounds unfinished is longer. If not, silence and words alone end answers.",
    )
    reopen_s: float = Field(
        default=3.0,
        ge=0,
        le=30,
        description="How long after the end of a spoken answer its speaker may go on, in seconds: the question that "
        "was begun is withdrawn then, and the answer is one. It is committed when the time is over. 0: it ends at "
        "once.",
    )
    second_reading: bool = Field(
        default=True,
        description="Whether a long spoken answer is read once more as a whole while it may still go on, where no "
        "speaker needs the time; what is understood otherwise then is stored beside the answer, and nothing is made of "
        "it.",
    )
    max_answer_s: float = Field(
        default=300.0, ge=10, le=3600, description="Longest spoken answer, where the concept does not say, in seconds."
    )
    take_your_time_s: float = Field(
        default=15.0,
        gt=0,
        le=300,
        description="How long no silence ends an answer after its speaker asked for time, in seconds.",
    )
    partial_every_ms: int = Field(
        default=1000, ge=0, le=10_000, description="Speech between two captions, in milliseconds; 0 for no captions."
    )
    barge_in: bool = Field(
        default=False,
        description="Whether speech counts while a question is read aloud; if not, what is heard meanwhile is passed "
        "over.",
    )
    max_speech_wait_s: float = Field(
        default=2.0,
        gt=0,
        description="Spoken answers are refused while one would wait longer than this for the transcriber, in seconds.",
    )
    max_audio_bytes: int = Field(
        default=67_108_864, ge=65_536, description="Largest recording that may be sent as an answer, in bytes."
    )
    max_uploads_per_address: int = Field(
        default=64,
        ge=1,
        description="Recordings that may be sent as answers at the same time from one address; a classroom often "
        "shares one.",
    )
    max_uploads_bytes: int = Field(
        default=268_435_456,
        ge=65_536,
        description="Bytes that recordings which are being sent to one process may take on its disk together; at "
        "least one of `ASKWELL_MAX_AUDIO_BYTES` always fits.",
    )
    max_decode_bytes: int = Field(
        default=268_435_456,
        ge=67_108_864,
        description="Memory that decoding a recording may take, in bytes, besides what its process takes anyway.",
    )
    decode_deadline_s: float = Field(
        default=30.0, gt=0, le=600, description="Longest time for decoding a recording, in seconds."
    )
    recordings: Path | None = Field(
        default=None,
        description="Directory for the speech that concepts with `record_audio` keep; `recordings` in the data "
        "directory if not set. Several nodes need one that they share.",
    )
    echo_cancellation: Literal["spoken", "on", "off"] = Field(
        default="spoken",
        description="Echo cancellation in the browser: only while questions are read aloud, always, never. It costs "
        "words.",
    )
    noise_suppression: bool = Field(
        default=False, description="Whether the browser suppresses noise. It costs words; the transcriber copes better."
    )
    auto_gain_control: bool = Field(default=False, description="Whether the browser controls the microphone's gain.")

    @field_validator("recordings")
    @classmethod
    def _expanded(cls, path: Path | None) -> Path | None:
        try:
            return None if path is None else path.expanduser()
        except RuntimeError as exc:
            raise ValueError(f"{path}: there is no user of that name") from exc
