"""`askwell` that counts the statements its store is told: `python counted.py FILE serve …`, for the benchmark `costs`.

It is run as a file, so that the checkout whose `server` is measured can be another one.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from server.cli import main

KINDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN")


def count(path: Path) -> None:
    """Have the file grow by one byte with each statement from now on."""
    told = path.open("ab", buffering=0)

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().upper().startswith(KINDS):
            told.write(b".")

    event.listen(Engine, "before_cursor_execute", note)


if __name__ == "__main__":
    count(Path(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
