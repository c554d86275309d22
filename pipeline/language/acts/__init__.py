"""Reads dialogue acts by rules, one file of rules per language."""
