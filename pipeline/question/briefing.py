"""What a language model is told of the interview so far, besides what the next question is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from pipeline.acts import Act
from pipeline.graph.surface import SurfaceGraph
from pipeline.guide import ELEMENT, TopicProgress
from pipeline.ports import Briefing, Line, ThreadTold, TopicTold
from pipeline.question.text import words
from pipeline.threads import Thread

MAX_EARLIER = 30
MAX_THREADS = 5
STEM, SHORT = 4, 3
"""Letters by which two words are compared, and of words that name nothing."""
MOVED = 2
"""So many answers ago at the most somebody was moved who is still to be treated gently."""
MOVED_BEFORE = "was moved a moment ago"
DID: dict[Act, str] = {
    "dont_know": "has no more to tell of what was asked, or rounds it off",
    "declines": "does not want to go into something, or further into it, which is left",
    "asks_back": "asked something back, of your question or of what you said",
    "asks_interviewer": "asked you something",
    "corrects": "put something right that was told or understood wrongly",
    "complains": "found fault with a question, or has had enough of it",
    "wants_topic": "would rather be asked about something else, or says that you strayed",
    "wants_pause": "asked for a moment",
    "wants_stop": "spoke of stopping",
    "wants_withdrawal": "spoke of having it deleted",
    "distress": "was moved",
    "risk": "told of danger",
}
"""What somebody does besides telling that a question can take notice of."""
UNASKED: frozenset[Act] = frozenset(
    {"declines", "asks_back", "asks_interviewer", "wants_topic", "wants_pause", "wants_stop", "wants_withdrawal"}
)
"""Acts whose words nothing is asked about."""
UNASKED_WORDS = 25


def briefing(
    lines: Sequence[Line],
    graph: SurfaceGraph,
    threads: Sequence[Thread],
    guide: Sequence[TopicProgress],
    acts: Sequence[Act],
    *,
    most_words: int,
    demanded: Mapping[str, str] = MappingProxyType({}),
    doubted: Collection[Act] = (),
    answer: str = "",
    unasked: Sequence[str] = (),
    untaken: Sequence[str] = (),
    moved: bool = False,
) -> Briefing:
    """The end of the conversation, the threads, the guide, and what the respondent just did.

    Args:
        lines: everything that was said, oldest first, the last answer at the end.
        graph: after the last answer.
        threads: of the interview.
        guide: how far it is.
        acts: heard in the last answer, without those that merely tell.
        doubted: of these acts, those that no words of the rules' were heard of.
        most_words: of the conversation that is told; what was said before is summed up by its concepts.
        demanded: by the label of a topic, the study's own question for it that is still to be asked.
        answer: the last answer as it was given.
        unasked: words of it that nothing is asked about.
        untaken: what earlier answers opened and no question took up.
        moved: somebody was moved in one of the answers before, and says that it can go on.
    """
    kept = _within(lines, most_words)
    return Briefing(
        conversation=tuple(kept),
        earlier=_earlier(kept, graph) if len(kept) < len(lines) else (),
        threads=tuple(_told(threads, graph)),
        guide=tuple(_topic(topic, demanded.get(topic.label, ""), lines) for topic in guide),
        did=_did(acts, doubted, moved=moved),
        answer=answer,
        unasked=tuple(unasked),
        untaken=tuple(untaken),
    )


def _topic(topic: TopicProgress, question: str, lines: Sequence[Line]) -> TopicTold:
    status: str = topic.status
    if topic.status == "open" and topic.id.startswith(ELEMENT):
        status = "asked" if any(_names(line, topic.label) for line in lines) else "unmentioned"
    return TopicTold(label=topic.label, status=status, question=question)


def _names(line: Line, label: str) -> bool:
    """Whether the interviewer said most of the words by which a part of an idea is called."""
    if line.speaker != "interviewer":
        return False
    wanted = {word[:STEM] for word in words(label) if len(word) > SHORT}
    said = {word[:STEM] for word in words(line.text)}
    return 2 * len(wanted & said) > len(wanted)


MAY_DECLINE = "does not want to go into something, or only says so in passing"
"""What is told of a refusal that was not heard by words for it."""


def _did(acts: Sequence[Act], doubted: Collection[Act], *, moved: bool) -> tuple[str, ...]:
    told = dict(DID)
    if "declines" in doubted:
        told["declines"] = MAY_DECLINE
    found = tuple(dict.fromkeys(told[act] for act in acts if act in DID))
    still = moved and "distress" not in acts
    return (*found, MOVED_BEFORE) if still else found


def _earlier(kept: Sequence[Line], graph: SurfaceGraph) -> tuple[str, ...]:
    """The latest concepts that no line that was kept tells of."""
    said = {line.text for line in kept if line.speaker == "respondent"}
    earlier = [
        node.label
        for node in graph.live_nodes()
        if not any(mention.quote in text for mention in node.mentions for text in said)
    ]
    return tuple(earlier[-MAX_EARLIER:])


def _within(lines: Sequence[Line], most_words: int) -> list[Line]:
    """The latest lines that have at most `most_words` words together; the last two at least."""
    kept: list[Line] = []
    words = 0
    for line in reversed(lines):
        words += len(line.text.split())
        if words > most_words and len(kept) > 1:
            break
        kept.append(line)
    return kept[::-1]


def _told(threads: Sequence[Thread], graph: SurfaceGraph) -> list[ThreadTold]:
    """The threads worth a look: the one being followed first, then those that are open, the latest first."""
    going = [thread for thread in threads if not thread.ended]
    ordered = sorted(going, key=lambda thread: (thread.left_turn is not None, -(thread.left_turn or 0)))
    found = []
    for thread in ordered[:MAX_THREADS]:
        node = graph.nodes.get(thread.node_ids[-1])
        if node is not None:
            found.append(
                ThreadTold(
                    label=node.label,
                    quote=node.mentions[-1].quote,
                    left_turn=thread.left_turn,
                )
            )
    return found
