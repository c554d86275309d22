"""What a grid needs next, and what an answer adds to it."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.concept import SessionConfiguration
from pipeline.focus import Target
from pipeline.grid.comparisons import next_comparison
from pipeline.grid.model import AnsweredStep, Construct, GridElement, GridProgress, GridStep, Ratings
from pipeline.grid.reading import Compared, HeardDistinction, distinction_in, names_in, pole_in, same_words
from pipeline.methodology import Grid, GridRole, Strategy

BARREN = 3
"""Comparisons in a row that bring nothing, after which no more are asked for."""
LAST_TURNS = 2
"""Turns that are kept for the ratings and the closing question."""
FEWEST_COMPARED = 2


AND = {"en": " and ", "de": " und ", "ar": " و"}
COMMA = {"ar": "، "}


def listed(labels: Sequence[str], language: str) -> str:
    """Several elements in one phrase: “A, B and C”."""
    code = language.casefold().split("-")[0]
    if len(labels) < 2:
        return "".join(labels)
    return COMMA.get(code, ", ").join(labels[:-1]) + AND.get(code, ", ") + labels[-1]


def roles_of(configuration: SessionConfiguration) -> tuple[GridRole, ...]:
    """The prompts for elements: the concept's own, else the method's; none where the concept gives the elements."""
    grid, concept = configuration.methodology.grid, configuration.concept
    if grid is None or concept.elements:
        return ()
    return concept.roles or grid.roles


def begun(progress: GridProgress, configuration: SessionConfiguration) -> GridProgress:
    """The progress with the elements that the concept gives."""
    if configuration.methodology.grid is None or progress.elements or not configuration.concept.elements:
        return progress
    given = tuple(
        GridElement(id=element.id, label=element.label, aliases=element.aliases)
        for element in configuration.concept.elements
    )
    return progress.model_copy(update={"elements": given})


def next_step(
    progress: GridProgress, configuration: SessionConfiguration, *, seed: int, turns_left: int, language: str
) -> GridStep | None:
    """What the grid needs next; None where the method has none, or where it is done.

    Args:
        progress: after the last answer.
        configuration: of the session.
        seed: of the session.
        turns_left: questions that can still be asked.
        language: of the interview.
    """
    grid = configuration.methodology.grid
    if grid is None:
        return None
    progress = begun(progress, configuration)
    if turns_left <= LAST_TURNS:
        return rating_due(progress)
    open_pole = next((c for c in progress.constructs if c.contrast is None and not c.contrast_asked), None)
    if open_pole is not None:
        return GridStep(name="opposite", target=Target(kind="construct", ids=(open_pole.id,), label=open_pole.emergent))
    if progress.unnamed:
        return GridStep(name="likeness", target=_elements(progress, progress.unnamed, language))
    if len(progress.constructs) >= grid.constructs or progress.barren >= BARREN:
        return rating_due(progress)
    role = next((role for role in roles_of(configuration) if role.id not in progress.roles), None)
    if role is not None and len(progress.elements) < grid.most_elements:
        return GridStep(name="element", target=Target(kind="role", ids=(role.id,), label=role.id))
    return _comparison(progress, seed, language) or rating_due(progress)


def rating_due(progress: GridProgress) -> GridStep | None:
    """The ratings, where there is something to rate and they were not asked for."""
    if progress.rating_asked or not progress.constructs or len(progress.elements) < FEWEST_COMPARED:
        return None
    return GridStep(name="rate", target=Target(kind="ratings", ids=("grid",)))


def _comparison(progress: GridProgress, seed: int, language: str) -> GridStep | None:
    ids = [element.id for element in progress.elements]
    size = min(3, len(ids))
    if size < FEWEST_COMPARED:
        return None
    chosen = next_comparison(ids, [one for one in progress.compared if len(one) == size], seed, size)
    assert chosen is not None
    return GridStep(name="triad" if size > FEWEST_COMPARED else "pair", target=_elements(progress, chosen, language))


def _elements(progress: GridProgress, ids: Sequence[str], language: str) -> Target:
    labels = [element.label for name in ids if (element := progress.known_element(name)) is not None]
    return Target(kind="elements", ids=tuple(ids), label=listed(labels, language))


def asked(progress: GridProgress, step: GridStep) -> GridProgress:
    """The progress after a step was asked for."""
    ids = step.target.ids
    if step.name in ("triad", "pair"):
        return progress.model_copy(update={"compared": (*progress.compared, ids)})
    if step.name == "element":
        return progress.model_copy(update={"roles": (*progress.roles, ids[0])})
    if step.name == "rate":
        return progress.model_copy(update={"rating_asked": True})
    if step.name == "likeness":
        return progress.model_copy(update={"unnamed": ()})
    constructs = tuple(
        c.model_copy(update={"contrast_asked": True}) if c.id == ids[0] else c for c in progress.constructs
    )
    return progress.model_copy(update={"constructs": constructs})


def step_of(strategy: Strategy | None, target: Target | None) -> GridStep | None:
    """The step that a question of a strategy about a target asks for, if it asks for one."""
    if strategy is None or strategy.grid_step is None or target is None:
        return None
    return GridStep(name=strategy.grid_step, target=target)


def heard(progress: GridProgress, step: GridStep, content: str, language: str) -> HeardDistinction:
    """What an answer to a step says of the grid; poles without elements where only a pole was asked for."""
    if step.name == "opposite":
        return HeardDistinction(contrast=pole_in(content, language))
    compared = [
        Compared(id=element.id, label=element.label, aliases=element.aliases)
        for name in step.target.ids
        if (element := progress.known_element(name)) is not None
    ]
    others = [
        Compared(id=e.id, label=e.label, aliases=e.aliases) for e in progress.elements if e.id not in step.target.ids
    ]
    told = distinction_in(content, compared, language, others)
    if step.name == "likeness" and told.emergent and not told.alike:
        return told.model_copy(update={"alike": step.target.ids[:-1], "apart": step.target.ids[-1]})
    return told


def answered(
    progress: GridProgress, step: GridStep, content: str, *, turn: int, language: str, grid: Grid
) -> GridProgress:
    """The progress after an answer to a step; `content` is what of it tells, empty where it tells nothing."""
    noted = progress.model_copy(update={"answered": AnsweredStep(step=step, turn=turn)})
    if step.name == "element":
        return _with_elements(noted, names_in(content, language), step.target.ids[0], turn, grid.most_elements)
    if step.name == "rate":
        return noted
    told = heard(progress, step, content, language)
    if step.name == "opposite":
        return _with_contrast(noted, step.target.ids[0], told.contrast)
    return _with_construct(noted, step, told, turn)


def rated(progress: GridProgress, ratings: Ratings, turn: int) -> GridProgress:
    """The progress after the elements were rated; constructs without any rating are left out."""
    return progress.model_copy(update={"ratings": {c: of for c, of in ratings.items() if of}, "rated_turn": turn})


def taken_back(progress: GridProgress) -> GridProgress:
    """The progress without what the last answer brought, which is corrected."""
    last = progress.answered
    if last is None:
        return progress
    constructs = tuple(c for c in progress.constructs if c.turn != last.turn)
    if last.step.name == "opposite":
        constructs = tuple(
            c.model_copy(update={"contrast": None}) if c.id == last.step.target.ids[0] else c for c in constructs
        )
    elements = tuple(e for e in progress.elements if e.turn != last.turn)
    return progress.model_copy(update={"constructs": constructs, "elements": elements, "unnamed": ()})


def _with_elements(progress: GridProgress, names: Sequence[str], role: str, turn: int, most: int) -> GridProgress:
    elements = list(progress.elements)
    for name in names:
        if len(elements) >= most:
            break
        if not any(same_words(name, element.label) for element in elements):
            number = max((int(e.id[1:]) for e in elements), default=0) + 1
            elements.append(GridElement(id=f"e{number}", label=name, role=role, turn=turn))
    return progress.model_copy(update={"elements": tuple(elements)})


def _with_contrast(progress: GridProgress, construct_id: str, contrast: str | None) -> GridProgress:
    def now(construct: Construct) -> Construct:
        if construct.id != construct_id or contrast is None or same_words(contrast, construct.emergent):
            return construct
        return construct.model_copy(update={"contrast": contrast})

    return progress.model_copy(update={"constructs": tuple(now(c) for c in progress.constructs)})


def _with_construct(progress: GridProgress, step: GridStep, told: HeardDistinction, turn: int) -> GridProgress:
    """With a new construct; with nothing where it is none, or one that was there."""
    ids = step.target.ids
    if told.emergent is None:
        if told.alike and told.apart is not None and step.name == "triad":
            return progress.model_copy(update={"unnamed": (*told.alike, told.apart), "barren": 0})
        return progress.model_copy(update={"barren": progress.barren + 1})
    poles = [pole for c in progress.constructs for pole in (c.emergent, c.contrast) if pole]
    if any(same_words(told.emergent, pole) for pole in poles):
        return progress.model_copy(update={"barren": progress.barren + 1})
    contrast = None if told.contrast is None or same_words(told.contrast, told.emergent) else told.contrast
    number = max((int(c.id[1:]) for c in progress.constructs), default=0) + 1
    made = Construct(
        id=f"c{number}",
        emergent=told.emergent,
        contrast=contrast,
        compared=ids,
        alike=told.alike,
        apart=told.apart,
        turn=turn,
    )
    return progress.model_copy(update={"constructs": (*progress.constructs, made), "barren": 0})
