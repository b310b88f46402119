"""Every clip can be listened to: the original where browsers play it, else a copy."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from moss_demo.domain.audio import AudioClip
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.playback import browser_plays, playable_copy
from tests.engine.recordings import encode, ffmpeg, pcm, spoken, wav_bytes, write_wav

PLAYED = [
    ("a.wav", ""),
    ("a.wav", "-c:a pcm_s24le"),
    ("a.wav", "-c:a pcm_f32le"),
    ("a.mp3", ""),
    ("a.flac", ""),
    ("a.ogg", "-c:a libopus"),
    ("a.ogg", "-c:a libvorbis"),
    ("a.m4a", "-c:a aac"),
    ("a.webm", "-c:a libopus"),
    ("a.webm", "-c:a libvorbis"),
]
NOT_PLAYED = [
    ("a.wav", "-c:a adpcm_ima_wav"),
    ("a.wav", "-c:a pcm_f64le"),
    ("a.wav", "-ar 8000 -c:a libgsm_ms"),
    ("a.wav", "-rf64 always"),
    ("a.mp2", "-ar 44100"),
    ("a.ogg", "-c:a libspeex"),
    ("a.m4a", "-c:a alac"),
    ("a.mov", "-c:a aac"),
    ("a.mkv", "-c:a libopus"),
    ("a.aiff", ""),
    ("a.au", ""),
    ("a.caf", "-c:a pcm_s16le"),
    ("a.ac3", "-ar 48000"),
    ("a.wma", ""),
]


@pytest.mark.parametrize(("name", "options"), PLAYED)
def test_common_formats_are_played_as_they_are(tmp_path: Path, name: str, options: str) -> None:
    """No copy is made of what every browser plays, whatever it is called."""
    path = encode(tmp_path, name, *options.split())
    assert browser_plays(path)
    assert browser_plays(path.rename(tmp_path / "renamed.xyz"))


@pytest.mark.parametrize(("name", "options"), NOT_PLAYED)
def test_the_rest_needs_a_copy(tmp_path: Path, name: str, options: str) -> None:
    """The codec counts and not only the container."""
    assert not browser_plays(encode(tmp_path, name, *options.split()))


def test_what_cannot_be_judged_needs_a_copy(tmp_path: Path) -> None:
    """Missing files, text, uncounted WAV and files of several tracks are not promised to play."""
    assert not browser_plays(tmp_path / "gone.wav")
    (tmp_path / "a.wav").write_text("text")
    assert not browser_plays(tmp_path / "a.wav")
    (tmp_path / "b.wav").write_bytes(wav_bytes(pcm(spoken()), stated=0))
    assert not browser_plays(tmp_path / "b.wav")
    source = ["-i", str(write_wav(tmp_path / "s.wav", spoken()))]
    maps = ["-map", "0", "-map", "1", "-c:a", "aac"]
    assert not browser_plays(ffmpeg(*source, *source, *maps, target=tmp_path / "two.mp4"))


def test_a_copy_is_16_bit_wav_and_made_once(tmp_path: Path) -> None:
    """The copy has the sound of the clip, a harmless name, and is found again."""
    clip = AudioClip('../"évil".amr', spoken())
    copy = playable_copy(clip, tmp_path)
    assert (copy.parent, copy.suffix) == (tmp_path, ".wav")
    assert browser_plays(copy)
    assert np.array_equal(read_audio(copy).samples, spoken())
    written = copy.stat().st_mtime_ns
    assert playable_copy(clip, tmp_path).stat().st_mtime_ns == written
    assert list(tmp_path.iterdir()) == [copy]


def test_a_long_copy_is_flac(tmp_path: Path) -> None:
    """Ninety minutes of WAV would be 173 MB."""
    copy = playable_copy(AudioClip("long", np.zeros(601 * 16_000, np.float32)), tmp_path)
    assert copy.suffix == ".flac"
    assert soundfile.info(copy).frames == 601 * 16_000


def test_loud_clips_are_clipped_and_never_wrapped(tmp_path: Path) -> None:
    """A codec's overshoot becomes full scale."""
    loud = 1.3 * np.sin(np.arange(16_000, dtype=np.float32) / 9)
    copied = read_audio(playable_copy(AudioClip("loud", loud), tmp_path)).samples
    assert np.abs(copied - np.clip(loud, -1, 1)).max() < 1e-4
