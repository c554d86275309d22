"""`askwell serve`, with language providers that are quick; what it keeps, and how it ends, is the real thing.

`python -m tests.chaos.node --data DIR --port PORT`; everything else is set in the environment.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import uvloop

from config import settings as config_settings
from server import logs, node
from tests.chaos.server import Plan, overrides


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    settings = config_settings.load(None, {"data": given.data, "port": given.port}).settings
    logs.configure(settings.logs)
    served = node.serve(settings, say=say, show=say, version="under test", overrides=overrides(Plan("never", 1)))
    sys.exit(uvloop.run(served))
