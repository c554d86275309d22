"""What `askwell simulate` takes; imports nothing that takes time."""

from __future__ import annotations

import argparse
from pathlib import Path

FEWEST_TURNS, MOST_TURNS = 3, 200
"""Of an interview, as in a concept."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What the command takes."""
    command.add_argument("concept", metavar="CONCEPT", help="concept whose personas are interviewed, or `all`")
    command.add_argument("--persona", action="append", metavar="ID", help="only this one; can be given several times")
    command.add_argument("--seeds", type=_positive, default=3, metavar="N", help="interviews per persona (3)")
    command.add_argument("--manner", metavar="NAME", help="another manner than the personas' own")
    command.add_argument(
        "--engine",
        action="append",
        metavar="NAME",
        help="another decision engine than the concept's; several, separated by commas, or `all`, are put side by side",
    )
    command.add_argument("--max-turns", type=_turns, metavar="N", help="turns at the most")
    command.add_argument(
        "--by-model", action="store_true", help="let the language model of the settings speak for the respondents"
    )
    command.add_argument("--jobs", type=_positive, metavar="N", help="interviews at the same time (half the cores)")
    command.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler that holds them (extra `dask`)")
    command.add_argument("--fresh", action="store_true", help="hold interviews again whose results are there")
    command.add_argument("--to", type=Path, metavar="DIR", help="where results are kept (in the data directory)")
    command.add_argument("--html", type=Path, metavar="FILE", help="write a report with plots and transcripts")


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"should be a whole number, not {text!r}") from None


def _positive(text: str) -> int:
    number = _number(text)
    if number < 1:
        raise argparse.ArgumentTypeError("should be at least 1")
    return number


def _turns(text: str) -> int:
    number = _number(text)
    if not FEWEST_TURNS <= number <= MOST_TURNS:
        raise argparse.ArgumentTypeError(f"should be from {FEWEST_TURNS} to {MOST_TURNS}")
    return number
