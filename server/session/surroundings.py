"""What the owners of a node share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from server.session.measure import Observer, ignore
from server.session.ports import Hot, Pipeline
from server.session.settings import HubSettings


@dataclass(frozen=True)
class Surroundings:
    """What owners share.

    Args:
        hot: hot storage.
        pipeline: the interview itself.
        settings: times and bounds.
        now: wall clock, with zone.
        clock: monotonic seconds.
        new_id: makes ids of owners and commands.
        observe: told of every run of a turn.
    """

    hot: Hot
    pipeline: Pipeline
    settings: HubSettings
    now: Callable[[], datetime]
    clock: Callable[[], float]
    new_id: Callable[[], str]
    observe: Observer = ignore
