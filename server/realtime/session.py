"""The session of a Realtime connection: what a client may set of it, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from audio.voice_sound import VOICE_HZ
from pipeline.concept import Patience, SessionConfiguration
from pipeline.outcome import progress
from pipeline.state import InterviewState
from server.protocol.inbound import ChangeSettings, ChoiceName, ChoiceValue, GiveConsent, ShortText
from server.realtime.audio import RATES_HZ
from server.realtime.inbound import problem_of_fields
from server.realtime.problems import RealtimeProblem

TextEvents = Literal["output_text", "output_audio_transcript"]
"""The events in which questions are sent: as text, or as the transcript of audio that is not sent."""
EAGERNESS: Final[Mapping[str, Patience]] = {"high": "quick", "medium": "normal", "low": "patient"}
"""How long a pause may be, by `turn_detection.eagerness`."""
NO_AUDIO_OUT: Final = (
    "Questions can't be sent as audio: this server has no voice for this language. Ask for text only; a client that "
    'reads transcripts of audio sets session.askwell.text_events to "output_audio_transcript".'
)
NO_TOOLS: Final = "There are no tools here: the study says what is asked."
IGNORED: Final = frozenset(
    {
        "model", "instructions", "prompt", "temperature", "max_output_tokens", "max_response_output_tokens", "voice",
        "speed", "tool_choice", "parallel_tool_calls", "tracing", "truncation", "include", "reasoning", "metadata",
        "output_audio_format", "input_audio_noise_reduction", "client_secret", "id", "object", "expires_at",
        "audio.output", "audio.input.noise_reduction", "audio.input.transcription", "input_audio_transcription",
    }
)  # fmt: skip
"""Parameters that an interview has no counterpart of: they are taken, change nothing, and are reported as ignored."""
IGNORED_OF_TURNS: Final = frozenset(
    {
        "threshold", "prefix_padding_ms", "silence_duration_ms", "create_response", "interrupt_response",
        "idle_timeout_ms",
    }
)  # fmt: skip
PARAMETERS: Final = IGNORED | {
    "type", "output_modalities", "modalities", "tools", "audio", "audio.input", "audio.input.format",
    "audio.input.turn_detection", "input_audio_format", "turn_detection", "askwell",
}  # fmt: skip
"""Parameters of `session.update` that are known, with their paths."""


class AskedConsent(BaseModel):
    """Agreement to take part."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: ShortText
    choices: dict[ChoiceName, ChoiceValue] = {}


class OwnSettings(BaseModel):
    """`session.askwell`: what the API has no parameter for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    consent: AskedConsent | None = None
    patience: Patience | None = None
    review_transcript: bool | None = None
    text_events: TextEvents | None = None


@dataclass(frozen=True, slots=True)
class RealtimeSettings:
    """What a client has set of its connection.

    Args:
        rate_hz: of the audio that it sends.
        commits: whether the client says when a spoken answer is complete; if not, silence does.
        audio_out: whether questions are sent as audio, with their transcripts.
        text_events: the events in which questions are sent; where they are audio, always those of transcripts.
        ignored: parameters that it set and that change nothing.
    """

    rate_hz: int = RATES_HZ[0]
    commits: bool = False
    audio_out: bool = False
    text_events: TextEvents = "output_text"
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a `session.update` asks for.

    Args:
        settings: of the connection, from now on.
        consent: to be put on record.
        changes: settings of the session.
    """

    settings: RealtimeSettings
    consent: GiveConsent | None
    changes: ChangeSettings | None


class SessionUpdateReader:
    """Reads one `session.update`.

    Args:
        session: its parameters.
        before: the settings so far.
        language: of the interview, which a client can't change.
        voice: whether the server has a voice for it.
    """

    def __init__(
        self, session: Mapping[str, Any], before: RealtimeSettings, language: str, *, voice: bool = False
    ) -> None:
        self._session = session
        self._settings = before
        self._language = language
        self._voice = voice
        self._ignored = set(before.ignored)
        self._patience: Patience | None = None

    def read(self) -> Wanted:
        """What is asked for. Raises RealtimeProblem; nothing of the event takes effect then."""
        session = self._session
        if session.get("type", "realtime") != "realtime":
            told = "Only conversations are held here (type realtime)."
            raise RealtimeProblem("unsupported_value", told, param="session.type")
        self._note_ignored()
        for name in ("output_modalities", "modalities"):
            if session.get(name) is not None:
                wanted = wants_audio(session[name], f"session.{name}", voice=self._voice)
                self._settings = replace(self._settings, audio_out=wanted)
        if session.get("tools"):
            raise RealtimeProblem("unsupported_value", NO_TOOLS, param="session.tools")
        self._read_audio()
        if self._settings.audio_out:
            self._check_output_format()
        own = self._own()
        if own.text_events is not None:
            self._settings = replace(self._settings, text_events=own.text_events)
        patience = own.patience or self._patience
        changes = None
        if patience is not None or own.review_transcript is not None:
            changes = ChangeSettings(type="set", patience=patience, review_transcript=own.review_transcript)
        agreed = own.consent
        consent = (
            None if agreed is None else GiveConsent(type="consent", version=agreed.version, choices=agreed.choices)
        )
        return Wanted(replace(self._settings, ignored=tuple(sorted(self._ignored))), consent, changes)

    def _note_ignored(self) -> None:
        for path, value in _paths(self._session):
            if path not in PARAMETERS:
                param = f"session.{path}"[:120]
                raise RealtimeProblem("unknown_parameter", f"{param}: There is no such parameter.", param=param)
            if path in IGNORED and value is not None:
                self._ignored.add(f"session.{path}")

    def _read_audio(self) -> None:
        audio = self._session.get("audio") or {}
        given = audio.get("input") or {}
        if "format" in given:
            self._read_format(given["format"])
        if "input_audio_format" in self._session:
            self._read_old_format(self._session["input_audio_format"])
        if "turn_detection" in given:
            self._read_turns(given["turn_detection"], "session.audio.input.turn_detection")
        if "turn_detection" in self._session:
            self._read_turns(self._session["turn_detection"], "session.turn_detection")
        for heard in (given.get("transcription"), self._session.get("input_audio_transcription")):
            language = heard.get("language") if isinstance(heard, dict) else None
            if isinstance(language, str) and language.split("-")[0] != self._language.split("-")[0]:
                told = f"This interview is held in the language {self._language}."
                raise RealtimeProblem("unsupported_value", told, param="session.audio.input.transcription.language")

    def _read_format(self, found: Any) -> None:
        param, rates = "session.audio.input.format", " or ".join(map(str, RATES_HZ))
        told = f"{param}: audio/pcm (16-bit little-endian mono) with a rate of {rates} is understood."
        if not isinstance(found, dict) or found.get("type", "audio/pcm") != "audio/pcm":
            raise RealtimeProblem("unsupported_value", told, param=f"{param}.type")
        rate = found.get("rate", RATES_HZ[0])
        if isinstance(rate, bool) or rate not in RATES_HZ:
            raise RealtimeProblem("unsupported_value", told, param=f"{param}.rate")
        self._settings = replace(self._settings, rate_hz=rate)

    def _read_old_format(self, found: Any) -> None:
        if found != "pcm16":
            told = "session.input_audio_format: pcm16 is understood, at 24000 Hz."
            raise RealtimeProblem("unsupported_value", told, param="session.input_audio_format")
        self._settings = replace(self._settings, rate_hz=RATES_HZ[0])

    def _check_output_format(self) -> None:
        """Refuse audio out in a format that there is not."""
        told = f"audio/pcm (16-bit little-endian mono) with a rate of {VOICE_HZ} is what is sent."
        output = (self._session.get("audio") or {}).get("output") or {}
        found = output.get("format") or {}
        kind, rate = "", 0
        if isinstance(found, dict):
            kind, rate = found.get("type", "audio/pcm"), found.get("rate", VOICE_HZ)
        if (kind, rate) != ("audio/pcm", VOICE_HZ):
            raise RealtimeProblem("unsupported_value", told, param="session.audio.output.format")
        if self._session.get("output_audio_format") not in (None, "pcm16"):
            raise RealtimeProblem("unsupported_value", told, param="session.output_audio_format")
        if not set(output) - {"format"}:
            self._ignored.discard("session.audio.output")
        self._ignored.discard("session.output_audio_format")

    def _read_turns(self, found: Any, param: str) -> None:
        if found is None:
            self._settings = replace(self._settings, commits=True)
            return
        if not isinstance(found, dict) or found.get("type") not in ("server_vad", "semantic_vad"):
            told = f"{param}: server_vad, semantic_vad or null."
            raise RealtimeProblem("invalid_value", told, param=f"{param}.type")
        eagerness = found.get("eagerness", "auto")
        if eagerness not in (*EAGERNESS, "auto"):
            raise RealtimeProblem("invalid_value", f"{param}.eagerness: low, medium, high or auto.", param=param)
        self._patience = EAGERNESS.get(eagerness)
        self._ignored |= {f"{param}.{name}" for name in found if name in IGNORED_OF_TURNS}
        unknown = set(found) - IGNORED_OF_TURNS - {"type", "eagerness"}
        if unknown:
            wrong = f"{param}.{min(unknown)}"[:120]
            raise RealtimeProblem("unknown_parameter", f"{wrong}: There is no such parameter.", param=wrong)
        self._settings = replace(self._settings, commits=False)

    def _own(self) -> OwnSettings:
        try:
            return OwnSettings.model_validate(self._session.get("askwell") or {})
        except ValidationError as exc:
            raise problem_of_fields(exc, "session.askwell") from exc


def _paths(session: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every parameter by its path, down to those of `audio.input` and `audio.output`."""
    for name, value in session.items():
        yield name, value
        if name == "audio" and value is not None:
            yield from _inner("audio", value, ("input",))


def _inner(path: str, value: Any, deeper: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise RealtimeProblem("invalid_type", f"session.{path}: is no object.", param=f"session.{path}")
    for name, inner in value.items():
        yield f"{path}.{name}", inner
        if name in deeper and inner is not None:
            yield from _inner(f"{path}.{name}", inner, ())


def wants_audio(found: Any, param: str, *, voice: bool) -> bool:
    """Whether a list of modalities asks for audio.

    Args:
        found: as the client sent it.
        param: its path.
        voice: whether the server has a voice for the interview's language.

    Raises:
        RealtimeProblem: it is no such list, or asks for audio where there is no voice.
    """
    if found == ["text"]:
        return False
    if isinstance(found, list) and "audio" in found and all(one in ("audio", "text") for one in found):
        if not voice:
            raise RealtimeProblem("unsupported_value", NO_AUDIO_OUT, param=param)
        return True
    raise RealtimeProblem("invalid_value", f'{param}: ["text"] or ["audio"] is what can be asked for.', param=param)


def session_fields(
    state: InterviewState, configuration: SessionConfiguration, settings: RealtimeSettings, patience: Patience
) -> dict[str, Any]:
    """The session as the API shows it, with what it has no field for under `askwell`."""
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": f"sess_{state.session_id}",
        "model": configuration.concept.id,
        "output_modalities": ["audio"] if settings.audio_out else ["text"],
        "instructions": "",
        "tools": [],
        "tool_choice": "none",
        "max_output_tokens": "inf",
        "tracing": None,
        "prompt": None,
        "include": None,
        "expires_at": None,
        "audio": {
            "input": {
                "format": {"type": "audio/pcm", "rate": settings.rate_hz},
                "transcription": {"model": "askwell", "language": state.language},
                "noise_reduction": None,
                "turn_detection": None if settings.commits else _turn_detection(patience),
            },
            **({"output": _OUTPUT} if settings.audio_out else {}),
        },
        "askwell": own_fields(state, configuration, settings, patience),
    }


_OUTPUT: Final[Mapping[str, Any]] = {
    "format": {"type": "audio/pcm", "rate": VOICE_HZ},
    "voice": "askwell",
    "speed": 1.0,
}


def _turn_detection(patience: Patience) -> dict[str, Any]:
    eagerness = next(name for name, value in EAGERNESS.items() if value == patience)
    return {
        "type": "semantic_vad",
        "eagerness": eagerness,
        "create_response": True,
        "interrupt_response": False,
    }


def own_fields(
    state: InterviewState, configuration: SessionConfiguration, settings: RealtimeSettings, patience: Patience
) -> dict[str, Any]:
    """What a client should know of the interview and the API has no field for."""
    concept, consent = configuration.concept, configuration.concept.consent
    review = state.settings.get("review_transcript")
    return {
        "session_id": state.session_id,
        "state": state.status,
        "reason": state.status_reason,
        "title": concept.title or concept.name,
        "language": state.language,
        "consent": {
            "required": bool(consent and consent.required),
            "given": state.consent is not None,
            "version": consent.version if consent else "",
            "text": consent.text if consent else "",
        },
        "stimulus": concept.stimulus,
        "turn_number": state.turn_count,
        "max_turns": state.max_turns,
        "progress": progress(state.turn_count, state.max_turns, state.status),
        "patience": patience,
        "review_transcript": concept.review_transcript if review is None else bool(review),
        "text_events": settings.text_events,
        "ignored": list(settings.ignored),
    }
