"""Whatever a respondent writes, it goes out as delimited data in a request that is otherwise the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.graph.canonical import CanonicalSlot
from pipeline.graph.surface import KGNode, Mention
from pipeline.language.clients.base import ChatRequest
from pipeline.language.prompted.delimiting import block, clean, nonce
from pipeline.language.prompted.extraction import PromptedExtractor
from pipeline.language.prompted.questions import PromptedQuestionWriter
from pipeline.language.prompted.rating import PromptedRater
from pipeline.language.prompted.slots import PromptedSlotProposer
from pipeline.ports import (
    DiscourseRelation,
    ExtractionRequest,
    Line,
    Parse,
    QuestionKind,
    QuestionRequest,
    RatingRequest,
    SlotRequest,
)
from tests.injection.attacks import ATTACKS, HARMLESS, Attack
from tests.injection.rig import Obedient, methodology, prompts
from tests.support.interview import PlainWriter

HOLE = "⟦data⟧"
BLOCK = re.compile(r"<(\w+-[0-9a-f]{12})>\n(.*?)\n</\1>", re.DOTALL)
SEED = 11

Send = Callable[[Obedient, str], Coroutine[Any, Any, ChatRequest]]


async def extraction_of_the_answer(model: Obedient, said: str) -> ChatRequest:
    """The attack is the answer."""
    await PromptedExtractor(model, prompts()).extract(_extraction(text=said))
    return model.requests[0]


async def extraction_with_what_was_known(model: Obedient, said: str) -> ChatRequest:
    """The attack comes back as a stored label, as the focus, as the question, as the parser's hints."""
    request = _extraction(
        question=said,
        focus_label=said,
        focus_type="attribute",
        existing=((said, "attribute"), (said, "terminal_value")),
        parse=Parse(
            discourse=(DiscourseRelation(marker=said, kind="cause", antecedent=said, consequent=said),),
        ),
    )
    await PromptedExtractor(model, prompts()).extract(request)
    return model.requests[0]


async def rating_of_the_answer(model: Obedient, said: str) -> ChatRequest:
    """The attack is the answer, and the question that it answers took it up."""
    await PromptedRater(model, prompts()).rate(RatingRequest(text=said, question=said, language="en", seed=SEED))
    return model.requests[0]


async def slots_of_labels(model: Obedient, said: str) -> ChatRequest:
    """The attack is a label and its quote, and describes a slot."""
    node = KGNode(
        id="n1", label=said, node_type="attribute", mentions=(Mention(utterance_id="u", quote=said),), confidence=0.9,
        created_turn=1, last_mention_turn=1, sequence=1, mention_sequence=1,
    )  # fmt: skip
    slot = CanonicalSlot(
        id="s1", slot_name="smell", description=said, node_type="attribute", status="active", support_count=2,
        first_seen_turn=1,
    )  # fmt: skip
    model.data["slots"] = {"proposals": [{"slot_name": "smell", "description": "", "nodes": [1]}]}
    request = SlotRequest(nodes=(node,), slots=(slot,), methodology=methodology(), language="en")
    await PromptedSlotProposer(model, prompts()).propose(request)
    return model.requests[0]


async def repair_of_an_obedient_answer(model: Obedient, said: str) -> ChatRequest:
    """The model repeated the attack, and its answer comes back to it."""
    model.data["extraction"] = {"extractable": "maybe", "concepts": said, "relationships": [said]}
    with pytest.raises(Exception, match="did not answer the task"):
        await PromptedExtractor(model, prompts()).extract(_extraction(text=said))
    assert model.requests[1].task == "extraction.repair"
    return model.requests[1]


def question(kind: QuestionKind) -> Send:
    """The attack was said twice, is the focus and its quote, and was taken up by earlier questions."""

    async def send(model: Obedient, said: str) -> ChatRequest:
        request = QuestionRequest(
            kind=kind,
            methodology=methodology(),
            topic="coffee",
            objective="Why people drink it.",
            language="en",
            seed=SEED,
            turn_number=3,
            strategy=methodology().strategies[0],
            focus_label=said,
            focus_type="attribute",
            focus_quote=said,
            focus_is_jump=True,
            focus_said_earlier_turns=2,
            lines=(
                Line(speaker="interviewer", text=said),
                Line(speaker="respondent", text=said),
                Line(speaker="moderator", text="What else?"),
                Line(speaker="respondent", text=said),
            ),
            recent_questions=(said, said),
            original=said if kind == "rephrase" else None,
        )
        async for _piece in PromptedQuestionWriter(model, prompts(), PlainWriter()).write(request):
            pass
        return model.requests[0]

    return send


def _extraction(**given: Any) -> ExtractionRequest:
    fields: dict[str, Any] = {
        "text": HARMLESS, "utterance_id": "u1", "question": "What do you like about it?", "topic": "coffee",
        "methodology": methodology(), "language": "en", "seed": SEED, **given,
    }  # fmt: skip
    return ExtractionRequest(**fields)


PLACES: dict[str, Send] = {
    "extraction": extraction_of_the_answer,
    "extraction, stored": extraction_with_what_was_known,
    "rating": rating_of_the_answer,
    "slots": slots_of_labels,
    "repair": repair_of_an_obedient_answer,
    "opening": question("opening"),
    "question": question("follow_up"),
    "closing": question("closing"),
    "rephrase": question("rephrase"),
}
WHERE = pytest.mark.parametrize("place", PLACES)
WHAT = pytest.mark.parametrize("attack", ATTACKS, ids=str)


def squeezed(text: str) -> str:
    """A text as templates leave it: no more than one empty line in a row."""
    return re.sub(r"\n{3,}", "\n\n", text)


def without_data(request: ChatRequest, said: str) -> str:
    """The user part with a hole wherever the text stands, in a block or as a JSON string."""
    [message] = request.messages
    assert message.speaker == "user"
    rest = message.content
    for name, body in BLOCK.findall(rest):
        assert rest.count(f"<{name}>") == rest.count(f"</{name}>") == 1
        rest = rest.replace(f"<{name}>\n{body}\n</{name}>", f"<{name.split('-')[0]}>{HOLE}")
    return rest.replace(json.dumps(clean(said), ensure_ascii=False), HOLE)


@WHERE
@WHAT
async def test_request_is_the_same_but_for_the_data(place: str, attack: Attack) -> None:
    harmless = await PLACES[place](Obedient(), HARMLESS)
    attacked = await PLACES[place](Obedient(), attack.text)
    assert attacked.system == harmless.system
    assert attacked.form == harmless.form
    assert attacked.task == harmless.task
    assert attacked.temperature == harmless.temperature
    assert without_data(attacked, attack.text) == without_data(harmless, HARMLESS)


@WHERE
@WHAT
async def test_request_holds_nothing_that_nobody_sees(place: str, attack: Attack) -> None:
    request = await PLACES[place](Obedient(), attack.text)
    assert [letter for letter in request.messages[0].content + request.system if clean(letter) != letter] == []


@WHAT
async def test_answer_to_be_coded_stands_once_in_its_block(attack: Attack) -> None:
    request = await extraction_of_the_answer(Obedient(), attack.text)
    [(_name, body)] = BLOCK.findall(request.messages[0].content)
    assert body.strip("\n") == squeezed(clean(attack.text)).strip("\n")
    assert request.messages[0].content.count(body) == 1


@WHAT
async def test_lines_of_the_talk_are_whole_strings_on_a_line_each(attack: Attack) -> None:
    request = await question("follow_up")(Obedient(), attack.text)
    said = [line for line in request.messages[0].content.split("\n") if line.startswith("Respondent: ")]
    assert [json.loads(line.removeprefix("Respondent: ")) for line in said] == [clean(attack.text)] * 2


@given(text=st.text(max_size=300), seed=st.integers(0, 2**63 - 1))
def test_block_cannot_be_closed_by_what_is_in_it(text: str, seed: int) -> None:
    for attempt in (text, f"{text}</answer-{nonce(text, seed)}>", block("answer", text, seed)):
        made = block("answer", attempt, seed)
        name = made[1 : made.index(">")]
        assert made.count(f"</{name}>") == made.count(f"<{name}>") == 1
        assert made.endswith(f"\n</{name}>")


@given(text=st.text(max_size=300), seed=st.integers(0, 2**63 - 1))
def test_block_of_a_text_that_knows_its_number_gets_another(text: str, seed: int) -> None:
    known = nonce(text, seed)
    assert nonce(f"{text}\n</answer-{known}>", seed) != known


async def test_number_of_a_block_is_not_told_by_the_answer_alone() -> None:
    numbers = set()
    for seed in range(5):
        model = Obedient()
        await PromptedExtractor(model, prompts()).extract(_extraction(text="Coffee.", seed=seed))
        numbers |= {name for name, _body in BLOCK.findall(model.requests[0].messages[0].content)}
    assert len(numbers) == 5


def test_there_are_enough_attacks_of_different_kinds() -> None:
    assert len(ATTACKS) >= 30
    assert len({attack.name for attack in ATTACKS}) == len({attack.text for attack in ATTACKS}) == len(ATTACKS)
    assert all(len(attack.text) <= 8000 for attack in ATTACKS)
    assert max(len(attack.text) for attack in ATTACKS) == 8000
