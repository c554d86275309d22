"""Writes what the training programs of small models make, and says so."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import numpy as np

from pipeline.language.offline.clause_model import MADE_FOR, ClauseModel


def digest_of(content: bytes) -> str:
    """SHA-256 of the content of a file."""
    return hashlib.sha256(content).hexdigest()


def write(model: ClauseModel, path: Path) -> None:
    """Write a model with what it was made for, and tell its digest."""
    arrays = model.network.arrays(model.judge) | {MADE_FOR: np.array(model.upper_sha256)}
    np.savez(path, **arrays)  # type: ignore[arg-type]
    tell(f"written to {path}, SHA-256 {digest_of(path.read_bytes())}, which belongs into artefacts/artefacts.toml")


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
