"""Decision engine `arbitration`: every strategy that applies, multiplied by what nine scorers make of it."""

from __future__ import annotations

from pipeline.engines.arbitration.engine import Arbitration

__all__ = ["Arbitration"]
