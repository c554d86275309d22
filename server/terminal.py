"""An interview in the terminal: the respondent's socket on one side, lines of text on the other."""

from __future__ import annotations

import asyncio
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final
from uuid import uuid4

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from server.client import CallFailed, Client, may_pass
from server.protocol.codes import CLOSE_TAKEN_OVER
from server.screen import Output, Screen, is_text

HELP: Final = """\
/skip             rather not say
/rephrase         ask differently
/look             show again what the interview is about, where something was shown
/correct TEXT     what your last answer should have been
/pause, /resume   stop for a while, go on
/finish           end the interview now
/withdraw         end it and erase everything
/help             this list
Anything else is your answer. Ctrl-C leaves; the interview is kept."""

STOPPED: Final = frozenset({"paused", "abandoned"})
PAUSED: Final = "(paused; /resume to go on)"
KEPT: Final = "(paused; your answer is kept, and sent when you /resume)"
RECONNECTS: Final = 10
WIDTH: Final = 96
RESENDS: Final = 3
_PLAIN: Final = frozenset({"rephrase", "pause", "resume", "finish", "withdraw"})


def stimulus_text(detail: Mapping[str, Any]) -> str:
    """What the respondent is shown, as text: paragraphs filled to the width, an image by what it shows."""
    paragraphs = re.split(r"\n\s*\n", (detail.get("stimulus") or "").strip())
    image = detail.get("stimulus_image")
    if image:
        paragraphs.append(f"[Image: {image['alt']}]")
    return "\n\n".join(textwrap.fill(" ".join(part.split()), WIDTH) for part in paragraphs if part.strip())


class End(Enum):
    """How an interview in the terminal ended."""

    COMPLETED = "completed"
    WITHDRAWN = "withdrawn"
    LEFT = "left"
    LOST = "lost"


@dataclass
class Talk:
    """How far an interview is, as the connection and the respondent's commands both need to know.

    `pending` is the last message that the server has not confirmed, `answer_id` the utterance that can be corrected,
    `stopping` is true while a stop may still be taken back, `commanded` is true from a command to pause or resume
    until the server has done it, `shown` holds the speaker and the text of everything on the screen, and `may_type`
    is set while the respondent may type. `stimulus` is what they were shown, empty where that is nothing.
    """

    state: str = "created"
    stimulus: str = ""
    pending: dict[str, Any] | None = None
    answer_id: str | None = None
    commanded: bool = False
    stopping: bool = False
    shown: set[tuple[str, str]] = field(default_factory=set)
    may_type: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def kept(self) -> dict[str, Any] | None:
        """The turn that the server did not confirm yet."""
        return self.pending if self.pending is not None and "turn_key" in self.pending else None

    @property
    def stopped(self) -> bool:
        """Whether the interview does not go on before it is resumed."""
        return self.state in STOPPED or self.stopping


class ChatCommands:
    """Sends what the respondent types: answers and commands.

    Args:
        talk: the interview.
        output: where the respondent is told what was wrong.
        new_key: makes turn keys.
    """

    def __init__(self, talk: Talk, output: Output, new_key: Callable[[], str]) -> None:
        self._talk = talk
        self._output = output
        self._new_key = new_key

    async def typed(self, socket: ClientConnection, line: str) -> None:
        """Do what a line asks for. Raises ConnectionClosed."""
        if not line:
            if self._talk.kept is not None and self._talk.stopped:
                self._output.say(KEPT)
            elif self._talk.pending is not None:
                await _send(socket, self._talk.pending)
            return
        if not is_text(line):
            self._output.say("That could not be read as text (is your terminal set to UTF-8?); nothing was sent.")
            return
        word, _, rest = line.partition(" ")
        if not line.startswith("/"):
            await self._turn(socket, {"type": "answer", "text": line})
        elif word == "/skip":
            await self._turn(socket, {"type": "skip"})
        elif word == "/correct":
            await self._correct(socket, rest.strip())
        elif word[1:] in _PLAIN:
            await self._command(socket, word[1:])
        elif word == "/look":
            self._output.say(self._talk.stimulus or "There is nothing to look at in this interview.")
        elif word == "/help":
            self._output.say(HELP)
        else:
            self._output.say(f"There is no command {word}. /help lists them.")

    async def _command(self, socket: ClientConnection, name: str) -> None:
        if (name == "pause") == self._talk.stopped and name in ("pause", "resume"):
            self._output.say("(paused already)" if name == "pause" else "(not paused)")
            return
        self._talk.commanded = name in ("pause", "resume")
        self._talk.may_type.clear()
        await _send(socket, {"type": name})

    async def _correct(self, socket: ClientConnection, text: str) -> None:
        if self._talk.answer_id is None:
            self._output.say("There is no answer yet that could be corrected.")
        elif not text:
            self._output.say("Write what your answer should have been behind /correct.")
        else:
            await self._turn(socket, {"type": "correct", "utterance_id": self._talk.answer_id, "text": text})

    async def _turn(self, socket: ClientConnection, message: dict[str, Any]) -> None:
        self._talk.pending = {**message, "turn_key": self._new_key()}
        self._talk.shown.add(("respondent", message.get("text", "")))
        if self._talk.stopped:
            self._output.say(KEPT)
            return
        self._talk.may_type.clear()
        await _send(socket, self._talk.pending)


class Chat:
    """One interview between a screen and a server.

    Args:
        client: with the respondent's token.
        session_id: the interview.
        screen: where the respondent is.
        new_key: makes turn keys.
        pause_s: wait before the first attempt to reconnect or to send again; grows with each.
    """

    def __init__(
        self,
        client: Client,
        session_id: str,
        screen: Screen,
        *,
        new_key: Callable[[], str] = lambda: str(uuid4()),
        pause_s: float = 0.5,
    ) -> None:
        self._client = client
        self._session_id = session_id
        self._pause_s = pause_s
        self._output = Output(screen)
        self._talk = Talk()
        self._commands = ChatCommands(self._talk, self._output, new_key)
        self._last_event_id = 0
        self._epoch: str | None = None
        self._resends = 0
        self._asked = ""
        self._lost = 0
        self._left = False
        self._begun = False
        self._end: End | None = None

    async def run(self) -> End:
        """Hold the interview until it ends, the input ends, or the server is lost.

        Raises:
            CallFailed: the token is wrong, or the interview does not exist.
        """
        detail = await self._client.detail(self._session_id)
        self._talk.state = detail["state"]
        self._begun = bool(detail["transcript"])
        if not await self._consented(detail["consent"]):
            return End.LEFT
        self._talk.stimulus = stimulus_text(detail)
        shown = f"{self._talk.stimulus}\n\n(/look shows this again)" if self._talk.stimulus else ""
        for text in (shown, detail.get("helpline_text")):
            if text:
                self._output.say(text)
        while True:
            try:
                async with self._client.socket() as socket:
                    end = await self._converse(socket)
                    if end is not None:
                        return end
            except (ConnectionClosed, InvalidHandshake, OSError, CallFailed, ExceptionGroup) as exc:
                if self._end is not None:
                    return self._end
                if not may_pass(exc):
                    raise
            self._lost += 1
            if self._lost > RECONNECTS:
                return End.LOST
            if self._lost == 1:
                self._output.say("(connection lost, trying again …)")
            await asyncio.sleep(self._pause_s * self._lost)

    async def _consented(self, consent: Mapping[str, Any]) -> bool:
        if not consent["text"] or consent["given"]:
            return True
        self._output.say("\n".join(textwrap.fill(line, WIDTH) for line in consent["text"].splitlines()))
        while True:
            line = await self._output.read("Do you agree to take part? [yes/no] ")
            word = (line or "no").strip().lower()
            if word in ("y", "yes"):
                self._talk.pending = {"type": "consent", "version": consent["version"], "choices": {}}
                return True
            if word in ("n", "no"):
                return not consent["required"] and line is not None

    async def _converse(self, socket: ClientConnection) -> End | None:
        """Talk over one connection; None when it was lost."""
        hello = {"type": "hello", "token": self._client.token, "last_event_id": self._last_event_id}
        await _send(socket, hello if self._epoch is None else {**hello, "epoch": self._epoch})
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(self._listen(socket))
            typing = tasks.create_task(self._type(socket))
            await asyncio.wait({listening, typing}, return_when=asyncio.FIRST_COMPLETED)
            for task in (listening, typing):
                task.cancel()
        if self._end is not None:
            return self._end
        if socket.close_code == CLOSE_TAKEN_OVER:
            self._output.say("This interview was opened elsewhere and goes on there.")
            return End.LEFT
        return End.LEFT if self._left else None

    async def _listen(self, socket: ClientConnection) -> None:
        try:
            async for frame in socket:
                event = json.loads(frame)
                number = event.get("id")
                if number is not None:
                    if number <= self._last_event_id:
                        continue
                    self._last_event_id = number
                await self._heard(socket, event)
                if self._end is not None:
                    return
        except ConnectionClosed:
            return

    async def _heard(self, socket: ClientConnection, event: dict[str, Any]) -> None:
        match event["type"]:
            case "ready":
                await self._ready(socket, event)
            case "question.started":
                self._output.begin("askwell: ")
            case "question.delta":
                self._output.stream(event["text"])
            case "question.completed":
                self._question(event["text"], closing=event.get("closing", False))
            case "interviewer.replied":
                self._replied(event)
            case "turn.completed":
                self._talk.answer_id = event["result"]["utterance_id"]
                self._settle(may_type=event["result"]["should_continue"])
            case "turn.failed":
                await self._again(socket, "That did not work out.", retryable=event["retryable"])
            case "session.state":
                await self._changed(socket, event["state"], event["reason"])
            case "notice":
                self._output.say(f"({event['text']})")
            case "error":
                await self._error(socket, event)
            case _:
                return

    async def _ready(self, socket: ClientConnection, ready: dict[str, Any]) -> None:
        self._talk.state = ready["state"]
        if ready["epoch"] != self._epoch and self._begun:
            await self._catch_up(ready)
        self._epoch = ready["epoch"]
        self._lost = 0
        if self._talk.state == "completed":
            self._end = End.COMPLETED
            return
        if self._talk.stopped:
            self._output.say(PAUSED if self._talk.kept is None else KEPT)
            self._talk.may_type.set()
        elif self._begun and self._talk.pending is None and ready["pending"] is None:
            self._talk.may_type.set()  # a command may have gone down with the connection
        self._talk.commanded = False
        if self._talk.pending is not None and not (self._talk.stopped and self._talk.kept is not None):
            await _send(socket, self._talk.pending)

    async def _catch_up(self, ready: dict[str, Any]) -> None:
        """Show what was said before this connection, whose events can't be replayed."""
        detail = await self._client.detail(self._session_id)
        self._last_event_id = ready["last_event_id"]
        for line in detail["transcript"]:
            key = (line["speaker"], line["text"])
            mine = line["speaker"] == "respondent"
            if mine:
                self._talk.answer_id = line["id"]
            else:
                self._asked = line["text"]
            if key not in self._talk.shown:
                self._output.say(f"{'you' if mine else 'askwell'}: {line['text'] or '(rather not say)'}")
                self._talk.shown.add(key)
        if detail["question"] and self._talk.pending is None and ready["pending"] is None:
            self._talk.may_type.set()

    def _question(self, text: str, *, closing: bool) -> None:
        self._output.complete("askwell: ", text)
        self._asked = text
        self._begun = True
        self._talk.shown.add(("interviewer", text))
        if not closing and self._talk.kept is None:
            self._settle()

    def _replied(self, event: dict[str, Any]) -> None:
        """A reply that is no question of its own: the message is done, and may be followed by another one."""
        self._output.complete("askwell: ", event["text"])
        self._talk.shown.add(("interviewer", event["text"]))
        for offer in event["offers"]:
            command = {"resume": "/resume", "withdraw": "/withdraw"}.get(offer["name"])
            self._output.say(f"  – {offer['label']}" + (f" ({command})" if command else ""))
        self._talk.stopping = event["act"] == "wants_stop" and not event["open"]
        self._settle()

    def _settle(self, *, may_type: bool = True) -> None:
        self._talk.pending = None
        self._resends = 0
        if may_type:
            self._talk.may_type.set()

    async def _changed(self, socket: ClientConnection, state: str, reason: str) -> None:
        if state == "closing" and self._talk.stopping:
            self._talk.state = state
            return
        resumed = self._talk.stopped and state == "active"
        self._talk.state, self._talk.stopping = state, False
        if state == "completed":
            self._end = End.WITHDRAWN if reason == "withdrawn" else End.COMPLETED
        elif state in STOPPED:
            self._output.say(PAUSED if self._talk.kept is None else KEPT)
            self._talk.may_type.set()
        elif resumed and self._talk.kept is not None:
            self._output.say(f"askwell: {self._asked}")
            self._output.say(f"you: {self._talk.kept.get('text') or '(rather not say)'}")
            self._talk.may_type.clear()
            await _send(socket, self._talk.kept)
        elif resumed and self._asked:
            self._output.say(f"askwell: {self._asked}")
            self._talk.may_type.set()
        elif self._talk.commanded:
            self._talk.may_type.set()
        self._talk.commanded = False

    async def _error(self, socket: ClientConnection, error: dict[str, Any]) -> None:
        about = error.get("ref")
        if about == "hello" and error["code"] in ("unauthorised", "forbidden", "not_found"):
            raise CallFailed(403, error["code"], error["message"])
        pending = self._talk.pending
        mine = pending is not None and about in (pending.get("turn_key"), pending["type"])
        if mine and error["code"] == "session_paused":
            if self._talk.commanded:
                return  # the respondent resumed meanwhile: what comes of that sends the answer
            if not self._talk.stopped:
                self._talk.state = "paused"
            self._output.say(KEPT)
            self._talk.may_type.set()
        elif mine:
            await self._again(socket, error["message"], retryable=error["retryable"])
        else:
            self._output.say(error["message"])
            self._talk.commanded = False
            self._talk.may_type.set()

    async def _again(self, socket: ClientConnection, message: str, *, retryable: bool) -> None:
        self._output.say(message)
        if not retryable or self._talk.pending is None:
            self._settle()
        elif self._resends < RESENDS:
            self._resends += 1
            self._output.say("(sending your answer again …)")
            await asyncio.sleep(self._pause_s * self._resends)
            await _send(socket, self._talk.pending)
        else:
            self._output.say("(your answer is kept; press Enter to send it again)")
            self._resends = 0
            self._talk.may_type.set()

    async def _type(self, socket: ClientConnection) -> None:
        while self._end is None:
            await self._talk.may_type.wait()
            line = await self._output.read("you: ")
            if line is None:
                self._left = True
                return
            try:
                await self._commands.typed(socket, line.strip())
            except ConnectionClosed:
                return


async def _send(socket: ClientConnection, message: Mapping[str, Any]) -> None:
    await socket.send(json.dumps(message))
