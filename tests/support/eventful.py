"""An interview in which everything happens that a choice may rest on, with any engine."""

from __future__ import annotations

from pipeline.concept import Element, MustAsk, SessionConfiguration
from pipeline.ports import Extraction, QualitativeSignals, Rating, RatingRequest
from pipeline.state import Directive
from tests.support.engine_turns import shipped
from tests.support.interview import (
    FixedRater,
    Interview,
    PlainWriter,
    TableEmbedder,
    concepts,
    configuration,
    new_state,
    small_methodology,
)

WHEN = {
    "id": "when",
    "label": "When it happens",
    "words": {"en": ("in the morning",)},
    "from_turn": 3,
    "questions": {"en": ("When do you drink it?",)},
}
MEANT = [("Zurück zu milk", "Was denken Sie?", 0.95), ("Neue Seiten von coffee finden", "Was noch?", 0.9)]
"""Focuses that mean what is asked."""
MILK, FOAM = ("milk", "attribute"), ("foam", "attribute")


def configured(engine: str) -> SessionConfiguration:
    """A concept with elements, a topic of the guide and a question of its own."""
    plain = configuration(small_methodology(guide=[WHEN]), min_turn_for_saturation=3)
    concept = plain.concept.model_copy(
        update={
            "engine": engine,
            "elements": (Element(id="taste", label="the taste"), Element(id="price", label="the price")),
            "must_ask": (MustAsk(id="whom", question="Whom do you drink it with?"),),
        }
    )
    file = shipped(engine) if engine != "signal_pools" else {}
    return plain.model_copy(update={"concept": concept, "engine_file": file})


def weighty(found: Extraction, salience: int, emotion: int) -> Extraction:
    """The same, with all concepts that weighty."""
    update = {"salience": salience, "emotion": emotion}
    return found.model_copy(update={"concepts": tuple(one.model_copy(update=update) for one in found.concepts)})


class MovedRater(FixedRater):
    """Hears weariness in what has no content, and doubt in what takes back."""

    async def rate(self, request: RatingRequest) -> Rating:
        rating = await super().rate(request)
        weary = "know" in request.text
        doubt = QualitativeSignals(
            uncertainty="productive" if "well" in request.text else "none",
            knowledge_ceiling="terminal" if weary else "none",
        )
        return rating.model_copy(update={"momentum": "low" if weary else "high", "qualitative": doubt})


async def held(engine: str) -> Interview:
    """An interview in which what was said is said again, weighs more, is corrected, skipped and steered."""
    interview = Interview(
        configuration=configured(engine),
        state=new_state(engine=engine, max_turns=13, language="de"),
        rater=MovedRater(),
        writer=PlainWriter(["Was denken Sie?", "Warum ist foam wichtig?", "Was noch?"]),
        embedder=TableEmbedder(MEANT),
    )
    await interview.say("milk and foam", weighty(concepts(MILK, FOAM, links=[("milk", "foam")]), 1, 0))
    calm = concepts(FOAM, ("calm", "consequence"), links=[("foam", "calm")])
    await interview.say("foam again", weighty(calm, 3, 2))
    await interview.say("Das weiß ich nicht, I don't know.")
    said = interview.state.last_answer()
    assert said is not None
    await interview.say("milk, well, no", concepts(MILK, ("price", "attribute"), links=[("price", "milk")]))
    said = interview.state.last_answer()
    assert said is not None
    await interview.say("sugar", concepts(("sugar", "attribute")), kind="correct", corrects=said.id)
    await interview.say("", kind="skip")
    node = next(one for one in interview.state.nodes if one.label == "foam")
    steer(interview, Directive(command_id="c1", kind="steer", node_id=node.id))
    await interview.say("the taste is fine", concepts(("taste", "attribute")))
    steer(interview, Directive(command_id="c2", kind="steer", strategy="no_such_strategy"))
    await interview.say("peace", weighty(concepts(("peace", "value"), MILK, links=[("milk", "peace")]), 2, 1))
    steer(interview, Directive(command_id="c3", kind="steer", strategy=interview.state.strategy_history[0]))
    while interview.state.status in ("active", "closing"):
        turn = interview.state.turn_count
        await interview.say(f"thing {turn}", weighty(concepts((f"thing {turn}", "attribute"), FOAM), 2, 0))
    assert interview.state.status == "completed"
    return interview


def steer(interview: Interview, wish: Directive) -> None:
    interview.state = interview.state.model_copy(update={"directives": (*interview.state.directives, wish)})
