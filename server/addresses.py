"""The name under which clients of one address are counted, for limits; not for logs, nor to decide who may what."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv6Address, IPv6Network

from starlette.types import Scope

UNKNOWN = ""
"""What clients without an address share, such as those on a Unix socket."""
IPV6_PREFIX = 64
"""Bits of an IPv6 address that are counted as one: what a household or a phone is given."""


def address_of(scope: Scope) -> str:
    """The address of the client of a request or socket, as `limit_key` gives it.

    `scope["client"]` already is the client's own where a trusted proxy stands between (`ASKWELL_FORWARDED_ALLOW_IPS`).
    """
    client = scope.get("client")
    return limit_key(client[0] if client else UNKNOWN)


def limit_key(host: str) -> str:
    """The name an address is counted under: an IPv4 address itself, an IPv6 address's /64 network.

    Args:
        host: an address as the operating system or a proxy wrote it; what is none is returned as it is.
    """
    if ":" not in host:
        return host
    try:
        address = IPv6Address(host.partition("%")[0])
    except AddressValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address, IPV6_PREFIX), strict=False))
