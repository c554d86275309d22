"""Ledgers of blind files: which there are, with their digests."""

from __future__ import annotations

import re
from pathlib import Path


def listed_digests(ledger: Path) -> dict[str, str]:
    """The SHA-256 of each file in the first table of a ledger."""
    lines = ledger.read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([\w.]+)` \| \d+ \| `(\w{64})` \|$", lines, re.MULTILINE))
