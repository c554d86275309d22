"""The command `askwell replay`: the decisions of a stored interview, made again from what was stored."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pipeline.concept import SessionConfiguration
from server.comparison.errors import NotARecord, NotRepeatable
from server.comparison.recording import SESSION_FORMAT, is_file, read, stored
from server.comparison.repeating import repeated, told

DIFFERS = 1
"""Exit code where a decision comes out differently."""


def replay(options: argparse.Namespace, export: Callable[[str], bytes]) -> int:
    """Make the decisions again, print the first difference; 1 where there is one.

    Args:
        options: see `server.comparison.arguments`.
        export: a stored session's complete export, by its id.
    Raises:
        NotARecord: the file is no complete export.
        NotRepeatable: it is of another version, or its engine or configuration is not known here.
        ApiError: there is no such interview.
    """
    data, name = _document(options.record, export)
    state, records = stored(data, name)
    try:
        configuration = SessionConfiguration.model_validate(data.get("configuration"))
    except ValidationError as error:
        raise NotRepeatable(
            f"the configuration that {name} is pinned to is missing or of another version of askwell"
        ) from error
    found = repeated(state, records, configuration)
    sys.stdout.write(told(state, found))
    return DIFFERS if found.first is not None else 0


def _document(named: str, export: Callable[[str], bytes]) -> tuple[dict[str, Any], str]:
    """The export, and what to call it."""
    if not is_file(named):
        return json.loads(export(named)), f"session {named}"
    path = Path(named)
    try:
        data = json.loads(read(path))
    except (ValueError, RecursionError) as error:
        raise NotARecord(f"{path.name} is no complete export of an interview (askwell export SESSION)") from error
    if not isinstance(data, dict) or data.get("format") != SESSION_FORMAT:
        raise NotARecord(f"{path.name} is no complete export of an interview (askwell export SESSION)")
    return data, path.name
