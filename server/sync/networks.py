"""Which addresses are on the public internet, and which belong to the machine or to the network that it is in.

A server must not be made to call its own network by whoever names an address to send to. Calling an address public that
is not is the dangerous mistake; in doubt it is not.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_PROVIDER_SERVICES = frozenset({IPv4Address("168.63.129.16")})
"""Public by their number, and yet a service for the machines of one provider only."""
_TRANSLATED = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether that address is on the public internet; IPv4 inside IPv6 counts as what it is inside.

    Args:
        text: an address as the operating system writes it. Raises ValueError for anything else.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        if address.teredo is not None:
            return False
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _TRANSLATED:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return address.is_global and not address.is_multicast and address not in _PROVIDER_SERVICES
