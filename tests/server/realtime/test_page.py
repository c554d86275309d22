"""docs/realtime.md names every event and every error of the Realtime door, and no others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from server.protocol.codes import SENTENCES
from server.realtime.inbound import API_EVENTS, EXTENSIONS, UNSUPPORTED
from server.realtime.problems import RealtimeCode
from server.realtime.session import EAGERNESS, OwnSettings
from server.realtime.vocabulary import BETA_NAMES

EVENT = re.compile(r"(?:error|[a-z_]+(?:\.[a-z_]+)+)")
FIELDS = re.compile(r"(?:session|response|status_details)\.(?:askwell|audio|error)\b.*|askwell\.review|error\.code")
"""What looks like an event on the page and is a field."""


def sent(root: Path) -> Iterator[str]:
    """Names of events that the door sends, as its modules have them."""
    for path in [*(root / "server/realtime").glob("*.py"), *(root / "server/sockets").glob("realtime*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == "emit" and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)
            if called == "PlainEvent":
                yield from (str(k.value.value) for k in node.keywords if isinstance(k.value, ast.Constant))


def test_page_names_every_event_and_no_others(root: Path) -> None:
    text = (root / "docs/realtime.md").read_text(encoding="utf-8")
    spans = (name for span in re.findall(r"`([^`\n]+)`", text) for name in span.split())
    named = {name for name in spans if EVENT.fullmatch(name) and not FIELDS.fullmatch(name)}
    known = {*sent(root), *API_EVENTS, *EXTENSIONS, *UNSUPPORTED}
    assert known - named == set()
    assert named - known - set(BETA_NAMES.values()) == set()
    assert len(known) > 40


def test_page_names_every_error_setting_and_value(root: Path) -> None:
    text = (root / "docs/realtime.md").read_text(encoding="utf-8")
    assert [code for code in get_args(RealtimeCode) if f"`{code}`" not in text] == []
    assert not set(get_args(RealtimeCode)) & set(SENTENCES)
    for name in (*OwnSettings.model_fields, *EAGERNESS.values()):
        assert re.search(rf"[`{{ ]{name}\b", text), name
