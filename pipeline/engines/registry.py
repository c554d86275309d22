"""The decision engines of this version, by name."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.concept import SessionConfiguration
from pipeline.engines.arbitration import Arbitration
from pipeline.engines.base import DecisionEngine
from pipeline.engines.signal_pools import SignalPools
from pipeline.engines.two_tier import TwoTier
from pipeline.strategies import Strategies

ENGINES: Mapping[str, DecisionEngine] = {engine.name: engine for engine in (SignalPools(), TwoTier(), Arbitration())}


def strategies_of(engine: str, configuration: SessionConfiguration) -> Strategies:
    """What the engine of that name chooses from in an interview with this configuration. Raises KeyError."""
    return ENGINES[engine].strategies(configuration)
