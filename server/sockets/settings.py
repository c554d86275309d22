"""Limits of one socket."""

from __future__ import annotations

from dataclasses import dataclass

from config.bounds import LimitSettings

_DECLARED = LimitSettings()


@dataclass(frozen=True, slots=True)
class SocketSettings:
    """What one client may send, and how long it is waited for.

    Args:
        allowed_origins: further origins whose pages may connect; the server's own always may. `*` allows all.
        handshake_s: time for `hello`.
        attach_s: time for finding the session after it.
        max_message_bytes: longest text frame, in bytes of UTF-8.
        sessions_per_address: interviews that may be connected from one address at the same time.
        messages_per_s: text messages per second, on average.
        message_burst: text messages at once.
        frames_per_s: audio frames per second, on average.
        patience: protocol violations that are answered before the socket is closed.
        waiting_messages: messages of one client that may wait for the session.
        outbox_events: events that may wait for a slow client.
        outbox_wait_s: how long a full outbox is waited for before the connection is dropped.
        close_wait_s: how long closing politely may take.
    """

    allowed_origins: tuple[str, ...] = ()
    handshake_s: float = _DECLARED.handshake_s
    attach_s: float = 5.0
    max_message_bytes: int = _DECLARED.max_message_bytes
    sessions_per_address: int = _DECLARED.sessions_per_address
    messages_per_s: float = _DECLARED.messages_per_s
    message_burst: int = _DECLARED.message_burst
    frames_per_s: float = 400.0
    patience: int = 5
    waiting_messages: int = 16
    outbox_events: int = _DECLARED.outbox_events
    outbox_wait_s: float = 2.0
    close_wait_s: float = 2.0
