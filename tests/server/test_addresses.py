"""The names that addresses are counted under."""

from __future__ import annotations

import pytest

from server.addresses import UNKNOWN, address_of, limit_key


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2::7", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::7", "2001:db8:1:3::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("not:an:address", "not:an:address"),
        ("", UNKNOWN),
    ],
)
def test_counted_of_an_address_is_its_ipv4_address_or_ipv6_network(host: str, name: str) -> None:
    assert limit_key(host) == name


def test_address_of_a_client_without_one_is_shared() -> None:
    assert address_of({"type": "http", "client": None}) == address_of({"type": "http"}) == UNKNOWN


def test_address_of_a_client_is_counted() -> None:
    assert address_of({"type": "http", "client": ("2001:db8::1", 4711)}) == "2001:db8::/64"
