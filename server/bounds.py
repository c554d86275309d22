"""Settings of the process as its parts want them."""

from __future__ import annotations

from config.settings import Settings
from server.hot.values import HotSettings
from server.session.settings import HubSettings
from server.sockets.settings import SocketSettings
from server.speech.settings import ListeningSettings
from server.transport.limits import ConnectionLimits

TIDY_EVERY_S = 5.0
TOLD_WITHIN_S = 2.0
"""From when somebody counts as away to when moderators are told, at the latest."""


def hot_settings(settings: Settings) -> HotSettings:
    """Of hot storage."""
    storage = settings.storage
    return HotSettings(
        hot_ttl_s=storage.hot_ttl_s,
        wait_replicas=storage.wait_replicas,
        wait_aof=storage.wait_aof,
        wait_timeout_ms=storage.wait_timeout_ms,
    )


def hub_settings(settings: Settings) -> HubSettings:
    """Of the sessions on this node."""
    sessions = settings.sessions
    return HubSettings(
        turn_deadline_s=sessions.turn_deadline_s,
        # Moderators are told first that somebody is away; what nobody has here tells them nothing.
        idle_release_s=max(sessions.idle_release_s, settings.alerts.alert_disconnected_s + TOLD_WITHIN_S),
        rest_after_s=sessions.rest_after_s,
        tidy_every_s=min(TIDY_EVERY_S, sessions.idle_release_s, sessions.rest_after_s),
        abandon_after_s=sessions.abandon_after_s,
        resume_until_s=sessions.resume_until_s,
        unstarted_until_s=sessions.unstarted_until_s,
        max_sessions=settings.limits.max_sessions,
    )


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Of connections."""
    limits = settings.limits
    return ConnectionLimits(
        max_message_bytes=2 * limits.max_message_bytes,
        per_address=limits.connections_per_address,
        body_s=limits.body_deadline_s,
        body_bytes_per_s=limits.body_bytes_per_s,
    )


def listening_settings(settings: Settings) -> ListeningSettings:
    """Of listening to respondents."""
    speech = settings.speech
    return ListeningSettings(
        patience=speech.patience,
        max_answer_s=speech.max_answer_s,
        barge_in=speech.barge_in,
        hold_s=speech.take_your_time_s,
        reopen_s=speech.reopen_s,
    )


def socket_settings(settings: Settings) -> SocketSettings:
    """Of the sockets of respondents and moderators."""
    server, limits = settings.server, settings.limits
    own = (server.public_url.rstrip("/"),) if server.public_url else ()
    return SocketSettings(
        allowed_origins=(*server.allowed_origins, *own),
        handshake_s=limits.handshake_s,
        max_message_bytes=limits.max_message_bytes,
        sessions_per_address=limits.sessions_per_address,
        messages_per_s=limits.messages_per_s,
        message_burst=limits.message_burst,
        outbox_events=limits.outbox_events,
    )
