"""What `askwell compare` and `askwell replay` take; imports nothing that takes time."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_comparison_arguments(command: argparse.ArgumentParser) -> None:
    """What `askwell compare` takes."""
    command.add_argument(
        "record",
        metavar="SESSION|FILE",
        help="an interview, or a file: an export, a result of askwell simulate, a JSON list or a line per answer",
    )
    command.add_argument(
        "--engine", action="append", metavar="NAME", help="only this engine; several are separated by commas (all)"
    )
    command.add_argument(
        "--concept", action="append", metavar="ID", help="by this concept; can be given several times (the interview's)"
    )
    command.add_argument(
        "--config",
        action="append",
        type=Path,
        metavar="DIR",
        help="by the concept as this configuration directory has it; can be given several times",
    )
    command.add_argument("--language", metavar="TAG", help="of answers from a file (the concept's first)")
    command.add_argument("--max-turns", type=int, metavar="N", help="turns at the most (as the interview had)")
    command.add_argument("--html", type=Path, metavar="FILE", help="write a page with all of it")
    command.add_argument("--json", type=Path, metavar="FILE", help="write all of it as JSON")


def add_replay_arguments(command: argparse.ArgumentParser) -> None:
    """What `askwell replay` takes."""
    command.add_argument("record", metavar="SESSION|FILE", help="an interview, or a file with its complete export")
