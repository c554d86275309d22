"""What surrounds speech: noise of every colour, hum, keys, coughs and music, and how to mix it with what people say.

Everything is mono at `RATE_HZ`; floats are in [-1, 1] of full scale, and every sound comes from a seeded generator, so
the same call makes the same samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audio.types import RATE_HZ, Samples

Sound = NDArray[np.float64]
FRAME = RATE_HZ // 100
"""Loudness is looked at in pieces of 10 ms."""
ACTIVE_DB = 35.0
"""What is so much quieter than the loudest piece is a gap between words."""


def frames_of(seconds: float) -> int:
    """Seconds as samples."""
    return round(seconds * RATE_HZ)


def sound_of(samples: Samples) -> Sound:
    """Samples as a sound."""
    return samples.astype(np.float64) / 32768.0


def samples_of(sound: Sound) -> Samples:
    """A sound as samples; what is too loud is clipped."""
    return np.clip(np.round(sound * 32768.0), -32768, 32767).astype(np.int16)


def level(sound: Sound) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(sound)))) if sound.size else 0.0


def at_dbfs(sound: Sound, dbfs: float) -> Sound:
    """The same sound with a root mean square of so many dB of full scale; silence stays silence."""
    now = level(sound)
    return sound if now == 0.0 else sound * (10 ** (dbfs / 20) / now)


def louder(sound: Sound, db: float) -> Sound:
    """The same sound, so many dB louder."""
    return sound * 10 ** (db / 20)


def loudness(sound: Sound) -> Sound:
    """Root mean square of each whole piece of 10 ms, `[n]`."""
    pieces = sound[: len(sound) // FRAME * FRAME].reshape(-1, FRAME)
    return np.asarray(np.sqrt(np.mean(np.square(pieces), axis=1)))


def active(sound: Sound) -> NDArray[np.bool_]:
    """Which pieces of 10 ms are speech, for speech that was recorded without noise."""
    loud = loudness(sound)
    return np.asarray(loud > loud.max(initial=0.0) * 10 ** (-ACTIVE_DB / 20))


def speech_end(sound: Sound) -> int:
    """The sample after the last one of clean speech; 0 where there is none."""
    found = np.flatnonzero(active(sound))
    return int(found[-1] + 1) * FRAME if len(found) else 0


def speech_level(sound: Sound) -> float:
    """Root mean square of clean speech, gaps between words left out."""
    whole = sound[: len(sound) // FRAME * FRAME].reshape(-1, FRAME)
    chosen = whole[active(sound)]
    return level(chosen.reshape(-1))


def mixed(speech: Sound, noise: Sound, snr_db: float) -> Sound:
    """Clean speech in noise: the noise lies so many dB under the speech itself, gaps left out. Clipped by nobody."""
    wanted = speech_level(speech) / 10 ** (snr_db / 20)
    heard = speech + at_dbfs(np.resize(noise, len(speech)), 20 * np.log10(max(wanted, 1e-9)))
    return heard * min(1.0, 0.98 / max(float(np.abs(heard).max(initial=0.0)), 1e-9))


def silence(seconds: float) -> Sound:
    """Nothing at all."""
    return np.zeros(frames_of(seconds))


def coloured(rng: np.random.Generator, seconds: float, exponent: float) -> Sound:
    """Noise whose power falls with frequency: exponent 0 white, 1 pink, 2 brown; from 20 Hz on."""
    count = frames_of(seconds)
    spectrum = np.fft.rfft(rng.standard_normal(count))
    hertz = np.fft.rfftfreq(count, 1 / RATE_HZ)
    shape = np.maximum(hertz, 20.0) ** (-exponent / 2)
    return np.asarray(np.fft.irfft(spectrum * shape, count))


def hum(seconds: float, mains_hz: float = 50.0) -> Sound:
    """A badly earthed microphone: the mains and its harmonics."""
    t = np.arange(frames_of(seconds)) / RATE_HZ
    return np.asarray(np.sum([np.sin(2 * np.pi * mains_hz * n * t + n) / n for n in (1, 2, 3, 4, 5, 7, 9)], axis=0))


def fan(rng: np.random.Generator, seconds: float) -> Sound:
    """A fan: low noise that swells with its blades, and a whistle."""
    t = np.arange(frames_of(seconds)) / RATE_HZ
    air = coloured(rng, seconds, 1.5)
    return air / level(air) * (1 + 0.3 * np.sin(2 * np.pi * 23 * t)) + 0.15 * np.sin(2 * np.pi * 410 * t)


def scattered(
    rng: np.random.Generator, seconds: float, sounds: Sequence[Sound], *, per_s: float, vary_db: float = 6.0
) -> Sound:
    """Short sounds at random moments, `per_s` of them a second, each up to `vary_db` louder or quieter."""
    out = silence(seconds)
    for at in np.sort(rng.integers(0, len(out), int(seconds * per_s))):
        one = sounds[int(rng.integers(len(sounds)))][: len(out) - at]
        out[at : at + len(one)] += louder(one, float(rng.uniform(-vary_db, vary_db)))
    return out


def cough(rng: np.random.Generator) -> Sound:
    """A burst of noise through a throat, then a shorter one."""
    parts = []
    for seconds, loud in ((0.22, 1.0), (0.06, 0.0), (0.16, 0.6)):
        burst = coloured(rng, seconds, 0.8)
        t = np.arange(len(burst)) / RATE_HZ
        throat = 1 + 0.6 * np.sin(2 * np.pi * float(rng.uniform(350, 600)) * t)
        parts.append(loud * burst / level(burst) * throat * np.exp(-t / (seconds / 3)))
    return np.concatenate(parts)


def knock(rng: np.random.Generator) -> Sound:
    """A knuckle on a table."""
    t = np.arange(frames_of(0.12)) / RATE_HZ
    body = np.sin(2 * np.pi * float(rng.uniform(90, 220)) * t) * np.exp(-t / 0.02)
    return np.asarray(body + 0.3 * rng.standard_normal(len(t)) * np.exp(-t / 0.004))


def played(rng: np.random.Generator, seconds: float, *, beat_s: float = 0.4) -> Sound:
    """Music of a kind: chords, a melody with vibrato, a drum on every beat."""
    out = silence(seconds + 2)
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16])
    roots = (0, 5, 7, 0, 9, 5, 7, 0)
    for beat in range(int(seconds / beat_s)):
        at = frames_of(beat * beat_s)
        root = roots[beat // 4 % len(roots)]
        chord = [root - 12, root, root + 4, root + 7] if beat % 4 == 0 else []
        notes = [(n, 4 * beat_s, 0.25) for n in chord] + [(int(rng.choice(scale)) + 12, beat_s, 0.5)]
        for note, length_s, loud in notes:
            tone = _tone(220.0 * 2 ** (note / 12), length_s, vibrato=length_s < 1) * loud
            out[at : at + len(tone)] += tone
        drum = coloured(rng, 0.08, 0.5)
        drum = 0.3 * drum / level(drum) * np.exp(-np.arange(len(drum)) / frames_of(0.02))
        out[at : at + len(drum)] += drum
    return out[: frames_of(seconds)]


def _tone(hertz: float, seconds: float, *, vibrato: bool) -> Sound:
    t = np.arange(frames_of(seconds)) / RATE_HZ
    phase = 2 * np.pi * hertz * t + (1.5 * np.sin(2 * np.pi * 5.5 * t) if vibrato else 0.0)
    tone = np.sum([np.sin(n * phase) / n**1.5 for n in range(1, 6)], axis=0)
    return np.asarray(tone * np.minimum(1, t / 0.02) * np.exp(-t / (seconds / 1.5)))
