"""A language model chooses what the next question is about, among candidates of the engine that score nearly alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from pipeline.concept import Element, MustAsk, PipelineSettings
from pipeline.engines.base import MARGIN, Decision, ScoredCandidate, Term
from pipeline.errors import LLMUnavailable
from pipeline.focus import Target
from pipeline.offers import MOST, MOST_COMPARED, chosen_by_writer, in_a_row, keeps_strategy, offered, weighed
from pipeline.ports import QuestionRequest
from pipeline.question.asking import OWN_PURPOSE, Questioner, Weighing
from pipeline.state import Directive, FocusEntry
from pipeline.strategies import Move, Strategies
from pipeline.ways import CHOSEN_FREELY, SAID_BACK
from tests.support.interview import (
    Interview,
    Listener,
    PlainWriter,
    TableEmbedder,
    concepts,
    conduct_policy,
    configuration,
    small_methodology,
)


class Choosing(PlainWriter):
    """Takes the offer with this number where something is offered; may fail, or write what is refused, after it."""

    def __init__(self, number: str = "[2]", then: str | Exception | None = None) -> None:
        super().__init__()
        self.number = number
        self.then = then
        self.again = ""
        """What it takes where it writes once more, if something else."""

    async def write(self, request: QuestionRequest) -> AsyncGenerator[str, None]:
        if not request.offers:
            async for piece in super().write(request):
                yield piece
            return
        self.requests.append(request)
        number = self.again if request.refused and self.again else self.number
        if number:
            yield number
        if isinstance(self.then, Exception):
            raise self.then
        yield self.then or "What happens with that, for you?"


def talk(writer: PlainWriter, *, choice: str | None = None, prompt: str = "{{ offers }}", **more: Any) -> Interview:
    given = configuration()
    concept = given.concept.model_copy(update={"choice": choice})
    return Interview(
        configuration=given.model_copy(update={"concept": concept, "prompts": {"question": prompt}}),
        writer=writer,
        **more,
    )


async def told(interview: Interview) -> Interview:
    """Two concepts of the same weight, so that either could be followed."""
    await interview.say("It is quick. It is cheap.", concepts(("quick", "attribute"), ("cheap", "attribute")))
    return interview


async def test_offer_that_is_taken_is_what_the_turn_goes_on_with() -> None:
    interview = await told(talk(Choosing()))
    request, record = interview.writer.requests[-1], interview.last.record
    assert record is not None and len(request.offers) > 1
    assert request.offers[0].label == request.focus_label
    made = record.question
    assert (made.taken, made.said) == (1, 2)
    assert made.offers[0].rank == 1
    taken = made.offers[1]
    assert record.strategy == taken.strategy and record.target is not None and taken.target is not None
    assert record.target.ids == taken.target.ids
    asked = interview.state.question
    assert asked is not None and asked.focus_label == request.offers[1].label
    assert asked.text == "What happens with that, for you?"
    assert interview.state.focus_history[-1].label == request.offers[1].label
    assert interview.state.node_tracker().previous_focus == taken.target.node_key
    assert [c.rank for c in record.candidates if c.selected] == [1]


@pytest.mark.parametrize(("number", "said"), [("[1]", 1), ("[9]", 9), ("[0]", 0), ("", None)])
async def test_unknown_number_or_none_is_the_engines_choice(number: str, said: int | None) -> None:
    interview = await told(talk(Choosing(number)))
    assert interview.last.record is not None
    made = interview.last.record.question
    assert (made.taken, made.said) == (0, said)
    asked = interview.state.question
    assert asked is not None and asked.focus_label == interview.writer.requests[-1].focus_label
    assert "[" not in asked.text


@pytest.mark.parametrize(
    ("quote", "own"), [("it is CHEAP", "It is cheap"), ("is quick", "is quick"), ("it was dear", ""), ("", "")]
)
async def test_model_may_choose_other_words_of_the_respondent(quote: str, own: str) -> None:
    interview = await told(talk(Choosing(f"[0: {quote}]")))
    record, asked = interview.last.record, interview.state.question
    assert record is not None and asked is not None
    assert (record.question.own, record.question.said) == (own, 0)
    if own:
        assert asked.focus_label == own.split()[-1]
        assert (record.reason == CHOSEN_FREELY) == (own == "is quick")  # The other is the engine's choice anyway.
    else:
        assert asked.focus_label == interview.writer.requests[-1].focus_label


async def test_words_of_an_earlier_answer_can_be_chosen_and_a_template_is_about_them() -> None:
    writer = Choosing("[0: is cheap]", "Is that good or bad?")
    interview = await told(talk(writer))
    await interview.say("I bought it in May with my sister.", concepts(("bought it in May", "attribute")))
    settled, asked = writer.templates[-1], interview.state.question
    assert (settled.focus_label, settled.offers) == ("is cheap", ())
    assert settled.strategy is not None and settled.strategy.description == OWN_PURPOSE
    assert asked is not None and asked.focus_label == "cheap"


async def test_a_topic_of_the_guide_can_be_taken_by_its_name() -> None:
    topic = {"id": "weight", "label": "What weighs on it", "questions": {"en": [{"ask": "What weighs on it?"}]}}
    asks = {
        "name": "guide",
        "description": "Ask for a topic.",
        "focus_mode": "guide",
        "signal_weights": {"llm.engagement": 0.1},
    }
    plain = small_methodology()
    strategies = [one.model_dump(mode="json", exclude_defaults=True) for one in plain.strategies]
    given = configuration(small_methodology(guide=[topic], strategies=[*strategies, asks]))
    concept = given.concept.model_copy(update={"choice": "model"})
    interview = Interview(
        configuration=given.model_copy(update={"concept": concept, "prompts": {"question": "{{ offers }}"}}),
        writer=Choosing("[0: what weighs on it]"),
    )
    await told(interview)
    record = interview.last.record
    assert record is not None and record.target is not None
    assert (record.target.kind, record.target.ids, record.question.own) == ("topic", ("weight",), "What weighs on it")
    assert [item.status for item in interview.state.guide] == ["asked"]


async def test_what_somebody_would_not_go_on_with_is_not_offered_again() -> None:
    refused = "I'd rather not talk about that."
    interview = talk(Choosing("[1]"))
    interview.configuration = interview.configuration.model_copy(update={"conduct": conduct_policy()})
    await told(interview)
    await interview.say("I bought it in May.", concepts(("bought it in May", "attribute")))
    await interview.say(refused, concepts())
    await interview.say("My sister has one that is red.", concepts(("is red", "attribute")))
    offered = {offer.label for offer in interview.writer.requests[-1].offers}
    assert "is red" in offered and not offered & {"quick", "cheap", "bought it in May"}


async def test_the_studys_own_question_is_said_in_its_words_where_a_model_names_its_topic() -> None:
    wanted = MustAsk(id="today", label="What is done today", question="What do you do about it today?")
    interview = talk(Choosing("[0: what is done today]", "How is it today?"))
    given = interview.configuration
    concept = given.concept.model_copy(update={"must_ask": (wanted,)})
    interview.configuration = given.model_copy(update={"concept": concept})
    await told(interview)
    request, asked = interview.writer.requests[-1], interview.state.question
    assert [(one.label, one.question) for one in request.briefing.guide] == [(wanted.label, wanted.question)]
    assert asked is not None and asked.text == wanted.question
    assert [(one.id, one.status) for one in interview.state.guide] == [("must_ask.today", "asked")]
    record = interview.last.record
    assert record is not None and (record.reason, record.question.own) == (CHOSEN_FREELY, wanted.label)
    await interview.say("I leave it to my sister.", concepts(("leave it to my sister", "attribute")))
    assert [one.question for one in interview.writer.requests[-1].briefing.guide] == [""]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Your sister, then.", "Your sister, then. What do you do about it today?"),
        ("Your sister, then. what do you do about it TODAY?", "Your sister, then. What do you do about it today?"),
        ("That's wonderful.", "What do you do about it today?"),
        ("Your sister, then. That's wonderful.", "Your sister, then. What do you do about it today?"),
        ("Who is she? And then:", "What do you do about it today?"),
        (" ".join(["word"] * 60), "What do you do about it today?"),
    ],
)
async def test_a_few_words_may_lead_to_the_studys_own_question(written: str, said: str) -> None:
    interview = talk(Choosing("[0: what is done today]", written))
    wanted = MustAsk(id="today", label="What is done today", question="What do you do about it today?")
    concept = interview.configuration.concept.model_copy(update={"must_ask": (wanted,)})
    interview.configuration = interview.configuration.model_copy(update={"concept": concept})
    await told(interview)
    assert interview.state.question is not None and interview.state.question.text == said


async def test_words_that_tell_no_concept_are_asked_about_by_their_sentence() -> None:
    interview = await told(talk(Choosing("[0: went home alone]")))
    await interview.say("It is light. I went home alone.", concepts(("light", "attribute")))
    record = interview.last.record
    assert record is not None and record.target is not None
    assert (record.target.kind, record.target.label) == ("lead", "I went home alone.")


@pytest.mark.parametrize(("again", "taken", "own"), [("[2]", 1, ""), ("[1]", 0, ""), ("[0: is quick]", 0, "is quick")])
async def test_refused_text_is_written_again_about_what_is_taken_then(again: str, taken: int, own: str) -> None:
    writer = Choosing(then="Is that good or bad?")
    writer.again = again
    interview = await told(talk(writer))
    first, second = writer.requests[-2:]
    assert second.offers == first.offers and not first.refused
    assert [one.text for one in second.refused] == ["Is that good or bad?"]
    assert interview.last.record is not None
    made = interview.last.record.question
    assert (made.taken, made.own) == (taken, own)
    settled = writer.templates[-1]
    assert settled.offers == () and settled.focus_label == (own or first.offers[taken].label)


async def test_second_writer_asks_about_what_was_taken() -> None:
    second = PlainWriter()
    interview = await told(talk(Choosing(then=LLMUnavailable("gone")), second=second))
    assert [request.offers for request in second.requests] == [()]
    assert second.requests[0].focus_label == interview.writer.requests[-1].offers[1].label
    assert interview.last.record is not None and interview.last.record.question.taken == 1


@pytest.mark.parametrize(
    ("choice", "prompt", "offers"),
    [
        (None, "{{ offers }}", True),
        ("model", "{{ offers }}", True),
        ("engine", "{{ offers }}", False),
        (None, "", False),
    ],
)
async def test_concept_and_prompt_say_whether_the_model_chooses(choice: str | None, prompt: str, offers: bool) -> None:
    interview = await told(talk(Choosing(), choice=choice, prompt=prompt))
    assert bool(interview.writer.requests[-1].offers) == offers


async def test_what_a_moderator_asks_for_is_not_offered_away() -> None:
    interview = await told(talk(Choosing()))
    node = next(node for node in interview.state.nodes if node.label == "cheap")
    wish = Directive(command_id="c1", kind="steer", node_id=node.id)
    interview.state = interview.state.model_copy(update={"directives": (wish,)})
    await interview.say("And it is light.", concepts(("light", "attribute")))
    assert not interview.writer.requests[-1].offers
    assert interview.writer.requests[-1].focus_label == "cheap"


def candidate(strategy: str, key: str | None, score: float | None, *, selected: bool = False) -> ScoredCandidate:
    target = Target.node(key, key) if key else None
    return ScoredCandidate(strategy=strategy, target=target, final_score=score, rank=1, selected=selected)


def decision(*candidates: ScoredCandidate, close: bool = False) -> Decision:
    first = candidates[0]
    return Decision(
        engine="signal_pools",
        strategy=first.strategy,
        target=first.target,
        phase="mid",
        candidates=candidates,
        close=close,
    )


def test_offers_are_close_differ_in_what_they_are_about_and_end_nothing() -> None:
    chosen = small_methodology().strategies
    asking = next(s.name for s in chosen if s.node_binding == "required")
    ending = next(s.name for s in chosen if s.generates_closing_question)
    known = Strategies(chosen)
    first = candidate(asking, "a", 2.0, selected=True)
    near = candidate(asking, "b", 2.0 - MARGIN)
    others = (
        candidate(asking, "a", 1.9),
        candidate(asking, "c", 1.9 - MARGIN),
        candidate(ending, None, 1.9),
        candidate(asking, "d", None),
        candidate("gone", "e", 1.9),
    )
    assert offered(decision(first, near, *others), known) == (first, near)
    assert offered(decision(first, *others), known) == ()
    assert offered(decision(first, near, close=True), known) == ()
    narrow = decision(first, near, candidate(asking, "f", 1.9)).model_copy(update={"margin": 0.2})
    assert [one.node_key for one in offered(narrow, known)] == ["a", "f"]
    dead = candidate(asking, "g", 0.0).model_copy(update={"terms": (Term(kind="multiplied", name="k", amount=0.0),)})
    assert offered(decision(candidate(asking, "a", 1.0, selected=True), dead), known) == ()
    many = [candidate(asking, f"n{number}", 1.5) for number in range(9)]
    assert len(offered(decision(first, *many), known)) == MOST


class Comparing(PlainWriter):
    """Prefers the last of what it may choose from."""

    async def preferred(self, choices: Sequence[QuestionRequest], behind: Sequence[float]) -> int:
        self.compared = (list(choices), list(behind))
        return len(choices) - 1

    async def weighed(self, choices: Sequence[QuestionRequest], worth: Sequence[Move | float], in_a_row: int) -> int:
        raise AssertionError("this is no concept test")


class SayingOther(Comparing):
    """Says these words of the answer back, whatever it was to ask about."""

    def __init__(self, quote: str) -> None:
        super().__init__()
        self.quote = quote

    def said_instead(self, request: QuestionRequest, text: str) -> str | None:
        return self.quote if request.kind == "follow_up" else None


class Staying(PlainWriter):
    """Takes one of the choices of a concept test; compares nothing else."""

    def __init__(self, taken: int) -> None:
        super().__init__()
        self.taken = taken
        self.weighing: list[tuple[Sequence[Move | float], int]] = []

    async def preferred(self, choices: Sequence[QuestionRequest], behind: Sequence[float]) -> int:
        raise AssertionError("in a concept test choices are weighed")

    async def weighed(self, choices: Sequence[QuestionRequest], worth: Sequence[Move | float], in_a_row: int) -> int:
        self.weighing.append((worth, in_a_row))
        return self.taken


@pytest.mark.parametrize("taken", [0, 1])
async def test_writer_stays_with_what_was_said_or_goes_on_in_the_list(taken: int) -> None:
    writer = Staying(taken)
    who = Questioner(writer, TableEmbedder())
    listed = QuestionRequest(
        kind="follow_up",
        methodology=small_methodology(),
        topic="oat milk",
        objective="",
        language="en",
        seed=1,
        turn_number=2,
        focus_label="the lid",
    )
    said = listed.model_copy(update={"focus_label": "what was said"})
    weighing = Weighing(("part", "stay"), 1)
    asked = await who.asking(PipelineSettings(), Listener(), 2).ask(listed, choices=(listed, said), weighing=weighing)
    assert asked.taken == taken
    assert writer.weighing == [(("part", "stay"), 1)]
    assert writer.requests[-1].focus_label == (listed, said)[taken].focus_label


async def test_writer_that_compares_needs_no_prompt_and_writes_only_what_it_prefers() -> None:
    writer = Comparing()
    interview = await told(talk(writer, prompt=""))
    choices, behind = writer.compared
    record = interview.last.record
    assert record is not None and len(choices) == len(record.question.offers) > 1
    assert behind[0] == 0.0 and all(0.0 <= lag <= MARGIN for lag in behind)
    assert (record.question.taken, record.question.said) == (len(choices) - 1, None)
    assert not writer.requests[-1].offers
    assert writer.requests[-1].focus_label == choices[-1].focus_label
    asked = interview.state.question
    assert asked is not None and asked.focus_label == choices[-1].focus_label
    assert interview.state.focus_history[-1].label == choices[-1].focus_label


@pytest.mark.parametrize(
    ("quote", "kind", "label"),
    [
        ("It is quick", "node", "quick"),
        ("it is cheap", "node", "cheap"),
        ("the bell rang twice", "lead", "In the yard the bell rang twice."),
    ],
)
async def test_turn_is_about_what_is_said_back(quote: str, kind: str, label: str) -> None:
    interview = talk(SayingOther(quote), prompt="")
    answer = f"It is quick. In the yard {quote}." if kind == "lead" else "It is quick. It is cheap."
    await interview.say(answer, concepts(("quick", "attribute"), *([("cheap", "attribute")] if kind == "node" else [])))
    record, asked = interview.last.record, interview.state.question
    assert record is not None and record.target is not None and asked is not None
    assert (record.target.kind, record.target.label, asked.focus_label) == (kind, label, label)
    assert interview.state.focus_history[-1].label == label
    assert record.reason == SAID_BACK or kind == "node"
    await interview.say("Every morning.", concepts(("every morning", "attribute")))
    assert interview.last.record is not None


async def test_concept_leaves_the_choice_to_the_engine_offline_too() -> None:
    writer = Comparing()
    interview = await told(talk(writer, prompt="", choice="engine"))
    assert interview.last.record is not None and interview.last.record.question.offers == ()


def test_offers_to_compare_may_be_about_the_same_but_not_about_nothing() -> None:
    chosen = small_methodology().strategies
    asking = next(s.name for s in chosen if s.node_binding == "required")
    free = next(s.name for s in chosen if s.node_binding == "none" and not s.generates_closing_question)
    first, same, topic = (
        candidate(asking, "a", 2.0, selected=True),
        candidate(asking, "a", 1.9),
        candidate(free, None, 1.9),
    )
    assert offered(decision(first, same, topic), Strategies(chosen), compared=True) == (first, same)
    many = [candidate(asking, f"n{number}", 1.5) for number in range(12)]
    assert len(offered(decision(first, *many), Strategies(chosen), compared=True)) == MOST_COMPARED


def test_strategy_that_stays_leaves_only_what_it_is_about_to_the_writer() -> None:
    chosen = small_methodology().strategies
    asking = next(s.name for s in chosen if s.node_binding == "required")
    other = next(s.name for s in chosen if s.name != asking and not s.generates_closing_question)
    known = Strategies(chosen)
    first = candidate(asking, "a", 2.0, selected=True)
    near, contrast = candidate(asking, "b", 2.0), candidate(other, "b", 2.0)
    made = decision(first, contrast, near)
    assert offered(made, known, compared=True) == (first, contrast, near)
    assert offered(made, known, compared=True, same_strategy=True) == (first, near)


def test_what_was_just_said_is_weighed_against_the_choice_and_the_best_of_each_list() -> None:
    strategies, (stays, listed, led) = small_methodology().strategies, ("stay", "list", "lead")
    weighs: dict[tuple[str, str], Move | float] = {(listed, ""): "part", (stays, ""): "stay", (led, "worth"): 1.4}
    known = Strategies(strategies, stays=(stays,), weighs=weighs)

    def one(strategy: str, key: str, score: float | None, tactic: str = "", *, chosen: bool = False) -> ScoredCandidate:
        return candidate(strategy, key, score, selected=chosen).model_copy(update={"tactic": tactic})

    lead = one(led, "a", 9.0, "worth", chosen=True)
    best, worse, near, far = one(listed, "b", 4.0), one(listed, "c", 3.0), one(stays, "d", 0.4), one(stays, "e", 0.3)
    gone = one(stays, "f", None)
    assert weighed(decision(lead, best, worse, near, far, gone), known) == (lead, best, near, far)
    part = one(listed, "a", 9.0, chosen=True)
    assert weighed(decision(part, worse, near), known) == (part, worse, near)
    assert weighed(decision(part, worse), known) == ()
    answered = one(led, "a", 9.0, "answered", chosen=True)
    assert weighed(decision(answered, best, near), known) == ()
    assert weighed(decision(part, near, close=True), known) == ()
    assert weighed(decision(part, near), Strategies(strategies)) == ()
    asked = [FocusEntry(turn=turn, strategy=name) for turn, name in enumerate((stays, listed, stays, stays))]
    assert [in_a_row(known, asked[:count]) for count in range(5)] == [0, 1, 0, 1, 2]


@pytest.mark.parametrize(
    ("engine", "choice", "compares", "chooses", "keeps"),
    [
        ("signal_pools", None, True, True, False),
        ("two_tier", None, True, True, True),
        ("two_tier", "model", True, True, False),
        ("two_tier", "engine", True, False, False),
        ("two_tier", None, False, True, True),
        ("arbitration", None, True, False, True),
        ("arbitration with parts", None, True, True, True),
        ("arbitration with parts", None, False, True, True),
        ("arbitration", None, False, False, True),
    ],
)
def test_who_chooses_goes_by_the_engine_and_the_concept(
    engine: str, choice: str | None, compares: bool, chooses: bool, keeps: bool
) -> None:
    given, name = configuration(), engine.split()[0]
    parts = (Element(id="lid", label="the lid"),) if "with parts" in engine else ()
    concept = given.concept.model_copy(update={"engine": name, "choice": choice, "elements": parts})
    settled = given.model_copy(update={"concept": concept, "prompts": {"question": "{{ offers }}"}})
    assert chosen_by_writer(settled, compares=compares) is chooses
    assert keeps_strategy(settled) is keeps


def test_model_is_offered_the_next_topic_of_the_guide_however_it_scores() -> None:
    chosen = small_methodology().strategies
    asking = next(s.name for s in chosen if s.node_binding == "required")
    known = Strategies(chosen)
    topic = ScoredCandidate(
        strategy=asking,
        target=Target(kind="topic", ids=("least",), label="What is disliked"),
        final_score=-5.0,
        rank=9,
        selected=False,
    )
    first = candidate(asking, "a", 2.0, selected=True)
    made = decision(first, candidate(asking, "b", 1.9), topic)
    assert [one.target.label for one in offered(made, known, alone=True) if one.target] == [
        "a",
        "b",
        "What is disliked",
    ]
    assert offered(made, known) == made.candidates[:2]
    assert offered(decision(first), known, alone=True) == (first,)
    out = topic.model_copy(update={"terms": (Term(kind="multiplied", name="k", amount=0.0),)})
    assert offered(decision(first, out), known, alone=True) == (first,)


@pytest.mark.parametrize("failing", ["Is that good or bad?", LLMUnavailable("gone")])
async def test_what_a_model_was_to_say_is_said_before_the_question_that_takes_its_place(
    failing: str | Exception,
) -> None:
    policy = conduct_policy()
    second = PlainWriter() if isinstance(failing, Exception) else None
    interview = talk(Choosing("[1]", failing), second=second)
    given = interview.configuration
    interview.configuration = given.model_copy(update={"conduct": policy, "prompts": {**given.prompts, "ending": "x"}})
    await told(interview)
    await interview.say("I'd rather not talk about that.", concepts())
    asked = interview.state.utterances[-1].text
    assert any(asked.startswith(text) for text in policy.texts.declined)
