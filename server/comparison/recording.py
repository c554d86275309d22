"""What a respondent said in an interview that was held, from a stored session or a file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline.concept import SessionConfiguration
from pipeline.contracts import TurnRecord
from pipeline.errors import StateVersionError
from pipeline.state import STATE_VERSION, UNFINISHED, AnswerKind, InterviewState, is_session_id
from server.comparison.errors import NotARecord, NotRepeatable

LARGEST_MB = 200
"""A larger file is no record of an interview."""
SEED = 1
"""Of interviews that are played from answers alone."""
SESSION_FORMAT = "askwell.session"


@dataclass(frozen=True)
class Message:
    """One thing that the respondent said; `question` is what had been said to them before, empty where nobody knows.

    An amendment (`correct`) takes the place of the message before it. `spoken`: transcribed from speech.
    """

    text: str
    kind: AnswerKind = "answer"
    question: str = ""
    spoken: bool = False


@dataclass(frozen=True)
class Recording:
    """What was said in one interview.

    Attributes:
        title: what it was about, or the name of the file.
        origin: which interview it is.
        messages: in the order in which they were said.
        session_id, seed: those of the interview; made up for files that have none.
        language, max_turns: of the interview; None where the concept decides.
        engine: that it was held with; None where nobody knows.
        concept_id: what it was about; None where nobody knows.
        persona: who told it, if it was simulated.
        configuration: what it was pinned to; None in files with answers alone.
        state, records: the interview as it was held, and its turns; None in files without them.
        notes: what should be known of it, in sentences.
    """

    title: str
    messages: tuple[Message, ...]
    origin: str = ""
    session_id: str = "compared"
    seed: int = SEED
    language: str | None = None
    max_turns: int | None = None
    engine: str | None = None
    concept_id: str | None = None
    persona: str | None = None
    configuration: SessionConfiguration | None = None
    state: InterviewState | None = None
    records: tuple[TurnRecord, ...] = ()
    notes: tuple[str, ...] = ()


def is_file(named: str) -> bool:
    """Whether what somebody named is a file, or can be no session."""
    return Path(named).is_file() or not is_session_id(named)


def read(path: Path) -> bytes:
    """The content of a file that should hold answers. Raises NotARecord."""
    try:
        if path.stat().st_size > LARGEST_MB * 1_000_000:
            raise NotARecord(f"{path} is larger than {LARGEST_MB} MB; a record of an interview is not that large")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise NotARecord(f"there is no interview and no file `{path}`") from error
    except OSError as error:
        raise NotARecord(f"{path} can't be read: {error.strerror or error}") from error


def recording(content: bytes, name: str) -> Recording:
    """The answers of a file: a complete export, a result of `askwell simulate`, a JSON list, or a line per answer.

    Args:
        content: of the file.
        name: of it, for messages.
    Raises:
        NotARecord: it is none of these, or has no answers.
        NotRepeatable: a newer version of askwell wrote it.
    """
    text = _text(content, name)
    if text.lstrip()[:1] not in ("{", "["):
        return Recording(name, _whole((Message(line.strip()) for line in text.splitlines() if line.strip()), name))
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise NotARecord(f"{name}{where}: this begins like JSON and is none") from error
    if isinstance(data, list):
        return Recording(name, _whole((_of_item(item, at, name) for at, item in enumerate(data, start=1)), name))
    if data.get("format") == SESSION_FORMAT:
        return exported(data, name)
    if isinstance(data.get("transcript"), list):
        return _simulated(data, name)
    raise NotARecord(
        f"{name} is no record of an interview: it should be an export (askwell export SESSION), a result of askwell "
        "simulate, a JSON list of answers, or a text with one answer per line"
    )


def exported(data: Mapping[str, Any], name: str) -> Recording:
    """The answers of a complete export. Raises NotARecord, NotRepeatable."""
    try:
        head, said = data["session"], data["utterances"]
        messages = _whole(_messages(said), name, "has no answers yet")
        configuration = SessionConfiguration.model_validate(data["configuration"])
        state, records = stored(data, name) if "state" in data else (None, ())
        return Recording(
            title=head["concept_name"],
            messages=messages,
            origin=f"session {head['id']}",
            session_id=head["id"],
            seed=state.seed if state is not None else SEED,
            language=head["language"],
            max_turns=head["max_turns"],
            engine=head["engine"],
            concept_id=head["concept_id"],
            configuration=configuration,
            state=state,
            records=records,
            notes=tuple(_notes(data, configuration)),
        )
    except (KeyError, TypeError, ValidationError) as error:
        raise NotARecord(
            f"{name} is no export that this version of askwell can read: {_reason(error)}. Another version may have "
            "written it; export the session again with this one"
        ) from error


def stored(data: Mapping[str, Any], name: str) -> tuple[InterviewState, tuple[TurnRecord, ...]]:
    """The state of an exported session and the records of its turns, oldest first.

    Raises:
        NotRepeatable: they are not there, or of another version.
    """
    if "state" not in data:
        raise NotRepeatable(
            f"{name} was exported by a version of askwell that left out what decisions follow from; export the session "
            "again with this one"
        )
    try:
        state = InterviewState.load(json.dumps(data["state"]).encode())
        return state, tuple(TurnRecord.model_validate(turn) for turn in data.get("turns", ()))
    except StateVersionError as error:
        raise NotRepeatable(
            f"{name} was held by a newer version of askwell (its state is of version {data['state']['version']}, this "
            f"version knows {STATE_VERSION}); repeat it with that one"
        ) from error
    except (ValidationError, KeyError, TypeError) as error:
        raise NotRepeatable(
            f"{name} was stored by another version of askwell, and this one can't read it: {_reason(error)}"
        ) from error


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotARecord(f"{name} is no text in UTF-8") from error


def _whole(messages: Any, name: str, lacking: str = "holds no answers") -> tuple[Message, ...]:
    listed = tuple(messages)
    if not any(message.kind != "skip" for message in listed):
        raise NotARecord(f"{name} {lacking}")
    return listed


def _of_item(item: Any, at: int, name: str) -> Message:
    """An answer of a list: a text, empty where the question was skipped, or an object with `answer` and `question`."""
    question = ""
    if isinstance(item, dict):
        question, item = item.get("question", ""), item.get("answer")
    if not isinstance(item, str | None) or not isinstance(question, str):
        raise NotARecord(f"{name}: item {at} is neither a text nor an object with `answer`")
    return Message(item, question=question) if item and item.strip() else Message("", "skip", question)


def _messages(said: Sequence[Mapping[str, Any]]) -> list[Message]:
    """What the respondent said, each with what was said to them before."""
    found, question = [], ""
    for utterance in said:
        if utterance["speaker"] == "respondent":
            spoken = bool(utterance.get("spoken"))
            found.append(Message(utterance["text"], utterance["kind"], question, spoken))
        else:
            question = utterance["text"]
    return found


def _simulated(data: Mapping[str, Any], name: str) -> Recording:
    """The answers of a simulated interview, as `askwell simulate` keeps it; its persona says what it was about."""
    lines = [_of_item(line, at, name) for at, line in enumerate(data["transcript"], start=1)]
    job = data.get("job")
    known = job if isinstance(job, dict) else {}
    persona, seed, most = known.get("persona"), known.get("seed"), known.get("max_turns")
    told = isinstance(persona, str)
    return Recording(
        name,
        _whole(lines, name),
        origin=f"told by the simulated respondent {persona}" if told else "",
        seed=seed if isinstance(seed, int) else SEED,
        max_turns=most if isinstance(most, int) else None,
        persona=persona if told else None,
    )


def _notes(data: Mapping[str, Any], configuration: SessionConfiguration) -> list[str]:
    found, said = [], data["utterances"]
    if data["session"]["state"] in UNFINISHED:
        found.append("The interview is not over: what is compared is what was said so far.")
    directed = sum(turn.get("directive") is not None for turn in data.get("turns", ()))
    if directed:
        found.append(f"A moderator asked or steered {counted(directed, 'question')}; the runs do without moderators.")
    amended = sum(utterance["kind"] == "correct" for utterance in said)
    if amended:
        found.append(f"Of its answers, {amended} took back the one before and gave it anew; so it is in the runs.")
    replies = sum(bool(utterance.get("replies_to")) for utterance in said)
    if replies:
        found.append(
            f"The interviewer gave {counted(replies, 'reply', 'replies')} to what was heard besides answers; conduct "
            "comes before any engine, and the runs reply by the same rules."
        )
    if configuration.prompts:
        found.append(
            "It was held with a language model; the runs understand and ask offline, so that they differ from it in "
            "more than the engine."
        )
    return found


def counted(number: int, one: str, more: str = "") -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else more or f'{one}s'}"


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg'].lower()}"
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)
