"""Signals: named values that describe an interview after an answer, grouped in pools."""
