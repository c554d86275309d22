"""Notices and errors in the language of the interview."""

from __future__ import annotations

import json

from config.loader import Library
from pipeline.concept import PipelineSettings
from server.protocol.outbound import Error, Notice, Pong
from server.session.outbox import Outbox
from server.sockets.wording import Wording, usual

LIBRARY = Library(PipelineSettings())


def german() -> Wording:
    return Wording(LIBRARY.texts("de").find)


def test_notice_and_usual_error_told_in_german() -> None:
    notice, error = german()(Notice.of("answer_kept")), german()(Error.of("session_paused", ref="k"))
    assert isinstance(notice, Notice)
    assert notice.text.startswith("Ihre Antwort ist aufbewahrt")
    assert isinstance(error, Error)
    assert (error.message[:19], error.ref, error.retryable) == ("Dieses Interview is", "k", True)


def test_error_that_says_more_than_its_code_left_as_it_is() -> None:
    error = Error.of("invalid_input", "The consent text has changed.")
    assert german()(error) == error


def test_messages_without_words_and_languages_without_files_left_as_they_are() -> None:
    assert german()(Pong(t=1)) == Pong(t=1)
    assert Wording(usual("fr"))(Notice.of("still_thinking")) == Notice.of("still_thinking")


async def test_outbox_speaks_the_language_it_was_given() -> None:
    outbox = Outbox()
    outbox.reword(Wording(LIBRARY.texts("ar").find))
    await outbox.broadcast(Notice.of("moderator_here"))
    frame = await outbox.next()
    assert frame is not None
    assert json.loads(frame)["text"] == LIBRARY.texts("ar").text("notices.moderator_here")
