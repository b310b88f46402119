"""A served app with the embedded checkpoint, and OpenAI's own client for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import soundfile
from openai import OpenAI

from moss_demo.domain.parser import parse
from moss_demo.serving.context import ASSETS, AppContext, build_context
from moss_demo.settings import Settings
from tests.ui.served import serving

SAMPLE = ASSETS / "samples" / "two-speakers.flac"
WORDS = parse(SAMPLE.with_suffix(".txt").read_text(encoding="utf-8")).segments[:3]
"""What is said in the beginning of the sample, which is all that the tests send."""

LONG_SAMPLE = ASSETS / "samples" / "long-meeting.flac"


@dataclass(frozen=True, slots=True)
class Served:
    """A running app."""

    address: str
    context: AppContext

    def client(self, key: str = "none") -> OpenAI:
        """Return OpenAI's client, without its retries."""
        return OpenAI(base_url=f"{self.address}v1", api_key=key, max_retries=0, timeout=300)


def serve(settings: Settings) -> Iterator[Served]:
    """Serve the app until the iterator is closed."""
    context = build_context(settings, "cpu")
    with serving(context) as address:
        yield Served(address, context)


@pytest.fixture(scope="package")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first three sentences of the sample."""
    path = tmp_path_factory.mktemp("audio") / "beginning.flac"
    sound, rate = soundfile.read(SAMPLE)
    soundfile.write(path, sound[: int(rate * ((WORDS[-1].end or 0.0) + 0.2))], rate)
    return path


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An app of a host that changed little."""
    folder = tmp_path_factory.mktemp("files")
    yield from serve(Settings(max_file_bytes=4 << 20, max_duration_s=600, temp_folder=folder))


@pytest.fixture(scope="package")
def client(served: Served) -> Iterator[OpenAI]:
    """OpenAI's client."""
    with served.client() as opened:
        yield opened


@pytest.fixture(scope="package")
def plain(served: Served) -> Iterator[httpx.Client]:
    """A client that adds nothing."""
    with httpx.Client(base_url=served.address, timeout=300) as opened:
        yield opened


def left_over(folder: Path) -> list[Path]:
    """List the files that lie in a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]
