"""Who takes part in an exchange of news, and what a letter looks like."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Protocol

from server.protocol.codec import encode
from server.protocol.watched import OverviewGone, OverviewItem
from server.watch.mailbox import Mailbox


class Post(Protocol):
    """Carries letters, as `server.hot.broadcast.Broadcasts` does."""

    async def spread(self, letters: Sequence[tuple[str | None, bytes]]) -> None:
        """Publish letters to one node or to all."""
        ...

    def letters(self, node: str) -> AsyncGenerator[bytes | None, None]:
        """What is published for this node; None after a gap."""
        ...


class Source(Protocol):
    """A session that lives on this node, as far as it can be shown."""

    @property
    def session_id(self) -> str:
        """The session."""
        ...

    @property
    def rev(self) -> int:
        """Its revision."""
        ...

    def row(self) -> OverviewItem:
        """Its row of the overview."""
        ...

    def present(self) -> list[str]:
        """Frames that say what no stored state says: the running question, who is there, the latest decision."""
        ...


class Follower:
    """One watcher's overview.

    Args:
        mailbox: of the watcher.
        fits: whether a row is within the filter and the watcher's scope.
    """

    def __init__(self, mailbox: Mailbox, fits: Callable[[OverviewItem], bool]) -> None:
        self.mailbox = mailbox
        self.fits = fits
        """Whether a row is to be shown."""
        self.shown: set[str] = set()
        """Sessions that the watcher has rows of."""

    def tell(self, row: OverviewItem, text: str) -> None:
        """A row changed."""
        if self.fits(row):
            self.shown.add(row.session_id)
            self.mailbox.row(row.session_id, text)
        else:
            self.gone(row.session_id)

    def gone(self, session_id: str) -> None:
        """A session is not to be shown any more."""
        if session_id in self.shown:
            self.shown.discard(session_id)
            self.mailbox.row(session_id, encode(OverviewGone(session_id=session_id)))


def letter_of(kind: str, lines: Sequence[str] = (), **head: Any) -> bytes:
    """One line of JSON that says what it is, then frames, one a line."""
    first = json.dumps({"kind": kind, **head}, ensure_ascii=False, separators=(",", ":"))
    return "\n".join([first, *lines]).encode()
