"""Word error rate of streaming transcription, of a second reading, and of the same model offline on the whole file."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel

from audio.endpoint import Patience
from audio.models import find_model
from audio.types import Samples
from tests.benchmarks.voice.corpus import Recording, answers, pooled_words, utterances
from tests.benchmarks.voice.pauses import Aligner, hesitant
from tests.benchmarks.voice.scoring import Errors, Rate, errors, rate
from tests.benchmarks.voice.sources import Say
from tests.benchmarks.voice.streaming import SpeechModels, model_name, open_models, read_again, transcribe_recording
from tests.support.speech_sounds import Sound, coloured, fan, mixed, samples_of

CONDITIONS = ("clean", "10 dB noise", "0 dB noise", "pauses", "pauses, patient")
"""The last two have the same audio."""
PAUSE_EVERY_S = 5.0
PAUSE_S = (0.3, 1.5)
AT_ONCE = 2
TARGET = 0.5
"""Percentage points."""
CHECKED_S = 120.0
"""Seconds of audio that are also transcribed in real time, by frames, with captions; the words must be the same."""

_NOISES: Sequence[Callable[[np.random.Generator, float], Sound]] = (
    lambda rng, seconds: coloured(rng, seconds, 1.0),
    fan,
    lambda rng, seconds: coloured(rng, seconds, 2.0),
    lambda rng, seconds: coloured(rng, seconds, 0.0),
)


@dataclass(frozen=True)
class Result:
    """One recording under one condition: its text, and the transcripts; `again` is None without a second reading."""

    condition: str
    name: str
    said: str
    streaming: str
    offline: str
    answers: int
    again: str | None = None

    @property
    def streaming_errors(self) -> Errors:
        return errors(self.said, self.streaming)

    @property
    def again_errors(self) -> Errors:
        """Where a second reading is stored, its errors, else those of the first."""
        return errors(self.said, self.again if self.again is not None else self.streaming)

    @property
    def offline_errors(self) -> Errors:
        return errors(self.said, self.offline)


def under(condition: str, recording: Recording, number: int, aligner: Aligner) -> Samples:
    """A recording under a condition; pink, fan, brown and white noise take turns."""
    condition = condition.partition(",")[0]
    rng = np.random.default_rng([number, CONDITIONS.index(condition)])
    if condition == "pauses":
        return samples_of(hesitant(recording, aligner, rng, every_s=PAUSE_EVERY_S, length_s=PAUSE_S).sound)
    if condition == "clean":
        return samples_of(recording.sound)
    noise = _NOISES[number % len(_NOISES)](rng, recording.seconds + 1)
    return samples_of(mixed(recording.sound, noise, float(condition.split()[0])))


class Offline:
    """The same model as the library itself uses it: the whole file at once, five hypotheses, its repetition filter.

    That filter samples at rising temperatures where a window is repetitive. Without it, or with the text of the window
    before as context, this model adds hundreds of words, and the comparison would not be fair.

    Results are kept in a file in `place`, since they do not depend on what is measured here.
    """

    def __init__(self, place: Path) -> None:
        self._path = place / "offline.json"
        self._known: dict[str, str] = json.loads(self._path.read_text()) if self._path.is_file() else {}
        self._model = WhisperModel(
            str(find_model(model_name()).path),
            device="cpu",
            compute_type="int8",
            cpu_threads=1,
            num_workers=AT_ONCE,
            local_files_only=True,
        )

    def read(self, samples: Samples) -> str:
        """The words of a whole file."""
        key = hashlib.sha256(f"{model_name()}, guarded, windows apart".encode() + samples.tobytes()).hexdigest()
        if key not in self._known:
            self._known[key] = self._read(samples)
        return self._known[key]

    def remember(self) -> None:
        """Write down what was read."""
        self._path.write_text(json.dumps(self._known))

    def _read(self, samples: Samples) -> str:
        segments, _ = self._model.transcribe(
            samples.astype(np.float32) / 32768.0,
            language="en",
            beam_size=5,
            condition_on_previous_text=False,
        )
        return " ".join(segment.text.strip() for segment in segments)


async def run(place: Path, say: Say, *, share: float = 1.0, conditions: Sequence[str] = CONDITIONS) -> None:
    """Measure and print.

    Args:
        place: where packages and results are kept.
        say: told how far it is.
        share: of all recordings, for a quick look.
        conditions: which of `CONDITIONS`.
    """
    recordings = answers(await asyncio.to_thread(utterances, place, say))
    recordings = recordings[: max(1, round(len(recordings) * share))]
    aligner = Aligner(place)
    offline = await asyncio.to_thread(Offline, place)
    results: list[Result] = []
    async with open_models(workers=AT_ONCE) as models:
        for condition in conditions:
            results += await _condition(condition, recordings, aligner, offline, models, say)
            aligner.remember()
            offline.remember()
        (place / "wer.json").write_text(json.dumps([asdict(result) for result in results], indent=1))
        _print(results, recordings)
        await _print_real_time(recordings, results, models, say)


async def _condition(
    condition: str, recordings: Sequence[Recording], aligner: Aligner, offline: Offline, models: SpeechModels, say: Say
) -> list[Result]:
    free = asyncio.Semaphore(AT_ONCE)
    found: dict[int, Result] = {}

    async def one(number: int, recording: Recording) -> None:
        async with free:
            heard_as = await asyncio.to_thread(under, condition, recording, number, aligner)
            patience: Patience = "patient" if condition.endswith("patient") else "normal"
            session = models.transcriber.for_session(number)
            result = await transcribe_recording(heard_as, session, models.activity, patience=patience)
            again = await read_again(result, session)
            read = await asyncio.to_thread(offline.read, heard_as)
        spoken = sum(1 for answer in result.answers if answer.text)
        found[number] = Result(condition, recording.name, recording.text, result.text, read, spoken, again)
        if len(found) % 10 == 0 or len(found) == len(recordings):
            say(f"{condition}: {len(found)} of {len(recordings)} recordings")

    async with asyncio.TaskGroup() as group:
        for number, recording in enumerate(recordings):
            group.create_task(one(number, recording))
    return [found[number] for number in sorted(found)]


def _print(results: Sequence[Result], recordings: Sequence[Recording]) -> None:
    seconds = sum(recording.seconds for recording in recordings)
    print(f"\n## Word error rate, {model_name()}: as it is spoken, and offline on the whole file\n")
    print(
        f"{len(recordings)} recordings of 2 to 100 s ({seconds / 60:.0f} minutes, {pooled_words(recordings)} words)"
        " under each condition; percent of words, 95 % by bootstrap over recordings\n"
    )
    print(
        "| condition | words | streaming | offline | difference, points | answers ended by pauses |"
        " read once more: stored | better, worse | words wrong with it |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    by_condition: Mapping[str, list[Result]] = {
        condition: [result for result in results if result.condition == condition]
        for condition in dict.fromkeys(result.condition for result in results)
    }
    verdicts: list[str] = []
    for condition, some in (*by_condition.items(), ("all", list(results))):
        streaming = [result.streaming_errors for result in some]
        offline = [result.offline_errors for result in some]
        words = [each.words for each in streaming]
        apart = rate([a.total - b.total for a, b in zip(streaming, offline, strict=True)], words)
        print(
            f"| {condition} | {sum(words)} | {rate([e.total for e in streaming], words)} |"
            f" {rate([e.total for e in offline], words)} | {apart} | {sum(result.answers - 1 for result in some)} |"
            f" {_second_readings(some, words)} |"
        )
        verdicts.append(f"{condition} {verdict_of(apart)}")
    print(f"\nTarget: at most {TARGET} points more than offline: {'; '.join(verdicts)}.")
    for way in ("streaming", "offline"):
        total = sum((getattr(result, f"{way}_errors") for result in results), Errors(0))
        print(f"{way}: {total.substituted} substituted, {total.deleted} lost, {total.inserted} added")


def _second_readings(some: Sequence[Result], words: Sequence[int]) -> str:
    stored = [result for result in some if result.again is not None]
    changes = [result.again_errors.total - result.streaming_errors.total for result in stored]
    better, worse = sum(each < 0 for each in changes), sum(each > 0 for each in changes)
    wrong = rate([result.again_errors.total for result in some], words)
    return f"{len(stored)} of {len(some)} | {better}, {worse} | {wrong}"


def verdict_of(apart: Rate) -> str:
    """Whether a difference keeps the target, for sure or as far as so many words can tell."""
    if apart.value <= TARGET:
        return "reached"
    return "missed, but within the interval" if apart.low <= TARGET else "missed"


async def _print_real_time(
    recordings: Sequence[Recording], results: Sequence[Result], models: SpeechModels, say: Say
) -> None:
    """Transcribe some recordings again in real time, by frames and with captions: the text must be the same."""
    chosen, total = [], 0.0
    clean = {result.name: result.streaming for result in results if result.condition == "clean"}
    for recording in sorted(recordings, key=lambda each: each.seconds):
        if recording.name in clean and total + recording.seconds <= CHECKED_S:
            chosen.append(recording)
            total += recording.seconds
    if not chosen:
        return
    say(f"{len(chosen)} recordings again, in real time: {total:.0f} s")
    same = 0
    for recording in chosen:
        again = await transcribe_recording(
            samples_of(recording.sound), models.transcriber, models.activity, captions=True, real_time=True
        )
        same += again.text == clean[recording.name]
        if again.text != clean[recording.name]:
            print(f"differs: {recording.name}: {clean[recording.name]!r} / {again.text!r}")
    print(f"\nIn real time, frame by frame and with captions: {same} of {len(chosen)} recordings have the same text.")
