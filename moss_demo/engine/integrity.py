"""Tell from the framing alone whether a recording is damaged or cut short. Decodes nothing.

Decoders hide such things: they resynchronise, conceal, or believe the header. What only a
decoder can notice is not known here.
"""

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from moss_demo.engine.containers import Container, id3_body_bytes
from moss_demo.engine.mpeg_frames import mpeg_frame
from moss_demo.engine.wav_header import read_wav_header

_SLACK_BYTES = 64
"""Writers disagree about padding and about counting their own header."""

_BIT_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


@dataclass(frozen=True, slots=True)
class Integrity:
    """What the framing says.

    Attributes:
        damaged: some passage in the middle cannot be what was written.
        cut_short: the file ends before the recording does.
        uncounted: nothing states its length, and what readers guess from its beginning is wrong.
    """

    damaged: bool = False
    cut_short: bool = False
    uncounted: bool = False


def inspect(path: Path, container: Container) -> Integrity:
    """Check the framing of a recording; containers without a rule here count as whole."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        match container:
            case Container.MP3:
                return _inspect_mp3(file, size)
            case Container.OGG:
                return _inspect_ogg(file)
            case Container.WAV:
                header = read_wav_header(file)
                missing = 0 if header is None else header.missing_bytes
                return Integrity(cut_short=missing > _SLACK_BYTES)
            case Container.AIFF | Container.AU:
                declared = _declared_bytes(file.read(12), container)
                return Integrity(cut_short=declared > size + _SLACK_BYTES)
    return Integrity()


def _declared_bytes(head: bytes, container: Container) -> int:
    """Return the size that an AIFF or AU header states, 0 when it states none."""
    if container is Container.AIFF:
        return 8 + int.from_bytes(head[4:8], "big")
    data_bytes = int.from_bytes(head[8:12], "big")
    return 0 if data_bytes == 0xFFFFFFFF else int.from_bytes(head[4:8], "big") + data_bytes


def _inspect_mp3(file: BinaryIO, size: int) -> Integrity:
    """Follow the chain of frames from the first to the last."""
    position = _behind_id3(file)
    streams, frames, promised = set(), 0, None
    bit_rates: set[int] = set()
    while position < size - 3:
        file.seek(position)
        frame = mpeg_frame(head := file.read(4))
        if frame is None:
            whole = head[:3] in (b"TAG", b"APE", b"LYR") or not any(head)
            return Integrity(damaged=not whole, uncounted=promised is None and len(bit_rates) > 1)
        if frames == 0:
            promised = _promised_frames(head + file.read(frame.size_bytes - 4))
        streams.add(frame.stream)
        bit_rates.add(head[2] >> 4)
        frames += 1
        position += frame.size_bytes
    missing = promised is not None and promised > 1.01 * frames + 1
    return Integrity(
        damaged=len(streams) > 1,
        cut_short=position > size or missing,
        uncounted=promised is None and len(bit_rates) > 1,
    )


def _behind_id3(file: BinaryIO) -> int:
    position = 0
    while len(head := file.read(10)) == 10 and head[:3] == b"ID3":
        position += 10 + id3_body_bytes(head)
        file.seek(position)
    return position


def _promised_frames(frame: bytes) -> int | None:
    """Return the number of frames that a Xing or LAME header in the first frame states."""
    at = max(frame.find(b"Xing", 0, 64), frame.find(b"Info", 0, 64))
    if at < 0 or len(frame) < at + 12 or not frame[at + 7] & 1:
        return None
    return int.from_bytes(frame[at + 8 : at + 12], "big")


def _inspect_ogg(file: BinaryIO) -> Integrity:
    """Check every page's sum, and whether the last page of a stream says that it is the last.

    A stream that begins behind the end of another is a recording of its own, which readers of the
    first one's length never reach.
    """
    last_flags, chained = 0, False
    while True:
        header = file.read(27)
        if len(header) < 27 or header[:4] != b"OggS":
            cut_short = not last_flags & 4 or header[:4] == b"OggS"
            damaged = len(header) == 27 and header[:4] != b"OggS"
            return Integrity(damaged, cut_short, chained)
        lacing = file.read(header[26])
        body = file.read(sum(lacing))
        if len(lacing) < header[26] or len(body) < sum(lacing):
            return Integrity(cut_short=True)
        blank = header[:22] + bytes(4) + header[26:]
        if ogg_checksum(blank + lacing + body) != int.from_bytes(header[22:26], "little"):
            return Integrity(damaged=True)
        chained |= bool(last_flags & 4 and header[5] & 2)
        last_flags = header[5]


def ogg_checksum(page: bytes) -> int:
    """Compute the page sum of RFC 3533: CRC-32 0x04c11db7, most significant bit first, from 0.

    `zlib.crc32` has the same polynomial with the bits the other way round and both ends inverted.
    """
    reflected = zlib.crc32(page.translate(_BIT_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{reflected:032b}"[::-1], 2)
