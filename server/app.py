"""The ASGI application: every route, one way to answer errors, the gate around it."""

from __future__ import annotations

import time

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from server import pages
from server.api import catalogue, kiosk, moderation, operations, sessions, sync, tokens
from server.api.http import on_error
from server.bounds import socket_settings
from server.descriptions import Described
from server.middleware import AdmissionMiddleware, ErrorMiddleware
from server.parts import Parts
from server.sockets.moderator import ModeratorServices
from server.sockets.realtime import realtime_route
from server.sockets.respondent import RespondentServices


def http_routes() -> list[Described]:
    """Every route that is no socket, in the order in which they are tried."""
    return [
        *operations.ROUTES,
        *sessions.ROUTES,
        *catalogue.ROUTES,
        *tokens.ROUTES,
        *moderation.ROUTES,
        *kiosk.ROUTES,
        *sync.ROUTES,
        *pages.routes(),
    ]


def build_app(parts: Parts) -> Starlette:
    """The application of a process.

    Args:
        parts: what the process is made of; they live as long as the application.
    """
    sockets = socket_settings(parts.settings)

    def count_error(code: str) -> None:
        parts.metrics.errors.labels(code).inc()

    respondents = RespondentServices(
        parts.hub,
        parts.listeners,
        parts.voices,
        parts.auth.respondent_session,
        sockets,
        on_error=count_error,
        words_of=lambda language: parts.library.known_texts(language).find,
        patience=parts.settings.speech.patience,
    )
    moderators = ModeratorServices(parts.watch, parts.auth, sockets, time.monotonic, count_error)
    middleware = [Middleware(AdmissionMiddleware, parts=parts)]
    if parts.settings.server.allowed_origins:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(parts.settings.server.allowed_origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["authorization", "content-type"],
            )
        )
    middleware.append(Middleware(ErrorMiddleware))
    app = Starlette(
        routes=[respondents.route(), realtime_route(respondents), moderators.route(), *http_routes()],
        middleware=middleware,
        exception_handlers={HTTPException: on_error},
    )
    app.state.parts = parts
    return app
