"""Comments and pages cite only what a reader can find: this repository, RFCs and published works."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

SUFFIXES = {".py", ".md", ".js", ".yaml", ".yml"}
SECTION = re.compile(r"(?<!\w)§")
IN_A_STANDARD = re.compile(r"\bRFC \d+,? §")
UNKNOWN_DOCUMENTS = re.compile(
    r"\bsemantics\s+§"  # a section of a document
    r"|\bADR-?\d"  # an architecture decision record
    r"|\bSource:\s+(?:the\s+)?(?:\d{3}\b|semantics\b|lessons?\b|design\b|specs?\b|brief\b)"
    r"|\blessons?,? (?:lines? )?\d"
    r"|[(;]\s*0\d\d, [a-z]"  # a numbered document
)


def citations(text: str) -> list[str]:
    """Lines that cite a document which is not here, with their numbers."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        sections = len(SECTION.findall(line)) - len(IN_A_STANDARD.findall(line))
        if UNKNOWN_DOCUMENTS.search(line) or sections > 0:
            found.append(f"{number}: {line.strip()}")
    return found


@pytest.mark.needs("git")
def test_committed_files_cite_no_document_that_is_not_here(root: Path) -> None:
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=60)
    paths = [root / line for line in run.stdout.splitlines() if Path(line).suffix in SUFFIXES]
    read = [path for path in paths if path.is_file() and path != Path(__file__).resolve()]
    assert [
        f"{path.relative_to(root)}:{found}" for path in read for found in citations(path.read_text(encoding="utf-8"))
    ] == []
    assert read


@pytest.mark.parametrize(
    "line",
    [
        '"""A measure. Source: semantics §6."""',
        "Source: 000, TurnResult.",
        "# see ADR-015",
        "Source: ADR015, exhaustion signals.",
        '"""Source: lessons, line 13."""',
        "What an answer shows (004, qualitative signals).",
        "As in lesson 7.",
        "As the document says in §3.",
    ],
)
def test_citation_of_a_document_that_is_not_here_is_found(line: str) -> None:
    assert citations(f"one\n{line}\ntwo") == [f"2: {line}"]


@pytest.mark.parametrize(
    "line",
    [
        "between attempts at the addresses of a host (RFC 8305 §5)",
        "Source: RFC 9457.",
        "Source: Chao 1984, bias-corrected form.",
        "with lessons, changed habits",
        "docs/design/sync.md says how",
    ],
)
def test_citation_of_a_standard_or_a_published_work_is_allowed(line: str) -> None:
    assert citations(line) == []
