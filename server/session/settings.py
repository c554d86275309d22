"""Times and bounds of sessions on one node."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.concept import Patience
from server.protocol.codec import MAX_MESSAGE_BYTES


@dataclass(frozen=True, slots=True)
class HubSettings:
    """How long things may take, and how much of them there may be.

    Args:
        turn_deadline_s: longest run of the pipeline for one answer; then the turn fails and can be retried.
        still_thinking_s: silence after which the respondent gets a notice, again and again.
        storage_retry_s: first pause between two tries to write; doubles up to 2 s.
        storage_patience_s: how long a commit is tried before the session is given up on this node.
        room_wait_s: how long an answer waits for room in the journal while the store is behind.
        idle_release_s: after how long without a connection a session leaves this node's memory.
        abandon_after_s: without a sign of life for this long a session becomes `abandoned`.
        resume_until_s: an abandoned session can be resumed this long after the last sign of life.
        sweep_every_s: how often abandoned and idle sessions are looked for.
        command_wait_s: how long a moderator's command waits for the session's owner before this node takes over.
        opening_attempts: how often the opening question is tried before the respondent is told.
        max_sessions: sessions on this node at the same time.
        max_jobs: commands of one session that may wait.
    """

    turn_deadline_s: float = 45.0
    still_thinking_s: float = 4.0
    storage_retry_s: float = 0.1
    storage_patience_s: float = 300.0
    room_wait_s: float = 8.0
    idle_release_s: float = 120.0
    abandon_after_s: float = 86_400.0
    resume_until_s: float = 604_800.0
    sweep_every_s: float = 30.0
    command_wait_s: float = 2.0
    opening_attempts: int = 2
    max_sessions: int = 1000
    max_jobs: int = 32


@dataclass(frozen=True, slots=True)
class ListeningSettings:
    """How respondents are listened to, where session and concept do not say.

    Args:
        patience: how long a pause may be.
        max_answer_s: the longest spoken answer.
        barge_in: whether speech counts while a question is read aloud; if not, audio that comes then is passed over.
        hold_s: audio that a wish for time adds before silence may end an answer.
        grace_s: audio without speech that ends an answer which was begun before its question was there.
        kept_s: audio after the end of an answer that is kept for the next one.
        backlog_s: audio that may wait to be heard; more is refused.
    """

    patience: Patience = "normal"
    max_answer_s: float = 300.0
    barge_in: bool = False
    hold_s: float = 15.0
    grace_s: float = 3.0
    kept_s: float = 60.0
    backlog_s: float = 30.0


@dataclass(frozen=True, slots=True)
class SocketSettings:
    """What one respondent's socket may do.

    Args:
        allowed_origins: further origins whose pages may connect; the server's own always may. `*` allows all.
        handshake_s: time for `hello`.
        attach_s: time for finding the session after it.
        max_message_bytes: longest text frame, in bytes of UTF-8.
        max_frame_bytes: frame size above which the socket is closed at once.
        messages_per_s: text messages per second, on average; also how fast forgiveness comes back.
        message_burst: text messages at once.
        frames_per_s: audio frames per second, on average.
        patience: protocol violations that are answered before the socket is closed.
        waiting_messages: messages of one client that may wait for the session.
        outbox_events: events that may wait for a slow client.
        outbox_wait_s: how long a full outbox is waited for before the connection is dropped.
        close_wait_s: how long closing politely may take.
    """

    allowed_origins: tuple[str, ...] = ()
    handshake_s: float = 5.0
    attach_s: float = 5.0
    max_message_bytes: int = MAX_MESSAGE_BYTES
    max_frame_bytes: int = 1024 * 1024
    messages_per_s: float = 20.0
    message_burst: int = 60
    frames_per_s: float = 400.0
    patience: int = 5
    waiting_messages: int = 16
    outbox_events: int = 256
    outbox_wait_s: float = 2.0
    close_wait_s: float = 2.0
