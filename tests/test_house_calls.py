"""The calls that the house forbids are refused where they are forbidden, and only there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FORBIDDEN = (
    ("pipeline/stages/x.py", "import time", "time.monotonic()"),
    ("pipeline/graph/x.py", "import random", "random.random()"),
    ("pipeline/engines/x.py", "from datetime import datetime, UTC", "datetime.now(UTC)"),
    ("pipeline/stages/x.py", "import uuid", "uuid.uuid4()"),
    ("pipeline/question/x.py", "import numpy as np", "np.random.rand()"),
    ("pipeline/signals/x.py", "import os", "os.environ"),
    ("pipeline/language/x.py", "import redis", "redis.Redis()"),
    ("pipeline/language/x.py", "import uuid", "uuid.uuid4()"),
    ("pipeline/turn.py", "import asyncio", "asyncio.create_task(None)"),
    ("server/session/x.py", "import asyncio", "asyncio.create_task(None)"),
    ("server/x.py", "import asyncio", "asyncio.wait_for(None, 1)"),
    ("audio/x.py", "from datetime import datetime", "datetime.utcnow()"),
    ("tests/server/test_x.py", "from unittest import mock", "mock.Mock()"),
    ("config/x.py", "from unittest.mock import Mock", "Mock()"),
)
ALLOWED = (
    ("pipeline/language/offline/x.py", "import spacy", "spacy.blank"),
    ("pipeline/language/x.py", "import time", "time.perf_counter()"),
    ("server/x.py", "from datetime import UTC, datetime", "datetime.now(UTC)"),
    ("server/x.py", "import uuid", "uuid.uuid4()"),
)


def banned(root: Path, path: str, statement: str, expression: str) -> bool:
    """Whether ruff refuses a module at `path` that says this."""
    assert (root / path).parent.is_dir(), f"the folder of {path} is gone"
    text = f'"""Say something."""\n\n{statement}\n\nSAID = {expression}\n'
    program = str(Path(sys.executable).with_name("ruff"))
    command = [program, "check", "--no-cache", "--output-format", "concise", "--stdin-filename", path, "-"]
    run = subprocess.run(command, cwd=root, input=text, capture_output=True, text=True, timeout=60)
    assert run.returncode in (0, 1), run.stderr
    return "TID251" in run.stdout


@pytest.mark.parametrize(("path", "statement", "expression"), FORBIDDEN)
def test_forbidden_call_is_refused(root: Path, path: str, statement: str, expression: str) -> None:
    assert banned(root, path, statement, expression)


@pytest.mark.parametrize(("path", "statement", "expression"), ALLOWED)
def test_allowed_call_is_let_through(root: Path, path: str, statement: str, expression: str) -> None:
    assert not banned(root, path, statement, expression)
