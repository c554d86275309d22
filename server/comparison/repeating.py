"""Makes the decisions of a stored interview again, and tells where what comes out differs from what is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import ValidationError

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.engines.registry import ENGINES
from pipeline.repeating import Difference, Value, differences, is_repeatable, made_again
from pipeline.state import InterviewState
from server.comparison.errors import NotRepeatable
from server.comparison.recording import counted


@dataclass(frozen=True)
class Repetition:
    """What came of making decisions again.

    Attributes:
        repeated: turns whose decision was made again.
        undecided: turns in which no engine decided: the last one, a moderator's question, what conduct decides.
        unkept: turns stored by a version that did not keep what decisions rest on.
        first: the first difference, and `differing` how many of the repeated turns differ.
    """

    repeated: tuple[int, ...]
    undecided: tuple[int, ...]
    unkept: tuple[int, ...]
    first: Difference | None
    differing: int


def repeated(state: InterviewState, records: tuple[TurnRecord, ...], configuration: SessionConfiguration) -> Repetition:
    """Make every decision again that can be.

    Raises:
        NotRepeatable: the engine is not known here, its pinned file or the methodology is of another version, or
            nothing was kept.
    """
    engine = ENGINES.get(state.engine)
    if engine is None:
        raise NotRepeatable(
            f"session {state.session_id} was held with the engine `{state.engine}`, which this version of askwell does "
            f"not have (it has {', '.join(ENGINES)})"
        )
    decided = [record for record in records if record.candidates]
    unkept = tuple(record.turn_number for record in decided if not is_repeatable(record))
    found: list[Difference] = []
    done: list[int] = []
    for record in decided:
        if not is_repeatable(record):
            continue
        try:
            decision = made_again(state, record, configuration, engine)
        except (ValidationError, ValueError, KeyError, AttributeError) as error:
            raise NotRepeatable(
                f"session {state.session_id} can't be repeated from turn {record.turn_number} on: what it is pinned to "
                f"is for another version of {state.engine} ({_reason(error)})"
            ) from error
        done.append(record.turn_number)
        found += _first(differences(record, decision))
    if decided and not done:
        raise NotRepeatable(
            f"session {state.session_id} was stored by a version of askwell that did not keep what decisions rest on; "
            "it can't be repeated"
        )
    undecided = tuple(record.turn_number for record in records if not record.candidates)
    return Repetition(tuple(done), undecided, unkept, found[0] if found else None, len(found))


def _first(found: Iterator[Difference]) -> list[Difference]:
    one = next(found, None)
    return [one] if one is not None else []


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg'].lower()}"
    return str(error) or type(error).__name__


def told(state: InterviewState, repetition: Repetition) -> str:
    """The result as text."""
    turns = counted(len(repetition.repeated), "decision")
    lines = [f"{state.concept_name} · {state.methodology} · {state.engine} · session {state.session_id}"]
    if repetition.undecided:
        lines.append(f"No engine decided after {_answers(repetition.undecided)}.")
    if repetition.unkept:
        lines.append(
            f"Left out, because what these decisions rest on was not kept then: {_answers(repetition.unkept)}."
        )
    first = repetition.first
    if first is None:
        lines.append(
            f"{turns} made again from what was stored: strategies, subjects, terms, scores are the same to the digit."
            if repetition.repeated
            else "There is no decision to make again."
        )
        return "\n".join(lines) + "\n"
    width = len("recomputed")
    lines += [
        f"{turns} made again from what was stored; {repetition.differing} differ. The first difference:",
        "",
        f"  {'turn'.ljust(width)}  {first.turn}",
        *([f"  {'candidate'.ljust(width)}  {first.candidate}"] if first.candidate else []),
        f"  {'term'.ljust(width)}  {first.what}",
        f"  {'stored'.ljust(width)}  {_shown(first.stored)}",
        f"  {'recomputed'.ljust(width)}  {_shown(first.again)}",
        "",
        "Either the record was changed after it was stored, or the version of askwell that held the interview decides "
        "differently from this one.",
    ]
    return "\n".join(lines) + "\n"


def _answers(turns: tuple[int, ...]) -> str:
    return f"{'answer' if len(turns) == 1 else 'answers'} {', '.join(map(str, turns))}"


def _shown(value: Value) -> str:
    if value is None:
        return "(nothing)"
    return repr(value) if isinstance(value, float) else str(value)
