"""Fetches the files of an artefact from a hub, and keeps none that has not the digest in the table."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

from artefacts.checking import replacement_for, sha256_of
from artefacts.errors import ArtefactDiffers, FetchFailed
from artefacts.table import Artefact, ArtefactFile

BLOCK_BYTES = 1 << 20
TIMEOUT_S = 60.0
"""Longest silence of the hub, in seconds."""


def fetch(artefact: Artefact, target: Path, endpoint: str) -> Path:
    """Get all files of an artefact that are not there yet; blocks until they are.

    Args:
        artefact: one with `hub`.
        target: the folder for its files; made if it is missing.
        endpoint: URL of the hub or of a mirror of it.
    Returns:
        The folder.
    Raises:
        FetchFailed: the hub can't be reached or refuses, or the file can't be written.
        ArtefactDiffers: it sends another file; nothing of that file is kept.
    """
    repository, _, revision = artefact.hub.partition("@")
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in artefact.files_here():
            path = target / file.path
            if path.is_file() and sha256_of(path) == file.sha256:
                continue
            _fetch_file(f"{endpoint.rstrip('/')}/{repository}/resolve/{revision}/{file.path}", file, path)
    except (OSError, HTTPException, ValueError) as exc:
        unreached = isinstance(exc, urllib.error.URLError) and not isinstance(exc, urllib.error.HTTPError)
        reason = getattr(exc, "reason", exc) if unreached else exc
        raise FetchFailed(
            f"{artefact.name} can't be fetched from {endpoint}: {reason}. Where that hub can't be reached, take the "
            f"files from a machine that reaches it, put them into {target}, and run: askwell models verify"
        ) from exc
    return target


def _fetch_file(url: str, file: ArtefactFile, path: Path) -> None:
    """Raises OSError, HTTPException, ValueError, ArtefactDiffers."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("the address of a hub begins with https:// or http://")
    digest, length = hashlib.sha256(), 0
    request = urllib.request.Request(url, headers={"User-Agent": "askwell"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response, replacement_for(path) as out:
        while block := response.read(BLOCK_BYTES):
            length += len(block)
            if file.size is not None and length > file.size:
                raise ValueError(f"{file.path} is longer than its {file.size} bytes")
            digest.update(block)
            out.write(block)
        if digest.hexdigest() != file.sha256:
            raise ArtefactDiffers(path, file.sha256, digest.hexdigest(), "Nothing of it was kept.")
