"""What the owners of a node share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from pipeline.concept import SessionConfiguration
from server.session.measure import HeardObserver, Observer, ignore
from server.session.ports import Hot, Pipeline
from server.session.recorder import NoRecorder, Recorder
from server.session.settings import HubSettings, ListeningSettings
from server.session.speculation import Lanes
from server.session.voice import Mute, Voice
from server.session.witness import NobodyWatches, Witnesses


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
        voice: what hears respondents.
        lanes: keep guesses behind confirmed work.
        listening: how respondents are listened to.
        observe_heard: told of every spoken answer.
        recorder: keeps the sound of answers.
        witnesses: told what happens to each session, for moderators.
    """

    hot: Hot
    pipeline: Pipeline
    settings: HubSettings
    now: Callable[[], datetime]
    clock: Callable[[], float]
    new_id: Callable[[], str]
    observe: Observer = ignore
    turn_deadline_s: Callable[[SessionConfiguration], float] | None = None
    voice: Voice = field(default_factory=Mute)
    lanes: Lanes = field(default_factory=Lanes)
    listening: ListeningSettings = field(default_factory=ListeningSettings)
    observe_heard: HeardObserver = ignore
    recorder: Recorder = field(default_factory=NoRecorder)
    witnesses: Witnesses = field(default_factory=NobodyWatches)

    def deadline_s(self, configuration: SessionConfiguration) -> float:
        """Longest run of the pipeline for one answer of such a session, in seconds."""
        own = self.turn_deadline_s
        return self.settings.turn_deadline_s if own is None else own(configuration)
