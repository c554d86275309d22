"""Fixtures of the hot store's tests."""

from __future__ import annotations

from tests.support.redis_fixtures import embedded_url, hot

__all__ = ["embedded_url", "hot"]
