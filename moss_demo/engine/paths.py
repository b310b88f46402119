"""The decode paths that an engine can take, and the one place that chooses."""

from collections.abc import Sequence
from typing import Protocol

from moss_demo.domain.request import DecodeOptions
from moss_demo.engine.config import DecodePath
from moss_demo.engine.decoding import IsStopped, PushRowToken, ReferencePath, Row
from moss_demo.engine.encoding import LogMel
from moss_demo.engine.fast.path import FastPath
from moss_demo.engine.loading import Loaded


class Path(Protocol):
    """From samples to features and from prompts to tokens; the encoder between is shared."""

    @property
    def attention(self) -> str:
        """What computes attention in the decoder."""

    @property
    def log_mel(self) -> LogMel:
        """What computes spectrograms."""

    def check(self, options: DecodeOptions) -> None:
        """Refuse options that the path cannot honour, with a `RequestError`."""

    def decode(self, rows: Sequence[Row], push: PushRowToken, is_stopped: IsStopped) -> None:
        """Push the tokens of every row until its end, its budget or a stop."""


def open_path(decode: DecodePath, loaded: Loaded) -> Path:
    """Prepare a loaded model for one path.

    Raises:
        CheckpointError: the path does not know this decoder.
    """
    return FastPath(loaded) if decode is DecodePath.FAST else ReferencePath(loaded)
