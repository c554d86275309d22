"""Renders every prompt with typical values, so that people can check their configuration."""

from __future__ import annotations

from pipeline.graph.canonical import CanonicalSlot
from pipeline.graph.surface import KGNode, Mention
from pipeline.language.prompted import elements, extraction, questions, rating, slots
from pipeline.language.prompted.delimiting import block, quoted
from pipeline.language.prompted.prompts import Prompts, Rendered
from pipeline.methodology import Methodology
from pipeline.ports import (
    ActiveSignal,
    Briefing,
    DiscourseRelation,
    ExtractionRequest,
    Line,
    Offer,
    Parse,
    QuestionKind,
    QuestionRequest,
    RatingRequest,
    SlotRequest,
    StimulusRequest,
    ThreadTold,
    TopicTold,
)

ANSWER = "I always take the one with the handle, because it's easy to carry, and then my hands are free for the kids."
QUESTION = "What do you look at first when you choose one?"
ENDS_WITH = "Thank you for everything you told me. That was my last question."
STIMULUS = "A bag with a handle, made of paper, so that it can go into the bin with the peels. It costs 20 cents."
EARLIER = "It has to be light, that's the main thing."


def render_samples(
    prompts: Prompts, methodology: Methodology, concept_name: str, objective: str
) -> dict[str, Rendered]:
    """Each prompt rendered for a turn in the middle of an interview.

    Args:
        prompts: the prompts.
        methodology: whose terms are used.
        concept_name: the topic, as questions name it.
        objective: what the research wants to know.
    Returns:
        Rendered prompts by file name without `.md`; the rubrics are part of `rating`.
    """
    extract = extraction_request(methodology, concept_name)
    rate = RatingRequest(text=ANSWER, question=QUESTION, language="en")
    place = slot_request(methodology)
    rendered = {
        "extraction": prompts.render(
            "extraction", {**extraction.system_values(methodology), **extraction.user_values(extract)}
        ),
        "rating": prompts.render("rating", {"rubrics": prompts.rubrics.text(), **rating.user_values(rate)}),
        "elements": prompts.render(
            "elements", {**elements.system_values(), **elements.user_values(stimulus_request(concept_name))}
        ),
        "slots": prompts.render("slots", {**slots.system_values(methodology), **slots.user_values(place)}),
    }
    kinds: tuple[tuple[str, QuestionKind], ...] = (
        ("opening", "opening"),
        ("question", "follow_up"),
        ("rephrase", "rephrase"),
        ("ending", "ending"),
    )
    for name, kind in kinds:
        request = question_request(methodology, concept_name, objective, kind)
        rendered[name] = prompts.render(name, {**questions.system_values(request), **questions.user_values(request)})
    rendered["repair"] = prompts.render(
        "repair",
        {
            "system": rendered["extraction"].system,
            "user": rendered["extraction"].user,
            "output": block("output", "Sure! Here is what I found: easy to carry."),
            "errors": [quoted("there is no JSON object")],
            "truncated": False,
        },
    )
    return rendered


def extraction_request(methodology: Methodology, topic: str) -> ExtractionRequest:
    """An answer in the middle of an interview."""
    types = [node.name for node in methodology.ontology.nodes]
    return ExtractionRequest(
        text=ANSWER,
        utterance_id="sample",
        question=QUESTION,
        topic=topic,
        methodology=methodology,
        language="en",
        focus_label="light",
        focus_type=types[0],
        existing=(("light", types[0]), ("not get tired", types[1 % len(types)])),
        parse=Parse(
            sentences=(ANSWER,),
            discourse=(
                DiscourseRelation(
                    marker="because",
                    kind="cause",
                    antecedent="it's easy to carry",
                    consequent="I always take the one with the handle",
                ),
            ),
        ),
        purpose="Find out what an attribute does for the person.",
    )


def stimulus_request(topic: str) -> StimulusRequest:
    """The text of a concept test."""
    return StimulusRequest(text=STIMULUS, topic=topic, language="en")


def slot_request(methodology: Methodology) -> SlotRequest:
    """Three nodes without a slot, one known slot."""
    node_type = methodology.ontology.nodes[0].name
    nodes = tuple(
        KGNode(
            id=f"node-{number}",
            label=label,
            node_type=node_type,
            mentions=(Mention(utterance_id="sample", quote=label),),
            confidence=0.9,
            created_turn=number,
            last_mention_turn=number,
            sequence=number,
            mention_sequence=number,
        )
        for number, label in enumerate(("the one with the handle", "light", "not heavy"), 1)
    )
    slot = CanonicalSlot(
        id="slot-1",
        slot_name="low_weight",
        description="how little it weighs",
        node_type=node_type,
        status="active",
        support_count=2,
        first_seen_turn=1,
    )
    return SlotRequest(nodes=nodes, slots=(slot,), methodology=methodology, language="en")


def question_request(methodology: Methodology, topic: str, objective: str, kind: QuestionKind) -> QuestionRequest:
    """A question in the middle of an interview, or the first one."""
    strategies = [s for s in methodology.strategies if s.node_binding == "required"] or list(methodology.strategies)
    opening = kind == "opening"
    lines = (
        Line(speaker="interviewer", text="What comes to mind when you think of it?"),
        Line(speaker="respondent", text=EARLIER),
        Line(speaker="interviewer", text=QUESTION),
        Line(speaker="respondent", text=ANSWER),
    )
    return QuestionRequest(
        kind=kind,
        methodology=methodology,
        topic=topic,
        objective=objective,
        language="en",
        seed=1,
        turn_number=0 if opening else 3,
        strategy=None if opening else strategies[0],
        focus_label=None if opening else "light",
        focus_type=None if opening else methodology.ontology.nodes[0].name,
        focus_quote=None if opening else EARLIER,
        focus_is_jump=not opening,
        focus_said_earlier_turns=0 if opening else 2,
        offers=(
            Offer(purpose=strategies[0].description, label="light", quote=EARLIER, turns_ago=2),
            Offer(purpose=strategies[-1].description, label="free hands for the kids", quote=ANSWER),
        )
        if kind == "follow_up"
        else (),
        depth=0 if opening else 2,
        lines=() if opening else lines,
        briefing=Briefing()
        if opening
        else Briefing(
            conversation=lines,
            threads=(ThreadTold(label="light", quote=EARLIER, left_turn=2),),
            guide=tuple(TopicTold(label=topic.label, status="open") for topic in methodology.guide),
        ),
        recent_questions=() if opening else ("What comes to mind when you think of it?", QUESTION),
        signals=()
        if opening
        else (
            ActiveSignal(
                name="llm.response_depth",
                value="moderate",
                description="How much elaboration the answer has.",
                contribution=0.3,
            ),
        ),
        rationale="" if opening else "llm.response_depth.moderate +0.30; meta.node.opportunity.fresh +0.20",
        original=QUESTION if kind == "rephrase" else None,
        ends_with=ENDS_WITH if kind == "ending" else "",
        may_ask=kind == "ending",
        questions_left=None if opening else 9,
    )
