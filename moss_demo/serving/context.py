"""What every part of the server shares: the host's settings, the device and the engine pool."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.checkpoints import (
    AUTO,
    HUB_CHECKPOINTS,
    PUBLISHED,
    TINY,
    find_checkpoint,
    is_downloaded,
    public_name,
)
from moss_demo.engine.config import (
    COMPILE_CHOICES,
    DecodePath,
    EncoderCompile,
    EngineConfig,
    Precision,
    choose_decode,
    choose_device,
    choose_encoder_compile,
    choose_precision,
)
from moss_demo.engine.in_turn import TurnEvent, transcribe_in_turn
from moss_demo.engine.pool import EnginePool
from moss_demo.engine.weights.adapter import read_adapter
from moss_demo.errors import NotOfferedError, RequestError, name_of
from moss_demo.serving.metrics import Door, Metrics
from moss_demo.serving.readiness import Health, Readiness
from moss_demo.serving.zero_gpu import LentPool, import_spaces
from moss_demo.settings import RemoteServer, Settings

ASSETS = Path(__file__).parents[2] / "assets"
SELF_TEST_SAMPLE = ASSETS / "samples" / "two-speakers.flac"


@dataclass(frozen=True, slots=True)
class Offer:
    """A checkpoint of the host, with the adapter that is merged into it, if any."""

    checkpoint: str
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class AppContext:
    """Server-wide values; nothing of a visitor is ever stored here."""

    settings: Settings
    device: str
    pool: EnginePool
    metrics: Metrics
    readiness: Readiness

    def engine_config(
        self,
        checkpoint: str,
        precision: str,
        decode: str | None = None,
        encoder_compile: str | None = None,
    ) -> EngineConfig:
        """Name the engine that a visitor chose; what is left out is chosen as everywhere else.

        Raises:
            NotOfferedError: the host does not offer this checkpoint, precision, decode path or
                compilation; a folder never is an offer.
            RequestError: there is no such decode path or compilation.
        """
        offers = self._offers()
        if checkpoint not in offers:
            raise NotOfferedError("checkpoint", list(offers))
        chosen = choose_precision(precision, self.device)
        if chosen not in self.precision_choices():
            raise NotOfferedError("precision", self.precision_choices())
        path = choose_decode(decode or self.usual_decode(), self.device)
        if path not in self.decode_choices():
            raise NotOfferedError("decode path", self.decode_choices())
        compilation = choose_encoder_compile(encoder_compile)
        if compilation not in self.compile_choices():
            raise NotOfferedError("compilation of the encoder", self.compile_choices())
        offer = offers[checkpoint]
        return EngineConfig(
            offer.checkpoint,
            self.device,
            chosen,
            path,
            compilation,
            adapter=offer.adapter,
        )

    def checkpoint_choices(self) -> list[str]:
        """List the checkpoints a visitor may choose, the host's own first; none needs a download.

        Without a list of the host's these are all that are here.
        """
        return list(self._offers())

    def precision_choices(self) -> list[Precision]:
        """List the precisions a visitor may choose; the device's usual one always is."""
        usual = choose_precision(None, self.device)
        listed = (usual,) if self.settings.zero_gpu else self.settings.precisions
        return [p for p in Precision if not listed or p in listed or p is usual]

    def remote_choices(self) -> list[str]:
        """List the remote engines that a visitor may choose, as they stand beside checkpoints."""
        return [server.label for server in self.settings.remotes]

    def remote(self, choice: str) -> RemoteServer | None:
        """Return the remote engine that a visitor chose, None for a checkpoint."""
        return dict(zip(self.remote_choices(), self.settings.remotes, strict=True)).get(choice)

    def compile_choices(self) -> tuple[EncoderCompile, ...]:
        """List the compilations of the encoder; a borrowed GPU is gone before one pays."""
        return COMPILE_CHOICES[:1] if self.settings.zero_gpu else COMPILE_CHOICES

    def decode_choices(self) -> tuple[DecodePath, ...]:
        """List the decode paths a visitor may choose.

        The fast path's memory and graph are made for many runs; a borrowed GPU is gone after one.
        """
        return (self.usual_decode(),) if self.settings.zero_gpu else tuple(DecodePath)

    def usual_decode(self) -> DecodePath:
        """Name the decode path that is chosen at start."""
        return choose_decode(None, "cpu" if self.settings.zero_gpu else self.device)

    def default_checkpoint(self) -> str:
        """Name the checkpoint that is chosen at start."""
        return self.checkpoint_choices()[0]

    def self_test(self) -> Health:
        """Transcribe the shortest sample with what visitors get, and remember the verdict."""

        def open_request() -> Request:
            return Request(read_audio(SELF_TEST_SAMPLE))

        def transcribe() -> Generator[TurnEvent, None, None]:
            config, pool = self.engine_config(self.default_checkpoint(), "auto"), self.pool
            if self.settings.zero_gpu:  # nobody lends a GPU to the server itself
                config, pool = EngineConfig(TINY, "cpu", Precision.FP32), EnginePool()
            return transcribe_in_turn(pool, config, open_request, None)

        return self.readiness.test(transcribe, SELF_TEST_SAMPLE.with_suffix(".txt"))

    def _offers(self) -> dict[str, Offer]:
        """Return what is offered by public name: visitors never see where a folder lies."""
        settings = self.settings
        cached = [repo for repo, hub in HUB_CHECKPOINTS.items() if is_downloaded(hub)]
        listed = [m for m in settings.models if m not in HUB_CHECKPOINTS or m in cached]
        choices = listed if settings.models else [*cached, TINY]
        first = settings.model
        if first == AUTO:
            first = PUBLISHED.repo if PUBLISHED.repo in choices else (*choices, TINY)[0]
        choices = [first] if settings.zero_gpu else [first, *choices]
        offers = {public_name(name): Offer(name) for name in choices}
        if settings.adapter is None:
            return offers
        adapted = f"{public_name(first)} + {name_of(Path(settings.adapter))}"
        return {adapted: Offer(first, settings.adapter)} | offers

    def transcribe(
        self,
        config: EngineConfig,
        open_request: Callable[[], Request],
        audio_s: float | None,
        door: Door,
    ) -> Generator[TurnEvent, None, None]:
        """Transcribe a recording in turn, whoever asks; closing the iterator stops the run.

        Raises:
            MossDemoError: see `transcribe_in_turn`.
        """
        events = transcribe_in_turn(self.pool, config, open_request, audio_s)
        return self.metrics.watch(events, door)


def build_context(
    settings: Settings, device: str | None = None, on_lost: Callable[[], None] = lambda: None
) -> AppContext:
    """Choose the device, check the host's checkpoints and start with an empty pool.

    Args:
        settings: the host's.
        device: torch device, or None for a GPU where there is one.
        on_lost: called when this process has lost the device for good.

    Raises:
        DeviceError: the device is not there.
        CheckpointError: a checkpoint of the host's, or its adapter, cannot be found.
        RequestError: two checkpoints go by one name, a precision is none, or a package that this
            kind of host needs is missing.
    """
    if settings.zero_gpu:
        import_spaces()
    chosen = choose_device(device)
    _check_offers(settings, chosen)
    readiness = Readiness()

    def lose() -> None:
        readiness.lose()
        on_lost()

    pool = EnginePool(settings.max_queue, lose)
    metrics = Metrics(lambda: pool.in_line, chosen)
    context = AppContext(settings, chosen, pool, metrics, readiness)
    if settings.zero_gpu:
        lent = LentPool(context.engine_config(context.default_checkpoint(), "auto"))
        return replace(context, pool=lent)
    return context


def _check_offers(settings: Settings, device: str) -> None:
    """Look at everything that the host offers, before a visitor chooses it."""
    for name in dict.fromkeys((settings.model, *settings.models)):
        if name not in HUB_CHECKPOINTS or name == settings.model:
            find_checkpoint(name)
    checkpoints = dict.fromkeys((settings.model, *(settings.models or (TINY,))))
    names = [public_name(checkpoint) for checkpoint in checkpoints]
    for name in names:
        if names.count(name) > 1:  # one would stand for the other
            raise RequestError(f"Two checkpoints of this host are called {name}; rename one.")
    if settings.adapter is not None:
        read_adapter(Path(settings.adapter))
    for precision in settings.precisions:
        choose_precision(precision, device)
