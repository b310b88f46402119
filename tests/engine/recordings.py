"""Recordings made on the spot: speech of the project's own samples in every kind of wrapping."""

import struct
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"
RATE_HZ = 16_000


@cache
def spoken() -> NDArray[np.float32]:
    """Six seconds of two people talking, float32 at 16 kHz with values that 16 bits hold."""
    samples, rate_hz = soundfile.read(SAMPLES / "two-speakers.flac", 6 * RATE_HZ, dtype="float32")
    assert rate_hz == RATE_HZ
    samples.flags.writeable = False
    return samples


def write_wav(
    path: Path, samples: NDArray[np.float32], rate_hz: int = RATE_HZ, subtype: str = "PCM_16"
) -> Path:
    """Write samples of shape (n,) or (n, channels) as WAV, whatever the name of the path."""
    soundfile.write(path, samples, rate_hz, subtype=subtype, format="WAV")
    return path


def encode(folder: Path, name: str, *options: str) -> Path:
    """Encode the spoken sample with FFmpeg."""
    source = write_wav(folder / "source.wav", spoken())
    return ffmpeg("-i", str(source), *options, target=folder / name)


def ffmpeg(*arguments: str, target: Path) -> Path:
    """Run FFmpeg and return the file that it wrote."""
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments, f"file:{target}"]
    subprocess.run(command, check=True, capture_output=True)
    return target


def wav_bytes(data: bytes, *, rate_hz: int = RATE_HZ, bits: int = 16, stated: int = -1) -> bytes:
    """Build a mono PCM file by hand, with any rate and any stated size of the data."""
    stated = len(data) if stated < 0 else stated
    form = struct.pack("<HHIIHH", 1, 1, rate_hz, rate_hz * bits // 8 % 2**32, bits // 8, bits)
    riff = 0xFFFFFFFF if stated == 0xFFFFFFFF else 36 + stated if stated else 0
    head = b"RIFF" + struct.pack("<I", riff) + b"WAVEfmt " + struct.pack("<I", 16) + form
    return head + b"data" + struct.pack("<I", stated) + data


def pcm(samples: NDArray[np.float32]) -> bytes:
    """Return 16-bit little-endian samples."""
    return (samples * 32_768).astype("<i2").tobytes()


def likeness(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Correlate two waveforms of about the same length at the best shift within 0.1 s."""
    length = 1 << (len(one) + len(other)).bit_length()
    product = np.fft.rfft(one, length) * np.conj(np.fft.rfft(other, length))
    crossed = np.fft.irfft(product, length)
    near = np.concatenate([crossed[: RATE_HZ // 10], crossed[-RATE_HZ // 10 :]])
    return float(near.max() / np.sqrt(np.sum(one**2) * np.sum(other**2)))
