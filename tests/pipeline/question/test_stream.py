from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.question.checker import RETRACTING, check
from pipeline.question.stream import Mode, StreamGuard, Verdict
from tests.corpus.questions import BAD_QUESTIONS, GOOD_QUESTIONS, Labelled

GOOD = "I see. Earlier you mentioned the battery life. What does a long battery life give you?"


def pieces(text: str, size: int = 1) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def run(guard: StreamGuard, text: str, size: int = 1) -> tuple[list[str], Verdict]:
    out = []
    for piece in pieces(text, size):
        verdict = guard.feed(piece)
        out.append(verdict.release)
        if verdict.action != "go":
            return out, verdict
    verdict = guard.finish()
    return [*out, verdict.release], verdict


@given(sizes=st.lists(st.integers(1, 30), min_size=1), mode=st.sampled_from(["live", "held"]), hold=st.integers(0, 8))
def test_good_question_goes_out_byte_for_byte(sizes: list[int], mode: Mode, hold: int) -> None:
    guard, out, at, turn = StreamGuard(mode=mode, hold_words=hold), "", 0, 0
    while at < len(GOOD):
        size = sizes[turn % len(sizes)]
        out += guard.feed(GOOD[at : at + size]).release
        at, turn = at + size, turn + 1
    verdict = guard.finish()
    assert verdict.action == "go"
    assert out + verdict.release == GOOD == guard.out


def test_live_holds_the_first_words_then_lets_every_word_go() -> None:
    guard = StreamGuard(hold_words=4)
    released = [guard.feed(word).release for word in ("What ", "makes ", "that ", "important ", "in ", "your ")]
    assert released == ["", "", "", "What makes that important", " in", " your"]


def test_held_sends_whole_sentences() -> None:
    out, verdict = run(StreamGuard(mode="held"), GOOD)
    assert verdict.action == "go"
    assert [text for text in out if text] == [
        "I see. ", "Earlier you mentioned the battery life. ", "What does a long battery life give you?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["Do you like it?", "Don't you think it is cheap?", "The node is what?", "{topic} is what?"]
)
def test_bad_beginning_is_refused_before_anything_is_out(text: str) -> None:
    out, verdict = run(StreamGuard(), text)
    assert verdict.action == "rewrite"
    assert "".join(out) == ""


def test_bad_second_sentence_replaces_only_the_rest() -> None:
    guard = StreamGuard()
    out, verdict = run(guard, "Earlier you mentioned the battery life. Is it too short?")
    assert verdict.action == "replace"
    assert "".join(out).rstrip() == "Earlier you mentioned the battery life."
    final = guard.out + guard.replacement("You mentioned the price. What does that give you?")
    assert final == "Earlier you mentioned the battery life. What does that give you?"
    assert check(final) == []


def test_second_question_in_a_sentence_closes_the_first() -> None:
    guard = StreamGuard()
    out, verdict = run(guard, "What do you like about the sound, and why is that?")
    assert verdict.action == "replace"
    assert "".join(out) == "What do you like about the sound"
    assert guard.out + guard.replacement("What else?") == "What do you like about the sound?"


def test_what_breaks_off_in_the_middle_of_a_sentence_is_withdrawn() -> None:
    guard = StreamGuard()
    _, verdict = run(guard, "When you put them on in the morning, do you feel calm?")
    assert verdict.action == "retract"


def test_where_nobody_can_write_it_again_it_starts_over_in_the_same_breath() -> None:
    guard = StreamGuard()
    run(guard, "When you put them on in the morning, do you feel calm?")
    final = guard.out + guard.replacement("What happens when you put them on?")
    assert final.endswith("let me put that differently: what happens when you put them on?")


def test_question_that_would_end_in_the_air_is_not_closed_but_withdrawn() -> None:
    guard = StreamGuard()
    _, verdict = run(guard, "What haven't I asked, or would you like to say something of your own?")
    assert verdict.action == "retract"
    assert [refusal.code for refusal in verdict.refusals] == ["double"]


@pytest.mark.parametrize("bad", ["node graph", "<b>", "https://example.org"])
def test_machinery_and_unsafe_text_retract_what_is_out(bad: str) -> None:
    guard = StreamGuard()
    out, verdict = run(guard, f"What makes you like the sound of this {bad} so much?")
    assert verdict.action == "retract"
    assert "node" not in "".join(out)
    assert "<" not in "".join(out)
    assert "http" not in "".join(out)


def test_repetition_found_at_the_end_is_refused() -> None:
    question = "Why does that matter to you?"
    _, verdict = run(StreamGuard(recent_questions=[question]), question)
    assert verdict.action in ("retract", "rewrite")
    assert [refusal.code for refusal in verdict.refusals] == ["repeated"]


def test_empty_stream_is_refused() -> None:
    assert StreamGuard().finish().action == "rewrite"


def test_refused_stream_takes_no_more() -> None:
    guard = StreamGuard()
    run(guard, "Do you like it?")
    with pytest.raises(ValueError, match="over"):
        guard.feed("more")


def test_scene_that_was_set_is_left_for_another_question_in_so_many_words() -> None:
    guard = StreamGuard(recent_questions=["Think of your last coffee. What stands out?"])
    _, verdict = run(guard, "Think of your last coffee. What stands out?")
    assert verdict.action == "retract"
    final = guard.out + guard.replacement("Who else has a say in it?")
    assert final == "Think of your last coffee. Let me put that differently: who else has a say in it?"


@pytest.mark.parametrize("mode", ["live", "held"])
@pytest.mark.parametrize("item", [item for item in GOOD_QUESTIONS if not item.recent], ids=str)
def test_every_good_question_streams_through(item: Labelled, mode: Mode) -> None:
    out, verdict = run(item.guard(mode=mode), item.text, size=3)
    assert verdict.action == "go", verdict.refusals
    assert "".join(out) == item.text


@pytest.mark.parametrize("item", [item for item in BAD_QUESTIONS if not item.recent], ids=str)
def test_no_bad_question_gets_out_whole(item: Labelled) -> None:
    out, verdict = run(item.guard(), item.text, size=3)
    assert verdict.action != "go"
    assert "".join(out) != item.text or not item.text
    if {refusal.code for refusal in verdict.refusals} & RETRACTING:
        assert verdict.action in ("rewrite", "retract")


RULES = "Ask about exactly one thing in plain everyday words and never praise the answer given. What else is there?"


def test_words_of_a_secret_wait_until_it_is_clear_that_they_are_no_copy() -> None:
    guard = StreamGuard(secrets=[RULES])
    sent = [guard.feed(f"{word} ").release for word in "What do you do about exactly one thing in the kitchen".split()]
    assert "".join(sent[:8]) == "What do you do about exactly one"
    assert "".join(sent) == "What do you do about exactly one thing in the kitchen"


def test_no_more_than_three_words_of_a_copy_are_ever_out() -> None:
    guard = StreamGuard(secrets=[RULES])
    out, verdict = run(guard, f"What do you make of this: {RULES.casefold()}")
    assert verdict.action == "retract"
    assert {refusal.code for refusal in verdict.refusals} == {"leak"}
    assert "".join(out).rstrip() in ("What do you make of this:", "What do you make of this: ask about exactly")


def test_sentences_of_a_secret_that_ask_may_be_asked() -> None:
    secret = "Good examples: ask little.\nWhat makes that important to you in the morning?\nNever ask this."
    _, verdict = run(StreamGuard(secrets=[secret]), "What makes that important to you in the morning?")
    assert verdict.action == "go"


def test_what_may_ask_for_personal_data_waits_for_the_next_word() -> None:
    guard = StreamGuard()
    assert "".join(guard.feed(f"{word} ").release for word in "What is your password".split()) == ""
    assert guard.feed("manager ").release == "What is your password manager"
    guard = StreamGuard()
    assert [guard.feed(f"{word} ").action for word in "What is your password for".split()][-1] == "rewrite"
    assert guard.out == ""


@pytest.mark.parametrize("endless", ["a", " ", "?! ", "\n", "\u0e01", "… "])
def test_stream_without_end_is_refused_in_bounded_space(endless: str) -> None:
    guard = StreamGuard()
    for _ in range(2000):
        if guard.feed(endless).action != "go":
            break
    else:
        pytest.fail("nobody stopped it")
    assert len(guard.text) <= 1001 + len(endless)


def test_one_piece_of_any_size_is_judged_at_once() -> None:
    verdict = StreamGuard().feed("What do you like about " + "coffee " * 1_000_000)
    assert verdict.action == "rewrite"


def test_what_is_out_and_too_long_to_go_on_is_withdrawn() -> None:
    guard = StreamGuard()
    out, verdict = run(guard, "What do you " + " ".join(f"word{n}" for n in range(40)) + "?")
    assert len("".join(out).split()) > 12
    assert verdict.action == "retract"


@pytest.mark.parametrize(
    "text",
    [
        "Fair question, but what it's wanted for, I can't tell you. What would you like to add?",
        "Who will use this, and for what, that I don't know. What would you still like to say?",
        "I think I know the look you mean. What does it do to you?",
        "Of course, that stays where it is. Tell me about the door.",
        "I did stray from the telephones. What did you say to the man?",
        "You've told nobody that until now, and there is no hurry here. What happened next?",
        "Out of those calls, tell me about the one you remember most.",
        "Tell me about the day that bill came and what you did with it.",
        "We're nearly at the end. What would you like to add, to that or to anything else?",
        "I'm a program, and more than that I can't say. What happened then?",
        "It is clear, and I won't press it. What do you put it down to?",
        "Earlier you said that you ask him and then you shut up. Tell me about one time.",
    ],
)
def test_what_is_accepted_as_a_whole_is_accepted_word_by_word(text: str) -> None:
    assert not check(text, allowed_words=("ask", "him", "shut", "up"))
    guard = StreamGuard(allowed_words=("ask", "him", "shut", "up"))
    released = "".join(guard.feed(word + " ").release for word in text.split())
    last = guard.finish()
    assert (released + last.release).strip() == text
    assert last.action == "go"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I can't tell jokes to you. What happened?", "refusal"),
        ("Who was there, and what did they say about it? Tell me.", "double"),
        ("I think you are wrong about him, quite wrong. What happened?", "leading"),
        ("Of course you were angry that day. What did you do?", "leading"),
        ("Oh, shut up about it. What did you do?", "unsafe"),
        ("I'm your assistant and can't. What then?", "refusal"),
    ],
)
def test_what_the_next_words_do_not_excuse_is_refused_before_it_is_out(text: str, code: str) -> None:
    guard = StreamGuard()
    for word in text.split():
        verdict = guard.feed(word + " ")
        if verdict.action != "go":
            break
    assert code in {refusal.code for refusal in verdict.refusals}
    assert len(guard.out.split()) <= 5


def test_invitation_whose_second_half_is_refused_ends_with_a_full_stop() -> None:
    guard = StreamGuard()
    for word in "Tell me about the day that bill came and why did you keep it so long?".split():
        verdict = guard.feed(word + " ")
        if verdict.action != "go":
            break
    assert verdict.action == "replace"
    assert (guard.out + guard.replacement("What then?")).replace(" .", ".") == "Tell me about the day that bill came."
