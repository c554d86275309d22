"""Stimuli of concept tests: texts, images, elements; what is refused and what is warned about."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
import yaml

from config.files import read_concept
from config.images import MOST_BYTES, ImageUnusable, image_of
from config.loader import Library, UnknownName
from config.yamlfile import ConfigError
from pipeline.concept import PipelineSettings
from tests.support.whole import write_config


def png(width: int = 3, height: int = 2, padding: int = 0) -> bytes:
    """A grey PNG."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress(b"".join(b"\0" + b"\x80" * width for _ in range(height)))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    filler = chunk(b"teXt", b"x" * padding) if padding else b""
    return b"\x89PNG\r\n\x1a\n" + head + filler + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08"
    + struct.pack(">HH", 20, 30)
    + b"\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xda\x00\x02data\xff\xd9"
)
WEBP = b"RIFF" + struct.pack("<I", 22) + b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + b"\x0f\0\0\x07\0\0"


def library(folder: Path, **fields: object) -> Library:
    """A library whose only concept has these fields."""
    write_config(folder)
    for old in (folder / "concepts").glob("*.yaml"):
        old.unlink()
    content = {"id": "coffee", "name": "coffee", "methodology": "small", "objective": "Why", **fields}
    (folder / "concepts" / "coffee.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return Library(config_dir=folder, settings=PipelineSettings(), packaged=None)


def about_concept(found: Library) -> list[str]:
    """Problems of the concept, without the file's name."""
    return [problem.reason for problem in found.problems() if problem.file.endswith("coffee.yaml")]


def cautioned(found: Library) -> list[str]:
    """Warnings about stimulus and elements."""
    return [one.reason for one in found.cautions() if one.reason.startswith(("stimulus", "elements", "translations"))]


@pytest.mark.parametrize(
    ("content", "expected"),
    [(png(3, 2), ("image/png", 3, 2)), (JPEG, ("image/jpeg", 30, 20)), (WEBP, ("image/webp", 16, 8))],
)
def test_image_known_by_its_bytes(content: bytes, expected: tuple[str, int, int]) -> None:
    assert image_of(content) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"Hello, I am a text.", "no image"),
        (b"\x89PNG\r\n\x1a\n", "damaged"),
        (png()[:-12], "cut off"),
        (JPEG[:-2], "cut off"),
        (JPEG[:8], "damaged"),
        (WEBP[:-1], "damaged"),
        (png(0, 2), "damaged"),
        (png(9000, 1), "pixels"),
        (png(padding=MOST_BYTES), "at most 1 MB"),
        (b"GIF89a" + b"\0" * 40, "GIF is not shown"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "SVG is not shown"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- x --><svg/>", "SVG is not shown"),
    ],
)
def test_image_that_is_none_is_refused_with_the_reason(content: bytes, said: str) -> None:
    with pytest.raises(ImageUnusable, match=said):
        image_of(content)


def test_session_keeps_the_image_it_began_with(tmp_path: Path) -> None:
    found = library(tmp_path, stimulus_image={"file": "board.png", "alt": "A cup."}, languages=["en"])
    path = tmp_path / "concepts" / "board.png"
    assert about_concept(found) == ["stimulus_image.file: there is no file `board.png` beside the concept's"]
    with pytest.raises(UnknownName):
        found.configuration("coffee")
    path.write_bytes(png(3, 2))
    pinned = found.configuration("coffee").stimulus_image
    assert pinned is not None
    assert (pinned.media_type, pinned.width, pinned.height, pinned.alt) == ("image/png", 3, 2, "A cup.")
    assert pinned.content == png(3, 2)
    path.write_bytes(png(40, 20))
    again = found.configuration("coffee").stimulus_image
    assert again is not None and (again.width, pinned.width) == (40, 3)


@pytest.mark.parametrize("name", ["../../secret.png", "/etc/passwd", "..\\secret.png", "C:a.png", "a/../../../x.png"])
def test_image_outside_the_configuration_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    found = library(tmp_path / "home", stimulus_image={"file": name, "alt": "A secret."})
    assert about_concept(found) == [
        "stimulus_image.file: leaves the configuration directory; put the file beside the concept's"
    ]


def test_image_that_is_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    found = library(tmp_path / "home", stimulus_image={"file": "board.png", "alt": "A secret."})
    (tmp_path / "home" / "concepts" / "board.png").symlink_to(tmp_path / "secret.png")
    assert "link to a file outside" in about_concept(found)[0]


def test_image_in_a_folder_of_the_configuration_and_per_language(tmp_path: Path) -> None:
    found = library(
        tmp_path,
        languages=["en", "de"],
        stimulus_image={"file": "../pictures/en.png", "alt": "A cup."},
        translations={"de": {"stimulus_image": {"file": "../pictures/de.png", "alt": "Eine Tasse."}}},
    )
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "en.png").write_bytes(png(3, 2))
    assert about_concept(found) == [
        "translations.de.stimulus_image.file: there is no file `../pictures/de.png` beside the concept's"
    ]
    (tmp_path / "pictures" / "de.png").write_bytes(png(5, 4))
    german = found.configuration("coffee", language="de").stimulus_image
    assert german is not None and (german.width, german.alt) == (5, "Eine Tasse.")


def test_stimulus_of_twenty_thousand_words_is_refused_and_a_long_one_warned_about(tmp_path: Path) -> None:
    assert about_concept(library(tmp_path, stimulus="word " * 20_000)) == [
        "stimulus: 20000 words are more than anybody reads before an interview; at most 3000"
    ]
    assert cautioned(library(tmp_path, stimulus="word " * 500, elements=[])) == [
        "stimulus: 500 words take about 2 minutes to read"
    ]
    assert about_concept(library(tmp_path, stimulus=" \n")) == ["stimulus: says nothing"]


def test_elements_that_share_a_name_or_contain_each_other_are_warned_about(tmp_path: Path) -> None:
    elements = [
        {"id": "price", "label": "price", "aliases": ["cost"]},
        {"id": "plan", "label": "plan price"},
        {"id": "money", "label": "what it costs", "aliases": ["Cost"]},
        {"id": "dash", "label": "—"},
    ]
    assert cautioned(library(tmp_path, elements=elements)) == [
        "elements[1].label: has the name of `price` in it: who says “plan price” is taken to mean this one alone",
        "elements[2].label: has the name of `price` in it: who says “what it costs” is taken to mean this one alone",
        "elements[2].aliases[0]: “Cost” is a name of `price` as well: who says it means both",
        "elements[3].label: this name has no words, so nobody can say it",
    ]


@pytest.mark.parametrize(("count", "warned"), [(0, 0), (1, 0), (15, 0), (400, 1)])
def test_elements_that_an_interview_has_no_turns_for_are_warned_about(tmp_path: Path, count: int, warned: int) -> None:
    elements = [{"id": f"e{n}", "label": f"thing {n}"} for n in range(count)]
    found = library(tmp_path, elements=elements)
    assert about_concept(found) == []
    assert sum("can't all be asked about" in reason for reason in cautioned(found)) == warned


def test_topic_of_the_guide_that_is_none_can_not_be_left_out(tmp_path: Path) -> None:
    found = library(tmp_path, leave_out=["alternativ"])
    assert about_concept(found) == ["leave_out[0]: the guide has no topic `alternativ`"]


def test_stimulus_without_elements_or_translation_is_warned_about(tmp_path: Path) -> None:
    found = cautioned(library(tmp_path, stimulus="A cup.", languages=["en", "de"]))
    assert len(found) == 2
    assert "askwell elements coffee" in found[0] or "askwell elements coffee" in found[1]
    assert "stimulus: there is no stimulus in `de`: `translations.de.stimulus`" in found


def test_element_without_a_name_is_an_error() -> None:
    text = "id: c\nname: c\nmethodology: m\nobjective: o\nelements:\n  - {id: a, label: ' '}\n"
    with pytest.raises(ConfigError, match=r"c.yaml:6: elements\[0\].label: says nothing"):
        read_concept(text, "c.yaml", "c")
