"""Calls for sessions: create, list, answer, read, export, erase."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, get_args

from pydantic import Field, StringConstraints
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from config.loader import content_hash
from pipeline.grid.rating import written as written_ratings
from pipeline.state import Device, InterviewState, SessionStatus
from pipeline.turn import Answer
from server.api.access import (
    enrolment_is_open,
    moderator,
    principal_of,
    respondent,
    respondent_or_moderator,
    session_id_of,
)
from server.api.http import json_response, parts_of, read_body
from server.api.kiosk import check_admission
from server.api.models import CreateSession, PostTurn, StartSession
from server.api.recordings import UPLOAD_TYPES, post_audio
from server.api.replies import (
    CanonicalGraphReply,
    ModeratorSession,
    RespondentSession,
    ScoresReply,
    SessionCreated,
    SessionErasing,
    SessionList,
    SessionNow,
    SpokenTurnReply,
    SurfaceGraphReply,
    TranscriptReply,
    TurnReply,
    UsageReply,
)
from server.api.stimulus import route as stimulus_route
from server.api.views import moderator_view, now_view, received_view, respondent_view, turn_view
from server.auth import Principal
from server.descriptions import DISPOSITION, DescribedRoute, Group, Holder, Operation, Parameter, Refusal, Reply
from server.errors import ApiError
from server.export import FORMATS, RELATIONS, written
from server.export.material import Material, iso, usage_view, utterance_rows
from server.hot.values import Erasure
from server.parts import Parts
from server.protocol.base import TurnKey
from server.reading import public_rows
from server.session.new import NewSession
from server.session.owner import SessionOwner
from server.store.errors import StoreError
from server.store.repository import MAX_PAGE
from server.watch.graphs import canonical_view, surface_view

LONGEST_QUERY = 200
PageSize = Annotated[int, Field(ge=1, le=MAX_PAGE)]
Relations = Annotated[str, Field(json_schema_extra={"enum": list(RELATIONS)})]
ExportFormat = Annotated[str, Field(json_schema_extra={"enum": list(FORMATS)})]
Search = Annotated[str, StringConstraints(max_length=LONGEST_QUERY)]


async def create_session(request: Request) -> Response:
    """`POST /api/sessions`."""
    parts = parts_of(request)
    body = await read_body(request, CreateSession)
    if parts.readiness.leaving:
        raise ApiError("too_many_sessions", "The server is shutting down. Please try again shortly.", retryable=True)
    principal = await _enrolled(request, parts, body.concept_id)
    wish = (body.concept_id, body.methodology, body.language, body.engine, body.max_turns)
    configuration = await parts.look_up(lambda: parts.library.configuration(*wish))
    device = Device(id=principal.token_id, name=principal.name) if principal and principal.kind == "device" else None
    check_admission(parts, configuration.concept, body, on_kiosk=device is not None)
    configuration = await parts.pipelines.elements.prepared(configuration)
    session_id = parts.new_id()
    new = NewSession(
        session_id=session_id,
        configuration=configuration,
        config_hash=content_hash(configuration),
        language=configuration.concept.languages[0],
        seed=secrets.randbits(63),
        respondent_ref=body.respondent_ref,
        pilot=body.pilot,
        device=device,
        eligibility=body.eligibility or {},
    )
    parts.hub.admit()
    token, entry = await parts.auth.issue("respondent", session_id=session_id)
    try:
        state = await parts.hub.create(replace(new, token=entry))
    except Exception:
        # The token was not sent to anyone. If it can't be revoked, it is for a session that does not exist.
        with suppress(StoreError):
            await parts.auth.revoke(entry.id)
        raise
    join_url = f"{parts.origins.base_url(request.scope)}/interview/{session_id}#{token}"
    return json_response(
        {"session_id": session_id, "respondent_token": token, "join_url": join_url, "state": state.status},
        201,
        {"location": f"/api/sessions/{session_id}"},
    )


async def _enrolled(request: Request, parts: Parts, concept_id: str) -> Principal | None:
    """Who starts the interview, None for anyone where enrolment is open.

    A token that is wrong, and a device's for other concepts, is refused also where none is needed.
    """
    concept = await parts.look_up(lambda: parts.library.concept(concept_id))
    principal = await principal_of(request)
    if enrolment_is_open(parts, concept) and (principal is None or principal.kind != "device"):
        return None
    if principal is None:
        raise ApiError("unauthorised", "Interviews are by invitation here: ask a moderator for a link.")
    if principal.kind == "respondent" or not principal.may_see(concept_id):
        raise ApiError("forbidden", "This token may not start an interview on this concept.")
    return principal


async def start(request: Request) -> Response:
    """`POST /api/sessions/{id}/start`."""
    parts = parts_of(request)
    session_id = await respondent(request)
    body = await read_body(request, StartSession, optional=True)

    async def begin(owner: SessionOwner) -> InterviewState:
        if body.consent is not None:
            await owner.consent(body.consent.version, body.consent.choices)
        await owner.start()
        return owner.state

    return json_response(now_view(await parts.hub.use(session_id, begin)))


async def post_turn(request: Request) -> Response:
    """`POST /api/sessions/{id}/turns`."""
    parts = parts_of(request)
    session_id = await respondent(request)
    body = await read_body(request, PostTurn)

    async def say(owner: SessionOwner) -> dict[str, Any]:
        receipt = await owner.submit(_answer(body))
        return turn_view(owner.state, receipt, owner.context.configuration)

    return json_response(await parts.hub.use(session_id, say))


def _answer(body: PostTurn) -> Answer:
    """What was posted: a text, or ratings. Raises ApiError for both."""
    if body.ratings is None:
        return Answer(turn_key=body.turn_key, text=body.text)
    if body.text:
        raise ApiError("invalid_input", "text: an answer is a text or ratings, not both.")
    return Answer(turn_key=body.turn_key, text=written_ratings(body.ratings), kind="rate")


async def list_sessions(request: Request) -> Response:
    """`GET /api/sessions`."""
    parts = parts_of(request)
    principal = await moderator(request)
    state = request.query_params.get("state") or None
    if state is not None and state not in get_args(SessionStatus):
        raise ApiError("invalid_input", f"state: should be one of {', '.join(get_args(SessionStatus))}.")
    concept_id = request.query_params.get("concept_id") or None
    if concept_id is not None and not principal.may_see(concept_id):
        raise ApiError("forbidden", "This concept is not within the scope of the token.")
    limit = request.query_params.get("limit", "50")
    if not limit.isdecimal() or len(limit) > 3 or not 1 <= int(limit) <= MAX_PAGE:
        raise ApiError("invalid_input", f"limit: should be a number from 1 to {MAX_PAGE}.")
    try:
        page = await parts.store.sessions(
            cursor=request.query_params.get("cursor") or None,
            limit=int(limit),
            state=state,
            concept_id=concept_id,
            concepts=principal.concepts,
            text=_search(request.query_params.get("q", "")),
        )
    except ValueError as exc:
        raise ApiError("invalid_input", "cursor: this is not a cursor of this list.") from exc
    came = await parts.copies.received_at([row["id"] for row in page.items])
    items = [{**row, "received_at": iso(came.get(row["id"]))} for row in public_rows(page.items)]
    return json_response({"items": items, "next_cursor": page.next_cursor})


def _search(query: str) -> str | None:
    wanted = query.strip()
    if len(wanted) > LONGEST_QUERY or not wanted.isprintable():
        raise ApiError("invalid_input", f"q: should be up to {LONGEST_QUERY} characters of text.")
    return wanted or None


async def show_session(request: Request) -> Response:
    """`GET /api/sessions/{id}`."""
    parts = parts_of(request)
    session_id, principal = await respondent_or_moderator(request)
    if principal.kind == "respondent":
        state = await parts.reader.state(session_id)
        return json_response(respondent_view(parts, state, await parts.reader.configuration(state)))
    material = await parts.reader.material(session_id, principal)
    recordings = await run_in_threadpool(parts.recorder.of, session_id)
    came = await parts.copies.received(session_id)
    versions = await parts.copies.versions(session_id) if came is not None else []
    return json_response({**moderator_view(material, recordings), **received_view(came, versions)})


async def erase_session(request: Request) -> Response:
    """`DELETE /api/sessions/{id}`."""
    parts = parts_of(request)
    session_id, principal = await respondent_or_moderator(request)
    erasure = await parts.hot.erasure(session_id)
    if erasure is Erasure.ERASED:
        raise ApiError("not_found", "There is no such interview, or it was erased.")
    if erasure is Erasure.NONE:
        await parts.reader.visible(session_id, principal)
        await parts.hub.erase(session_id)
        parts.watch.exchange.publish_gone(session_id)
    return json_response({"session_id": session_id, "state": "erasing"}, 202)


async def graph(request: Request) -> Response:
    """`GET /api/sessions/{id}/graph`."""
    material = await _material(request)
    state = material.state
    view = await run_in_threadpool(surface_view, state, material.configuration)
    return json_response({"session_id": state.session_id, "turn_count": state.turn_count, **view})


async def canonical_graph(request: Request) -> Response:
    """`GET /api/sessions/{id}/canonical-graph`."""
    state = (await _material(request)).state
    view = canonical_view(state)
    return json_response({"session_id": state.session_id, "turn_count": state.turn_count, **view})


async def scores(request: Request) -> Response:
    """`GET /api/sessions/{id}/scores`."""
    material = await _material(request)
    return json_response({"session_id": material.state.session_id, "items": list(material.turns)})


async def transcript(request: Request) -> Response:
    """`GET /api/sessions/{id}/transcript`."""
    material = await _material(request)
    return json_response({"session_id": material.state.session_id, "items": utterance_rows(material.state)})


async def usage(request: Request) -> Response:
    """`GET /api/sessions/{id}/usage`."""
    return json_response(usage_view(await _material(request)))


async def export_session(request: Request) -> Response:
    """`GET /api/sessions/{id}/export`."""
    principal = await moderator(request)
    name = request.query_params.get("format", "json")
    chosen = FORMATS.get(name)
    if chosen is None:
        raise ApiError("invalid_input", f"format: should be one of {', '.join(FORMATS)}.")
    which = request.query_params.get("relations", "firm")
    if which not in RELATIONS:
        raise ApiError("invalid_input", f"relations: should be one of {', '.join(RELATIONS)}.")
    material = await parts_of(request).reader.material(session_id_of(request), principal)
    if material.state.conduct.held_back:
        raise ApiError(
            "forbidden",
            "This interview is held back: the respondent seems to be under age. A moderator can release it.",
        )
    content = await run_in_threadpool(written, name, material, which)
    filename = f"askwell-{material.state.concept_id}-{material.state.session_id[:8]}.{chosen.suffix}"
    headers = {"cache-control": "no-store", "content-disposition": f'attachment; filename="{filename}"'}
    return Response(content, headers=headers, media_type=chosen.media_type)


async def _material(request: Request) -> Material:
    """The session in the path, for moderators."""
    return await parts_of(request).reader.material(session_id_of(request), await moderator(request))


INTERVIEWS = Group(
    "Interviews",
    "An interview from its beginning to its end, for clients without the [socket](protocol/README.md).",
    """curl -H 'Content-Type: application/json' -d '{"concept_id": "headphones_mec"}' $URL/api/sessions""",
    """{"session_id": "…", "respondent_token": "x0Jd…", "join_url": "http://…/interview/…#…", "state": "created"}""",
)
RESULTS = Group(
    "Results",
    "What interviews have led to, for moderators.",
    """curl -H "Authorization: Bearer $TOKEN" $URL/api/sessions/$ID/transcript""",
    """{"items": [{"speaker": "interviewer", "kind": "opening", "text": "…"}, {"speaker": "respondent"}]}""",
)
_MODERATOR: tuple[Holder, ...] = ("moderator",)
_RESPONDENT: tuple[Holder, ...] = ("respondent",)
_ANSWER_ERRORS: tuple[Refusal, ...] = (
    *("answer_too_long", "consent_required", "turn_in_progress", "session_completed", "session_paused"),
    "llm_unavailable",
)
_EXPORT_TYPES = tuple(dict.fromkeys(chosen.media_type.partition(";")[0] for chosen in FORMATS.values()))

ROUTES = [
    DescribedRoute(
        "/api/sessions",
        create_session,
        Operation(
            "Begin an interview",
            INTERVIEWS,
            (
                Reply(
                    "The interview, and the token that opens it.",
                    SessionCreated,
                    status=201,
                    headers=(Parameter("location", str, "The interview's address."),),
                ),
            ),
            ("moderator", "device"),
            anyone=True,
            body=CreateSession,
            errors=("not_found", "language_unsupported", "turn_in_progress", "storage_unavailable", "llm_unavailable"),
            description="A token is needed where not everyone may start interviews on the concept.",
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sessions",
        list_sessions,
        Operation(
            "All interviews",
            RESULTS,
            (Reply("One page, newest first.", SessionList),),
            _MODERATOR,
            query=(
                Parameter("state", SessionStatus, "Only those in this state."),
                Parameter("concept_id", str, "Only those on this concept."),
                Parameter("q", Search, "Only those that contain this text."),
                Parameter("limit", PageSize, "How many at the most; 50 if not given."),
                Parameter("cursor", str, "`next_cursor` of the page before."),
            ),
            errors=("invalid_input",),
        ),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}",
        show_session,
        Operation(
            "One interview",
            INTERVIEWS,
            (Reply("What its respondent, or a moderator, may see of it.", RespondentSession | ModeratorSession),),
            ("respondent", "moderator"),
        ),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}",
        erase_session,
        Operation(
            "Erase an interview",
            INTERVIEWS,
            (Reply("It is being erased.", SessionErasing, status=202),),
            ("respondent", "moderator"),
            errors=("turn_in_progress",),
        ),
        method="DELETE",
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/start",
        start,
        Operation(
            "Ask the first question",
            INTERVIEWS,
            (Reply("The first question, or the latest one.", SessionNow),),
            _RESPONDENT,
            body=StartSession,
            body_required=False,
            errors=_ANSWER_ERRORS,
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/turns",
        post_turn,
        Operation(
            "Answer",
            INTERVIEWS,
            (Reply("The answer is committed; the next question.", TurnReply),),
            _RESPONDENT,
            body=PostTurn,
            errors=_ANSWER_ERRORS,
            description="The same `turn_key` again means the same answer again.",
        ),
        method="POST",
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/audio",
        post_audio,
        Operation(
            "Answer with a recording",
            INTERVIEWS,
            (Reply("The answer is committed; the next question.", SpokenTurnReply),),
            _RESPONDENT,
            upload=UPLOAD_TYPES,
            query=(Parameter("turn_key", TurnKey, "A UUID; the same one again means the same again.", required=True),),
            errors=(
                *_ANSWER_ERRORS,
                *("invalid_input", "audio_format", "audio_too_long", "transcriber_unavailable"),
                "language_unsupported",
            ),
        ),
        method="POST",
    ),
    stimulus_route(INTERVIEWS),
    DescribedRoute(
        "/api/sessions/{session_id}/graph",
        graph,
        Operation("The surface graph", RESULTS, (Reply("The graph.", SurfaceGraphReply),), _MODERATOR),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/canonical-graph",
        canonical_graph,
        Operation("The canonical graph", RESULTS, (Reply("The graph.", CanonicalGraphReply),), _MODERATOR),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/scores",
        scores,
        Operation("The decisions of all turns", RESULTS, (Reply("Oldest first.", ScoresReply),), _MODERATOR),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/transcript",
        transcript,
        Operation("Everything said", RESULTS, (Reply("In order.", TranscriptReply),), _MODERATOR),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/usage",
        usage,
        Operation("The calls of language models", RESULTS, (Reply("In sum and one by one.", UsageReply),), _MODERATOR),
    ),
    DescribedRoute(
        "/api/sessions/{session_id}/export",
        export_session,
        Operation(
            "An interview as a file",
            RESULTS,
            (Reply("The file.", media_types=_EXPORT_TYPES, headers=(DISPOSITION,)),),
            _MODERATOR,
            query=(
                Parameter("format", ExportFormat, "Which format; `json` if not given."),
                Parameter(
                    "relations",
                    Relations,
                    "`firm`: those that were stated or answered, and those from before that was recorded; `all`: those "
                    "that were merely inferred, too. `firm` if not given; `json` always has all.",
                ),
            ),
            errors=("invalid_input",),
        ),
    ),
]
