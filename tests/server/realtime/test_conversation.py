"""A session as a Realtime conversation, without a socket: what each message of the session becomes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.state import Utterance
from server.hot.values import DurableEvent
from server.protocol.base import Message
from server.protocol.inbound import SendAnswer
from server.protocol.outbound import (
    AnswerEnding,
    AudioAck,
    Error,
    Notice,
    Pong,
    QuestionDelta,
    QuestionStarted,
    QuestionWithdrawn,
    Ready,
    SpeechStarted,
    SpeechStopped,
    TranscriptPartial,
)
from server.realtime.conversation import Conversation, HearingDropped, HearingEnded, Snapshot
from server.realtime.vocabulary import present
from tests.support.interview import NOW

KEY = "11111111-1111-4111-8111-111111111111"
READY = Ready(
    session_id="s", state="active", epoch="e", last_event_id=0, turn_number=1, pending=None, first_unreceived_seq=0
)
RESULT = {"should_continue": True, "turn_number": 1, "max_turns": 9, "progress": 0.1, "utterance_id": "u"}


def utterance(number: int, speaker: Any, text: str, **fields: Any) -> Utterance:
    """Something that was said."""
    kind: Any = "answer" if speaker == "respondent" else "question"
    said = f"{speaker}-{number}"
    return Utterance(id=said, turn_number=number, speaker=speaker, kind=kind, text=text, recorded_at=NOW, **fields)


class Talk:
    """A conversation, and what it has sent."""

    def __init__(self, *said: Utterance, pending: SendAnswer | None = None, failed: bool = False) -> None:
        session = {"askwell": {"session_id": "abcdefgh-1"}}
        self.said = list(said)
        self.changes = 0
        self.seen: list[dict[str, Any]] = []
        self.talk = Conversation(
            present, lambda: Snapshot(session, self.said, pending, failed, opening=not self.said), self._change
        )
        self._id = 0

    def _change(self) -> None:
        self.changes += 1

    def __call__(self, *messages: Message) -> list[str]:
        """Send ephemeral messages; the types of the events that they become."""
        return [name for message in messages for name in self._taken(self.talk.message(message))]

    def event(self, kind: str, *, again: int = 0, **fields: Any) -> list[str]:
        """Send a durable event; the types of the events that it becomes."""
        self._id = again or self._id + 1
        return self._taken(self.talk.event(DurableEvent(self._id, {"type": kind, "id": self._id, **fields})))

    def _taken(self, frames: Sequence[str]) -> list[str]:
        events = [json.loads(frame) for frame in frames]
        self.seen += events
        return [event["type"] for event in events]

    def ask(self, number: int, text: str, key: str = KEY) -> None:
        """A whole turn."""
        self.event("turn.started", turn_key=key, turn_number=number, attempt=1)
        self.event("question.completed", turn_number=number, text=text, fallback=False)
        self.event("turn.completed", turn_number=number, turn_key=key, result=RESULT)


def started(turn: int = 1, attempt: int = 1) -> QuestionStarted:
    """A question begins."""
    return QuestionStarted(turn_number=turn, attempt=attempt)


def delta(text: str, turn: int = 1, attempt: int = 1) -> QuestionDelta:
    """The next piece of it."""
    return QuestionDelta(turn_number=turn, attempt=attempt, text=text)


def test_session_begins_with_what_was_said_so_far() -> None:
    talk = Talk(
        utterance(0, "interviewer", "Why?"),
        utterance(1, "respondent", "So.", spoken=True),
        utterance(2, "respondent", ""),
        utterance(2, "moderator", "And?"),
    )
    talk(READY)
    assert [event["type"] for event in talk.seen] == [
        "session.created", "conversation.created",
        *["conversation.item.added", "conversation.item.done"] * 3,
    ]  # fmt: skip
    items = [event["item"] for event in talk.seen if event["type"] == "conversation.item.added"]
    assert [item["role"] for item in items] == ["assistant", "user", "assistant"]
    assert items[1]["content"] == [{"type": "input_audio", "transcript": "So."}]
    befores = [event["previous_item_id"] for event in talk.seen if event["type"] == "conversation.item.added"]
    assert befores == [None, *[item["id"] for item in items[:-1]]]
    assert not talk.talk.unclaimed


def test_pending_answer_is_an_item_and_its_response_is_being_made() -> None:
    pending = SendAnswer(type="answer", text="So.", turn_key=KEY)
    talk = Talk(utterance(0, "interviewer", "Why?"), pending=pending)
    assert talk(READY)[-3:] == ["conversation.item.added", "conversation.item.done", "response.created"]
    talk(started(), delta("And?"))
    talk.event("question.completed", turn_number=1, text="And?", fallback=False)
    assert talk.event("turn.completed", turn_number=1, turn_key=KEY, result=RESULT) == ["response.done"]


def test_pending_answer_whose_turn_failed_may_be_sent_again() -> None:
    pending = SendAnswer(type="answer", text="So.", turn_key=KEY)
    talk = Talk(utterance(0, "interviewer", "Why?"), pending=pending, failed=True)
    assert talk(READY)[-1] == "conversation.item.done"
    assert talk.talk.failed == pending


def test_question_in_a_higher_attempt_replaces_the_item_in_the_same_response() -> None:
    talk = Talk()
    talk(READY)
    talk.event("turn.started", turn_key=KEY, turn_number=1, attempt=1)
    talk(started(), delta("What abou"), started(attempt=2), delta("Why so?", attempt=2))
    talk.event("question.completed", turn_number=1, text="Why so?", fallback=False)
    talk.event("turn.completed", turn_number=1, turn_key=KEY, result=RESULT)
    done = talk.seen[-1]["response"]
    assert [item["content"][0]["text"] for item in done["output"]] == ["Why so?"]
    deleted = [event["item_id"] for event in talk.seen if event["type"] == "conversation.item.deleted"]
    ended = {event["item"]["id"]: event for event in talk.seen if event["type"] == "response.output_item.done"}
    assert [ended[item]["item"]["status"] for item in deleted] == ["incomplete"]
    assert [event["output_index"] for event in ended.values()] == [0, 1]
    assert len([event for event in talk.seen if event["type"] == "response.created"]) == 1


def test_question_whose_end_is_another_than_was_sent_is_sent_as_it_stands() -> None:
    talk = Talk()
    talk(READY, started(0), delta("What about", 0))
    talk.event("question.completed", turn_number=0, text="Why so?", fallback=True)
    done = talk.seen[-1]["response"]
    assert (done["status"], done["output"][0]["content"][0]["text"]) == ("completed", "Why so?")
    deltas: dict[str, str] = {}
    for event in talk.seen:
        if event["type"] == "response.output_text.delta":
            deltas[event["item_id"]] = deltas.get(event["item_id"], "") + event["delta"]
    assert deltas[done["output"][0]["id"]] == "Why so?"


def test_question_that_comes_without_deltas_is_a_whole_response() -> None:
    talk = Talk()
    talk(READY)
    assert talk.event("question.completed", turn_number=0, text="Why?", fallback=False) == [
        "response.created", "response.output_item.added", "conversation.item.added", "response.content_part.added",
        "response.output_text.delta", "response.output_text.done", "response.content_part.done",
        "response.output_item.done", "conversation.item.done", "response.done",
    ]  # fmt: skip


def test_failed_turn_is_a_failed_response_and_its_answer_is_kept() -> None:
    talk = Talk()
    talk(READY)
    message = SendAnswer(type="answer", text="So.", turn_key=KEY)
    talk.talk.send_answer(message)
    talk.event("turn.started", turn_key=KEY, turn_number=1, attempt=1)
    talk(started(), delta("Wh"))
    names = talk.event("turn.failed", turn_key=KEY, code="llm_unavailable", retryable=True)
    assert names == ["response.output_item.done", "conversation.item.deleted", "response.done"]
    done = talk.seen[-1]["response"]
    assert (done["status"], done["status_details"]["error"]["code"]) == ("failed", "llm_unavailable")
    assert talk.talk.failed == message
    # Its item is there already.
    assert talk.event("turn.started", turn_key=KEY, turn_number=1, attempt=2) == ["response.created"]


def test_reply_is_a_response_and_says_what_was_heard() -> None:
    talk = Talk()
    talk(READY)
    talk.event("turn.started", turn_key=KEY, turn_number=1, attempt=1)
    offers = [{"name": "resume", "label": "Go on"}]
    fields: dict[str, Any] = {
        "turn_number": 1,
        "turn_key": KEY,
        "act": "wants_pause",
        "help": "",
        "offers": offers,
        "open": True,
    }
    talk.event("interviewer.replied", text="Of course.", result=RESULT, **fields)
    done = talk.seen[-1]["response"]
    assert (done["askwell"]["kind"], done["askwell"]["act"], done["askwell"]["offers"]) == (
        "reply", "wants_pause", offers,
    )  # fmt: skip


# Speech


def test_question_before_the_end_of_an_answer_comes_after_the_answers_item() -> None:
    talk = Talk(utterance(0, "interviewer", "Why?"))
    talk(READY)
    talk.talk.begin_hearing(KEY, 250)
    talk(SpeechStarted(at_ms=100), TranscriptPartial(text="So it is", stable=5), SpeechStopped(at_ms=900))
    talk(started(), delta("And?"), AnswerEnding(turn_key=KEY, left_ms=3000))
    items = [event["item"]["role"] for event in talk.seen if event["type"] == "conversation.item.added"]
    assert items == ["assistant", "user", "assistant"]
    assert [event["audio_start_ms"] for event in talk.seen if "audio_start_ms" in event] == [350]
    assert [event["audio_end_ms"] for event in talk.seen if "audio_end_ms" in event] == [1150]
    names = talk(QuestionWithdrawn(turn_number=1, attempt=1))
    assert names[-1] == "response.done"
    assert talk.seen[-1]["response"]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    names = talk.event("transcript.final", turn_key=KEY, text="So it is indeed", words=None)
    assert names == ["conversation.item.input_audio_transcription.completed", "conversation.item.done"]
    assert talk.talk.heard is None
    assert talk.changes >= 1


def test_transcript_that_is_corrected_is_sent_whole_at_its_end() -> None:
    talk = Talk()
    talk(READY)
    talk.talk.begin_hearing(KEY, 0)
    for text in ("So", "So it", "Sew it is", "So it is", "So it"):
        talk(TranscriptPartial(text=text, stable=len(text)))
    talk.event("transcript.final", turn_key=KEY, text="So it is.", words=[{"text": "So", "start_ms": 0, "end_ms": 900}])
    deltas = [event["delta"] for event in talk.seen if "delta" in event]
    assert deltas == ["So", " it", " is"]
    [completed] = [event for event in talk.seen if "transcript" in event]
    assert (completed["transcript"], completed["usage"]) == ("So it is.", {"type": "duration", "seconds": 0.9})


def test_answer_that_is_taken_while_the_next_is_spoken_leaves_that_one_alone() -> None:
    talk = Talk()
    talk(READY)
    other = KEY.replace("1", "2")
    talk.talk.begin_hearing(KEY, 0)
    talk(HearingEnded())
    talk.talk.begin_hearing(other, 1000)
    talk.event("transcript.final", turn_key=KEY, text="One.", words=None)
    assert talk.talk.heard is not None and talk.talk.heard.turn_key == other
    talk(HearingEnded(), Notice.of("didnt_catch"))
    assert talk.talk.heard is None


def test_nothing_heard_and_a_broken_model_are_failed_transcriptions() -> None:
    for message in (Notice.of("didnt_catch"), Error.of("transcriber_unavailable", ref=KEY)):
        talk = Talk()
        talk(READY)
        talk.talk.begin_hearing(KEY, 0)
        talk(HearingEnded())
        assert "conversation.item.input_audio_transcription.failed" in talk(message)
        heard = talk.talk.heard
        assert heard is None or heard.failing


def test_noise_in_an_answer_that_goes_on_is_a_notice() -> None:
    talk = Talk()
    talk(READY)
    talk.talk.begin_hearing(KEY, 0)
    assert talk(Notice.of("didnt_catch")) == ["askwell.notice"]
    assert talk.talk.heard is not None and talk.talk.heard.unsure


def test_answer_that_a_broken_model_ended_is_forgotten_with_the_next_one() -> None:
    talk = Talk()
    talk(READY)
    talk.talk.begin_hearing(KEY, 0)
    talk(Error.of("transcriber_unavailable", ref=KEY))
    other = KEY.replace("1", "2")
    talk.talk.begin_hearing(other, 0)
    talk(HearingEnded(), Notice.of("didnt_catch"))
    failed = [event["item_id"] for event in talk.seen if event["type"].endswith("transcription.failed")]
    assert [item[-4:] for item in failed] == ["1111", "2222"]
    assert talk.talk.heard is None


def test_answer_that_is_discarded_after_its_item_was_added_is_deleted() -> None:
    talk = Talk()
    talk(READY)
    talk.talk.begin_hearing(KEY, 0)
    assert talk(HearingDropped()) == []
    talk.talk.begin_hearing(KEY, 0)
    talk(AnswerEnding(turn_key=KEY, left_ms=1))
    assert talk(HearingDropped()) == ["conversation.item.deleted"]


def test_spoken_answer_of_an_earlier_connection_is_told_too() -> None:
    talk = Talk()
    talk(READY)
    names = talk.event("transcript.final", turn_key=KEY, text="So.", words=None)
    assert names[0] == "input_audio_buffer.committed"
    assert names[-1] == "conversation.item.done"


# The rest


def test_acknowledgements_have_no_counterpart_and_notices_one_of_their_own() -> None:
    talk = Talk()
    talk(READY)
    assert talk(AudioAck(seq=1), Pong(t=1), QuestionWithdrawn(turn_number=1, attempt=1), HearingEnded()) == []
    assert talk(Notice.of("still_thinking"), Notice.of("didnt_catch")) == ["askwell.notice"] * 2


def test_errors_name_the_event_of_the_client_by_its_id() -> None:
    talk = Talk()
    talk(READY)
    talk.talk.remember("by-key", KEY)
    talk.talk.remember("by-id")
    talk(Error.of("invalid_input", ref=KEY), Error.of("invalid_input", ref="by-id"), Error.of("internal", ref="hello"))
    assert [event["error"]["event_id"] for event in talk.seen[-3:]] == ["by-key", "by-id", None]
    assert [event["error"]["type"] for event in talk.seen[-2:]] == ["invalid_request_error", "server_error"]
    for number in range(1000):
        talk.talk.remember(f"e-{number}")
    talk(Error.of("internal", ref="by-id"))
    assert talk.seen[-1]["error"]["event_id"] is None


def test_events_that_are_repeated_while_a_response_is_made_are_passed_over() -> None:
    talk = Talk(utterance(0, "interviewer", "Why?"))
    talk(READY)
    talk.ask(1, "And?")
    talk.event("turn.started", turn_key=KEY.replace("1", "2"), turn_number=2, attempt=1)
    for number in (1, 2, 3):
        assert talk.event("turn.started", again=number, turn_key=KEY, turn_number=1, attempt=1) == []
    assert talk.talk.responding


def test_events_of_an_answer_that_is_sent_again_tell_its_question_again() -> None:
    talk = Talk(
        utterance(0, "interviewer", "Why?"), utterance(1, "respondent", "So."), utterance(1, "interviewer", "And?")
    )
    talk(READY)
    talk.event("turn.started", turn_key=KEY, turn_number=1, attempt=1)
    talk.event("turn.completed", turn_key=KEY, turn_number=1, result=RESULT)
    assert talk.seen[-1]["response"]["output"][0]["content"][0]["text"] == "And?"


STEPS: dict[str, Message] = {
    "started": started(),
    "delta": delta("Why "),
    "withdrawn": QuestionWithdrawn(turn_number=1, attempt=1),
    "ending": AnswerEnding(turn_key=KEY, left_ms=1),
    "speech": SpeechStarted(at_ms=1),
    "partial": TranscriptPartial(text="So", stable=2),
    "offer": TranscriptPartial(text="So", stable=2, turn_key=KEY),
    "nothing": Notice.of("didnt_catch"),
    "error": Error.of("internal", ref=KEY),
    "ended": HearingEnded(),
    "dropped": HearingDropped(),
}
EVENTS: dict[str, dict[str, Any]] = {
    "turn.started": {"turn_key": KEY, "turn_number": 1, "attempt": 1},
    "question.completed": {"turn_number": 1, "text": "Why so?", "fallback": False},
    "turn.completed": {"turn_number": 1, "turn_key": KEY, "result": RESULT},
    "turn.failed": {"turn_key": KEY, "code": "internal", "retryable": True},
    "transcript.final": {"turn_key": KEY, "text": "So.", "words": None},
    "interviewer.replied": {
        "turn_number": 1, "turn_key": KEY, "act": "asks_back", "help": "", "offers": [], "open": True, "text": "Hm.",
        "result": RESULT,
    },
}  # fmt: skip


@given(st.lists(st.sampled_from([*STEPS, *EVENTS, "begin"]), max_size=30))
def test_whatever_comes_in_whatever_order_the_conversation_stays_consistent(steps: list[str]) -> None:
    talk = Talk(utterance(0, "interviewer", "Why?"))
    talk(READY)
    for step in steps:
        if step == "begin":
            talk.talk.begin_hearing(KEY, 0)
        elif step in STEPS:
            talk(STEPS[step])
        else:
            talk.event(step, **EVENTS[step])
    open_responses: set[str] = set()
    texts: dict[str, str] = {}
    for event in talk.seen:
        match event["type"]:
            case "response.created":
                assert not open_responses
                open_responses.add(event["response"]["id"])
            case "response.done":
                open_responses.remove(event["response"]["id"])
            case "response.output_text.delta":
                assert event["response_id"] in open_responses
                texts[event["item_id"]] = texts.get(event["item_id"], "") + event["delta"]
            case "response.output_text.done":
                assert texts[event["item_id"]] == event["text"]
    assert len(open_responses) == (1 if talk.talk.responding else 0)
    ids = [event["event_id"] for event in talk.seen]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("text", ["", "a\u2028b", "😀"])
def test_texts_go_over_the_wire_as_they_are(text: str) -> None:
    talk = Talk()
    talk(READY)
    talk.event("question.completed", turn_number=0, text=f"Why{text}?", fallback=False)
    assert talk.seen[-1]["response"]["output"][0]["content"][0]["text"] == f"Why{text}?"
