"""Recognise what a file is from its first bytes. Never trusts a name, never decodes a sample.

The members of `Container` are the only demuxers that are ever opened, so playlists and scripts
that name other files have no way in. Whether a recognised recording is whole is not known here.
"""

import codecs
import os
from enum import StrEnum
from typing import BinaryIO

from moss_demo.engine.mpeg_frames import ac3_chain, adts_chain, mpeg_layer

HEAD_BYTES = 65_536
"""How much is read to recognise a file: several frames of every streamed codec fit."""

_MAX_ID3_TAGS = 4
_TS_PACKET_BYTES = (188, 192, 204)


class Container(StrEnum):
    """What may be opened; each value is the name of FFmpeg's demuxer for it."""

    AAC = "aac"
    AC3 = "ac3"
    EAC3 = "eac3"
    AIFF = "aiff"
    AMR = "amr"
    AMR_NB = "amrnb"
    AMR_WB = "amrwb"
    APE = "ape"
    ASF = "asf"
    AU = "au"
    AVI = "avi"
    CAF = "caf"
    DSF = "dsf"
    DTS = "dts"
    FLAC = "flac"
    FLV = "flv"
    G722 = "g722"
    GSM = "gsm"
    IFF = "iff"
    LOAS = "loas"
    MATROSKA = "matroska"
    MOV = "mov"
    MP3 = "mp3"
    MPC = "mpc"
    MPC8 = "mpc8"
    MPEG = "mpeg"
    MPEG_TS = "mpegts"
    MXF = "mxf"
    NIST = "nistsphere"
    NUT = "nut"
    OGG = "ogg"
    REAL = "rm"
    SOX = "sox"
    TAK = "tak"
    TTA = "tta"
    VOC = "voc"
    W64 = "w64"
    WAV = "wav"
    WAVPACK = "wv"
    XWMA = "xwma"


_MAGIC: tuple[tuple[int, bytes, Container], ...] = (
    (0, b"fLaC", Container.FLAC),
    (0, b"OggS", Container.OGG),
    (0, b"\x1aE\xdf\xa3", Container.MATROSKA),
    (0, b".snd", Container.AU),
    (0, b"caff", Container.CAF),
    (0, b"#!AMR", Container.AMR),
    (0, bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c"), Container.ASF),
    (0, bytes.fromhex("726966662e91cf11a5d628db04c10000"), Container.W64),
    (0, b"FLV\x01", Container.FLV),
    (0, b"MAC ", Container.APE),
    (0, b"nut/multimedia container\x00", Container.NUT),
    (0, b".SoX", Container.SOX),
    (0, b"XoS.", Container.SOX),
    (0, bytes.fromhex("060e2b34020501010d010201"), Container.MXF),
    (0, b"wvpk", Container.WAVPACK),
    (0, b"TTA1", Container.TTA),
    (0, b"tBaK", Container.TAK),
    (0, b"MPCK", Container.MPC8),
    (0, b"MP+", Container.MPC),
    (0, b".RMF", Container.REAL),
    (0, b"DSD ", Container.DSF),
    (0, b"NIST_1A", Container.NIST),
    (0, b"Creative Voice File\x1a", Container.VOC),
    (0, b"\x00\x00\x01\xba", Container.MPEG),
    (0, b"\x7f\xfe\x80\x01", Container.DTS),
    *((4, atom, Container.MOV) for atom in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")),
)

_FORMS: dict[tuple[bytes, bytes], Container] = {
    **{(riff, b"WAVE"): Container.WAV for riff in (b"RIFF", b"RIFX", b"RF64", b"BW64")},
    (b"RIFF", b"AVI "): Container.AVI,
    (b"RIFF", b"XWMA"): Container.XWMA,
    (b"FORM", b"AIFF"): Container.AIFF,
    (b"FORM", b"AIFC"): Container.AIFF,
    (b"FORM", b"8SVX"): Container.IFF,
    (b"FRM8", b"\x00\x00\x00\x00"): Container.IFF,
}

_HEADERLESS: dict[str, Container] = {
    ".amr": Container.AMR_NB,
    ".awb": Container.AMR_WB,
    ".g722": Container.G722,
    ".gsm": Container.GSM,
}

_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"#extm3u", "a playlist"),
    (b"ffconcat", "a playlist"),
    (b"[playlist]", "a playlist"),
    (b"[reference]", "a playlist"),
    (b"<asx", "a playlist"),
    (b"<smil", "a playlist"),
    (b"<mpd", "a playlist"),
    (b"v=0\r\n", "a session description"),
    (b"v=0\n", "a session description"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"\x89png", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"gif8", "a picture"),
    (b"bm", "a picture"),
    (b"%pdf", "a PDF document"),
    (b"pk\x03\x04", "an archive or office document"),
    (b"\x1f\x8b", "an archive"),
    (b"rar!", "an archive"),
    (b"7z\xbc\xaf", "an archive"),
    (b"mthd", "a MIDI score"),
)


def recognise(file: BinaryIO) -> Container | None:
    """Name the container of a file, looking behind any ID3 tags.

    Args:
        file: opened for reading in binary mode; its position is moved.

    Returns:
        The container, or None when the content is none of those that may be opened.
    """
    head = head_behind_tags(file)
    return _by_magic(head) or _by_frames(head)


def head_behind_tags(file: BinaryIO) -> bytes:
    """Read the first bytes behind any ID3 tags; the file's position is moved."""
    start = 0
    head = _read_at(file, start)
    for _ in range(_MAX_ID3_TAGS):
        if head[:3] != b"ID3" or len(head) < 10:
            break
        start += 10 + id3_body_bytes(head)
        head = _read_at(file, start)
    return head


def headerless(suffixes: tuple[str, ...]) -> Container | None:
    """Name the codec without a header that a file extension stands for, or None."""
    found = (_HEADERLESS.get(suffix.lower()) for suffix in suffixes)
    return next((container for container in found if container is not None), None)


def foreign_kind(head: bytes) -> str | None:
    """Say what a file is that is not a recording, or None when it could be headerless audio.

    Args:
        head: the first bytes of the file.

    Returns:
        A noun phrase such as "a picture".
    """
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for magic, kind in _FOREIGN:
        if text.startswith(magic):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "a picture"
    if text.startswith(b"<?xml"):
        return "a playlist" if b"<mpd" in text[:1024] else "a text file"
    return "a text file" if _is_text(head) else None


def id3_body_bytes(head: bytes) -> int:
    """Return the length of an ID3v2 tag behind its 10-byte header (7 bits a byte)."""
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return size + (10 if head[5] & 0x10 else 0)


def _read_at(file: BinaryIO, offset: int) -> bytes:
    file.seek(offset, os.SEEK_SET)
    return file.read(HEAD_BYTES)


def _by_magic(head: bytes) -> Container | None:
    if (form := _FORMS.get((head[:4], head[8:12]))) is not None:
        return form
    for offset, magic, container in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return container
    return None


def _by_frames(head: bytes) -> Container | None:
    """Recognise codecs that have no file header by a chain of consistent frame headers."""
    if (bitstream := ac3_chain(head)) is not None:
        return Container.EAC3 if bitstream > 10 else Container.AC3
    for size in _TS_PACKET_BYTES:
        offset = 4 if size == 192 else 0
        syncs = head[offset : offset + 5 * size : size]
        if len(syncs) == 5 and set(syncs) == {0x47}:
            return Container.MPEG_TS
    if len(head) > 2 and head[0] == 0x56 and head[1] & 0xE0 == 0xE0:
        return Container.LOAS
    if adts_chain(head):
        return Container.AAC
    return None if mpeg_layer(head) is None else Container.MP3


def _is_text(head: bytes) -> bool:
    """Tell whether bytes read as UTF-8 or marked UTF-16 text without control characters."""
    marked = head[:2] in (b"\xff\xfe", b"\xfe\xff")
    decoder = codecs.getincrementaldecoder("utf-16" if marked else "utf-8")()
    try:
        text = decoder.decode(head)  # a character cut by the end of the sample is left out
    except UnicodeDecodeError:
        return False
    return all(char.isprintable() or char in "\t\r\n\f\ufeff" for char in text)
