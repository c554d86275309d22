"""The published protocol is what the code speaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from server.errors import STATUS
from server.openapi import DOCUMENT
from server.protocol.codes import NOTICES, SENTENCES, ErrorCode, NoticeCode
from server.protocol.schema import CHANNELS, published, write_protocol
from server.protocol.watched import Usage
from server.usage import SessionUsage


@pytest.mark.parametrize("name", sorted(published()))
def test_published_files_are_up_to_date(root: Path, name: str) -> None:
    found = (root / "docs" / "protocol" / name).read_text(encoding="utf-8")
    assert found == published()[name], f"docs/protocol/{name} is out of date: run `askwell export-schema`"


def test_published_folder_holds_nothing_else(root: Path) -> None:
    assert {path.name for path in (root / "docs" / "protocol").iterdir()} == {*published(), Path(DOCUMENT).name}


def test_export_writes_every_file_anew(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("old")
    written = write_protocol(tmp_path)
    assert {path.name: path.read_text() for path in written} == published()


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda channel: channel.file)
def test_every_message_has_a_caption_and_is_told_apart_by_type(channel) -> None:  # type: ignore[no-untyped-def]
    names = [get_args(message.model_fields["type"].annotation)[0] for message in channel.messages]
    assert len(set(names)) == len(names)
    assert all((message.__doc__ or "").strip().endswith(".") for message in channel.messages)
    assert set(channel.schema()["discriminator"]["mapping"]) == set(names)


def test_page_names_every_message_and_code() -> None:
    page = published()["README.md"]
    for channel in CHANNELS:
        for message in channel.messages:
            assert f"### `{get_args(message.model_fields['type'].annotation)[0]}`" in page
    for code in (*SENTENCES, *NOTICES):
        assert f"| `{code}` |" in page


def test_every_code_has_a_sentence_and_an_http_status() -> None:
    assert set(SENTENCES) == set(get_args(ErrorCode)) == set(STATUS)
    assert set(NOTICES) == set(get_args(NoticeCode))
    assert all(text.endswith(".") for text in (*SENTENCES.values(), *NOTICES.values()) if not text.endswith("?"))


def test_schemas_are_json_and_name_their_dialect() -> None:
    for channel in CHANNELS:
        schema = json.loads(published()[channel.file])
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_usage_is_told_in_the_same_figures_everywhere() -> None:
    assert set(Usage.model_fields) - set(SessionUsage.model_fields) == {"type", "session_id", "turn_number"}
    schema = json.loads(published()["moderator-server.json"])
    assert set(schema["$defs"]["RoleUsage"]["properties"]) == {"calls", "input_tokens", "output_tokens", "cost"}
    assert schema["$defs"]["Usage"]["properties"]["by_role"]["additionalProperties"] == {"$ref": "#/$defs/RoleUsage"}
