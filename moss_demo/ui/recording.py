"""What the player gets: the visitor's file itself, or a copy where no browser can play it."""

from dataclasses import dataclass
from pathlib import Path

from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.playback import browser_plays, playable_copy
from moss_demo.ui.visitor import hold, new_folder, served, writing

LONGEST_WAVEFORM_S = 600.0
"""A drawn waveform of an hour costs the browser about a gigabyte; the plain player does not."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording as the page knows it.

    Attributes:
        source: the file as it was uploaded; this is what gets transcribed.
        player: the file that the player gets, as the page names it.
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


def recording_of(player: str | None, opened: Recording | None) -> Recording | None:
    """Return what was opened last if that is what the player holds, else None."""
    return opened if opened is not None and opened.player == player else None


def open_recording(path: str, max_duration_s: float) -> Recording:
    """Decode a recording once, so that what is wrong with it is said at once.

    Raises:
        AudioError: the file cannot be used.
        DiskError: a copy that a browser can play cannot be written.
    """
    source = Path(path)
    hold(path)
    clip = read_audio(source, max_duration_s=max_duration_s)
    with writing():
        plays = browser_plays(source)
        player = served(source if plays else playable_copy(clip, new_folder()))
    hold(player)
    return Recording(path, player, clip.duration_s, clip.warnings)
