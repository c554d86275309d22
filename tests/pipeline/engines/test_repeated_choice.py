"""What a turn's record stores is enough to make its choice again, to the digit, with every engine."""

from __future__ import annotations

import pytest

from pipeline.contracts import TurnRecord
from pipeline.engines.registry import ENGINES
from pipeline.state import InterviewState
from tests.support.engine_turns import differences
from tests.support.eventful import held
from tests.support.interview import Interview


def stored(interview: Interview) -> list[TurnRecord]:
    """The records as they are read from a store."""
    found = [outcome.record for outcome in interview.outcomes if outcome.record is not None]
    return [TurnRecord.model_validate_json(record.model_dump_json()) for record in found]


@pytest.mark.parametrize("name", ENGINES)
async def test_stored_choice_of_every_turn_comes_out_again_to_the_digit(name: str) -> None:
    interview = await held(name)
    interview.state = InterviewState.load(interview.state.dump())
    decided = [record for record in stored(interview) if record.candidates]
    assert len(decided) >= 6
    assert any(record.directive is not None for record in decided)
    wrong = {record.turn_number: differences(interview.state, record, interview.configuration) for record in decided}
    assert not any(wrong.values()), wrong
