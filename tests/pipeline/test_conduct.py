"""Acts in whole turns: what is heard, what becomes of the question, the graph and the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from config.loader import Library
from pipeline.acts import CHOOSES_CALM, WHERE, Act
from pipeline.concept import PipelineSettings
from pipeline.outcome import HELD_BACK, STOPPING
from pipeline.ports import QuestionRequest
from pipeline.question.briefing import DID
from pipeline.stages.utterance import check_answer
from pipeline.state import InterviewState
from tests.support.interview import (
    Interview,
    PlainWriter,
    ScriptedReader,
    concepts,
    conduct_policy,
    configuration,
    new_state,
)

Script = Mapping[str, Sequence[tuple[str, Act] | tuple[str, Act, dict[str, Any]]]]


Replies = Mapping[str, tuple[Act, str]]


def interview(script: Script, replies: Replies | None = None, **fields: Any) -> Interview:
    """An interview whose reader hears what the script says, and understands what is answered to what was asked back."""
    return Interview(
        configuration=configuration().model_copy(update={"conduct": conduct_policy()}),
        reader=ScriptedReader(script, replies),
        **fields,
    )


def event(talk: Interview) -> dict[str, Any]:
    return talk.last.events[0]


async def test_reply_leaves_question_turn_and_measures_as_they_were() -> None:
    talk = interview({"Are you a robot?": [("Are you a robot?", "asks_interviewer", {"about": "machine"})]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    before = talk.state
    await talk.say("Are you a robot?")
    after = talk.state
    assert event(talk)["type"] == "interviewer.replied"
    assert event(talk)["text"].startswith("I'm a computer program, not a person.")
    assert before.question is not None and event(talk)["text"].endswith(before.question.text)
    assert after.question == before.question
    assert (after.turn_count, after.depths, after.saturation) == (before.turn_count, before.depths, before.saturation)
    assert talk.last.record is None
    assert talk.extractor.requests[-1].text == "The taste."
    kinds = [(u.speaker, u.kind, u.replies_to) for u in after.utterances[-2:]]
    assert kinds == [("respondent", "answer", None), ("interviewer", "reply", "asks_interviewer")]
    receipt = after.receipts[-1]
    assert receipt.turn_number == before.turn_count + 1


async def test_reply_is_repeated_by_its_key_and_ids_never_collide() -> None:
    talk = interview({"Hm, a moment": [("Hm, a moment", "wants_pause")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    for _ in range(3):
        await talk.say("Hm, a moment")
    await talk.say("It is sweet.", concepts(("sweet", "attribute")))
    ids = [u.id for u in talk.state.utterances]
    assert len(set(ids)) == len(ids)
    assert len({node.id for node in talk.state.nodes}) == len(talk.state.nodes) == 2


async def test_content_beside_an_act_is_content_and_the_act_is_not() -> None:
    text = "The line was dead. Are you a robot?"
    talk = interview(
        {text: [("The line was dead. ", "tells"), ("Are you a robot?", "asks_interviewer", {"about": "machine"})]}
    )
    await talk.open()
    talk.extractor.script["The line was dead."] = concepts(("line dead", "attribute"))
    await talk.say(text)
    assert talk.extractor.requests[-1].text == "The line was dead."
    assert [node.label for node in talk.state.nodes] == ["line dead"]
    assert talk.state.turn_count == 1
    asked = event(talk)
    assert asked["type"] == "question.completed" and asked["text"].startswith("I'm a computer program")
    assert talk.state.question is not None and not talk.state.question.text.startswith("I'm a computer")


async def test_stop_is_heard_in_the_shortest_piece_of_speech() -> None:
    talk = interview({"I want to stop": [("I want to stop", "wants_stop")]})
    await talk.say("It is warm")
    await talk.say("I want to stop", speech_ms=300)
    assert talk.state.conduct.stopping_until is not None


async def test_who_wants_to_stop_behind_something_new_at_the_end_is_not_asked_on() -> None:
    new = "There was one thing more that I never told anybody: I was so ashamed that I could not open his letter."
    text = f"{new} I want to stop now."
    talk = interview({text: [("I want to stop now.", "wants_stop")]})
    for turn in range(1, 15):
        await talk.say(f"turn {turn}", concepts((f"thing {turn} x", "attribute")))
    asked = talk.state.question
    assert asked is not None and asked.kind == "closing_question"
    talk.extractor.script[new] = concepts(("one thing more", "attribute"))
    await talk.say(text)
    assert (talk.state.status, talk.state.status_reason, talk.state.question) == ("closing", STOPPING, None)


async def test_stop_asks_nothing_more_and_restores_the_question_when_it_is_taken_back() -> None:
    talk = interview({"I want to stop": [("I want to stop", "wants_stop")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    question = talk.state.question
    await talk.say("I want to stop")
    state = talk.state
    assert (state.status, state.status_reason, state.question) == ("closing", STOPPING, None)
    assert (state.stopped_question, state.resume_status) == (question, "active")
    assert event(talk)["open"] is False and "?" not in event(talk)["text"]
    assert [one["name"] for one in event(talk)["offers"]] == ["resume", "withdraw"]
    assert talk.last.events[1] == {"type": "session.state", "state": "closing", "reason": STOPPING}


async def test_minor_ends_it_and_holds_it_back() -> None:
    talk = interview({"I'm 15": [("I'm 15", "minor", {"details": {"age": "15"}})]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say("I'm 15")
    assert (talk.state.status, talk.state.status_reason) == ("completed", HELD_BACK)
    assert talk.state.conduct.held_back and talk.state.question is None


async def test_subject_of_distress_is_never_asked_about_again() -> None:
    talk = interview({"I'm crying": [("I'm crying", "distress")]})
    await talk.say("My dad.", concepts(("dad", "attribute")))
    key = talk.state.question.focus_key if talk.state.question else None
    assert key is not None
    await talk.say("I'm crying")
    await talk.say("Something else")
    assert event(talk)["type"] == "question.completed"
    state = next(one for one in talk.state.tracker.states if one.key == key)
    assert state.declined
    for number in range(4):
        await talk.say(f"more {number}", concepts((f"thing {number}", "attribute")))
        assert talk.state.question is None or talk.state.question.focus_key != key


async def test_correction_retracts_what_was_understood_and_goes_on_from_what_is_right() -> None:
    text = "No, Thursday, not Tuesday."
    details = {"details": {"wrong": "tuesday", "right": "thursday"}}
    talk = interview({text: [(text, "corrects", details)]})
    await talk.say("It was on Tuesday.", concepts(("tuesday", "attribute"), ("late", "attribute")))
    talk.extractor.script["Thursday"] = concepts(("thursday", "attribute"))
    await talk.say(text)
    assert event(talk)["text"].startswith("All right, Thursday.")
    graph = talk.state.surface_graph()
    assert [node.label for node in graph.live_nodes()] == ["late", "thursday"]
    gone, new = (next(node for node in talk.state.nodes if node.label == label) for label in ("tuesday", "thursday"))
    assert gone.superseded_by == new.id
    assert all("tuesday" not in (one.label,) for one in talk.state.tracker.states)
    assert talk.state.turn_count == 1


async def test_correction_says_what_is_right_in_the_words_around_and_keeps_the_links() -> None:
    text = "No, I meant my team, not my boss."
    talk = interview({})
    links = [("early", "my boss likes that")]
    told = concepts(("early", "attribute"), ("my boss likes that", "consequence"), links=links)
    await talk.say("I come early. My boss likes that.", told)
    await talk.say(text)
    assert event(talk)["text"].startswith("All right, your team.")
    graph = talk.state.surface_graph()
    assert [node.label for node in graph.live_nodes()] == ["early", "my team likes that"]
    right = next(node for node in graph.live_nodes() if node.label == "my team likes that")
    assert (right.node_type, [mention.quote for mention in right.mentions]) == ("consequence", ["my team"])
    assert [(graph.nodes[edge.source_id].label, edge.target_id) for edge in graph.live_edges()] == [("early", right.id)]
    assert [edge.edge_type for edge in talk.state.edges if edge.source_id == right.id] == ["revises"]


async def test_what_an_earlier_answer_says_as_well_stays_beside_what_is_right() -> None:
    talk = interview({})
    await talk.say("It is cheap.", concepts(("cheap", "attribute")))
    for number in range(3):
        await talk.say(f"more {number}", concepts((f"thing {number}", "attribute")))
    await talk.say("It is cheap, too.", concepts(("cheap", "attribute")))
    await talk.say("No sorry, I meant fair, not cheap.")
    live = {node.label: node for node in talk.state.surface_graph().live_nodes()}
    assert {"cheap", "fair"} <= set(live)
    assert len(live["cheap"].mentions) == 1


@pytest.mark.parametrize(
    ("text", "put_out"),
    [("No, that was my sister.", True), ("No, not just sorry. I was angry first, proper angry, in the car.", False)],
)
async def test_who_puts_right_and_tells_on_is_not_taken_elsewhere(text: str, put_out: bool) -> None:
    talk = interview({text: [(text, "corrects", {"about": "put_right", "heard_by": "reader"})]})
    await talk.say("I felt sorry for him.", concepts(("sorry", "attribute")))
    assert talk.state.question is not None
    said_back = talk.state.question.model_copy(update={"text": "You felt sorry for him. Tell me more about that."})
    talk.state = talk.state.model_copy(update={"question": said_back})
    await talk.say(text, concepts(("angry", "attribute")))
    assert talk.writer.requests[-1].complained is put_out


async def test_words_that_nobody_has_heard_are_no_complaint() -> None:
    text = "I said weak."
    talk = interview({text: [(text, "complains")]})
    await talk.say("I like it strong.", concepts(("strong", "attribute")))
    await talk.say(text)
    assert event(talk)["text"].startswith("Sorry, so: weak.")
    await talk.say("Weak and hot.")
    await talk.say("I said weak and hot.")
    assert not event(talk).get("text", "").startswith("Sorry, so")


@pytest.mark.parametrize("about", ["put_right", "self"])
async def test_correction_of_which_nobody_knows_what_is_wrong_takes_nothing_back(about: str) -> None:
    text = "It was them who drove."
    talk = interview({text: [(text, "corrects", {"about": about, "heard_by": "reader"})]})
    await talk.say("The bus was late.", concepts(("late bus", "attribute")))
    assert talk.state.question is not None and talk.state.question.focus_node_id is not None
    await talk.say(text)
    graph = talk.state.surface_graph()
    assert [node.label for node in graph.live_nodes()] == ["late bus"]


async def test_asking_back_puts_the_same_question_in_other_words() -> None:
    talk = interview({"What do you mean?": [("What do you mean?", "asks_back")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    before = talk.state.question
    await talk.say("What do you mean?")
    now = talk.state.question
    assert before is not None and now is not None
    assert talk.writer.requests[-1].kind == "rephrase"
    assert talk.writer.requests[-1].lines[-1].text == "What do you mean?"
    assert (now.focus_key, now.strategy, now.turn_number) == (before.focus_key, before.strategy, before.turn_number)
    assert event(talk)["text"].endswith(now.text) and event(talk)["text"] != now.text


async def test_refusal_uses_a_turn_and_is_acknowledged_once() -> None:
    talk = interview({"I'd rather not say": [("I'd rather not say", "declines")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    key = talk.state.question.focus_key if talk.state.question else None
    await talk.say("I'd rather not say")
    assert talk.state.turn_count == 2
    assert event(talk)["text"].startswith(("That's fine", "Of course"))
    assert next(one for one in talk.state.tracker.states if one.key == key).declined
    assert talk.last.record is not None and talk.last.record.ratings is None


async def test_interview_without_a_policy_hears_nothing() -> None:
    talk = Interview(reader=ScriptedReader({"I want to stop": [("I want to stop", "wants_stop")]}))
    await talk.say("I want to stop", concepts(("stop", "attribute")))
    assert event(talk)["type"] == "question.completed"
    assert [node.label for node in talk.state.nodes] == ["stop"]


async def test_amendment_and_skip_are_never_acts() -> None:
    talk = interview({"I want to stop": [("I want to stop", "wants_stop")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    last = talk.state.last_answer()
    assert last is not None
    await talk.say("I want to stop", concepts(("stop", "attribute")), kind="correct", corrects=last.id)
    assert event(talk)["type"] == "question.completed"
    await talk.say("", kind="skip")
    assert event(talk)["type"] == "question.completed"


async def test_state_with_conduct_is_stored_and_read_again() -> None:
    talk = interview({"I'm crying": [("I'm crying", "distress")]})
    await talk.say("My dad.", concepts(("dad", "attribute")))
    await talk.say("I'm crying")
    assert InterviewState.load(talk.state.dump()) == talk.state
    assert talk.state.conduct.alerts[0].code == "distress"


async def test_who_chooses_something_else_is_asked_about_nothing_that_was_said_in_tears() -> None:
    text = "It was her favourite place. I'm crying now."
    talk = interview({text: [("It was her favourite place. ", "tells"), ("I'm crying now.", "distress")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    talk.extractor.script["It was her favourite place."] = concepts(("her favourite place", "attribute"))
    await talk.say(text)
    assert event(talk)["type"] == "interviewer.replied"
    await talk.say(conduct_policy().texts.offers["something_else"])
    states = {state.label: state.declined for state in talk.state.tracker.states}
    assert states.get("her favourite place", True)
    assert "favourite place" not in (talk.state.question.text if talk.state.question else "")


async def test_what_is_told_beside_that_it_can_go_on_is_not_lost() -> None:
    story = "She bent down and straightened my collar and whispered to me that I should only mouth the words, and so I "
    story += "did, for sixty years, at every wedding there was."
    tears = f"{story} I've gone a bit weepy."
    on = "I'm all right, we can go on. I sang to the hens at the bottom of the garden, on the coal bunker, every day."
    told = on.partition(". ")[2]
    talk = interview(
        {
            tears: [(story, "tells"), ("I've gone a bit weepy.", "distress")],
            on: [(on[: -len(told)], "aside"), (told, "tells")],
        }
    )
    await talk.say(tears, concepts(("mouth the words", "attribute")))
    talk.extractor.script[on] = concepts(("sang to the hens", "attribute"))
    await talk.say(on)
    assert told in talk.extractor.requests[-1].text
    assert "sang to the hens" in [node.label for node in talk.state.nodes]
    assert event(talk)["type"] == "question.completed"
    assert conduct_policy().texts.risk_mistaken not in event(talk)["text"]


async def test_complaint_beside_an_answer_is_no_content_and_reaches_the_writer_then_and_later() -> None:
    grumble, told = (
        "Third time philosophy. ",
        "It means the bread is good and the bottom honest, so that somebody hears it.",
    )
    text = grumble + told
    talk = interview({text: [(grumble, "complains", {"about": "weary", "heard_by": "reader"}), (told, "tells")]})
    await talk.open()
    talk.extractor.script[told] = concepts(("bread", "attribute"))
    await talk.say(text)
    assert talk.extractor.requests[-1].text == told
    assert event(talk)["type"] == "question.completed"
    line = talk.writer.requests[-1].lines[-1]
    assert (line.text, line.complaint) == (told, grumble.strip())
    await talk.say("The taste.", concepts(("taste", "attribute")))
    complained = [each.complaint for each in talk.writer.requests[-1].briefing.conversation if each.complaint]
    assert complained == [grumble.strip()]


class Consoling(PlainWriter):
    """Hears a death in every answer with “dead”, and begins its question with sympathy unless a reply comes before."""

    async def consolation(self, request: QuestionRequest) -> str:
        return "I'm sorry." if "dead" in request.lines[-1].text else ""


@pytest.mark.parametrize(
    ("told", "sorry"), [("He's dead, Alan. I said did.", False), ("The suit was blue, and his shoes were new.", True)]
)
async def test_apology_for_a_question_gives_way_to_a_death(told: str, sorry: bool) -> None:
    said = f"What was what like? {told}"
    talk = interview({said: [("What was what like?", "asks_back"), (told, "tells")]}, writer=Consoling())
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(said)
    apologies = conduct_policy().texts.asked_unclearly
    assert talk.last.record is not None
    assert talk.state.utterances[-1].text.startswith(apologies) == sorry


@pytest.mark.parametrize("told", ["He's dead, and I was away.", "The suit was blue."])
async def test_death_in_the_last_answer_of_all_is_answered(told: str) -> None:
    talk = interview({}, writer=Consoling(), state=new_state().model_copy(update={"max_turns": 3}))
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say("It is sweet.", concepts(("sweet", "attribute")))
    await talk.say(told)
    assert talk.state.status == "completed"
    assert talk.state.utterances[-1].text.startswith("I'm sorry. ") == ("dead" in told)


async def test_who_comes_back_and_has_lost_their_thread_hears_what_they_told() -> None:
    back = "I'm back. Where was I."
    script: Script = {
        "He sat in the lane. One moment.": [("He sat in the lane.", "tells"), ("One moment.", "wants_pause")],
        back: [("Where was I.", "asks_back", {"about": WHERE})],
    }
    talk = interview(script)
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say("He sat in the lane. One moment.")
    await talk.say(back)
    assert "“He sat in the lane.”" in event(talk)["text"]


async def test_what_an_idea_costs_is_answered_before_whatever_is_asked_next() -> None:
    chosen = Library(PipelineSettings()).configuration("repair_plan_ct")
    state = new_state(concept_id="repair_plan_ct", methodology=chosen.methodology.name)
    talk = Interview(configuration=chosen, state=state.model_copy(update={"engine": "arbitration", "max_turns": 18}))
    await talk.open()
    await talk.say("Good that somebody mends things. How much does it cost a month?")
    said = talk.state.utterances[-1].text
    assert said.startswith("The description says: “You pay 15 euros a month")
    await talk.say("Good that somebody mends things.")
    assert "description" not in talk.state.utterances[-1].text


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (" I don’t know, it‘s Dad’s. ", "I don't know, it's Dad's."),
        ("’cause he didn´t", "'cause he didn't"),
        ("She said ‘no’ and “never”.", "She said ‘no’ and “never”."),
        ("„Nein“, sagte er. 5’ lang", "„Nein“, sagte er. 5’ lang"),
    ],
)
def test_apostrophes_in_words_are_kept_straight(typed: str, kept: str) -> None:
    assert check_answer(typed, 8000) == kept


TEARS = "I'm crying now"
UPSET: Script = {TEARS: [(TEARS, "distress")]}


async def test_answer_to_what_was_asked_back_is_followed_in_whatever_words() -> None:
    text = "hay fever that, nothing more to it at all"
    talk = interview(UPSET, {text: ("aside", CHOOSES_CALM)})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(TEARS)
    await talk.say(text)
    assert event(talk)["text"].startswith("Good. I'm sorry, I misunderstood you.")
    assert talk.state.turn_count == 2


async def test_danger_weighs_more_than_what_is_answered() -> None:
    text = "hay fever, and he hits me"
    talk = interview({**UPSET, text: [(text, "risk")]}, {text: ("aside", CHOOSES_CALM)})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(TEARS)
    await talk.say(text)
    assert event(talk)["text"].startswith(conduct_policy().texts.risk)


async def test_who_is_only_told_to_take_their_time_chooses_nothing() -> None:
    told = (
        "She said it in the kitchen and I stood there with the cloth in my hand and I could not say a word to her, not"
        " one, and then it all came back. "
    )
    long = told + TEARS
    text = "she went up to bed"
    talk = interview({long: [(told, "tells"), (TEARS, "distress")]}, {text: ("wants_stop", "")})
    talk.extractor.script[told.strip()] = concepts(("kitchen", "attribute"))
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(long)
    assert event(talk)["text"].startswith(conduct_policy().texts.distress_in_story)
    await talk.say(text, concepts(("bed", "attribute")))
    assert talk.state.conduct.stopping_until is None


async def test_long_wish_for_a_break_is_no_content() -> None:
    text = "I should like to sit quietly for a minute and fetch a glass of water, if that is all right."
    talk = interview(UPSET)
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(TEARS)
    before = len(talk.extractor.requests)
    await talk.say(text)
    assert event(talk)["text"] == conduct_policy().texts.pause
    assert len(talk.extractor.requests) == before


async def test_who_refuses_and_goes_on_elsewhere_is_asked_of_something_else() -> None:
    refusal = "I would rather not tell more of that. "
    rest = (
        "I have had my water now and I am feeling steadier, so I am quite willing to go on with the contract and with"
        " all the letters that came of it in the end."
    )
    talk = interview({refusal + rest: [(refusal, "declines"), (rest, "tells")]})
    talk.extractor.script[rest] = concepts(("water", "attribute"))
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(refusal + rest)
    assert talk.writer.requests[-1].turned_away


async def test_who_was_led_away_and_tells_on_is_asked_of_what_they_tell() -> None:
    led, rest = "I was going to tell you about the Monday. ", "A woman picked up and she was completely different."
    talk = interview({led + rest: [(led, "wants_topic", {"about": "going_on"}), (rest, "tells")]})
    talk.extractor.script[rest] = concepts(("woman", "attribute"))
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(led + rest)
    assert event(talk)["text"].startswith(conduct_policy().texts.cut_in)
    assert not talk.writer.requests[-1].turned_away


async def test_what_was_told_long_ago_is_put_right_in_the_graph() -> None:
    text = "I said I write it on Sunday, actually it's Saturday morning."
    talk = interview({})
    await talk.say("I write the list on Sunday.", concepts(("write the list on Sunday", "attribute")))
    for number in range(4):
        await talk.say(f"Then {number}.", concepts((f"then {number}", "attribute")))
    await talk.say(text)
    live = [node.label for node in talk.state.surface_graph().live_nodes()]
    assert "write the list on Sunday" not in live
    assert any("saturday" in label.lower() for label in live)


async def test_writer_is_told_the_whole_answer_what_is_said_before_and_what_was_done() -> None:
    said = "It is sweet and I drink it every single morning. Who reads this?"
    talk = interview(
        {
            said: [
                ("It is sweet and I drink it every single morning.", "tells"),
                ("Who reads this?", "asks_interviewer", {"about": "readers"}),
            ]
        }
    )
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(said, concepts(("sweet", "attribute")))
    request = talk.writer.requests[-1]
    assert request.briefing.answer == said
    assert request.briefing.conversation[-1].text == "It is sweet and I drink it every single morning."
    assert request.briefing.did == ("asked you something",)
    assert request.follows_reply and request.reply == conduct_policy().texts.facts["readers"]


async def test_writer_is_told_for_two_answers_that_somebody_was_moved() -> None:
    talk = interview({"I'm crying now.": [("I'm crying now.", "distress")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say("I'm crying now.")
    for number, moved in enumerate((True, True, False)):
        await talk.say(f"It was the {number}th cup on the wall.", concepts((f"cup {number}", "attribute")))
        told = talk.writer.requests[-1].briefing.did
        assert any("was moved" in did for did in told) == moved


async def test_what_stands_beside_a_refusal_is_marked() -> None:
    begs = "I don't want to go into that, the glass,"
    told, rest, after = (
        "She put down two glasses.",
        "so let's leave it.",
        "The lad came over and asked about the birds.",
    )
    said = f"{told} {begs} {rest} {after}"
    talk = interview({said: [(told, "tells"), (begs, "declines"), (f"{rest} {after}", "tells")]})
    await talk.say("The taste.", concepts(("taste", "attribute")))
    await talk.say(said, concepts(("lad", "attribute")))
    assert talk.writer.requests[-1].lines[-1].refused == (told, rest)


async def test_thread_is_found_again_behind_a_message_that_told_next_to_nothing() -> None:
    talk = interview(
        {
            "Yes, well. Hang on.": [("Yes, well.", "tells"), ("Hang on.", "wants_pause")],
            "Where were we?": [("Where were we?", "asks_back", {"about": WHERE})],
        }
    )
    await talk.say("You can't run off with a full cup, that is what I mean.", concepts(("cup", "attribute")))
    await talk.say("Yes, well. Hang on.")
    await talk.say("Where were we?")
    assert "a full cup" in talk.state.utterances[-1].text


@pytest.mark.parametrize(
    ("prompts", "says"), [({"question": "", "ending": ""}, False), ({"question": ""}, True), ({}, True)]
)
async def test_a_language_model_owns_a_complaint_in_its_own_words(prompts: dict[str, str], says: bool) -> None:
    policy = conduct_policy()
    reader = ScriptedReader({"That is a strange question.": [("That is a strange question.", "complains")]})
    given = configuration().model_copy(update={"conduct": policy, "prompts": prompts})
    interview = Interview(configuration=given, reader=reader)
    await interview.say("It is quick.", concepts(("quick", "attribute")))
    await interview.say("That is a strange question.", concepts())
    said = interview.state.utterances[-1].text
    assert any(said.startswith(text) for text in policy.texts.complained) == says
    assert interview.state.question is not None and said.endswith(interview.state.question.text)


async def test_a_fact_of_the_study_is_told_beside_what_a_language_model_answers_itself() -> None:
    policy, said = conduct_policy(), "It was the other way round. And leave out the bit with the bus."
    reader = ScriptedReader(
        {
            said: [
                ("It was the other way round.", "corrects"),
                ("And leave out the bit with the bus.", "asks_interviewer", {"about": "part"}),
            ]
        }
    )
    given = configuration().model_copy(update={"conduct": policy, "prompts": {"question": "", "ending": ""}})
    interview = Interview(configuration=given, reader=reader)
    await interview.say("It is quick.", concepts(("quick", "attribute")))
    await interview.say(said, concepts(("other way round", "attribute")))
    assert policy.texts.facts["part"] in interview.state.utterances[-1].text


@pytest.mark.parametrize(
    ("told", "put_out"), [("She put it on in the kitchen while I stood there.", False), ("Her.", True)]
)
async def test_what_was_told_before_and_is_told_on_is_no_complaint_to_a_language_model(
    told: str, put_out: bool
) -> None:
    said = f"As I said, my daughter. {told}"
    reader = ScriptedReader({said: [("As I said, my daughter.", "complains", {"about": "told"}), (told, "tells")]})
    given = configuration().model_copy(update={"conduct": conduct_policy()})
    interview = Interview(configuration=given, reader=reader)
    await interview.say("It is quick.", concepts(("quick", "attribute")))
    await interview.say(said, concepts(("daughter", "attribute")))
    assert (DID["complains"] in interview.writer.requests[-1].briefing.did) == put_out
