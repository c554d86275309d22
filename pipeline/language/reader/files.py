"""Finds and checks the files of the reader's model."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from pipeline.acts import ACTS
from pipeline.language.embedder import ModelUnavailable
from pipeline.language.reader.danger import DangerModel
from pipeline.language.reader.message import MessageModel
from pipeline.language.reader.network import ReaderNetwork
from pipeline.language.reader.replies import ReplyModel
from pipeline.language.reader.settings import VERSION, ReaderSettings
from pipeline.language.reader.talk import TalkModel
from pipeline.language.reader.understanding import Reader

FOLDER = Path(__file__).parent / "model"
ENCODER, HEADS, SETTINGS = "encoder.onnx", "heads.npz", "reader.json"
MESSAGE, TALK, DANGER, REPLIES = "message.npz", "talk.npz", "danger.npz", "replies.npz"
Beside = TypeVar("Beside", MessageModel, TalkModel, DangerModel, ReplyModel)
REMEDY = "Install askwell again, or set ASKWELL_READER=rules to do without it."


def load_reader(folder: Path = FOLDER) -> Reader:
    """The reader with its model, loaded.

    Args:
        folder: with `encoder.onnx`, `heads.npz`, `reader.json`, `message.npz`, `talk.npz`, `danger.npz`,
            `replies.npz`.
    Raises:
        ModelUnavailable: a file is missing, damaged, or of another version; the message says what to do.
    """
    settings = _settings(folder / SETTINGS)
    encoder = _checked(folder / ENCODER, settings.encoder_sha256)
    heads = _checked(folder / HEADS, settings.heads_sha256)
    try:
        network = ReaderNetwork(encoder, heads)
    except ModelUnavailable:
        raise
    except Exception as exc:  # onnxruntime and numpy raise types of their own
        raise ModelUnavailable(f"The reader's model in {folder} can't be loaded: {exc}. {REMEDY}") from exc
    return Reader(
        network,
        settings,
        _beside(MessageModel, folder / MESSAGE, settings.encoder_sha256),
        _beside(TalkModel, folder / TALK, settings.encoder_sha256),
        _beside(DangerModel, folder / DANGER, settings.encoder_sha256),
        _beside(ReplyModel, folder / REPLIES, settings.encoder_sha256),
    )


def _settings(path: Path) -> ReaderSettings:
    try:
        data = json.loads(path.read_bytes())
    except OSError as exc:
        raise ModelUnavailable(f"{path} can't be read: {exc.strerror}. {REMEDY}") from exc
    except ValueError as exc:
        raise ModelUnavailable(f"{path} is damaged: it is no JSON. {REMEDY}") from exc
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise ModelUnavailable(f"{path} is of version {version}; this askwell reads version {VERSION}. {REMEDY}")
    try:
        settings = ReaderSettings.model_validate(data)
    except ValidationError as exc:
        raise ModelUnavailable(f"{path} is damaged: {exc.errors()[0]['msg']}. {REMEDY}") from exc
    if ("tells", *settings.acts) != ACTS:
        raise ModelUnavailable(f"{path} is of a model that hears other acts than this askwell knows. {REMEDY}")
    return settings


def _beside(kind: type[Beside], path: Path, encoder_sha256: str) -> Beside:
    """A model that goes with the encoder of that digest."""
    try:
        model = kind.read(path.read_bytes())
    except OSError as exc:
        raise ModelUnavailable(f"{path} can't be read: {exc.strerror}. {REMEDY}") from exc
    except (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as exc:
        raise ModelUnavailable(f"{path} is damaged: {exc}. {REMEDY}") from exc
    if model.encoder_sha256 != encoder_sha256:
        raise ModelUnavailable(f"{path} is for another reader. {REMEDY}")
    return model


def _checked(path: Path, sha256: str) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise ModelUnavailable(f"{path} can't be read: {exc.strerror}. {REMEDY}") from exc
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ModelUnavailable(f"{path} is not the file that belongs to this model: SHA-256 {found}. {REMEDY}")
    return data
