"""Decoding of a window: how the model is run, and which of its words are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from audio.decoding import (
    DecodedText,
    DecodedWord,
    decode_filtered,
    encoder_context_s,
    join_word_pieces,
    remove_repetition,
)
from audio.types import RATE_HZ, Transcript, Word


@dataclass
class ScriptedEngine:
    """Says the given texts one after the other, the last one for ever, and remembers what it was asked."""

    texts: Sequence[str]
    no_speech: float = 0.1
    avg_logprob: float = -0.3
    first: float = 0.9
    asked: list[tuple[int, int]] = field(default_factory=list)

    @property
    def model_id(self) -> str:
        return "scripted"

    @property
    def languages(self) -> frozenset[str] | None:
        return None

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
        self.asked.append((context_s, beam_size))
        text = self.texts[min(len(self.asked), len(self.texts)) - 1]
        words = text.split()
        step = len(audio) / RATE_HZ / max(1, len(words))
        takes = min(step, 1.0)
        placed = [
            DecodedWord(w, n * step, n * step + takes, self.first if n == 0 else 0.9) for n, w in enumerate(words)
        ]
        return DecodedText(text, tuple(placed), self.no_speech, self.avg_logprob)


@dataclass
class HastyEngine(ScriptedEngine):
    """Leaves off at these places, in seconds of the audio it is given, before it has read everything."""

    stopped_at_s: Sequence[float | None] = ()

    def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
        found = super().decode(audio, context_s=context_s, beam_size=beam_size, language=language)
        place = self.stopped_at_s[len(self.asked) - 1]
        step = (place or len(audio) / RATE_HZ) / max(1, len(found.words))
        words = [
            DecodedWord(word.text, n * step, n * step + 0.5, word.probability) for n, word in enumerate(found.words)
        ]
        return replace(found, words=tuple(words), stopped_at_s=place)


REPETITION = "and then the end of it, " * 8


def decode(engine: ScriptedEngine, seconds: float, *, is_cancelled: bool = False) -> Transcript:
    samples = np.zeros(int(seconds * RATE_HZ), np.int16)
    return decode_filtered(engine, samples, language="en", beam_size=5, offset=800, is_cancelled=lambda: is_cancelled)


@pytest.mark.parametrize(
    ("seconds", "context_s"),
    [(0.2, 10), (2, 10), (6.9, 10), (7, 10), (8.5, 11), (11, 14), (26.9, 29), (28, 30), (30, 30)],
)
def test_context_is_as_long_as_the_audio_needs(seconds: float, context_s: int) -> None:
    assert encoder_context_s(int(seconds * RATE_HZ)) == context_s
    engine = ScriptedEngine(["Yes."])
    decode(engine, seconds)
    assert engine.asked == [(context_s, 5)]


def test_words_are_placed_in_the_answer() -> None:
    found = decode(ScriptedEngine(["Yes, I do."]), 3.0)
    assert found.text == "Yes, I do."
    assert found.words == (
        Word("Yes,", 800, 800 + RATE_HZ, 0.9),
        Word("I", 800 + RATE_HZ, 800 + 2 * RATE_HZ, 0.9),
        Word("do.", 800 + 2 * RATE_HZ, 800 + 3 * RATE_HZ, 0.9),
    )


def test_words_past_the_end_or_out_of_order_are_placed_inside_and_in_order() -> None:
    class Careless(ScriptedEngine):
        def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
            words = (
                DecodedWord("a", -0.5, 0.4, 1.2),
                DecodedWord("b", 0.2, 0.3, 0.5),
                DecodedWord("c", 0.9, 4.0, -0.1),
            )
            return DecodedText("a b c", words, 0.1, -0.2)

    words = decode(Careless([]), 1.0).words
    assert [(w.start, w.end) for w in words] == [(800, 7200), (7200, 7200), (15200, 16800)]
    assert [w.probability for w in words] == [1.0, 0.5, 0.0]


def test_repetition_is_decoded_again_with_the_full_context() -> None:
    engine = ScriptedEngine([REPETITION, "It is the end of it."])
    found = decode(engine, 8.0)
    assert engine.asked == [(11, 5), (30, 5)]
    assert found.text == "It is the end of it."


def test_repetition_that_stays_is_cut_after_its_first_round() -> None:
    found = decode(ScriptedEngine(["Well, " + REPETITION]), 9.0)
    assert found.text == "Well, and then the end of it,"
    assert [word.text for word in found.words] == found.text.split()


def test_repetition_with_the_full_context_is_not_decoded_twice() -> None:
    engine = ScriptedEngine([REPETITION * 2])
    decode(engine, 29.0)
    assert len(engine.asked) == 1


def test_repetition_is_not_decoded_again_for_a_cancelled_request() -> None:
    engine = ScriptedEngine([REPETITION])
    decode(engine, 8.0, is_cancelled=True)
    assert len(engine.asked) == 1


def test_hallucination_leaves_no_words_but_the_models_confidence() -> None:
    found = decode(ScriptedEngine(["Thank you."], no_speech=0.9, avg_logprob=-0.6, first=0.05), 2.0)
    assert (found.text, found.words) == ("", ())
    assert (found.no_speech, found.avg_logprob) == (0.9, -0.6)


def test_repetition_over_noise_is_a_hallucination_and_not_cut_to_words() -> None:
    found = decode(ScriptedEngine([REPETITION], no_speech=0.58, avg_logprob=-0.6), 25.0)
    assert (found.text, found.words) == ("", ())


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_audio_too_short_for_a_word_is_not_decoded(seconds: float) -> None:
    engine = ScriptedEngine(["Thanks for watching!"])
    assert decode(engine, seconds).text == ""
    assert engine.asked == []


def pieces(*texts: str) -> list[DecodedWord]:
    return [DecodedWord(text, n, n + 1, 1 - n / 10) for n, text in enumerate(texts)]


def test_pieces_join_to_words_where_the_language_has_spaces() -> None:
    words = join_word_pieces(
        pieces(" It", "'s", " well", "-", "known", ",", ' "', "they", " said", ".", " "), spaced=True
    )
    assert [word.text for word in words] == ["It's", "well-known,", '"they', "said."]
    assert (words[1].start_s, words[1].end_s) == (2, 5)
    assert words[1].probability == pytest.approx(0.6)


def test_pieces_stay_apart_where_the_language_has_none() -> None:
    words = join_word_pieces(pieces("我", "喜欢", "咖啡", "。"), spaced=False)
    assert [word.text for word in words] == ["我", "喜欢", "咖啡。"]


def test_repetition_without_spaces_is_cut_in_text_and_words() -> None:
    found = DecodedText("我喜欢喜欢喜欢喜欢喜欢喜欢", tuple(pieces("我", *["喜欢"] * 6)), 0.1, -0.1)
    cut = remove_repetition(found)
    assert cut.text == "我喜欢"
    assert [word.text for word in cut.words] == ["我", "喜欢"]


def test_what_follows_a_repetition_stays_in_text_and_words() -> None:
    said = "It is open source. Open source. Open source. Open source. And free."
    cut = remove_repetition(DecodedText(said, tuple(pieces(*said.split())), 0.1, -0.1))
    assert cut.text == "It is open source. And free."
    assert " ".join(word.text for word in cut.words) == cut.text


def test_decoding_that_stopped_early_is_continued_there() -> None:
    engine = HastyEngine(["I like it", "and buy it"], stopped_at_s=[6.0, None])
    found = decode(engine, 12.0)
    assert found.text == "I like it and buy it"
    assert engine.asked == [(15, 5), (10, 5)]
    assert [(w.start - 800) / RATE_HZ for w in found.words] == [0, 2, 4, 6, 8, 10]


def test_decoding_that_stopped_in_the_last_silence_is_complete() -> None:
    engine = HastyEngine(["I like it"], stopped_at_s=[11.5])
    assert decode(engine, 12.0).text == "I like it"
    assert len(engine.asked) == 1


@pytest.mark.parametrize(
    ("rest", "text"),
    [
        ("like it. And buy it", "I like it And buy it"),
        ("it and buy it", "I like it and buy it"),
        ("and it", "I like it and it"),
        ("like it", "I like it"),
    ],
)
def test_words_that_the_rest_has_again_are_there_once(rest: str, text: str) -> None:
    class Mistaken(HastyEngine):
        """Says that it stopped before the last words that it wrote."""

        def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
            found = super().decode(audio, context_s=context_s, beam_size=beam_size, language=language)
            return replace(found, stopped_at_s=3.2 if len(self.asked) == 1 else None)

    found = decode(Mistaken(["I like it", rest], stopped_at_s=[9.0, None]), 12.0)
    assert found.text == text
    assert [word.text for word in found.words] == text.split()


def test_words_that_are_said_again_in_the_rest_are_there_twice() -> None:
    engine = HastyEngine(["I like it", "like it and buy it"], stopped_at_s=[9.5, None])
    assert decode(engine, 12.0).text == "I like it like it and buy it"


def test_rest_that_becomes_a_loop_is_decoded_again_and_kept_up_to_the_loop() -> None:
    engine = HastyEngine(["I like it", "and buy " + "er, " * 20], stopped_at_s=[6.0, None, None])
    assert decode(engine, 12.0).text == "I like it and buy er,"
    assert engine.asked == [(15, 5), (10, 5), (30, 5)]
    engine = HastyEngine(["I like it", "and buy " + "er, " * 20, "and buy it"], stopped_at_s=[6.0, None, None])
    assert decode(engine, 12.0).text == "I like it and buy it"


def test_rest_without_speech_adds_no_words() -> None:
    class Doubtful(HastyEngine):
        def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
            found = super().decode(audio, context_s=context_s, beam_size=beam_size, language=language)
            return replace(found, no_speech=0.1 if len(self.asked) == 1 else 0.9)

    engine = Doubtful(["I like it", "Thank you."], stopped_at_s=[6.0, None])
    assert decode(engine, 12.0).text == "I like it"
    assert len(engine.asked) == 2


def test_decoding_that_keeps_stopping_early_ends() -> None:
    engine = HastyEngine(["again"], stopped_at_s=[1.0] * 9)
    decode(engine, 28.0)
    assert len(engine.asked) == 4


def test_text_with_a_hole_is_decoded_again_with_the_full_context() -> None:
    class Skipping(ScriptedEngine):
        def decode(self, audio: NDArray[np.float32], *, context_s: int, beam_size: int, language: str) -> DecodedText:
            found = super().decode(audio, context_s=context_s, beam_size=beam_size, language=language)
            if len(self.asked) > 1:
                return found
            first = replace(found.words[0], end_s=found.words[0].start_s + 2.1)
            return replace(found, words=(first, *found.words[1:]))

    engine = Skipping(["Please try again.", "I am sorry. Please try it again."])
    found = decode(engine, 9.0)
    assert found.text == "I am sorry. Please try it again."
    assert [context_s for context_s, _ in engine.asked] == [12, 30]
