"""The base of all groups of settings."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """Settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def check_url(url: str, schemes: list[str] | None, example: str) -> None:
    """Raises ValueError, without repeating the URL: it may hold a password."""
    scheme, separator, _ = url.partition("://")
    if not separator or (schemes is not None and scheme not in schemes):
        raise ValueError(f"not a URL such as {example}")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise ValueError(f"its host or port can't be read; it should look like {example}") from exc
    if port == 0:
        raise ValueError("port 0 can't be connected to")
