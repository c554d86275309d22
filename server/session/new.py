"""What a session begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pipeline.concept import DEFAULT_MAX_TURNS, SessionConfiguration
from pipeline.state import Device, InterviewState
from server.store.tokens import TokenEntry


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a session begins with.

    Args:
        session_id: letters, digits, `_` and `-`, at most 64.
        configuration: what it is pinned to.
        config_hash: content hash of the configuration.
        language: of the interview.
        seed: makes the session repeatable.
        max_turns: turns at the most; the concept's or the usual number if not given.
        engine: decision engine; the concept's if not given.
        respondent_ref: the researcher's own name for the respondent.
        pilot: whether it is a trial.
        device: what it was started on, if a device did.
        token: of the respondent.
        eligibility: what was confirmed of the respondent, by the ids of the concept's statements.
    """

    session_id: str
    configuration: SessionConfiguration
    config_hash: str
    language: str
    seed: int
    max_turns: int | None = None
    engine: str | None = None
    respondent_ref: str | None = None
    pilot: bool = False
    device: Device | None = None
    token: TokenEntry | None = None
    eligibility: Mapping[str, bool] = field(default_factory=dict)

    def state(self, now: datetime) -> InterviewState:
        """The session before anything happened."""
        concept = self.configuration.concept
        return InterviewState(
            session_id=self.session_id,
            concept_id=concept.id,
            concept_name=concept.name,
            methodology=self.configuration.methodology.method.name,
            engine=self.engine or concept.engine,
            language=self.language,
            max_turns=self.max_turns or concept.max_turns or DEFAULT_MAX_TURNS,
            seed=self.seed,
            config_hash=self.config_hash,
            respondent_ref=self.respondent_ref,
            pilot=self.pilot,
            device=self.device,
            eligibility=dict(self.eligibility),
            created_at=now,
            updated_at=now,
        )
