"""What is put behind an answer by amending it, heard for what must not wait: amendments themselves are not."""

from __future__ import annotations

from pipeline.state import InterviewState
from pipeline.turn import Answer, straight
from server.session.context import SessionContext


def added_words(state: InterviewState, answer: Answer) -> str:
    """The words that an amendment puts behind the answer it amends; empty for any other amendment."""
    amended = next((each for each in state.utterances if each.id == answer.corrects), None)
    if amended is None or not amended.text or not straight(answer.text).startswith(straight(amended.text)):
        return ""
    return answer.text[len(amended.text) :].strip()


async def unless_urgent(session: SessionContext, answer: Answer) -> Answer:
    """The amendment; or the words that it adds, as a message, where they ask to stop, for a pause or for help."""
    added = added_words(session.state, answer)
    if not added:
        return answer
    message = Answer(turn_key=answer.turn_key, text=added)
    return message if await session.pipeline.is_urgent(session.state, message) else answer
