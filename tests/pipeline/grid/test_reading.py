"""Elements, distinctions and poles, read from what people say."""

from __future__ import annotations

import time

import pytest

from pipeline.grid.reading import MOST_NAMED, Compared, HeardDistinction, distinction_in, names_in, pole_in, same_words

ALDI, WAITROSE, MARKET = "a", "w", "m"
COMPARED = (
    Compared(id=ALDI, label="Aldi"),
    Compared(id=WAITROSE, label="Waitrose"),
    Compared(id=MARKET, label="the Saturday market"),
)
LIDL = Compared(id="l", label="Lidl")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("Lidl, Aldi and the Saturday market.", ("Lidl", "Aldi", "the Saturday market")),
        ("I mostly use Lidl. It's round the corner.", ("Lidl",)),
        ("That would be my boss, Karen", ("your boss",)),
        ("The farm shop, which is dear but lovely", ("the farm shop",)),
        ("Well, there's Tesco, and the corner shop. I also know Ocado.", ("Tesco", "the corner shop", "Ocado")),
        ("Aldi, ALDI and aldi.", ("Aldi",)),
        ("Ich kenne Rewe, Edeka und den Markt.", ("Rewe", "Edeka", "den Markt")),
        ("Den kleinen Bäcker, der hat zugemacht.", ("den kleinen Bäcker",)),
        ("I don't know", ()),
        ("none", ()),
        ("...", ()),
        ("", ()),
    ],
)
def test_names_of_elements_are_taken_as_they_were_said(said: str, names: tuple[str, ...]) -> None:
    assert names_in(said) == names


def test_forty_names_and_more_are_cut() -> None:
    assert len(names_in(", ".join(f"shop number {n}" for n in range(200)))) == MOST_NAMED


@pytest.mark.parametrize(
    ("said", "emergent", "contrast", "alike", "apart"),
    [
        ("Aldi and the market are cheap, Waitrose is dear.", "cheap", "dear", (ALDI, MARKET), WAITROSE),
        (
            "Aldi and the market are cheap and loud, and Waitrose is calm.",
            "cheap and loud",
            "calm",
            (ALDI, MARKET),
            WAITROSE,
        ),
        (
            "The first two are indoors, the third one needs good weather.",
            "indoors",
            "needs good weather",
            (ALDI, WAITROSE),
            MARKET,
        ),
        ("They both feel rushed and Waitrose doesn't", "rushed", None, (ALDI, MARKET), WAITROSE),
        ("I'd say the market and Waitrose because they're friendly", "friendly", None, (WAITROSE, MARKET), ALDI),
        ("Two of them know my name, and the other one wants my card.", "know my name", "wants my card", (), None),
        ("Aldi and Waitrose", None, None, (ALDI, WAITROSE), MARKET),
        ("Waitrose is posh.", "posh", None, (), WAITROSE),
        ("Well, two are huge, aren't they, and one's tiny.", "huge", "tiny", (), None),
        ("Zwei davon sind billig und der Dritte ist teuer.", "billig", "teuer", (), None),
        ("Cheap versus dear", "Cheap", "dear", (), None),
        ("Funny you ask, it rained. Two of them smell of earth.", "smell of earth", None, (), None),
        (
            "Aldi und Waitrose sind anonym, aber der Markt ist persönlich",
            "anonym",
            "persönlich",
            (ALDI, WAITROSE),
            MARKET,
        ),
    ],
)
def test_distinction_has_the_poles_and_whom_they_were_said_of(
    said: str, emergent: str | None, contrast: str | None, alike: tuple[str, ...], apart: str | None
) -> None:
    compared = (*COMPARED[:2], Compared(id=MARKET, label="der Markt")) if "und" in said.split() else COMPARED
    told = distinction_in(said, compared)
    assert told == HeardDistinction(emergent=emergent, contrast=contrast, alike=alike, apart=apart)


@pytest.mark.parametrize(
    "said",
    ["They're all the same", "No difference, really.", "I can't tell them apart", "Alle gleich.", "No idea.", "", "?!"],
)
def test_nothing_is_made_of_an_answer_without_a_distinction(said: str) -> None:
    told = distinction_in(said, COMPARED)
    assert (told.emergent, told.contrast, told.alike) == (None, None, ())


def test_aliases_and_plurals_name_an_element() -> None:
    book = Compared(id="b", label="reading a book", aliases=("book",))
    compared = (book, Compared(id="v", label="watching videos"), Compared(id="p", label="an app on your phone"))
    told = distinction_in("Books and apps let me go at my own pace. With a video I'm rewinding.", compared)
    assert (told.emergent, told.contrast) == ("let me go at my own pace", "I'm rewinding")
    assert (set(told.alike), told.apart) == ({"b", "p"}, "v")


def test_element_that_was_not_asked_about_is_heard_as_well() -> None:
    told = distinction_in("Lidl and Aldi are no-frills, Waitrose pampers you.", COMPARED, others=[LIDL])
    assert (told.emergent, told.contrast) == ("no-frills", "pampers you")
    assert set(told.alike) == {"l", ALDI}
    assert told.apart == WAITROSE


@pytest.mark.parametrize(
    ("said", "pole"),
    [
        ("The opposite would be expensive, I suppose.", "expensive"),
        ("Somewhere that's relaxed", "relaxed"),
        ("I don't know, chaotic?", "chaotic"),
        ("Being ignored", "ignored"),
        ("Das Gegenteil wäre persönlich.", "persönlich"),
        ("no idea", None),
        ("There isn't any.", None),
        ("…", None),
    ],
)
def test_opposite_is_taken_without_what_leads_up_to_it(said: str, pole: str | None) -> None:
    assert pole_in(said) == pole


def test_labels_are_the_same_but_for_case_articles_and_degree() -> None:
    assert same_words("the Market", "market")
    assert same_words("Very friendly", "friendly")
    assert not same_words("friendly", "unfriendly")
    assert not same_words("", "")


@pytest.mark.parametrize("said", ["a, " * 2600, "and " * 2000, "Aldi is x, " * 700, "x" * 8000, "the third " * 800])
def test_longest_answers_are_read_in_no_time(said: str) -> None:
    began = time.process_time()
    distinction_in(said, COMPARED)
    names_in(said)
    pole_in(said)
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    "said",
    [
        "Fine. Do your answers go to Aldi?",
        "Answer me first please.",
        "dirty",
        "Their rye bread is just a bread",
        "english is not a shop",
        "I don't understand your english",
    ],
)
def test_what_is_said_to_the_interviewer_or_only_describes_names_no_element(said: str) -> None:
    assert names_in(said) == ()


def test_names_that_begin_with_such_words_are_names() -> None:
    assert names_in("Dirty Dick's, Big Y and small shops") == ("Dirty Dick's", "Big Y", "small shops")
