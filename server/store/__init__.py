"""The relational store: every interview in tables, written from the journal."""
