"""Checks of the Host and Origin headers, and the server's own address in what it sends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from starlette.types import Scope

from config.settings import ServerSettings

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_LOCAL = tuple(
    map(
        ip_network,
        "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 fc00::/7 fe80::/10".split(),
    )
)
"""Networks whose addresses mean something else in every place."""


class HostMalformed(Exception):
    """A request has no Host header, more than one, or one that is no host; the message says which."""


def host_of(scope: Scope) -> str:
    """The Host header of a request. Raises HostMalformed."""
    found = [value for name, value in scope["headers"] if name == b"host"]
    if len(found) != 1:
        raise HostMalformed(f"A request needs one Host header; this one has {len(found) or 'none'}.")
    host: str = found[0].decode("latin-1")
    if not _HOST.fullmatch(host):
        raise HostMalformed("The Host header is not a host name or address, with or without a port.")
    return host


@dataclass(frozen=True)
class Origins:
    """The allowed hosts and origins of one process.

    On a loopback address only loopback names are allowed, against DNS rebinding: another site's page could reach the
    server under a name of its own that resolves to this machine. Elsewhere every name is allowed unless names are
    set. Loopback names are always allowed, for health checks.
    """

    settings: ServerSettings

    def host_allowed(self, host: str) -> bool:
        """Whether a request with this Host header is allowed; never one that is no host."""
        name = _name(host)
        allowed = set(self.settings.allowed_hosts)
        if "*" in allowed:
            return not host or bool(name)
        if self.settings.public_url:
            allowed.add(_name(urlsplit(self.settings.public_url).netloc))
        if self.settings.loopback:
            allowed.add(self.settings.host)
        elif not allowed:
            return bool(name)
        return name in allowed | _LOOPBACK_NAMES

    def is_known(self, host: str, scope: Scope) -> bool:
        """Whether the server itself has that name, whoever says so: from its settings, or as an address of its own.

        Addresses that only a local network has count as its own, because the machine may be behind a router or a
        container's network that changes them.
        """
        name = _name(host)
        if name in _LOOPBACK_NAMES | {self.settings.host.lower(), *map(str.lower, self.settings.allowed_hosts)}:
            return True
        try:
            address = ip_address(name)
        except ValueError:
            return False
        return name == _server_of(scope)[0] or any(address in network for network in _LOCAL)

    def base_url(self, scope: Scope) -> str:
        """The address of this server for links: the public one, else the request's own, if that is one of ours.

        Where the request names another host, it is the address that the request arrived at.
        """
        if self.settings.public_url:
            return self.settings.public_url.rstrip("/")
        host = host_of(scope)
        if not self.is_known(host, scope):
            name, port = _server_of(scope)
            host = f"[{name}]" if ":" in name else name
            host = f"{host}:{port}" if port else host
        return f"{scope.get('scheme', 'http')}://{host}"

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


def _server_of(scope: Scope) -> tuple[str, int | None]:
    """The address and port that a request arrived at; on a Unix socket, what a browser on this machine would use."""
    server = scope.get("server")
    if server is None or server[1] is None:
        return "localhost", None
    return str(server[0]), int(server[1])


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
