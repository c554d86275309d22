"""Settings of durations and of limits."""

from __future__ import annotations

from pydantic import Field

from config.group import Group
from pipeline.concept import DEFAULT_MAX_TURNS


class SessionSettings(Group):
    """Turns and durations of sessions."""

    max_turns: int = Field(
        default=DEFAULT_MAX_TURNS,
        ge=3,
        le=200,
        description="Turns of an interview at the most, where its concept does not say.",
    )
    turn_deadline_s: float = Field(
        default=45.0, gt=0, description="Longest time for one turn, in seconds; then it fails and can be retried."
    )
    abandon_after_s: int = Field(
        default=86_400, ge=60, description="A session without a sign of life for this long is abandoned, in seconds."
    )
    resume_until_s: int = Field(
        default=604_800,
        ge=60,
        description="An abandoned session can be resumed until this long after the last sign of life, in seconds.",
    )
    unstarted_until_s: int = Field(
        default=604_800,
        ge=60,
        description="A session whose interview never began is erased this long after it was made, in seconds.",
    )
    idle_release_s: float = Field(
        default=50.0,
        gt=0,
        description="A session that nobody is connected to leaves the process's memory after this long, in seconds, "
        "but not before moderators were told that its respondent is away (`ASKWELL_ALERT_DISCONNECTED_S`).",
    )
    rest_after_s: float = Field(
        default=40.0,
        gt=0,
        description="A session that was not used for this long is packed in memory until it is used again, in seconds.",
    )


class LimitSettings(Group):
    """Limits that protect the server from overload."""

    max_message_bytes: int = Field(default=131_072, ge=131_072, description="Largest WebSocket message, in bytes.")
    max_body_bytes: int = Field(default=262_144, ge=16_384, description="Largest HTTP request body, in bytes.")
    handshake_s: float = Field(default=5.0, gt=0, description="Time for the first message on a socket, in seconds.")
    messages_per_s: float = Field(
        default=20.0, gt=0, description="Messages one socket may send per second, on average."
    )
    message_burst: int = Field(default=60, ge=1, description="Messages one socket may send at once.")
    requests_per_s: float = Field(
        default=20.0, gt=0, description="HTTP requests that change something, per second and address, on average."
    )
    request_burst: int = Field(
        default=100, ge=1, description="HTTP requests that change something one address may send at once."
    )
    wrong_tokens_per_s: float = Field(
        default=1.0,
        gt=0,
        description="Wrong tokens that one address may send, per second on average; further ones are told to wait.",
    )
    wrong_token_burst: int = Field(default=100, ge=1, description="Wrong tokens that one address may send at once.")
    max_sessions: int = Field(default=1000, ge=1, description="Sessions that one process runs at the same time.")
    max_connections: int = Field(
        default=4000, ge=1, description="Sockets and requests that one process serves at the same time."
    )
    connections_per_address: int = Field(
        default=300,
        ge=1,
        description="Connections that one address may have at the same time; where a proxy is trusted, the address is "
        "that of its client. A school or an office may be one address: a page holds up to seven.",
    )
    sessions_per_address: int = Field(
        default=100, ge=1, description="Interviews that may be connected from one address at the same time."
    )
    body_deadline_s: float = Field(
        default=600.0, gt=0, description="Longest time for the body of an HTTP request, in seconds."
    )
    body_bytes_per_s: int = Field(
        default=1024,
        ge=1,
        description="Least rate at which the body of an HTTP request must arrive, in bytes per second.",
    )
    outbox_events: int = Field(
        default=256, ge=16, description="Events waiting for a slow client before its connection is dropped."
    )
