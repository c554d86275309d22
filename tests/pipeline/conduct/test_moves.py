"""What the interviewer does about each act, decided without an engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

import pytest

from config.conduct import ConductFiles
from pipeline.acts import (
    ANSWERS_NO,
    ANSWERS_PART,
    ANSWERS_YES,
    CHOOSES_CALM,
    CHOOSES_ELSE,
    CHOOSES_ON,
    CONTROLLED,
    ENOUGH,
    FAINT,
    OFFERED,
    UNASKED,
    WHERE,
    WHICH,
    Act,
    HeardAct,
    says_enough,
    told,
)
from pipeline.conduct.choices import chosen_act, outweighs, wished
from pipeline.conduct.memory import acknowledged, remembered
from pipeline.conduct.move import Moment, Move
from pipeline.conduct.moves import WAYS, WAYS_AGAIN, WAYS_IN_A_STORY, WAYS_ON, age_of, meant, move_for
from pipeline.conduct.policy import ConductPolicy
from pipeline.conduct.state import CareAlert, ConductState

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


def policy(language: str = "en") -> ConductPolicy:
    found = ConductFiles([files("config")]).plain(language)
    assert found is not None
    return found


def heard(text: str, *acts: tuple[str, Act], **fields: Any) -> tuple[HeardAct, ...]:
    found = []
    for words, act in acts:
        at = text.index(words)
        found.append(HeardAct(act=act, start=at, end=at + len(words), **(fields if act != "tells" else {})))
    return tuple(found)


def moment(text: str, *acts: tuple[str, Act], conduct: ConductState | None = None, **fields: Any) -> Moment:
    about = {name: fields.pop(name) for name in ("sure", "about", "details", "heard_by") if name in fields}
    return Moment(
        said=text,
        acts=heard(text, *acts, **about),
        conduct=conduct or ConductState(),
        policy=policy(),
        turn_number=fields.pop("turn_number", 3),
        questions_left=fields.pop("questions_left", 9),
        topic="coffee",
        minimum_age=fields.pop("minimum_age", 18),
        facts=fields.pop("facts", {}),
        **fields,
    )


def whole(text: str, act: Act, **fields: Any) -> Move:
    move = move_for(moment(text, (text, act), **fields))
    assert move is not None
    return move


def after(move: Move | None, conduct: ConductState | None = None, turn: int = 3) -> ConductState:
    return remembered(conduct or ConductState(), move, turn_number=turn, now=NOW, policy=policy())


def test_what_only_tells_moves_nothing() -> None:
    assert move_for(moment("The taste.")) is None
    assert after(None, ConductState(repairs_in_a_row=2, dont_knows=1, waiting=True)) == ConductState()


def test_stop_is_stopped_at_once_and_can_be_taken_back_for_a_minute() -> None:
    move = whole("I'd like to stop here", "wants_stop")
    assert (move.then, move.offers, move.counts) == ("stop", ("resume", "withdraw"), False)
    state = after(move)
    assert state.stopping_until == NOW + timedelta(seconds=60)


def test_stop_that_is_not_sure_is_asked_back_in_one_sentence() -> None:
    move = whole("maybe that's enough?", "wants_stop", sure=False)
    assert (move.then, move.asks, move.text.count("?")) == ("stands", "stop", 1)
    conduct = after(move)
    for said, then in (("Yes", "stop"), ("stop", "stop"), ("no", "again"), ("Go on", "again")):
        answer = move_for(moment(said, conduct=conduct))
        assert answer is not None and answer.then == then, said


def test_lone_spoken_stop_is_asked_back() -> None:
    assert whole("stop", "wants_stop", spoken=True).asks == "stop"
    assert whole("stop", "wants_stop").then == "stop"


def test_pause_says_that_somebody_is_here_and_nothing_else() -> None:
    move = whole("hang on", "wants_pause")
    assert (move.text, move.then, move.offers) == ("Of course, take your time. I'm here.", "stands", ())
    assert after(move).waiting


def test_distress_offers_four_ways_and_closes_the_subject_stopping_first_the_second_time() -> None:
    first = whole("I'm crying", "distress")
    assert (first.offers, first.declines_focus, first.alert) == (WAYS, True, "distress")
    again = whole("I'm crying", "distress", conduct=after(first))
    assert again.offers == WAYS_AGAIN and again.text != first.text


def test_who_goes_on_after_being_asked_is_asked_on_and_not_asked_again() -> None:
    conduct = after(whole("I'm crying", "distress"))
    said = "Oh no, that's kind of you, but we can go on, it does me good to talk about it. She took my hand."
    move = move_for(moment(said, conduct=conduct))
    assert move is not None
    assert (move.then, move.counts, move.text) == ("engine", True, "")
    conduct = after(move, conduct)
    told = (
        "I could think it without my throat closing up, though my cheek was throbbing, and I rang my son that evening."
    )
    acts = meant(moment(told, (told, "distress"), conduct=conduct), heard(told, (told, "distress")))
    assert [one.act for one in acts] == ["tells"]
    few = meant(moment("I'm crying", conduct=conduct), heard("I'm crying", ("I'm crying", "distress")))
    assert [one.act for one in few] == ["distress"]


def test_who_is_moved_while_telling_is_not_broken_off() -> None:
    story = (
        "He sat behind the logs with his lunch box on his lap, and he looked up and said, I stayed where I was, Miss, "
    )
    story += "like you told us, and I went down on my knees in the mud and held him."
    cry = "Oh, sorry, now I'm crying."
    acts: tuple[tuple[str, Act], ...] = ((story, "tells"), (cry, "distress"))
    first = move_for(moment(f"{story} {cry}", *acts, helpline="Call 116 123."))
    assert first is not None
    assert (first.then, first.answered, first.alert) == ("stands", True, "distress")
    assert first.offers == ("go_on", "pause", "stop")
    assert (first.text, first.help) == (policy().texts.distress_in_story, "Call 116 123.")
    again = move_for(moment(f"{story} {cry}", *acts, conduct=after(first)))
    assert again is not None
    assert (again.then, again.text, again.alert) == ("engine", "", "distress")
    okay = "No, no, I am okay, thank you, we can go on. I am angry but I don't cry. You can ask."
    on = move_for(moment(okay, (okay[:44], "aside"), (okay[44:], "distress"), sure=False, conduct=after(first)))
    assert on is not None
    assert (on.then, on.text, on.leaves_answer) == ("engine", policy().texts.next, True)
    label = policy().texts.offers["go_on"]
    chosen = move_for(moment(label, (label, "tells"), conduct=after(first)))
    assert chosen is not None
    assert (chosen.then, chosen.text) == ("stands", policy().texts.go_on)


def test_who_may_be_upset_in_a_story_is_not_broken_off_either() -> None:
    story = "I left him there, in the ward with the green curtains, and drove home to feed the dogs, because nobody "
    story += "else was there to feed them, and I have thought of it ever since then."
    move = move_for(moment(f"{story} I miss him.", (story, "tells"), ("I miss him.", "distress"), sure=False))
    assert move is not None
    assert (move.then, move.text, move.alert) == ("engine", "", "distress")


def test_who_is_well_after_tears_was_not_misunderstood_unless_danger_was_asked_about() -> None:
    story = "I was seven, and she bent down and straightened my collar and whispered to me to mouth the words, and "
    story += "nobody has ever told me that I could stop, not in sixty years of weddings."
    acts: tuple[tuple[str, Act], ...] = ((story, "tells"), ("I've gone a bit weepy.", "distress"))
    moved = move_for(moment(f"{story} I've gone a bit weepy.", *acts))
    assert moved is not None
    well = "I'm all right, I've got a hanky. We can carry on."
    on = move_for(moment(well, (well, "tells"), conduct=after(moved)))
    assert on is not None
    assert policy().texts.risk_mistaken not in on.text


@pytest.mark.parametrize(
    "said",
    [
        "to the shop thing or to march",
        "When do you mean? With Brian, or on the phone with the lad?",
        "About my brother, or about the headphones?",
    ],
)
def test_who_asks_which_of_two_things_is_meant_may_choose(said: str) -> None:
    move = whole(said, "asks_back", heard_by="rules")
    assert (move.then, move.text) == ("stands", policy().texts.which.replace("{topic}", moment(said).topic))


def test_who_has_no_more_of_it_and_asks_which_of_two_is_meant_may_choose() -> None:
    told, enough = "Capital of Mongolia was one. ", "There's no more in it than that. "
    asks = "Which bit did you want, the quiz or the not talking?"
    both = moment(told + enough + asks, (told, "tells"), (enough, "complains"), (asks, "asks_back"))
    acts = tuple(one.model_copy(update={"about": ENOUGH if one.act == "complains" else ""}) for one in both.acts)
    move = move_for(replace(both, acts=acts))
    assert move is not None and (move.act, move.text) == ("asks_back", policy().texts.which)


def test_topic_with_a_question_mark_that_the_reader_hears_is_no_wish_for_it() -> None:
    asks, tells = (
        "About the noodles? ",
        "They soak up all the water. The point is more that I get interrupted all the time. " * 2,
    )
    both = moment(asks + tells, (asks, "wants_topic"), (tells, "tells"), heard_by="reader")
    assert move_for(both) is None
    assert whole("the noodles please", "wants_topic", heard_by="reader").act == "wants_topic"


def test_who_has_no_more_of_it_and_goes_on_to_what_matters_is_heard() -> None:
    enough, repeats, matters = (
        "There isn't any more of it. ",
        "You keep repeating me. ",
        "The thing is I didn't go back.",
    )
    short = HeardAct(act="complains", start=0, end=len(enough), about=ENOUGH)
    assert says_enough(f"{enough}I didn't go back.", (short,))
    assert not says_enough(enough + matters, (short,))
    told = moment(enough + repeats + matters, (enough, "complains"), (repeats, "complains"), (matters, "tells"))
    acts = tuple(
        one.model_copy(update={"about": about}) for one, about in zip(told.acts, (ENOUGH, "told", ""), strict=True)
    )
    move = move_for(replace(told, acts=acts))
    assert move is not None and move.act == "complains" and move.text not in policy().texts.enough


def test_what_was_missing_is_no_complaint_at_the_end() -> None:
    last = "You've not asked me if I'd have it. I wouldn't, and it's not the money, it would be sending somebody else."
    acts: tuple[tuple[str, Act], ...] = (
        ("You've not asked me if I'd have it.", "complains"),
        ("I wouldn't, and it's not the money, it would be sending somebody else.", "tells"),
    )
    assert move_for(moment(last, *acts, closing=True)) is None


def test_age_that_is_told_is_not_asked_about_where_only_the_reader_doubts_it() -> None:
    text = "How many more years can I do this, and I'm only 45."
    assert move_for(moment(text, (text, "minor"), sure=False, heard_by="reader")) is None
    young = "Mum says I have to be back by nine."
    asked = move_for(moment(young, (young, "minor"), sure=False, heard_by="reader"))
    assert asked is not None and asked.asks == "age"


def test_distress_with_a_stop_stops_and_is_acknowledged() -> None:
    text = "I'm crying. I want to stop."
    move = move_for(moment(text, ("I'm crying.", "distress"), ("I want to stop.", "wants_stop")))
    assert move is not None
    assert (move.act, move.then, move.alert) == ("wants_stop", "stop", "distress")
    assert move.text.startswith("I'm sorry.")


def test_risk_always_shows_help_and_never_promises_a_person() -> None:
    move = whole("I want to kill myself", "risk")
    assert (move.alert, move.then) == ("risk", "stands")
    assert "112" in move.help and "findahelpline.com" in move.help
    assert whole("I want to kill myself", "risk", helpline="Call 123.").help == "Call 123."
    on_kiosk = whole("I want to kill myself", "risk", kiosk=True)
    assert "the person who gave you this device" in on_kiosk.help
    with_stop = move_for(moment("a b", ("a", "risk"), ("b", "wants_stop")))
    assert with_stop is not None and with_stop.then == "stop" and with_stop.help and with_stop.alert == "risk"


def test_danger_that_only_the_reader_hears_is_asked_back_with_help() -> None:
    said = "Where does it hurt, show me. Even if I'm late."
    asked = whole(said, "risk", sure=False, heard_by="reader")
    assert asked.text == policy().texts.risk_ask and asked.help and asked.alert == "risk"
    assert not asked.declines_focus and asked.asks == "risk"


def test_danger_that_is_hardly_to_be_heard_only_alerts() -> None:
    said = "But I've not told Katie. I've told you. First one."
    move = whole(said, "risk", sure=False, heard_by="reader", about="faint")
    assert (move.text, move.help, move.alert, move.then, move.counts) == ("", "", "risk", "engine", True)
    assert told(said, (HeardAct(act="risk", start=0, end=len(said), sure=False, about="faint"),)) == said


@pytest.mark.parametrize(
    ("said", "act"),
    [
        ("No.", "again"),
        ("no", "again"),
        ("What? Nobody's in danger. That is what I say to my girl.", "again"),
        ("I'm fine, we were talking about the hospital.", "again"),
        ("Yes", "stands"),
        ("yes, I am", "stands"),
    ],
)
def test_answer_to_whether_somebody_is_in_danger(said: str, act: str) -> None:
    conduct = after(whole("even if I'm late", "risk", sure=False, heard_by="reader"))
    conduct = conduct.model_copy(update={"answered": False})
    move = move_for(moment(said, conduct=conduct))
    assert move is not None and (move.act, move.then) == ("risk", act)
    safe = act == "again"
    assert move.text == (policy().texts.risk_mistaken if safe else policy().texts.risk)
    assert ("risk" in after(move, conduct).denied) == safe


def test_who_asked_back_tells_of_danger_is_heard() -> None:
    conduct = after(whole("even if I'm late", "risk", sure=False, heard_by="reader"))
    move = move_for(moment("nobody helps me, he hits me", ("he hits me", "risk"), conduct=conduct))
    assert move is not None and move.act == "risk" and move.then == "stands" and move.help


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_words_of_safety_exist_in_every_language(language: str) -> None:
    texts = policy(language).texts
    assert all((texts.risk, texts.help, texts.distress, texts.stop, texts.minor, texts.withdrawal_ask))
    assert set(texts.offers) == set(policy().texts.offers)
    assert set(texts.facts) == set(policy().texts.facts)


def test_withdrawal_is_confirmed_once() -> None:
    move = whole("delete everything please", "wants_withdrawal")
    assert (move.then, move.asks) == ("stands", "withdrawal")
    conduct = after(move)
    yes, no = move_for(moment("yes", conduct=conduct)), move_for(moment("no thanks", conduct=conduct))
    assert yes is not None and yes.then == "withdraw" and after(yes).withdrawing
    assert no is not None and no.then == "again"


def test_minor_is_held_back_and_a_doubtful_age_is_asked_once() -> None:
    young = whole("I'm 15", "minor", details={"age": "15"})
    assert young.then == "hold" and after(young).held_until == NOW + timedelta(hours=72)
    doubtful = whole("in year nine", "minor", sure=False)
    assert (doubtful.then, doubtful.asks) == ("stands", "age")
    conduct = after(doubtful)
    no = move_for(moment("No", conduct=conduct))
    assert no is not None and no.then == "hold"
    yes = move_for(moment("yes I am", conduct=conduct))
    assert yes is not None and yes.then == "again"
    again = move_for(moment("in year nine", ("in year nine", "minor"), sure=False, conduct=conduct))
    assert again is not None and (again.text, again.then, again.alert) == ("", "engine", "minor")
    untold = move_for(moment("My mum buys it.", conduct=conduct))
    assert untold is not None and (untold.then, untold.alert) == ("engine", "minor")


@pytest.mark.parametrize(
    ("said", "act", "alerts"),
    [
        ("I want to die.", "risk", ["minor", "risk"]),
        ("Why do you ask?", "asks_interviewer", ["minor"]),
        ("I'd like to stop here", "wants_stop", []),
    ],
)
def test_age_that_was_asked_and_not_told_is_shown_whatever_was_said_instead(
    said: str, act: Act, alerts: list[str]
) -> None:
    move = move_for(moment(said, (said, act), conduct=ConductState(asked="age", asked_age=True)))
    assert move is not None and move.act == act
    state = after(move, ConductState(asked="age", asked_age=True))
    assert [alert.code for alert in state.alerts] == alerts


def test_who_was_in_danger_is_told_of_help_once_more_at_the_end() -> None:
    danger = whole("I want to die", "risk")
    stop = move_for(moment("I want to stop", ("I want to stop", "wants_stop"), conduct=after(danger)))
    plain = move_for(moment("I want to stop", ("I want to stop", "wants_stop")))
    assert stop is not None and stop.then == "stop" and stop.help == danger.help != ""
    assert plain is not None and plain.help == ""


@pytest.mark.parametrize("said", ["stop, yes", "Stop", "ok stop here please", "yes"])
def test_asked_whether_to_stop_a_stop_in_whatever_words_is_one(said: str) -> None:
    asked = whole("enough?", "wants_stop", sure=False)
    move = move_for(moment(said, conduct=after(asked)))
    assert move is not None and move.then == "stop"


@pytest.mark.parametrize("said", ["don't stop", "no, not stop"])
def test_asked_whether_to_stop_who_denies_it_goes_on(said: str) -> None:
    asked = whole("enough?", "wants_stop", sure=False)
    move = move_for(moment(said, conduct=after(asked)))
    assert move is None or move.then != "stop"


def test_age_that_is_enough_is_content() -> None:
    text = "I'm 19"
    assert move_for(moment(text, (text, "minor"), details={"age": "19"})) is None
    assert move_for(moment("I'm 15", ("I'm 15", "minor"), details={"age": "15"}, minimum_age=14)) is None
    assert [age_of(words) for words in ("fifteen", "15", "fünfzehn", "old", "")] == [15, 15, 15, None, None]


def test_question_to_the_interviewer_is_answered_truthfully_and_the_question_asked_again() -> None:
    move = whole("are you a robot?", "asks_interviewer", about="machine")
    assert (move.text, move.then) == ("I'm a computer program, not a person.", "again")
    own = whole("are you a robot?", "asks_interviewer", about="machine", facts={"machine": "Yes, a program of Acme."})
    assert own.text == "Yes, a program of Acme."
    left = whole("how many more?", "asks_interviewer", about="left", questions_left=4)
    assert "4 more questions" in left.text
    with_content = move_for(
        moment("The line was dead for nine days. Are you a robot?",
               ("The line was dead for nine days.", "tells"), ("Are you a robot?", "asks_interviewer"), about="machine")
    )  # fmt: skip
    assert with_content is not None and (with_content.then, with_content.counts) == ("engine", True)


def test_correction_says_what_is_right_and_goes_on() -> None:
    text = "no, Thursday, not Tuesday"
    details = {"right": "thursday", "wrong": "tuesday"}
    move = whole(text, "corrects", details=details)
    assert (move.text, move.then, move.retracts) == ("Sorry, so: Thursday.", "engine", "tuesday")
    open_ended = whole("that's not what I said", "corrects", details={})
    assert (open_ended.then, open_ended.asks) == ("stands", "correction")


@pytest.mark.parametrize("right", ["isn't", "it", "that was", "so it is"])
def test_words_that_say_nothing_are_no_correction(right: str) -> None:
    said = f"I said it was peace of mind but {right}"
    heard = HeardAct(act="corrects", start=0, end=len(said), sure=True, heard_by="rules", details={"right": right})
    assert move_for(replace(moment(said), acts=(heard,))) is None


def test_who_says_that_they_asked_for_something_else_gets_it_and_is_not_asked_what_is_right() -> None:
    said = "No, I said ask me something else. We were on boots, weren't we."
    corrects = HeardAct(act="corrects", start=0, end=33, sure=True, heard_by="rules")
    topic = HeardAct(act="wants_topic", start=34, end=len(said), sure=True, about="asked", heard_by="rules")
    move = move_for(replace(moment(said), acts=(corrects, topic)))
    assert move is not None
    assert (move.act, move.asks) == ("wants_topic", "")


def test_asking_back_twice_leads_to_another_question() -> None:
    first = whole("what do you mean?", "asks_back")
    assert first.then == "simpler"
    again = whole("what do you mean?", "asks_back", conduct=after(first))
    assert (again.then, again.leaves_focus) == ("engine", True)


def test_counter_question_with_an_answer_is_owned_and_the_answer_taken() -> None:
    text = "Choose what? A plant? That it survives the winter."
    tells: tuple[str, Act] = ("That it survives the winter.", "tells")
    move = move_for(moment(text, ("Choose what? A plant?", "asks_back"), tells, heard_by="rules"))
    assert move is not None
    assert (move.then, move.counts) == ("engine", True)
    assert move.text in policy().texts.asked_unclearly


def test_interrupted_story_is_asked_for_unless_it_was_told_on() -> None:
    cut = "But I wanted to tell you what happened in the morning."
    text = f"Behind it? Kindness, I suppose. {cut}"
    move = move_for(moment(text, (cut, "wants_topic"), about="going_on"))
    assert move is not None
    assert (move.then, move.text, move.counts) == ("easier", policy().texts.cut_in_go_on, True)
    cut = "I hadn't got to the end."
    text = f"{cut} Terry came in and took the board off."
    acts: tuple[tuple[str, Act], ...] = ((cut, "wants_topic"), ("Terry came in and took the board off.", "tells"))
    on = move_for(moment(text, *acts, about="going_on"))
    assert on is not None
    assert (on.then, on.text, on.counts) == ("engine", policy().texts.cut_in, True)


def test_complaint_is_owned_and_the_thread_left() -> None:
    told = whole("I already told you that", "complains", about="told")
    assert told.then == "engine" and told.leaves_focus and told.leaves_thread and told.leaves_answer
    assert told.text in policy().texts.complained_told
    blamed = whole("you're saying it's my fault?", "complains", about="blame")
    assert blamed.text.startswith("No, I didn't mean that")


@pytest.mark.parametrize(
    ("answer", "said", "leaves"),
    [
        ("It is being my own person.", "complained_briefly", True),
        (
            "It was a relief, I sat in the car and had a proper cry, the first since the funeral.",
            "complained_briefly",
            False,
        ),
    ],
)
def test_complaint_with_an_answer_is_not_apologised_for_at_length(answer: str, said: str, leaves: bool) -> None:
    text = f"You asked me that before. {answer}"
    tells: tuple[str, Act] = (answer, "tells")
    move = move_for(moment(text, ("You asked me that before.", "complains"), tells, about="told"))
    assert move is not None
    assert move.text in getattr(policy().texts, said)
    assert (move.then, move.counts, move.leaves_answer) == ("engine", True, leaves)


def test_who_has_just_brought_something_over_their_lips_complains_of_nothing() -> None:
    told = (
        "There's no form of words for being frightened and not wanting to be seen like that. Or there is, evidently, "
    )
    text = f"{told}I've just said it."
    acts: tuple[tuple[str, Act], ...] = ((told, "tells"), ("I've just said it.", "complains"))
    assert move_for(moment(text, *acts, about="told")) is None
    to_us = f"{told}I've just told you that."
    acts = ((told, "tells"), ("I've just told you that.", "complains"))
    assert move_for(moment(to_us, *acts, about="told")) is not None


def test_who_mentions_that_it_was_said_before_gets_no_apology() -> None:
    answer = "Somebody eats them, I suppose, and it was egg and chips for Robert last night, stood up."
    tells: tuple[str, Act] = (answer, "tells")
    mild, blunt = (
        move_for(moment(f"{said} {answer}", (said, "complains"), tells, about="told"))
        for said in ("Well, as I said, four hundred jars.", "Well, I've just told you, four hundred jars.")
    )
    assert mild is not None and blunt is not None
    assert (mild.act, mild.text) == ("complains", "")
    assert blunt.text in policy().texts.complained_briefly


def test_who_has_no_more_to_say_is_asked_about_something_else() -> None:
    move = whole("there's not much more to it", "complains", about="enough")
    assert move.text in policy().texts.enough
    assert (move.then, move.leaves_focus, move.leaves_thread) == ("engine", True, True)


@pytest.mark.parametrize(
    ("told_before", "text"),
    [("It swings when I go round a corner, and there it is.", True), ("It swings when I go round. " * 6, False)],
)
def test_who_told_and_has_no_more_to_say_is_asked_about_something_else(told_before: str, text: bool) -> None:
    end = "That's the whole of it."
    move = move_for(moment(f"{told_before} {end}", (told_before, "tells"), (end, "complains"), about="enough"))
    assert move is not None
    assert (move.text in policy().texts.enough, bool(move.text)) == (text, text)
    assert (move.then, move.counts, move.leaves_thread, move.leaves_answer) == ("engine", True, True, False)


def test_who_has_no_more_to_say_and_tells_on_or_ends_with_it_is_left_alone() -> None:
    first, rest = (
        "There's not much to tell.",
        "They wear a bib and a jacket, as my father did before me. " * 3,
    )
    on = moment(f"{first} {rest}", (first, "complains"), (rest, "tells"), about="enough")
    assert move_for(on) is None
    assert move_for(moment("That's all.", ("That's all.", "complains"), about="enough", closing=True)) is None


def test_who_has_no_more_to_say_and_asks_for_something_else_is_followed() -> None:
    told_it, end, wish = "It swings when I turn.", "That's the whole of it.", "I thought you wanted umbrellas."
    said = moment(f"{told_it} {end} {wish}", (told_it, "tells"), (end, "complains"), about="enough")
    wished = HeardAct(act="wants_topic", start=said.said.index(wish), end=len(said.said), about="asked")
    move = move_for(replace(said, acts=(*said.acts, wished)))
    assert move is not None and move.act == "wants_topic"


def test_who_leaves_a_subject_beside_an_answer_is_heeded_but_not_in_the_last_one() -> None:
    told_it, leaves = "My sister rang them up, and they were free on the Saturday.", "Let's keep off my sister now."
    for closing in (False, True):
        acts: tuple[tuple[str, Act], ...] = ((told_it, "tells"), (leaves, "declines"))
        said = moment(f"{told_it} {leaves}", *acts, about="leaves", heard_by="reader", closing=closing)
        move = move_for(said)
        assert (move is not None and move.declines_focus) == (not closing)
        wish = moment(
            f"{told_it} {leaves}", (told_it, "tells"), (leaves, "wants_topic"), heard_by="reader", closing=closing
        )
        assert (move_for(wish) is None) == closing


def test_what_is_put_right_in_the_last_answer_is_not_apologised_for() -> None:
    told_it, puts_right = "If you write about it, change the name of the street, and of the church.", "I didn't say it."
    acts: tuple[tuple[str, Act], ...] = ((told_it, "tells"), (puts_right, "corrects"))
    assert move_for(moment(f"{told_it} {puts_right}", *acts, closing=True)) is None
    assert move_for(moment(f"{told_it} {puts_right}", *acts)) is not None


def test_refusal_uses_a_turn_and_closes_the_subject() -> None:
    move = whole("I'd rather not say", "declines")
    assert (move.then, move.counts, move.declines_focus) == ("engine", True, True)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It was the machine that held me up, and in that time she went, and nobody knew.", False),
        ("It was late.", True),
    ],
)
def test_who_goes_on_after_a_refusal_is_not_told_that_it_is_left(answer: str, said: bool) -> None:
    text = f"I won't go over that. {answer}"
    move = move_for(moment(text, ("I won't go over that.", "declines"), (answer, "tells")))
    assert move is not None
    assert bool(move.text) is said
    assert move.declines_focus


def test_dont_know_is_made_easier_once_and_then_left() -> None:
    first = whole("no idea", "dont_know")
    assert first.then == "easier" and first.text.endswith("?")
    second = whole("no idea", "dont_know", conduct=after(first))
    assert (second.then, second.leaves_focus) == ("engine", True)


def test_wish_for_another_subject_is_followed() -> None:
    move = whole("can we talk about my garden instead", "wants_topic", details={"topic": "my garden"})
    assert (move.then, move.text) == ("easier", "Of course. Tell me about your garden.")


def test_third_repair_in_a_row_offers_ways_on() -> None:
    conduct = ConductState()
    for number in range(3):
        move = whole("are you a robot?", "asks_interviewer", about="machine", conduct=conduct)
        assert move.offers == (WAYS_ON if number == 2 else ())
        conduct = after(move, conduct)


def test_nothing_but_the_end_is_asked_when_no_questions_are_left() -> None:
    move = whole("no idea", "dont_know", questions_left=0)
    assert (move.then, move.text) == ("engine", "")
    assert whole("I want to stop", "wants_stop", questions_left=0).then == "stop"


def test_offer_is_chosen_by_its_label_however_it_is_written() -> None:
    conduct = after(whole("I'm crying", "distress"))
    for said, act in (("something else.", "wants_topic"), ("A BREAK", "wants_pause"), ("Stop!", "wants_stop")):
        assert chosen_act(moment(said, conduct=conduct)) == act
    assert chosen_act(moment("Something else happened then", conduct=conduct)) is None
    assert chosen_act(moment("stop", conduct=ConductState())) is None
    went_on = move_for(moment("Go on talking about it", conduct=conduct))
    assert went_on is not None and went_on.text.startswith("I'm listening")


def test_alert_stays_until_somebody_has_seen_it_and_a_new_one_is_new() -> None:
    conduct = after(whole("I'm crying", "distress"))
    seen = acknowledged(conduct, "Anna")
    assert [alert.acknowledged_by for alert in seen.alerts] == ["Anna"]
    again = after(whole("I'm crying", "distress", conduct=seen), seen)
    assert [alert.acknowledged_by for alert in again.alerts] == [None]


def test_closing_question_is_not_made_easier_and_thanks_end_it() -> None:
    text = "thanks, bye"
    assert move_for(moment(text, (text, "thanks_greets"), closing=True)) is None
    assert move_for(moment("no", ("no", "dont_know"), closing=True)) is None


def test_act_that_is_not_sure_and_ends_nothing_is_content() -> None:
    for act in ("asks_back", "complains", "declines", "wants_topic", "dont_know", "corrects", "asks_interviewer"):
        assert move_for(moment("hm", ("hm", act), sure=False)) is None, act


def asked_about(act: Act) -> ConductState:
    """The state after it was asked back whether this was meant."""
    return after(whole("x", act, sure=False))


@pytest.mark.parametrize("said", ["Yes, a little break would be kind.", "A break, please", "a break would be good"])
def test_pause_is_granted_however_it_is_agreed_to(said: str) -> None:
    move = move_for(moment(said, conduct=asked_about("wants_pause")))
    assert move is not None
    assert (move.act, move.then, move.asks) == ("wants_pause", "stands", "")


@pytest.mark.parametrize(
    "said", ["No, we go on. I told about battery and my wife.", "go on. last one tho", "no", "nah, I'm fine"]
)
def test_stop_that_was_not_meant_is_no_stop(said: str) -> None:
    conduct = asked_about("wants_stop")
    assert chosen_act(moment(said, conduct=conduct)) == "aside"
    move = move_for(moment(said, conduct=conduct))
    assert move is not None
    assert move.then == "again"
    assert after(move, conduct).denied == ("wants_stop",)


def test_no_with_an_answer_behind_it_is_an_answer_and_never_the_same_question_again() -> None:
    conduct = asked_about("wants_pause")
    said = "no?? that was me answering. leave TEN MINS early. for the bus"
    assert chosen_act(moment(said, conduct=conduct)) is None
    by_reader = (HeardAct(act="wants_pause", start=0, end=len(said), sure=False, heard_by="reader"),)
    assert [one.act for one in meant(moment(said, conduct=conduct), by_reader)] == ["tells"]
    assert after(move_for(moment(said, conduct=conduct)), conduct).denied == ("wants_pause",)


def test_what_was_denied_once_needs_more_than_the_reader_alone() -> None:
    conduct = ConductState(denied=("wants_stop",))
    said = "that was the end of the road for us"
    alone = HeardAct(act="wants_stop", start=0, end=len(said), sure=False, heard_by="reader")
    ruled, sure = alone.model_copy(update={"heard_by": "rules"}), alone.model_copy(update={"sure": True})
    there = moment(said, conduct=conduct)
    assert [one.act for one in meant(there, (alone,))] == ["tells"]
    assert meant(there, (ruled,)) == (ruled,)
    assert meant(there, (sure,)) == (sure,)


def test_pause_asked_about_twice_is_granted() -> None:
    assert whole("hold it", "wants_pause", sure=False, conduct=asked_about("wants_pause")).asks == ""


@pytest.mark.parametrize("said", ["Okay, I am back.", "There, I'm back with a dry nose", "where were we?"])
def test_who_comes_back_gets_the_question_again(said: str) -> None:
    waiting = after(whole("one moment", "wants_pause"))
    assert waiting.waiting
    assert chosen_act(moment(said, conduct=waiting)) == "aside"
    move = move_for(moment(said, conduct=waiting))
    assert move is not None
    assert move.then == "again"
    assert chosen_act(moment(said)) is None


def test_wish_to_delete_a_part_is_answered_truthfully_and_deletes_nothing() -> None:
    conduct = after(whole("take that out again", "wants_withdrawal"))
    move = move_for(moment("No, not everything. Only the one sentence about Peter.", conduct=conduct))
    assert move is not None
    assert (move.then, move.text) == ("again", policy().texts.withdrawal_part)
    for said in ("yes but only the last thing I said", "not the lot, just that one sentence", "only that"):
        part = move_for(moment(said, conduct=conduct))
        assert part is not None
        assert (part.then, part.text) == ("again", policy().texts.withdrawal_part)


def test_no_to_a_deletion_nobody_asked_for_goes_on_with_the_answer() -> None:
    text = "I locked up and drove to Matlock. I don't know whether you got that."
    tells: tuple[str, Act] = ("I locked up and drove to Matlock.", "tells")
    asked = move_for(moment(text, tells, ("I don't know whether you got that.", "wants_withdrawal")))
    assert asked is not None
    said = "No! Who said anything about deleting? I was only asking whether you'd followed me."
    him = "No, please, why? It was the gentleman who said take that one out, he meant me. Please keep it."
    for answer in (said, him):
        move = move_for(moment(answer, conduct=after(asked)))
        assert move is not None
        assert (move.then, move.text) == ("engine", policy().texts.withdrawal_kept)


def test_who_takes_leave_behind_the_last_answer_is_not_told_that_we_stop() -> None:
    said = "Tell them to make a bigger one, with ham in it. I've to go and eat something now."
    tells = HeardAct(act="tells", start=0, end=47)
    leaves = HeardAct(act="wants_stop", start=48, end=len(said), sure=True)
    there = replace(moment(said), acts=(tells, leaves))
    assert move_for(replace(there, closing=True)) is None
    open_still = move_for(there)
    assert open_still is not None and open_still.act == "wants_stop"


def test_complaint_that_only_the_reader_hears_behind_a_story_is_none() -> None:
    story = "It was he who said, hoot, you have to hoot here, quite sternly, as if he had lived here always. " * 2
    said = f"{story}I think with that I have told you the main things."
    end = HeardAct(act="complains", start=len(story), end=len(said), sure=True, heard_by="reader")
    tells = HeardAct(act="tells", start=0, end=len(story))
    assert move_for(replace(moment(said), acts=(tells, end))) is None
    first = f"You've passed over my question, I notice. {story}"
    heard = HeardAct(act="complains", start=0, end=41, sure=True, heard_by="reader")
    rest = HeardAct(act="tells", start=42, end=len(first))
    move = move_for(replace(moment(first), acts=(heard, rest)))
    assert move is not None and move.act == "complains"


def test_complaint_beside_an_answer_is_left_alone_and_one_beside_little_is_owned() -> None:
    grumble = "Third time philosophy."
    answers = "It means the bread is good and the bottom honest, so that somebody hears it."
    for answer, act in ((answers, None), ("Bread is bread.", "complains")):
        said = f"{grumble} {answer}"
        weary = HeardAct(act="complains", start=0, end=len(grumble), about="weary", heard_by="reader")
        tells = HeardAct(act="tells", start=len(grumble) + 1, end=len(said))
        move = move_for(replace(moment(said), acts=(weary, tells)))
        assert (move.act if move is not None else None) == act


def test_good_bye_does_not_cover_that_somebody_wants_to_stop() -> None:
    text = "I have to leave you now. Bye bye."
    there = moment(text)
    acts = (
        HeardAct(act="wants_stop", start=0, end=24, sure=False, heard_by="reader"),
        HeardAct(act="thanks_greets", start=25, end=len(text)),
    )
    move = move_for(replace(there, acts=acts))
    assert move is not None
    assert (move.act, move.asks) == ("wants_stop", "stop")


def test_other_subject_wished_for_beside_an_answer_is_left() -> None:
    text = "It is a cup with a chip in it and he is not here. I'd rather talk about the coffee itself."
    at = text.index("I'd rather")
    move = move_for(moment(text, (text[: at - 1], "tells"), (text[at:], "wants_topic")))
    assert move is not None
    assert (move.then, move.counts, move.leaves_focus) == ("engine", True, True)


def test_question_that_was_answered_beside_is_not_put_again() -> None:
    told = "My forklift is loud and the battery is what counts. My shift is ten hours."
    at = told.index("My shift")
    asked = move_for(moment(told, (told[:at], "tells"), (told[at:], "wants_stop"), sure=False))
    assert asked is not None
    assert (asked.asks, asked.answered) == ("stop", True)
    on = move_for(moment("no", conduct=after(asked)))
    assert on is not None
    assert (on.then, on.text, on.counts) == ("stands", policy().texts.cut_in_go_on, False)
    on = move_for(moment("Go on", conduct=after(asked)))
    assert on is not None
    assert (on.then, on.text, on.counts) == ("engine", "", True)
    told_on = "No. It is loud, and the seat is broken too, and nobody mends it."
    on = move_for(moment(told_on, (told_on, "tells"), conduct=after(asked)))
    assert on is None or on.then == "engine"
    last = move_for(moment("Go on", conduct=after(asked), questions_left=0))
    assert last is not None
    assert last.then == "again"


@pytest.mark.parametrize(
    "said", ["Yes, that is exactly what I want. Erase all of it.", "yeah get rid of the lot please"]
)
def test_deletion_is_confirmed_in_ones_own_words(said: str) -> None:
    conduct = after(whole("delete all I said", "wants_withdrawal"))
    move = move_for(moment(said, conduct=conduct))
    assert move is not None
    assert move.then == "withdraw"


def test_deletion_asked_for_a_second_time_is_confirmed() -> None:
    conduct = after(whole("delete all I said", "wants_withdrawal"))
    said = "I have confirmed it. Delete everything."
    assert whole(said, "wants_withdrawal", conduct=conduct).then == "withdraw"


@pytest.mark.parametrize("said", ["yes but only the last thing", "Yes, just that one", "yes, not the rest though"])
def test_deletion_of_a_part_is_never_taken_for_all(said: str) -> None:
    conduct = after(whole("delete what I said about Peter", "wants_withdrawal"))
    for acts in ((), ((said, "wants_withdrawal"),)):
        move = move_for(moment(said, *acts, conduct=conduct))
        assert move is None or move.then != "withdraw"


def test_policy_of_an_interview_that_began_before_these_texts_is_still_one() -> None:
    newer = {"yes_begins", "no_begins", "part_words", "keep_words", "back_words", "withdrawal_part"}
    known = policy().model_dump()
    known["texts"] = {name: text for name, text in known["texts"].items() if name not in newer}
    older = ConductPolicy.model_validate(known)
    there = replace(moment("No, not all of it, only the last thing."), policy=older)
    conduct = after(whole("delete all I said", "wants_withdrawal"))
    assert move_for(replace(there, conduct=conduct)) is None
    yes, no = (move_for(replace(there, said=said, conduct=conduct)) for said in ("yes", "no"))
    assert yes is not None
    assert no is not None
    assert (yes.then, no.then) == ("withdraw", "again")


def test_correction_that_only_the_reader_hears_asks_for_nothing() -> None:
    said = "trains are late, as I said"
    alone = HeardAct(act="corrects", start=0, end=len(said), heard_by="reader")
    assert [one.act for one in meant(moment(said), (alone,))] == ["tells"]
    no = "No, that is not what happened to me"
    heard_no = HeardAct(act="corrects", start=0, end=len(no), heard_by="reader")
    assert meant(moment(no), (heard_no,)) == (heard_no,)
    move = move_for(replace(moment(no), acts=(heard_no,)))
    assert move is not None
    assert (move.then, move.asks) == ("engine", "")


def test_correction_beside_an_answer_is_owned_in_a_few_words_and_followed_silently_in_a_story() -> None:
    right = "it was my brother who drove"
    for said, owned in (
        (right, True),
        (f"The road was white and we came down it at a walk, {right}, sideways.", False),
    ):
        at = said.index(right)
        tells = [HeardAct(act="tells", start=0, end=at)] if at else []
        acts = (*tells, HeardAct(act="corrects", start=at, end=at + len(right), about="put_right", heard_by="reader"))
        assert meant(moment(said), acts) == acts
        move = move_for(replace(moment(said), acts=acts))
        assert move is not None
        assert (bool(move.text), move.then, move.leaves_focus) == (owned, "engine", True)


def test_question_to_the_interviewer_is_answered_beside_another_act() -> None:
    said = "I said that already. Who reads this?"
    acts = (
        HeardAct(act="complains", start=0, end=20, about="told"),
        HeardAct(act="asks_interviewer", start=21, end=len(said), about="readers"),
    )
    move = move_for(replace(moment(said), acts=acts))
    assert move is not None and move.act == "complains"
    texts = policy().texts
    assert move.text.startswith(texts.facts["readers"])
    assert len(move.text) > len(texts.facts["readers"])
    ending = (HeardAct(act="wants_withdrawal", start=0, end=20), acts[1])
    deleted = move_for(replace(moment(said), acts=ending))
    assert deleted is not None and texts.facts["readers"] not in deleted.text


def test_hang_on_before_a_correction_is_no_wish_for_a_pause() -> None:
    said = "Hang on. I said half, not a third."
    acts = (
        HeardAct(act="wants_pause", start=0, end=8),
        HeardAct(act="corrects", start=9, end=len(said), details={"wrong": "a third", "right": "half"}),
    )
    move = move_for(replace(moment(said), acts=acts))
    assert move is not None and (move.act, move.right) == ("corrects", "half")
    called = "Hang on, somebody is at the door for me. I said half, not a third."
    away = (HeardAct(act="wants_pause", start=0, end=40), acts[1].model_copy(update={"start": 41, "end": len(called)}))
    waits = move_for(replace(moment(called), acts=away))
    assert waits is not None and waits.act == "wants_pause"


def test_question_is_answered_where_somebody_says_that_it_goes_on() -> None:
    asked = move_for(moment("Enough, maybe?", ("Enough, maybe?", "wants_stop"), sure=False))
    assert asked is not None and asked.asks == "stop"
    said = "No, go on. How long is this?"
    acts = (
        HeardAct(act="tells", start=0, end=10),
        HeardAct(act="asks_interviewer", start=11, end=len(said), about="length"),
    )
    on = move_for(replace(moment(said, conduct=after(asked)), acts=acts))
    assert on is not None
    assert (on.act, on.then, on.text) == ("wants_stop", "again", policy().texts.facts["length"])


def test_correction_that_says_much_is_not_cut_down_to_what_is_right() -> None:
    said = "No, it was not the price of the machine at all that I meant there, it was the wait."
    details = {"wrong": "the price", "right": "the wait"}
    move = move_for(replace(moment(said), acts=(HeardAct(act="corrects", start=0, end=len(said), details=details),)))
    assert move is not None and "wait" not in move.text
    short = "No, it was the wait."
    own = HeardAct(act="corrects", start=0, end=len(short), details=details, about="told_wrong")
    told = move_for(replace(moment(short), acts=(own,)))
    assert told is not None and told.text == policy().texts.corrected_told.replace("{right}", "the wait")


def test_who_corrects_themselves_is_told_nothing_for_it() -> None:
    said = "Ninety quid for a zip. Nineteen, sorry."
    acts = (
        HeardAct(act="tells", start=0, end=22),
        HeardAct(act="corrects", start=23, end=len(said), about="self", heard_by="reader"),
    )
    assert meant(moment(said), acts) == acts
    assert move_for(replace(moment(said), acts=acts)) is None
    assert told(said, acts) == "Ninety quid for a zip.\n\nNineteen, sorry."


def test_who_says_only_to_go_on_gets_the_next_question_and_is_not_thanked_for_it() -> None:
    move = whole("go on please", "wants_topic", about="next")
    assert (move.then, move.counts, move.leaves_focus, move.text) == ("engine", True, True, policy().texts.next)


def test_keys_struck_at_random_are_asked_again_once() -> None:
    move = whole("asdf", "aside", about="unreadable")
    assert (move.then, move.text) == ("again", policy().texts.unreadable)
    second = whole("asdf", "aside", about="unreadable", conduct=ConductState(repairs_in_a_row=1))
    assert (second.then, second.counts) == ("engine", True)


def test_what_follows_a_wish_to_finish_telling_is_listened_to() -> None:
    text = "No wait, I had not finished. It smells of rain."
    found = heard(
        text, ("No wait, ", "wants_topic"), ("I had not finished. ", "wants_topic"), ("It smells of rain.", "tells")
    )
    found = (found[0], found[1].model_copy(update={"about": "going_on"}), found[2])
    move = move_for(replace(moment(text), acts=found))
    assert move is not None and (move.then, move.text) == ("engine", policy().texts.cut_in)


def test_who_takes_leave_after_being_asked_whether_to_stop_has_stopped() -> None:
    asked = ConductState(asked="stop", offers=("stop", "carry_on"))
    text = "That was a pleasure, good-bye."
    move = move_for(moment(text, (text, "thanks_greets"), conduct=asked))
    assert move is not None and move.then == "stop"
    unsure = moment("I see the bus, the next one is in an hour.", conduct=asked)
    acts = (HeardAct(act="wants_stop", start=0, end=13, sure=False),)
    assert [act.sure for act in meant(unsure, acts)] == [True]


def test_who_was_misunderstood_and_wants_to_tell_on_is_let_tell() -> None:
    text = "No, nobody is in danger. I'd like to go on telling it."
    asked = ConductState(asked="risk", offers=("yes", "no"))
    told_on = moment(text, ("I'd like to go on telling it.", "wants_topic"), about="going_on", conduct=asked)
    move = move_for(told_on)
    assert move is not None and move.then == "stands" and move.text.endswith(policy().texts.go_on)


def test_complaint_comes_before_a_question_back_and_a_wrong_subject_is_owned() -> None:
    text = "Which day? I told you already."
    both = move_for(moment(text, ("Which day? ", "asks_back"), ("I told you already.", "complains")))
    assert both is not None and both.act == "complains"
    beside = whole("That's not the point, the point is the smell.", "complains", about="beside")
    assert (beside.text, beside.leaves_focus, beside.leaves_answer) == (policy().texts.corrected_plain, True, False)


def test_question_about_an_idea_that_was_shown_is_answered_honestly_and_the_interview_goes_on() -> None:
    texts = policy().texts
    move = whole("Is it made near here?", "asks_interviewer", about="other", shown=True)
    assert (move.then, move.counts) == ("engine", True)
    assert move.text in texts.idea_silent
    known = whole("Are you a robot?", "asks_interviewer", about="machine", shown=True)
    assert (known.then, known.text) == ("again", texts.facts["machine"])
    plain = whole("Is it made near here?", "asks_interviewer", about="other")
    assert (plain.then, plain.text) == ("again", texts.facts["other"])


def test_who_does_not_understand_an_idea_is_not_given_the_question_in_other_words() -> None:
    said = "I don't get it. Is it like a shop?"
    assert move_for(moment(said, (said, "asks_back"), shown=True, asks_idea=True)) is None
    assert whole(said, "asks_back", shown=True).then == "simpler"
    which = "About which part, the pay or the Wednesdays?"
    assert whole(which, "asks_back", shown=True, asks_idea=True).then == "simpler"
    assert whole(said, "asks_back").then == "simpler"


def test_long_answer_about_an_idea_is_not_broken_off_by_a_pause_that_only_the_reader_heard() -> None:
    told = (
        "On nights I stand in a cold hall and then I want something warm in my hands before I eat it, like at home. "
        * 2
    )
    said = f"{told}I have ten minutes."
    reader: dict[str, Any] = {"sure": False, "heard_by": "reader"}
    assert move_for(moment(said, ("I have ten minutes.", "wants_pause"), (told, "tells"), shown=True, **reader)) is None
    assert move_for(moment(said, ("I have ten minutes.", "wants_pause"), (told, "tells"), **reader)) is None
    brief = "I have ten minutes."
    plain = move_for(moment(brief, (brief, "wants_pause"), **reader))
    assert plain is not None and plain.asks == "pause"


def test_who_tells_on_after_being_asked_whether_to_stop_by_mistake_is_asked_nothing_of_that() -> None:
    asked = ConductState(asked="stop", answered=True, offers=("stop", "carry_on"))
    well = "Nah I'm fine, go on. I'm on my day off, I've nothing on but washing."
    move = move_for(moment(well, (well, "tells"), conduct=asked))
    assert move is not None
    assert (move.then, move.text, move.leaves_answer) == ("engine", policy().texts.stop_taken_back, True)
    tired = "No, I'm fine, but I want to stop here."
    ended = move_for(moment(tired, (tired, "wants_stop"), conduct=asked))
    assert ended is not None and ended.then == "stop"


def test_refusal_beside_a_complaint_is_heeded() -> None:
    text = "That's the second time you ask. I'd rather not make an opera of it."
    acts: tuple[tuple[str, Act], ...] = (
        ("That's the second time you ask.", "complains"),
        ("I'd rather not make an opera of it.", "declines"),
    )
    move = move_for(moment(text, *acts, about="told"))
    assert move is not None
    assert (move.act, move.declines_focus) == ("declines", True)
    assert move.text in policy().texts.declined


def test_what_is_no_complaint_to_us_in_a_story_is_not_apologised_for() -> None:
    story = "I moved here for the job and I walked round that park every Sunday in the rain with headphones in. "
    acts: tuple[tuple[str, Act], ...] = ((story, "tells"), ("I've told everybody that already.", "complains"))
    assert move_for(moment(f"{story}I've told everybody that already.", *acts, about="told")) is None


def test_stop_that_is_not_sure_ends_an_interview_without_questions_unless_something_was_told() -> None:
    assert whole("maybe that's enough?", "wants_stop", sure=False, questions_left=0).then == "stop"
    told = "We sold the boat in the spring and bought a van."
    beside = moment(
        f"{told} Enough, maybe?", (told, "tells"), ("Enough, maybe?", "wants_stop"), sure=False, questions_left=0
    )
    assert move_for(beside) is None


def test_who_is_in_no_danger_was_misunderstood_and_is_asked_to_tell_on() -> None:
    told = "I kept it in the drawer, nobody knows, and in the dark I hold it."
    asked = move_for(moment(told, (told, "risk"), sure=False, heard_by="reader"))
    assert asked is not None and asked.asks == "risk"
    texts = policy().texts
    on = move_for(moment("No", conduct=after(asked)))
    assert on is not None
    assert (on.then, on.text) == ("stands", f"{texts.risk_mistaken} {texts.corrected_on}")


@pytest.mark.parametrize(
    ("said", "over"),
    [("I'm fine again, we can go on", True), ("You misunderstood me, I'm fine, we can go on", False)],
)
def test_who_was_in_danger_and_is_well_again_was_not_misunderstood(said: str, over: bool) -> None:
    told = "I don't want to live any more."
    warned = move_for(moment(told, (told, "risk")))
    assert warned is not None and warned.alert == "risk"
    on = move_for(moment(said, conduct=after(warned)))
    assert on is not None
    texts = policy().texts
    assert (texts.risk_over in on.text, texts.risk_mistaken in on.text) == (over, not over)


def test_break_that_is_not_sure_is_not_offered_after_the_closing_question() -> None:
    said = "It's nearly six, I'll have a nose on my knee in a minute."
    beside = moment(said, (said, "wants_pause"), sure=False, closing=True)
    assert move_for(beside) is None
    assert whole(said, "wants_pause", sure=False).asks == "pause"
    assert whole("I need a moment", "wants_pause", closing=True).then == "stands"


@pytest.mark.parametrize(
    ("text", "heard_by", "goes_on"),
    [
        ("Not bothered. Go on a bit if you want. No more phone numbers though.", "reader", True),
        ("Eh, keep going then.", "reader", True),
        ("I don't think I can go on.", "reader", False),
        ("It could go on for hours. I'd like to stop.", "rules", False),
    ],
)
def test_who_says_in_other_words_that_it_goes_on_is_not_sent_away(text: str, heard_by: str, goes_on: bool) -> None:
    asked = ConductState(asked="stop", offers=("stop", "carry_on"))
    last = text.split(". ")[-1]
    found = moment(text, (last, "wants_stop"), conduct=asked, sure=heard_by == "rules", heard_by=heard_by)
    move = move_for(found)
    assert move is not None and (move.then != "stop") is goes_on


def test_who_says_among_other_things_that_nothing_is_to_be_deleted_is_reassured() -> None:
    asked = ConductState(asked="withdrawal", offers=("withdraw", "no"))
    text = "What? The voicemail, I said I can't delete the voicemail. From my kid. Don't delete anything, jeez."
    move = move_for(moment(text, (text, "tells"), conduct=asked))
    assert move is not None
    assert move.then != "withdraw" and move.text.startswith(policy().texts.withdrawal_kept)
    yes = move_for(moment("Delete it all, please.", ("Delete it all, please.", "wants_withdrawal"), conduct=asked))
    assert yes is not None and yes.then == "withdraw"


def test_who_has_lost_their_thread_hears_what_they_told_last() -> None:
    said = "Right. I've made a tea. I'm all right now. Where was I."
    acts = moment(said, ("Where was I.", "asks_back"), about=WHERE, conduct=ConductState(waiting=True, answered=True))
    told = "Alan was in the lane. He sat in his good suit. About twenty to five. And I, sorry."
    move = move_for(replace(acts, told_last=told))
    assert move is not None
    assert "“About twenty to five. And I, sorry.”" in move.text
    assert (move.then, move.answered) == ("stands", True)
    without = move_for(replace(acts, told_last=""))
    assert without is None or without.text == ""


@pytest.mark.parametrize(("closing", "then"), [(False, "easier"), (True, "stands")])
def test_what_somebody_was_not_asked_is_asked_even_at_the_end(closing: bool, then: str) -> None:
    said = "Said I'd shrunk. You might have asked what she was like with my tape."
    words = "You might have asked what she was like with my tape."
    details = {"topic": "what she was like with my tape"}
    move = move_for(moment(said, (words, "wants_topic"), about=UNASKED, details=details, closing=closing))
    assert move is not None
    assert move.text == "You're right, I should have asked. Tell me what she was like with your tape."
    assert move.then == then


def test_who_asks_in_the_middle_of_a_pause_is_answered() -> None:
    said = "Then off to bed. Hang on, I've put a name in there. Who reads this?"
    acts = [
        *heard(said, ("Hang on, I've put a name in there.", "wants_pause"), about="plainly"),
        *heard(said, ("Who reads this?", "asks_interviewer"), about="readers"),
    ]
    kept = tuple(one for one in acts if one.act != "tells")
    move = move_for(replace(moment(said), acts=kept))
    assert move is not None and move.act == "asks_interviewer"
    assert "read your answers" in move.text


def test_whom_an_idea_is_for_is_no_question_of_the_study() -> None:
    said = "nice, but who is that for. glass, with three kids on a tiled floor"
    acts: tuple[str, Act] = ("but who is that for.", "asks_interviewer")
    shown = move_for(moment(said, acts, about="who", shown=True))
    assert shown is not None and shown.text == ""
    other = move_for(moment(said, acts, about="who"))
    assert other is not None and "who asked for this study" in other.text


def test_who_tells_what_was_not_asked_is_asked_to_go_on() -> None:
    said = "You've not once asked what he was like. He taught me to ride, and ran beside me the whole way."
    words = "You've not once asked what he was like."
    move = move_for(moment(said, (words, "wants_topic"), about=UNASKED, details={"topic": ""}))
    assert move is not None
    assert move.text == "You're right, I should have asked that. Please go on."


UPSET = "I'm crying, sorry"


def upset() -> ConductState:
    """Of somebody who was upset and is offered ways on."""
    return after(whole(UPSET, "distress"))


def chosen_in_words(text: str, conduct: ConductState, **fields: Any) -> Move | None:
    """The move of a message that chooses a way on in words that are known; None where it has none of them."""
    act = wished(moment(text, conduct=conduct))
    return move_for(replace(moment(text, conduct=conduct, **fields), acts=(act,))) if act is not None else None


@pytest.mark.parametrize(
    "text",
    [
        "I should like to sit quietly for a minute and fetch a glass of water, if that is all right.",
        "let me just blow my nose",
        "give me a moment, then we can go on",
        "I need some air",
        "a cup of tea",
    ],
)
def test_who_is_upset_gets_a_break_in_whatever_words_they_wish_for_it(text: str) -> None:
    move = chosen_in_words(text, upset())
    assert move is not None
    assert (move.act, move.text, move.then) == ("wants_pause", policy().texts.pause, "stands")


@pytest.mark.parametrize(
    "text",
    [
        "I don't need a minute, please go on",
        "we can go on now, I had a moment there",
        "It was quiet for a moment and then the phone rang",
        "she used to make me a cup of tea every morning",
        "The nurse gave me some water and held my hand",
        "It was a minute past nine when the doctor came in and said that he had gone, and nobody had rung us, not one"
        " of them, all night long.",
    ],
)
def test_who_needs_no_break_gets_none(text: str) -> None:
    act = wished(moment(text, conduct=upset()))
    assert act is None or act.act != "wants_pause"


@pytest.mark.parametrize(
    "text", ["she is not sad any more", "he was not upset at all, that was what hurt", "huh", "what?"]
)
def test_what_is_told_of_others_makes_nobody_calm(text: str) -> None:
    assert wished(moment(text, conduct=upset())) is None


@pytest.mark.parametrize(
    ("act", "by", "sure"),
    [
        ("risk", "reader", False),
        ("wants_withdrawal", "rules", True),
        ("minor", "rules", False),
        ("wants_stop", "rules", True),
        ("asks_interviewer", "rules", True),
        ("asks_back", "rules", True),
    ],
)
def test_what_weighs_more_than_a_choice_goes_before_it(act: Act, by: str, sure: bool) -> None:
    heard_act = HeardAct(act=act, start=0, end=9, sure=sure, heard_by=by)  # type: ignore[arg-type]
    assert outweighs((heard_act,), "ways")
    assert not outweighs((heard_act.model_copy(update={"about": FAINT}),), "ways")
    if act in ("wants_stop", "asks_interviewer", "asks_back"):
        assert not outweighs((heard_act.model_copy(update={"heard_by": "reader"}),), "ways")
        assert not outweighs((heard_act,), "ways", plainly=False)
    assert outweighs((heard_act,), "risk") == (act != "risk")
    assert outweighs((heard_act,), "withdrawal") == (act != "wants_withdrawal")


def test_a_minute_of_a_story_is_no_wish_for_one() -> None:
    assert wished(moment("give me five minutes", conduct=ConductState())) is None
    in_a_story = ConductState(offers=WAYS_IN_A_STORY)
    text = "I need to tell it in order: he came back after five minutes and sat down next to me and said nothing."
    assert wished(moment(text, conduct=in_a_story)) is None


def test_who_is_not_upset_is_believed() -> None:
    text = "im not upset, its only cold hands"
    move = chosen_in_words(text, upset())
    assert move is not None
    assert (move.then, move.text) == ("engine", policy().texts.distress_mistaken)
    assert wished(moment(text, conduct=ConductState())) is None
    none_left = chosen_in_words(text, upset(), questions_left=0)
    assert none_left is not None
    assert (none_left.then, none_left.text) == ("stands", policy().texts.go_on)


@pytest.mark.parametrize("text", ["im fine", "I'm fine, really"])
def test_who_is_well_is_asked_on(text: str) -> None:
    move = chosen_in_words(text, upset())
    assert move is not None
    assert (move.act, move.then, move.text) == ("distress", "engine", policy().texts.stop_taken_back)
    asked = move_for(moment("carry on, ask me the next question", conduct=upset()))
    assert asked is not None
    assert (asked.then, asked.text) == ("engine", policy().texts.stop_taken_back)


def test_who_goes_on_and_refuses_something_hears_that_it_is_left() -> None:
    text = (
        "I would rather not tell more about being upset. I have had my water now and I am feeling steadier, so I am"
        " quite willing to go on with the contract."
    )
    refused = "I would rather not tell more about being upset. "
    move = move_for(moment(text, (refused, "declines"), (text[len(refused) :], "tells")))
    assert move is not None
    assert (move.act, move.then) == ("declines", "engine")
    assert move.text in policy().texts.declined


@pytest.mark.parametrize(
    "text", ["ask me about coffee", "let's stay with coffee then", "I'd rather talk about coffees"]
)
def test_who_would_be_asked_about_the_subject_is_asked_about_it(text: str) -> None:
    move = whole(text, "wants_topic")
    assert (move.then, move.text, move.leaves_focus) == ("engine", policy().texts.next, True)
    other = whole("ask me about the garden", "wants_topic", details={"topic": "the garden"})
    assert (other.then, other.text) == ("easier", "Of course. Tell me about the garden.")


def test_who_thought_it_was_about_the_subject_is_asked_about_it() -> None:
    move = whole("I thought it was about coffee", "complains", about="beside")
    assert (move.act, move.then, move.text) == ("wants_topic", "engine", policy().texts.corrected_plain)
    other = whole("I thought it was about the shop", "complains", about="beside")
    assert other.act == "complains"


def test_who_asks_which_of_two_things_to_tell_is_told() -> None:
    move = whole("do you want to hear about my work or the coffee?", "asks_back", about=WHICH)
    assert (move.then, move.text) == ("stands", "Whichever of the two you would rather tell me about.")
    meant = "more about what, the door or the people?"
    assert move_for(moment(f"{meant} half the time it's off", (meant, "asks_back"))) == move
    assert whole("what do you mean by that?", "asks_back").then == "simpler"
    text = "do you want the time with the crown or just the place? crown was worse by a mile"
    chosen = move_for(moment(text, (text[: text.index("?") + 1], "asks_back"), about=WHICH))
    assert chosen is not None
    assert (chosen.then, chosen.text) == ("engine", "")


def replied(text: str, act: Act, about: str, conduct: ConductState, **fields: Any) -> Move | None:
    """The move after an answer to what was asked back that the reader has understood."""
    return move_for(moment(text, (text, act), about=about, heard_by="reader", conduct=conduct, **fields))


def test_an_answer_that_was_understood_is_followed_whatever_its_words() -> None:
    texts = policy().texts
    on = replied("oh I'm grand me", "aside", CHOOSES_ON, upset())
    assert on is not None
    assert (on.act, on.then, on.text) == ("distress", "engine", texts.stop_taken_back)
    telling = replied("I'd like to tell you the rest", "aside", CHOOSES_ON, upset())
    assert telling is not None
    assert (telling.then, telling.text) == ("stands", texts.go_on)
    calm = replied("hay fever that", "aside", CHOOSES_CALM, upset())
    assert calm is not None
    assert (calm.then, calm.text) == ("engine", texts.distress_mistaken)
    other = replied("the other thing maybe", "wants_topic", CHOOSES_ELSE, upset())
    assert other is not None
    assert (other.then, other.declines_focus) == ("engine", True)
    asked = after(whole("maybe enough?", "wants_stop", sure=False))
    back = replied("I've all evening me", "aside", ANSWERS_NO, asked)
    assert back is not None
    assert back.text == texts.stop_taken_back
    pause = replied("kettle first", "wants_pause", "", asked)
    assert pause is not None
    assert (pause.act, pause.then) == ("wants_pause", "stands")
    end = replied("I'll love you and leave you", "wants_stop", "", asked)
    assert end is not None
    assert end.then == "stop"


def test_an_answer_about_danger_or_deletion_that_was_understood_is_followed() -> None:
    texts = policy().texts
    risk = after(whole("what is this", "risk", sure=False, heard_by="reader"))
    assert risk.asked == "risk"
    safe = replied("a way of speaking", "aside", ANSWERS_NO, risk)
    assert safe is not None
    assert safe.text.startswith(texts.risk_mistaken)
    danger = replied("it is my lad", "risk", ANSWERS_YES, risk)
    assert danger is not None
    assert (danger.text, bool(danger.help), danger.alert) == (texts.risk, True, "risk")
    evades = move_for(moment("who can say", ("who can say", "risk"), sure=False, heard_by="reader", conduct=risk))
    assert evades is not None
    assert (evades.text, bool(evades.help)) == (texts.risk_spoken_of, True)
    deletion = after(whole("take it out", "wants_withdrawal"))
    for about, then, text in (
        (ANSWERS_NO, "again", texts.withdrawal_kept),
        (ANSWERS_PART, "again", texts.withdrawal_part),
        (ANSWERS_YES, "withdraw", texts.withdrawn),
    ):
        act: Act = "wants_withdrawal" if about == ANSWERS_YES else "aside"
        move = replied("so be it", act, about, deletion)
        assert move is not None
        assert (move.then, move.text) == (then, text)


def test_who_is_back_from_a_break_they_needed_since_they_were_upset_is_asked_where_to_go_on() -> None:
    paused = after(move_for(moment("I'm crying. Give me a moment.", ("Give me a moment.", "wants_pause"))))
    upset_too = paused.model_copy(
        update={"alerts": (CareAlert(code="distress", turn_number=3, since=NOW),), "answered": True}
    )
    move = move_for(moment("Okay. I'm back.", ("Okay. I'm back.", "aside"), conduct=upset_too))
    assert move is not None
    assert (move.text, move.then, move.offers) == (
        policy().texts.back_upset,
        "stands",
        ("go_on", "something_else", "stop"),
    )
    plainly = move_for(moment("Okay. I'm back.", ("Okay. I'm back.", "aside"), conduct=paused))
    assert plainly is not None
    assert plainly.then in ("again", "engine")
    back = after(move, upset_too)
    fine = move_for(moment("from there is fine", ("from there is fine", "aside"), about=CHOOSES_CALM, conduct=back))
    assert fine is not None
    assert fine.text != policy().texts.distress_mistaken


def test_who_refuses_and_says_what_they_would_tell_is_asked_for_that() -> None:
    text = "I'd rather not stay on that part. I can tell you what I did afterwards."
    move = move_for(
        moment(
            text,
            ("I can tell you what I did afterwards.", "wants_topic"),
            about=OFFERED,
            details={"topic": "what I did afterwards"},
        )
    )
    assert move is not None
    assert (move.then, move.text) == ("easier", "Of course. Tell me what you did afterwards.")


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("Not much more to it.", True),
        ("There isn't much more. It was on the left.", True),
        ("There isn't much more. Decided, one portion, stuff I've got in, not much sugar. I'd pay for that.", False),
    ],
)
def test_who_has_no_more_to_tell_and_tells_on_is_listened_to(text: str, leaves: bool) -> None:
    said = text.split(". ")[0]
    move = move_for(moment(text, (said, "complains"), about=ENOUGH))
    assert (move is not None and move.leaves_thread) == leaves


def test_help_comes_with_the_end_only_where_danger_was_spoken_of() -> None:
    faint = after(whole("watching my wife hold hands with the chef", "risk", about=FAINT, sure=False))
    assert [(alert.code, alert.faint) for alert in faint.alerts] == [("risk", True)]
    assert not whole("that's me done, stop", "wants_stop", conduct=faint).help
    spoken = after(whole("he hits me", "risk"), faint)
    assert [(alert.code, alert.faint) for alert in spoken.alerts] == [("risk", False)]
    assert whole("that's me done, stop", "wants_stop", conduct=spoken).help
    again = after(whole("a faint thing", "risk", about=FAINT, sure=False), spoken)
    assert [(alert.code, alert.faint) for alert in again.alerts] == [("risk", False)]


def test_who_may_find_what_was_written_is_answered_beside_danger() -> None:
    text = "he goes through this phone. Will he be able to see this?"
    asks = text.index("Will")
    acts = (
        HeardAct(act="risk", start=0, end=asks, sure=False, heard_by="reader"),
        HeardAct(act="asks_interviewer", start=asks, end=len(text), about="traces"),
    )
    move = move_for(replace(moment(text), acts=acts))
    assert move is not None
    assert move.text == f"{policy().texts.facts['traces']} {policy().texts.risk_ask}"


def test_one_sign_of_being_controlled_is_shown_to_a_person_and_asked_about_after_another_sign_of_danger() -> None:
    text = "my husband goes through my phone"
    sign = HeardAct(act="risk", start=0, end=len(text), sure=False, about=CONTROLLED, heard_by="reader")
    first = move_for(replace(moment(text), acts=(sign,)))
    assert first is not None
    assert (first.text, first.alert, first.then) == ("", "risk", "engine")
    known = ConductState(alerts=(CareAlert(code="risk", turn_number=2, since=NOW),))
    again = move_for(replace(moment(text, conduct=known), acts=(sign,)))
    assert again is not None
    assert (again.asks, again.then) == ("risk", "stands")


def test_doubtful_second_wish_to_delete_deletes_nothing() -> None:
    deletion = after(whole("take it out", "wants_withdrawal"))
    text = "could you lose that"
    for sure, then in ((False, "stands"), (True, "withdraw")):
        wish = HeardAct(act="wants_withdrawal", start=0, end=len(text), sure=sure, heard_by="reader")
        move = move_for(replace(moment(text, conduct=deletion), acts=(wish,)))
        assert move is not None
        assert move.then == then


def test_who_was_asked_whether_to_stop_is_understood_by_all_they_say() -> None:
    stop = HeardAct(act="wants_stop", start=0, end=9)
    assert not outweighs((stop,), "stop")
    question = HeardAct(act="asks_back", start=0, end=4)
    assert outweighs((question,), "stop")
    assert not outweighs((question, HeardAct(act="tells", start=5, end=9)), "stop")


def test_deletion_is_asked_about_once_more_before_anything_is_deleted_on_a_doubtful_word() -> None:
    texts = policy().texts
    first = after(whole("take it out", "wants_withdrawal"))
    text = "but all of it, as I said"  # Its “but” alone names no part.
    doubtful = HeardAct(
        act="wants_withdrawal", start=0, end=len(text), sure=False, about=ANSWERS_YES, heard_by="reader"
    )
    again = move_for(replace(moment(text, conduct=first), acts=(doubtful,)))
    assert again is not None
    assert (again.text, again.asks, again.offers) == (texts.withdrawal_again, "withdrawal_again", ("withdraw", "no"))
    second = after(again, first)
    deleted = move_for(replace(moment(text, conduct=second), acts=(doubtful,)))
    assert deleted is not None
    assert deleted.then == "withdraw"
    unclear = doubtful.model_copy(update={"about": "", "heard_by": "offer"})
    kept = move_for(replace(moment(text, conduct=second), acts=(unclear,)))
    assert kept is not None
    assert (kept.text, kept.then, kept.asks) == (texts.withdrawal_unclear, "again", "")
    for said, then in (("yes", "withdraw"), ("no", "again"), ("not all of it, only that", "again")):
        move = move_for(moment(said, conduct=second))
        assert move is not None
        assert move.then == then


def test_interview_that_began_without_a_second_question_about_deletion_asks_the_first_again() -> None:
    older = policy().texts.model_copy(update={"withdrawal_again": "", "withdrawal_unclear": ""})
    asked = after(whole("take it out", "wants_withdrawal"))
    wish = HeardAct(act="wants_withdrawal", start=0, end=9, sure=False, heard_by="offer")
    here = replace(
        moment("so be it.", conduct=asked), policy=policy().model_copy(update={"texts": older}), acts=(wish,)
    )
    move = move_for(here)
    assert move is not None
    assert (move.text, move.asks) == (older.withdrawal_ask, "withdrawal")


def test_who_wants_nothing_deleted_is_not_told_of_parts() -> None:
    asked = after(whole("take it out", "wants_withdrawal"))
    text = "keep it all, apart from that I was only cross"
    kept = HeardAct(act="aside", start=0, end=len(text), about=ANSWERS_NO, heard_by="reader")
    move = move_for(replace(moment(text, conduct=asked), acts=(kept,)))
    assert move is not None
    assert move.text == policy().texts.withdrawal_kept


def test_reader_that_hears_again_what_was_asked_back_about_ends_nothing() -> None:
    said = "so anyway the van turns up four hours late"
    for asked, act in (("stop", "wants_stop"), ("pause", "wants_pause")):
        for heard_by, kept in (("reader", "tells"), ("rules", act)):
            heard = HeardAct(act=act, start=0, end=len(said), sure=False, heard_by=heard_by)  # type: ignore[arg-type]
            acts = meant(moment(said, conduct=ConductState(asked=asked)), (heard,))  # type: ignore[arg-type]
            assert [(one.act, one.sure) for one in acts] == [(kept, True)]


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("Yes keep it", "again"),
        ("yes leave it", "stands"),
        ("Yes, keep everything", "again"),
        ("Yes, carry on", "stands"),
        ("Ja, behalten Sie alles", "stands"),
        ("Yes, I'm sure.", "withdraw"),
        ("Yes, just do it", "withdraw"),
    ],
)
def test_yes_that_keeps_something_deletes_nothing(said: str, then: str) -> None:
    asked = after(whole("take it out", "wants_withdrawal"))
    unclear = HeardAct(act="wants_withdrawal", start=0, end=len(said), sure=False, heard_by="offer")
    here = moment(said, conduct=asked)
    move = move_for(here) or move_for(replace(here, acts=(unclear,)))
    assert move is not None
    assert move.then == then


def test_what_people_need_goes_before_whether_anything_is_deleted() -> None:
    for act, weighs in (("distress", True), ("wants_pause", True), ("complains", False)):
        for heard_by in ("rules", "reader"):
            heard = HeardAct(act=act, start=0, end=4, heard_by=heard_by)  # type: ignore[arg-type]
            assert outweighs((heard,), "withdrawal") == (weighs and heard_by == "rules")
            assert not outweighs((heard,), "stop")


def test_long_message_that_the_reader_takes_for_a_wish_to_stop_is_asked_about_again() -> None:
    said = "I'd rather leave it here because " + "my husband will be home in a minute and I would not like that " * 2
    heard = HeardAct(act="wants_stop", start=0, end=len(said), sure=False, heard_by="reader")
    assert meant(moment(said, conduct=ConductState(asked="stop")), (heard,)) == (heard,)


@pytest.mark.parametrize(
    ("asked", "said", "then"),
    [
        ("pause", "Yes, break please. I said it already, I will write to you when I am back from it.", "stands"),
        ("pause", "Yes. It was lovely and creamy and I had it at the kitchen table with my mother that day.", None),
        ("stop", "Yeah. I mean I liked the taste, it was creamy and the kids ate it all.", None),
    ],
)
def test_yes_with_more_behind_it_takes_a_break_where_it_names_one(asked: Any, said: str, then: str | None) -> None:
    move = move_for(moment(said, conduct=ConductState(asked=asked)))
    assert (move.then if move is not None else None) == then


def test_older_policy_goes_by_words_alone_where_deletion_is_doubtful() -> None:
    older = policy().texts.model_copy(update={"withdrawal_again": "", "withdrawal_unclear": ""})
    asked = after(whole("take it out", "wants_withdrawal"))
    said = "Yes, that's right"
    wish = HeardAct(act="wants_withdrawal", start=0, end=len(said), sure=False, heard_by="reader")
    here = replace(moment(said, conduct=asked), policy=policy().model_copy(update={"texts": older}), acts=(wish,))
    move = move_for(here)
    assert move is not None
    assert move.then == "withdraw"


def test_break_is_wished_for_in_a_story_in_a_few_words_more() -> None:
    said = "Thank you. Yes, I need short break please, five minutes, I make tea."
    alert = CareAlert(code="distress", turn_number=2, since=NOW)
    told = moment(said, conduct=ConductState(offers=WAYS_IN_A_STORY, alerts=(alert,)))
    heard = wished(told)
    assert heard is not None
    assert heard.act == "wants_pause"
    longer = f"{said} I had five minutes then and I need to say more of it than that."
    assert wished(moment(longer, conduct=told.conduct)) is None


def test_age_of_somebody_who_speaks_as_a_grown_up_is_not_doubted_unless_they_say_it() -> None:
    text = "i go lidl after eight, kids dont notice"
    doubted = moment(text, (text, "minor"), heard_by="reader", sure=False)
    asked = move_for(doubted)
    assert asked is not None and (asked.asks, asked.answered) == ("age", False)
    assert move_for(replace(doubted, grown_up=True)) is None
    said = move_for(moment("I'm 15", ("I'm 15", "minor"), details={"age": "15"}, grown_up=True))
    assert said is not None and said.then == "hold"


def test_question_that_was_answered_before_the_age_was_asked_is_not_put_again() -> None:
    conduct = ConductState(asked="age", asked_age=True, offers=("yes", "no"))
    again = move_for(moment("Yes", conduct=conduct))
    assert again is not None and again.then == "again"
    went_on = move_for(moment("Yes", conduct=conduct.model_copy(update={"answered": True})))
    assert went_on is not None and (went_on.act, went_on.then) == ("minor", "engine")
    told_too = "I go there after eight. I'm in year nine."
    asked = move_for(moment(told_too, ("I go there after eight.", "tells"), ("I'm in year nine.", "minor"), sure=False))
    assert asked is not None and (asked.asks, asked.answered) == ("age", True)


def test_refusal_beside_a_no_to_deletion_is_heeded() -> None:
    said = "No. I just don't want to be asked about it."
    conduct = ConductState(asked="withdrawal", offers=("withdraw", "no"))
    kept = move_for(moment(said, ("I just don't want to be asked about it.", "declines"), conduct=conduct))
    assert kept is not None and (kept.act, kept.then, kept.declines_focus, kept.leaves_answer) == (
        "declines", "engine", True, True,
    )  # fmt: skip
    texts = policy().texts
    assert kept.text.startswith(texts.withdrawal_kept) and kept.text.endswith(texts.declined)
    plain = move_for(moment("No.", conduct=conduct))
    assert plain is not None and (plain.act, plain.text) == ("wants_withdrawal", texts.withdrawal_kept)


def test_who_refuses_and_asks_for_a_question_is_not_asked_about_what_they_added() -> None:
    said = "That's all I want to say about that. She never reproached me. Ask me about your plan."
    refused = move_for(moment(said, ("That's all I want to say about that.", "declines")))
    assert refused is not None and refused.leaves_answer and refused.text
    on = move_for(
        moment("That's all I want to say about that. Ah well.", ("That's all I want to say about that.", "declines"))
    )
    assert on is not None and not on.leaves_answer


@pytest.mark.parametrize(
    ("said", "meant_"),
    [
        ("Through what, the drawer? Or do you mean the call with the woman?", "I meant the call with the woman."),
        ("Which one, or did you mean the shop?", "I meant the shop."),
    ],
)
def test_what_somebody_takes_a_question_for_is_what_it_meant(said: str, meant_: str) -> None:
    move = whole(said, "asks_back")
    assert move.then == "again" and move.text.endswith(meant_)


@pytest.mark.parametrize(
    "said", ["Or do you mean something else?", "The call, or do you mean my boss?", "What do you mean?"]
)
def test_what_nobody_can_say_back_is_put_more_simply(said: str) -> None:
    assert whole(said, "asks_back").then == "simpler"


def test_who_asks_not_to_be_asked_hears_that_it_is_left_and_may_tell_on() -> None:
    story = "Afterwards the lad came over, red as a signal lamp, and asked me was it true about the pigeons, " * 2
    said = f"I don't want to go into that, the glass, so don't ask me about it. {story}"
    left = move_for(moment(said, ("I don't want to go into that, the glass, ", "declines"), (story.strip(), "tells")))
    assert left is not None and left.text and left.tells_on and not left.leaves_answer
    quiet = said.replace("so don't ask me about it", "that is all")
    acts: list[tuple[str, Act]] = [("I don't want to go into that, the glass, ", "declines"), (story.strip(), "tells")]
    went_on = move_for(moment(quiet, *acts))
    assert went_on is not None and not went_on.text


@pytest.mark.parametrize(
    "said",
    ["And then what, please? With the young man, or with my mother?", "About the pendant or about the whole affair?"],
)
def test_who_asks_which_of_two_is_told_whichever(said: str) -> None:
    assert whole(said, "asks_back").text.startswith("Whichever of the two")


def test_who_begs_off_politely_and_tells_on_is_not_told_that_it_is_left() -> None:
    begs = "I'd rather not go digging in that, if it's all the same to you."
    story = "He's all right now, he's in Canada, works in forestry, and he's got a girl there with a dog and a boat."
    left = move_for(moment(f"{begs} {story}", (begs, "declines"), (story, "tells")))
    assert left is not None and (left.text, left.tells_on) == (policy().texts.declined[-1], True)


@pytest.mark.parametrize(
    "grumble",
    ["You do that a lot, handing me back my own sentence.", "You like to repeat what I say.", "You keep echoing me."],
)
def test_who_is_tired_of_their_own_words_hears_that_it_stops_and_is_listened_to(grumble: str) -> None:
    told = "The door: people come in at four with no key card, and if I don't look up they feel they have been caught."
    said = f"{grumble} {told}"
    complaint = HeardAct(act="complains", start=0, end=len(grumble), about="weary", heard_by="reader")
    tells = HeardAct(act="tells", start=len(grumble) + 1, end=len(said))
    move = move_for(replace(moment(said), acts=(complaint, tells)))
    assert move is not None
    assert (move.text, move.then, move.counts) == ("You're right, I'll stop repeating you.", "engine", True)
    assert not move.leaves_answer


def test_question_that_was_passed_over_is_owned_up_to() -> None:
    said = "You never answered about the number."
    complaint = HeardAct(act="complains", start=0, end=len(said), about="unanswered")
    move = move_for(replace(moment(said), acts=(complaint,)))
    assert move is not None and move.text.startswith("Sorry, I went past your question.")


def test_what_is_asked_beside_the_last_answer_is_answered() -> None:
    text = "I do want the job. That's all. And it does stay without my name, right?"
    acts = (
        HeardAct(act="tells", start=0, end=18),
        HeardAct(act="complains", about=ENOUGH, start=19, end=30),
        HeardAct(act="asks_interviewer", about="readers", start=31, end=len(text)),
    )
    move = move_for(replace(moment(text), acts=acts, closing=True))
    assert move is not None and (move.act, move.then, move.counts) == ("asks_interviewer", "engine", True)
    assert move.text == policy().texts.facts["readers"]


def test_something_else_is_asked_about_by_what_it_is() -> None:
    wish = "Let's do something else though, go back to the buses."
    move = whole(wish, "wants_topic", details={"topic": "something else though, go back to the buses"})
    assert (move.then, move.text) == ("easier", "Of course. Tell me about the buses.")
    open_ = whole("Let's do something else now.", "wants_topic", details={"topic": "something else now"})
    assert (open_.then, open_.text) == ("easier", policy().texts.topic_open)
