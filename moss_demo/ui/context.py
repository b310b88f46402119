"""What every tab shares: the host's settings, the engine pool and the built-in samples."""

from dataclasses import dataclass, field
from pathlib import Path

from moss_demo.engine.checkpoints import (
    AUTO,
    HUB_CHECKPOINTS,
    PUBLISHED,
    TINY,
    find_checkpoint,
    is_downloaded,
)
from moss_demo.engine.config import EngineConfig, choose_device, choose_precision
from moss_demo.engine.pool import EnginePool
from moss_demo.engine.weights.adapter import read_adapter
from moss_demo.errors import RequestError
from moss_demo.settings import Settings

ASSETS = Path(__file__).parents[2] / "assets"

DEVICE_QUEUE = "device"
"""Every event that uses the device shares this queue, one at a time."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A recording that ships with the project.

    Attributes:
        label: text of its button.
        path: the audio file.
    """

    label: str
    path: Path


@dataclass(frozen=True, slots=True)
class AppContext:
    """Server-wide values; nothing of a visitor is ever stored here."""

    settings: Settings
    device: str
    pool: EnginePool = field(default_factory=EnginePool)

    def engine_config(self, checkpoint: str, precision: str) -> EngineConfig:
        """Name the engine that a visitor chose.

        Raises:
            RequestError: the host does not offer this checkpoint; a path never is an offer.
        """
        offered = self.checkpoint_choices()
        if checkpoint not in offered:
            raise RequestError(
                f"This server does not offer that checkpoint; choose {' or '.join(offered)}."
            )
        number_format = choose_precision(precision, self.device)
        if checkpoint == self.adapted:
            base, adapter = self._host_checkpoint(), self.settings.adapter
            return EngineConfig(base, self.device, number_format, adapter=adapter)
        return EngineConfig(checkpoint, self.device, number_format)

    @property
    def adapted(self) -> str | None:
        """Name of the host's checkpoint with the host's adapter, which is a choice of its own."""
        if self.settings.adapter is None:
            return None
        return f"{self._host_checkpoint()} + {Path(self.settings.adapter).name}"

    def checkpoint_choices(self) -> list[str]:
        """List the checkpoints a visitor may choose: those that need no download."""
        cached = [repo for repo, hub in HUB_CHECKPOINTS.items() if is_downloaded(hub)]
        local = [] if self.settings.model in (AUTO, TINY, *cached) else [self.settings.model]
        adapted = [] if self.adapted is None else [self.adapted]
        return [*adapted, *local, *cached, TINY]

    def default_checkpoint(self) -> str:
        """Name the checkpoint that is chosen at start."""
        return self.adapted or self._host_checkpoint()

    def _host_checkpoint(self) -> str:
        if self.settings.model != AUTO:
            return self.settings.model
        return PUBLISHED.repo if is_downloaded(PUBLISHED) else TINY


def build_context(settings: Settings, device: str | None = None) -> AppContext:
    """Choose the device, check the host's checkpoint and adapter, and start with an empty pool.

    Raises:
        DeviceError: the device is not there.
        CheckpointError: the host's checkpoint or adapter cannot be found.
    """
    find_checkpoint(settings.model)
    if settings.adapter is not None:
        read_adapter(Path(settings.adapter))
    return AppContext(settings, choose_device(device))


def list_samples(folder: Path = ASSETS / "samples") -> tuple[Sample, ...]:
    """List the built-in recordings, the shortest first; labels are derived from file names."""
    files = sorted(folder.glob("*.flac"), key=lambda path: path.stat().st_size)
    return tuple(Sample(p.stem.replace("-", " ").capitalize(), p) for p in files)
