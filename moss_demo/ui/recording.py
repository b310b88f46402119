"""What the player gets: the visitor's file itself, or a copy where no browser can play it."""

from dataclasses import dataclass
from pathlib import Path

from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.playback import browser_plays, playable_copy
from moss_demo.ui.visitor import hold, new_folder, writing

LONGEST_WAVEFORM_S = 600.0
"""A drawn waveform of an hour costs the browser about a gigabyte; the plain player does not."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording as the page knows it.

    Attributes:
        source: the file as it was uploaded; this is what gets transcribed.
        player: the file that the player gets.
        duration_s: length in seconds.
        warnings: what the decoder had to say, one sentence each.
    """

    source: str
    player: str
    duration_s: float
    warnings: tuple[str, ...]

    @property
    def has_waveform(self) -> bool:
        """Whether the player draws a waveform."""
        return self.duration_s <= LONGEST_WAVEFORM_S


def open_recording(path: str, max_duration_s: float) -> Recording:
    """Decode a recording once, so that what is wrong with it is said at once.

    Raises:
        AudioError: the file cannot be used.
        DiskError: a copy that a browser can play cannot be written.
    """
    source = Path(path)
    hold(path)
    clip = read_audio(source, max_duration_s=max_duration_s)
    player = source
    if not browser_plays(source):
        with writing():
            player = playable_copy(clip, new_folder())
    return Recording(path, str(player), clip.duration_s, clip.warnings)
