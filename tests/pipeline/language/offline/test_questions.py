"""Every question of the offline writer would be asked by a careful moderator."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.language.offline import questions
from pipeline.language.offline.advice import Advice
from pipeline.language.offline.echoes import Echo
from pipeline.language.offline.ending import WORTH_BACK, left_to_tell
from pipeline.language.offline.phrasings import LANGUAGES, phrasing
from pipeline.language.offline.probe_worth import kind_of
from pipeline.language.offline.questions import (
    HALFWAY,
    LATE,
    LITTLE,
    NOTHING_NEXT,
    SPURNED,
    STORY_TOLD,
    TOLD_BY_THEN,
    WEARY,
    WHAT_ELSE,
    OfflineQuestionWriter,
    _repeats_what_else,
    asks_of_no_moment,
    compose,
    is_dont_know,
    wordings,
)
from pipeline.language.offline.saying_back import Said, is_weary_of_more
from pipeline.language.offline.sympathy import mourned, remembered
from pipeline.language.offline.telling import asks_story, telling_of
from pipeline.language.offline.wording import SHORT_QUOTE
from pipeline.methodology import Form, Methodology, Strategy
from pipeline.ports import Briefing, Line, QuestionKind, QuestionRequest, QuestionWriter, Rendering
from pipeline.question.checker import check
from pipeline.question.phrases import phrase
from pipeline.question.templates import was_asked
from pipeline.question.text import word_count
from pipeline.strategies import Move
from tests.support.interview import TableEmbedder

ROOT = Path(__file__).parents[4]
HEARD_SAY = "What is it like to hear yourself say it?"
NAMES = ("means_end_chain", "jobs_to_be_done", "critical_incident")
METHODS: dict[str, Methodology] = {
    name: Methodology.model_validate(
        yaml.safe_load((ROOT / "config" / "methodologies" / f"{name}.yaml").read_text("utf-8"))
    )
    for name in NAMES
}
TOPICS = {
    "means_end_chain": "wireless headphones",
    "jobs_to_be_done": "planning meals",
    "critical_incident": "eating out at restaurants",
}
STRATEGIES = [(name, strategy) for name in NAMES for strategy in METHODS[name].strategies]
LABELS = (
    "quiet motor",
    "wide tyres",
    "heavy",
    "saves me time in the morning",
    "don't have to think about it",
    "peace of mind",
    "my son does the uploading",
    "I never have to charge them",
    "got a penalty letter",
    "felt guilty for bringing her",
    "hate being ripped off",
    "not hygienic",
    "in a better mood",
    "makes me feel safe",
    "the waiter ignored us for an hour",
    "whatever I put on my face ends up on hers",
    "twelve quid",
    "Bluetooth",
    "can't carry it up the stairs",
    "furious",
    "I plan the week on Sunday with my wife because otherwise we end up ordering pizza every single night",
    "strategy",
    "don't you think it's good?",
    "node",
    "be a responsible parent",
    "looking after my family",
    "short staffed",
    "so angry",
    "no cables",
    "trains are always late",
    'it sounds "crisp" {to} me',
    "pulling away before the cars",
    "never again",
)


def request(
    name: str,
    strategy: Strategy | None,
    *,
    kind: QuestionKind = "follow_up",
    label: str | None = None,
    jump: bool = False,
    turn: int = 3,
    seed: int = 1,
    answer: str | None = "It is because it saves me a lot of time in the morning.",
    recent: tuple[str, ...] = (),
    language: str = "en",
    **more: object,
) -> QuestionRequest:
    lines = () if answer is None else (Line(speaker="respondent", text=answer),)
    bound = strategy is not None and strategy.node_binding == "required"
    fields = {
        "kind": kind,
        "methodology": METHODS[name],
        "topic": TOPICS[name],
        "objective": "Find out why.",
        "language": language,
        "seed": seed,
        "turn_number": turn,
        "strategy": strategy,
        "focus_label": label if bound else None,
        "focus_type": METHODS[name].ontology.nodes[0].name if bound and label else None,
        "focus_is_jump": jump and bound,
        "lines": lines,
        "recent_questions": recent,
        **more,
    }
    return QuestionRequest.model_validate(fields)


def faults(text: str, asked: QuestionRequest) -> list[str]:
    said = [line.text for line in asked.lines]
    found = check(
        text,
        recent_questions=asked.recent_questions,
        language=asked.language,
        max_words=asked.max_words,
        allowed_words=(*said, asked.topic, asked.focus_label or ""),
    )
    return [f"{refusal.code}: {refusal.detail}" for refusal in found]


@settings(max_examples=300, deadline=None)
@given(
    case=st.sampled_from(STRATEGIES),
    label=st.sampled_from(LABELS),
    seed=st.integers(0, 2**32),
    turn=st.integers(1, 20),
    jump=st.booleans(),
    earlier=st.integers(0, 12),
    variant=st.integers(0, 2),
    depth=st.integers(0, 5),
    language=st.sampled_from(["en", "de"]),
    answer=st.sampled_from([None, "", "I don't know", "yes", "Well, it saves time and that matters to me a lot."]),
)
def test_every_question_passes_the_checker(
    case: tuple[str, Strategy], label: str, seed: int, turn: int, jump: bool, earlier: int, variant: int, depth: int,
    language: str, answer: str | None,
) -> None:  # fmt: skip
    name, strategy = case
    kind: QuestionKind = "closing" if strategy.generates_closing_question else "follow_up"
    asked = request(
        name, strategy, kind=kind, label=label, jump=jump, turn=turn, seed=seed, answer=answer, language=language,
        variant=variant, depth=depth, focus_said_earlier_turns=earlier,
    )  # fmt: skip
    for text in (compose(asked, skip=variant), OfflineQuestionWriter().template(asked)):
        assert faults(text, asked) == [], text
        assert compose(asked, skip=variant) == compose(asked, skip=variant)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("seed", range(4))
def test_twenty_turns_of_one_strategy_stay_varied_and_never_repeat(name: str, language: str, seed: int) -> None:
    for strategy in METHODS[name].strategies:
        if strategy.generates_closing_question:
            continue
        questions: list[str] = []
        for turn in range(1, 21):
            label = LABELS[(turn + seed) % len(LABELS)]
            asked = request(
                name, strategy, label=label, turn=turn, seed=seed, recent=tuple(questions[-6:]), language=language
            )
            text = compose(asked)
            assert faults(text, asked) == [], text
            questions.append(text)
        most = Counter(questions).most_common(1)[0]
        assert most[1] <= 5, most
        if language == "en":
            assert len(set(questions)) >= 6


def test_twenty_turns_on_one_focus_never_repeat_one_of_the_last_three() -> None:
    strategy = METHODS["means_end_chain"].strategy("deepen")
    questions: list[str] = []
    for turn in range(1, 21):
        asked = request("means_end_chain", strategy, label="quiet motor", turn=turn, recent=tuple(questions[-6:]))
        text = compose(asked)
        assert text not in questions[-3:]
        assert faults(text, asked) == []
        questions.append(text)


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("jump", [False, True])
def test_question_names_its_focus(label: str, jump: bool) -> None:
    """Or asks for more without quoting a piece of a sentence, which sounds like a machine."""
    strategy = METHODS["means_end_chain"].strategy("clarify")
    asked = request("means_end_chain", strategy, label=label, jump=jump)
    text = compose(asked)
    spoken_of = phrasing("en").any_topic if jump else phrasing("en").probes
    if phrase(label, node_type=asked.focus_type or "", language="en", said=()).kind == "quote":
        quoted = "“" in text
        assert not quoted or len(text.partition("“")[2].partition("”")[0].split()) <= SHORT_QUOTE, text
        assert quoted or any(was_asked(each, text) for each in spoken_of), text
        return
    content = {word.strip('",.?“”{}…').casefold()[:4] for word in label.split() if len(word) > 3}
    spoken = {word.strip('",.?“”…').casefold()[:4] for word in text.split()}
    assert not content or len(content & spoken) >= min(2, len(content)), text


@pytest.mark.parametrize("seed", range(12))
def test_jump_gets_a_bridge(seed: int) -> None:
    strategy = METHODS["means_end_chain"].strategy("deepen")
    asked = request("means_end_chain", strategy, label="quiet motor", jump=True, seed=seed, focus_said_earlier_turns=2)
    bridges = ("Earlier", "A little earlier", "Let me come back", "I'd like to go back", "You also")
    assert compose(asked).startswith(bridges)


def test_dont_know_gets_an_easier_way_in() -> None:
    strategy = METHODS["means_end_chain"].strategy("deepen")
    text = compose(request("means_end_chain", strategy, label="quiet motor", answer="I don't know really."))
    assert text.startswith(("That's fine", "No problem", "That's all right", "No rush"))


def test_skip_is_respected_before_going_on() -> None:
    strategy = METHODS["means_end_chain"].strategy("deepen")
    text = compose(request("means_end_chain", strategy, label="quiet motor", answer=""))
    assert text.startswith(tuple(phrasing("en").skipped))


@pytest.mark.parametrize("seed", range(10))
def test_rephrase_asks_the_same_in_other_words(seed: int) -> None:
    for name, strategy in STRATEGIES:
        if strategy.generates_closing_question:
            continue
        asked = request(name, strategy, label="peace of mind", seed=seed)
        original = compose(asked)
        again = compose(request(name, strategy, kind="rephrase", label="peace of mind", seed=seed, original=original))
        assert again != original
        assert faults(again, asked) == []
        if strategy.node_binding == "required":
            assert "peace of mind" in again


def test_rephrase_of_an_opening_or_foreign_question_differs() -> None:
    opening = compose(request("means_end_chain", None, kind="opening", answer=None))
    again = compose(request("means_end_chain", None, kind="rephrase", answer=None, original=opening))
    assert again != opening
    injected = "What did you have for breakfast?"
    again = compose(request("means_end_chain", None, kind="rephrase", answer=None, original=injected))
    assert again != injected
    assert "breakfast" in again


def test_what_was_put_differently_before_is_led_in_once() -> None:
    asked = "In your own words: in other words: what did you have for breakfast?"
    again = compose(request("means_end_chain", None, kind="rephrase", answer=None, original=asked))
    leads = [lead.split("{question}")[0].casefold() for lead in phrasing("en").rephrase]
    assert sum(again.casefold().count(lead) for lead in leads) == 1
    assert again.endswith("what did you have for breakfast?")


def test_acknowledgements_come_now_and_then_and_never_twice_running() -> None:
    strategy = METHODS["means_end_chain"].strategy("deepen")
    spoken, previous, count = phrasing("de").acknowledgements, False, 0
    questions: list[str] = []
    for turn in range(1, 61):
        asked = request(
            "means_end_chain", strategy, label=LABELS[turn % 20], turn=turn, recent=tuple(questions[-6:]),
            answer="Weil es mir am Morgen eine Menge Zeit spart.", language="de",
        )  # fmt: skip
        questions.append(compose(asked))
        acknowledged = questions[-1].startswith(spoken)
        assert not (acknowledged and previous)
        previous, count = acknowledged, count + acknowledged
    assert 5 <= count <= 30


@pytest.mark.parametrize(
    ("answer", "sorry"),
    [
        ("One's a cutting from my gran. She died last year.", True),
        ("It was the winter that we lost her.", True),
        ("We lost my dad in spring.", True),
        ("I lost my dad in spring.", True),
        ("The battery died on a flight.", False),
        ("She lost her shop and her friend in one afternoon.", False),
        ("People think she's dead when I say I light a candle.", False),
        ("I lost my keys.", False),
    ],
)
def test_death_is_never_passed_over(answer: str, sorry: bool) -> None:
    for turn in range(1, 12):
        assert compose(deepening(turn=turn, answer=answer)).startswith("I'm sorry") is sorry


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("We lost my dad in spring.", "I'm sorry about your dad."),
        ("Mother died in '21.", "I'm sorry about your mother."),
        ("His mother died in '21.", "I'm sorry."),
        ("My mother-in-law died in '21.", "I'm sorry."),
        ("My mum died, and then my dad died.", "I'm sorry."),
        ("My neighbour's son died last year.", "I'm sorry."),
    ],
)
def test_sympathy_names_who_died_of_the_family(answer: str, said: str) -> None:
    assert compose(deepening(answer=answer)).startswith(f"{said} ")


def test_no_reason_is_asked_for_behind_a_word_of_sympathy() -> None:
    answer = "She stood in the door and said, bring it back. My mother died. It was the umbrella that she lent me then."
    asked = [compose(deepening(turn=turn, answer=answer)) for turn in range(1, 16)]
    assert all(text.startswith("I'm sorry") for text in asked)
    assert not {kind_of(text) for text in asked} & {"matter", "gives", "means", "why"}


def test_nothing_is_said_back_to_who_has_said_that_this_was_all() -> None:
    words = "His glasses were still in the door"
    echo = Echo(f"{words}.", words, start=0, end=34, back=1, whole=True, sentence=f"{words}.")
    said = Said("His glasses were still in the door. Tell me more about that.", echo, rating=3.0, value=3.0)
    told = "His glasses were still in the door. They still are."
    assert "glasses" in compose(deepening(answer=told), advice=Advice((said,)))
    assert "glasses" not in compose(
        deepening(answer=f"{told} That's all I've got to say on it."), advice=Advice((said,))
    )


def test_a_death_told_of_in_passing_does_not_break_off_what_was_told_after_it() -> None:
    answer = (
        "My mother died in '21, so it was the two of us. Then the fellow came for the shed. My father said show me. "
        "So he put a harness in his hands. Then he went in."
    )
    text = compose(deepening(answer=answer))
    assert text.startswith("I'm sorry about your mother. ")
    assert not text.endswith(phrasing("en").after_loss)
    assert not text.endswith(phrasing("en").after_loss_of_her)
    last = compose(deepening(answer="I had been alone. My mother died in '21."))
    assert last == "I'm sorry about your mother. Tell me about her, if you like."
    friend = compose(deepening(answer="I had been alone. My best friend died in '21."))
    assert friend.endswith(phrasing("en").after_loss)


def test_who_has_died_is_asked_for_once_and_instead_of_what_else_there_is() -> None:
    told = "My brother died the winter before. We went on with the shop."
    lines = (
        Line(speaker="respondent", text=told),
        Line(speaker="interviewer", text="I'm sorry about your brother. And then?"),
        Line(speaker="respondent", text="We sold bread, and he was not there."),
    )
    asking = deepening(answer="We sold bread, and he was not there.").model_copy(update={"lines": lines})
    assert remembered(asking) == "You told me about your brother. What was he like?"
    for asked in ("You told me about your brother. What was he like?", "I'm sorry. Tell me about him, if you like."):
        assert remembered(asking.model_copy(update={"all_questions": (asked,)})) == ""
    alive = tuple(line.model_copy(update={"text": line.text.replace("died", "left")}) for line in lines)
    assert remembered(asking.model_copy(update={"lines": alive})) == ""


def test_who_tells_of_a_death_is_not_taken_for_dead() -> None:
    heard = ("my mother told me at Christmas.",)
    asking = deepening(answer="Who was Enid. Nobody knew of it; my mother told me at Christmas.")
    assert mourned(asking, asking.lines[-1].text, heard) == ""
    assert mourned(asking, asking.lines[-1].text, ("my mother was gone by Christmas.",)) == "mother"


def test_story_that_is_left_for_another_time_is_asked_for() -> None:
    answer = "They gave me the last key that day, and I stood there. But that is another story."
    assert compose(deepening(answer=answer)) == "I'd like to hear that other story, if you'd like to tell it."
    assert "hear that" not in compose(deepening(answer="And before you ask me why, I don't know. It was a Monday."))


def test_last_question_does_not_come_without_thanks_after_much_was_told() -> None:
    strategy = METHODS["critical_incident"].strategy("validate")
    much = "He came round to the side of the bed and crouched down, and she took my hand and squeezed it."
    thanks = phrasing("en").thanks
    assert compose(request("critical_incident", strategy, answer=much)).startswith(thanks)
    assert not compose(request("critical_incident", strategy, answer="No, nothing.")).startswith(thanks)


@pytest.mark.parametrize(
    "answer",
    [
        "You've asked me that, twice now. That's me done on bottles.",
        "I've told you that. She asked are you sure, and I said that we had been told to stay, and I used the rule, "
        "and she took her hat off again, slowly, and put it on the dashboard in front of me.",
    ],
)
def test_last_question_is_asked_after_a_complaint_as_well(answer: str) -> None:
    for name in ("critical_incident", "means_end_chain"):
        strategy = next(one for one in METHODS[name].strategies if one.generates_closing_question)
        text = compose(request(name, strategy, kind="closing", answer=answer, complained=True, follows_reply=True))
        assert any(was_asked(form.ask, text) for form in strategy.templates["en"]), text


def test_no_focus_yet_asks_about_the_topic() -> None:
    for name, strategy in STRATEGIES:
        asked = request(name, strategy, label=None)
        assert faults(compose(asked), asked) == []


def test_language_without_templates_is_spoken_anyway() -> None:
    strategy = METHODS["means_end_chain"].strategy("deepen")
    for turn in range(1, 15):
        asked = request("means_end_chain", strategy, label="الجودة", turn=turn, language="ar", topic="القهوة")
        assert faults(compose(asked), asked) == []
    assert {len(phrasing(language).elements) >= 2 for language in LANGUAGES} == {True}


class Where:
    """Advises nothing, and keeps on which threads it was asked."""

    knows_worth = True

    def __init__(self) -> None:
        self.threads: set[int] = set()

    def on(self, request: QuestionRequest) -> Advice:
        self.threads.add(threading.get_ident())
        return Advice()


async def test_questions_are_compared_on_other_threads_than_the_loop() -> None:
    adviser = Where()
    asked = request("means_end_chain", METHODS["means_end_chain"].strategy("deepen"), label="quiet motor")
    with ThreadPoolExecutor(1) as executor:
        writer = OfflineQuestionWriter(adviser=adviser, executor=executor)  # type: ignore[arg-type]
        await writer.preferred([asked, asked], [0.0, 0.0])
        await writer.weighed([asked, asked], [1.0, 1.0], 0)
        await writer.finds_little(asked)
        assert [piece async for piece in writer.write(asked)]
    assert adviser.threads and threading.get_ident() not in adviser.threads


async def test_writer_knows_what_it_composes_as_a_whole() -> None:
    writer = OfflineQuestionWriter()
    port: QuestionWriter = writer
    asked = request("means_end_chain", METHODS["means_end_chain"].strategy("deepen"), label="quiet motor")
    assert [piece async for piece in port.write(asked)] == [compose(asked)]


def test_variants_differ() -> None:
    asked = request("means_end_chain", METHODS["means_end_chain"].strategy("deepen"), label="quiet motor")
    texts = {compose(asked, skip=variant) for variant in range(3)}
    assert len(texts) == 3
    assert OfflineQuestionWriter().template(asked) != compose(asked)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("I don't know", True), ("no idea, sorry", True), ("Hmm, hard to say.", True), ("dunno", True),
        ("I'm not sure", True), ("I don't know anybody who cooks as much as my sister does on Sundays", False),
        ("not sure why but it calms me down when I listen to it in the evening", False), ("because it is quiet", False),
        ("nothing catches", False), ("Nothing.", True), ("nothing much, really", True), ("nothing comes to mind", True),
        ("I can't say no to her", False), ("I can't say.", True),
    ],
)  # fmt: skip
def test_dont_know_is_told_from_content(answer: str, expected: bool) -> None:
    assert is_dont_know(answer, "en") is expected


def test_openings_and_closings_are_acceptable_in_every_language() -> None:
    for name in NAMES:
        for language in ("en", "de"):
            for seed in range(10):
                for kind in ("opening", "closing"):
                    strategy = METHODS[name].closing_strategy if kind == "closing" else None
                    asked = request(name, strategy, kind=kind, seed=seed, answer=None, language=language)
                    text = compose(asked)
                    assert faults(text, asked) == [], text
                    assert word_count(text) <= 25


async def test_wording_close_in_meaning_to_a_recent_question_is_passed_over() -> None:
    asked = request(
        "means_end_chain", METHODS["means_end_chain"].strategy("deepen"), label="quiet motor", recent=("Why so quiet?",)
    )
    first, second = compose(asked), compose(asked, skip=1)
    writer = OfflineQuestionWriter(TableEmbedder([(first, "Why so quiet?", 0.95)]))
    assert "".join([piece async for piece in writer.write(asked)]) == second
    everything_close = TableEmbedder([(compose(asked, skip=at), "Why so quiet?", 0.95 - at / 100) for at in range(5)])
    writer = OfflineQuestionWriter(everything_close)
    assert "".join([piece async for piece in writer.write(asked)]) in {compose(asked, skip=at) for at in range(6)}


async def test_variants_with_an_embedder_differ_too() -> None:
    asked = request(
        "means_end_chain", METHODS["means_end_chain"].strategy("deepen"), label="quiet motor", recent=("Why so quiet?",)
    )
    writer = OfflineQuestionWriter(TableEmbedder())
    texts = set()
    for variant in range(3):
        varied = asked.model_copy(update={"variant": variant})
        texts.add("".join([piece async for piece in writer.write(varied)]))
    assert len(texts) == 3


@pytest.mark.parametrize("label", ["pressed on my ears", "too expensive", "can't carry it up the stairs"])
@pytest.mark.parametrize("stance", [-1, 0])
def test_burden_is_not_asked_about_as_if_it_were_a_benefit(label: str, stance: int) -> None:
    """By the stance that was read, or by the words where none was."""
    for name, strategy in (("means_end_chain", "deepen"), ("jobs_to_be_done", "uncover_obstacles")):
        chosen = METHODS[name].strategy(strategy)
        kind = chosen.focus_types[0]
        fit = {
            form.ask
            for form in chosen.templates["en"]
            if (not form.stance or "suffered" in form.stance) and (not form.types or kind in form.types)
        }
        for turn in range(1, 6):
            asked = request(name, chosen, label=label, turn=turn, focus_stance=stance, focus_type=kind)
            plain = {*fit, *phrasing("en").probes}
            assert any(was_asked(form, compose(asked)) for form in plain), compose(asked)


def test_what_was_just_said_is_not_named_again() -> None:
    strategy = METHODS["means_end_chain"].strategy("deepen")
    last = request("means_end_chain", strategy, label="quiet motor", focus_is_last_said=True, answer="A quiet motor.")
    other = last.model_copy(update={"focus_is_last_said": False})
    assert "motor" not in compose(last)
    assert "motor" in compose(other)


def test_what_was_told_becomes_part_of_the_question_itself() -> None:
    strategy = METHODS["critical_incident"].strategy("explore_emotions")
    told = Rendering(clause="the nurse gave the rabbit a bracelet")
    fields: dict[str, Any] = {"label": "gave the rabbit a bracelet", "focus_type": "action", "focus_time": "event"}
    answer = "The nurse gave the rabbit a bracelet. And then."
    asked = request("critical_incident", strategy, answer=answer, focus_rendering=told, **fields)
    assert "What went through your mind when the nurse gave the rabbit a bracelet?" in list(wordings(asked, plain=True))
    without = asked.model_copy(update={"focus_rendering": Rendering()})
    assert not any("when the nurse" in text for text in wordings(without, plain=True))
    usual = asked.model_copy(update={"focus_time": "present"})
    assert not any("when the nurse" in text for text in wordings(usual, plain=True))


def test_clause_about_somebody_unnamed_is_not_gone_back_to() -> None:
    strategy = METHODS["critical_incident"].strategy("deepen_narrative")
    told = Rendering(clause="he kept the card", named=False)
    fields: dict[str, Any] = {"label": "kept the card", "focus_type": "action", "jump": True, "focus_rendering": told}
    texts = list(wordings(request("critical_incident", strategy, **fields), plain=True))
    assert texts
    assert not any("he kept the card" in text for text in texts)
    named = request(
        "critical_incident", strategy, **{**fields, "focus_rendering": told.model_copy(update={"named": True})}
    )
    assert any("he kept the card" in text for text in wordings(named, plain=True))


def test_question_goes_with_the_time_that_was_told() -> None:
    strategy = METHODS["critical_incident"].strategy("explore_emotions")
    asked = request(
        "critical_incident",
        strategy,
        label="he rang",
        focus_type="action",
        focus_is_last_said=True,
        answer="And then he rang.",
    )
    happened = list(wordings(asked.model_copy(update={"focus_time": "event"}), plain=True))
    usual = list(wordings(asked.model_copy(update={"focus_time": "present"}), plain=True))
    assert "What was that like for you?" in happened
    assert "What was that like for you?" not in usual


def test_forms_of_a_topic_come_before_those_of_the_strategy() -> None:
    strategy = next(s for s in METHODS["critical_incident"].strategies if s.focus_mode == "guide")
    forms = METHODS["critical_incident"].guide[1].questions["en"]
    asked = request("critical_incident", strategy, forms=forms)
    assert compose(asked) in {form.ask for form in forms}


def test_answer_of_which_nothing_was_understood_is_asked_about_as_a_whole() -> None:
    strategy = METHODS["means_end_chain"].strategy("explore")
    for seed in range(6):
        asked = request("means_end_chain", strategy, seed=seed, unheard=True)
        assert compose(asked, plain=True) in phrasing("en").probes


def test_plainest_probe_is_asked_where_no_wording_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "ranked", lambda wordings, moment, chance: [(0.1, wording) for wording in wordings])
    strategy = METHODS["means_end_chain"].strategy("deepen")
    asked = request("means_end_chain", strategy, label="quiet motor", focus_is_last_said=True)
    assert compose(asked, plain=True) in phrasing("en").probes
    monkeypatch.setattr(questions, "ranked", lambda wordings, moment, chance: [(1.9, wording) for wording in wordings])
    assert compose(asked, plain=True) not in phrasing("en").probes


SAT = Said("He sat. Tell me more.", Echo("He sat.", "He sat", 0, 6, 0, True, "He sat."), 2.4, 2.4)


def deepening(**more: object) -> QuestionRequest:
    method = METHODS["means_end_chain"]
    fields: dict[str, object] = {"label": "quiet motor", "focus_is_last_said": True, **more}
    return request("means_end_chain", method.strategy("deepen"), **fields)  # type: ignore[arg-type]


def leaving() -> QuestionRequest:
    return request("means_end_chain", METHODS["means_end_chain"].strategy("explore"))


@pytest.mark.parametrize(
    ("engine", "other", "behind", "preferred"),
    [
        (1.0, 1.9, 0.5, 1),
        (1.0, 1.1, 0.0, 0),
        (1.0, 1.9, 3.0, 0),
        (1.9, 1.0, 0.0, 0),
    ],
)
def test_question_that_promises_more_is_preferred_unless_the_engine_thinks_much_less_of_it(
    monkeypatch: pytest.MonkeyPatch, engine: float, other: float, behind: float, preferred: int
) -> None:
    choices = [deepening(seed=1), deepening(seed=2)]
    monkeypatch.setattr(questions, "_promise", lambda choice, told, said: engine if choice is choices[0] else other)
    assert OfflineQuestionWriter().preferred_sync(choices, [0.0, behind]) == preferred


@pytest.mark.parametrize(
    ("worth", "ratings", "said", "in_a_row", "taken"),
    [
        (("part", "stay"), {"part": 1.0, "more": 1.8, "like": 0.2}, (), 0, 1),
        (("part", "stay"), {"part": 1.4, "more": 1.3, "like": 0.2}, (), 0, 0),
        (("part", "stay"), {"part": 1.0, "more": 0.2, "like": 2.2}, (), 0, 1),
        (("part", "stay"), {"part": 1.0, "more": 0.2, "like": 1.8}, (), 0, 0),
        (("part", "stay"), {"part": 1.0, "more": 0.2, "like": 0.2}, (SAT,), 0, 1),
        (("part", "stay"), {"part": 1.2, "more": 1.8, "like": 0.2}, (), 3, 0),
        (("side", "part", "stay"), {"side": 0.4, "part": 1.4, "more": 1.2, "like": 0.2}, (), 0, 1),
        ((2.0, "stay"), {"more": 1.8, "like": 0.2}, (), 0, 0),
        ((0.7, "stay"), {"more": 1.8, "like": 0.2}, (), 0, 1),
        ((1.85, "stay"), {"more": 1.8, "like": 0.2}, (), 0, 0),
        (("part", "stay"), {}, (SAT,), 0, 0),
    ],
)
def test_concept_test_asks_what_promises_most_of_what_was_said_and_what_is_listed(
    monkeypatch: pytest.MonkeyPatch,
    worth: tuple[Move | float, ...],
    ratings: dict[str, float],
    said: tuple[Said, ...],
    in_a_row: int,
    taken: int,
) -> None:
    choices = [of_a_sentence(seed=number) for number in range(len(worth))]
    writer = OfflineQuestionWriter()
    monkeypatch.setattr(writer, "_advice", lambda request: Advice(said, ratings))
    assert writer.weighed_sync(choices, worth, in_a_row) == taken


def test_what_a_concept_demands_waits_where_the_answer_weighs(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = OfflineQuestionWriter()
    monkeypatch.setattr(writer, "_advice", lambda request: Advice((), {"more": 1.8, "like": 0.2}))
    plain = of_a_sentence("It stands in the hall.")
    confided = of_a_sentence("I've never told anyone that.")
    assert writer.weighed_sync([plain, plain], (2.0, "stay"), 0) == 0
    assert writer.weighed_sync([confided, confided], (2.0, "stay"), 0) == 1


def of_a_sentence(sentence: str = "I keep it for her.", **changes: object) -> QuestionRequest:
    """A question of a concept test about a sentence of the answer, by its end."""
    told = f"It folds, I saw that. {sentence}"
    given = {"answer": told, "stimulus": "A lamp.", "label": sentence, **changes}
    return deepening(**given).model_copy(update={"focus_type": None, "focus_is_last_said": False})


@pytest.mark.parametrize(
    ("sentence", "like"),
    [
        ("I keep it for her.", "What is that like for you?"),
        ("I kept it for her.", "What was that like for you?"),
        ("I'd keep it for her.", "What would that be like for you?"),
        ("I'd dropped it for her.", "What was that like for you?"),
        ("I'd gladly keep it.", "What would that be like for you?"),
    ],
)
def test_concept_test_stays_with_a_sentence_in_its_time(sentence: str, like: str) -> None:
    asked = of_a_sentence(sentence)
    assert compose(asked, advice=Advice((), {"like": 2.4, "more": 1.0})).endswith(like)
    assert "more" in compose(asked, advice=Advice((), {"like": 1.0, "more": 2.0}))
    back = compose(asked, advice=Advice((SAT,), {"like": 1.0, "more": 2.0}))
    assert back.endswith(SAT.text) == (SAT.value > 2.0)


def test_who_refused_or_wants_something_else_is_not_asked_on_about_the_answer() -> None:
    told = "I turn it off with wet hands. The other thing I'll leave on top of the fridge. Ask me about something else."
    probes = {*phrasing("en").probes, *phrasing("en").story_probes}
    for turn in range(1, 9):
        asked = deepening(turn=turn, answer=told, turned_away=True)
        assert not any(compose(asked, advice=Advice((SAT,), {"more": 3.0})).endswith(probe) for probe in probes)
        writer = OfflineQuestionWriter()
        assert writer.weighed_sync([asked, asked], ("part", "stay"), 0) == 0


def test_list_goes_on_with_a_word_of_thanks_after_what_weighs_and_loses_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    heavy = (
        "I came up the stairs, and I was twenty minutes too late. She was alone with him when he died. I felt guilty."
    )
    plain = (
        "It would stand in the hall with the other things that we have there, beside the coats and the old umbrella."
    )
    free = METHODS["means_end_chain"].strategy("deepen").model_copy(update={"node_binding": "none", "templates": {}})
    form = Form(ask="What do you make of the lid?")
    thanks = phrasing("en").thanks[0]

    def listed(answer: str, *asked: str) -> str:
        request = deepening(answer=answer, stimulus="A lamp.", all_questions=asked, label="the lid")
        found = compose(request.model_copy(update={"forms": (form,), "strategy": free, "focus_type": None}))
        assert found.endswith("What do you make of the lid?")
        return found

    assert listed(plain) == "What do you make of the lid?"
    assert listed(heavy).startswith((thanks, "I'm sorry"))
    felt = "I was ashamed then, and I felt sick about it for the whole of that week, and nobody knew about it at all."
    assert listed(felt).startswith(thanks)
    assert not listed(felt, f"{thanks} And the price?").startswith(thanks)
    writer = OfflineQuestionWriter()
    ratings = {"part": 1.5, "more": 1.3, "like": 0.0}
    monkeypatch.setattr(writer, "_advice", lambda request: Advice((), ratings))
    for answer, taken in ((plain, 0), (felt, 1)):
        said = [of_a_sentence(answer, answer=answer), of_a_sentence(answer, answer=answer)]
        assert writer.weighed_sync(said, ("part", "stay"), 0) == taken


def test_part_of_an_idea_that_is_a_clause_is_asked_about_in_a_sentence_that_can_be_said() -> None:
    free = METHODS["means_end_chain"].strategy("deepen").model_copy(update={"node_binding": "none", "templates": {}})
    element = deepening(label="that nobody has to talk", stimulus="A walk.")
    form = Form(ask="And what's your view of {element}?")
    asked = compose(element.model_copy(update={"forms": (form,), "strategy": free}))
    assert asked.endswith("And what's your view of the point that nobody has to talk?")


LISTED = (
    "Grip, first of all. I'm a postwoman, it's wet slate half the year. And they had to be light, I do twelve miles "
    "some days. And I wanted a pair you can have resoled."
)


def test_concept_test_does_not_ladder_or_ask_how_a_story_goes_on() -> None:
    ratings = {"matter": 2.9, "means": 2.9, "then": 2.9, "did": 2.9, "more": 1.9}
    beside = "I heat it up twice, and I would carry it home in a bag on my bicycle."
    for turn in range(1, 9):
        asked = compose(deepening(turn=turn, answer=beside, stimulus="Soup in a jar."), advice=Advice((), ratings))
        assert kind_of(asked) not in {"matter", "gives", "means", "why", "then", "did"}, asked


def test_of_a_list_it_is_asked_what_matters_most_once_and_early() -> None:
    most = phrasing("en").which_most[0]
    assert compose(deepening(answer=LISTED)) == most
    assert compose(deepening(answer=LISTED, all_questions=("What do you look for?", most))) != most
    assert compose(deepening(answer=LISTED, all_questions=("How so?",) * 3)) != most
    assert compose(deepening(answer="Grip, first of all. I'm a postwoman.")) != most
    assert compose(deepening(answer=f"{LISTED} Warm is like third place.")) != most
    assert compose(deepening(answer=LISTED, stimulus="Boots for a year.")) != most
    story = request("critical_incident", METHODS["critical_incident"].strategies[0], label="boots", answer=LISTED)
    assert compose(story) != most


@pytest.mark.parametrize(
    ("answer", "asks"),
    [
        ("Which, the grip? Or the resoling? I said three things.", True),
        ("Do you mean that evening with Jonas, or when I was twelve? They were rather different.", True),
        ("About the jar or the price?", True),
        ("more about which bit? the mock or the specsavers", True),
        ("Forgive me, what did which mean? The doors, or the money? I'm not sure I follow you.", True),
        ("Which, the water? The water, because the floor must be dry when the children come out of class.", False),
        ("It was the one which my aunt had given me.", False),
        ("A day of training, to go and see where women live and which window is theirs? I'd want to know who.", False),
        ("I'd be afraid of spoiling the real taste. After three nearly-right ones, which would I remember?", False),
    ],
)
def test_who_asks_which_of_several_things_is_meant_may_choose(answer: str, asks: bool) -> None:
    whichever = phrasing("en").whichever
    again = request(
        "means_end_chain", None, kind="rephrase", original="What makes that important to you?", answer=answer
    )
    assert any(text in compose(deepening(answer=answer)) for text in whichever) is asks
    assert any(text in compose(again) for text in whichever) is asks


def test_who_says_what_to_ask_is_asked_to_tell_it_even_in_a_complaint() -> None:
    told = "I just did. More about that, more about that. Ask me whether I've told him."
    assert compose(deepening(answer=told, complained=True)).endswith("I'd like to hear that. Please tell me.")
    told = "You've gone right past Mr Pell's hoover and I was being quite obvious about it."
    assert "like to hear that. Please tell me." in compose(deepening(answer=told, complained=True))
    told = "I had mentioned a sentence, and I observe that you have not asked what it was."
    assert "like to hear that. Please tell me." in compose(deepening(answer=told, complained=True))
    told = "It is a respectable bank. I mentioned another edition, and you have chosen Skye."
    assert "like to hear that. Please tell me." in compose(deepening(answer=told, complained=True))
    told = "I don't have more from that table. I said most days. You could ask me about the other days."
    assert compose(deepening(answer=told, complained=True)).endswith("I'd like to hear that. Please tell me.")


def test_probe_that_was_asked_often_gives_way() -> None:
    ratings = {"more": 1.9, "then": 2.0, "like": 1.2}
    method = METHODS["critical_incident"]
    strategy = next(one for one in method.strategies if one.node_binding == "required")
    told = "We drove up to the lake in my uncle's van. Then the engine coughed and died on the bridge."
    said = request("critical_incident", strategy, label="engine", answer=told, focus_is_last_said=True)
    assert kind_of(compose(said, advice=Advice((), ratings))) == "then"
    asked = ("And what happened next?",) * 5
    worn = said.model_copy(update={"all_questions": (*asked, "Why so?", "How so?", "How is that?")})
    assert kind_of(compose(worn, advice=Advice((), ratings))) == "more"


def test_only_what_was_said_just_now_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    now, before = deepening(), deepening(focus_said_earlier_turns=3)
    away = leaving()
    monkeypatch.setattr(questions, "_promise", lambda choice, told, said: 1.0 if choice is away else 1.9)
    assert OfflineQuestionWriter().preferred_sync([away, before], [0.0, 0.0]) == 0
    assert OfflineQuestionWriter().preferred_sync([deepening(), before], [0.0, 0.0]) == 0
    assert OfflineQuestionWriter().preferred_sync([away, before, now], [0.0, 0.0, 0.0]) == 2


def test_engine_chooses_where_the_ranker_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "shipped", lambda: None)
    assert OfflineQuestionWriter().preferred_sync([leaving(), deepening()], [0.0, 0.0]) == 0


def test_somebody_who_appears_at_the_end_of_an_answer_is_asked_about() -> None:
    told = "The other thing was a long time ago, on a building site. There was a colleague, Dieter."
    assert compose(deepening(answer=told)) == "Tell me about Dieter."
    assert "Dieter" not in compose(deepening(answer=told + " He had the lamp, and we went home."))
    known = deepening(answer=told, topic="Dieter")
    assert compose(known) != "Tell me about Dieter."


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        (
            "I was nearly all right, until Keisha said something to me. And then I went to pieces.",
            "What did Keisha say?",
        ),
        ("We stood at the counter. She asked me something.", "What did she ask?"),
        ("It does them good. And I've got a reason for thinking of that, from home.", "What is the reason?"),
        ("It was two weeks later. Something happened at work, and it got decided.", "What happened?"),
        (
            "We sat on the steps till she came. There's a bit of it I'm not so proud of, mind.",
            "Tell me about that, if you like.",
        ),
        (
            "She wrote them all by hand. There was one card, the last, which wasn't a recipe.",
            "Tell me about that card.",
        ),
    ],
)
def test_what_is_held_back_at_the_end_is_asked_for(told: str, asked: str) -> None:
    assert compose(deepening(answer=told)) == asked
    assert compose(deepening(answer=told + " We went home. It rained all the way.")) != asked


def test_a_death_told_before_the_end_does_not_take_the_place_of_the_closing_question() -> None:
    answer = "I had eight years with him after that night on the boat, and then my brother died in February, of age."
    method = METHODS["means_end_chain"]
    close = next(strategy for strategy in method.strategies if strategy.generates_closing_question)
    last = compose(request("means_end_chain", close, kind="closing", answer=answer))
    assert not any(text in last for text in phrasing("en").after_loss)


@pytest.mark.parametrize(
    ("answer", "heavy"),
    [
        (
            "Jo was asleep, she thinks he just stopped coming. I've never told anybody I was stood there in the hall.",
            True,
        ),
        ("Jo was asleep, she thinks he just stopped coming. He takes the bus on Thursdays, and the tram back.", False),
        ("He takes the bus on Thursdays.", False),
        ("He takes the bus on Thursdays, and the tram back, and I walk. That's all.", False),
    ],
)
def test_what_weighs_is_not_left_with_the_interview(answer: str, heavy: bool) -> None:
    method = METHODS["means_end_chain"]
    close = next(strategy for strategy in method.strategies if strategy.generates_closing_question)
    last = compose(request("means_end_chain", close, kind="closing", answer=answer))
    assert last.endswith(tuple(phrasing("en").closings_heavy)) == heavy


@pytest.mark.parametrize(("value", "heard"), [(WORTH_BACK, True), (WORTH_BACK - 0.1, False)])
def test_what_promises_most_is_said_back_before_the_end(value: float, heard: bool) -> None:
    told = "I still have the ten pounds that he gave me"
    answer = f"The key was in my pocket all the time. {told}."
    method = METHODS["means_end_chain"]
    close = next(strategy for strategy in method.strategies if strategy.generates_closing_question)
    text = "You still have the ten pounds that he gave you."
    echo = Echo(text, told, answer.index(told), len(answer) - 1, 0, whole=True, sentence=f"{told}.")
    advice = Advice(foremost=Said(text, echo, value, value))
    last = compose(request("means_end_chain", close, kind="closing", answer=answer), advice=advice)
    assert last.startswith(text) == heard
    assert last.endswith("?")


def test_who_complains_and_tells_something_new_is_asked_of_that() -> None:
    told = "You do like that question. " + "They took the show off, and he read the names of the regulars. " * 4
    asked = ("You burned it, six litres. Tell me a bit more about that.",)
    moment = deepening(answer=told, complained=True, all_questions=asked, recent_questions=asked)
    line = moment.lines[-1].model_copy(update={"complaint": "You do like that question."})
    moment = moment.model_copy(update={"lines": (*moment.lines[:-1], line)})
    words_of_it = "He read the names"
    echo = Echo(f"{words_of_it}.", words_of_it, 0, len(words_of_it), 0, True, f"{words_of_it}.")
    advice = Advice(said=[Said(f"{words_of_it}. Tell me more about that.", echo, 2.4, 2.4)])
    assert next(iter(wordings(moment, advice=advice))).startswith("He read the names")
    tired = line.model_copy(update={"complaint": "You always want more, and give me my own words back."})
    moment = moment.model_copy(update={"lines": (*moment.lines[:-1], tired)})
    assert not next(iter(wordings(moment, advice=advice))).startswith("He read the names")


def test_at_the_end_of_a_story_what_else_has_stayed_is_asked() -> None:
    story = METHODS["critical_incident"]
    told = "I got my coat and drove home, and he had the supper on the table. That was the day, really."
    first = request("critical_incident", story.strategy("deepen_narrative"), label="supper", answer=told)
    assert compose(first) not in phrasing("en").back_to_story
    before = ("What happened?", "Who was there?", "What was said?", "How long was it?")
    asked = first.model_copy(update={"all_questions": before, "recent_questions": before})
    assert compose(asked) in phrasing("en").back_to_story


@pytest.mark.parametrize(
    ("told", "sorry"),
    [
        ("It was the wife's writing. She's been gone nine years.", True),
        ("I meant to tell him on the Sunday. He was killed on the Saturday.", True),
        ("She took them round the week after, and that went on until Mrs Brandt died.", False),
        ("For some years after she died I was ashamed. I thought of it every day, and now I don't.", False),
        ("I was worried that he is dead too, and he sat in the front row as always and waved.", False),
        ("I came back after four days, and her bed was empty. She'd died on the Sunday.", True),
        ("Jean had died in the spring, with only a few at the grave.", True),
        ("I said that she's dead. I laughed. She'd have liked that one. Would have taken it, too.", False),
        ("He'd hardly been past his gate since Jean died. And I thought I was doing him the favour.", False),
        (
            "I told them on the phone that she's dead. Then he offered me three months at half price, and I laughed.",
            False,
        ),
    ],
)
def test_a_death_is_answered_and_laughter_is_not(told: str, sorry: bool) -> None:
    assert compose(deepening(answer=told)).startswith("I'm sorry") == sorry


def test_death_that_the_model_alone_hears_is_answered_once() -> None:
    told = "There were four of us at that table then. I lay three places and put one back."
    heard = Advice(losses=("I lay three places and put one back.",))
    assert not compose(deepening(answer=told)).startswith("I'm sorry")
    assert compose(deepening(answer=told), advice=heard).startswith("I'm sorry")
    for since, again in ((("I'm sorry. What was she like?",), False), (("I'm sorry.", *("And?",) * 5), True)):
        asked = deepening(answer=told, recent=since)
        assert compose(asked, advice=heard).startswith("I'm sorry") == again


def test_one_of_the_family_is_named_whose_death_the_model_alone_hears() -> None:
    told = "We had my dad at home for three weeks. The bed went back on the Monday after."
    sorry = compose(deepening(answer=told), advice=Advice(losses=("We had my dad at home for three weeks",)))
    assert sorry.startswith("I'm sorry about your dad.")


@pytest.mark.parametrize(
    ("before", "told", "sorry"),
    [
        ("We had a shop.", "I gave it up after my dad died, it was too big for one.", True),
        ("My dad died in May.", "I gave it up after my dad died, it was too big for one.", False),
        ("We had a shop.", "I gave it up after the old man died, it was too big for one.", False),
    ],
)
def test_what_was_after_a_death_tells_of_it_where_nothing_did_before(before: str, told: str, sorry: bool) -> None:
    lines = [("respondent", before), ("interviewer", "And then?"), ("respondent", told)]
    asked = deepening(answer=told).model_copy(
        update={"lines": tuple(Line(speaker=who, text=text) for who, text in lines)}  # type: ignore[arg-type]
    )
    assert compose(asked).startswith("I'm sorry") == sorry


def test_a_complaint_in_a_story_leads_to_the_story_and_not_to_the_topic() -> None:
    story = METHODS["critical_incident"]
    told = request("critical_incident", story.strategy("follow_guide"), answer="I said that.", complained=True)
    assert compose(told) in phrasing("en").back_to_story


@pytest.mark.parametrize(
    ("answers", "part", "named"),
    [
        (
            ("My dad had a bad back.", "It was all he ever did, and my dad was known for it. Then it went. I was ten."),
            "your dad",
            True,
        ),
        (
            ("I drive.", "It was all he ever did, and my dad was known for it. Then it went. I was ten."),
            "your dad",
            False,
        ),
        (
            ("The door was shut.", "I went up to it and the door was shut. Then I went home. It was late by now."),
            "the door",
            False,
        ),
    ],
)
def test_question_in_a_story_may_name_somebody_who_came_up_again_and_again(
    answers: tuple[str, ...], part: str, named: bool
) -> None:
    lines = tuple(Line(speaker="respondent", text=text) for text in answers)
    happening = next(one for one in METHODS["critical_incident"].strategies if one.node_binding == "required")
    fields: dict[str, Any] = {"label": part, "focus_is_last_said": True, "focus_rendering": Rendering(part=part)}
    asked = request("critical_incident", happening, **fields).model_copy(update={"lines": lines})
    texts = list(questions.wordings(asked, plain=True))
    assert any(text in (f"Tell me a bit more about {part}.", f"Tell me more about {part}.") for text in texts) == named
    again = asked.model_copy(update={"all_questions": (f"Tell me more about {part}.",)})
    assert not any(text == f"Tell me a bit more about {part}." for text in questions.wordings(again, plain=True))


def told(answers: tuple[str, ...], **fields: Any) -> QuestionRequest:
    lines = tuple(Line(speaker="respondent", text=text) for text in answers)
    return deepening(**fields).model_copy(update={"lines": lines})


@pytest.mark.parametrize(
    ("answers", "asks"),
    [
        (("I row now.", "Don't run any more. Bernd showed me."), True),
        (("Bernd is there every day.", "Don't run any more. Bernd showed me."), False),
        (("I row now.", "My friend Bernd showed me how to row."), False),
        (("I row now.", "Bernd is my neighbour, and he showed me."), False),
    ],
)
def test_somebody_who_is_named_and_not_introduced_is_asked_about(answers: tuple[str, ...], asks: bool) -> None:
    asked = told(answers, label="Bernd showed me", focus_rendering=Rendering(part="Bernd"))
    assert ("Who is Bernd?" in list(wordings(asked, plain=True))[:2]) == asks


@pytest.mark.parametrize(
    ("answer", "waits"),
    [
        ("It was the sitting there before. That was, um... I don't know how to put it.", True),
        ("It was the sitting there, um.", True),
        ("I didn't know how to put it, so I wrote four drafts of it.", False),
    ],
)
def test_somebody_who_looks_for_words_is_given_time(answer: str, waits: bool) -> None:
    assert compose(told((answer,), label="sitting there")).startswith("Take your time.") == waits


@pytest.mark.parametrize(
    ("answer", "sorry"),
    [
        ("Drove on for weeks. Then Darek died.", True),
        ("I came back to it when Margaret did die, in the same hospital.", True),
        ("He was my friend. He's dead.", True),
        ("I took it that she had died. I sat down on the chair beside the bed.", False),
        ("Then the battery died and I went home on foot.", False),
        ("We waited until it died down and went home on foot.", False),
    ],
)
def test_death_is_answered_for_where_somebody_died(answer: str, sorry: bool) -> None:
    assert compose(told((answer,), label="went home")).startswith("I'm sorry.") == sorry


def test_nobody_is_asked_what_bothers_them_about_a_person() -> None:
    form = Form(ask="What is it about {thing} that bothers you most?")
    for thing, asked in (("Darek", False), ("your friend", False), ("that noise", True)):
        request = deepening(label=thing, focus_rendering=Rendering(thing=thing)).model_copy(update={"forms": (form,)})
        assert any("bothers" in text for text in wordings(request, plain=True)) == asked


@pytest.mark.parametrize(
    ("answers", "thing", "asked"),
    [
        (("I cried on the bus.", "My brother came and sat there."), "your brother", False),
        (("I cried in front of my brother.", "My brother came and sat there."), "your brother", True),
        (("I was alone in the van.", "I ate in the van and sat there."), "the van", False),
    ],
)
def test_only_somebody_who_came_up_again_is_asked_about_by_themselves(
    answers: tuple[str, ...], thing: str, asked: bool
) -> None:
    forms = (Form(ask="Tell me about {thing}."), Form(ask="What was that like for you?"))
    request = told(answers, label="sat there", focus_rendering=Rendering(thing=thing))
    more = request.model_copy(update={"forms": forms})
    assert (f"Tell me about {thing}." in wordings(more, plain=True)) == asked


def test_piece_of_a_long_answer_is_not_said_back() -> None:
    long = (
        "I had to pick the fruit and keep out of the way, it was my wife who made the jam for forty-four years. Then I "
        "stood there with her notebook, sugar as always, and it ran down my face."
    )
    for answer, named in ((long, False), ("I had to pick the fruit.", True)):
        asked = told((answer,), label="had to pick the fruit", focus_is_last_said=False)
        assert ("pick" in compose(asked)) == named


def test_topic_is_not_turned_to_past_what_moves_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_promise", lambda choice, told, said: 1.0)
    monkeypatch.setattr(questions, "_weight", lambda choice: 0.0)
    for answer, turned in (("I was so ashamed of that, standing there.", 1), ("We took the bus, standing there.", 0)):
        lines = {"lines": (Line(speaker="respondent", text=answer),)}
        choices = [leaving().model_copy(update=lines), deepening(label="standing there").model_copy(update=lines)]
        assert OfflineQuestionWriter().preferred_sync(choices, [0.0, 0.0]) == turned


def test_complaint_with_something_new_in_it_is_asked_on_about() -> None:
    short = "I told you that already."
    long = (
        f"{short} When I got in I put the shirt in his drawer, which I had emptied the week before for nobody in "
        "particular, and it is there now, and I have not opened that drawer since."
    )
    probes = tuple(phrasing("en").probes)
    assert compose(told((long,), label="the shirt", complained=True, follows_reply=True)).startswith(probes)
    assert not compose(told((short,), label="already", complained=True, follows_reply=True)).startswith(probes)


def test_who_tells_a_little_beside_a_complaint_is_asked_to_go_on_with_it() -> None:
    beside = "My own words again. One night last autumn I knocked on his wall. Well. Most of a knock."
    moment = told((beside,), label="knocked on his wall", complained=True, follows_reply=True)
    hears_on = phrasing("en").hears_on
    asked = compose(moment)
    assert asked in hears_on
    assert check(asked, recent_questions=(), language="en", max_words=25, allowed_words=(beside,)) == []
    assert compose(moment.model_copy(update={"turned_away": True})) not in hears_on
    assert compose(moment.model_copy(update={"all_questions": (f"Sorry. {asked}",)})) not in hears_on
    assert compose(told(("My own words again.",), label="words", complained=True)) not in hears_on


@pytest.mark.parametrize(
    "answer",
    [
        "That's about as far down as it goes I think.",
        "There's nothing much under it. It is good in itself.",
        "It's peace and quiet that I can believe. That's it.",
        "There isn't any more in there, I have been through it enough times.",
        "It's practical, nothing deep.",
    ],
)
def test_who_has_no_more_to_tell_of_it_is_asked_about_something_else(answer: str) -> None:
    text = compose(told((answer,), label="peace and quiet"))
    assert any(was_asked(each, text) for each in phrasing("en").any_topic), text


def test_question_is_not_rephrased_as_what_came_next() -> None:
    own = METHODS["critical_incident"].strategies
    strategy = next(one for one in own if any(asks_story(form.ask) for form in one.templates["en"]))
    original = "What was it like for you when he behaved?"
    asked = request("critical_incident", strategy, kind="rephrase", label="he behaved", original=original)
    texts = list(wordings(asked, plain=True))
    assert texts and not any(asks_story(text) for text in texts)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("topic", ["what people eat between meals", "a day at an office counter", "buying a bed"])
@pytest.mark.parametrize("name", NAMES)
def test_opening_fits_the_topics_name(name: str, topic: str, seed: int) -> None:
    text = compose(request(name, METHODS[name].strategies[0], kind="opening", topic=topic, seed=seed, lines=()))
    assert topic in text
    assert "experience with a day" not in text
    assert "chose what" not in text and "choose what" not in text
    assert "chose buying" not in text and "choose buying" not in text


def test_what_nobody_lived_through_is_not_asked_for_as_an_experience() -> None:
    lived = "I looked after the box on Saturdays and I pulled the levers."
    other = "My dad was a signalman, and nobody was allowed on the stairs."
    found = [
        list(wordings(told((said,), focus_label=said[:-1], focus_quote=said[:-1], focus_time="past")))
        for said in (lived, other)
    ]
    places = [next((at for at, text in enumerate(one) if "What was that like" in text), 99) for one in found]
    assert places[0] < places[1]


def test_form_for_stories_is_asked_only_where_stories_are_asked_for() -> None:
    forms = (Form(ask="What else stayed with you?", stories=True), Form(ask="What else counts?", stories=False))
    asked = {
        name: compose(request(name, METHODS[name].strategies[0], forms=forms, focus_label=None))
        for name in ("critical_incident", "means_end_chain")
    }
    assert asked["critical_incident"].endswith("What else stayed with you?")
    assert asked["means_end_chain"].endswith("What else counts?")


def test_clause_is_said_back_where_a_form_asks_for_it_and_left_out_where_it_cannot() -> None:
    forms = (Form(ask="{said} What hangs on that, for you?"),)
    strategy = METHODS["means_end_chain"].strategies[0].model_copy(update={"node_binding": "none"})
    whole = request("means_end_chain", strategy, forms=forms, focus_label="If they come late, I don't pay")
    assert "If they come late, you don't pay. What hangs on that, for you?" in list(wordings(whole))
    piece = request("means_end_chain", strategy, forms=forms, focus_label="Not in the small print")
    assert not any("small print" in text or "{said}" in text for text in wordings(piece))


def _strategy(method: str, name: str) -> Strategy:
    return next(one for one in METHODS[method].strategies if one.name == name)


def worth_of(kind: str, asked: QuestionRequest, **ratings: float) -> float:
    """What the best wording of a kind of probe is worth, where moderators are expected to rate the kinds like this."""
    speaking, about = phrasing("en"), questions._phrase_of(asked)
    found = questions._best(asked, speaking, about, questions._telling(asked), Advice(ratings=ratings))
    return max(value for value, text in found if kind_of(text) == kind)


def test_how_it_went_on_is_asked_less_late_in_an_interview() -> None:
    own = METHODS["critical_incident"].strategies
    strategy = next(one for one in own if any(asks_story(form.ask) for form in one.templates["en"]))
    answer = "He put the harness in his hands and went over every buckle. Then he went in."
    early = request("critical_incident", strategy, label="went in", answer=answer, focus_is_last_said=True)
    late = early.model_copy(update={"all_questions": tuple(f"Who was number {number}?" for number in range(LATE))})
    half = early.model_copy(update={"all_questions": tuple(f"Who was number {number}?" for number in range(HALFWAY))})
    told = STORY_TOLD + TOLD_BY_THEN["then"]
    assert worth_of("then", half, then=2.0) == pytest.approx(worth_of("then", early, then=2.0) - STORY_TOLD)
    assert worth_of("then", late, then=2.0) == pytest.approx(worth_of("then", early, then=2.0) - told)
    assert worth_of("more", half, more=2.0) == pytest.approx(worth_of("more", early, more=2.0))
    assert worth_of("more", late, more=2.0) < worth_of("more", early, more=2.0)


def promising(rating: float, *, most: float = 0.0) -> Advice:
    return Advice(ratings=dict.fromkeys(questions.STAYS, rating), most=most)


def late(answer: str, *asked: str, **changes: Any) -> QuestionRequest:
    strategy = _strategy("means_end_chain", "deepen")
    made = request("means_end_chain", strategy, label="wool socks", answer=answer, focus_is_last_said=True)
    before = tuple(f"Who was number {number}?" for number in range(LATE - len(asked)))
    return made.model_copy(update={"all_questions": (*before, *asked), **changes})


def test_where_nothing_promises_much_late_in_an_interview_it_is_asked_what_else_there_is() -> None:
    asked = late("They're wool socks, I bought them at the market.")
    assert WHAT_ELSE.search(compose(asked, advice=promising(LITTLE - 0.1)))
    assert not WHAT_ELSE.search(compose(asked, advice=promising(LITTLE + 0.4)))
    early = asked.model_copy(update={"all_questions": asked.all_questions[:3]})
    assert not WHAT_ELSE.search(compose(early, advice=promising(LITTLE - 0.1)))
    again = late(
        "They're wool socks, I bought them at the market.", "What else do you think of when it comes to socks?"
    )
    assert not WHAT_ELSE.search(compose(again, advice=promising(LITTLE - 0.1)))


def test_what_else_there_is_is_not_asked_while_something_could_be_said_back_or_after_what_weighs() -> None:
    asked = late("They're wool socks, I bought them at the market.")
    assert not WHAT_ELSE.search(compose(asked, advice=promising(0.5, most=LITTLE + 0.1)))
    heavy = late("My mother knitted them. I felt so guilty when she died.")
    assert not WHAT_ELSE.search(compose(heavy, advice=promising(0.5)))
    much = late("They're wool socks. " + "My aunt sells them at the market by the bridge. " * 4)
    assert not WHAT_ELSE.search(compose(much, advice=promising(0.5)))


class Foresees:
    """Advises with the same promise at every moment."""

    knows_worth = True

    def __init__(self, rating: float) -> None:
        self.rating = rating

    def on(self, request: QuestionRequest) -> Advice:
        return promising(self.rating)


def test_little_is_found_only_when_what_else_there_is_was_asked() -> None:
    answer, broad = "They're wool socks, I bought them at the market.", "What else matters to you about socks?"
    poor, rich = (OfflineQuestionWriter(adviser=Foresees(rating)) for rating in (0.5, 2.5))  # type: ignore[arg-type]
    assert poor.finds_little_sync(late(answer, broad))
    assert not poor.finds_little_sync(late(answer))
    assert not rich.finds_little_sync(late(answer, broad))
    assert not poor.finds_little_sync(late("My mother knitted them. I felt so guilty when she died.", broad))
    assert poor.finds_little_sync(late(answer, stimulus="Two lamps."))


def test_why_something_matters_is_hardly_asked_outright() -> None:
    strategy = _strategy("means_end_chain", "deepen")
    asked = request("means_end_chain", strategy, label="wool socks", focus_is_last_said=True)
    gains = questions._gains(asked, Advice(ratings={"matter": 2.0, "more": 2.0}))
    assert gains["matter"] < gains["more"] - 1
    assert questions._gains(asked, Advice())["gives"] < -1


@pytest.mark.parametrize(
    ("answer", "before"),
    [
        ("I put them on to take the bins out. I've told nobody that.", "Thank you for telling me that."),
        ("I'd have liked to sing it for him. I don't think I've told anybody that.", "Thank you for telling me that."),
        ("She was fine by then. I'm a nurse, I manage. But I cried afterwards.", "I'm sorry."),
        ("I sat on the wall and had a bit of a cry. The blackbird didn't mind.", "I'm sorry."),
        ("I've not told that to many people. It was the coffee that did it.", "Thank you for telling me that."),
        ("She lay on the landing from two until I came in. I had the keys.", "I'm sorry."),
        ("He had a stroke at Easter. We sold the boat.", "I'm sorry."),
    ],
)
def test_what_nobody_was_told_and_tears_are_answered_once(answer: str, before: str) -> None:
    strategy = _strategy("critical_incident", "deepen_narrative")
    asked = request("critical_incident", strategy, label="the bins", answer=answer, turn=5)
    assert next(iter(wordings(asked))).startswith(before)
    again = asked.model_copy(update={"all_questions": (f"{before} And then?", "What was that like?")})
    assert not next(iter(wordings(again))).startswith(before)


@pytest.mark.parametrize(
    "answer",
    ["We laughed till I cried.", "She cried for an hour.", "I told him that.", "The cat lay on the floor all day."],
)
def test_other_tears_and_other_confidences_are_not(answer: str) -> None:
    strategy = _strategy("critical_incident", "deepen_narrative")
    asked = request("critical_incident", strategy, label="an hour", answer=f"We went home. {answer}", turn=5)
    assert not next(iter(wordings(asked))).startswith(("Thank you", "I'm sorry"))


@pytest.mark.parametrize(
    ("asked", "said", "weary"),
    [
        ("Tell me a bit more about that.", "Tell me more, she says. Haven't you got another one?", True),
        ("It was cold. Say a little more about that.", "well i am, if i come in. you keep saying tell me more", True),
        ("It was cold. Tell me more about that.", "You do like that one, don't you. I rang her.", True),
        ("It was cold. Tell me more about that.", "I asked for more and she gave me the whole pan.", False),
        ("It was cold. Tell me more about that.", "I earn a bit more now. So I bought that one.", False),
        ("It was cold. Tell me more about that.", "He wouldn't tell me more. I left.", False),
        ("What was that like for you?", "Tell me more, she says. Haven't you got another one?", False),
    ],
)
def test_who_is_tired_of_being_asked_for_more_is_not_asked_for_it(asked: str, said: str, weary: bool) -> None:
    request = told((said,), label="rang her")
    lines = (Line(speaker="interviewer", text=asked), *request.lines)
    heard = request.model_copy(update={"lines": lines, "all_questions": (asked,)})
    assert is_weary_of_more(heard) == weary
    assert (questions._worn(heard)["more"] >= WEARY) == weary


def test_who_complains_of_being_asked_for_more_is_asked_what_promises_most_of_the_rest() -> None:
    asked, complaint = "It was cold. Tell me more about that.", "There you go again!"
    said = f"{complaint} We waited two hours on the stairs, and nobody came to open that door."
    request = told((said,), label="waited two hours", complained=True, follows_reply=True)
    answer = request.lines[0].model_copy(update={"complaint": complaint})
    lines = (Line(speaker="interviewer", text=asked), answer)
    heard = request.model_copy(update={"lines": lines, "all_questions": (asked,)})
    ratings = dict.fromkeys(("then", "like", "means", "mind"), 0.5) | {"like": 1.9}
    assert kind_of(compose(heard, advice=Advice(ratings=ratings))) == "like"
    assert compose(heard, advice=Advice(ratings=dict.fromkeys(ratings, 0.5))) in phrasing("en").hears_on


def test_how_it_went_on_is_asked_less_where_the_answer_ends_with_what_is() -> None:
    ratings = {"then": 1.5, "more": 1.5}
    ends = (("The dress is still hanging in its plastic.", True), ("We put the dress back in its plastic.", False))
    gains = {
        less: questions._gains(told((f"She bought it in May. {end}",), label="bought it"), Advice(ratings=ratings))
        for end, less in ends
    }
    assert gains[True]["then"] == pytest.approx(gains[False]["then"] - NOTHING_NEXT)
    assert gains[True]["more"] == gains[False]["more"]


def test_question_that_would_seem_to_be_about_what_was_just_answered_is_worth_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moment, speaking = deepening(label="waited two hours").model_copy(update={"follows_reply": True}), phrasing("en")

    def worth() -> dict[str, float]:
        about, told = questions._phrase_of(moment), questions._telling(moment)
        return {text: value for value, text in questions._best(moment, speaking, about, told, Advice())}

    less = worth()
    monkeypatch.setattr(questions, "UNCLEAR", 0.0)
    plain = worth()
    assert any(less[text] < plain[text] for text in plain)
    assert all(questions._POINTS.search(text) for text in plain if less[text] < plain[text])


def test_what_somebody_had_enough_of_is_worth_less() -> None:
    said = "Mah, you ask me always what it was like! It's like I said, heavy, a stone."
    strategy = _strategy("critical_incident", "deepen_narrative")
    asked = request("critical_incident", strategy, label="a stone", answer=said)
    lines = (Line(speaker="interviewer", text="What was that like for you?"), Line(speaker="respondent", text=said))
    grumbled = asked.model_copy(update={"lines": lines})
    mild = asked.model_copy(update={"lines": (lines[0], Line(speaker="respondent", text="It was heavy, a stone."))})
    assert questions._worn(grumbled)["like"] == pytest.approx(questions._worn(mild)["like"] + SPURNED)


def test_probe_that_was_complained_of_in_whatever_words_is_worth_less() -> None:
    said = "Third time philosophy. It means the bread is good."
    asked = request("critical_incident", _strategy("critical_incident", "deepen_narrative"), label="the bread")
    question = Line(speaker="interviewer", text="What does that mean to you?")
    mild = asked.model_copy(update={"lines": (question, Line(speaker="respondent", text=said))})
    heard = asked.model_copy(
        update={"lines": (question, Line(speaker="respondent", text=said, complaint="Third time philosophy."))}
    )
    assert questions._worn(heard)["means"] == pytest.approx(questions._worn(mild)["means"] + SPURNED)


def test_complaint_of_what_was_said_back_is_not_of_the_probe_behind_it() -> None:
    asked = request("critical_incident", _strategy("critical_incident", "deepen_narrative"), label="the stairs")
    question = Line(speaker="interviewer", text="You sat down on the stairs. Tell me a bit more about that.")
    of_choice = Line(speaker="respondent", text="Thirteen of them.", complaint="They are stairs.")
    of_probe = Line(speaker="respondent", text="Thirteen.", complaint="You always say that, tell me a bit more.")
    mild, again = (asked.model_copy(update={"lines": (question, line)}) for line in (of_choice, of_probe))
    assert questions._worn(mild).get("more", 0.0) == 0.0
    assert questions._worn(again)["more"] == pytest.approx(SPURNED + WEARY)


def test_what_somebody_had_enough_of_is_worth_less_for_the_rest_of_the_interview() -> None:
    said = "Mah, you ask me always what it was like! It's like I said, heavy, a stone."
    asked = request("critical_incident", _strategy("critical_incident", "deepen_narrative"), label="the gate")
    before = (Line(speaker="interviewer", text="What was that like for you?"), Line(speaker="respondent", text=said))
    since = (*before, *asked.lines, *asked.lines)
    long_ago = asked.model_copy(update={"briefing": Briefing(conversation=since)})
    assert questions._worn(long_ago)["like"] == pytest.approx(questions._worn(asked)["like"] + SPURNED)


def test_who_wants_to_leave_a_story_is_not_asked_to_think_back_to_it() -> None:
    strategy = _strategy("critical_incident", "deepen_narrative")
    asked = request("critical_incident", strategy, label="this night", answer="Please, not more about this night.")
    late = asked.model_copy(update={"all_questions": tuple(f"Who was number {number}?" for number in range(LATE))})
    away = late.model_copy(update={"turned_away": True})
    back = phrasing("en").back_to_story
    assert not any(was_asked(text, compose(away)) for text in back)
    assert set(questions._elsewhere(late, phrasing("en"))) <= set(back)


def test_a_reason_that_is_there_is_asked_for() -> None:
    said = "Mine hasn't been out since a year ago November. There's a reason for that, and my daughter doesn't know it."
    asked = request("means_end_chain", _strategy("means_end_chain", "deepen"), label="a reason", answer=said)
    assert "What is the reason?" in list(wordings(asked))[:3]


def test_nothing_of_what_somebody_says_who_composed_themselves_is_asked_about() -> None:
    said = "No, no, you're kind, I'm all right. I've got a hanky. We can carry on."
    strategy = _strategy("critical_incident", "deepen_narrative")
    asked = request("critical_incident", strategy, label="a hanky", answer=said, composed=True, follows_reply=True)
    assert next(iter(wordings(asked))) in phrasing("en").back_to_story


def test_what_moderators_are_expected_to_think_outweighs_the_ranker() -> None:
    favourite, other = 2.5, 1.5
    assert questions._weighed(favourite, None) == favourite
    assert questions._weighed(favourite, -0.3) < questions._weighed(other, 0.3) < questions._weighed(favourite, 0.3)


@pytest.mark.parametrize("turn", range(3, 9))
def test_who_leaves_a_subject_is_not_asked_a_general_question_for_the_second_time(turn: int) -> None:
    general = [text.replace("{topic}", TOPICS["means_end_chain"]) for text in phrasing("en").any_topic]
    before, last = tuple(general[:-1]), general[-1]
    asked = deepening(turn=turn, turned_away=True, all_questions=before, recent_questions=())
    assert compose(asked).endswith(last)


def test_what_something_means_is_worth_less_right_after_it_was_asked() -> None:
    def gain(*asked: str) -> float:
        return questions._gains(deepening(all_questions=asked), Advice(ratings={"means": 2.0}))["means"]

    meant = "And what does that mean for you?"
    assert gain(meant) < gain(meant, "And then?", "Tell me about it.") == gain("Tell me about it.")


@pytest.mark.parametrize(
    ("answer", "wished"),
    [
        ("Somebody had thanked her, and I had not. You will have to ask me for what.", True),
        ("I have just told you that she was eleven days in the ground. Might you ask me about the letter?", True),
        ("Somebody had thanked her, and I had not. She asked me for the letter.", False),
        ("I sat there in years. I'd rather you asked about the letter now.", True),
        ("It's how it was. I suppose I could tell you about the letter, that's what it's about.", True),
    ],
)
def test_who_asks_to_be_asked_is_asked_whatever_else_was_to_come(answer: str, wished: bool) -> None:
    strategy = _strategy("critical_incident", "deepen_narrative")
    jump = request("critical_incident", strategy, label="the bureau", answer=answer, focus_is_jump=True)
    assert next(iter(wordings(jump))).endswith(("Please tell me.", "Tell me about the letter.")) == wished


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ("It was a lovely day really. Well, most of it.", "Most of it. And the rest?"),
        ("He told the whole street, and they came. Well, most of them, anyway.", "Most of them. And the others?"),
        ("It was the queue at eight in the morning. Mostly that.", "Mostly. And the rest?"),
        (
            "I rang the site manager and filled in the form. Not straight away, mind.",
            "Not straight away. What was before that?",
        ),
        ("I didn't go round. Not that day, anyway.", "Not that day. And later?"),
        ("I just didn't say anything. Well, not to mum anyway.", "Not to mum. Who did you tell?"),
        (
            "I didn't want to look at him. That's not even the worst one.",
            "What was the worst of it, if you'd like to say?",
        ),
        ("I couldn't look him in the face. I had my reasons.", "What were they, if you'd like to say?"),
        (
            "I stood in the sluice ten minutes. You can guess what I was thinking.",
            "I'd rather hear it from you. What was it, if you'd like to say?",
        ),
        ("The day he left was a Saturday, and it went totally different than I thought.", "How did it go, then?"),
        (
            "She told me about the hedge. There was a card as well, but never mind.",
            "You said never mind. I'd like to hear it, if you'd like to tell it.",
        ),
        ("Neither of us wrote since. Not properly, anyway.", "Not properly. How, then?"),
        ("I said it's the dog's, I can't. That wasn't really about the dog.", "What was it about, then?"),
        ("People tell me that. They don't know the rest of it.", "What is the rest of it, if you'd like to say?"),
        ("No, that's what other people say. That's not the bit.", "What is it that matters there?"),
        ("It's not as lonely as people think. Tuesdays are different, but", "You said but. How does it go on?"),
        ("I let him think it was her. I've not told anyone that.", "What is it like to have said it now?"),
        ("It was never found. There, I have not said that before.", "What is it like to have said it now?"),
        ("Then it would be me who closed it. I hadn't thought of it like that until now.", HEARD_SAY),
        ("He stopped me before I was done. The stopping wasn't what bothered me.", "What was it, then?"),
    ],
)
def test_what_is_left_open_at_the_end_is_asked_for_once(answer: str, asked: str) -> None:
    request_ = deepening(answer=answer)
    assert compose(request_).removeprefix("Thank you for telling me that. ") == asked
    again = request_.model_copy(update={"all_questions": (asked,)})
    assert not compose(again).endswith(asked)


@pytest.mark.parametrize(
    "answer",
    [
        "I've never told anyone to do that again.",
        "He kept it from me. He never told anyone that.",
        "Nobody knows how it ends, they all just sit there.",
        "It wasn't what I wanted, and I hadn't thought about it before.",
        "Mostly.",
        "Most of it was paid by the union, and we never saw a bill.",
        "She never minded the noise, and I never minded her.",
        "I didn't go round that day, and not the next either, but I wrote.",
        "He had his reasons, and they were good ones.",
    ],
)
def test_what_only_sounds_left_open_is_asked_about_as_else(answer: str) -> None:
    texts = (
        "have said it",
        HEARD_SAY,
        "What was it, then",
        "And the rest?",
        "never mind",
        "You said but",
        "And later?",
        "What were they",
    )
    assert not any(text in compose(deepening(answer=answer)) for text in texts)


def test_sympathy_is_not_said_again_with_a_question_in_other_words() -> None:
    asked = "I'm sorry. Tell me a bit more about that."
    again = request("means_end_chain", None, kind="rephrase", answer="sorry for the dog or for asking", original=asked)
    assert "sorry" not in compose(again)


def test_what_else_there_is_is_not_asked_twice_of_who_tells_something() -> None:
    told = "Not a lot really. There's not much more to it. My daughter said that it was pasta again."
    bound = next(each for each in METHODS["critical_incident"].strategies if each.node_binding == "required")
    before = request("critical_incident", bound, label="pasta again", answer=told, all_questions=("What then?",) * 10)
    assert WHAT_ELSE.search(compose(before))
    just = (*["What then?"] * 9, "What else from that time has stayed with you?")
    assert not WHAT_ELSE.search(compose(before.model_copy(update={"all_questions": just})))


@pytest.mark.parametrize(
    ("text", "misled"),
    [
        ("You said earlier that your daughter gets fed by a pump. What went through your mind at that moment?", True),
        ("You told me a while ago that she eats late. What was that like for you?", True),
        ("You said earlier that your daughter gets fed by a pump. Say a little more about that.", False),
        ("You said earlier that the pump broke. What went through your mind at that moment?", False),
        ("What went through your mind at that moment?", False),
    ],
)
def test_nobody_is_led_back_to_what_is_always_so_and_asked_of_a_moment(text: str, misled: bool) -> None:
    assert asks_of_no_moment(text, "en") == misled
    assert not asks_of_no_moment(text, "de")


def test_what_pointed_at_several_things_is_not_said_again_in_other_words() -> None:
    asked = request("means_end_chain", None, kind="rephrase", original="How does that make you feel?", answer="Calm.")
    assert "the one that matters most" in compose(asked)
    plain = request(
        "means_end_chain", None, kind="rephrase", original="What matters to you about them?", answer="Calm."
    )
    assert "the one that matters most" not in compose(plain)
    bound = next(each for each in METHODS["means_end_chain"].strategies if each.node_binding == "required")
    piece = request(
        "means_end_chain",
        bound,
        kind="rephrase",
        label="I eat it",
        original="How is that for you?",
        answer="So I eat it.",
    )
    assert "“I eat it”" not in compose(piece)


def test_who_leaves_what_was_asked_is_not_asked_again_what_else_there_is() -> None:
    broad = "What else from that time has stayed with you?"
    left = late("Nothing much, that was it.", broad).model_copy(update={"spent": True})
    assert _repeats_what_else(left)
    assert not _repeats_what_else(late("Nothing much, that was it.").model_copy(update={"spent": True}))
    assert not _repeats_what_else(left.model_copy(update={"stimulus": "Two lamps."}))
    assert not _repeats_what_else(late("We had a whiteboard on the fridge once.", broad))


@pytest.mark.parametrize("replied", [True, False])
def test_that_it_is_put_differently_is_said_once(replied: bool) -> None:
    asked = request("critical_incident", None, answer="And then what?", turn=5).model_copy(
        update={"kind": "rephrase", "original": "", "follows_reply": replied}
    )
    assert any("more simply" in text.casefold() for text in wordings(asked)) is not replied


@pytest.mark.parametrize(
    ("end", "sorry"),
    [
        ("I was embarrassed, looking back. Sorry, that's probably more than you wanted.", True),
        ("And I feel like a complete fraud. Sorry, I do go on.", True),
        ("I'm rambling.", True),
        ("I'm not sure what that's got to do with vegetables, sorry.", True),
        ("Sorry, I wasn't going to talk about that.", True),
        ("He said sorry, and I went home.", False),
        ("They were sorry about the delay.", False),
    ],
)
def test_who_is_sorry_for_telling_so_much_is_told_that_there_is_no_need(end: str, sorry: bool) -> None:
    asked = deepening(answer=f"I moved out in the spring and took the car. {end}")
    text = next(iter(wordings(asked, advice=Advice())))
    assert text.startswith("There's no need to be sorry.") == sorry
    again = asked.model_copy(update={"all_questions": (text,), "recent_questions": (text,)})
    assert not next(iter(wordings(again, advice=Advice()))).startswith("There's no need to be sorry.")


@pytest.mark.parametrize(
    ("answer", "advised", "weighs"),
    [
        ("The key was in my pocket all the time. I still have the ten pounds that he gave me.", True, True),
        ("The key was in my pocket all the time. I still have the ten pounds that he gave me.", False, False),
        ("Jo was asleep and I stood there in the hall. I've never told anybody.", False, True),
        (
            "The key was in my pocket all the time. I still have the ten pounds that he gave me. That's all.",
            True,
            False,
        ),
        ("I still have the ten pounds.", True, False),
        ("I sat down on the wall by the gate on the Monday, and I had a bit of a cry.", True, False),
    ],
)
def test_what_weighs_so_much_is_asked_about_before_the_end(answer: str, advised: bool, weighs: bool) -> None:
    told = "I still have the ten pounds"
    echo = Echo("You still have the ten pounds.", told, answer.find(told), answer.find(told) + len(told), 0, True, told)
    advice = Advice(foremost=Said(echo.text, echo, WORTH_BACK, WORTH_BACK)) if advised else Advice()
    asked = closing(answer)
    found = left_to_tell(asked, phrasing("en"), telling_of((answer,), phrasing("en")), advice)
    assert bool(found) == weighs
    assert found in answer
    for put_out in ({"complained": True}, {"turned_away": True}, {"spent": True}):
        other = asked.model_copy(update=put_out)
        assert not left_to_tell(other, phrasing("en"), telling_of((answer,), phrasing("en")), advice)


def test_who_had_not_expected_the_end_is_asked_on_and_told_that_there_is_time() -> None:
    answer = "Oh, are we stopping already? Well, there's one more thing. I told her she could take Ella."
    last = closing(answer).model_copy(update={"after_closing": True})
    assert left_to_tell(last, phrasing("en"), telling_of((answer,), phrasing("en")), Advice())
    assert "We don't have to stop yet. " in compose(last)
    assert "We don't have to stop yet. " not in compose(closing(answer))


def closing(answer: str) -> QuestionRequest:
    """The request for the closing question behind an answer."""
    method = METHODS["means_end_chain"]
    close = next(strategy for strategy in method.strategies if strategy.generates_closing_question)
    return request("means_end_chain", close, kind="closing", answer=answer)


def test_who_breaks_off_and_asks_something_is_answered_and_not_told_to_look_for_words() -> None:
    asked = deepening(answer="The sleeve I would leave exactly as it is. On a ward, felt, that's a bit...")
    hesitating = phrasing("en").hesitating
    assert compose(asked).endswith(hesitating)
    assert not compose(asked.model_copy(update={"reply": "I know no more than that."})).endswith(hesitating)
