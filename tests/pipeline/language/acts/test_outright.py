"""What is said to the interviewer in so many words, wherever it stands, and what only sounds like it."""

from __future__ import annotations

import pytest

from pipeline.acts import DENIED, NEXT, OFFERED, PUT_RIGHT_AT_ONCE, UNANSWERED, WHICH, HeardAct
from pipeline.language.acts.outright import denies_nothing, said_outright

MORE = "Tell me a bit more about that."


def outright(text: str, question: str = MORE) -> list[tuple[str, str, bool]]:
    return [(one.act, one.about, one.sure) for one in said_outright(text, question)]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("no, not a break, i've got to go now. he's standing in the cot yelling. was that all?", True),
        ("Hang on, that's the door. I need to go really", True),
        ("i just said i have to go?? tell them that.", True),
        ("are you even reading this. i said bye. he's screaming", True),
        ("I rang them twice, and nothing came of it. Anyway, I have to go.", False),
        ("i'd have said more about my son but i've to get finn from swimming for four. bye now", True),
        ("That's the whole of it. Goodbye now.", False),
        (
            "My mother is in the home by the river now, the one with the green door, and she counts the days, so on"
            " Sundays, whatever the weather is and whoever else is ill, I have to go, really.",
            False,
        ),
    ],
)
def test_who_has_to_go_is_heard(text: str, sure: bool) -> None:
    assert outright(text) == [("wants_stop", "", sure)]


@pytest.mark.parametrize(
    ("text", "act", "about"),
    [
        ("That's not what I asked, but never mind. Ten to ten, you want to know.", "complains", UNANSWERED),
        ("That wasn't my question.", "complains", UNANSWERED),
        ("Let's leave the yoghurts now. The week after it's bread anyway.", "declines", ""),
        ("We left at ten. Let's leave the money out of it, shall we.", "declines", ""),
        ("That's all. And it does stay without my name, right?", "asks_interviewer", "readers"),
        ("it all stays anonymous, right?", "asks_interviewer", "readers"),
    ],
)
def test_what_is_meant_for_the_interviewer_is_heard(text: str, act: str, about: str) -> None:
    assert (act, about, True) in outright(text)


@pytest.mark.parametrize(
    "text",
    [
        "That's what I asked him, what it costs.",
        "It wasn't my question, it was his.",
        "He said let's leave the car and walk, so we did.",
        "I'd like to leave the city one day.",
        "Let's leave the house, she said.",
        "It is anonymous at the clinic, which I like.",
    ],
)
def test_what_only_sounds_like_it_is_told(text: str) -> None:
    assert not {"complains", "declines", "asks_interviewer"} & {act for act, _, _ in outright(text)}


@pytest.mark.parametrize(
    "text",
    [
        "I asked the girl where I should go now, and she said online.",
        "So I said bye, love. She's still here, mind.",
        "They open the mouth, close it, bye.",
        'He said "I have to go now" and hung up.',
        "I have to go to the depot twice a week, and the rest I do from home, which suits me and the dog and all.",
        "I have to go now and then, when my mother rings and nobody else can take her to the chemist or the bank.",
        "You go when you have to go, that's how it was in our house.",
    ],
)
def test_who_tells_of_going_is_not_let_go(text: str) -> None:
    assert outright(text) == []


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("There's no more to it. You've not once asked what he was like. He taught me to ride.", "what he was like"),
        ("You split them with your thumb. It's the envelopes I'd have asked about.", "about the envelopes"),
        ("You might have asked what she was like with it.", "what she was like with it"),
        (
            "Six years. You never asked how the sofa got broken, and that's the bit I came to tell.",
            "how the sofa got broken",
        ),
        ("you haven't asked me about the thursday yet", "about the thursday"),
        ("And nobody's asked about the boy, I notice. Including you.", "about the boy"),
    ],
)
def test_what_somebody_was_never_asked_is_heard(text: str, topic: str) -> None:
    (found,) = said_outright(text, MORE)
    assert (found.act, found.about, dict(found.details)["topic"]) == ("wants_topic", "unasked", topic)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("you keep handing my own words back. ask us about the walking, i like the walking", "the walking"),
        ("Ask about him, if you like, not about me.", "him"),
        ("Dog needs out. Ask me about the tree once he's been.", "the tree"),
    ],
)
def test_what_somebody_would_be_asked_is_heard(text: str, topic: str) -> None:
    (found,) = said_outright(text, MORE)
    assert (found.act, found.about, dict(found.details)["topic"]) == ("wants_topic", "asked", topic)


@pytest.mark.parametrize(
    "text",
    [
        "He never asked what it cost.",
        "You never asked that.",
        "She said you should have asked what I think.",
        "I asked what he wanted.",
    ],
)
def test_what_others_were_never_asked_is_told(text: str) -> None:
    assert outright(text) == []


@pytest.mark.parametrize(
    "text", ["Right. I've made a tea. Where was I.", "Sorry, what was I saying?", "oh i've lost my thread"]
)
def test_who_has_lost_their_thread_is_heard(text: str) -> None:
    assert outright(text) == [("asks_back", "where", True)]


@pytest.mark.parametrize(
    "text", ["Where was I supposed to sit?", "I didn't know where I was.", "He asked where I was."]
)
def test_who_tells_where_they_were_has_lost_no_thread(text: str) -> None:
    assert outright(text) == []


def test_name_that_is_to_come_out_and_question_asked_again_are_both_heard() -> None:
    text = "I don't need time. I asked who reads this. And can the name come out? It wasn't her mistake."
    assert outright(text) == [("asks_interviewer", "names", True), ("asks_interviewer", "readers", True)]
    assert outright("No! Not everything. Just the one name.") == [("asks_interviewer", "names", True)]


@pytest.mark.parametrize(
    "text",
    [
        "They struck my name off the list.",
        "Only his name, Terence, I kept.",
        "A locker with my name on it.",
        "They left that one out in the rain.",
        "You won't get a name from me.",
    ],
)
def test_other_words_of_names_are_told(text: str) -> None:
    assert outright(text) == []


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("She put the rake down and went in. Who sees this, by the way?", "readers"),
        ("I asked you something. Who reads this? It's a small town.", "readers"),
        ("But let me ask you something: what do you make of all this?", "opinion"),
        ("You didn't say if someone's there now.", "readers"),
        ("did you get what i said about the thousand euro? well. the tenant rings me.", "heard"),
        ("vet said it made no difference. do you think that's true or do they just say that", "opinion"),
        ("i know you're a program. i asked what you think", "opinion"),
        ("I don't want the school named or the town.", "names"),
        ("I don't want that going anywhere with a name on.", "names"),
        ("The boy had drawn it. I'd rather whoever's following along left that part out.", "part"),
    ],
)
def test_questions_to_the_interviewer_are_heard_behind_a_story(text: str, about: str) -> None:
    assert outright(text) == [("asks_interviewer", about, True)]


def test_who_was_taken_for_dead_puts_it_right() -> None:
    said = "My mother? She was in excellent health. It was Mr Penhallow's wife who died."
    assert outright(said, "I'm sorry about your mother. Tell me about her, if you like.") == [
        ("corrects", "denied", True)
    ]
    assert outright(said) == []
    assert outright("She died in May.", "I'm sorry about your mother. And then?") == []


@pytest.mark.parametrize(
    "text",
    ["He rang on New Year's Day. That's as far as I'll go on that.", "And before you ask me why, I don't know, love."],
)
def test_who_goes_no_further_is_heard(text: str) -> None:
    assert outright(text) == [("declines", "", True)]


def test_what_was_never_asked_and_is_told_all_the_same_needs_no_asking() -> None:
    said = "You've not once asked what he was like. He taught me to ride in the park, and ran beside me the whole way."
    (found,) = said_outright(said, MORE)
    assert (found.about, dict(found.details)["topic"]) == ("unasked", "")


def test_age_in_passing_is_asked_for() -> None:
    said = "i just sat with him. everyone thinks i took it really well, like very grown up for 15. i didn't"
    assert outright(said) == [("minor", "in_passing", False)]
    assert outright("He was tall for fourteen, my brother, and they let him in.") == []
    assert outright("Everyone says it is good for ten minutes.") == []


def test_what_the_interviewer_really_wants_to_know_is_answered() -> None:
    assert outright("I've put eleven years on the table. What do you actually want to know?") == [
        ("asks_interviewer", "why_ask", True)
    ]
    assert outright("He asked me what I actually wanted to know.") == []


@pytest.mark.parametrize(
    ("question", "wrong", "nothing"),
    [
        ("What comes to mind first?", "a bag man", True),
        ("What do you like about the bag?", "a bag man", False),
        ("You carry a bag. What is in it?", "a bag man", False),
    ],
)
def test_what_was_not_said_can_not_be_put_right(question: str, wrong: str, nothing: bool) -> None:
    heard = HeardAct(act="corrects", start=0, end=14, details={"wrong": wrong})
    assert denies_nothing(heard, question) == nothing


def test_who_puts_right_what_was_said_says_what_is_so() -> None:
    heard = HeardAct(act="corrects", start=0, end=14, details={"wrong": "tea", "right": "coffee"})
    assert not denies_nothing(heard, "What comes to mind first?")


@pytest.mark.parametrize(
    ("text", "upset"),
    [
        ("he was quiet. then my voice went, its going now too, sorry", True),
        ("every time i get to this part i just break down, like rn", True),
        ("all coming back now. feel awful", True),
        ("he was crying his eyes out that night, he's fine now", False),
        ("I was sweating and shaking, but im right as rain now", False),
        ("She said, I'm crying right now.", False),
        ("The colour is coming back in fashion.", False),
    ],
)
def test_who_is_upset_while_they_tell_is_heard(text: str, upset: bool) -> None:
    assert ("distress" in {said.act for said in said_outright(text, "What happened then?")}) is upset


@pytest.mark.parametrize(
    ("text", "minor"),
    [
        ("bus. my mom says not till im 18", True),
        ("she said wait until you're 18, that is in two years more", True),
        ("I came with 12, I have 17 years now.", True),
        ("I wasn't allowed until I was 18", False),
        ("I have 17 years of experience", False),
        ("not before 18 o'clock", False),
    ],
)
def test_age_that_forbids_something_still_is_heard(text: str, minor: bool) -> None:
    assert ("minor" in {said.act for said in said_outright(text, "How do you get there?")}) is minor


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        (
            "Oh blimey, look at the time, I've got to go, love, it's the school run and my youngest gets in a right"
            " state if I'm late.",
            True,
        ),
        ("Right, I've got to go, it's the school run and my youngest gets in a right state if I'm late for it.", True),
        ("my boss said I have to go, it's the rule, and then he told me all about it for half an hour or more", False),
        ("I looked at the time and thought I have to go there one day, because it is such a lovely old place", False),
    ],
)
def test_who_sees_how_late_it_is_leaves_whatever_reason_they_tell(text: str, leaves: bool) -> None:
    assert ("wants_stop" in {said.act for said in said_outright(text, "Tell me more about that.")}) is leaves


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("nah had enough im off for my tea", True),
        ("They should send the same person. And now I must go, my break is finished.", False),
        ("dunno thats me done with coffee now", False),
        ("That's me finished, I think.", False),
    ],
)
def test_who_is_done_or_off_is_heard(text: str, sure: bool) -> None:
    assert outright(text) == [("wants_stop", "", sure)]


@pytest.mark.parametrize(
    "text",
    [
        "He shut the shop and said that's me done.",
        "I'd had enough of that gym by February, the mirrors, the grunting.",
        "They'd all had enough of waiting as well, and I'm off sugar since.",
        "The kids had enough so I'm done cooking by seven.",
        "We had had enough of the queue, so I am off that shop for good.",
        "Handed the key back, said that's me finished. Then they rang in October and asked whether I'd come back.",
    ],
)
def test_who_was_done_or_off_then_is_not_leaving(text: str) -> None:
    assert outright(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm at the school till four. Do you want to hear about my work though, or was it more about the meals?",
        "shall i tell you about the first one or the second?",
    ],
)
def test_who_asks_which_of_two_things_to_tell_asks_back(text: str) -> None:
    assert outright(text) == [("asks_back", WHICH, True)]


@pytest.mark.parametrize(
    "text",
    [
        "She asked do you want tea or coffee? and I said tea.",
        "Do you want to carry on or are we done?",
        "tea or coffee",
    ],
)
def test_other_questions_for_one_of_two_do_not(text: str) -> None:
    assert not [one for one in outright(text) if one[0] == "asks_back"]


@pytest.mark.parametrize(
    "text",
    [
        "Oh, no need to be sorry, I was only teasing. I'm not sure what else to tell you, so ask me something.",
        "Ask me something, then. I bought a slow cooker after that.",
        "go on, ask me another",
    ],
)
def test_who_would_be_asked_whatever_it_is_is_heard(text: str) -> None:
    assert outright(text) == [("wants_topic", NEXT, True)]


def test_what_somebody_would_rather_tell_is_heard_beside_a_refusal_alone() -> None:
    refusal = "I'd rather not stay on that part, honestly. I can tell you what I did afterwards."
    [said] = said_outright(refusal, MORE)
    assert (said.act, said.about, dict(said.details)) == ("wants_topic", OFFERED, {"topic": "what I did afterwards"})
    assert outright("I can tell you what I did afterwards.") == []
    assert outright("She said ask me something and I did.") == []


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("no wait u got me wrong, i only meant the hand bit was done", [("corrects", DENIED, True)]),
        ("No, I only meant the shop.", [("corrects", DENIED, True)]),
        ("He got me wrong from the start, my father.", []),
        ("I told her and she took it, I only meant to help.", []),
    ],
)
def test_who_was_understood_wrongly_is_heard(text: str, heard: list[tuple[str, str, bool]]) -> None:
    assert outright(text) == heard


@pytest.mark.parametrize(
    "text",
    [
        "No. That’s all I want to say about that, if you don’t mind. She never once reproached me.",
        "I just asked you not to.",
        "Please leave my mother out of it now.",
        "No, no. I just don't want to be asked about it any more.",
        "can we keep the kids out of this",
        "stop asking about him",
    ],
)
def test_who_goes_no_further_is_heard_and_not_taken_for_a_wish_to_delete(text: str) -> None:
    found = [one for one in said_outright(text, MORE) if one.act == "declines"]
    assert found and "wants_withdrawal" in found[0].instead


@pytest.mark.parametrize(
    "text",
    [
        "Please leave my surname out of it.",
        "I didn't want to be asked why, so I told nobody.",
        "That's all I wanted to say to him.",
        "He said: leave my mother out of it.",
        "I kept the receipts out of it.",
    ],
)
def test_what_only_sounds_like_going_no_further(text: str) -> None:
    assert not [one for one in said_outright(text, MORE) if one.act == "declines"]


def test_slips_are_put_right_at_once_and_what_was_put_right_before_is_taken() -> None:
    slip = "I've spent four hundred and ten euros. No, I tell a lie, four hundred and sixty, I forgot the oven."
    assert outright(slip) == [("corrects", PUT_RIGHT_AT_ONCE, True)]
    (again,) = said_outright(
        "Four hundred and sixty, I corrected that. It was a good result.", "You've spent 410 euros."
    )
    assert (again.act, dict(again.details)) == ("corrects", {"right": "Four hundred and sixty"})
    for text in ("I tell a lie now and then.", "I put it right by the door.", "please scratch that bit about the tax"):
        assert not [one for one in said_outright(text, MORE) if one.act == "corrects"]


def test_a_word_taken_back_in_the_next_sentence_is_put_right_at_once() -> None:
    assert outright("I'd sign half the flats up tomorrow. Well, not tomorrow. But soon.") == [
        ("corrects", PUT_RIGHT_AT_ONCE, True)
    ]
    assert not outright("I'd sign half the flats up. Well, not bad. But soon.")


def test_what_somebody_would_be_glad_to_be_asked_is_asked() -> None:
    (wish,) = said_outright(
        "I was counting. And I'd be happy to be asked whose columns they were, but there we are.", MORE
    )
    assert (wish.act, dict(wish.details)) == ("wants_topic", {"topic": "whose columns they were"})
