"""The ASGI application: every route, one way to answer errors, the gate around it."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from server import pages
from server.api import catalogue, kiosk, moderation, operations, sessions, sync, tokens
from server.api.http import on_error
from server.middleware import Gate, Problems
from server.parts import Parts
from server.session.connection import respondent_route
from server.session.settings import SocketSettings


def build_app(parts: Parts) -> Starlette:
    """The application of a process.

    Args:
        parts: what the process is made of; they live as long as the application.
    """
    limits = parts.settings.limits
    socket = SocketSettings(
        allowed_origins=_socket_origins(parts),
        handshake_s=limits.handshake_s,
        max_message_bytes=limits.max_message_bytes,
        messages_per_s=limits.messages_per_s,
        message_burst=limits.message_burst,
        outbox_events=limits.outbox_events,
    )
    middleware = [Middleware(Gate, parts=parts)]
    if parts.settings.server.allowed_origins:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(parts.settings.server.allowed_origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["authorization", "content-type"],
            )
        )
    middleware.append(Middleware(Problems))
    app = Starlette(
        routes=[
            *operations.ROUTES,
            *sessions.ROUTES,
            *catalogue.ROUTES,
            *tokens.ROUTES,
            *moderation.ROUTES,
            *kiosk.ROUTES,
            *sync.ROUTES,
            respondent_route(
                parts.hub,
                parts.auth.respondent_session,
                socket,
                on_error=lambda code: parts.metrics.errors.labels(code).inc(),
                words_of=lambda language: parts.library.texts(language).find,
            ),
            parts.watch.route(socket, lambda code: parts.metrics.errors.labels(code).inc()),
            *pages.routes(),
        ],
        middleware=middleware,
        exception_handlers={HTTPException: on_error},
    )
    app.state.parts = parts
    return app


def _socket_origins(parts: Parts) -> tuple[str, ...]:
    server = parts.settings.server
    own = (server.public_url.rstrip("/"),) if server.public_url else ()
    return (*server.allowed_origins, *own)
