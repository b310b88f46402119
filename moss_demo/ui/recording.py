"""What the player gets: the visitor's file itself, or a copy where no browser can play it."""

from dataclasses import dataclass
from pathlib import Path

from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.playback import browser_plays, playable_copy
from moss_demo.ui.files import new_folder

LONG_BYTES = 12 << 20
"""Above this a drawn waveform costs the browser about a gigabyte; the plain player does not."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording as the page knows it.

    Attributes:
        source: the file as it was uploaded; this is what gets transcribed.
        player: the file that the player gets.
        has_waveform: whether the player draws one.
    """

    source: str
    player: str
    has_waveform: bool


def open_recording(path: str, max_duration_s: float) -> Recording:
    """Make a recording playable.

    Raises:
        AudioError: no browser can play the file and neither can it be decoded.
    """
    player = Path(path)
    if not browser_plays(player):
        player = playable_copy(read_audio(player, max_duration_s=max_duration_s), new_folder())
    return Recording(path, str(player), player.stat().st_size < LONG_BYTES)
