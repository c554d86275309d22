"""The hallucination filter: hallucinations, and short answers that must pass.

The numbers are what the built-in model and `base` said: of noise, hum, music, keys, coughs and breath (`PHANTOMS`), and
of short answers spoken clearly, quietly or into noise (`ANSWERS`).
"""

from __future__ import annotations

import pytest

from audio.hallucinations import is_hallucination, is_stock_phrase, is_subtitle_artefact

HALLUCINATIONS = [
    # text, no_speech, avg_logprob, probability of the first word
    ("you", 0.97, -1.12, 0.11),
    ("You", 0.62, -1.97, 0.00),
    ("Thank you.", 0.91, -0.69, 0.03),
    ("Thank you.", 0.87, -0.60, 0.09),
    ("Thanks for watching!", 0.8, -0.4, 0.3),
    ("Thank you for watching. Please subscribe.", 0.7, -0.5, 0.4),
    ("So", 0.96, -1.66, 0.06),
    (". . . . . . . . .", 0.97, -0.09, 0.09),
    (".", 0.54, -1.54, 0.08),
    ("I'm going to go to the next one.", 0.88, -1.70, 0.14),
    ("I'm not going to be able to do that.", 0.87, -1.64, 0.11),
    ("Yay, yay, yay, yay, yay, yay, yay,", 0.84, -0.13, 0.40),
    ("I need more. I need more. I need more.", 0.93, -0.56, 0.05),
    ("Yay! Yay! Yay!", 0.67, -0.87, 0.35),
    ("I'm not sure if I can do that.", 0.50, -1.63, 0.10),
    ("get a chance to get a chance to get a chance to", 0.58, -0.64, 0.10),
    ("Woo!", 0.88, -1.75, 0.01),
    ("Subtitles by the Amara.org community", 0.2, -0.2, 0.9),
    ("[Music]", 0.1, -0.1, 0.9),
    ("(applause) (laughter)", 0.1, -0.1, 0.9),
    ("♪ ♪", 0.1, -0.1, 0.9),
]
ANSWERS = [
    ("Yes.", 0.21, -0.49, 0.58),
    ("No.", 0.28, -0.46, 0.67),
    ("Okay", 0.40, -2.04, 0.05),
    ("Thank you.", 0.34, -0.27, 0.40),
    ("Thank you. I like it.", 0.45, -0.20, 0.51),
    ("Thank you very much.", 0.17, -0.32, 0.23),
    ("Bye.", 0.25, -0.42, 0.53),
    ("maybe", 0.17, -0.63, 0.54),
    ("You", 0.42, -0.75, 0.49),
    ("So so", 0.46, -0.81, 0.35),
    ("ever", 0.46, -1.48, 0.16),
    ("coffee", 0.43, -1.01, 0.41),
    ("music", 0.40, -0.76, 0.63),
    ("Nambers.", 0.22, -1.62, 0.09),
    ("Thanks for watching my kids.", 0.04, -0.44, 0.39),
    ("It was translated by my sister.", 0.1, -0.3, 0.6),
    ("I care about copyright.", 0.1, -0.3, 0.6),
    ("Go forward ten meters.", 0.56, -1.03, 0.25),
    ("I stopped going there after they changed the menu.", 0.69, -0.80, 0.30),
    ("No, no, no.", 0.3, -0.4, 0.5),
    ("", 0.99, -1.0, 1.0),
]


@pytest.mark.parametrize(("text", "no_speech", "avg_logprob", "first"), HALLUCINATIONS)
def test_hallucination_is_detected(text: str, no_speech: float, avg_logprob: float, first: float) -> None:
    assert is_hallucination(text, no_speech=no_speech, avg_logprob=avg_logprob, probabilities=[first])


@pytest.mark.parametrize(("text", "no_speech", "avg_logprob", "first"), ANSWERS)
def test_short_answer_passes(text: str, no_speech: float, avg_logprob: float, first: float) -> None:
    assert not is_hallucination(text, no_speech=no_speech, avg_logprob=avg_logprob, probabilities=[first])


def test_sentence_that_begins_within_a_word_passes() -> None:
    """A window that began in the middle of "agent": recorded speech."""
    text = "Agent logged off. Agent logged in. Please enter a new extension, followed by pound."
    words = [0.14, 0.15] + [0.95] * 12
    assert not is_hallucination(text, no_speech=0.73, avg_logprob=-0.3, probabilities=words)
    assert is_hallucination(text, no_speech=0.73, avg_logprob=-0.3, probabilities=[0.14] + [0.6] * 13)
    assert is_hallucination(
        "Okay, okay, okay. " * 5, no_speech=0.73, avg_logprob=-0.2, probabilities=[0.02] + [0.9] * 14
    )
    assert is_hallucination("Thank you.", no_speech=0.73, avg_logprob=-0.3, probabilities=[0.1, 0.99])


def test_text_without_probabilities_is_judged_by_the_rest() -> None:
    assert is_hallucination("It is about the price.", no_speech=0.9, avg_logprob=-1.2)
    assert not is_hallucination("It is about the price.", no_speech=0.9, avg_logprob=-0.3)


@pytest.mark.parametrize("text", ["Thank you.", "thank you... Bye!", "Thank you. You", "I’ll see you next time."])
def test_stock_phrases_are_known_in_any_spelling(text: str) -> None:
    assert is_stock_phrase(text)


@pytest.mark.parametrize("text", ["Thank you, I like it.", "You know, the smell.", "Music helps me."])
def test_stock_phrase_in_a_longer_sentence_is_none(text: str) -> None:
    assert not is_stock_phrase(text)
    assert not is_subtitle_artefact(text)
