"""How far the repertory grid of an interview is."""

from __future__ import annotations

from pydantic import Field

from pipeline.focus import Target
from pipeline.methodology import GridStepName
from pipeline.records import Record

Ratings = dict[str, dict[str, int]]
"""By construct and element, from 1 (the first pole) to 5 (its contrast); what is missing was left out."""

LOWEST, HIGHEST = 1, 5
"""Ends of the scale that elements are rated on."""


class GridElement(Record):
    """Something that is compared; `role` is the prompt that brought it up, empty for one that the concept gives.

    `aliases` are other words for it.
    """

    id: str
    label: str
    aliases: tuple[str, ...] = ()
    role: str = ""
    turn: int | None = None


class Construct(Record):
    """A distinction in the respondent's words.

    `emergent` is what makes the elements in `alike` alike, `contrast` what `apart` is instead; None where the
    respondent named none. `compared` are the elements that were asked about, in the order of the question.
    """

    id: str
    emergent: str
    contrast: str | None = None
    compared: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    apart: str | None = None
    turn: int
    contrast_asked: bool = False


class GridProgress(Record):
    """A grid as far as it was elicited; empty in interviews whose method has none.

    `compared` are the comparisons asked for, oldest first; `roles` the prompts used. `unnamed` are two elements that
    somebody found alike without saying in what way, with the third. `barren` counts comparisons in a row that brought
    nothing. `answered` is the step that the last answer was for, so that it can be corrected. `rated_turn` is the turn
    of the ratings, `rating_asked` says that they were asked for.
    """

    elements: tuple[GridElement, ...] = ()
    constructs: tuple[Construct, ...] = ()
    compared: tuple[tuple[str, ...], ...] = ()
    roles: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    barren: int = 0
    answered: AnsweredStep | None = None
    ratings: Ratings = Field(default={})
    rating_asked: bool = False
    rated_turn: int | None = None

    def known_element(self, element_id: str) -> GridElement | None:
        """The element of that id."""
        return next((element for element in self.elements if element.id == element_id), None)

    def known_construct(self, construct_id: str) -> Construct | None:
        """The construct of that id."""
        return next((construct for construct in self.constructs if construct.id == construct_id), None)


class GridStep(Record):
    """A step and what it is about."""

    name: GridStepName
    target: Target


class AnsweredStep(Record):
    """A step that was answered, in `turn`."""

    step: GridStep
    turn: int


GridProgress.model_rebuild()
