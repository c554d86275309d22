"""What the owners of a node share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from pipeline.concept import SessionConfiguration
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
        turn_deadline_s: longest run of the pipeline for one answer of such a session, in seconds; None: as settings.
    """

    hot: Hot
    pipeline: Pipeline
    settings: HubSettings
    now: Callable[[], datetime]
    clock: Callable[[], float]
    new_id: Callable[[], str]
    observe: Observer = ignore
    turn_deadline_s: Callable[[SessionConfiguration], float] | None = None

    def deadline_s(self, configuration: SessionConfiguration) -> float:
        """Longest run of the pipeline for one answer of such a session, in seconds."""
        own = self.turn_deadline_s
        return self.settings.turn_deadline_s if own is None else own(configuration)
