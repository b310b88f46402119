"""The chunks of a RIFF/WAVE file in front of its samples. Reads no sample and no other format."""

import os
from dataclasses import dataclass
from typing import BinaryIO, Literal

_PCM = 1
_IEEE_FLOAT = 3
_EXTENSIBLE = 0xFFFE
_MAX_CHUNKS = 256
_STREAMED = (0, 0xFFFFFFFF)
"""Data sizes of writers that could not come back to fill them in."""


@dataclass(frozen=True, slots=True)
class WavHeader:
    """What the header states.

    Attributes:
        form: four letters at the start: RIFF, RIFX, RF64 or BW64.
        codec: format tag, the one inside an extensible header included.
        bits: bits a sample.
        data_bytes: stated size of the samples, or None when written by a pipe.
        missing_bytes: how much of that the file lacks.
    """

    form: str
    codec: int
    bits: int
    data_bytes: int | None
    missing_bytes: int

    @property
    def plain(self) -> bool:
        """Whether samples are uncompressed, of a width that players know, and counted."""
        known = (_PCM, 8), (_PCM, 16), (_PCM, 24), (_PCM, 32), (_IEEE_FLOAT, 32)
        return (self.codec, self.bits) in known and self.data_bytes is not None


def read_wav_header(file: BinaryIO) -> WavHeader | None:
    """Walk the chunks up to the samples.

    Args:
        file: opened for reading in binary mode, at its beginning.

    Returns:
        The header, or None when the file has no format or no data chunk.
    """
    head = file.read(12)
    order: Literal["big", "little"] = "big" if head[:4] == b"RIFX" else "little"
    size_64: int | None = None
    codec = bits = -1
    for _ in range(_MAX_CHUNKS):
        chunk = file.read(8)
        if len(chunk) < 8:
            return None
        name, size = chunk[:4], int.from_bytes(chunk[4:], order)
        if name == b"data":
            if codec < 0:
                return None
            stated = size_64 if size == 0xFFFFFFFF and size_64 else size
            left = os.fstat(file.fileno()).st_size - file.tell()
            known = None if stated in _STREAMED else stated
            missing = 0 if known is None else max(0, known - left)
            return WavHeader(head[:4].decode("latin-1"), codec, bits, known, missing)
        body = file.read(min(size, 64))
        if name == b"fmt " and len(body) >= 16:
            codec, bits = (int.from_bytes(body[at : at + 2], order) for at in (0, 14))
            if codec == _EXTENSIBLE and len(body) >= 26:
                codec = int.from_bytes(body[24:26], order)
        if name == b"ds64" and len(body) >= 16:
            size_64 = int.from_bytes(body[8:16], "little")
        file.seek(size + size % 2 - len(body), os.SEEK_CUR)
    return None
