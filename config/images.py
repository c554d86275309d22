"""Images that concepts show: found in the configuration directory, and known by their bytes.

Only PNG, JPEG and WebP are taken, by what is in the file and not by its name. SVG is refused: it can carry scripts.
"""

from __future__ import annotations

import base64
import posixpath
import struct
from collections.abc import Callable, Iterator, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path

from pipeline.concept import Concept
from pipeline.stimulus import ImageType, ShownImage, StimulusImage

MOST_BYTES = 1_000_000
"""Largest image."""
MOST_PIXELS = 8192
"""Greatest width and height."""
_FOLDER = "concepts"
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
_JPEG, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""Markers of the segments that hold width and height."""
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers without a length."""
_TAKEN = "PNG, JPEG and WebP are"


class ImageUnusable(ValueError):
    """An image can't be shown; the message is the reason."""


class ImageFiles:
    """The images of concepts, read again when a file changed."""

    def __init__(self, roots: Sequence[Traversable]) -> None:
        """Args: roots: directories that have a folder `concepts`; later ones win."""
        self._roots = roots
        self._known: dict[tuple[str, int, int], ShownImage | ImageUnusable] = {}

    def shown(self, image: StimulusImage) -> ShownImage:
        """The image as it is now. Raises ImageUnusable."""
        path = self._find(image.file)
        found = self._read(path)
        if isinstance(found, ImageUnusable):
            raise found
        return found.model_copy(update={"alt": image.alt})

    def problems(self, concept: Concept) -> Iterator[tuple[tuple[str, ...], str]]:
        """What is wrong with the images of a concept: key and reason."""
        images = [(("stimulus_image", "file"), concept.stimulus_image)]
        for language, told in concept.translations.items():
            images.append((("translations", language, "stimulus_image", "file"), told.stimulus_image))  # type: ignore[arg-type]
        for path, image in images:
            if image is not None:
                try:
                    self.shown(image)
                except ImageUnusable as exc:
                    yield path, str(exc)

    def _find(self, name: str) -> Traversable:
        whole = posixpath.normpath(posixpath.join(_FOLDER, name))
        if name.startswith("/") or "\\" in name or ":" in name or "\0" in name or whole.split("/")[0] == "..":
            raise ImageUnusable("leaves the configuration directory; put the file beside the concept's")
        for root in reversed(self._roots):
            path = root.joinpath(*whole.split("/"))
            if not path.is_file():
                continue
            if isinstance(path, Path) and isinstance(root, Path) and not path.resolve().is_relative_to(root.resolve()):
                raise ImageUnusable("is a link to a file outside of the configuration directory")
            return path
        raise ImageUnusable(f"there is no file `{name}` beside the concept's")

    def _read(self, path: Traversable) -> ShownImage | ImageUnusable:
        if not isinstance(path, Path):
            return _taken(path.read_bytes)
        try:
            stat = path.stat()
        except OSError as exc:
            return ImageUnusable(f"the file can't be read: {exc.strerror}")
        if stat.st_size > MOST_BYTES:
            return _too_large(stat.st_size)
        key = (str(path), stat.st_mtime_ns, stat.st_size)
        if key not in self._known:
            self._known = {known: found for known, found in self._known.items() if known[0] != key[0]}
            self._known[key] = _taken(path.read_bytes)
        return self._known[key]


def _taken(read: Callable[[], bytes]) -> ShownImage | ImageUnusable:
    try:
        content = read()
        kind, width, height = image_of(content)
    except OSError as exc:
        return ImageUnusable(f"the file can't be read: {exc.strerror}")
    except ImageUnusable as exc:
        return exc
    return ShownImage(
        media_type=kind, width=width, height=height, alt="", data=base64.b64encode(content).decode("ascii")
    )


def image_of(content: bytes) -> tuple[ImageType, int, int]:
    """Type, width and height in pixels of an image, by its bytes. Raises ImageUnusable: it can't be shown."""
    if len(content) > MOST_BYTES:
        raise _too_large(len(content))
    kind: ImageType
    try:
        if content.startswith(_PNG):
            kind, size, whole = "image/png", _png_size(content), content.rstrip(b"\0").endswith(_PNG_END)
        elif content.startswith(_JPEG):
            kind, size, whole = "image/jpeg", _jpeg_size(content), content.rstrip(b"\0\r\n").endswith(_JPEG_END)
        elif content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            kind, size = "image/webp", _webp_size(content)
            whole = len(content) >= 8 + int.from_bytes(content[4:8], "little")
        else:
            raise _of_no_kind(content)
    except (struct.error, IndexError) as exc:
        raise ImageUnusable("the image is damaged; save it again") from exc
    if not whole or min(size) < 1:
        raise ImageUnusable("the image is damaged or was cut off; save it again")
    if max(size) > MOST_PIXELS:
        raise ImageUnusable(f"{size[0]} × {size[1]} pixels are too many: at most {MOST_PIXELS} each way")
    return kind, *size


def _too_large(size: int) -> ImageUnusable:
    return ImageUnusable(
        f"the image has {size / 1e6:.1f} MB, at most {MOST_BYTES / 1e6:g} MB are shown; save a smaller JPEG or WebP"
    )


def _of_no_kind(content: bytes) -> ImageUnusable:
    if not content:
        return ImageUnusable("the file is empty")
    head = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if b"<svg" in head or head.startswith(b"<?xml"):
        return ImageUnusable(f"SVG is not shown, it can carry scripts: save it as PNG. {_TAKEN} shown")
    if content[:6] in (b"GIF87a", b"GIF89a"):
        return ImageUnusable(f"GIF is not shown; {_TAKEN}")
    return ImageUnusable(f"this is no image that can be shown; {_TAKEN}")


def _png_size(content: bytes) -> tuple[int, int]:
    length, name, width, height = struct.unpack_from(">I4sII", content, 8)
    if (length, name) != (13, b"IHDR"):
        raise IndexError
    return width, height


def _jpeg_size(content: bytes) -> tuple[int, int]:
    at = 2
    while True:
        if content[at] != 0xFF:
            raise IndexError
        marker = content[at + 1]
        if marker == 0xFF or marker in _JPEG_BARE:
            at += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack_from(">H", content, at + 2)
        if marker in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        at += 2 + max(length, 2)


def _webp_size(content: bytes) -> tuple[int, int]:
    kind = content[12:16]
    if kind == b"VP8X":
        return int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
    if kind == b"VP8L":
        (packed,) = struct.unpack_from("<I", content, 21)
        return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise IndexError
