"""Reading lines from the terminal, and showing text there."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import threading
from typing import Protocol


class Screen(Protocol):
    """Where lines come from and where they go."""

    async def read(self, prompt: str) -> str | None:
        """The next line the respondent types, None at the end of input."""
        ...

    def write(self, text: str) -> None:
        """Show text as it is, without a line break."""
        ...


class Keyboard:
    """The terminal as a screen; a thread that ends with the process reads the lines."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._stdin = sys.stdin
        self._interactive = self._stdin is not None and self._stdin.isatty()
        # Bytes that are no text come as lone surrogates, which the chat explains; showing them must not fail either.
        for stream, errors in ((self._stdin, "surrogateescape"), (sys.stdout, "replace")):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors=errors)
        threading.Thread(target=self._read_all, daemon=True, name="keyboard").start()

    def _read_all(self) -> None:
        try:
            for line in self._stdin or ():
                self._put(line.rstrip("\n"))
        except (OSError, ValueError) as exc:
            sys.stderr.write(f"askwell: the keyboard can't be read any more: {exc}.\n")
        finally:
            self._put(None)

    def _put(self, line: str | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for lines any more
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    async def read(self, prompt: str) -> str | None:
        """The next line."""
        self.write(prompt)
        line = await self._lines.get()
        if line is None or not self._interactive:
            self.write(f"{line or ''}\n")
        return line

    def write(self, text: str) -> None:
        """Show text."""
        sys.stdout.write(text)
        sys.stdout.flush()


class Output:
    """Shows lines on a screen; one of them may grow piece by piece.

    Args:
        screen: where they are shown.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._is_open = False
        self._grown = ""

    async def read(self, prompt: str) -> str | None:
        """As `Screen.read`."""
        return await self._screen.read(prompt)

    def begin(self, prefix: str) -> None:
        """Begin a line that grows."""
        self._end_line()
        self._screen.write(prefix)
        self._is_open = True
        self._grown = ""

    def stream(self, text: str) -> None:
        """Add to the line."""
        self._screen.write(text)
        self._grown += text

    def complete(self, prefix: str, text: str) -> None:
        """End the line that grows; begin it again with all of the text if another text was shown."""
        if self._grown != text:
            self.begin(prefix)
            self.stream(text)
        self._end_line()
        self._grown = ""

    def say(self, text: str) -> None:
        """Show a line of its own."""
        self._end_line()
        self._screen.write(text + "\n")

    def _end_line(self) -> None:
        if self._is_open:
            self._screen.write("\n")
            self._is_open = False


def is_text(line: str) -> bool:
    """Whether it has no lone surrogates, which stand for bytes that are not in the terminal's encoding."""
    return not any("\ud800" <= character <= "\udfff" for character in line)
