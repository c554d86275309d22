"""What somebody told, as a part of a question's own sentence."""

from __future__ import annotations

import pytest

from pipeline.language.rendering import rendered
from pipeline.language.srl import SpacyParser
from pipeline.ports import Rendering


def ways(parser: SpacyParser, answer: str, quote: str) -> Rendering:
    return rendered(parser.docs.doc(answer), quote)


@pytest.mark.parametrize(
    ("answer", "quote", "clause"),
    [
        ("My gums don't bleed any more.", "gums don't bleed any more", "your gums don't bleed any more"),
        ("She put a bracelet on Alma's rabbit.", "put a bracelet", "she put a bracelet on Alma's rabbit"),
        ("So I grab it and I was so tired.", "I was so tired", "you were so tired"),
        ("Nobody can make a fool of me.", "make a fool of me", "nobody can make a fool of you"),
        ("There's nowhere to park.", "there's nowhere to park", "there's nowhere to park"),
        ("A hay lorry stopped, and he waved.", "hay lorry stopped", "the hay lorry stopped"),
        ("im angry till noon", "angry till noon", "you're angry till noon"),
        ("The manager just shrugged and said nothing.", "manager just shrugged", "the manager shrugged"),
    ],
)
def test_clause_in_the_second_person(parser: SpacyParser, answer: str, quote: str, clause: str) -> None:
    assert ways(parser, answer, quote).clause == clause


def test_what_others_did_not_see_is_not_put_to_the_respondent(parser: SpacyParser) -> None:
    assert ways(parser, "You didn't see the start of it.", "didn't see the start of it").gerund == ""
    assert ways(parser, "I didn't see the start of it.", "didn't see the start of it").gerund != ""


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        ("That makes me calm.", "makes me calm"),  # “that” points at something else
        ("She don't speak in class.", "don't speak"),  # a mistake is not said back
        ("Do you want the receipt?", "want the receipt"),  # a question
        ("he he tells you you tells you straight", "tells you"),  # stammered
        ("You don't know what I went through.", "don't know what I went through"),  # whose “you”?
        ("I WAS FURIOUS ABOUT THE WHOLE THING", "FURIOUS"),
        ("It's a system.", "a system"),
        ('He said "get out" to me.', 'said "get out"'),
        ("We went to the place that he told us about.", "went to the place"),  # without the rest it says another thing
        ("I had to go and stand in the corridor.", "had to go"),  # to where?
        ("Funeral was the Tuesday after. Forty people.", "Funeral was the Tuesday after"),  # which one?
        ("He was sleeping. Or he did not want to speak.", "did not want to speak"),  # or not
        ("The price.", "not in the answer"),
        ("", ""),
    ],
)
def test_clause_left_out_where_it_is_not_sure(parser: SpacyParser, answer: str, quote: str) -> None:
    assert ways(parser, answer, quote).clause == ""


@pytest.mark.parametrize(
    ("answer", "quote", "gerund", "act", "deed"),
    [
        ("I want to keep my own teeth.", "keep my own teeth", "keeping your own teeth", "keep your own teeth", None),
        (
            "I can finally concentrate.",
            "finally concentrate",
            "being able to concentrate",
            "be able to concentrate",
            "",
        ),
        ("I don't have to worry.", "don't have to worry", "not having to worry", "not have to worry", ""),
        ("I hated the whole building.", "hated the whole building", "hating the whole building", None, ""),
        ("I forgot one invoice.", "forgot one invoice", "forgetting one invoice", "forget one invoice", ""),
        ("We called the landlord.", "called the landlord", "calling the landlord", None, "call the landlord"),
        ("I'm not going to leave him.", "not going to leave him", "not leaving him", "not leave him", ""),
        ("To see the kids at breakfast.", "see the kids at breakfast", "seeing the kids at breakfast", None, None),
        ("I'd have torn mine up.", "torn mine up", "", "", ""),  # it was not done
        ("Two cows got mastitis.", "Two cows got mastitis", "", "", ""),  # not the respondent's
    ],
)
def test_what_the_respondent_does(
    parser: SpacyParser, answer: str, quote: str, gerund: str, act: str | None, deed: str | None
) -> None:
    found = ways(parser, answer, quote)
    assert found.gerund == gerund
    assert act is None or found.act == act
    assert deed is None or found.deed == deed


@pytest.mark.parametrize(
    ("answer", "quote"), [("I sat on the bed and howled.", "sat on the bed"), ("I cried into it.", "cried into it")]
)
def test_what_the_body_does_was_not_decided(parser: SpacyParser, answer: str, quote: str) -> None:
    told = ways(parser, answer, quote)
    assert told.act and not told.deed


def test_what_somebody_else_did_is_theirs_to_explain(parser: SpacyParser) -> None:
    found = ways(parser, "My neighbour kept my card.", "kept my card")
    assert (found.other, found.other_act, found.gerund) == ("your neighbour", "keep your card", "")
    assert ways(parser, "He fell off the ladder.", "fell off the ladder").other == ""  # nobody decides to


@pytest.mark.parametrize(
    ("answer", "quote", "feeling"),
    [
        ("I felt so stupid.", "so stupid", "stupid"),
        ("I was furious with him.", "furious with him", "furious"),
        ("I wasn't angry.", "wasn't angry", ""),
        ("I was late.", "late", ""),
        ("He was furious.", "furious", ""),
    ],
)
def test_feeling_is_one_adjective(parser: SpacyParser, answer: str, quote: str, feeling: str) -> None:
    assert ways(parser, answer, quote).feeling == feeling


@pytest.mark.parametrize(
    ("answer", "quote", "thing"),
    [
        ("It gives me silence.", "silence", "that silence"),
        ("My wife helps.", "My wife", "your wife"),
        ("The price of the brush heads.", "price of the brush heads", "the price of the brush heads"),
        ("Those other people's radio stations.", "other people's radio stations", "other people's radio stations"),
        ("Two alarms on my phone.", "Two alarms", "those two alarms"),
        ("It is noisy.", "noisy", ""),
    ],
)
def test_thing_points_at_what_was_said(parser: SpacyParser, answer: str, quote: str, thing: str) -> None:
    assert ways(parser, answer, quote).thing == thing


def test_clause_about_somebody_unnamed_is_not_understood_later(parser: SpacyParser) -> None:
    assert not ways(parser, "He tells me straight.", "tells me straight").named
    assert ways(parser, "My cobbler tells me straight.", "tells me straight").named


@pytest.mark.parametrize(
    ("answer", "quote", "part"),
    [
        ("My dad was a plasterer and his body packed up.", "My dad was a plasterer", "your dad"),
        ("It was my brother Colin with a generator.", "my brother Colin with a generator", "your brother"),
        ("Well, first you find a torch.", "find a torch", "that torch"),
        ("And when he died I kept the trees.", "kept the trees", "the trees"),
        ("I didn't ring my sister.", "didn't ring my sister", ""),  # denied
        ("It was about five hours last week.", "about five hours last week", ""),  # times and amounts
        ("I had no idea what to do.", "had no idea", ""),
        ("It was the best thing.", "the best thing", ""),  # says nothing by itself
        ("Home about half past ten.", "Home about half past ten", ""),
        ("It was good.", "not in the answer", ""),
    ],
)
def test_part_is_somebody_or_something_that_a_question_can_name(
    parser: SpacyParser, answer: str, quote: str, part: str
) -> None:
    assert ways(parser, answer, quote).part == part


@pytest.mark.parametrize(
    ("answer", "quote", "feeling"),
    [
        ("I felt alone at the wheel.", "felt alone", "alone"),
        ("It wasn't like I was alone at the wheel.", "I was alone", ""),
        ("It was as if I was free again.", "I was free", ""),
    ],
)
def test_feeling_is_one_that_somebody_had(parser: SpacyParser, answer: str, quote: str, feeling: str) -> None:
    assert ways(parser, answer, quote).feeling == feeling


def test_verb_that_is_left_out_is_no_deed(parser: SpacyParser) -> None:
    told = ways(parser, "That was what she meant. She said, we nearly didn't, Rose.", "she said we nearly didn't Rose")
    assert "n't" not in f"{told.gerund} {told.act} {told.deed}"
    for answer in ("We nearly didn't, Rose.", "I wanted to and I couldn't."):
        told = ways(parser, answer, answer.rstrip("."))
        assert "n't" not in f"{told.gerund} {told.act} {told.deed}"


def test_what_somebody_else_said_is_no_clause_of_theirs(parser: SpacyParser) -> None:
    said = "When I say sorry for my English, she said, your English is fine, I understand everything."
    assert ways(parser, said, "I understand everything").clause == ""
    assert ways(parser, "The manager said I was wrong.", "was wrong").clause == ""
    assert ways(parser, "I said I was wrong.", "was wrong").clause == "you were wrong"
    assert ways(parser, "i dont like it when they shout", "dont like").clause == "you don't like it"
    assert ways(parser, "Mine would have felt like telling her she'd lost.", "would have felt").clause == ""
    assert ways(parser, "Omelette, ate it standing up.", "ate it standing up").clause == ""
