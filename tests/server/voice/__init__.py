"""Tests of server/voice."""
