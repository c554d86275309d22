"""Times and bounds of sessions on one node."""

from __future__ import annotations

from dataclasses import dataclass

from config.bounds import LimitSettings, SessionSettings

_SESSIONS, _LIMITS = SessionSettings(), LimitSettings()


@dataclass(frozen=True, slots=True)
class HubSettings:
    """How long things may take, and how much of them there may be.

    Args:
        turn_deadline_s: longest run of the pipeline for one answer; then the turn fails and can be retried.
        still_thinking_s: silence after which the respondent gets a notice, again and again.
        storage_retry_s: first pause between two tries to write; doubles up to 2 s.
        storage_patience_s: how long a commit is tried before the session is given up on this node.
        journal_wait_s: how long an answer waits while the journal is full because the store is behind.
        idle_release_s: after how long without a connection a session leaves this node's memory.
        rest_after_s: after how long without use the state of a session is packed.
        abandon_after_s: without a sign of life for this long a session becomes `abandoned`.
        resume_until_s: an abandoned session can be resumed this long after the last sign of life.
        unstarted_until_s: after how long a session is erased whose interview never began.
        sweep_every_s: how often abandoned sessions are looked for.
        tidy_every_s: how often unused sessions are looked for.
        command_wait_s: how long a moderator's command waits for the session's owner before this node takes over.
        opening_attempts: how often the opening question is tried before the respondent is told.
        max_sessions: sessions on this node at the same time.
        max_jobs: commands of one session that may wait.
    """

    turn_deadline_s: float = _SESSIONS.turn_deadline_s
    still_thinking_s: float = 4.0
    storage_retry_s: float = 0.1
    storage_patience_s: float = 300.0
    journal_wait_s: float = 8.0
    idle_release_s: float = _SESSIONS.idle_release_s
    rest_after_s: float = _SESSIONS.rest_after_s
    abandon_after_s: float = _SESSIONS.abandon_after_s
    resume_until_s: float = _SESSIONS.resume_until_s
    unstarted_until_s: float = _SESSIONS.unstarted_until_s
    sweep_every_s: float = 30.0
    tidy_every_s: float = 5.0
    command_wait_s: float = 2.0
    opening_attempts: int = 2
    max_sessions: int = _LIMITS.max_sessions
    max_jobs: int = 32
