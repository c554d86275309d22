"""What a language model hears joins what the rules hear."""

from __future__ import annotations

from pipeline.acts import Act, HeardAct, words_of
from pipeline.conduct.joining import joined
from pipeline.ports import Rating, RatingRequest
from tests.support.interview import FixedRater, Interview, ScriptedReader, concepts, conduct_policy, configuration

TEXT = "It broke. I can't go on with this. Then I left."


class Hearing(FixedRater):
    """Rates, and hears an act."""

    def __init__(self, *acts: tuple[Act, str]) -> None:
        super().__init__()
        self.acts = acts

    async def rate(self, request: RatingRequest) -> Rating:
        return (await super().rate(request)).model_copy(update={"acts": self.acts})


def spans(acts: tuple[HeardAct, ...], text: str = TEXT) -> list[tuple[str, str, bool]]:
    return [(heard.act, words_of(text, heard).strip(), heard.sure) for heard in acts]


def test_stop_that_only_the_model_hears_is_asked_back() -> None:
    acts = joined(TEXT, (), [("wants_stop", "I can't go on with this.")])
    assert spans(acts) == [
        ("tells", "It broke.", True),
        ("wants_stop", "I can't go on with this.", False),
        ("tells", "Then I left.", True),
    ]


def test_stop_that_both_hear_is_sure() -> None:
    rules = (HeardAct(act="wants_stop", start=0, end=len(TEXT), sure=False),)
    assert [heard.sure for heard in joined(TEXT, rules, [("wants_stop", "It broke.")])] == [True]


def test_model_adds_distress_and_removes_nothing() -> None:
    rules = (HeardAct(act="wants_pause", start=0, end=9), HeardAct(act="tells", start=9, end=len(TEXT)))
    acts = joined(TEXT, rules, [("distress", "I can't go on with this."), ("distress", "not said")])
    assert [(heard.act, heard.sure) for heard in acts] == [
        ("wants_pause", True), ("distress", True), ("tells", True),
    ]  # fmt: skip


def test_acts_that_a_model_may_not_add_change_nothing() -> None:
    assert joined(TEXT, (), [("dont_know", "It broke."), ("personal_data", "It broke.")]) == ()


async def test_concept_of_words_that_do_not_tell_counts_no_more_and_the_act_is_answered() -> None:
    talk = Interview(
        configuration=configuration().model_copy(update={"conduct": conduct_policy()}),
        reader=ScriptedReader({}),
        rater=Hearing(("distress", "I can't go on with this.")),
    )
    found = concepts(("broke", "attribute"), ("go on with this", "attribute"))
    quoted = {"broke": "It broke.", "go on with this": "I can't go on with this."}
    found = found.model_copy(
        update={"concepts": tuple(one.model_copy(update={"quote": quoted[one.label]}) for one in found.concepts)}
    )
    await talk.say(TEXT, found)
    assert talk.last.events[0]["act"] == "distress"
    assert [node.label for node in talk.state.surface_graph().live_nodes()] == ["broke"]
    assert [state.label for state in talk.state.tracker.states] == ["broke"]
    assert talk.state.utterances[-2].acts[1].heard_by == "model"


async def test_rules_alone_decide_where_the_model_hears_nothing() -> None:
    talk = Interview(
        configuration=configuration().model_copy(update={"conduct": conduct_policy()}),
        reader=ScriptedReader({TEXT: [(TEXT, "wants_stop")]}),
        rater=Hearing(),
    )
    await talk.say(TEXT)
    assert talk.last.events[0]["act"] == "wants_stop"
