"""Tests of server/realtime."""
