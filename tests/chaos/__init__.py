"""Kills the server at the boundaries of a turn and lets an oracle look at what is left; run by `make chaos`."""
