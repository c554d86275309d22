"""Decodes recordings (wav, flac, webm, ogg, mp3, m4a) to mono int16 at RATE_HZ.

All functions block: call them from a worker thread. The kind of a file is detected by its first bytes, not by its name,
and only the demuxer of that kind is used: FFmpeg's own detection would also follow playlists to other files.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.container import InputContainer

from audio.errors import AudioFormat, AudioTooLong
from audio.types import RATE_HZ, Samples

ContainerKind = Literal["wav", "flac", "matroska", "ogg", "mp3", "mov"]
HEADER_BYTES = 16
"""Number of first bytes by which the kind of a file is detected."""
READABLE_KINDS = "wav, flac, webm, ogg, mp3 and m4a"
MAX_BAD_PACKETS = 100
"""Decoding ends after more damaged packets in a row than this."""
LENGTH_TOLERANCE_S = 0.5
"""How many seconds a complete recording may be shorter than the file states."""
UNKNOWN_LENGTH_BYTES = 0x7FFF_0000
"""Least length in the header of a wav file that means that the writer did not know the length."""
MAX_CHUNKS = 64
"""Most chunks of a wav file among which the one with the samples is searched."""
OGG_PAGE_BYTES = 27 + 255 + 255 * 255
"""Size of the largest page of an ogg file: header, segment table and body."""
OGG_HEADER_BYTES = 27
OGG_LAST_PAGE = 0x04
"""Flag in the header of the last page of a stream."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A decoded recording; `complete` is false if a part is missing, because the file is truncated or damaged."""

    samples: Samples
    kind: ContainerKind
    complete: bool


def detect_kind(head: bytes) -> ContainerKind | None:
    """The kind of a file by its first bytes; None if it is not supported."""
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return "wav"
    if head[:4] == b"fLaC":
        return "flac"
    if head[:4] == b"\x1a\x45\xdf\xa3":
        return "matroska"
    if head[:4] == b"OggS":
        return "ogg"
    if head[4:8] == b"ftyp":
        return "mov"
    if head[:3] == b"ID3" or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2):
        return "mp3"
    return None


def read_recording(source: Path | BinaryIO, *, max_s: float) -> Recording:
    """Decode a recording; never more than `max_s` of it is in memory.

    Args:
        source: a path, or a binary file that can be read and sought.
        max_s: length of the longest recording that is accepted, in seconds.
    Raises:
        AudioFormat: the file is empty, of an unsupported kind, damaged at its beginning, or without audio.
        AudioTooLong: it is longer than `max_s`.
        MemoryError: it takes more memory than there is.
    """
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(source.open("rb")) if isinstance(source, Path) else source
        reader = RecordingReader(file, max_s=max_s)
        samples = np.concatenate(list(reader.blocks()))
    return Recording(samples, reader.kind, reader.complete)


class RecordingReader:
    """Decodes a recording block by block.

    Args:
        file: binary, can be read and sought.
        max_s: length of the longest recording that is accepted, in seconds.
    Raises:
        AudioFormat: the file is empty, or of an unsupported kind.
    """

    def __init__(self, file: BinaryIO, *, max_s: float) -> None:
        self._file = file
        self.kind = _read_kind(file)
        self._decoder = _Decoder(self.kind, max_s)
        self._decoder.complete = not _is_truncated(file, self.kind)

    @property
    def complete(self) -> bool:
        """Whether no part is missing, as far as it was decoded."""
        return self._decoder.complete

    def blocks(self) -> Iterator[Samples]:
        """Blocks of mono int16 at RATE_HZ, in order.

        Raises:
            AudioFormat, AudioTooLong: as `read_recording`.
            MemoryError: it takes more memory than there is.
        """
        length = 0
        for block in self._decoder.blocks(self._file):
            length += len(block)
            yield block
        if not length:
            raise AudioFormat("There is no sound in this recording.")


def _read_kind(file: BinaryIO) -> ContainerKind:
    head = file.read(HEADER_BYTES)
    file.seek(0)
    if not head:
        raise AudioFormat("The recording is empty.")
    kind = detect_kind(head)
    if kind is None:
        raise AudioFormat(f"This is no recording that can be read; {READABLE_KINDS} can.")
    return kind


def _is_truncated(file: BinaryIO, kind: ContainerKind) -> bool:
    """Whether the end is missing, for the kinds for which FFmpeg does not report it."""
    if kind == "wav":
        return _is_wav_truncated(file)
    return kind == "ogg" and _is_ogg_truncated(file)


def _is_ogg_truncated(file: BinaryIO) -> bool:
    """Whether the last page of an ogg file is incomplete, or not marked as the last one."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - 2 * OGG_PAGE_BYTES))
    tail = file.read()
    file.seek(0)
    at = len(tail)
    while (at := tail.rfind(b"OggS", 0, at)) >= 0:
        head = tail[at : at + OGG_HEADER_BYTES]
        if len(head) < OGG_HEADER_BYTES:
            return True
        if head[4] == 0:
            table = tail[at + OGG_HEADER_BYTES : at + OGG_HEADER_BYTES + head[26]]
            whole = len(table) == head[26] and at + OGG_HEADER_BYTES + head[26] + sum(table) <= len(tail)
            return not (whole and head[5] & OGG_LAST_PAGE)
    return True


def _is_wav_truncated(file: BinaryIO) -> bool:
    """Whether a wav file has less audio than its header states."""
    size = file.seek(0, io.SEEK_END)
    at = 12
    truncated = False
    for _ in range(MAX_CHUNKS):
        file.seek(at)
        head = file.read(8)
        if len(head) < 8:
            break
        length = int.from_bytes(head[4:], "little")
        at += 8 + length + length % 2
        if head[:4] == b"data":
            truncated = length < UNKNOWN_LENGTH_BYTES and at - length % 2 > size
            break
    file.seek(0)
    return truncated


class _Decoder:
    """Decodes one file of a known kind."""

    def __init__(self, kind: ContainerKind, max_s: float) -> None:
        self._kind = kind
        self._max_s = max_s
        self.complete = True

    def blocks(self, file: BinaryIO) -> Iterator[Samples]:
        """Blocks of mono int16 at RATE_HZ, in order. Raises as `read_recording`."""
        try:
            container = av.open(file, mode="r", format=self._kind)
        except MemoryError:
            raise
        except (av.FFmpegError, ValueError, OSError) as exc:
            raise AudioFormat("This recording is damaged or broken off: its beginning can't be read.") from exc
        with container:
            self._refuse_too_long(container)
            length = 0
            mixer = MonoResampler()
            for frame in self._frames(container):
                for block in mixer.resample(frame):
                    length += len(block)
                    if length > self._max_s * RATE_HZ:
                        raise self._too_long()
                    yield block
            for block in mixer.resample(None):
                length += len(block)
                yield block
            stated = container.duration
            if stated is not None and length / RATE_HZ < stated / av.time_base - LENGTH_TOLERANCE_S:
                self.complete = False

    def _refuse_too_long(self, container: InputContainer) -> None:
        """Raise AudioTooLong if the length that the file states is clearly too long; `blocks` counts precisely."""
        if container.duration is not None and container.duration / av.time_base > self._max_s * 1.02 + 1:
            raise self._too_long()

    def _too_long(self) -> AudioTooLong:
        return AudioTooLong(f"The recording is longer than {self._max_s:g} s, which is the most one answer may take.")

    def _frames(self, container: InputContainer) -> Iterator[AudioFrame]:
        """The decoded frames of the first audio stream, without damaged packets; too many of these end it."""
        stream = next(iter(container.streams.audio), None)
        if stream is None:
            raise AudioFormat("There is no sound in this recording.")
        bad = 0
        packets = container.demux(stream)
        while bad <= MAX_BAD_PACKETS:
            try:
                packet = next(packets)
                frames = packet.decode()
            except StopIteration:
                return
            except MemoryError:
                raise
            except (av.FFmpegError, ValueError):
                self.complete = False
                bad += 1
                continue
            bad = 0
            for frame in frames:
                if frame.samples:
                    yield frame


class MonoResampler:
    """Converts frames of any rate, format and number of channels to mono int16.

    The channels are averaged; rate, format and channels may change within a file.

    Args:
        rate_hz: of what comes out.
    """

    def __init__(self, rate_hz: int = RATE_HZ) -> None:
        self._rate_hz = rate_hz
        self._shape: tuple[str, int, int] | None = None
        self._resampler: AudioResampler | None = None
        self._channels = 1

    def resample(self, frame: AudioFrame | None) -> Iterator[Samples]:
        """Add a frame; yields the blocks that are ready. None flushes."""
        if frame is not None:
            frame.pts = None
            shape = (frame.format.name, frame.sample_rate, frame.layout.nb_channels)
            if shape != self._shape:
                yield from self._run(None)
                self._shape, self._channels = shape, frame.layout.nb_channels
                layout = "mono" if self._channels <= 2 else frame.layout.name
                self._resampler = AudioResampler(format="s16", layout=layout, rate=self._rate_hz)
        yield from self._run(frame)

    def _run(self, frame: AudioFrame | None) -> Iterator[Samples]:
        if self._resampler is None:
            return
        for out in self._resampler.resample(frame):
            block = out.to_ndarray().reshape(-1)
            if self._channels > 2:
                block = block.reshape(-1, self._channels).mean(axis=1).astype(np.int16)
            yield np.ascontiguousarray(block, dtype=np.int16)
