"""The image of a stimulus, for those who take part in the interview or watch it."""

from __future__ import annotations

from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response

from pipeline.stimulus import ImageType, ShownImage
from server.api.access import respondent_or_moderator
from server.api.http import parts_of
from server.descriptions import DescribedRoute, Group, Operation, Reply
from server.errors import ApiError


def image_view(session_id: str, image: ShownImage | None) -> dict[str, Any] | None:
    """What a page needs to show the image: where it is, its size and what it shows."""
    if image is None:
        return None
    return {
        "url": f"/api/sessions/{session_id}/stimulus",
        "media_type": image.media_type,
        "width": image.width,
        "height": image.height,
        "alt": image.alt,
    }


async def stimulus_image(request: Request) -> Response:
    """`GET /api/sessions/{id}/stimulus`."""
    reader = parts_of(request).reader
    session_id, principal = await respondent_or_moderator(request)
    state = await (
        reader.state(session_id) if principal.kind == "respondent" else reader.visible(session_id, principal)
    )
    image = (await reader.configuration(state)).stimulus_image
    if image is None:
        raise ApiError("not_found", "This interview shows no image.")
    return Response(image.content, headers={"cache-control": "no-store"}, media_type=image.media_type)


def route(group: Group) -> DescribedRoute:
    """The call, shown with others of that group."""
    return DescribedRoute(
        "/api/sessions/{session_id}/stimulus",
        stimulus_image,
        Operation(
            "The image that the respondent is shown",
            group,
            (Reply("The image, as it was when the interview began.", media_types=get_args(ImageType)),),
            ("respondent", "moderator"),
        ),
    )
