"""Interviews once more: their answers through other engines and configurations, their decisions from the record."""
