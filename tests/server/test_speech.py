"""Speech of a process: what is loaded, what is refused, what is counted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from audio.errors import DetectorFailed, ModelMissing, TranscriberDropped
from audio.types import AnswerEnded, Samples
from config.settings import Settings, load
from server.metrics import Metrics
from server.session.problems import SessionProblem
from server.speech.engine import (
    LoadSpeech,
    Speculate,
    Speech,
    SpeechModels,
    StreamOptions,
    load_models,
    loading_speech,
    open_speech,
    workers,
)
from tests.support.interview import configuration
from tests.support.speech import ToneActivity, ToneRecogniser, silence, speech, tones

HOW = StreamOptions("s1", "en", "normal", 300)


def settings(**environment: str) -> Settings:
    return load({f"ASKWELL_{name.upper()}": value for name, value in environment.items()}).settings


def of(recogniser: ToneRecogniser, metrics: Metrics | None = None, **environment: str) -> Speech:
    return Speech(settings(**environment), metrics or Metrics(), SpeechModels(recogniser, ToneActivity()))


@asynccontextmanager
async def opened(
    chosen: Settings, *, load: LoadSpeech = load_models, say: Callable[[str], None]
) -> AsyncIterator[Speech]:
    async with (
        loading_speech(chosen, load=load, say=say) as loading,
        open_speech(chosen, Metrics(), loading=loading, say=say) as found,
    ):
        yield found


async def test_missing_model_is_a_line_at_the_start_and_no_failure(tmp_path: Path) -> None:
    said: list[str] = []
    chosen = settings(whisper_model=str(tmp_path / "nowhere"))
    async with opened(chosen, say=said.append) as found:
        assert found.line.startswith("none: answers are typed (There is no speech model at")
        assert found.unavailable("en") == "transcriber_unavailable"
        with pytest.raises(SessionProblem, match="type your answer"):
            found.check("en")
        with pytest.raises(SessionProblem):
            found.open(HOW)
        assert not await found.voiced(speech("hello"))
    assert said == [f"loading the speech model {tmp_path / 'nowhere'}"]


async def test_model_that_is_not_wanted_is_not_looked_for() -> None:
    said: list[str] = []
    async with opened(settings(whisper_model="none"), say=said.append) as found:
        assert found.line == "none: answers are typed"
    assert said == []
    assert await load_models(settings(whisper_model="none")) is None


async def test_model_is_warm_before_anybody_speaks_and_closed_in_the_end() -> None:
    said: list[str] = []
    recogniser = ToneRecogniser()
    async with opened(settings(), load=tones(recogniser), say=said.append) as found:
        assert found.line == f"tones, {workers(settings())} at a time, on this machine"
        assert "warm" in said[-1]
    assert recogniser.closed


async def test_loader_that_finds_no_model_says_why() -> None:
    async def load_nothing(chosen: Settings) -> SpeechModels:
        raise ModelMissing("it is not here: install it")

    async with opened(settings(), load=load_nothing, say=lambda _: None) as found:
        assert found.line == "none: answers are typed (it is not here: install it)"


def test_language_that_the_model_does_not_know_is_refused() -> None:
    found = of(ToneRecogniser())
    assert (found.unavailable("en"), found.unavailable("de")) == (None, "language_unsupported")
    with pytest.raises(SessionProblem) as refused:
        found.check("de")
    assert refused.value.code == "language_unsupported"
    assert of(ToneRecogniser(languages=None)).unavailable("de") is None


def test_region_of_a_language_does_not_matter() -> None:
    found = of(ToneRecogniser())
    assert (found.unavailable("en-GB"), found.unavailable("de-AT")) == (None, "language_unsupported")


def test_answers_are_refused_while_the_transcriber_is_behind() -> None:
    recogniser = ToneRecogniser(backlog_s=1.9)
    found = of(recogniser)
    found.check("en")
    recogniser.backlog_s = 2.1
    with pytest.raises(SessionProblem) as refused:
        found.check("en")
    assert refused.value.code == "too_many_sessions"
    found.check("en", goes_on=True)
    of(recogniser, max_speech_wait_s="3").check("en")


@pytest.mark.parametrize(
    ("setting", "prompts", "expected"),
    [
        ("auto", {}, "turn"),
        ("auto", {"question": "…"}, "transcript"),
        ("off", {}, "off"),
        ("turn", {"question": "…"}, "turn"),
        ("transcript", {}, "transcript"),
    ],
)
def test_work_runs_ahead_to_where_it_costs_no_money(setting: str, prompts: dict[str, str], expected: Speculate) -> None:
    chosen = configuration().model_copy(update={"prompts": prompts})
    assert of(ToneRecogniser(), speculate=setting).speculates(chosen) == expected


async def test_transcriptions_and_answers_are_counted() -> None:
    metrics, recogniser = Metrics(), ToneRecogniser()
    recogniser.transcriber.errors.append(TranscriberDropped("no time"))
    found = of(recogniser, metrics)

    def value(name: str, **labels: str) -> float:
        return metrics.registry.get_sample_value(name, labels) or 0.0

    async with found.open(HOW) as ear:
        assert value("askwell_speech_streams") == 1
        await ear.feed(speech("one two") + silence(2))
        text = [event async for event in ear.events()][-1].text  # type: ignore[union-attr]
    assert text == "one two"
    assert value("askwell_speech_streams") == 0
    assert value("askwell_speech_dropped_total", purpose="guess") == 1
    assert value("askwell_speech_decode_ms_count", purpose="guess") >= 1


async def test_voice_is_told_from_silence() -> None:
    found = of(ToneRecogniser())
    assert await found.voiced(silence(0.5) + speech("hm"))
    assert not await found.voiced(silence(2))


def test_workers_are_one_for_each_core_and_four_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((1, 1), (2, 2), (64, 4), (None, 1)):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        assert workers(settings()) == expected
    assert workers(settings(whisper_workers="7")) == 7


async def test_damaged_turn_detector_leaves_silence_and_words_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    monkeypatch.setattr("audio.turn_detector.packaged_turn_model", lambda: tmp_path / "broken.onnx")
    models = await load_models(settings())
    assert models is not None
    assert models.turns is None
    found = Speech(settings(), Metrics(), models)
    assert "broken.onnx is not the file" in found.turns_missing
    assert "silence and words alone end answers" in found.line
    assert found.unavailable("en") is None
    await models.recogniser.aclose()


async def test_turn_detector_is_loaded_unless_it_is_not_wanted() -> None:
    with_it = await load_models(settings())
    without = await load_models(settings(turn_detector="false"))
    assert with_it is not None
    assert without is not None
    assert with_it.turns is not None
    assert without.turns is None
    assert without.turns_missing == with_it.turns_missing == ""
    for models in (with_it, without):
        await models.recogniser.aclose()


class FailingDetector:
    def finished(self, samples: Samples) -> float:
        raise DetectorFailed("out of order")


async def test_turn_detector_that_fails_is_counted_and_the_silence_ends_the_answer() -> None:
    metrics = Metrics()
    models = SpeechModels(ToneRecogniser(), ToneActivity(), turns=FailingDetector())
    async with Speech(settings(), metrics, models).open(HOW) as stream:
        await stream.feed(speech("hello") + silence(2))
        assert [event.text async for event in stream.events() if isinstance(event, AnswerEnded)] == ["hello"]
    assert "askwell_speech_unjudged_total 1.0" in metrics.page().decode()


async def test_uploaded_recording_is_not_judged() -> None:
    models = SpeechModels(ToneRecogniser(), ToneActivity(), turns=FailingDetector())
    metrics = Metrics()
    async with Speech(settings(), metrics, models).open(replace(HOW, live=False)) as stream:
        await stream.feed(speech("hello") + silence(2))
        await stream.stop()
        assert [event.text async for event in stream.events() if isinstance(event, AnswerEnded)] == ["hello"]
    assert "askwell_speech_unjudged_total 0.0" in metrics.page().decode()
