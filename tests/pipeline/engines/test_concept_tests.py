"""Engine `arbitration` in a concept test: what people say of the idea comes before the list of its parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pipeline.concept import Element
from pipeline.coverage import ElementCoverage, element_of
from pipeline.engines.arbitration import Arbitration
from pipeline.engines.arbitration.file import ArbitrationFile
from pipeline.engines.base import Decision, DecisionInputs
from pipeline.focus import Target
from pipeline.methodology import Form
from pipeline.question.templates import placeholders
from pipeline.state import FocusEntry
from tests.support.engine_turns import candidate, node, shipped, turn_of
from tests.support.interview import configuration

SHIPPED = shipped("arbitration")
LAMP = Element(id="lamp", label="the folding lamp", aliases=("light",))
FEE = Element(id="fee", label="the monthly fee", aliases=("euros", "pay"))
VAN = Element(id="van", label="the delivery van")
ON_AND_ON = "It is as it is with him, I suppose, he means well and all, and my sister has the same one in her house."
STORY = (
    "Our boiler gave up in January, and I rang everybody I knew. The man came after nine days, looked at it and said "
    "it was done for. I stood there and nodded."
)


def inputs(answers: dict[int, str], *parts: Any, **changes: Any) -> DecisionInputs:
    """A turn of a concept test, after these answers."""
    fields = {"elements": (LAMP, FEE, VAN), "max_turns": 20, "turn_count": max(answers, default=1), "answers": answers}
    return turn_of(SHIPPED, *parts, **{**fields, **changes})


def decide(answer: str, *parts: Any, **changes: Any) -> Decision:
    return Arbitration().decide(inputs({changes.get("turn_count", 1): answer}, *parts, **changes))


def asked(turn: int, strategy: str, target: Target | None = None) -> FocusEntry:
    return FocusEntry(turn=turn, strategy=strategy, target=target)


@pytest.mark.parametrize(
    ("answer", "tactic", "element"),
    [
        ("It folds. And who brings it?", "asked_back", None),
        ("I like how it looks. Does the folding lamp fall over?", "asked_back", "lamp"),
        ("I don't understand the idea.", "not_understood", None),
        ("I don't remember seeing a monthly fee.", "not_noticed", "fee"),
        ("If I could try the folding lamp for a week I would take it.", "condition_of_element", "lamp"),
        ("It depends on who comes.", "condition_last", None),
        ("The monthly fee worries me.", "doubt_of_element", "fee"),
        ("They never come when they say they will.", "doubt_last", None),
        ("I wouldn't use the delivery van.", "against_element", "van"),
        ("That's far too complicated for somebody like me, with two small children.", "against_last", None),
        ("I love the folding lamp.", "liking_of_element", "lamp"),
        ("It would be for my mother and for me. That speaks to me, it really does.", "liking_last", None),
        ("The folding lamp.", "raised", "lamp"),
        ("Nothing much.", "brief", None),
    ],
)
def test_what_is_said_of_the_idea_is_followed_before_the_next_element(
    answer: str, tactic: str, element: str | None
) -> None:
    spoken = tuple(ElementCoverage(element_id=name, mentioned=name in ("lamp",)) for name in ("lamp", "fee", "van"))
    decision = decide(answer, coverage=spoken)
    assert (decision.strategy, decision.tactic) == ("follow_lead", tactic)
    assert element_of(decision.target) == element


def test_last_thing_said_comes_first_and_a_question_before_anything() -> None:
    two = decide("The monthly fee worries me. But I'm not sure of the delivery van.")
    assert element_of(two.target) == "van"
    question = decide("Who brings the folding lamp? The monthly fee worries me, and I'm not sure of the delivery van.")
    assert question.tactic == "asked_back"


MINE = "My daughter asks what I ate, and then I fib. With the folding lamp I wouldn't have to fib."


def test_what_it_would_mean_in_somebodys_life_is_stayed_with_but_not_for_ever() -> None:
    decision = decide(MINE)
    assert (decision.strategy, decision.tactic, element_of(decision.target)) == ("follow_lead", "personal_last", None)
    before = decide("I wouldn't have to fib. The delivery van is grey, as such vans are.", turn_count=1)
    assert before.tactic == "personal_in_words"
    stayed = tuple(
        asked(turn, "follow_lead", Target(kind="lead", ids=(f"personal.{turn}.0",), label="x")) for turn in (1, 2)
    )
    assert decide(MINE, turn_count=3, questions=stayed[:1]).tactic == "personal_last"
    assert decide(MINE, turn_count=3, questions=stayed).tactic != "personal_last"


def test_part_that_an_answer_named_on_its_way_is_no_lead() -> None:
    named = (ElementCoverage(element_id="van", mentioned=1),)
    on_its_way = (
        "I saw the delivery van there on the right of it. Then my sister came to mind, who has one much like it."
    )
    assert decide(on_its_way, coverage=named, turn_count=2).tactic != "raised"
    last = "My sister has one much like it, as it happens. And then there's the delivery van."
    assert decide(last, coverage=named, turn_count=2).tactic == "raised"


def test_respondent_is_answered_however_often_they_ask_and_however_near_the_end_is() -> None:
    said = "And who brings the folding lamp when I am not at home? It folds, I have seen that much."
    decision = decide(said, (), ["follow_lead"] * 16, turn_count=17)
    assert decision.tactic == "asked_back"
    assert next(t.value for t in decision.candidates[0].terms if t.name == "recency_diversity") == 1.0
    assert "ask_side" in [one.strategy for one in decision.candidates]


def test_lead_that_nobody_followed_is_come_back_to() -> None:
    answers = {1: "The monthly fee worries me. Who brings it?", 2: "Somebody who lives near by."}
    first = asked(1, "follow_lead", Target(kind="lead", ids=("asks.1.1",), label="Who brings it?"))
    told = inputs(answers, questions=(first,))
    later = candidate(Arbitration().decide(told), "follow_lead")
    assert later.target is not None and later.target.ids == ("doubt.1.0", "fee")
    assert (later.tactic, later.target.label) == ("come_back", "the monthly fee")
    assert any("earlier, and nobody asked about it" in term.reason for term in later.terms)
    done = asked(2, "ensure_coverage", Target(kind="element", ids=("fee",), label="the monthly fee"))
    after = replace(told, questions=(first, done), answers={**answers, 3: "It's fine with me."}, turn_count=3)
    assert all(
        (one.target.ids if one.target else ())[:1] != ("doubt.1.0",) for one in Arbitration().decide(after).candidates
    )


def test_alias_alone_does_not_make_a_lead_be_about_an_element() -> None:
    decision = decide("They never pay when it counts.")
    assert (decision.tactic, element_of(decision.target)) == ("doubt_last", None)


def test_it_stands_for_what_the_answer_began_with() -> None:
    decision = decide("The folding lamp, I think. Sounds daft, but with the monthly fee and all, I like it most.")
    assert element_of(decision.target) == "lamp"


def test_what_was_asked_about_and_comes_up_again_is_not_named_again() -> None:
    question = asked(1, "ensure_coverage", Target(kind="element", ids=("lamp",), label="the folding lamp"))
    decision = Arbitration().decide(
        inputs({1: "Nice.", 2: "It is a big thing for our hall. I'm not sure of that lamp."}, questions=(question,))
    )
    assert (decision.tactic, element_of(decision.target)) == ("doubt_last", "lamp")


def test_what_was_just_asked_about_is_said_back_or_left_where_other_things_were_said_since() -> None:
    fee = asked(1, "ensure_coverage", Target(kind="element", ids=("fee",), label="the monthly fee"))
    told = "It's a lot for what it is. If I could read the number on it, I'd pay that fee. We will see what they say."
    whole = candidate(Arbitration().decide(inputs({1: "Nice.", 2: told}, questions=(fee,))), "follow_lead")
    assert whole.target is not None
    assert (whole.tactic, whole.target.label) == (
        "condition_in_words",
        "If I could read the number on it, I'd pay that fee.",
    )
    long = told.replace(
        "I'd pay that fee", "I'd pay that fee for the evenings on which I come home from the hospital so late"
    )
    found = Arbitration().decide(inputs({1: "Nice.", 2: long}, questions=(fee,))).candidates
    assert not any(one.tactic.startswith("condition") for one in found)


def test_what_was_asked_about_and_was_not_noticed_is_said_again() -> None:
    question = asked(1, "ensure_coverage", Target(kind="element", ids=("fee",), label="the monthly fee"))
    told = inputs({2: "I didn't see one, did I miss it?"}, questions=(question,))
    decision = Arbitration().decide(told)
    assert (decision.tactic, element_of(decision.target)) == ("not_noticed", "fee")
    unknown = Arbitration().decide(replace(told, questions=()))
    assert unknown.tactic != "not_noticed"


def test_why_is_asked_after_a_brief_answer_but_not_after_each() -> None:
    lamp = Target(kind="element", ids=("lamp",), label="the folding lamp")
    once = inputs({2: "It's fine."}, questions=(asked(1, "ensure_coverage", lamp),))
    assert Arbitration().decide(once).tactic == "brief"
    bare = Target(kind="lead", ids=("bare.1", "lamp"), label="It's fine.")
    again = replace(once, questions=(asked(1, "follow_lead", bare), asked(2, "ensure_coverage", lamp)), turn_count=3)
    assert all(one.tactic != "brief" for one in Arbitration().decide(replace(again, answers={3: "Fine."})).candidates)


def test_first_thought_is_asked_about_before_the_parts_of_the_idea() -> None:
    said = "Hm. It's an insurance. They call it a plan but it's an insurance."
    assert decide(said).tactic == "brief"
    assert decide(f"{said} And that is as it is, with all of them, for years.").tactic == "brief"
    assert decide(f"{said} There isn't much more to it.").tactic != "brief"
    assert decide(said, turn_count=4).tactic != "brief"


def test_story_is_asked_about_once_and_leads_back_to_the_idea() -> None:
    nodes = [node("nodded", 1, salience=3)]
    once = Arbitration().decide(inputs({1: STORY}, nodes))
    assert once.strategy == "deepen_branch"
    twice = inputs({1: STORY, 2: STORY}, [node("nodded", 2, salience=3)], ["deepen_branch"])
    assert Arbitration().decide(twice).strategy == "return_to_idea"
    back = replace(twice, answers={1: STORY, 2: f"{ON_AND_ON} And so on."})
    assert Arbitration().decide(back).strategy == "return_to_idea"
    to_idea = replace(twice, answers={1: STORY, 2: "With the folding lamp it would be another thing."})
    assert Arbitration().decide(to_idea).strategy != "return_to_idea"


def test_few_words_are_not_asked_deeper() -> None:
    nodes = [node("own", 1, salience=3)]
    assert "deepen_branch" not in [one.strategy for one in decide("I own one.", nodes).candidates]


def test_going_deeper_waits_where_the_answer_says_something_of_the_idea_or_a_question_just_did() -> None:
    said = "In our hall there is hardly any room for the bicycles of my two children and the shoes."
    nodes = [node("room", 3, salience=1)]
    fresh = Arbitration().decide(inputs({3: said}, nodes, ["ensure_coverage"] * 2))
    again = Arbitration().decide(inputs({3: said}, nodes, ["deepen_branch", "ensure_coverage"]))
    beside = Arbitration().decide(inputs({3: f"{said} I love that."}, nodes, ["ensure_coverage"] * 2))
    values = [
        next(term.value for term in candidate(one, "deepen_branch").terms if term.name == "lead_strength")
        for one in (fresh, again, beside)
    ]
    assert values == [1.4, 0.65, 0.5]


def test_sides_of_the_idea_are_asked_about_unless_somebody_spoke_of_them() -> None:
    sides = [one.tactic for one in decide("I like how it looks.").candidates if one.strategy == "ask_side"]
    assert sides == ["understood", "today"]
    said = [one.tactic for one in decide("Today I borrow one.").candidates if one.strategy == "ask_side"]
    assert said == ["understood", "place"]
    once = asked(1, "ask_side", Target(kind="aspect", ids=("understood",), label="understood"))
    later = Arbitration().decide(
        inputs({2: "It is a lamp that you can fold and put away, I think."}, questions=(once,))
    )
    assert [one.tactic for one in later.candidates if one.strategy == "ask_side"] == ["today", "place"]


def test_end_of_a_concept_test_asks_what_would_stop_them_what_to_change_and_for_whom_it_is() -> None:
    ending = decide("It is a lamp that you can fold and put away, I think.", turn_count=16)
    assert (ending.strategy, ending.tactic) == ("ask_side", "hindrance")
    questions = ("If you could change one thing about it, what would it be?", "What would stop you from it?")
    own = decide("It is a lamp that you can fold and put away, I think.", turn_count=15, demands=questions)
    assert (own.strategy, own.tactic) == ("ask_side", "audience")
    short = decide("It is a lamp that you can fold and put away, I think.", turn_count=2, max_turns=5)
    assert all(one.tactic not in ("hindrance", "change", "audience") for one in short.candidates)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("It folds.", "It is a lamp.", False),
        ("The monthly fee worries me.", "It is a lamp.", False),
        ("The monthly fee worries me.", "I'm not sure of the delivery van.", True),
    ],
)
def test_who_said_twice_what_they_are_against_is_not_asked_what_would_stop_them(
    first: str, second: str, told: bool
) -> None:
    ending = inputs({14: first, 15: second, 16: "It is a lamp that you can fold and put away, I think."})
    sides = [one.tactic for one in Arbitration().decide(ending).candidates if one.strategy == "ask_side"]
    assert ("hindrance" not in sides) == told


def test_who_just_said_what_they_are_against_is_not_asked_what_would_stop_them() -> None:
    said = "It is a lamp that you can fold and put away. But I'm not sure of the delivery van."
    assert "hindrance" not in [one.tactic for one in decide(said, turn_count=16).candidates]


def test_side_that_a_question_asked_about_in_the_same_words_is_not_asked_about_again() -> None:
    sides = [
        one.tactic
        for one in decide("I like how it looks.", question_texts=("What is missing today?",)).candidates
        if one.strategy == "ask_side"
    ]
    assert sides == ["understood", "place"]


def test_questions_of_the_concept_leave_fewer_sides_for_the_end() -> None:
    told = "It is a lamp that you can fold and put away, I think."
    demands = tuple(f"What of number {number}?" for number in range(4))

    def sides(turns: int) -> set[str]:
        found = decide(told, turn_count=turns - 7, max_turns=turns, demands=demands).candidates
        return {one.tactic for one in found} & {"hindrance", "change", "audience"}

    assert (len(sides(12)), len(sides(16)), len(sides(20))) == (0, 1, 2)


def test_who_stops_at_a_part_of_the_idea_is_asked_about_it_whatever_the_question_was() -> None:
    nodes = [node("kettle", 2, salience=3)]
    said = (
        "There is no kitchen, only a kettle. So when I read of the delivery van, well, there goes my lunch, I thought."
    )
    asked_deeper = inputs({1: "It is so.", 2: said}, nodes, ["deepen_branch"])
    decision = Arbitration().decide(asked_deeper)
    assert (decision.tactic, element_of(decision.target)) == ("raised", "van")
    passing = said.replace("when I read of", "with")
    assert Arbitration().decide(replace(asked_deeper, answers={1: "It is so.", 2: passing})).tactic != "raised"
    again = replace(
        asked_deeper, questions=(asked(1, "ensure_coverage", Target(kind="element", ids=("van",), label="x")),)
    )
    assert Arbitration().decide(again).tactic != "raised"


def test_guide_of_the_method_is_not_asked_for_in_a_concept_test_but_the_concepts_own_questions_are() -> None:
    of_method = Target(kind="topic", ids=("drawback",), label="What is disliked")
    own = Target(kind="topic", ids=("must_ask.unclear",), label="What is unclear")
    for topic, there in ((of_method, False), (own, True)):
        found = [one.strategy for one in decide("It is a lamp.", topic=topic).candidates]
        assert ("follow_guide" in found) is there


def test_element_that_was_named_in_passing_is_asked_about_once() -> None:
    passing = ElementCoverage(element_id="fee", mentioned=1, reactions=("neutral",), comprehension=1.0)
    one = candidate(decide("It is a lamp.", elements=(FEE,), coverage=(passing,)), "ensure_coverage")
    assert one.tactic == "reaction_elicitation"
    done = passing.model_copy(update={"focused": 1})
    found = decide("It is a lamp.", elements=(FEE,), coverage=(done,)).candidates
    assert "ensure_coverage" not in [one.strategy for one in found]


def test_price_is_asked_about_as_a_price_by_its_label() -> None:
    fee = Element(id="fee", label="the monthly fee")
    tactics = {
        one.target.label: one.tactic
        for one in decide("It is so.", elements=(LAMP, fee)).candidates
        if one.strategy == "ensure_coverage" and one.target is not None
    }
    assert tactics == {"the folding lamp": "open_element_probe", "the monthly fee": "price_probe"}


def test_elements_that_should_go_together_are_both_named() -> None:
    apart = Element(id="lamp", label="the folding lamp", connection_requirements=("fee",))
    known = tuple(
        ElementCoverage(element_id=name, mentioned=2, reactions=("positive",), comprehension=1.0)
        for name in ("lamp", "fee")
    )
    one = candidate(decide("It is so.", elements=(apart, FEE), coverage=known), "ensure_coverage")
    assert one.target is not None
    assert (one.target.ids, one.target.label) == (("lamp",), "the folding lamp and the monthly fee")


def test_declined_or_worn_element_is_no_lead_but_a_question_about_it_is_answered() -> None:
    worn = (
        ElementCoverage(element_id="lamp", mentioned=3, focused=3),
        ElementCoverage(element_id="fee", declined=True),
    )
    found = decide("I love the folding lamp. I'm not sure of the monthly fee.", coverage=worn).candidates
    assert "follow_lead" not in [one.strategy for one in found]
    assert decide("Does the folding lamp fall over?", coverage=worn).tactic == "asked_back"


def test_without_elements_nothing_of_a_concept_test_applies() -> None:
    decision = decide("I love the folding lamp. Who brings it?", [node("lamp")], elements=())
    found = {one.strategy for one in decision.candidates}
    assert found.isdisjoint({"follow_lead", "return_to_idea", "ask_side", "ensure_coverage"})
    assert candidate(decision, "deepen_branch").tactic == "upward_linking"


def forms() -> list[tuple[str, str, Form]]:
    table = Arbitration().strategies(configuration().model_copy(update={"engine_file": SHIPPED}))
    names = [(s["id"], t["id"]) for s in SHIPPED["strategies"] for t in s["tactics"] if s["applies"] in NEW]
    found = [(name, tactic, table.by_tactic(name, tactic)) for name, tactic in names]
    return [(name, tactic, form) for name, tactic, one in found if one for form in one.templates["en"]]


NEW = ("coverage_gaps", "leads", "past_told", "aspects")


def test_forms_about_an_element_never_put_it_where_a_verb_has_to_agree() -> None:
    for _, tactic, form in forms():
        before, name, after = form.ask.partition("{element}")
        if not name or "“" in before:
            continue
        verb = after.split()[:1]
        assert before, f"{tactic}: {form.ask} would begin with a small letter"
        assert verb not in (["is"], ["are"], ["was"], ["does"], ["has"]), f"{tactic}: {form.ask}"
        assert before.split()[-1] not in ("is", "does", "has", "are"), f"{tactic}: {form.ask}"


def test_no_form_is_there_twice_in_a_tactic_and_every_lead_has_several_in_both_languages() -> None:
    by_tactic: dict[str, list[str]] = {}
    for name, tactic, form in forms():
        by_tactic.setdefault(f"{name}.{tactic}", []).append(form.ask)
    assert all(len(set(asks)) == len(asks) for asks in by_tactic.values())
    leads = {name: asks for name, asks in by_tactic.items() if name.startswith("follow_lead")}
    assert all(len(asks) >= 3 for asks in leads.values()), leads
    for strategy in SHIPPED["strategies"]:
        if strategy["applies"] in NEW:
            assert all(tactic["templates"].get("de") for tactic in strategy["tactics"])


def test_every_lead_is_followed_however_it_would_be_asked_about() -> None:
    (leads,) = [strategy for strategy in SHIPPED["strategies"] if strategy["applies"] == "leads"]
    ways = {
        (kind, about)
        for t in leads["tactics"]
        for kind in t["leads"]
        for about in t["about"] or ("element", "last", "words")
    }
    assert {
        (kind, about)
        for kind in ("condition", "doubt", "against", "liking")
        for about in ("element", "last", "words", "earlier")
    } <= ways
    wanted = {"words": "said", "element": "element", "earlier": "element"}
    for tactic in leads["tactics"]:
        for form in tactic["templates"]["en"]:
            for about in tactic["about"]:
                slots = placeholders(form["ask"])
                assert about not in wanted or wanted[about] in slots, form["ask"]
                assert "“" not in form["ask"], "what was said stands in quotation marks"


def test_piece_of_a_sentence_is_no_lead_to_be_said_back() -> None:
    before = "It is a big thing for our hall, where the shoes are. "
    piece = decide(f"{before}Not too heavy where my mother lives. It stands there. We will see.", turn_count=2)
    assert "follow_lead" not in [one.strategy for one in piece.candidates]
    whole = decide(f"{before}If they come late, I don't pay that month. It stands there. We will see.", turn_count=2)
    one = candidate(whole, "follow_lead")
    assert one.target is not None
    assert (one.tactic, one.target.label) == ("against_in_words", "If they come late, I don't pay that month.")


def test_what_was_said_and_gone_on_from_is_not_said_back() -> None:
    said = "If they come late, I don't pay that month."
    on = "It stands there in the hall, where the shoes of the two children are, and we will see what they say of it."
    gone_on = decide(f"It is a big thing for our hall. {said} {on}", turn_count=2)
    assert "follow_lead" not in [one.strategy for one in gone_on.candidates]


def test_concept_test_stays_by_the_forms_that_are_for_it() -> None:
    plain = configuration()
    forms = {}
    for elements in ((), (LAMP,)):
        concept = plain.concept.model_copy(update={"elements": elements, "engine": "arbitration"})
        given = plain.model_copy(update={"concept": concept, "engine_file": SHIPPED})
        deeper = Arbitration().strategies(given)["deepen_branch"]
        forms[bool(elements)] = {form.ask for form in deeper.templates["en"]}
    assert "When was that so, the last time?" in forms[False] - forms[True]
    assert "Tell me a bit more about that." in forms[True]


def test_earlier_lead_that_names_no_part_of_the_idea_is_not_come_back_to() -> None:
    told = inputs({1: "I felt bad about it, and I wouldn't use that again. Who brings it?", 2: f"{ON_AND_ON} Really."})
    assert "follow_lead" not in [one.strategy for one in Arbitration().decide(told).candidates]


def test_who_has_no_more_to_say_is_not_asked_on() -> None:
    nodes = [node("sleeve", 1, salience=3)]
    said = "I like the folding lamp. It is a nice idea, and my sister has one as well. There isn't much more to it."
    done = [one.strategy for one in decide(said, nodes).candidates]
    assert "follow_lead" not in done
    assert "deepen_branch" not in done
    more = [one.strategy for one in decide(said.replace("There isn't", "There is so"), nodes).candidates]
    assert "follow_lead" in more
    assert "deepen_branch" in more
    asks = decide(f"{said} Who brings it?", nodes)
    assert asks.tactic == "asked_back"


def stays_in(decision: Decision) -> list[str]:
    """What a writer could stay with, by the candidates of a decision."""
    return [one.target.label for one in decision.candidates if one.strategy == "stay" and one.target is not None]


def test_every_sentence_but_a_question_can_be_stayed_with_the_last_one_first() -> None:
    assert stays_in(decide("It folds, as I saw it there. Who brings it? I'd sit down for that.")) == [
        "I'd sit down for that.",
        "It folds, as I saw it there.",
    ]
    assert stays_in(decide("It folds, as I saw it there. There isn't any more to it.")) == []
    assert stays_in(decide("It folds.")) == []
    assert stays_in(decide("")) == []
    [long] = stays_in(decide("and then " * 400))
    assert len(long) <= 240
    many = stays_in(decide(" ".join(f"The box number {number} was on the table." for number in range(30))))
    assert len(many) == 8 and many[0].startswith("The box number 29")


def test_what_could_be_stayed_with_is_explained_however_many_candidates_there_are() -> None:
    parts = tuple(Element(id=f"e{number}", label=f"the shelf {number}") for number in range(30))
    nodes = [node(f"n{number}", turn=1) for number in range(30)]
    said = " ".join(f"I'd love to keep the box number {number} for her." for number in range(12))
    decision = decide(said, nodes, elements=parts)
    assert decision.candidate_count >= len(decision.candidates) > 20
    assert len(stays_in(decision)) == 8
    ranks = [one.rank for one in decision.candidates]
    assert ranks == sorted(ranks) and ranks[-1] > 20


def test_a_writer_knows_what_every_question_of_a_concept_test_is_worth_but_those_that_answer() -> None:
    given = configuration()
    concept = given.concept.model_copy(update={"elements": (LAMP,), "engine": "arbitration"})
    tested = Arbitration().strategies(given.model_copy(update={"concept": concept, "engine_file": SHIPPED}))
    assert tested.stays == {"stay"}
    plain = Arbitration().strategies(given.model_copy(update={"engine_file": SHIPPED}))
    assert not plain.stays and not plain.weighs
    file = ArbitrationFile.model_validate(SHIPPED)
    unknown = {
        tactic.id
        for strategy in file.strategies
        for tactic in strategy.tactics
        if strategy.concept_tests is not False and (strategy.id, tactic.id) not in tested.weighs
    }
    assert unknown == {"asked_back", "not_understood", "not_noticed", "guide_question", "final_question"}
