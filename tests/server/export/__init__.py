"""Tests of server/export."""
