"""The schema's migrations."""
