"""What a browser can play, and a copy of a clip for when it cannot play the original.

Judges by content. Reads no sound for judging and knows nothing of pages or players.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import soundfile  # type: ignore[import-untyped]  # the package ships no type information

from moss_demo.domain.audio import AudioClip
from moss_demo.engine.containers import Container, head_behind_tags, recognise
from moss_demo.engine.mpeg_frames import mpeg_layer
from moss_demo.engine.sound_source import UnreadableError
from moss_demo.engine.track import MissingDecoderError, load_pyav
from moss_demo.engine.wav_header import read_wav_header

_LONG_S = 600.0
"""From here on a copy is FLAC: lossless too, about half the size, slower to seek in."""

_OGG_CODECS = (b"OpusHead", b"\x01vorbis", b"\x7fFLAC")
_MP4_CODECS = frozenset({"aac", "mp3"})
_WEBM_CODECS = frozenset({"opus", "vorbis"})


def browser_plays(path: Path) -> bool:
    """Tell whether today's browsers play the whole sound of a file.

    A file that cannot be judged, or that holds several audio tracks, counts as not playable: a
    copy is never wrong.
    """
    try:
        with path.open("rb") as file:
            container = recognise(file)
            head = head_behind_tags(file)
            file.seek(0)
            match container:
                case Container.FLAC:
                    return True
                case Container.MP3:
                    return mpeg_layer(head) == 3
                case Container.WAV:
                    header = read_wav_header(file)
                    return header is not None and header.form == "RIFF" and header.plain
                case Container.OGG:
                    return any(codec in head[:64] for codec in _OGG_CODECS)
                case Container.MATROSKA:
                    return b"webm" in head[:64] and _one_track_of(path, container, _WEBM_CODECS)
                case Container.MOV:
                    return head[8:10] != b"qt" and _one_track_of(path, container, _MP4_CODECS)
    except OSError:
        return False
    return False


def playable_copy(clip: AudioClip, folder: Path) -> Path:
    """Write a clip as 16-bit WAV, or FLAC when it is long.

    The file is named after the sound, appears at once as a whole and is reused when it is there.

    Args:
        clip: the recording; samples beyond full scale are clipped.
        folder: existing folder for the copy.

    Returns:
        Path of the copy.

    Raises:
        OSError: the folder cannot be written to.
    """
    form = "FLAC" if clip.duration_s > _LONG_S else "WAV"
    copy = folder / f"{clip.digest}.{form.lower()}"
    if copy.exists():
        return copy
    handle, written = tempfile.mkstemp(dir=folder, suffix=f".{form.lower()}")
    os.close(handle)
    try:
        samples = np.clip(clip.samples, -1.0, 1.0)
        soundfile.write(written, samples, clip.sample_rate, subtype="PCM_16", format=form)
        Path(written).replace(copy)
    except BaseException:
        Path(written).unlink(missing_ok=True)
        raise
    return copy


def _one_track_of(path: Path, container: Container, codecs: frozenset[str]) -> bool:
    try:
        found = load_pyav().audio_codecs(path, container)
    except (MissingDecoderError, UnreadableError):
        return False
    return len(found) == 1 and found[0] in codecs
