"""Content is recognised by content, and nothing that is no recording gets near a decoder."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.engine.containers import Container, foreign_kind, headerless, recognise
from moss_demo.engine.pyav_source import pyav_source
from moss_demo.engine.sound_source import UnreadableError
from tests.engine.recordings import encode, pcm, spoken, wav_bytes, write_wav


@given(st.binary(max_size=300))
def test_any_bytes_are_judged_without_an_error(content: bytes) -> None:
    """Whatever is uploaded gets an answer."""
    recognise(io.BytesIO(content))
    foreign_kind(content)


def test_raw_samples_and_noise_are_not_mistaken_for_a_stream() -> None:
    """Sync words turn up in any noise; a chain of frames does not."""
    rng = np.random.default_rng(3)
    for content in (pcm(spoken()), *(rng.bytes(100_000) for _ in range(20))):
        assert recognise(io.BytesIO(content)) is None
        assert foreign_kind(content) is None


def test_streams_are_found_behind_tags_and_in_the_middle_of_a_frame(tmp_path: Path) -> None:
    """Cover pictures in front and a start within a frame are everyday."""
    mp3 = encode(tmp_path, "a.mp3", "-id3v2_version", "0", "-write_xing", "0").read_bytes()
    tag = b"ID3\x03\x00\x00" + bytes([0, 0, 40, 0]) + bytes(40 << 7)
    flac = encode(tmp_path, "a.flac").read_bytes()
    for content, container in (
        (mp3, Container.MP3),
        (mp3[100:], Container.MP3),
        (bytes(1000) + mp3, Container.MP3),
        (tag + mp3, Container.MP3),
        (tag + tag + flac, Container.FLAC),
        (tag + wav_bytes(pcm(spoken())), Container.WAV),
    ):
        assert recognise(io.BytesIO(content)) is container


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"#EXTM3U\n", "a playlist"),
        (b"\xef\xbb\xbf#extm3u\r\n", "a playlist"),
        (b"\n  ffconcat version 1.0\n", "a playlist"),
        (b'<?xml version="1.0"?>\n<MPD>', "a playlist"),
        (b'<?xml version="1.0"?>\n<note/>', "a text file"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a picture"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "a picture"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF document"),
        (b"PK\x03\x04\x14\x00", "an archive or office document"),
        ("会议记录".encode(), "a text file"),
        ("会议记录".encode()[:-1], "a text file"),
    ],
)
def test_what_is_no_recording_is_named(content: bytes, kind: str) -> None:
    """The message can say what the person chose by mistake."""
    assert recognise(io.BytesIO(content)) is None
    assert foreign_kind(content) == kind


def test_headerless_codecs_go_by_the_first_extension_that_is_known() -> None:
    """The stored name may have lost the extension that the shown one has."""
    assert headerless((".bin", ".G722")) is Container.G722
    assert headerless((".wav", "")) is None


HEADERLESS = (Container.G722, Container.GSM, Container.AMR_NB, Container.AMR_WB)
"""These take any bytes for sound, the text of a playlist included, and open nothing."""


@pytest.mark.parametrize("container", [c for c in Container if c not in HEADERLESS])
def test_no_demuxer_on_the_list_follows_a_playlist(tmp_path: Path, container: Container) -> None:
    """Even forced upon a playlist, a demuxer that may be used opens no other file."""
    other = write_wav(tmp_path / "other.wav", spoken())
    playlist = tmp_path / "a.m3u8"
    for script in (
        "#EXTM3U\n#EXTINF:6,\n{}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '{}'\n",
    ):
        playlist.write_text(script.format(other))
        try:
            with pyav_source(playlist, container, 0) as source:
                assert sum(len(block.samples) for block in source.blocks) == 0
        except (UnreadableError, IndexError):
            pass
