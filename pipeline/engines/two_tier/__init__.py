"""Decision engine `two_tier`: vetoes first, then a weighted sum of raw scores, times what the phase prefers."""

from __future__ import annotations

from pipeline.engines.two_tier.engine import TwoTier

__all__ = ["TwoTier"]
