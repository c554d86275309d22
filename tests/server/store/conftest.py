"""Fixtures of the store's tests."""

from __future__ import annotations

from tests.support.redis_fixtures import database, embedded_url, hot, sqlite_file

__all__ = ["database", "embedded_url", "hot", "sqlite_file"]
