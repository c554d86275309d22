"""Which part of what was told is to go, and what is asked of the study, in plain words."""

from __future__ import annotations

import pytest

from pipeline.language.acts.study import of_the_study


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Can you delete what I said about my grandmother?", "part"),
        ("please take out that my son looks after it", "part"),
        ("I called the driver an idiot, can you not write that down", "part"),
        ("btw the last sentence should not be saved", "part"),
        ("could u remove my last answer, not the others", "part"),
        ("could you take out my neighbour's name?", "names"),
        ("We went with my boss Karen. Please don't put her name in.", "names"),
        ("Are you recording my voice?", "recording"),
        ("By the way is my address stored somewhere?", "data"),
        ("Do my answers go to Aldi?", "who"),
        ("Yes but who. Which company?", "who"),
        ("Is some company going to sell me stuff after?", "selling"),
        ("What is this study for?", "purpose"),
        ("And then I go home. What's all this for, if I may ask?", "purpose"),
        ("You don't throw out what works. What do you want all this for anyway, you people selling tea?", "purpose"),
        ("Sorry, I've to get his bath on. Is there much more?", "left"),
        ("Well, how much is there? If it's one more go on, if it's ten he'll flood the landing.", "left"),
        ("Are we nearly done?", "left"),
        (
            "Well, and the price of it is that I run round at ten to ten some nights because there's nothing in for the"
            " lunch boxes, and the children are on their own for half an hour. What's this actually for, this study?"
            " Are you going to sell me an app?",
            "selling",
        ),
    ],
)
def test_it_is_heard(text: str, about: str) -> None:
    assert [(said.act, said.about) for said in of_the_study(text)] == [("asks_interviewer", about)]


@pytest.mark.parametrize(
    "text",
    [
        "Please delete everything I said.",
        "Delete all of it, my answers and my name.",
        "I had to delete the app about twice a week.",
        "They asked whether the recording could be erased.",
        "I take the skin off and cut the bad bit out.",
        "The company that makes it is from Bremen.",
        "scrap that i wasn't on etsy the first year",
        "She'd stand behind me and ask. What's that for? Why that one? I began to answer before she'd asked.",
        "He said who do you work for? What's this for? I said I'm only after a kettle.",
        "Some nights I think, what is all this for, the cooking and the lists, and then I go to bed.",
        "He stood there for a good long while with the list in his hand and the pram in the other one and the rain"
        " coming down on both of us, and in the end he looked at me and asked: What's this for?",
        "I don't write that down, I keep it in my head.",
        "How many are there? Four.",
        "I asked him how much is it? He said four.",
        "What do you want it for? he asked me, and I said for the garden.",
    ],
)
def test_who_only_tells_or_wants_all_of_it_to_go_is_not(text: str) -> None:
    assert of_the_study(text) == ()


def test_which_of_two_is_meant_is_no_question_of_the_study() -> None:
    assert of_the_study("Which company? There's two of them in this.", "When did you decide on a company?") == ()
    assert [said.about for said in of_the_study("Which company?", "How was the shop?")] == ["who"]


def test_what_somebody_says_they_did_not_ask_is_no_question() -> None:
    assert of_the_study("I wasn't asking who runs this. I meant which of the two.") == ()
