"""Elements of a concept: what was said about them, what is missing, and when they were asked about often enough."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

import pytest

from config.loader import Library
from pipeline.concept import Element, MustAsk, PipelineSettings
from pipeline.coverage import ElementCoverage, Told, covered, element_of, gaps_of, share
from pipeline.engines.registry import ENGINES
from pipeline.focus import Target
from pipeline.graph.surface import Basis, KGEdge, KGNode, Mention, SurfaceGraph
from pipeline.language.offline.questions import OfflineQuestionWriter
from pipeline.ports import Ending, QuestionRequest
from pipeline.strategies import Move
from tests.support.interview import (
    Interview,
    PlainWriter,
    ScriptedReader,
    concepts,
    conduct_policy,
    configuration,
    new_state,
    small_methodology,
)

TASTE = Element(id="taste", label="the taste", connection_requirements=("price",))
PRICE = Element(id="price", label="the price")
BOTH = (TASTE, PRICE)


def node(name: str, *elements: str, stance: int = 0, superseded: str | None = None) -> KGNode:
    return KGNode(
        id=name,
        label=name,
        node_type="attribute",
        mentions=(Mention(utterance_id="u", quote=name),),
        confidence=0.7,
        stance=stance,
        created_turn=1,
        last_mention_turn=1,
        sequence=1,
        mention_sequence=1,
        element_ids=elements,
        superseded_by=superseded,
    )


def edge(source: str, target: str, basis: Basis = "stated") -> KGEdge:
    return KGEdge(
        id=f"{source}-{target}",
        source_id=source,
        target_id=target,
        edge_type="leads_to",
        mentions=(),
        confidence=0.7,
        basis=basis,
        created_turn=1,
        sequence=1,
    )


def asked(letters: str) -> list[Target | None]:
    return [Target(kind="element", ids=(letter,)) if letter != "-" else None for letter in letters]


def after(*nodes: KGNode, edges: Sequence[KGEdge] = (), about: str | None = None, **told: object) -> ElementCoverage:
    graph = SurfaceGraph(nodes, edges)
    answer = Told(nodes=nodes, new=[one.id for one in nodes], about=about, **told)  # type: ignore[arg-type]
    return covered((), BOTH, graph, [], answer)[0]


@pytest.mark.parametrize(
    ("letters", "exhausted", "focused", "in_a_row"),
    [
        ("AA", False, 2, 2),
        ("AAA", True, 3, 3),
        ("ABAA", False, 3, 2),
        ("AABAA", False, 4, 2),
        ("AABAAB", False, 4, 0),
        ("AABAABA", True, 5, 1),
        ("A-A-A", False, 3, 1),
        ("AAAB", True, 3, 0),
    ],
)
def test_element_is_exhausted_by_three_questions_in_a_row_or_five_in_all(
    letters: str, exhausted: bool, focused: int, in_a_row: int
) -> None:
    (found,) = covered((), [Element(id="A", label="a")], SurfaceGraph(), asked(letters), Told())
    assert (found.exhausted, found.focused, found.focused_in_a_row) == (exhausted, focused, in_a_row)


def test_element_that_is_exhausted_stays_so() -> None:
    worn = ElementCoverage(element_id="A", exhausted=True)
    (found,) = covered((worn,), [Element(id="A", label="a")], SurfaceGraph(), asked("B"), Told())
    assert found.exhausted


@pytest.mark.parametrize(
    ("said", "told", "expected"),
    [
        ([node("sweet", "taste", stance=1)], {}, ("positive",)),
        ([node("bitter", "taste", stance=-1)], {}, ("negative",)),
        ([node("sweet", "taste")], {}, ()),
        ([node("sweet", "taste")], {"doubts": True}, ("skeptical",)),
        ([node("sweet", "taste", stance=1)], {"wonders": True}, ("positive", "curious")),
        ([node("fine")], {"about": "taste", "content": "fine"}, ("neutral",)),
        ([], {"about": "taste", "content": "fine", "valence": 0.75}, ("positive",)),
        ([], {"about": "taste"}, ()),
        ([node("cheap", "price", stance=1)], {}, ()),
    ],
)
def test_reaction_comes_from_stance_doubt_and_curiosity(
    said: list[KGNode], told: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert after(*said, **told).reactions == expected  # type: ignore[arg-type]


def test_comprehension_is_none_then_named_then_explained() -> None:
    assert after().comprehension is None
    assert after(node("sweet", "taste")).comprehension == 0.5
    linked = after(node("sweet", "taste"), node("treat"), edges=[edge("sweet", "treat")])
    assert linked.comprehension == 1.0
    guessed = after(node("sweet", "taste"), node("treat"), edges=[edge("sweet", "treat", "inferred")])
    assert guessed.comprehension == 0.5
    assert after(about="taste", content="it is the way it melts on the tongue").comprehension == 1.0


def test_answer_about_an_element_maps_what_it_says_and_revised_nodes_are_ignored() -> None:
    first = after(node("melts"), about="taste", content="melts")
    assert first.node_ids == ("melts",)
    gone = SurfaceGraph([node("melts", superseded="u2")])
    (later, _) = covered((first,), BOTH, gone, [], Told())
    assert later.node_ids == ()


def test_mentions_count_from_the_last_that_brought_something_new() -> None:
    sweet, cold = node("sweet", "taste"), node("cold", "taste")
    entry = after(sweet)
    for said, new, expected in ((sweet, (), 1), (sweet, (), 2), (cold, ("cold",), 0), (sweet, (), 1)):
        graph = SurfaceGraph([sweet, cold])
        (entry, _) = covered((entry,), BOTH, graph, [], Told(nodes=[said], new=new))
        assert entry.mentioned_since_new == expected
    assert entry.mentioned == 5


def test_gaps_are_of_four_kinds_and_coverage_is_the_share_without_any() -> None:
    sweet, cheap = node("sweet", "taste", stance=1), node("cheap", "price", stance=1)
    graph = SurfaceGraph([sweet, cheap])
    nothing = gaps_of((), BOTH, graph)
    assert {name: [gap.kind for gap in gaps] for name, gaps in nothing.items()} == {
        "taste": ["unmentioned"],
        "price": ["unmentioned"],
    }
    named = ElementCoverage(element_id="taste", node_ids=("sweet",), mentioned=1, comprehension=0.5)
    assert [gap.kind for gap in gaps_of((named,), BOTH, graph)["taste"]] == [
        "no_reaction",
        "no_comprehension",
        "unconnected",
    ]
    full = named.model_copy(update={"reactions": ("positive",), "comprehension": 1.0})
    price = full.model_copy(update={"element_id": "price", "node_ids": ("cheap",)})
    apart = gaps_of((full, price), BOTH, graph)
    assert [(gap.kind, gap.other) for gap in apart["taste"]] == [("unconnected", "price")]
    assert (apart["price"], share(apart)) == ((), 0.5)
    joined = gaps_of((full, price), BOTH, SurfaceGraph([sweet, cheap], [edge("cheap", "sweet")]))
    assert share(joined) == 1.0
    assert share({}) == 1.0


def test_node_about_both_elements_connects_them() -> None:
    value = node("value for money", "taste", "price", stance=1)
    found = covered((), BOTH, SurfaceGraph([value]), [], Told(nodes=[value], new=["value for money"]))
    assert "unconnected" not in [gap.kind for gap in gaps_of(found, BOTH, SurfaceGraph([value]))["taste"]]


def test_edge_type_between_elements_does_not_matter_but_a_tie_of_an_end_that_was_revised_does() -> None:
    sweet, cheap = node("sweet", "taste"), node("cheap", "price", superseded="u2")
    entries = (
        ElementCoverage(element_id="taste", node_ids=("sweet",), mentioned=1),
        ElementCoverage(element_id="price", node_ids=("cheap",), mentioned=1),
    )
    graph = SurfaceGraph([sweet, cheap], [edge("sweet", "cheap")])
    assert ("unconnected", "price") in [(gap.kind, gap.other) for gap in gaps_of(entries, BOTH, graph)["taste"]]


def test_element_is_what_a_question_is_about_as_such_or_as_a_topic() -> None:
    assert element_of(Target(kind="element", ids=("taste",))) == "taste"
    assert element_of(Target(kind="topic", ids=("element.taste",))) == "taste"
    assert element_of(Target(kind="topic", ids=("drawback",))) is None
    assert element_of(Target.node("n", "taste")) is None
    assert element_of(None) is None


async def test_turn_keeps_the_coverage_of_the_concept() -> None:
    plain = configuration()
    concept = plain.concept.model_copy(update={"elements": BOTH})
    interview = Interview(configuration=plain.model_copy(update={"concept": concept}))
    found = concepts(("sweet", "attribute"))
    told = found.concepts[0].model_copy(update={"element_ids": ("taste",), "stance": 1})
    await interview.say("sweet", found.model_copy(update={"concepts": (told,)}))
    taste, price = interview.state.coverage
    assert (taste.mentioned, taste.reactions, len(taste.node_ids), price.mentioned) == (1, ("positive",), 1, 0)
    record = interview.outcomes[-1].record
    assert record is not None
    assert record.inputs.coverage == interview.state.coverage


@pytest.mark.parametrize(
    ("named", "valence", "mentioned", "reactions"),
    [
        (("taste",), 0.0, 1, ("negative",)),
        (("taste",), 0.5, 1, ()),
        (("taste",), None, 1, ()),
        (("taste", "price"), 0.0, 1, ()),
        (("price",), 0.0, 0, ()),
    ],
)
def test_element_named_in_words_alone_counts_as_mentioned(
    named: tuple[str, ...], valence: float | None, mentioned: int, reactions: tuple[str, ...]
) -> None:
    entry = after(content="well, that", named=named, valence=valence)
    assert (entry.mentioned, entry.reactions, entry.node_ids) == (mentioned, reactions, ())
    assert entry.comprehension == (0.5 if mentioned else None)


async def test_element_in_the_words_of_an_answer_counts_though_nothing_was_extracted() -> None:
    plain = configuration()
    elements = (
        Element(id="taste", label="taste", aliases=("flavour",)),
        Element(id="price", label="price"),
        Element(id="plan", label="subscription price"),
    )
    concept = plain.concept.model_copy(update={"elements": elements})
    interview = Interview(configuration=plain.model_copy(update={"concept": concept}))
    await interview.say("The flavours, and then the subscription price")
    assert [entry.mentioned for entry in interview.state.coverage] == [1, 0, 1]
    assert [item.status for item in interview.state.guide] == ["covered", "open", "covered"]


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("count", [0, 1, 400])
async def test_interview_with_any_number_of_elements_comes_to_its_end(name: str, count: int) -> None:
    elements = tuple(
        Element(id=f"e{n}", label=f"element {n}", connection_requirements=(f"e{n - 1}",) if n else ())
        for n in range(count)
    )
    plain = configuration()
    file = Library(PipelineSettings()).configuration("coffee_mec", engine=name).engine_file
    concept = plain.concept.model_copy(update={"elements": elements, "engine": name})
    configured = plain.model_copy(update={"concept": concept, "engine_file": file})
    interview = Interview(configuration=configured, state=new_state(max_turns=8, engine=name))
    while interview.state.status in ("created", "active", "closing"):
        turn = interview.state.turn_count
        await interview.say(f"element {turn}, and thing {turn}", concepts((f"thing {turn}", "attribute")))
        assert turn <= 8
    assert interview.state.status == "completed"
    assert len(interview.state.coverage) == count
    assert sum(entry.mentioned > 0 for entry in interview.state.coverage) == min(count, interview.state.turn_count)


class Stays(PlainWriter):
    """Stays with what was said wherever it may."""

    async def preferred(self, choices: Sequence[QuestionRequest], behind: Sequence[float]) -> int:
        return 0

    async def weighed(self, choices: Sequence[QuestionRequest], worth: Sequence[Move | float], in_a_row: int) -> int:
        return max(at for at, move in enumerate(worth) if move == "stay")


class StaysAtFirst(Stays):
    """A writer that stays with the first answers, and then leaves the choice to the engine."""

    async def weighed(self, choices: Sequence[QuestionRequest], worth: Sequence[Move | float], in_a_row: int) -> int:
        return await super().weighed(choices, worth, in_a_row) if choices[0].turn_number < 6 else 0


async def demanding(
    answers: Sequence[str],
    writer: PlainWriter | None = None,
    shown: str | None = None,
    asks: Sequence[str] = (),
    prompt: str = "",
    more: Mapping[str, str] | None = None,
) -> tuple[list[bool], Interview]:
    """For each answer to a concept test whether what the concept demands was asked after it.

    Args:
        answers: to say.
        writer: of questions.
        shown: the idea in words.
        asks: answers of which the last sentence is heard as a question to the interviewer.
        prompt: by which questions are written.
        more: other prompts.
    """
    plain = configuration()
    file = Library(PipelineSettings()).configuration("coffee_mec", engine="arbitration").engine_file
    elements = tuple(Element(id=f"e{n}", label=f"the {n}th shelf of it") for n in range(9))
    demanded = (MustAsk(id="today", question="How do you manage today?"),)
    changes = {"elements": elements, "engine": "arbitration", "must_ask": demanded, "stimulus": shown}
    configured = plain.model_copy(
        update={"concept": plain.concept.model_copy(update=changes), "engine_file": file, "conduct": conduct_policy()}
    ).model_copy(update={"prompts": {"question": prompt, **(more or {})}} if prompt else {})
    state = new_state(max_turns=15, engine="arbitration")
    heard = {one: [(f"{one.split('. ')[0]}.", "tells"), (one.split(". ")[1], "asks_interviewer")] for one in asks}
    reader = ScriptedReader(heard)  # type: ignore[arg-type]
    interview = Interview(configuration=configured, state=state, writer=writer or PlainWriter(), reader=reader)
    asked = []
    for said in answers:
        await interview.say(said, concepts((said[:20], "attribute")))
        asked.append("How do you manage today?" in interview.state.utterances[-1].text)
    return asked, interview


LONG = "I would put the cups on it and then the plates and the two bowls that we were given by my sister last year"


async def test_what_a_concept_test_demands_is_asked_soon() -> None:
    asked, interview = await demanding([LONG] * 3)
    assert asked == [False, True, False]
    assert interview.outcomes[1].record is not None
    assert interview.outcomes[1].record.reason == "the concept demands it, and the interview has only begun"


async def test_question_about_the_idea_is_answered_before_what_the_concept_demands() -> None:
    asks = "I would put the cups on it and the plates. But do I have to be in when they come for it on a Monday?"
    asked, interview = await demanding([LONG, asks], shown="Nine shelves.")
    assert asked == [False, True]
    said = interview.state.utterances[-1].text
    assert any(said.startswith(silent) for silent in conduct_policy().texts.idea_silent)
    told, plain = await demanding([LONG, LONG], shown="Nine shelves.")
    assert told == [False, True]
    assert not any(silent in plain.state.utterances[-1].text for silent in conduct_policy().texts.idea_silent)


class TakingOtherWords(PlainWriter):
    """A language model that goes on from words of its own choice wherever it may."""

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        self.requests.append(request)
        if request.offers:
            yield "[0: the two bowls]"
        yield f"What happened then, the {request.turn_number}th time?"


async def test_what_a_model_takes_itself_in_a_concept_test_stays_with_what_was_said() -> None:
    _, interview = await demanding([LONG, LONG, LONG], TakingOtherWords(), shown="Nine shelves.", prompt="{{ offers }}")
    chosen = [one.record for one in interview.outcomes if one.record is not None and one.record.question.own]
    assert chosen and {record.strategy for record in chosen} == {"stay"}


async def test_what_is_asked_about_the_idea_is_left_to_a_model_that_can_read_it() -> None:
    asks = f"{LONG}. What is on the 3th shelf of it, do I have to be in when they come for it on a Monday?"
    texts = conduct_policy().texts
    for more, left in (({"ending": "…"}, True), ({}, False)):
        _, interview = await demanding([LONG, asks], Writes(), shown="Nine shelves.", prompt="{{ offers }}", more=more)
        said = interview.state.utterances[-1].text
        assert any(said.startswith(silent) for silent in texts.idea_silent) != left
    asks, shown = f"{LONG}. How long does it keep in the fridge?", "Nine shelves. It keeps for ten days in the fridge."
    for more, left in (({"ending": "…"}, True), ({}, False)):
        _, interview = await demanding([LONG, asks], Writes(), shown=shown, prompt="{{ offers }}", more=more)
        assert ("ten days" in interview.state.utterances[-1].text) != left


class Writes(PlainWriter):
    """A language model that would say the last words itself."""

    finds_last_words = True

    async def last_words(self, request: QuestionRequest) -> Ending:
        return Ending(text="All right.")


async def test_what_a_concept_test_demands_waits_while_a_model_is_told_something_to_go_on_with() -> None:
    answers = [LONG, LONG, LONG, "The cups, they stand there.", LONG]
    asked, _ = await demanding(answers, Writes(), prompt="{{ offers }}")
    assert asked == [False, False, False, True, False]
    asked, _ = await demanding(answers, Writes(), prompt="no choice")
    assert asked == [False, True, False, False, False]
    asking = "The cups and the plates stand there, and the bowls as well, all of them. How deep is it?"
    asked, _ = await demanding(
        [LONG, LONG, LONG, asking, LONG], Writes(), prompt="{{ offers }}", asks=[asking], more={"ending": "End."}
    )
    assert not any(asked), "what was asked comes first"
    asked, _ = await demanding([LONG] * 14, Writes(), prompt="{{ offers }}")
    assert sum(asked) == 1, "it is asked in any case"


async def test_question_that_the_description_leaves_open_is_gone_on_with() -> None:
    asks = [
        f"I would put the {number} cups on it and the plates. Would there be a rate for {number} flats?"
        for number in ("two", "three", "nine", "ten")
    ]
    _, interview = await demanding([LONG, LONG, *asks], shown="Nine shelves.", asks=asks)
    for outcome in interview.outcomes[-len(asks) :]:
        assert outcome.record is not None and outcome.record.target is not None
        assert outcome.record.target.ids[0].startswith("asks.")
        said = next(one for one in reversed(outcome.state.utterances) if one.speaker == "interviewer").text
        assert any(said.startswith(silent) for silent in conduct_policy().texts.idea_silent)


async def test_what_a_concept_test_demands_is_asked_where_it_breaks_nothing_off() -> None:
    answers = [*[LONG] * 5, "The cups stand there. There isn't much more to it.", LONG]
    asked, interview = await demanding(answers, StaysAtFirst())
    assert asked == [False, False, False, False, False, True, False]
    assert interview.outcomes[5].record is not None
    assert interview.outcomes[5].record.reason == "the concept demands it, and a list would go on"


async def test_what_a_concept_test_demands_is_asked_instead_of_its_list_from_the_seventh_turn_on() -> None:
    asked, _ = await demanding([LONG] * 7, StaysAtFirst())
    assert asked == [False] * 6 + [True]


async def test_what_a_concept_test_demands_waits_for_what_is_worth_more_but_not_for_ever() -> None:
    asked, interview = await demanding([LONG] * 14, Stays())
    assert sum(asked) == 1 and asked.index(True) > 8
    stayed = [outcome.record for outcome in interview.outcomes[:8] if outcome.record is not None]
    assert [record.strategy for record in stayed].count("stay") == 8
    assert {record.target.kind for record in stayed if record.target is not None} == {"lead"}
    late = stayed[7].question
    assert late.taken > 0 and late.offers[late.taken].strategy == "stay"


def test_question_about_an_element_names_it() -> None:
    guide = small_methodology().strategies[1].model_copy(update={"focus_mode": "guide"})
    request = QuestionRequest(
        kind="follow_up",
        methodology=small_methodology(),
        topic="oat milk",
        objective="",
        language="en",
        seed=1,
        turn_number=2,
        strategy=guide,
        focus_label="the sleeve design",
    )
    assert "the sleeve design" in OfflineQuestionWriter().template(request)
