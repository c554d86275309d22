"""`askwell serve`, but for the language providers: they need no model. `python -m tests.server.sync_server serve …`."""

from __future__ import annotations

import argparse
import sys

import uvloop

from config.settings import load
from server import node
from tests.chaos.server import Plan, overrides


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--port", required=True)
    chosen = vars(parser.parse_args())
    settings = load(overrides=chosen).settings
    serving = node.serve(settings, say=_say, show=_say, version="0", overrides=overrides(Plan("never", 1)))
    sys.exit(uvloop.run(serving))
