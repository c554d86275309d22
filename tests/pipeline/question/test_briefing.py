"""What a language model is told of the interview so far."""

from __future__ import annotations

from pipeline.graph.surface import KGNode, Mention, SurfaceGraph
from pipeline.guide import ELEMENT, TopicProgress
from pipeline.ports import Line
from pipeline.question.briefing import MAX_THREADS, briefing
from pipeline.threads import Thread

WORDS = 1500


def _graph(*labels: str) -> SurfaceGraph:
    nodes = [
        KGNode(id=f"n{number}", label=label, node_type="attribute", mentions=(Mention(utterance_id="u", quote=label),),
               confidence=0.9, created_turn=1, last_mention_turn=1, sequence=number, mention_sequence=number)
        for number, label in enumerate(labels)
    ]  # fmt: skip
    return SurfaceGraph(nodes)


def _thread(*nodes: str, **more: object) -> Thread:
    return Thread.model_validate(
        {"id": nodes[-1], "kind": "ladder", "node_ids": nodes, "began_turn": 1, "advanced_turn": 1, **more}
    )


def _lines(*texts: str) -> list[Line]:
    return [
        Line(speaker="interviewer" if number % 2 == 0 else "respondent", text=text) for number, text in enumerate(texts)
    ]


def test_short_conversation_is_told_whole() -> None:
    lines = _lines("What?", "The handle.", "Why?", "It is light.")
    told = briefing(lines, _graph("handle", "light"), (), (), ("complains", "complains"), most_words=WORDS)
    assert told.conversation == tuple(lines)
    assert told.earlier == ()
    assert told.did == ("found fault with a question, or has had enough of it",)


def test_long_conversation_keeps_its_end_and_sums_up_its_beginning() -> None:
    long = " ".join(["word"] * (WORDS - 4))
    lines = _lines("What?", "The handle is good.", "Why?", long, "Then?", "So light.")
    told = briefing(lines, _graph("handle", "light"), (), (), (), most_words=WORDS)
    assert [line.text for line in told.conversation] == ["Why?", long, "Then?", "So light."]
    assert told.earlier == ("handle",)


def test_last_exchange_is_told_however_long_it_is() -> None:
    long = " ".join(["word"] * (2 * WORDS))
    told = briefing(_lines("What?", long), _graph(), (), (), (), most_words=WORDS)
    assert [line.text for line in told.conversation] == ["What?", long]


def test_threads_begin_with_the_one_that_is_followed_and_leave_out_what_has_ended() -> None:
    labels = [f"idea {number}" for number in range(8)]
    threads = [_thread(f"n{number}", left_turn=number) for number in range(6)]
    threads += [_thread("n6", ended="exhausted"), _thread("n0", "n7")]
    told = briefing([], _graph(*labels), threads, (), (), most_words=WORDS).threads
    assert [thread.label for thread in told] == ["idea 7", "idea 5", "idea 4", "idea 3", "idea 2"]
    assert len(told) == MAX_THREADS
    assert told[0].left_turn is None


def test_guide_is_told_in_its_order() -> None:
    guide = [TopicProgress(id="a", label="Setting", status="covered", turn=1), TopicProgress(id="b", label="End")]
    told = briefing([], _graph(), (), guide, (), most_words=WORDS).guide
    assert [(topic.label, topic.status) for topic in told] == [("Setting", "covered"), ("End", "open")]


def test_part_of_an_idea_that_the_interviewer_named_was_asked() -> None:
    asked = Line(speaker="interviewer", text="You can leave at the end of any month. What is that to you?")
    topics = tuple(
        TopicProgress(id=f"{ELEMENT}{number}", label=label, status="open")
        for number, label in enumerate(("leaving every month", "the loan appliance"))
    )
    told = briefing((asked,), SurfaceGraph(), (), topics, (), most_words=100)
    assert [topic.status for topic in told.guide] == ["asked", "unmentioned"]
