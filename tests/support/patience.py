"""How long tests wait for what must happen."""

PATIENCE_S = 60.0
"""Only what never happens takes so long, so that no test fails because a machine is slow."""
