"""The GGUF container, versions 2 and 3: metadata and the place of every tensor. Knows no model.

Every count, length and offset is compared with the size of the file before it is believed, since a
file from anywhere may claim anything. Tensors are read one by one when they are wanted.
"""

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from moss_demo.engine.weights.packages import gguf
from moss_demo.errors import CheckpointError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MOST_DIMENSIONS = 4
LARGEST_ALIGNMENT = 1 << 20
MOST_ELEMENTS = 1 << 22
"""Of a list; the published vocabulary has 151,936."""

LEAST_TENSOR_BYTES = 24
"""Bytes that the description of a tensor takes at least."""

_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
"""`struct` codes of metadata values by the number of their type."""

_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """Where a tensor lies.

    Attributes:
        shape: sizes, the outermost first as in torch; the file has them the other way round.
        type_number: number of its type in ggml.
        offset: bytes from the begin of the file.
        size_bytes: bytes in the file.
    """

    shape: tuple[int, ...]
    type_number: int
    offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True, eq=False)
class GgufFile:
    """A file that was looked through.

    Attributes:
        path: where it is.
        metadata: values by key; arrays are lists.
        tensors: places by name.
    """

    path: Path
    metadata: dict[str, Any]
    tensors: dict[str, TensorEntry]

    def read(self, name: str) -> np.ndarray:
        """Read a tensor as fp32.

        Raises:
            CheckpointError: the file has changed, or nobody unpacks this type here.
        """
        entry = self.tensors[name]
        kind = gguf().GGMLQuantizationType(entry.type_number)
        try:
            packed = np.fromfile(self.path, np.uint8, entry.size_bytes, offset=entry.offset)
            rows = packed.reshape(*entry.shape[:-1], -1)
            values: np.ndarray = gguf().dequantize(rows, kind)
        except NotImplementedError as error:
            raise CheckpointError(
                self.path,
                f" holds {name} as {kind.name}, which cannot be unpacked here; use a file in F32, "
                "F16, BF16 or a usual block type.",
            ) from error
        except (OSError, ValueError) as error:
            raise _damaged(self.path, f"{name} cannot be read") from error
        return values.reshape(entry.shape)


def is_gguf(path: Path) -> bool:
    """Tell whether a path is a file that begins as GGUF does."""
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def read_gguf(path: Path) -> GgufFile:
    """Read the header of a file.

    Raises:
        CheckpointError: the file is missing, is no GGUF file of a known version, or is damaged.
    """
    try:
        with path.open("rb") as file:
            return _Header(path, file).read()
    except OSError as error:
        raise CheckpointError(path, f" cannot be read ({error.strerror}).") from error


class _Header:
    """Reads from the begin of a file on, never beyond its end."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._size = file.seek(0, 2)
        file.seek(0)

    def read(self) -> GgufFile:
        if self._take(4) != MAGIC:
            raise CheckpointError(self._path, " is no GGUF file.")
        version = self._number("I")
        if version not in VERSIONS:
            raise CheckpointError(
                self._path,
                f" is a GGUF file of version {version}, and versions 2 and 3 in little endian can "
                "be read; convert it anew.",
            )
        tensor_count, key_count = self._number("Q"), self._number("Q")
        metadata: dict[str, Any] = {}
        for _ in range(self._fitting(key_count, 13)):
            key = self._string()
            metadata[key] = self._value(self._number("I"))
        described = [self._tensor() for _ in range(self._fitting(tensor_count, LEAST_TENSOR_BYTES))]
        begin = self._data_begin(metadata.get("general.alignment", 32))
        tensors: dict[str, TensorEntry] = {}
        for name, shape, type_number, offset in described:
            entry = self._place(name, shape, type_number, begin + offset)
            if tensors.setdefault(name, entry) is not entry:
                raise _damaged(self._path, f"it names {_short(name)} twice")
        return GgufFile(self._path, metadata, tensors)

    def _data_begin(self, alignment: object) -> int:
        if not isinstance(alignment, int) or not 0 < alignment <= LARGEST_ALIGNMENT:
            raise _damaged(self._path, "its alignment is impossible")
        return -(-self._file.tell() // alignment) * alignment

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string()
        dimensions = self._number("I")
        if not 1 <= dimensions <= MOST_DIMENSIONS:
            raise _damaged(self._path, f"{_short(name)} has {dimensions} dimensions")
        shape = tuple(self._number("Q") for _ in range(dimensions))
        return name, shape[::-1], self._number("I"), self._number("Q")

    def _place(
        self, name: str, shape: tuple[int, ...], type_number: int, offset: int
    ) -> TensorEntry:
        try:
            kind = gguf().GGMLQuantizationType(type_number)
        except ValueError as error:
            raise CheckpointError(
                self._path,
                f" holds {_short(name)} in a type that is not known here (number {type_number}).",
            ) from error
        block, block_bytes = gguf().GGML_QUANT_SIZES[kind]
        size_bytes = math.prod(shape) // block * block_bytes
        if not size_bytes or shape[-1] % block or offset + size_bytes > self._size:
            raise _damaged(self._path, f"{_short(name)} does not lie within the file")
        return TensorEntry(shape, type_number, offset, size_bytes)

    def _value(self, type_number: int) -> Any:
        if type_number == _STRING:
            return self._string()
        if type_number == _ARRAY:
            return self._array()
        return self._number(self._code(type_number))

    def _array(self) -> list[Any]:
        type_number, count = self._number("I"), self._number("Q")
        if count > MOST_ELEMENTS:
            raise _damaged(self._path, f"it counts {count} things, more than any model has")
        if type_number == _STRING:
            return [self._string() for _ in range(self._fitting(count, 8))]
        code = self._code(type_number)
        content = self._take(self._fitting(count, 1) * struct.calcsize(f"<{code}"))
        return list(struct.unpack(f"<{count}{code}", content))

    def _code(self, type_number: int) -> str:
        if type_number not in _SCALARS:
            raise _damaged(self._path, f"a value has the unknown type {type_number}")
        return _SCALARS[type_number]

    def _string(self) -> str:
        return self._take(self._number("Q")).decode("utf-8", errors="replace")

    def _number(self, code: str) -> Any:
        return struct.unpack(f"<{code}", self._take(struct.calcsize(f"<{code}")))[0]

    def _fitting(self, count: int, least_bytes: int) -> int:
        """Return a count, unless the rest of the file is too short for as many things."""
        if count * least_bytes > self._size - self._file.tell():
            raise _damaged(self._path, f"it counts {count} things, more than it can hold")
        return count

    def _take(self, count: int) -> bytes:
        if count > self._size - self._file.tell():
            raise _damaged(self._path, "it ends before its header does")
        return self._file.read(count)


def _damaged(path: Path, reason: str) -> CheckpointError:
    return CheckpointError(path, f" is damaged: {reason}; copy the file again.")


def _short(name: str) -> str:
    return repr(name[:80])
