"""What of a parsed answer can be said back."""

from __future__ import annotations

import re

import pytest

from pipeline.language.offline.sayable import LATEST, LONGEST, MOST, sayable
from pipeline.language.srl import DocCache, load_model

DOCS = DocCache(load_model())


def said(answer: str) -> list[str]:
    return [echo.text for echo in sayable(answer, DOCS.doc(answer))]


@pytest.mark.parametrize(
    "answer",
    [
        "I'd push my glasses up over the cushions, which looks daft.",
        "bit gutted tbh. stood there with the mince in the microwave. didnt shout though",
    ],
)
def test_nothing_is_said_back_in_pieces(answer: str) -> None:
    assert not [back for back in said(answer) if back.endswith(("looks.", "tbh.")) or "tbh. stood" in back]


@pytest.mark.parametrize(
    ("answer", "back"),
    [
        ("My girl has coeliac disease, so I read everything twice.", "You read everything twice."),
        ("I went to the hardware shop and walked out again without it.", "You walked out again without it."),
        ("It ends at the counter and he sits down for that every Sunday.", "He sits down for that every Sunday."),
        (
            "It would mean I could open the post without holding my breath.",
            "You could open the post without holding your",
        ),
        (
            "If it was five euros for one machine, I'd have bought it on the spot.",
            "You'd have bought it on the spot.",
        ),
        ("It was so easy that I never had to ask anyone for anything.", "You never had to ask anyone for anything."),
        ("No one I know would put it in a felt sock.", "No one you know would put it in a felt sock."),
        ("I need three sentences. Three crooked lines.", "Three crooked lines."),
        ("I never had to ask anyone, not even an onion.", "Not even an onion."),
        ("The talking's gone, isn't it.", "The talking's gone."),
        ("She scraped it in the bin. She never cooked again after that.", "She never cooked again after that."),
        ("Nobody cooks for me any more.", "Nobody cooks for you any more."),
        ("It's her glass I'm selling jam in.", "It's her glass you're selling jam in."),
        ("I suppose I should have to tell her.", "You should have to tell her."),
        ("We laugh, then I'd have to say why I went.", "You'd have to say why you went."),
        ("Nobody trains you for that bit.", "Nobody trains you for that bit."),
        ("I had it all written out, the whole card. Deleted it.", "Deleted it."),
        ("It was the one half hour in the day when nobody asked anything of me.", "Nobody asked anything of you."),
        ("If you mean for myself, I read every label aloud now.", "You read every label aloud now."),
        (
            "My husband saw to it all, every March, whether it needed it or not, rain or shine.",
            "Your husband saw to it all.",
        ),
        ("And some nights I like that room.", "You like that room."),
    ],
)
def test_clause_inside_a_sentence_is_said_back_and_so_are_phrases_and_what_would_be(answer: str, back: str) -> None:
    assert any(each.startswith(back) for each in said(answer)), said(answer)


@pytest.mark.parametrize(
    ("answer", "never"),
    [
        (
            "I'd say you buy a portion and fetch it, and dressed up a bit as being neighbourly, which is two things.",
            "You dressed up",
        ),
        ("I look at it, and I would prefer she shouts at me one time properly.", "She shouts at you"),
        (
            "If it's one woman and I've talked to her myself then yes, and if it's a box then no.",
            "You've talked to her",
        ),
        ("Does he come? Do I get a reminder or do I get the collection people.", "You get"),
        ("And who reads it? I don't know whether he reads it at all.", "He reads"),
        ("There are papers that I found in her desk last winter.", "You found"),
        ("I want to know I was a good teacher in the end.", "You were"),
        ("I'd like to think I helped him.", "You helped"),
        ("He wanted to know I was safe.", "You were"),
        ("If I had gone there by myself that day, fine.", "You had gone"),
        ("I think so.", "You think"),
        ("Well, you asked for it.", "You asked"),
        ("You know how it goes with them.", "You know"),
        ("We had a thing between us that we never once took out to look at.", "You never once took out to look at"),
        ("What I thought, God forgive me, was she'll have forgotten by morning.", "You were she"),
        ("It is a long way, and the answer's probably, well, no.", "The answer's probably."),
        (
            "Me and Marek hadn't spoken for two years by then, and he knew that.",
            "You and Marek hadn't spoken for two years by.",
        ),
        ("He ruled the lines, and I ruled the lines knowing it by.", "You ruled the lines knowing it by"),
        ("Myself I wouldn't go there easily.", "Yourself"),
        ("If he came, I would go.", "He came"),
        ("Or maybe he came to be made to laugh, and he got what he came for.", "He"),
        ("Perhaps they forgot about it.", "They forgot"),
        ("You never know with people like them, do you, my dear.", "You never"),
        ("But that second when she looked at me, I think she was waiting.", "She was waiting"),
        (
            "I am afraid that if I tell her, she says nothing. Then we buy a car and I drive with one hand again.",
            "You drive with one hand",
        ),
        ("I need a week, with a weekend in it, and I'd be happy.", "You'd be happy"),
        (
            "I put the leaflet behind the clock, where, I confess, it remains.",
            "You put the leaflet behind the clock, where",
        ),
        ("Sometimes I find that comforting, and sometimes it frightens me.", "You find that comforting"),
        ("It means nothing. I wouldn't make a meal of it.", "You wouldn't make"),
        ("My cousins were not.", "Your cousins were not"),
        ("They congratulated me, imagine.", "They congratulated you, imagine"),
        ("We only ever talked under a bonnet, him and me.", "You only ever talked under a bonnet, him"),
        ("Oh God.", "Oh God"),
        ("You'll be thinking, he's gone soft, but it's just habit, forty years.", "He's gone soft"),
        ("The evidence would suggest that it isn't the quiet I need.", "The evidence"),
        ("That's a bit harsh. But it is what I'd feel, I think.", "It is what"),
        ("It isn't really hiding that I need, it's someone to dig.", "It isn't"),
        (
            "She opened the window and didn't say anything, just watched.",
            "She opened the window and didn't say anything w",
        ),
        ("In the old kitchen of the house, on and on.", "On and on"),
        ("I covered her, and I thought she slept through all of it.", "She slept"),
        ("I don't think they look after the garden at all.", "They look after"),
        ("It comes every time I need rescuing and it feels like a point for them.", "You need rescuing"),
        ("It didn't, they had a man up there in November.", "It didn't"),
        ("When I'd been calm, in the morning, I was a worse person.", "You were a worse"),
        ("He was up on a ladder and I let him. It's not of great importance.", "It's not of"),
        ("Then she cried, and I believe I did.", "She cried, and you believe"),
        ("And if it did not change anything, then I carried this guilt for nothing.", "You carried"),
        ("If I haven't slept I lie there, and I don't like myself then.", "You don't like"),
        ("He said I was the mug paying for all of it.", "You were the mug"),
    ],
)
def test_questions_conditions_and_pieces_that_hang_on_something_are_not_said_back(answer: str, never: str) -> None:
    assert not any(each.startswith(never) for each in said(answer)), said(answer)


def test_what_is_said_back_stands_where_it_says_and_the_latest_comes_first() -> None:
    answer = "I was late. She waited, and I lay there a while. He drove the two of us home."
    found = sayable(answer, DOCS.doc(answer))
    assert [echo.back for echo in found] == sorted(echo.back for echo in found)
    for echo in found:
        assert answer[echo.start : echo.end].strip(" .,") and echo.sentence in answer
    lay = next(echo for echo in found if echo.text == "You lay there a while.")
    assert (answer[lay.start : lay.end], lay.back, lay.whole) == ("I lay there a while", 1, False)


def test_no_two_pieces_are_nearly_the_same_and_none_is_long_or_far_back() -> None:
    answer = " ".join(f"I walked to the old house number {number} and he painted its gate." for number in range(12))
    found = sayable(answer, DOCS.doc(answer))
    assert 0 < len(found) <= MOST
    assert len({echo.text for echo in found}) == len(found)
    assert all(len(echo.text.split()) <= LONGEST and echo.back < LATEST for echo in found)


@pytest.mark.parametrize(
    "answer", ["", "…", "?", "🙂", "a", "AND THEN I WENT HOME AND SHE WAS THERE " * 60, "<b>x</b> {y}"]
)
def test_nothing_breaks_on_answers_that_are_no_sentences(answer: str) -> None:
    assert all(echo.text.endswith(".") for echo in sayable(answer, DOCS.doc(answer)))


@pytest.mark.parametrize(
    "answer",
    [
        "I just took it quick so he could put his hands back in his pockets.",
        "As soon as I touched something it was give it here.",
        "I stood there with me hands still together.",
    ],
)
def test_purposes_two_clauses_in_one_and_dialect_are_not_said_back(answer: str) -> None:
    assert not [text for text in said(answer) if re.search("pockets|give it here|hands", text)]


@pytest.mark.parametrize(
    ("answer", "never"),
    [
        ("I wasn't protecting her, that's what I tell people. I liked Tuesdays.", "You weren't protecting her"),
        ("I laughed and she walked out, and she'll have had that laugh in her head since.", "She'll have had"),
        ("I did park by the chapel, three year I did.", "three year"),
        ("When it said one other person I did have a person pop up, quite fast, so.", "so."),
        ("She carried on coming for years. I thought that meant it was all right.", "all right"),
        ("I did not tell Owen. So now I have decided something for her, like he did.", "he did"),
    ],
)
def test_what_is_not_so_as_it_stands_is_not_said_back(answer: str, never: str) -> None:
    assert not any(never in text for text in said(answer))


def test_what_somebody_knows_is_no_filler() -> None:
    assert "where every line" not in " ".join(said("You get to where you know every line of it before he's said it."))


def test_what_only_says_again_that_it_is_so_is_left_out() -> None:
    assert "You parked by the chapel." in said("I parked by the chapel, I did. He was late.")


@pytest.mark.parametrize(
    ("answer", "never"),
    [
        ("They are light. Nobody talks to me when I have them on.", "Nobody talks to you."),
        ("He said we had booked under the wrong name. Which we had not.", "You had booked under the wrong name."),
        ("No bones in a fish finger.", "Bones in a fish finger."),
        ("well i kept my old one just changed the sim", "You kept your old one changed the sim."),
    ],
)
def test_no_piece_is_said_back_that_says_more_than_was_said(answer: str, never: str) -> None:
    assert never not in said(answer)


def test_what_another_sentence_begins_with_limits_nothing() -> None:
    assert "He never got up again." in said("My mother died and he never got up again. When I lost her I moved.")


@pytest.mark.parametrize(
    ("answer", "never"),
    [
        ("When I say sorry for my English, she said, your English is fine, I understand everything.", "fine"),
        ("When I say sorry for my English, she said, your English is fine, I understand everything.", "understand"),
        ("The manager said I was wrong and I left.", "You were wrong."),
        ("lose half an hour and kev moans", "Lose"),
        ("go on the bus and sit upstairs", "Go on"),
        ("hands go numb cant feel the bricks", "feel"),
        ("Omelette, ate it standing up.", "Omelette"),
        ("So there I am on my anniversary, watching my wife hold hands with the chef.", "You are on"),
        ("I was glad I was walking home with her and not sat on my own like him.", "You not"),
        ("That I actually use, when I remember to load it before work.", "use"),
        ("It would be instead of the bread and cheese my husband and I have when I'm home late.", "your husband."),
    ],
)
def test_what_is_not_theirs_or_is_no_sentence_is_not_said_back(answer: str, never: str) -> None:
    assert not [text for text in said(answer) if never in text]


@pytest.mark.parametrize(
    ("answer", "back"),
    [
        ("The manager said I was wrong and I left.", "The manager said you were wrong."),
        ("I told her I was wrong.", "You were wrong."),
        ("im always late for it", "You're always late for it."),
        ("i dont like it when they shout", "You don't like it when they shout."),
        ("we cant feel our hands", "You can't feel your hands."),
    ],
)
def test_what_is_theirs_is_said_back_with_the_apostrophes_it_lacks(answer: str, back: str) -> None:
    assert back in said(answer)


def test_a_piece_knows_whether_it_tells_of_what_is() -> None:
    answer = "I've got so many reminders. I just swipe them away. I dropped it. I can wait."
    now = {echo.text: echo.is_now for echo in sayable(answer, DOCS.doc(answer))}
    assert (now["You swipe them away."], now["You dropped it."]) == (True, False)


@pytest.mark.parametrize(
    "answer", ["That it isn't too dear.", "on the bike its just me", "It was only for the money, you see."]
)
def test_what_would_lose_its_point_is_not_said_back(answer: str) -> None:
    assert not [back for back in said(answer) if not re.search("dear|just|only", back)]


@pytest.mark.parametrize(
    "answer", ["I had a bit of a cry.", "It still gets me in the throat.", "I don't go round telling it."]
)
def test_tears_are_not_said_back(answer: str) -> None:
    assert not said(answer)
