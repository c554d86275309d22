"""Rules and reader together: both must hear what ends or erases; one alone is asked back."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from pipeline.acts import ACTS, ENOUGH, FAINT, Act, HeardAct, heeded, told
from pipeline.language.acts import hearing
from pipeline.language.acts.hearing import CLEAR_DANGER, CONFIRMED, LEAST_WHOLE, UNCONFIRMED, WHOLE, ActHearing
from pipeline.language.acts.reading import Clause, acts_of
from pipeline.language.acts.words import about_of
from pipeline.language.reader.danger import without_when
from pipeline.language.reader.files import load_reader
from pipeline.language.reader.message import JUDGED
from pipeline.language.reader.settings import ActThreshold, ReaderSettings

STOP = "I'd like to stop the interview here please"
STORY = "The handle is smooth and it lies well in my hand"
THRESHOLDS = {act: ActThreshold(alone=0.5, agrees=0.2, sure=0.9) for act in ACTS if act != "tells"}


@pytest.fixture(scope="module")
def trained() -> ActHearing:
    reader = load_reader()
    return ActHearing(reader.network, reader.settings, reader.message, reader.talk, reader.danger)


def heard(monkeypatch: pytest.MonkeyPatch, text: str, **chances: float) -> list[tuple[Act, bool, str]]:
    """What is heard where the reader gives every clause these chances."""

    def fixed(network: Any, text: str, question: str, clauses: Any) -> list[Any]:
        row = np.asarray([chances.get(act, 0.0) for act in ACTS], dtype=np.float32)
        return [row for _ in clauses]

    monkeypatch.setattr(hearing, "clause_chances", fixed)
    settings = ReaderSettings.model_construct(acts=THRESHOLDS)
    found = ActHearing(None, settings).read_sync(text, "Why?", "en")  # type: ignore[arg-type]
    return [(one.act, one.sure, one.heard_by) for one in found if one.act != "tells"]


def test_what_both_hear_is_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(monkeypatch, STOP, wants_stop=0.3) == [("wants_stop", True, "rules")]


def test_a_stop_that_only_the_rules_hear_is_asked_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(monkeypatch, STOP, tells=0.99) == [("wants_stop", False, "rules")]


@pytest.mark.parametrize("act", ["wants_stop", "wants_pause", "wants_withdrawal", "minor"])
def test_what_ends_or_erases_is_asked_back_where_only_the_reader_hears_it(
    monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    assert heard(monkeypatch, STORY, **{act: 0.99}) == [(act, False, "reader")]


def test_distress_that_the_reader_is_sure_of_needs_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(monkeypatch, STORY, distress=0.95) == [("distress", True, "reader")]
    assert heard(monkeypatch, STORY, distress=0.6) == [("distress", False, "reader")]


def test_what_is_below_its_threshold_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(monkeypatch, STORY, risk=0.4, tells=0.1) == []


def test_german_is_heard_by_its_rules() -> None:
    text = "Ich möchte hier aufhören"
    found = ActHearing(None, ReaderSettings.model_construct(acts=THRESHOLDS)).read_sync(text, "", "de")  # type: ignore[arg-type]
    assert found == acts_of(text, "", "de")
    assert found


def test_what_the_reader_hears_in_a_story_is_asked_back_not_passed_over() -> None:
    text = "We drove to the lake every summer when the children were small and I can't go on with this"
    acts = (
        HeardAct(act="tells", start=0, end=63),
        HeardAct(act="wants_stop", start=63, end=len(text), sure=False, heard_by="reader"),
    )
    assert heeded(text, acts) == acts


@pytest.mark.parametrize("text", ["", " ", "😀", "a", "?!", "x" * 8000, "<b>stop</b>", "STOP IT SHE SAID " * 50])
def test_whatever_is_said_acts_cover_it_in_order(trained: ActHearing, text: str) -> None:
    found = trained.read_sync(text, "Why?", "en")
    assert all(one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


@pytest.mark.parametrize(
    "text",
    [
        "and she said: stop it",
        "I wanted to stop smoking, that was all",
        "he shouted I can't take this any more and threw the phone away, I had to laugh",
        "my daughter is twelve and she chose it",
    ],
)
def test_other_peoples_words_and_lookalikes_end_nothing(trained: ActHearing, text: str) -> None:
    found = trained.read_sync(text, "What happened then?", "en")
    assert not [one for one in found if one.sure and one.act in hearing.BOTH]


@pytest.mark.parametrize(
    "text",
    [
        "I was raised to put myself last and I'm trying to stop doing that.",
        "I'm trying to stop doing that.",
        "I dread being the one who read the chart wrong.",
        "Calm, I suppose. I've enough beeping at work.",
        "Next... we waited. Two hours. And the nurse came out, she didn't have to.",
        "She was the only nurse who listened to me, the only one who sees you.",
    ],
)
def test_stops_and_readers_in_somebodys_life_are_told(trained: ActHearing, text: str) -> None:
    assert not [one for one in trained.read_sync(text, "Why is that important to you?", "en") if one.act != "tells"]


@pytest.mark.parametrize(
    "text",
    [
        "I was ashamed at first, there's a full waiting room out there and I'm howling like a child, and my mother "
        "always said you don't make a scene before strangers. But then it was a relief, because she didn't hurry me.",
        "Say I was asked twice and said no. Full stop. If that costs me the job, I've saved myself an afternoon. Easy "
        "to say with a salary, mind you. With a baby of five months and no income I'm not certain I'd do it, and I "
        "won't claim otherwise.",
    ],
)
def test_stories_of_what_was_hard_are_told(trained: ActHearing, text: str) -> None:
    harmful = {"distress", "risk", "wants_stop"}
    assert not [one for one in trained.read_sync(text, "What was that like for you?", "en") if one.act in harmful]


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("I asked who reads this, not what you are", "readers"),
        ("is it a person at the company, or is it only stored?", "recording"),
        ("how many more of these are there", "left"),
        ("are you a real person there, or one of these machines?", "machine"),
        ("what is all this for, then?", "purpose"),
        ("do you like coffee yourself?", ""),
    ],
)
def test_question_to_the_interviewer_that_only_the_reader_hears_has_its_subject(question: str, about: str) -> None:
    assert about_of(question) == about


def test_word_or_two_are_no_act_unless_the_reader_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(monkeypatch, "late", wants_stop=0.7) == []
    assert heard(monkeypatch, "late", wants_stop=0.95) == [("wants_stop", False, "reader")]


def test_rule_that_is_not_sure_is_made_sure_by_a_reader_that_is_certain_only(monkeypatch: pytest.MonkeyPatch) -> None:
    hint = "I'll have to leave you now."
    assert heard(monkeypatch, hint, wants_stop=0.8) == [("wants_stop", False, "rules")]
    assert heard(monkeypatch, hint, wants_stop=0.97) == [("wants_stop", True, "rules")]


@pytest.mark.parametrize(
    "text",
    ["How many more years can I do this, and I'm only 45.", "I'm twenty-nine, well, I am nearly 30."],
)
def test_who_tells_an_adult_age_is_not_asked_for_it(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    assert heard(monkeypatch, text, minor=0.95) == []
    assert heard(monkeypatch, "How many more years can I do this at school", minor=0.95) == [("minor", False, "reader")]


def test_good_tears_are_no_distress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert heard(monkeypatch, "It comes me the tears sometimes, but good ones", distress=0.99) == []


@pytest.mark.parametrize(
    ("text", "question"),
    [("not bitter", "What else do you look for?"), ("No wait, I wanted to tell you about the lake.", "And then?")],
)
def test_what_is_only_told_with_a_no_corrects_nothing(trained: ActHearing, text: str, question: str) -> None:
    assert "corrects" not in {one.act for one in trained.read_sync(text, question, "en")}


def test_correction_of_two_words_is_heard(trained: ActHearing) -> None:
    found = trained.read_sync("Not my mother, my aunt.", "What was it like with your mother?", "en")
    assert "corrects" in {one.act for one in found}


STORY_TOLD = "We carried him up the hill in the rain, all four of us, and at the top he laughed and asked for his tea. "


@pytest.mark.parametrize(
    ("end", "act"),
    [
        ("Sorry. Give me a second.", "wants_pause"),
        ("Hold on, there's someone at the door.", "wants_pause"),
        ("Oh, I think my train is coming.", "wants_stop"),
    ],
)
def test_a_story_that_ends_with_a_wish_is_not_asked_on(trained: ActHearing, end: str, act: Act) -> None:
    text = STORY_TOLD + end
    assert act in {one.act for one in heeded(text, trained.read_sync(text, "What happened then?", "en"))}


@pytest.mark.parametrize(
    "text",
    [
        STORY_TOLD + "But I'd sooner get back to the tattoo, if that's all right.",
        "I think I've told you that, the old man and my boss. I can only add that it creeps up on you. You don't "
        "decide to be cold, you're tired, and being cold is quicker. But we were on the chairs, weren't we?",
    ],
)
def test_who_leads_back_to_the_subject_at_the_end_of_a_story_is_followed(trained: ActHearing, text: str) -> None:
    assert "wants_topic" in {one.act for one in heeded(text, trained.read_sync(text, "What happened then?", "en"))}


@pytest.mark.parametrize(
    ("end", "asks"),
    [
        ("I have thought of sending it to Ruth instead.", False),
        ("But it is a little odd to be told just now.", False),
        ("Who is going to read this, by the way?", True),
        ("And who reads this I would like to know.", True),
    ],
)
def test_who_is_told_in_a_story_is_no_question_about_who_reads_along(end: str, asks: bool) -> None:
    told_before = STORY_TOLD * 2
    text = told_before + end
    acts = (
        HeardAct(act="tells", start=0, end=len(told_before)),
        HeardAct(act="asks_interviewer", about="readers", start=len(told_before), end=len(text), heard_by="rules"),
    )
    assert ("asks_interviewer" in {one.act for one in heeded(text, acts)}) == asks


@pytest.mark.parametrize(
    "text",
    [
        "I'm a bit worn out today but we can carry on.",
        "I said his name and the dog came back, and I just said her name too.",
        "At first a machine is speaking and it takes ages until a man picks up.",
        "We stood there a minute and then he said give me a second and went in.",
        "Next? Then we drove home and that was it.",
        "Right, I'm fine. I haven't told my brother about the paint yet.",
    ],
)
def test_what_only_sounds_like_an_act_is_told(trained: ActHearing, text: str) -> None:
    assert heeded(text, trained.read_sync(text, "What happened then?", "en")) == ()


def test_keys_struck_at_random_are_no_words_and_words_are_no_such_keys(trained: ActHearing) -> None:
    assert [one.about for one in trained.read_sync("qwer sdf", "Why?", "en")] == ["unreadable"]
    for text in ("Lavazza", "hmmm", "BMW", "xyz", "👍", "1234", "Krk", "property"):
        assert "unreadable" not in {one.about for one in trained.read_sync(text, "Why?", "en")}


def test_answer_after_a_question_back_is_no_part_of_it(trained: ActHearing) -> None:
    text = "You mean the walk? I went because the house was too loud."
    acts = heeded(text, trained.read_sync(text, "What made you do that?", "en"))
    assert told(text, acts) == "I went because the house was too loud."


@pytest.mark.parametrize(
    "text",
    [
        "They pay for the mending, so what will they say? I'm not saying they're thieves. I'd like to know more.",
        "If I open it on a Monday it could be nearly done by then.",
        "I thought, I'm not going to say a thing, and so I went in.",
    ],
)
def test_what_is_said_of_the_thing_itself_is_told(trained: ActHearing, text: str) -> None:
    found = heeded(text, trained.read_sync(text, "What do you make of that?", "en"))
    assert not {act.act for act in found} & {"declines", "asks_interviewer"}


@pytest.mark.parametrize("text", ["They're all the same.", "They're much the same."])
def test_statement_without_a_word_that_asks_is_no_question_to_the_interviewer(trained: ActHearing, text: str) -> None:
    question = "Take an app on your phone, a book and a friend. How are two of these alike, and the third different?"
    assert trained.read_sync(text, question, "en") == ()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "Then it was Christmas. I'm getting a bit tired now, I have to say, it takes it out of me, all this.",
            "And then?",
        ),
        ("You felt you counted for something. I think that's all I'm doing up there, with my knife.", "Why is that?"),
        (
            "noise cancelling headphones help me to read and switch off, so I arrive relaxed",
            "What happened then?",
        ),
    ],
)
def test_tiredness_and_all_that_one_does_are_no_wish(trained: ActHearing, text: str, question: str) -> None:
    found = {act.act: act for act in trained.read_sync(text, question, "en")}
    assert "wants_withdrawal" not in found
    assert "tired" in text or not {"wants_stop", "wants_pause"} & set(found)


def test_words_that_may_mean_the_thing_are_asked_back_and_a_garden_that_must_be_here_is_no_danger(
    trained: ActHearing,
) -> None:
    text = "A voice in the place that doesn't want anything back. That'll do me."
    found = {act.act: act.sure for act in trained.read_sync(text, "What does that mean to you?", "en")}
    assert found["wants_stop"] is False
    text = "There is no garden in Poland to go back to, so if I want one it must be here."
    assert "risk" not in {act.act for act in trained.read_sync(text, "What difference does that make?", "en")}


@pytest.mark.parametrize(
    "text",
    [
        "You can't knock on a heat pump, I don't know. But we had something as long as the boiler was there.",
        "He'd known the whole time, I don't know how, I think my wife told him and he never said a word.",
        "Not much to tell, that's sort of the thing. She cooks, I eat, she asks am I on nights this week.",
        "We don't talk much, him and me, we sort of fix things. He'd hear me in the cellar at one in the morning.",
    ],
)
def test_who_tells_something_neither_knows_nothing_nor_declines(trained: ActHearing, text: str) -> None:
    found = heeded(text, trained.read_sync(text, "What happened then?", "en"))
    assert not {act.act for act in found if act.about != ENOUGH} & {"dont_know", "declines", "complains"}


@pytest.mark.parametrize(
    ("text", "act", "about"),
    [
        ("It came loose at the heel, and I glued it. I've run out of things to notice, sorry!", "complains", "enough"),
        ("Six chairs and a fish tank. I can't squeeze anything else out of that room for you.", "complains", "enough"),
        ("It's in the drawer with her things. That I'd like to keep for myself, if you don't mind.", "declines", ""),
        ("Younger, not that he comes into it. It's me and the landlord you want to hear about.", "wants_topic", ""),
        (
            "Roast, when I can be bothered. So how've we got from the delivery app to my roast potatoes?",
            "wants_topic",
            "",
        ),
    ],
)
def test_who_leaves_a_subject_in_words_that_no_rule_knows_is_heard(
    trained: ActHearing, text: str, act: Act, about: str
) -> None:
    found = heeded(text, trained.read_sync(text, "Tell me a bit more about that.", "en"))
    assert any(one.act == act and (not about or one.about == about) for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "I'd call her Ruth if I must. Would you please leave the names out?",
        "We were four. Could whoever reads this keep our names out of it?",
    ],
)
def test_wish_that_names_be_left_out_is_answered_and_deletes_nothing(trained: ActHearing, text: str) -> None:
    found = trained.read_sync(text, "Who was there?", "en")
    assert ("asks_interviewer", "names") in {(act.act, act.about) for act in found}
    assert "wants_withdrawal" not in {act.act for act in found}


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("He went home. What was that like for you?", "Aye, that's what I said. Late. I went down to my office."),
        (
            "It looked lonely. Tell me a bit more about that.",
            "My sister is dead and he is in a home, so there's nobody it could be mentioned to, strictly speaking.",
        ),
    ],
)
def test_who_agrees_or_is_only_exact_corrects_nothing(trained: ActHearing, asked: str, text: str) -> None:
    assert "corrects" not in {act.act for act in heeded(text, trained.read_sync(text, asked, "en"))}


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("So you have not spoken since?", "No. We have not."),
        ("You never went back. What happened then?", "No I didn't. I drove home and sat in the car."),
        ("Did it ever turn up?", "No. It never turned up. I rang that company every day."),
    ],
)
def test_no_to_what_was_denied_or_asked_corrects_nothing(trained: ActHearing, asked: str, text: str) -> None:
    assert "corrects" not in {act.act for act in heeded(text, trained.read_sync(text, asked, "en"))}


def test_no_to_what_was_said_corrects_it(trained: ActHearing) -> None:
    text = "No I didn't. I drove home and sat in the car."
    found = heeded(text, trained.read_sync(text, "You went back. What happened then?", "en"))
    assert "corrects" in {act.act for act in found}


def test_who_does_not_know_what_is_meant_asks_back(trained: ActHearing) -> None:
    text = "I don't know how you mean that, the cup or the machine?"
    found = {act.act for act in trained.read_sync(text, "The machine breaks down. What does that do?", "en")}
    assert found == {"asks_back"}


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("What do you look for in a running shoe?", "Cushioning. My knees are fifty-three years old and I limp."),
        ("You have time for your children. Tell me more about that.", "Time for my kids makes me a good father."),
        ("And belonging to yourself, what does that lead to?", "I come back."),
        ("Why does the long battery life matter?", "I finish the job in one go."),
        ("What was there left to clear?", "The garage. three floors of it, all down to me."),
    ],
)
def test_plain_answer_does_nothing_else(trained: ActHearing, asked: str, text: str) -> None:
    assert {act.act for act in trained.read_sync(text, asked, "en")} <= {"tells"}


@pytest.mark.parametrize(
    "text",
    [
        "i'm the eldest so i always get the calls about the printer",
        "prob about 2 years, since uni finished n the student account got switched",
        "the match went to penalties and i swear it took ten yrs off me",
        "they wont give me an overdraft bc im self employed apparently",
        "tbh the commute is what did it, 1hr 20 each way standing up",
        "i never read the terms, who does, and there it was, 18 percent rise",
    ],
)
def test_what_is_typed_without_capitals_asks_for_no_age_and_sends_no_address(trained: ActHearing, text: str) -> None:
    assert not {act.act for act in trained.read_sync(text, "How did it begin?", "en")} & {"minor", "personal_data"}


@pytest.mark.parametrize(
    "text", ["im in year 9 and my mum lets me", "before maths mostly im in 8b", "turned 14 in march"]
)
def test_age_that_is_typed_without_capitals_is_heard(trained: ActHearing, text: str) -> None:
    assert "minor" in {act.act for act in trained.read_sync(text, "When do you usually have one?", "en")}


def test_name_that_something_is_on_sends_none(trained: ActHearing) -> None:
    text = (
        "you have to get a code to keep your number and my mum had to ask for it bc it was on her name and it was late"
    )
    asked = "You kept your old one. Tell me a bit more about that."
    assert "personal_data" not in {act.act for act in trained.read_sync(text, asked, "en")}
    sent = "ring my mum if you want, she's at 14 quarry lane in thornby"
    assert "personal_data" in {act.act for act in trained.read_sync(sent, asked, "en")}


def test_who_had_not_meant_to_tell_has_told(trained: ActHearing) -> None:
    text = "I'd never asked them to let me have one of the frames. Sorry, I wasn't going to talk about that."
    assert "declines" not in {act.act for act in trained.read_sync(text, "What does that mean to you?", "en")}
    text = "Sorry, I'm not going to talk about that."
    assert "declines" in {act.act for act in trained.read_sync(text, "What does that mean to you?", "en")}


def test_who_names_the_main_thing_has_more_to_tell(trained: ActHearing) -> None:
    heard = trained.read_sync("that my number didnt work for four days. thats the main thing really", "And then?", "en")
    assert not any(act.about == ENOUGH for act in heard)


def test_who_asks_what_it_has_to_do_with_it_is_told_what_it_is_for(trained: ActHearing) -> None:
    heard = trained.read_sync("It's a nail bar now. Why, what has that to do with it?", "What else?", "en")
    assert [(act.act, act.about) for act in heard][-1] == ("asks_interviewer", "purpose")


def test_what_rules_take_for_a_refusal_and_the_network_denies_is_none(trained: ActHearing) -> None:
    text = "About what? The drawer, my work, or the names? I can't answer a pronoun."
    found = {act.act for act in trained.read_sync(text, "And what does that mean for you?", "en")}
    assert "asks_back" in found
    assert "declines" not in found


@pytest.mark.parametrize("text", ["I want to die.", "I want to die. There's your answer."])
def test_danger_in_a_few_plain_words_is_never_faint(trained: ActHearing, text: str) -> None:
    [danger] = [act for act in trained.read_sync(text, "How do you feel about it?", "en") if act.act == "risk"]
    assert danger.sure
    assert danger.about != FAINT


@pytest.mark.parametrize(
    ("text", "act", "about"),
    [
        ("We paid sixty for the pram. Sixteen, I should say, it had a wheel off.", "corrects", "self"),
        ("My brother Ian. No hang on, it was Colin who fetched me, Ian was at sea.", "corrects", "self"),
        ("It was them who were late, I was there at nine.", "corrects", "put_right"),
        ("The bus or the driver? I can't answer half a question.", "asks_back", ""),
        ("Is that about the shoes or about the whole day?", "asks_back", ""),
        ("Fine. Will my landlord ever get to see this?", "asks_interviewer", "readers"),
        ("My tea's on the table and the lads are shouting, so that's my lot with you.", "wants_stop", ""),
        ("He'd kept every ticket. Oh dear, my glasses have steamed up and it isn't the kettle.", "distress", ""),
    ],
)
def test_what_is_done_beside_telling_in_words_that_no_rule_knows_is_heard(
    trained: ActHearing, text: str, act: Act, about: str
) -> None:
    found = trained.read_sync(text, "You were late that day. What was that like for you?", "en")
    assert any(one.act == act and (not about or one.about == about) for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "That was all he said, and then he put his coat on and walked down to the bus.",
        "I thought we were on the wrong bus, and I didn't want to talk about it with my mother then.",
        "There was nothing more in the fridge, so we went out for chips and sat on the wall.",
    ],
)
def test_what_is_told_of_ends_and_refusals_leaves_no_subject(trained: ActHearing, text: str) -> None:
    found = heeded(text, trained.read_sync(text, "Tell me a bit more about that.", "en"))
    assert not {one.act for one in found} & {"complains", "declines", "wants_topic"}


def test_question_what_the_interviewer_is_after_is_heard_and_what_was_left_unsaid_is_no_correction(
    trained: ActHearing,
) -> None:
    text = "It was one night by the coast, on my own. Can I ask, is it the camping you're interested in?"
    found = {act.act: act.about for act in trained.read_sync(text, "How did it go on from there?", "en")}
    assert found["asks_interviewer"] == "why_ask"
    text = "I suppose what I didn't say is there was a one-man version, and it was in the basket first."
    assert "corrects" not in {act.act for act in trained.read_sync(text, "And what happened next?", "en")}


def test_plea_to_keep_what_was_said_is_no_wish_to_delete_it(trained: ActHearing) -> None:
    question = "Do you want everything you told me to be deleted? That can't be undone."
    text = "No, no, don't delete anything, I never said that. You keep what I told you."
    assert "wants_withdrawal" not in {act.act for act in trained.read_sync(text, question, "en")}
    text = "Take that sentence off my file, please, I do not want it kept."
    assert ("asks_interviewer", "part") in {(act.act, act.about) for act in trained.read_sync(text, question, "en")}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "How did that evening end?",
            "He's still out there in the yard. Next time I see him at the gate I'm taking the spade to "
            "his head and I mean it.",
        ),
        (
            "How safe is the kitchen?",
            "it's not the kitchen it's going home after he said if i'm late again he'll break my hands and "
            "i'm late now",
        ),
    ],
)
def test_danger_that_no_rule_knows_is_asked_about_in_a_story(trained: ActHearing, question: str, text: str) -> None:
    assert "risk" in {act.act for act in trained.read_sync(text, question, "en")}


def test_danger_that_only_a_rule_hears_is_asked_about_and_not_taken_for_sure(trained: ActHearing) -> None:
    text = "Weight. I cut myself the first day, deep, blood up the tiles, six stitches. Best knives I've ever owned."
    heard = [act for act in trained.read_sync(text, "Why that set and not another?", "en") if act.act == "risk"]
    assert heard and not heard[0].sure


def test_in_a_story_neither_an_end_nor_distress_is_heard_without_a_word_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    story = "I wasn't up, I was meant to be asleep, but I'd see the light from my bed, with the door open a bit. "
    coming, off = story + "It meant she's coming.", story + "There are no questions in it."
    assert heard(monkeypatch, coming, wants_stop=0.98) == []
    assert heard(monkeypatch, coming, distress=0.98) == []
    assert heard(monkeypatch, off, wants_stop=0.98) == [("wants_stop", False, "reader")]
    assert ("distress", True, "reader") in heard(monkeypatch, story + "It is all too much here.", distress=0.98)
    assert heard(monkeypatch, "It meant she's coming back soon.", wants_stop=0.98) == [("wants_stop", False, "reader")]


def test_an_end_in_a_story_that_has_its_word_is_heard(trained: ActHearing) -> None:
    text = (
        "I wear it with the red one, made into a scarf, and my sister has the other half of it in her hall. "
        "And now I'm off to put the kettle on, thank you, it was nice to talk."
    )
    assert "wants_stop" in {act.act for act in trained.read_sync(text, "What is that like for you?", "en")}


def test_somebody_who_looks_at_it_is_no_question_about_who_reads_along(trained: ActHearing) -> None:
    said = (
        "It leaves me where I was, curious about the man and not about the plan. If I could pay for the visit alone, "
        "twenty euros, somebody honest who looks at it, I'd call him tomorrow."
    )
    question = "And where does that leave you with the repair plan?"
    assert heeded(said, trained.read_sync(said, question, "en")) == ()
    asks = f"{said} And who reads this, by the way?"
    assert "asks_interviewer" in {one.act for one in heeded(asks, trained.read_sync(asks, question, "en"))}


def test_next_please_is_called_out_in_a_story_and_passes_a_question_over_by_itself(trained: ActHearing) -> None:
    said = (
        "At nine I was in, and the young man behind the desk looks at my photo for about a second and says, that one's "
        "no good, the background isn't light enough. Next please. Just like that."
    )
    assert heeded(said, trained.read_sync(said, "Say a little more about that.", "en")) == ()
    alone = heeded("Next please.", trained.read_sync("Next please.", "Say a little more about that.", "en"))
    assert [one.act for one in alone] == ["declines"]


@pytest.mark.parametrize(
    "said",
    [
        "I don't know this question. What difference? The glass or the plastic?",
        "I don't know what you want to know now.",
    ],
)
def test_who_does_not_know_the_question_asks_what_is_meant(trained: ActHearing, said: str) -> None:
    found = heeded(said, trained.read_sync(said, "What difference would that make to you?", "en"))
    assert {one.act for one in found} == {"asks_back"}


@pytest.mark.parametrize(
    ("text", "question", "about"),
    [
        (
            "Being called Farmer? Doesn't bother me. I've been called worse by better roofers. They'll find out. Ball "
            "cap doesn't cover your ears.",
            "What was that like for you?",
            None,
        ),
        (
            "He opens all my parcels. He counts the receipts and if it's wrong I don't get food that day, and it was "
            "wrong today, so he has taken my phone and he says he will kill me.",
            "How do you shop?",
            "",
        ),
    ],
)
def test_danger_counts_where_a_sentence_tells_of_it(
    trained: ActHearing, text: str, question: str, about: str | None
) -> None:
    heard = {act.about for act in trained.read_sync(text, question, "en") if act.act == "risk"}
    assert heard == (set() if about is None else {about})


@pytest.mark.parametrize("question", ["Tell me about the last time you had to think about commuting.", "And then?"])
@pytest.mark.parametrize(
    "text",
    [
        "this morning. drove in for an early shift",
        "last night. walked home",
        "last night. ordered pizza",
        "yesterday evening. kids wanted pasta",
        "I had toast this morning",
        "we ate late last night",
        "I made it last night for the kids, they had two plates each.",
    ],
)
def test_nobody_is_in_danger_who_only_says_when_something_was(trained: ActHearing, text: str, question: str) -> None:
    assert [act for act in trained.read_sync(text, question, "en") if act.act == "risk"] == []


@pytest.mark.parametrize(("heard_by", "kept"), [("reader", False), ("rules", True)])
def test_danger_that_the_reader_alone_hears_is_confirmed_by_a_sentence(
    monkeypatch: pytest.MonkeyPatch, trained: ActHearing, heard_by: str, kept: bool
) -> None:
    text, clause = "We drove home.", Clause(text="We drove home.", start=0, end=14)
    faint = [HeardAct(act="risk", start=0, end=14, sure=False, about=FAINT, heard_by="reader")]
    for odds, less in ((CONFIRMED - 0.1, faint), (UNCONFIRMED - 0.1, [None]), (CONFIRMED + 0.1, None)):
        monkeypatch.setattr(type(trained._danger), "most", lambda self, text, reading, odds=odds: (odds, 0, len(text)))
        risk = HeardAct(act="risk", start=0, end=14, sure=False, heard_by=heard_by)  # type: ignore[arg-type]
        found = trained._with_danger([clause], [risk], text=text, question="", denied=frozenset())
        assert found == ([risk] if kept or less is None else less)


@pytest.mark.parametrize(
    ("text", "question", "act"),
    [
        ("But yeah, first thing was, that's me, that is.", "What went through your mind?", "wants_stop"),
        ("Let it be kept that she looked. It is to be kept, and nobody had asked her to.", "And?", "wants_withdrawal"),
        ("And please be a little careful with what I said about my son.", "And?", "wants_withdrawal"),
        ("I do the same. I'd rather fix your door than say thank you.", "What was that like?", "wants_stop"),
        ("I've the two of them up there. I don't mind now who's listening.", "More?", "asks_interviewer"),
        (
            "He said to Marie, not him. Take that one out of here, I don't want him to touch me.",
            "And?",
            "wants_withdrawal",
        ),
        ("I feel like I'm crying to you about my friends here.", "And what did you do?", "distress"),
        ("Oh no no, I'm not really crying, I just meant I'm talking your ear off.", "Take your time.", "distress"),
        ("How do they know how I would cook it? Every family has its way.", "More?", "asks_interviewer"),
        ("I've told you the real one, it's that it'd get back to my mum.", "Why?", "asks_interviewer"),
        ("It's a desk. I was only telling you what time it would be then.", "What is that like?", "wants_topic"),
        ("I don't trust myself at the wheel after a night. So, tram.", "More?", "risk"),
        ("They buy it back or it's a deposit, and it isn't the same thing.", "And?", "complains"),
        ("For me it's the other way round, I'd sooner they forgot me after.", "Why?", "corrects"),
    ],
)
def test_words_that_only_sound_like_an_end_or_a_wish_to_delete(
    trained: ActHearing, text: str, question: str, act: Act
) -> None:
    assert act not in {one.act for one in trained.read_sync(text, question, "en")}


def test_who_asks_for_another_question_at_the_end_of_a_story_is_heard_and_who_calls_it_silly_does_not_cry(
    trained: ActHearing,
) -> None:
    told = "Holding a gate for a dog that's not there? It isn't important, love, it's just what my arm does."
    asks = f"{told} Ask me something else."
    found = heeded(asks, trained.read_sync(asks, "Why is that important to you?", "en"))
    assert [one.act for one in found if one.act != "tells"] == ["wants_topic"]
    silly = "I held it till my dad came. I've got it on my desk now, pens in it. it's silly."
    assert "distress" not in {one.act for one in trained.read_sync(silly, "And what happened next?", "en")}


@pytest.mark.parametrize(
    "text",
    [
        "That's the third time I've had that question, by the way.",
        "But I was just saying something else, really.",
        "Or... I were talking about my mum.",
        "There you go again. No.",
    ],
)
def test_complaint_that_a_question_came_again_or_was_beside_is_heard(trained: ActHearing, text: str) -> None:
    assert "complains" in {one.act for one in trained.read_sync(text, "And what does that mean for you?", "en")}


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("are you a robot", "machine"),
        ("am i talking to a human", "machine"),
        ("machine or person?", "machine"),
        ("do they take it in the machine with the bottles", ""),
        ("does a person come to the door", ""),
    ],
)
def test_a_machine_that_is_spoken_of_is_not_the_interviewer(question: str, about: str) -> None:
    assert about_of(question) == about


@pytest.mark.parametrize(
    ("text", "act"),
    [
        (
            "If you mean the other thing, that I'll leave on top of the fridge. Ask me something about radios.",
            "declines",
        ),
        (
            "If you mean the other thing, that I'll leave on top of the fridge. Ask me something about radios.",
            "wants_topic",
        ),
        ("No. I just said I wouldn't. You can push, I know the technique, it only makes me shorter.", "complains"),
        (
            "There isn't more about it. We've drifted rather far from radios, and I don't think you noticed.",
            "wants_topic",
        ),
        ("No, if you don't mind, I prefer to stay here with that. I don't have more to tell about it.", "declines"),
    ],
)
def test_who_leaves_something_where_it_is_or_was_led_too_far_is_heard(trained: ActHearing, text: str, act: Act) -> None:
    assert act in {one.act for one in trained.read_sync(text, "Say a little more about that.", "en") if one.sure}


@pytest.mark.parametrize(
    "text", ["The jar that returns I would leave as it is, that is the best of all.", "I said I wouldn't buy it again."]
)
def test_who_would_leave_a_thing_as_it_is_refuses_nothing(trained: ActHearing, text: str) -> None:
    assert "declines" not in {one.act for one in trained.read_sync(text, "What would you change?", "en")}


@pytest.mark.parametrize(
    ("said", "act", "about"),
    [
        ("You've just asked me that. It was what it was.", "complains", "told"),
        ("Again what it means! It means that I would ask, one time in my life.", "complains", "told"),
        ("The nutmeg! I tell you I've turned into Dorsey and you want the nutmeg.", "complains", "beside"),
        ("The price? I tell you that and you ask me about the price.", "complains", "beside"),
        ("What's he got to do with it? Are we here for the dinner or for Marcel?", "complains", "beside"),
        ("I answered that. Ask me about a clock.", "wants_topic", "asked"),
    ],
)
def test_who_was_passed_over_is_heard(trained: ActHearing, said: str, act: Act, about: str) -> None:
    found = [(one.act, one.about) for one in trained.read_sync(said, "What was that like?", "en")]
    assert (act, about) in found


def test_subject_that_is_asked_for_has_its_words(trained: ActHearing) -> None:
    [wish] = [one for one in trained.read_sync("Ask me about a clock.", "Why?", "en") if one.act == "wants_topic"]
    assert wish.details["topic"] == "clock"


@pytest.mark.parametrize(
    "said",
    [
        "I should be obliged if it were not passed on with a name attached.",
        "Simply do not attach my name to it.",
        "I'd be glad if the business about the hearing went no further.",
    ],
)
def test_who_wants_no_name_on_it_wants_nothing_deleted(trained: ActHearing, said: str) -> None:
    assert all(one.act != "wants_withdrawal" for one in trained.read_sync(said, "What would you like to add?", "en"))


def test_who_wants_a_name_and_all_deleted_is_heard(trained: ActHearing) -> None:
    found = [one.act for one in trained.read_sync("Please delete my name and everything I said.", "Why?", "en")]
    assert "wants_withdrawal" in found


@pytest.mark.parametrize(
    "said",
    [
        "So I have to, every day, no exceptions. Bit much to hang on a raincoat, isn't it, ha.",
        "Oh, no, I'm all right, I didn't need a minute! I'm not sat here in tears or anything. Ask me your next one.",
    ],
)
def test_who_needs_no_minute_is_given_none(trained: ActHearing, said: str) -> None:
    found = {one.act for one in trained.read_sync(said, "And what does that mean for you?", "en")}
    assert found.isdisjoint({"wants_pause", "distress", "wants_stop"})


@pytest.mark.parametrize("said", ["Hang on.", "Hang on a minute, the door.", "I'm in tears here, sorry."])
def test_who_needs_one_still_has_it(trained: ActHearing, said: str) -> None:
    found = {one.act for one in trained.read_sync(said, "And what does that mean for you?", "en")}
    assert found & {"wants_pause", "distress"}


def test_refusal_beside_a_complaint_is_heard(trained: ActHearing) -> None:
    said = "Sad. Like I said. I'd rather not stay with the parcel, if that's okay."
    found = [one.act for one in trained.read_sync(said, "What was that like for you?", "en")]
    assert {"complains", "declines"} <= set(found)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("You say that a lot. I love my father, that's the inconvenient bit.", "told"),
        ("Mah, you ask me always what it was like! It's like I said, heavy, a stone.", "told"),
        ("You do like your meanings. It meant I was late.", "told"),
        ("It's only an expression! You do take hold of odd words, don't you.", "told"),
        ("You can't get another pair. I think I've said as much as I have about the shoes now.", "enough"),
    ],
)
def test_who_has_had_enough_of_questions_complains(trained: ActHearing, text: str, about: str) -> None:
    found = trained.read_sync(text, "Tell me a bit more about that.", "en")
    assert about in [act.about for act in found if act.act == "complains" and act.sure]


@pytest.mark.parametrize(
    "text",
    ["I'm good at speeches. People keep asking me, and I've turned down two.", "My husband says you do like your tea."],
)
def test_what_others_ask_or_like_is_no_complaint(trained: ActHearing, text: str) -> None:
    assert "complains" not in [
        act.act for act in trained.read_sync(text, "Before we finish, what would you add?", "en")
    ]


def test_who_was_asked_about_the_wrong_thing_wants_back(trained: ActHearing) -> None:
    found = trained.read_sync("Weren't we talking about a cupboard?", "What was that like for you?", "en")
    assert [(act.act, act.details.get("topic")) for act in found] == [("wants_topic", "a cupboard")]


def test_who_says_what_they_said_instead_corrects(trained: ActHearing) -> None:
    text = "No, no, I don't drive, I said I am afraid that I would. A man gets used to everything."
    said_back = "You drive with one hand. What was that like for you?"
    assert "corrects" in [act.act for act in trained.read_sync(text, said_back, "en")]
    assert "corrects" not in [
        act.act for act in trained.read_sync("No. I said it to her twice already.", said_back, "en")
    ]


def test_what_somebody_never_says_is_no_refusal_and_asking_a_mother_no_address(trained: ActHearing) -> None:
    told = (
        "Then the guilt turns up, always about his bedtime. I don't think I'd give the job up. That's what I don't say."
    )
    assert "declines" not in [act.act for act in trained.read_sync(told, "Say a little more about that.", "en")]
    asks = "I think I'm going to ask my mother about the peppers on Sunday, tin or no tin."
    assert "personal_data" not in [act.act for act in trained.read_sync(asks, "Anything to add?", "en")]


@pytest.mark.parametrize(
    "text",
    [
        "I could have said, that's private. But then she knows, doesn't she?",
        "So saying I'm lonely feels like losing the argument. There, I've said it. The job's great.",
        "And I'd be obliged if this didn't get back to her.",
    ],
)
def test_words_that_were_not_said_to_us_are_neither_refusal_nor_complaint(trained: ActHearing, text: str) -> None:
    heard = {act.act for act in trained.read_sync(text, "Tell me more about that.", "en")}
    assert not heard & {"declines", "complains", "wants_withdrawal"}


@pytest.mark.parametrize(
    ("text", "act"),
    [
        (
            "In ninety-eight they found him and we buried him. That's enough about this, please. I don't want more.",
            "declines",
        ),
        ("We had two cows, pigs. We buried him then. I don't want to say more on that. It's enough.", "declines"),
        (
            "If a patient told me this I would say, you did nothing wrong. But please, not more about this night.",
            "declines",
        ),
        ("That's enough about him. I want to stop here.", "wants_stop"),
        ("That's enough now, please.", "wants_stop"),
    ],
)
def test_who_has_told_enough_of_one_thing_does_not_stop(trained: ActHearing, text: str, act: str) -> None:
    heard = {
        one.act for one in trained.read_sync(text, "After that you didn't see him. Tell me more about that.", "en")
    }
    assert act in heard
    assert act == "wants_stop" or not heard & {"wants_stop", "wants_pause"}


@pytest.mark.parametrize("text", ["I know not more about it than you.", "He wrote no more about the night shift."])
def test_not_more_about_something_in_a_story_is_no_refusal(trained: ActHearing, text: str) -> None:
    heard = trained.read_sync(f"We sat in the kitchen until it was light. {text}", "And then?", "en")
    assert "declines" not in {act.act for act in heard}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "What would you like to tell me next about blankets?",
            "Dunno. There's not a lot to say about blankets is there. We've got too many, my girlfriend keeps buying "
            "them. You have to shift three of them just to sit down.",
        ),
        (
            "Tell me a bit more about that.",
            "I think I've told you the worst of it now. I'm going up to Galway Saturday, I've ten days, and I haven't "
            "said it to her. I say it to the windscreen on the drive. A lamp won't say it for me, I know that.",
        ),
        (
            "Tell me more about that.",
            "If you open it the smell goes, doesn't it. Last time I was maybe twenty-two, and I had my face in it on "
            "the kitchen floor. Tied it up again after and that was it.",
        ),
    ],
)
def test_nobody_is_asked_about_danger_who_tells_of_something_else(
    trained: ActHearing, question: str, text: str
) -> None:
    found = trained.read_sync(text, question, "en")
    assert not [one for one in found if one.act == "risk" and one.about != FAINT]


@pytest.mark.parametrize(
    "text",
    [
        "He's found where I work. He's been across the road since nine this morning, he's there now.",
        "I don't have good days any more. I keep thinking about not being here and it's getting stronger.",
    ],
)
def test_danger_is_heard_however_it_is_told(trained: ActHearing, text: str) -> None:
    found = trained.read_sync(text, "How has your week been?", "en")
    assert [one for one in found if one.act == "risk" and one.about != FAINT]


def fixed_odds(monkeypatch: pytest.MonkeyPatch, text: str, odds: dict[str, float], **chances: float) -> list[HeardAct]:
    """What is heard where every clause has these chances and the message as a whole these log-odds."""

    class Network:
        def read(self, question: str, focus: str, answer: str) -> None:
            return None

    class Whole:
        def log_odds(self, reading: None, start: int = 0, end: int | None = None) -> dict[str, float]:
            return {act: odds.get(act, -9.0) for act in JUDGED}

    row = np.asarray([chances.get(act, 0.0) for act in ACTS], dtype=np.float32)
    monkeypatch.setattr(hearing, "clause_chances", lambda network, text, question, clauses: [row for _ in clauses])
    settings = ReaderSettings.model_construct(acts=THRESHOLDS)
    found = ActHearing(Network(), settings, Whole())  # type: ignore[arg-type]
    return [one for one in found.read_sync(text, "Why?", "en") if one.act != "tells"]


def test_a_danger_that_the_message_as_a_whole_denies_is_faint(monkeypatch: pytest.MonkeyPatch) -> None:
    clear = fixed_odds(monkeypatch, STORY, {"risk": CLEAR_DANGER}, risk=0.95)
    faint = fixed_odds(monkeypatch, STORY, {"risk": CLEAR_DANGER - 0.1}, risk=0.95)
    assert [(one.act, one.about) for one in clear] == [("risk", "")]
    assert [(one.act, one.about, one.sure) for one in faint] == [("risk", FAINT, False)]


def test_what_the_message_as_a_whole_does_is_heard_in_its_likeliest_clause_and_asked_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [heard] = fixed_odds(monkeypatch, STORY, {"minor": WHOLE["minor"]}, tells=0.9)
    assert (heard.act, heard.sure, heard.heard_by) == ("minor", False, "reader")
    assert fixed_odds(monkeypatch, STORY, {"minor": WHOLE["minor"] - 0.1}, tells=0.9) == []
    once = fixed_odds(monkeypatch, STOP, {"wants_stop": 9.0}, wants_stop=0.5)
    assert [(one.act, one.heard_by) for one in once] == [("wants_stop", "rules")]


def test_a_story_without_a_word_for_it_is_not_ended_by_the_message_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    told = f"{STORY}, and it has been in the family for as long as I can remember and longer than that"
    assert fixed_odds(monkeypatch, told, {"wants_stop": 9.0}, tells=0.9) == []
    bedtime = f"{told}, and now I am off to bed"
    assert [one.act for one in fixed_odds(monkeypatch, bedtime, {"wants_stop": 9.0}, tells=0.9)] == ["wants_stop"]


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("I know already what I would write on my label, but I don't like to go much in this one.", "declines"),
        (
            "For my mother I let him be on a boat. I don't turn round. Sorry. That is enough of this, please.",
            "declines",
        ),
        ("It's about my father, leave him a little bit. Ask me another thing.", "wants_topic"),
        ("Little more about what? She died, I kept a blanket. I've told you it.", "complains"),
        ("You ask me often what it is like. It is like a dressing you don't change.", "complains"),
        ("My son has been told nothing at all. It stays between us, if you please.", "asks_interviewer"),
    ],
)
def test_limits_that_people_set_in_their_own_words_are_heard(trained: ActHearing, text: str, act: str) -> None:
    assert act in {one.act for one in trained.read_sync(text, "Tell me a bit more about that.", "en")}


@pytest.mark.parametrize(
    "text",
    [
        "It stayed between us for years, and then my sister told our mother.",
        "I don't like to go in the sea, so I stood on the sand. It is the same thing.",
        "He said we leave the dog be, and we did.",
    ],
)
def test_the_same_words_in_a_story_are_none(trained: ActHearing, text: str) -> None:
    heard = {one.act for one in trained.read_sync(text, "Tell me a bit more about that.", "en")}
    assert not heard & {"declines", "asks_interviewer", "complains", "wants_topic"}


@pytest.mark.parametrize("act", ["wants_withdrawal", "wants_stop", "minor"])
def test_what_the_reader_alone_hears_and_the_whole_message_denies_is_none(
    monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    least = LEAST_WHOLE[act]  # type: ignore[index]
    heard = fixed_odds(monkeypatch, STORY, {act: least}, **{act: 0.99})
    assert [one.act for one in heard] == [act]
    assert fixed_odds(monkeypatch, STORY, {act: least - 0.1}, **{act: 0.99}) == []


@pytest.mark.parametrize(
    ("question", "text", "act"),
    [
        ("When you think about kettles, what comes to mind first?", "Tea. End of a shift. About five minutes' peace?",
         "wants_stop"),
        ("And then?", "She rang the night before Mum took her in, she was late for it. I've still got it saved, can't "
         "delete it.", "wants_withdrawal"),
    ],
)  # fmt: skip
def test_ends_and_deletions_in_what_is_told_are_none(trained: ActHearing, question: str, text: str, act: str) -> None:
    assert act not in {one.act for one in trained.read_sync(text, question, "en")}


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        (
            "You do say that often. Ernst laid newspaper on the floor and stood both bicycles on it.",
            "Say more of that.",
        ),
        ("Philosophy again. So. Maybe it means she cut me a second piece.", "She knew. What does that mean to you?"),
        ("You like this question. For years, that I am a bad daughter with good teeth.", "What did that mean to you?"),
    ],
)
def test_complaint_beside_an_answer_is_heard(trained: ActHearing, answer: str, question: str) -> None:
    heard = heeded(answer, trained.read_sync(answer, question, "en"))
    assert [act.about for act in heard if act.act == "complains"], heard
    assert told(answer, heard).strip()


@pytest.mark.parametrize(
    "answer",
    [
        "She said, you always ask me that, and then she hung up on him.",
        "I'd left one in the bin already. I did it in the saucepan, the blue pot's gone.",
    ],
)
def test_complaint_inside_a_story_is_none(trained: ActHearing, answer: str) -> None:
    heard = heeded(answer, trained.read_sync(answer, "Tell me a bit more about that.", "en"))
    assert not [act for act in heard if act.act == "complains"]


def test_rest_that_somebody_tells_of_is_no_wish_for_one(trained: ActHearing) -> None:
    told = "I press button and it is silence. After that I can rest a bit before work."
    question = "You put headphones and you don't hear them. Say a little more about that."
    assert "wants_pause" not in {act.act for act in trained.read_sync(told, question, "en")}
    assert "wants_pause" in {act.act for act in trained.read_sync("I need to rest a bit now.", question, "en")}


@pytest.mark.parametrize(
    ("answer", "complains"),
    [
        ("I like the taste of coffee number 1", False),
        ("I like the taste of coffee number 0", False),
        ("I said I like the taste of coffee number 0, you asked me that before", True),
    ],
)
def test_who_says_no_more_than_was_said_back_complains_of_nothing(
    trained: ActHearing, answer: str, complains: bool
) -> None:
    question = "You like the taste of coffee number 0. Tell me a bit more about that."
    heard = {act.act for act in trained.read_sync(answer, question, "en")}
    assert ("complains" in heard) is complains


@pytest.mark.parametrize(
    ("answer", "question", "corrects"),
    [
        ("No, nobody's in danger. I'm tired and I miss my mother.", "I'm sorry. Are you in danger?", True),
        ("Oh, no, he's not dead. I should have said. He went.", "I'm sorry. Tell me more about that.", True),
        ("One correction. I said that nobody had asked. My mother did, once.", "Thank you. What else?", True),
        ("For us, I said, not for me. But yes, I ate it.", "There is one more piece for you. Say more.", True),
        ("No, I don't think so. Only that it rained.", "Thank you. What would you like to add?", False),
        ("Oh no, it isn't as if I'd mind. It rained all day and we walked on.", "How far was it?", False),
        ("Well, no, I didn't, did I. He liked being down there.", "You never once got up first. Say more.", False),
    ],
)
def test_what_was_said_back_wrongly_is_put_right(
    trained: ActHearing, answer: str, question: str, corrects: bool
) -> None:
    heard = heeded(answer, trained.read_sync(answer, question, "en"))
    assert any(act.act == "corrects" for act in heard) == corrects, heard


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("I'd try it, to be honest. First time the bloke sighs and reaches over, I'm off.", False),
        ("The minute they start on about money, I'm out of there.", False),
        ("If somebody takes it out of my hand, I'm gone.", False),
        ("If that's all, I'm off.", True),
        ("It was a good evening. I have to go now, bye.", True),
    ],
)
def test_when_somebody_would_leave_is_no_wish_to_stop(trained: ActHearing, text: str, ends: bool) -> None:
    question = "He was quick. Say a little more about that."
    heard = heeded(text, trained.read_sync(text, question, "en"))
    assert any(act.act == "wants_stop" for act in heard) == ends, heard


@pytest.mark.parametrize("when", ["Last night.", "This morning.", "On Sunday, the 3rd.", "two weeks ago"])
def test_sentence_that_only_says_when_tells_of_no_danger(when: str) -> None:
    reader = load_reader()
    question = "Think back to the last time you had to decide what there is to eat. What was going on?"
    assert reader.danger is not None
    assert reader.danger.most(when, reader.network.read(question, "", when))[0] == -np.inf
    both = f"{when} He locks me in and hits me."
    assert reader.danger.most(both, reader.network.read(question, "", both))[0] > 2


def test_complaint_and_counter_question_that_begin_a_message_are_no_part_of_a_story(trained: ActHearing) -> None:
    silly = (
        "Say more about fennel? That's a silly question. Everything was for two or four people. I was throwing away"
        " half of it by Friday."
    )
    start = silly.index("That's")
    complaint = HeardAct(act="complains", start=start, end=silly.index("Everything"))
    rest = HeardAct(act="tells", start=complaint.end, end=len(silly))
    first = HeardAct(act="tells", start=0, end=start)
    assert [one.act for one in heeded(silly, (first, complaint, rest))] == ["tells", "complains", "tells"]
    asked = (
        "I beg your pardon, I do not understand that question. I had only said that I wished to fetch a glass of water"
        " and sit quietly for a minute, because I was upset."
    )
    heard = heeded(asked, trained.read_sync(asked, "What were you going by?", "en"))
    assert "asks_back" in [one.act for one in heard]


def test_what_is_asked_takes_nothing_of_the_sentence_before_and_who_works_at_a_school_is_no_child(
    trained: ActHearing,
) -> None:
    job = "I'm the secretary at the primary school, mornings till four. "
    text = f"{job}Do you want to hear about my work though, or was it more about the meals?"
    question = "You have to be at the school office by eight. Tell me a bit more about that."
    heard = trained.read_sync(text, question, "en")
    assert [(one.act, one.start) for one in heard] == [("tells", 0), ("asks_back", len(job))]


@pytest.mark.parametrize(
    "text", ["Last week: he broke my wrist", "He hit me again last night", "Last night he held a knife to my throat"]
)
def test_danger_is_heard_whenever_it_was(trained: ActHearing, text: str) -> None:
    heard = [act for act in trained.read_sync(text, "When was the last time?", "en") if act.act == "risk"]
    assert [act.about for act in heard] == [""]


def test_words_that_only_say_when_something_was_are_blank() -> None:
    assert without_when("This morning. Took the bus.").split() == ["Took", "the", "bus."]
    assert without_when("He came on Monday, late.").split() == ["He", "came", ",", "late."]
    assert len(without_when("yesterday, at home")) == len("yesterday, at home")


def test_what_stands_around_a_sentence_speaks_for_danger_by_half(
    monkeypatch: pytest.MonkeyPatch, trained: ActHearing
) -> None:
    text = "He was late. We ate."

    def most(self: object, told: str, reading: object) -> tuple[float, int, int]:
        return (3.0, 13, 20) if told == text else (-5.0, 0, len(told))

    monkeypatch.setattr(type(trained._danger), "most", most)
    assert trained._in_danger(text, "And then?") == (-1.0, 13, 20)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("But tell whoever reads this it wasn't the lad's fault, it's whoever wrote the rule.", "wants_withdrawal"),
        ("The driver's usually the same one and he waits if he sees me at the corner.", "risk"),
        ("my girl told me she doesnt eat meat anymore. that same evening", "complains"),
    ],
)
def test_what_was_heard_where_there_was_nothing(trained: ActHearing, text: str, act: str) -> None:
    assert act not in {one.act for one in trained.read_sync(text, "What else comes to mind when you think back?", "en")}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("This noon at the bakery", "When was the last time you paid in cash?"),
        ("august, back to school, three pairs", "Tell me about the last time you bought shoes."),
        ("Yesterday in Köln, two minutes, ran", "Tell me about the last time you changed trains."),
        (
            "In my birthday month like every year, so May, doctor says less salt",
            "When was the last time you saw a doctor?",
        ),
    ],
)
def test_when_something_was_asks_for_no_break_and_tells_no_age(trained: ActHearing, text: str, question: str) -> None:
    assert not {"wants_pause", "minor"} & {one.act for one in trained.read_sync(text, question, "en")}


@pytest.mark.parametrize(
    ("text", "act"),
    [("yesterday. can i take a quick break, the baby's up", "wants_pause"), ("this morning. im in year nine", "minor")],
)
def test_a_break_and_an_age_beside_when_it_was_are_heard(trained: ActHearing, text: str, act: str) -> None:
    assert act in {one.act for one in trained.read_sync(text, "When was the last time you took a bus?", "en")}


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("People not saying when they should have. I'll leave it at that for now.", False),
        ("She left in March, and that was that. I'll stop there.", False),
        ("I'll leave it at that for now.", True),
        ("I've had fourteen hours of it today. Can we leave it there?", True),
        ("It was cold and we waited. I'll leave it there, my bus is here.", True),
    ],
)
def test_what_may_leave_only_what_was_asked_is_asked_back(trained: ActHearing, text: str, sure: bool) -> None:
    stops = [act for act in trained.read_sync(text, "What did you see later on?", "en") if act.act == "wants_stop"]
    assert [act.sure for act in stops] == [sure]


@pytest.mark.parametrize(
    ("text", "act"),
    [
        (
            "What I did afterwards. I would rather come to that in a moment, if it is all the same to you.",
            "wants_pause",
        ),
        ("Let me come back to that in a bit, first the other thing.", "wants_pause"),
        ("But I mean I’ve not told them. I’ve not told anyone actually, you’re the first.", "complains"),
        ("They ring, I come. With them on nobody can ring. That's what I mean.", "complains"),
        ("He isn't one for words. He'd worry if he knew how tired I am sometimes, so I leave it.", "risk"),
    ],
)
def test_what_only_sounds_like_it_is_none(trained: ActHearing, text: str, act: str) -> None:
    assert act not in [heard.act for heard in trained.read_sync(text, "What was that like?", "en")]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("he was lovely. also can i change provider and keep my number do you know", "other"),
        ("I’ve not told anyone. This doesn’t get to anyone I know, does it?", "readers"),
        ("Quiet. This stays between us, yes? Because we're not allowed to eat in the bus.", "readers"),
        ("It's his line. And leave out the bit with eating in the bus, please, I meant that.", "part"),
        ("That's all. Will it really be left out, though?", "part"),
    ],
)
def test_questions_that_end_a_message_are_heard(trained: ActHearing, text: str, about: str) -> None:
    heard = trained.read_sync(text, "How did it go on?", "en")
    assert [act.about for act in heard if act.act == "asks_interviewer"] == [about]


def test_who_has_to_go_and_asks_to_be_waited_for_wants_a_break(trained: ActHearing) -> None:
    text = "Sorry – moment, somebody's shouting for me. I have to go. Can you wait?"
    found = [(act.act, act.sure) for act in trained.read_sync(text, "What happened then?", "en")]
    assert ("wants_pause", True) in found and "wants_stop" not in [act for act, _ in found]
    told = trained.read_sync("I asked them, can you wait? They couldn't.", "What happened then?", "en")
    assert "wants_pause" not in [act.act for act in told]


@pytest.mark.parametrize("text", ["you never answered about the number", "You didn't answer my question."])
def test_that_a_question_was_passed_over_is_heard(trained: ActHearing, text: str) -> None:
    heard = trained.read_sync(text, "How did it go on?", "en")
    assert [act.about for act in heard if act.act == "complains"] == ["unanswered"]


@pytest.mark.parametrize(
    ("text", "question", "asks_back"),
    [
        ("Which company? There's two of them in this.", "When did you make up your mind about a company?", True),
        ("No, I wasn't asking who pays you. I meant which of the two.", "What would you still like to say?", False),
    ],
)
def test_which_of_two_is_meant_is_no_question_about_who_is_behind_it(
    trained: ActHearing, text: str, question: str, asks_back: bool
) -> None:
    acts = [act.act for act in trained.read_sync(text, question, "en")]
    assert "asks_interviewer" not in acts
    assert ("asks_back" in acts) is asks_back


@pytest.mark.parametrize(
    ("text", "not_heard"),
    [
        ("It was our anniversary. First one without her. I'd not told anybody. That'll do on that.", "wants_stop"),
        ("You'd think it's the last thing I'd want. And what do I do the second I'm out the door.", "wants_stop"),
        ("What was it like. ... It was veal.", "asks_back"),
        ("Fine. No sorry though. Listen, my two o'clock's just walked in, I've got maybe one more.", "wants_pause"),
        ("I leave it. I should wipe it off when I've bought them, but I don't.", "wants_withdrawal"),
    ],
)
def test_who_closes_a_subject_or_answers_an_echo_ends_and_asks_nothing(
    trained: ActHearing, text: str, not_heard: str
) -> None:
    heard = trained.read_sync(text, "What was it like, when she set it down?", "en")
    assert not_heard not in {one.act for one in heard}
