"""Audio of Realtime clients: base64 at 24 kHz in, samples at the listener's rate out."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audio.types import RATE_HZ
from server.realtime.audio import (
    AUDIO_BURST_S,
    AUDIO_PER_S,
    PIECE_BYTES,
    AudioBudget,
    RateConverter,
    decoded,
    pieces,
    seconds_of,
)
from server.realtime.problems import RealtimeProblem


def tone(hertz: float, rate_hz: int, seconds: float = 1.0) -> bytes:
    """A sine at half of full scale."""
    t = np.arange(int(rate_hz * seconds)) / rate_hz
    return (16_000 * np.sin(2 * np.pi * hertz * t)).astype("<i2").tobytes()


def converted(pcm: bytes, rate_hz: int, sizes: list[int] | None = None) -> bytes:
    """All samples, given in chunks of so many samples."""
    converter, out, start = RateConverter(rate_hz), b"", 0
    for size in sizes or []:
        out += converter.convert(pcm[start : start + 2 * size]) if pcm[start : start + 2 * size] else b""
        start += 2 * size
    if pcm[start:]:
        out += converter.convert(pcm[start:])
    return out + converter.rest()


def levels(pcm: bytes) -> tuple[float, float]:
    """The strongest frequency in hertz, and the mean level."""
    samples = np.frombuffer(pcm, "<i2").astype(float)
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum)) * RATE_HZ / len(samples), float(np.sqrt(np.mean(samples**2)))


@pytest.mark.parametrize("hertz", [100, 440, 3000, 7000])
def test_tone_at_24_khz_keeps_its_pitch_and_level(hertz: int) -> None:
    out = converted(tone(hertz, 24_000), 24_000)
    assert abs(len(out) // 2 - RATE_HZ) <= 16
    found, level = levels(out)
    assert abs(found - hertz) <= 2
    assert level == pytest.approx(16_000 / np.sqrt(2), rel=0.05)


@pytest.mark.parametrize("hertz", [9000, 10_500, 11_900])
def test_tone_above_what_the_listener_hears_does_not_fold_into_speech(hertz: int) -> None:
    _, level = levels(converted(tone(hertz, 24_000), 24_000))
    assert level < 16_000 / np.sqrt(2) / 100


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 5000), max_size=12))
def test_samples_do_not_depend_on_how_they_are_cut(sizes: list[int]) -> None:
    pcm = tone(440, 24_000, 0.5)
    assert converted(pcm, 24_000, sizes) == converted(pcm, 24_000)


def test_samples_at_the_rate_of_the_listener_stay_as_they_are() -> None:
    pcm = tone(440, RATE_HZ, 0.1)
    assert converted(pcm, RATE_HZ, [7, 100]) == pcm


def test_converter_goes_on_with_another_answer_after_its_rest() -> None:
    converter = RateConverter(24_000)
    first = converter.convert(tone(440, 24_000)) + converter.rest()
    second = converter.convert(tone(440, 24_000)) + converter.rest()
    assert first == second
    assert converter.rest() == b""


@pytest.mark.parametrize(
    "audio",
    ["", "!", "AQ", "AQA", "====", "AQAC", " AQA=", "AQA=\n", "AQA=AQA=", "\u00e9\u00e9\u00e9\u00e9", "AQ-_"],
)
def test_what_is_no_base64_of_whole_samples_is_refused(audio: str) -> None:
    with pytest.raises(RealtimeProblem) as refused:
        decoded(audio)
    assert (refused.value.realtime_code, refused.value.param) == ("invalid_value", "audio")


@given(st.binary(min_size=1, max_size=400))
def test_whole_samples_come_back_as_they_were(data: bytes) -> None:
    pcm = data + data
    assert decoded(base64.b64encode(pcm).decode()) == pcm


def test_pieces_are_whole_samples_and_all_of_them() -> None:
    pcm = bytes(range(250)) * 100
    cut = pieces(pcm)
    assert b"".join(cut) == pcm
    assert {len(piece) for piece in cut[:-1]} == {PIECE_BYTES}
    assert pieces(b"") == []


def test_budget_lets_through_a_burst_and_then_so_much_per_second() -> None:
    now = [0.0]
    budget = AudioBudget(lambda: now[0])
    assert budget.take(AUDIO_BURST_S)
    assert not budget.take(0.1)
    now[0] += 1.0
    assert budget.take(AUDIO_PER_S)
    assert not budget.take(0.1)
    now[0] += 1e6
    assert budget.take(AUDIO_BURST_S)
    assert not budget.take(0.1)


def test_length_of_audio_is_known_before_it_is_decoded() -> None:
    audio = base64.b64encode(tone(440, 24_000, 2.0)).decode()
    assert seconds_of(audio, 24_000) == pytest.approx(2.0, rel=0.01)
