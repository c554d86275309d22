"""Reads the tensors of an ONNX file and writes ONNX models, as far as this needs the format.

MalformedModel      the bytes are no ONNX model, or a tensor has a type or a form that is not read here
Source of the field numbers: onnx.proto of the ONNX project, IR version 8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype("<f4"),
    2: np.dtype("u1"),
    3: np.dtype("i1"),
    6: np.dtype("<i4"),
    7: np.dtype("<i8"),
}
"""Types of elements by their number in the format."""
NUMBERS = {dtype: number for number, dtype in TYPES.items()}
OPSET = 17
"""Version of the standard operators that models are written for."""
CONTRIBUTED = "com.microsoft"
"""Domain of the operators that onnxruntime adds."""
_IR_VERSION = 8
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Attribute = int | float | Sequence[int]


class MalformedModel(ValueError):
    """Bytes that are no ONNX model, or one with tensors that are not read here."""


def tensors(model: bytes) -> dict[str, NDArray[Any]]:
    """The stored tensors of a model by name, in the order of the file; those of other types than TYPES are left out.

    Raises:
        MalformedModel: the bytes are no ONNX model.
    """
    found: dict[str, NDArray[Any]] = {}
    for number, graph in _fields(memoryview(model)):
        if number == 7 and isinstance(graph, memoryview):
            for kind, value in _fields(graph):
                if kind == 5 and isinstance(value, memoryview):
                    name, array = _tensor(value)
                    if array is not None:
                        found[name] = array
    return found


class GraphWriter:
    """A model that is put together node by node.

    Args:
        inputs: names of the inputs, whole numbers (int64) of shape [batch, length].
    """

    def __init__(self, inputs: Sequence[str]) -> None:
        self._inputs = inputs
        self._nodes: list[bytes] = []
        self._weights: dict[str, bytes] = {}

    def weight(self, name: str, value: NDArray[Any] | float, dtype: Any = None) -> str:
        """Store a tensor, the first time that its name comes. Returns the name."""
        if name not in self._weights:
            array = np.asarray(value, dtype=dtype)
            number = NUMBERS[array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype]
            shape = b"".join(_number(1, size) for size in array.shape)
            content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
            self._weights[name] = shape + _number(2, number) + _text(8, name) + _block(9, content)
        return name

    def node(
        self, operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Attribute
    ) -> str:
        """Add an operation. Returns the name of its first output."""
        parts = [
            *(_text(1, name) for name in inputs),
            *(_text(2, name) for name in outputs),
            _text(3, outputs[0]),
            _text(4, operator),
            *(_block(5, _attribute(name, value)) for name, value in attributes.items()),
            _text(7, domain),
        ]
        self._nodes.append(b"".join(parts))
        return outputs[0]

    def model(self, output: str) -> bytes:
        """The whole model, with this as its output: float32 of shape [batch, length, any]."""
        graph = [
            *(_block(1, node) for node in self._nodes),
            _text(2, "graph"),
            *(_block(5, weight) for weight in self._weights.values()),
            *(_block(11, _value(name, 7, ("batch", "length"))) for name in self._inputs),
            _block(12, _value(output, 1, ("batch", "length", "width"))),
        ]
        sets = [
            _block(8, _text(1, domain) + _number(2, version)) for domain, version in (("", OPSET), (CONTRIBUTED, 1))
        ]
        return b"".join([_number(1, _IR_VERSION), _block(7, b"".join(graph)), *sets])


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and content of each field of a message."""
    at = 0
    try:
        while at < len(data):
            key, at = _varint(data, at)
            number, wire = key >> 3, key & 7
            if wire == _VARINT:
                value, at = _varint(data, at)
                yield number, value
                continue
            size = {_FIXED64: 8, _FIXED32: 4}.get(wire)
            if wire == _BYTES:
                size, at = _varint(data, at)
            if size is None or at + size > len(data):
                raise MalformedModel("the file is no ONNX model, or it is cut off")
            yield number, data[at : at + size]
            at += size
    except IndexError as exc:
        raise MalformedModel("the file is no ONNX model, or it is cut off") from exc


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise MalformedModel("the file is no ONNX model, or it is cut off")


def _tensor(data: memoryview) -> tuple[str, NDArray[Any] | None]:
    """Name and content of a tensor; no content where it is of another type or not stored as raw bytes."""
    shape: list[int] = []
    name, number, raw = "", 0, memoryview(b"")
    for kind, value in _fields(data):
        if isinstance(value, int):
            if kind == 1:
                shape.append(value)
            elif kind == 2:
                number = value
        elif kind == 1:
            at = 0
            while at < len(value):
                size, at = _varint(value, at)
                shape.append(size)
        elif kind == 8:
            name = bytes(value).decode("utf-8", "replace")
        elif kind == 9:
            raw = value
    dtype = TYPES.get(number)
    if dtype is None or len(raw) != dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
        return name, None
    return name, np.frombuffer(raw, dtype=dtype).reshape(shape)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _tag(2, _FIXED32) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    return _text(1, name) + b"".join(_number(8, one) for one in value) + _number(20, 7)


def _value(name: str, element: int, shape: Sequence[str]) -> bytes:
    sizes = b"".join(_block(1, _text(2, size)) for size in shape)
    return _text(1, name) + _block(2, _block(1, _number(1, element) + _block(2, sizes)))


def _tag(number: int, wire: int) -> bytes:
    return _encoded(number << 3 | wire)


def _number(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _encoded(value & (1 << 64) - 1)


def _text(number: int, value: str) -> bytes:
    return _block(number, value.encode())


def _block(number: int, content: bytes) -> bytes:
    return _tag(number, _BYTES) + _encoded(len(content)) + content


def _encoded(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
