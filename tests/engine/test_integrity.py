"""Damage and missing ends are seen in the framing, before a decoder papers over them."""

from pathlib import Path

import pytest

from moss_demo.engine.containers import Container
from moss_demo.engine.integrity import Integrity, inspect, ogg_checksum
from tests.engine.recordings import encode, pcm, spoken, wav_bytes

FRAMED = [
    ("a.wav", "", Container.WAV),
    ("a.wav", "-rf64 always", Container.WAV),
    ("a.aiff", "", Container.AIFF),
    ("a.au", "", Container.AU),
    ("a.mp3", "", Container.MP3),
    ("a.mp3", "-write_xing 0 -id3v2_version 0", Container.MP3),
    ("a.mp3", "-ar 44100 -q:a 4 -write_id3v1 1 -metadata title=x", Container.MP3),
    ("a.ogg", "-c:a libvorbis", Container.OGG),
    ("a.ogg", "-c:a libopus", Container.OGG),
]


@pytest.mark.parametrize(("name", "options", "container"), FRAMED, ids=lambda value: str(value))
def test_whole_files_are_whole_and_cut_ones_are_not(
    tmp_path: Path, name: str, options: str, container: Container
) -> None:
    """No false alarm for what FFmpeg writes, and none missed when four tenths are gone."""
    path = encode(tmp_path, name, *options.split())
    assert inspect(path, container) == Integrity()
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])
    assert inspect(path, container) == Integrity(cut_short=True)


@pytest.mark.parametrize(("name", "options", "container"), FRAMED[4:], ids=lambda value: str(value))
def test_broken_frames_are_seen(
    tmp_path: Path, name: str, options: str, container: Container
) -> None:
    """A hole in the middle breaks the chain of frames or a page's sum."""
    path = encode(tmp_path, name, *options.split())
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = bytes(range(1, 251)) * 8
    path.write_bytes(content)
    assert inspect(path, container).damaged


def test_a_damaged_mp3_header_of_any_length_is_no_surprise(tmp_path: Path) -> None:
    """Cutting a file anywhere never raises."""
    for name, container in (("a.mp3", Container.MP3), ("a.ogg", Container.OGG)):
        whole = encode(tmp_path, name).read_bytes()
        for length in range(1, 1_500, 7):
            (tmp_path / "b").write_bytes(whole[:length])
            inspect(tmp_path / "b", container)


@pytest.mark.parametrize("stated", [0, 0xFFFFFFFF])
def test_unstated_sizes_are_no_shortage(tmp_path: Path, stated: int) -> None:
    """A pipe's header promises nothing, so nothing is missing."""
    path = tmp_path / "a.wav"
    path.write_bytes(wav_bytes(pcm(spoken()), stated=stated))
    assert inspect(path, Container.WAV) == Integrity()


def test_the_page_sum_is_that_of_the_norm() -> None:
    """CRC-32/MPEG-2's polynomial from zero: the catalogued check value of CRC-32/CKSUM's kind."""
    register = 0
    for byte in b"OggS page":
        register ^= byte << 24
        for _ in range(8):
            register = (register << 1) ^ (0x04C11DB7 if register & 0x80000000 else 0)
        register &= 0xFFFFFFFF
    assert ogg_checksum(b"OggS page") == register
