"""The image of a stimulus: what a concept file says of it, and what a session keeps of it."""

from __future__ import annotations

import base64
from typing import Literal

from pydantic import Field

from pipeline.methodology import Spec

ImageType = Literal["image/png", "image/jpeg", "image/webp"]


class StimulusImage(Spec):
    """An image that the respondent is shown."""

    file: str = Field(
        min_length=1,
        max_length=255,
        description="The file, PNG, JPEG or WebP, beside the concept's own; its path from there, with `/`.",
    )
    alt: str = Field(
        min_length=1,
        max_length=2000,
        description="What the image shows, in words: for respondents who can't see it, and for language models.",
    )


class ShownImage(Spec):
    """An image as a session keeps it from its first to its last turn; `data` is base64, sizes are in pixels."""

    media_type: ImageType
    width: int
    height: int
    alt: str
    data: str = Field(repr=False)

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        return base64.b64decode(self.data)
