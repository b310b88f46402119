"""Classic synthesizers, flite and espeak-ng, called through their C libraries.

Together they speak at a thousand times real time on twelve cores and in hundreds of voices: most
of the speakers a checkpoint learns to tell apart. What a GPL program says is free to use. Knows the
two C interfaces; knows nothing of sentences or of other voices.
"""

import ctypes
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.errors import MossDemoError

_FLITE = {"slt": None, "rms": None, "awb": None, "kal": 105, "kal16": 110}
_FLITE_PITCHES = (85, 105, 130)
_ACCENTS = ("en-us", "en-us", "en", "en-gb-x-rp", "en-gb-scotland")
_VARIANTS = (
    *(f"m{number}" for number in range(1, 9)),
    *(f"f{number}" for number in range(1, 6)),
    *("Alex", "Andy", "Annie", "Denis", "Diogo", "Gene", "Gene2", "Jacky", "Lee", "Mario"),
    *("Michael", "Mike", "Nguyen", "Reed", "anika", "aunty", "belinda", "benjamin", "boris"),
    *("caleb", "edward", "grandma", "grandpa", "iven", "john", "linda", "marcelo", "max"),
    *("michel", "miguel", "pablo", "paul", "quincy", "rob", "robert", "sandro", "shelby"),
    *("steph", "travis", "victor", "zac"),
)
_ESPEAK_SYNCHRONOUS = 2
_ESPEAK_UTF8 = 1
_RATE, _PITCH, _RANGE = 1, 3, 4


@dataclass(frozen=True, slots=True)
class ClassicVoice:
    """One voice of one of the two programs.

    Attributes:
        name: unique over all voices; starts with `flite:` or `espeak:`.
        voice: the program's own name of it.
        pitch: Hz for flite (None: the voice's own), 0 to 99 for espeak-ng.
    """

    name: str
    voice: str
    pitch: int | None


def flite_voices() -> tuple[ClassicVoice, ...]:
    """Return the flite voices; the diphone voice speaks at three pitches."""
    voices = [ClassicVoice(f"flite:{name}", name, None) for name in ("slt", "rms", "awb")]
    voices += [ClassicVoice(f"flite:kal16@{hz}", "kal16", hz) for hz in _FLITE_PITCHES]
    return (*voices, ClassicVoice("flite:kal", "kal", _FLITE["kal"]))


def espeak_voices(count: int = 500, seed: int = 3) -> tuple[ClassicVoice, ...]:
    """Return distinct accents, variants and pitches, drawn from a fixed seed."""
    draw = Random(seed)
    found: dict[str, ClassicVoice] = {}
    while len(found) < count:
        place = len(found)
        variant = _VARIANTS[place] if place < len(_VARIANTS) else draw.choice(_VARIANTS)
        voice, pitch = f"{draw.choice(_ACCENTS)}+{variant}", draw.randrange(10, 91, 4)
        name = f"espeak:{voice}@{pitch}"
        found.setdefault(name, ClassicVoice(name, voice, pitch))
    return tuple(found.values())


class _Wave(ctypes.Structure):
    """flite's `cst_wave`."""

    _fields_ = (
        ("type", ctypes.c_char_p),
        ("sample_rate", ctypes.c_int),
        ("num_samples", ctypes.c_int),
        ("num_channels", ctypes.c_int),
        ("samples", ctypes.POINTER(ctypes.c_short)),
    )


class Flite:
    """flite with its built-in American voices."""

    def __init__(self, libraries: Path) -> None:
        """Load the shared libraries of the Debian package `libflite1` from a folder."""
        sound = libraries / "libasound.so.2"
        if sound.exists():
            ctypes.CDLL(str(sound), mode=ctypes.RTLD_GLOBAL)
        self._library = _load(libraries, "libflite")
        for name in ("libflite_usenglish", "libflite_cmulex"):
            _load(libraries, name)
        self._library.flite_init()
        speak, free = self._library.flite_text_to_wave, self._library.delete_wave
        speak.restype = ctypes.POINTER(_Wave)
        speak.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
        free.argtypes = [ctypes.POINTER(_Wave)]
        self._set = self._library.flite_feat_set_float
        self._set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_float]
        self._voices: dict[str, int] = {}
        for name in _FLITE:
            register = getattr(
                _load(libraries, f"libflite_cmu_us_{name}"), f"register_cmu_us_{name}"
            )
            register.restype, register.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
            self._voices[name] = register(None)

    def say(self, text: str, voice: ClassicVoice, stretch: float) -> NDArray[np.float32]:
        """Return samples at 16 kHz; a stretch of 1 is the voice's own pace, larger is slower."""
        handle = self._voices[voice.voice]
        # The features follow one pointer (the name) in `cst_voice`.
        features = ctypes.cast(handle + 8, ctypes.POINTER(ctypes.c_void_p))[0]
        self._set(features, b"duration_stretch", stretch)
        if voice.pitch is not None:
            self._set(features, b"int_f0_target_mean", float(voice.pitch))
        wave = self._library.flite_text_to_wave(text.encode(), handle)
        samples = np.ctypeslib.as_array(wave.contents.samples, (wave.contents.num_samples,))
        sound = samples.astype(np.float32) / np.float32(32768)
        rate_hz = wave.contents.sample_rate
        self._library.delete_wave(wave)
        return resampled(sound, rate_hz)


class Espeak:
    """espeak-ng with its English accents and variants."""

    def __init__(self, libraries: Path, data: Path) -> None:
        """Load `libespeak-ng` from a folder; `data` is the folder that holds `espeak-ng-data`."""
        self._library = _load(libraries, "libespeak-ng")
        self._heard: list[NDArray[np.float32]] = []
        rate_hz = self._library.espeak_Initialize(_ESPEAK_SYNCHRONOUS, 0, str(data).encode(), 0)
        if rate_hz <= 0:
            raise MossDemoError(f"espeak-ng finds no data in {data}; unpack espeak-ng-data there.")
        self._rate_hz = rate_hz
        prototype = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
        )
        # The library keeps only a pointer: the callback must live as long as it does.
        self._callback = prototype(self._hear)
        self._library.espeak_SetSynthCallback(self._callback)
        unsigned = ctypes.c_uint
        self._library.espeak_Synth.argtypes = [
            *(ctypes.c_char_p, ctypes.c_size_t, unsigned, ctypes.c_int, unsigned, unsigned),
            *(ctypes.c_void_p, ctypes.c_void_p),
        ]

    def _hear(self, samples: "ctypes._Pointer[ctypes.c_short]", count: int, _events: int) -> int:
        if samples and count > 0:
            block = np.ctypeslib.as_array(samples, (count,)).astype(np.float32)
            self._heard.append(block / np.float32(32768))
        return 0

    def say(
        self, text: str, voice: ClassicVoice, words_a_minute: int, liveliness: int
    ) -> NDArray[np.float32] | None:
        """Return samples at 16 kHz, or None when the library has no such voice."""
        self._heard = []
        if self._library.espeak_SetVoiceByName(voice.voice.encode()) != 0:
            return None
        for parameter, value in (
            (_RATE, words_a_minute),
            (_PITCH, voice.pitch),
            (_RANGE, liveliness),
        ):
            self._library.espeak_SetParameter(parameter, value, 0)
        data = text.encode()
        self._library.espeak_Synth(data, len(data) + 1, 0, 0, 0, _ESPEAK_UTF8, None, None)
        self._library.espeak_Synchronize()
        return resampled(np.concatenate(self._heard), self._rate_hz) if self._heard else None


def _load(folder: Path, name: str) -> ctypes.CDLL:
    """Load the only version of a shared library in a folder, its symbols open to the next."""
    found = sorted(folder.glob(f"{name}.so*"), key=lambda path: len(path.name))
    if not found:
        raise MossDemoError(f"{folder} holds no {name}.so; run the recipe's fetch command first.")
    return ctypes.CDLL(str(found[0]), mode=ctypes.RTLD_GLOBAL)


def resampled(sound: NDArray[np.float32], rate_hz: int) -> NDArray[np.float32]:
    """Bring a short sound to 16 kHz by cutting or padding its spectrum."""
    if rate_hz == SAMPLE_RATE_HZ:
        return sound
    # 22,050 Hz has no short ratio to 16 kHz: pad so that the transform's length divides well.
    sound = np.pad(sound, (0, -len(sound) % 441))
    length = round(len(sound) * SAMPLE_RATE_HZ / rate_hz)
    spectrum = np.fft.rfft(sound)
    kept = np.zeros(length // 2 + 1, spectrum.dtype)
    shared = min(len(kept), len(spectrum))
    kept[:shared] = spectrum[:shared]
    return np.asarray(np.fft.irfft(kept, length) * (length / len(sound)), np.float32)
