"""Checks of the Host and Origin headers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from config.settings import ServerSettings

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Origins:
    """The allowed hosts and origins of one process.

    On a loopback address only loopback names are allowed, against DNS rebinding: another site's page could reach the
    server under a name of its own that resolves to this machine. Elsewhere every name is allowed unless names are
    set. Loopback names are always allowed, for health checks.
    """

    settings: ServerSettings

    def host_allowed(self, host: str) -> bool:
        """Whether a request with this Host header is allowed."""
        name = _name(host)
        allowed = set(self.settings.allowed_hosts)
        if "*" in allowed:
            return True
        if self.settings.public_url:
            allowed.add(_name(urlsplit(self.settings.public_url).netloc))
        if self.settings.loopback:
            allowed.add(self.settings.host)
        elif not allowed:
            return bool(name)
        return name in allowed | _LOOPBACK_NAMES

    def origin_allowed(self, origin: str, host: str) -> bool:
        """Whether a page of this origin may call the server reached under `host`."""
        settings = self.settings
        if "*" in settings.allowed_origins or origin in settings.allowed_origins:
            return True
        if settings.public_url and origin == settings.public_url.rstrip("/"):
            return True
        return is_own_page(origin, host)


def is_own_page(origin: str, host: str) -> bool:
    """Whether `Origin` is the server that was reached under `Host`; False for a malformed one."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return bool(host) and parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
