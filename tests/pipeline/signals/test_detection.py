"""Signals as a running interview gives them."""

from __future__ import annotations

from structlog.testing import capture_logs

from pipeline.signals.registry import SIGNALS
from tests.support.interview import FixedRater, Interview, OwnSlots, concepts, configuration, small_methodology

ALL = {
    pool: [name for name in SIGNALS if name.startswith(pool)]
    for pool in ("graph.", "llm.", "temporal.", "meta.", "technique.", "guide.", "grid.")
}


def everything() -> Interview:
    methodology = small_methodology(signals={pool.strip("."): names for pool, names in ALL.items()})
    return Interview(configuration=configuration(methodology))


async def test_every_signal_is_detected_with_its_declared_type() -> None:
    interview = everything()
    for turn in range(4):
        found = concepts((f"a{turn}x", "attribute"), (f"c{turn}x", "consequence"), links=[(f"a{turn}x", f"c{turn}x")])
        outcome = await interview.say(f"turn {turn}", found)
    assert outcome.record is not None and outcome.record.signals is not None
    matrix = outcome.record.signals
    seen = {**matrix.values}
    seen.update({name: next(iter(column)) for name, column in matrix.nodes.signals.items()})
    seen.update({name: next(iter(by.values())) for name, by in matrix.strategies.items()})
    assert set(seen) == set(SIGNALS)
    for name, value in seen.items():
        signal = SIGNALS[name]
        if signal.type == "category":
            assert value in signal.values, name
        elif signal.type == "bool":
            assert isinstance(value, bool), name
        elif signal.type == "number":
            assert isinstance(value, float | int) and 0 <= value <= 1, name
        else:
            assert isinstance(value, int), name


async def test_rater_gets_the_question_just_asked() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute")))
    asked = interview.state.question
    await interview.say("two")
    assert asked is not None
    assert interview.rater.requests[-1].question == asked.text
    assert interview.rater.requests[0].question


async def test_rating_is_fresh_per_answer_and_kept_with_rationales() -> None:
    interview = Interview(rater=FixedRater(by_text={"same": 5}))
    await interview.say("same")
    await interview.say("same")
    assert len(interview.rater.requests) == 2
    kept = interview.last.record.ratings if interview.last.record else None
    assert kept is not None and kept.scores["response_depth"] == 5
    assert kept.rationales == {"response_depth": "The answer has a depth of 5."}


async def test_long_answer_is_rated_up_to_the_limit_and_the_cut_is_known() -> None:
    interview = Interview(configuration=configuration(rating_max_chars=100))
    with capture_logs() as lines:
        await interview.say("x" * 100)
    assert [line for line in lines if line["event"] == "rating.cut"] == []
    with capture_logs() as lines:
        await interview.say("y" * 150)
    assert interview.rater.requests[-1].text == "y" * 100
    (cut,) = [line for line in lines if line["event"] == "rating.cut"]
    assert (cut["log_level"], cut["rated_chars"], cut["said_chars"]) == ("warning", 100, 150)
    assert cut["session"] == interview.state.session_id


async def test_repeats_only_raise_low_info_to_eight() -> None:
    interview = Interview(configuration=configuration(low_info_limit=99, shallow_limit=99, depth_plateau_limit=99))
    interview.state = interview.state.model_copy(update={"max_turns": 30})
    found = concepts(("taste", "attribute"))
    await interview.say("start", found)
    for turn in range(8):
        interview.state = interview.state.model_copy(update={"status": "active"})
        await interview.say(f"again {turn}", found)
    assert interview.state.saturation.consecutive_low_info == 8


async def test_new_themes_only_is_zero_canonical_saturation() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute"), ("smell", "attribute")))
    assert interview.result.signals["meta.canonical.saturation"] == 0


async def test_old_theme_in_new_words_is_full_canonical_saturation() -> None:
    interview = Interview(slots=OwnSlots({"fast car": "speed", "quick vehicle": "speed"}))
    await interview.say("one", concepts(("fast car", "attribute")))
    await interview.say("two", concepts(("quick vehicle", "attribute")))
    assert interview.result.signals["meta.canonical.saturation"] == 1


async def test_session_in_another_process_gives_identical_signals() -> None:
    """Two runs of the same interview, one of them serialised between all turns and without its vectors."""
    kept, moved = everything(), everything()
    for turn in range(6):
        found = concepts((f"a{turn}x", "attribute"), ("shared", "consequence"), links=[(f"a{turn}x", "shared")])
        one = await kept.say(f"turn {turn}", found)
        moved.embeddings.clear()
        two = await moved.say(f"turn {turn}", found)
        assert one.record is not None and two.record is not None
        assert one.record.model_copy(update={"stages_ms": {}}) == two.record.model_copy(update={"stages_ms": {}})


async def test_focus_distance_counts_edges_from_the_last_focus() -> None:
    interview = everything()
    chain = concepts(
        *((name, "attribute") for name in ("n0x", "n1x", "n2x", "n3x", "n4x", "n5x")),
        links=[("n0x", "n1x"), ("n1x", "n2x"), ("n2x", "n3x"), ("n3x", "n4x")],
    )
    await interview.say("chain", chain)
    asked = interview.state.question
    outcome = await interview.say("nothing")
    assert asked is not None and outcome.record is not None and outcome.record.signals is not None
    columns = outcome.record.signals.nodes
    by_label = dict(zip(columns.labels, columns.signals["graph.node.focus_distance"], strict=True))
    order = ["n0x", "n1x", "n2x", "n3x", "n4x"]
    at = order.index(asked.focus_label or "") if asked.focus_label in order else None
    expected = {0: "self", 1: "near", 2: "related", 3: "related", 4: "far"}
    for position, label in enumerate(order):
        assert by_label[label] == ("far" if at is None else expected[abs(position - at)])
    assert by_label["n5x"] == ("self" if asked.focus_label == "n5x" else "far")


async def test_depth_goes_to_the_node_that_had_the_focus_when_the_question_was_asked() -> None:
    interview = Interview(rater=FixedRater(by_text={"two": 5}))
    await interview.say("one", concepts(("taste", "attribute")))
    asked = interview.state.question
    await interview.say("two", concepts(("smell", "attribute")))
    assert asked is not None
    state = next(s for s in interview.state.tracker.states if s.key == asked.focus_key)
    assert state.response_depths == ("deep",)


async def test_old_node_that_gains_an_edge_is_fresh_again() -> None:
    interview = Interview()
    await interview.say("one", concepts(("taste", "attribute")))
    key = interview.state.question.focus_key if interview.state.question else None
    for turn in range(3):
        await interview.say(f"other {turn}")
    waiting = next(s for s in interview.state.tracker.states if s.key == key)
    assert waiting.turns_since_last_yield >= 3
    await interview.say("link", concepts(("awake", "consequence"), links=[("taste", "awake")]))
    revived = next(s for s in interview.state.tracker.states if s.key == key)
    assert revived.turns_since_last_yield <= 1


def said_last(interview: Interview) -> dict[str, bool]:
    """Which concepts the newest answer said last, by label."""
    record = interview.last.record
    assert record is not None and record.signals is not None
    nodes = record.signals.nodes
    return {label: bool(last) for label, last in zip(nodes.labels, nodes.signals["graph.node.said_last"], strict=True)}


async def test_what_the_answer_said_last_is_known() -> None:
    interview = everything()
    await interview.say("one", concepts(("old", "attribute")))
    await interview.say("two", concepts(("first", "attribute"), ("last", "attribute")))
    assert said_last(interview) == {"old": False, "first": False, "last": True}
    await interview.say("hm")
    assert not any(said_last(interview).values())
