"""Any recording in, one waveform or one sentence out."""

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from moss_demo.engine.audio_files import glance_duration_s, read_audio
from moss_demo.errors import AudioError
from tests.engine.recordings import (
    RATE_HZ,
    encode,
    ffmpeg,
    likeness,
    pcm,
    spoken,
    wav_bytes,
    write_wav,
)

CONTAINERS = [
    ("pcm_s24.wav", "-c:a pcm_s24le", 0.0),
    ("pcm_s32.wav", "-c:a pcm_s32le", 0.0),
    ("float64.wav", "-c:a pcm_f64le", 0.0),
    ("u8.wav", "-c:a pcm_u8", 0.0),
    ("rf64.wav", "-rf64 always", 0.0),
    ("mulaw.wav", "-c:a pcm_mulaw", 0.0),
    ("adpcm.wav", "-c:a adpcm_ima_wav", 0.13),
    ("gsm.wav", "-ar 8000 -c:a libgsm_ms", 0.1),
    ("mp3.wav", "-c:a libmp3lame", 0.15),
    ("long.w64", "", 0.0),
    ("high.flac", "-ar 48000 -sample_fmt s32", 0.0),
    ("music.mp3", "-ar 44100", 0.15),
    ("low.mp3", "-ar 24000 -b:a 32k", 0.15),
    ("layer2.mp2", "-ar 44100", 0.15),
    ("vorbis.ogg", "-c:a libvorbis", 0.01),
    ("opus.ogg", "-c:a libopus", 0.01),
    ("flac.oga", "-c:a flac", 0.0),
    ("speex.spx", "-c:a libspeex", 0.05),
    ("aac.m4a", "-c:a aac", 0.001),
    ("alac.m4a", "-c:a alac", 0.001),
    ("fragments.mp4", "-c:a aac -movflags frag_keyframe+empty_moov", 0.15),
    ("quicktime.mov", "-c:a pcm_s16le", 0.0),
    ("phone.3gp", "-c:a aac", 0.001),
    ("opus.webm", "-c:a libopus", 0.03),
    ("ac3.mka", "-c:a ac3 -ar 48000", 0.05),
    ("flac.mkv", "-c:a flac", 0.01),
    ("pcm.aiff", "", 0.0),
    ("float.aif", "-c:a pcm_f32be", 0.0),
    ("pcm.au", "", 0.0),
    ("pcm.caf", "-c:a pcm_s16le", 0.0),
    ("adts.aac", "-c:a aac", 0.2),
    ("surround.ac3", "-ac 6 -ar 48000", 0.05),
    ("eight.m4a", "-c:a aac -b:a 384k -ac 8", 0.001),
    ("enhanced.eac3", "-ar 48000", 0.05),
    ("windows.wma", "-c:a wmav2 -ar 44100", 0.1),
    ("video.avi", "-c:a libmp3lame", 0.15),
    ("flash.flv", "-c:a aac", 0.2),
    ("broadcast.ts", "-c:a aac", 0.2),
    ("disc.mpg", "-c:a mp2 -ar 44100", 0.1),
    ("pack.wv", "", 0.0),
    ("true.tta", "", 0.0),
    ("blaster.voc", "", 0.01),
]

VOCODED = ("gsm.wav", "speex.spx")
"""Codecs that keep the words and not the waveform."""


@pytest.mark.parametrize(("name", "options", "slack_s"), CONTAINERS, ids=lambda value: str(value))
def test_every_container_gives_the_same_speech(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, options: str, slack_s: float
) -> None:
    """What was said is the same whatever it is wrapped in, and no decoder talks on the console."""
    clip = read_audio(encode(tmp_path, name, *options.split()))
    assert clip.sample_rate == RATE_HZ
    assert clip.duration_s == pytest.approx(6.0, abs=slack_s + 0.001)
    assert likeness(clip.samples, spoken()) > (0.55 if name in VOCODED else 0.95)
    assert clip.warnings == ()
    assert capfd.readouterr() == ("", "")


def test_plain_pcm_arrives_bit_for_bit(tmp_path: Path) -> None:
    """Nothing is done to a recording that needs nothing."""
    clip = read_audio(write_wav(tmp_path / "a.wav", spoken()))
    assert np.array_equal(clip.samples, spoken())


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 22_050, 44_100, 96_000])
def test_every_rate_becomes_16_khz(tmp_path: Path, rate_hz: int) -> None:
    """Telephone and studio rates keep the length and the sound."""
    clip = read_audio(encode(tmp_path, "a.wav", "-ar", str(rate_hz)))
    assert abs(len(clip.samples) - 6 * RATE_HZ) <= 2
    assert likeness(clip.samples, spoken()) > 0.95


@pytest.mark.parametrize(
    "name", ["renamed.wav", "renamed.mp3", "noextension", "A.M4A", "movie.raw"]
)
def test_the_content_decides_and_not_the_name(tmp_path: Path, name: str) -> None:
    """A wrong, missing or misleading extension changes nothing."""
    wav = write_wav(tmp_path / name, spoken())
    assert np.array_equal(read_audio(wav).samples, spoken())
    wav.write_bytes(encode(tmp_path, "b.m4a").read_bytes())
    assert read_audio(wav).duration_s == pytest.approx(6.0, abs=0.001)


@pytest.mark.parametrize(
    "name",
    [
        '会议录音 – Zoë’s "stand-up" №1.wav',
        "-leading-dash.wav",
        "with space & semi;colon $(x).wav",
        "concat:a.wav|b.wav",
        "议" * 83 + ".wav",
        "#EXTM3U",
    ],
)
def test_awkward_names_are_only_names(tmp_path: Path, name: str) -> None:
    """No name is interpreted, by a shell or by a decoder, and the clip carries it."""
    assert read_audio(write_wav(tmp_path / name, spoken())).name == name
    moved = encode(tmp_path, "b.m4a").rename(tmp_path / name)
    assert read_audio(moved).name == name


def test_a_given_name_is_shown_instead_of_the_path(tmp_path: Path) -> None:
    """Uploads lie under names of the server's making; line breaks in a name do not break lines."""
    path = write_wav(tmp_path / "a.wav", spoken())
    assert read_audio(path, name="Budget 2026.m4a").name == "Budget 2026.m4a"
    assert "\n" not in read_audio(path, name="two\nlines").name
    assert read_audio(path, name="lost\udce4byte").name.encode("utf-8")


def test_headerless_codecs_are_opened_by_their_extension(tmp_path: Path) -> None:
    """G.722 has no header at all, so that the name is all there is to go by."""
    path = encode(tmp_path, "a.g722", "-c:a", "g722")
    assert likeness(read_audio(path).samples, spoken()) > 0.9
    upload = path.rename(tmp_path / "upload")
    assert read_audio(upload, name="call.G722").duration_s == pytest.approx(6.0, abs=0.01)
    with pytest.raises(AudioError, match="not a readable audio file"):
        read_audio(upload)


@pytest.mark.parametrize("stated", [0, 0xFFFFFFFF])
def test_files_of_a_pipe_state_no_size(tmp_path: Path, stated: int) -> None:
    """Recorders that cannot seek back leave the size empty; all of the sound is there."""
    path = tmp_path / "a.wav"
    path.write_bytes(wav_bytes(pcm(spoken()), stated=stated))
    clip = read_audio(path)
    assert (len(clip.samples), clip.warnings) == (6 * RATE_HZ, ())


def test_bytes_behind_the_samples_are_not_heard(tmp_path: Path) -> None:
    """Garbage or a second file after the data chunk is no sound."""
    whole = wav_bytes(pcm(spoken()))
    for tail in (b"\x9c\x01" * 2_500, whole):
        (tmp_path / "a.wav").write_bytes(whole + tail)
        assert len(read_audio(tmp_path / "a.wav").samples) == 6 * RATE_HZ


def test_of_several_tracks_the_first_with_sound_is_taken_and_named(tmp_path: Path) -> None:
    """A meeting recorder may leave the first track empty."""
    source = write_wav(tmp_path / "s.wav", spoken())
    silent = write_wav(tmp_path / "n.wav", np.zeros(6 * RATE_HZ, np.float32))
    inputs = ["-i", str(silent), "-i", str(source)]
    two = ffmpeg(*inputs, "-map", "0", "-map", "1", target=tmp_path / "two.mka")
    clip = read_audio(two)
    assert likeness(clip.samples, spoken()) > 0.95
    assert clip.warnings == ("Of 2 audio tracks, track 2 was used; those before it are silent.",)


def test_a_track_that_starts_late_keeps_its_times(tmp_path: Path) -> None:
    """Time stamps agree with what a player shows."""
    source = write_wav(tmp_path / "s.wav", spoken())
    picture = ["-f", "lavfi", "-i", "color=red:s=32x32:r=10:d=8"]
    late = ffmpeg(
        *picture, "-itsoffset", "1.5", "-i", str(source), "-c:a", "flac", target=tmp_path / "a.mkv"
    )
    samples = read_audio(late).samples
    assert not samples[:RATE_HZ].any()
    assert np.allclose(samples[24_000 : 24_000 + 6 * RATE_HZ], spoken(), atol=1e-4)


CUT = [
    ("a.wav", ""),
    ("a.aiff", ""),
    ("a.au", ""),
    ("a.flac", ""),
    ("a.mp3", ""),
    ("a.ogg", "-c:a libopus"),
    ("a.ogg", "-c:a libvorbis"),
    ("a.mp4", "-c:a aac -movflags faststart"),
]


@pytest.mark.parametrize(("name", "options"), CUT, ids=lambda value: str(value))
def test_what_is_there_of_a_cut_file_is_read(tmp_path: Path, name: str, options: str) -> None:
    """An interrupted transfer gives its beginning and a warning."""
    path = encode(tmp_path, name, *options.split())
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])
    clip = read_audio(path)
    assert 2.0 < clip.duration_s < 5.0
    assert likeness(clip.samples, spoken()[: len(clip.samples)]) > 0.9
    assert clip.warnings == ("The file ends before its recording does; what is there was used.",)


@pytest.mark.parametrize(
    ("name", "options"),
    [("a.mp3", ""), ("a.flac", ""), ("a.ogg", "-c:a libopus"), ("a.m4a", "-c:a aac")],
)
def test_damage_in_the_middle_is_skipped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, options: str
) -> None:
    """A few broken frames cost themselves, a warning and not the place of what follows."""
    path = encode(tmp_path, name, *options.split())
    broken = bytearray(path.read_bytes())
    middle = len(broken) // 2
    broken[middle : middle + 300] = np.random.default_rng(5).bytes(300)
    path.write_bytes(broken)
    clip = read_audio(path)
    assert clip.duration_s == pytest.approx(6.0, abs=0.2)
    third = 2 * RATE_HZ
    assert likeness(clip.samples[:third], spoken()[:third]) > 0.9
    assert likeness(clip.samples[-third:], spoken()[-third:]) > 0.9
    assert "Damaged passages were skipped." in clip.warnings
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.wav", "-c:a pcm_f32le"),
        ("a.flac", ""),
        ("a.ogg", "-c:a libvorbis"),
        ("a.m4a", "-c:a aac"),
        ("a.webm", "-c:a libopus"),
        ("a.ts", "-c:a aac"),
        ("a.flv", "-c:a aac"),
        ("a.wma", ""),
        ("a.g722", "-c:a g722"),
    ],
)
def test_any_mutilation_is_read_or_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, options: str
) -> None:
    """Flipped, lost and foreign bytes lead to samples or a sentence and to nothing else."""
    path = encode(tmp_path, name, *options.split())
    whole, rng = path.read_bytes(), np.random.default_rng(9)
    for _ in range(12):
        content = bytearray(whole)
        for at in rng.integers(0, len(content), 40):
            content[at] = rng.integers(256)
        for at in rng.integers(0, 400, 2):
            content[at] = rng.integers(256)
        at = int(rng.integers(len(content)))
        content[at : at + int(rng.integers(1, 3_000))] = rng.bytes(int(rng.integers(1, 3_000)))
        path.write_bytes(content)
        try:
            assert np.isfinite(read_audio(path, max_duration_s=60).samples).all()
        except AudioError:
            continue
    assert capfd.readouterr() == ("", "")


def _picture() -> bytes:
    return b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8


def _rate_4_ghz() -> bytes:
    return wav_bytes(pcm(spoken()), rate_hz=4_000_000_000)


def _unreal() -> bytes:
    head = wav_bytes(struct.pack("<f", float("nan")) * RATE_HZ, bits=32)
    return head[:20] + struct.pack("<H", 3) + head[22:]  # the same data, called float


REFUSED: list[tuple[str, Callable[[], bytes], str]] = [
    ("a.wav", bytes, "is empty"),
    ("a.wav", lambda: wav_bytes(b""), "holds no audio samples"),
    ("a.wav", lambda: wav_bytes(pcm(spoken()))[:20], "cannot be decoded"),
    ("a.wav", lambda: pcm(spoken()), "not a readable audio file"),
    ("a.wav", lambda: b"\xff\xfe" + pcm(spoken()), "not a readable audio file"),
    ("a.wav", lambda: b"Dear all, the secret is 42.\n" * 30, "is a text file"),
    ("a.txt", lambda: "Größe".encode("utf-16"), "is a text file"),
    ("a.mp3", _picture, "is a picture"),
    ("a.m4a", lambda: b"<!DOCTYPE html><script>secret</script>", "is a web page"),
    ("a.wav", lambda: wav_bytes(pcm(spoken()), rate_hz=0), "cannot be decoded"),
    ("a.wav", _rate_4_ghz, "cannot be decoded"),
    ("a.wav", lambda: wav_bytes(pcm(spoken()), bits=0), "cannot be decoded"),
    ("a.wav", lambda: wav_bytes(pcm(spoken()[:320])), "lasts 0.020 s"),
    ("a.wav", _unreal, "only undefined or infinite samples"),
    ("a.mid", lambda: b"MThd" + bytes(100), "is a MIDI score"),
    ("a.g722", lambda: b"not a call but a letter\n" * 100, "is a text file"),
]


@pytest.mark.parametrize(("name", "content", "cause"), REFUSED)
def test_bad_input_gets_one_sentence(
    tmp_path: Path, name: str, content: Callable[[], bytes], cause: str
) -> None:
    """The message has the name, the cause and a remedy, and nothing of the file or a decoder."""
    path = tmp_path / name
    path.write_bytes(content())
    with pytest.raises(AudioError, match=cause) as refused:
        read_audio(path)
    message = str(refused.value)
    assert message.startswith(f'"{name}" ')
    assert message.endswith(".")
    assert "\n" not in message
    assert "secret" not in message
    assert ";" in message or "," in message  # the remedy


def test_a_film_without_sound_is_refused(tmp_path: Path) -> None:
    """A picture alone cannot be transcribed."""
    film = ffmpeg("-f", "lavfi", "-i", "color=red:s=32x32:d=1", target=tmp_path / "a.mp4")
    with pytest.raises(AudioError, match="has no audio track"):
        read_audio(film)


def test_paths_that_are_no_recording_are_refused(tmp_path: Path) -> None:
    """A missing file, a folder and an impossible name each get their own sentence."""
    with pytest.raises(AudioError, match=r'^"gone\.wav" does not exist'):
        read_audio(tmp_path / "gone.wav")
    with pytest.raises(AudioError, match="is a folder"):
        read_audio(tmp_path)
    for name in ("x" * 300, "nul\0byte"):
        with pytest.raises(AudioError, match="cannot be opened"):
            read_audio(tmp_path / name)
    with pytest.raises(AudioError, match="not a regular file"):
        read_audio(Path("/dev/null"))


PLAYLISTS = [
    "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n{path}\n#EXT-X-ENDLIST\n",
    "ffconcat version 1.0\nfile '{path}'\n",
    "[playlist]\nFile1={path}\n",
    "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nc=IN IP4 127.0.0.1\r\nm=audio 9 RTP/AVP 0\r\n",
    '<?xml version="1.0"?><MPD><BaseURL>{path}</BaseURL></MPD>',
    'FILE "{path}" WAVE\n  TRACK 01 AUDIO\n',
]


@pytest.mark.parametrize("script", PLAYLISTS)
@pytest.mark.parametrize("name", ["a.wav", "a.m3u8", "a.g722"])
def test_scripts_that_name_other_files_are_refused(tmp_path: Path, script: str, name: str) -> None:
    """A playlist under any name cannot make the app read another file."""
    other = write_wav(tmp_path / "other.wav", spoken())
    (tmp_path / name).write_text(script.format(path=other))
    with pytest.raises(AudioError, match="choose an audio or video file") as refused:
        read_audio(tmp_path / name)
    assert "other" not in str(refused.value)


def test_the_limit_is_found_in_the_header(tmp_path: Path) -> None:
    """An hour of silence in a small file is refused by its claim alone."""
    hour = ffmpeg("-f", "lavfi", "-i", "anullsrc=r=8000", "-t", "3600", target=tmp_path / "a.flac")
    with pytest.raises(AudioError, match="longer than the limit of 30 minutes; cut it"):
        read_audio(hour, max_duration_s=1800)
    assert read_audio(write_wav(tmp_path / "b.wav", spoken()), max_duration_s=6).duration_s == 6


def test_the_limit_holds_where_no_header_tells(tmp_path: Path) -> None:
    """A stream that states no length is decoded up to the limit and no further."""
    stream = encode(tmp_path, "a.aac", "-c:a", "aac")
    with pytest.raises(AudioError, match="longer than the limit of 2 s"):
        read_audio(stream, max_duration_s=2)


def test_without_pyav_most_recordings_are_read_and_the_rest_name_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The optional package is asked for only when a recording needs it."""
    monkeypatch.delitem(sys.modules, "moss_demo.engine.pyav_source", raising=False)
    monkeypatch.delattr("moss_demo.engine.pyav_source", raising=False)
    monkeypatch.setitem(sys.modules, "av", None)
    for name in ("a.wav", "a.flac", "a.mp3", "a.ogg", "a.aiff"):
        assert read_audio(encode(tmp_path, name)).duration_s == pytest.approx(6.0, abs=0.15)
    with pytest.raises(AudioError, match=r"needs the package av.*'pip install av'"):
        read_audio(encode(tmp_path, "a.m4a"))


def test_pyav_is_imported_only_when_needed(tmp_path: Path) -> None:
    """Reading WAV, FLAC, MP3 or Ogg does not pay for FFmpeg's libraries."""
    paths = [str(encode(tmp_path, name)) for name in ("a.wav", "a.flac", "a.mp3", "a.ogg")]
    code = (
        "import sys; from pathlib import Path\n"
        "from moss_demo.engine.audio_files import read_audio\n"
        "for path in sys.argv[1:]: read_audio(Path(path))\n"
        "assert not {'av', 'librosa', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, *paths], check=True)


@pytest.mark.parametrize("silence_s", [0, 3])
def test_an_mp3_whose_length_nobody_counted_is_read_to_its_end(
    tmp_path: Path, silence_s: int
) -> None:
    """A changing bit rate without a header of its own: guesses from the beginning are wrong."""
    source = write_wav(tmp_path / "s.wav", np.tile(spoken(), 5))
    options = ["-af", f"adelay={silence_s}s:all=1", "-ar", "44100", "-q:a", "4", "-write_xing", "0"]
    mp3 = ffmpeg("-i", str(source), *options, target=tmp_path / "a.mp3")
    clip = read_audio(mp3, max_duration_s=60)
    assert clip.duration_s == pytest.approx(5 * len(spoken()) / RATE_HZ + silence_s, abs=0.2)
    assert glance_duration_s(mp3) is None


@pytest.mark.parametrize("codec", ["libvorbis", "libopus"])
def test_recordings_that_follow_each_other_in_one_ogg_are_read_one_after_the_other(
    tmp_path: Path, codec: str
) -> None:
    """As web radio is recorded; a length that the first one states is not the file's."""
    one = encode(tmp_path, "one.ogg", "-c:a", codec)
    (tmp_path / "two.ogg").write_bytes(2 * one.read_bytes())
    clip = read_audio(tmp_path / "two.ogg")
    assert clip.duration_s == pytest.approx(2 * len(spoken()) / RATE_HZ, abs=0.2)
    assert glance_duration_s(tmp_path / "two.ogg") is None
