"""Scripts with a guard left out, to see whether anybody would notice."""

from __future__ import annotations

import re

from server.hot.connection import load_scripts


def scripts_without(*guards: str) -> dict[str, str]:
    """The packaged scripts without every line marked as one of these guards.

    Raises:
        ValueError: no script has such a guard.
    """
    scripts = load_scripts()
    for guard in guards:
        line = re.compile(rf"^.*-- guard:{re.escape(guard)}\n", re.MULTILINE)
        if not any(line.search(text) for text in scripts.values()):
            raise ValueError(f"no guard is called {guard}")
        scripts = {name: line.sub("", text) for name, text in scripts.items()}
    return scripts
