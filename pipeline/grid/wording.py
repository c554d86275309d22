"""How the steps of a grid are asked: in the method's words, which no writer changes."""

from __future__ import annotations

from pipeline.concept import SessionConfiguration
from pipeline.grid.model import GridStep
from pipeline.grid.steps import step_of
from pipeline.methodology import Form, Strategy
from pipeline.question.request import rephrased_before
from pipeline.question.templates import fill, stable_hash
from pipeline.state import InterviewState
from pipeline.strategies import Strategies

METHOD = "methodology"
"""What is on record as the writer of questions that a method asks in its own words."""


def in_language(of: dict[str, tuple[Form, ...]], language: str) -> tuple[Form, ...]:
    """The forms in a language, else in English."""
    return of.get(language) or of.get(language.split("-")[0]) or of.get("en") or ()


def question_of(
    step: GridStep, strategy: Strategy, state: InterviewState, configuration: SessionConfiguration, *, variant: int = 0
) -> str:
    """The question for a step, in an interview.

    Args:
        step: what is asked for.
        strategy: that serves it.
        state: of the session before it is asked.
        configuration: of the session.
        variant: how often it was put in other words.
    """
    ids, grid = step.target.ids, state.grid
    earlier = grid.known_construct(ids[0])
    again = frozenset(ids) in {frozenset(one) for one in grid.compared}
    if step.name == "opposite":
        again = earlier is not None and earlier.turn < state.turn_count
    return worded(
        strategy,
        configuration,
        label=step.target.label,
        language=state.language,
        seed=state.seed,
        variant=state.strategy_history.count(strategy.name) + variant,
        role=ids[0] if step.name == "element" else None,
        again=again,
    )


def reworded(state: InterviewState, configuration: SessionConfiguration, strategies: Strategies) -> str | None:
    """The present question in other words, where it is a step of a grid; else None."""
    asked = state.question
    strategy = strategies.find(asked.strategy) if asked is not None else None
    step = step_of(strategy, asked.target if asked is not None else None)
    if step is None or strategy is None:
        return None
    return question_of(step, strategy, state, configuration, variant=rephrased_before(state))


def worded(
    strategy: Strategy,
    configuration: SessionConfiguration,
    *,
    label: str,
    language: str,
    seed: int,
    variant: int,
    role: str | None = None,
    again: bool = False,
) -> str:
    """The question of a step.

    Args:
        strategy: that asks for it.
        configuration: of the session.
        label: what it is about, which fills in `{element}`.
        language: of the interview.
        seed: of the session; it decides with which wording the first question begins.
        variant: how often the strategy asked before; wordings take turns.
        role: id of the prompt for elements, which has questions of its own.
        again: what is asked about was asked about before, or is not what was just said (`said: earlier`).
    """
    forms = in_language(strategy.templates, language)
    if role is not None:
        grid = configuration.methodology.grid
        prompts = (*configuration.concept.roles, *(grid.roles if grid is not None else ()))
        forms = next((in_language(one.questions, language) for one in prompts if one.id == role), ()) or forms
    fit = [form for form in forms if form.said in (None, "earlier" if again else "now")] or list(forms)
    if not fit:
        return label
    form = fit[(stable_hash(seed, strategy.name, role or "") + variant) % len(fit)]
    return fill(form.ask, topic=configuration.concept.name).replace("{element}", label)
