"""The thread that looks at configuration files."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

from server.errors import wire_error
from server.file_thread import FilesSlow, FileThread


def network_drive() -> None:
    raise TimeoutError("the server of the files does not answer")


async def test_files_that_are_not_read_in_time_are_told_and_looked_at_later() -> None:
    gate = threading.Event()
    with closing(FileThread(deadline_s=0.05)) as look_up:
        for _ in range(2):
            with pytest.raises(FilesSlow) as caught:
                await look_up(lambda: gate.wait(20))
        assert wire_error(caught.value).status == 503
        gate.set()
    with closing(FileThread()) as look_up:
        assert await look_up(lambda: threading.current_thread().name) == "files_0"
        with pytest.raises(TimeoutError):
            await look_up(network_drive)
        with pytest.raises(ValueError, match="none"):
            await look_up(lambda: int("none"))
