"""What the respondent was shown before the first question, for exports that people read."""

from __future__ import annotations

from pipeline.concept import SessionConfiguration

SHOWN = "Shown before the first question"


def shown_parts(configuration: SessionConfiguration) -> list[str]:
    """The paragraphs of the stimulus, and its image by what it shows; none where nothing was shown."""
    text, image = configuration.concept.stimulus or "", configuration.stimulus_image
    parts = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    return [*parts, *([f"[Image: {image.alt}]"] if image is not None else [])]
