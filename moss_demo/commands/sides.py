"""A transcript file named on the command line, in any known format."""

from pathlib import Path

from moss_demo.commands.output import read_text
from moss_demo.errors import TranscriptError
from moss_demo.scoring import sides


def read_side(source: str) -> sides.Side:
    """Read a transcript file, or standard input for `-`.

    Raises:
        TranscriptError: the file cannot be read or is in no known format.
    """
    text = read_text(source)
    try:
        return sides.read_side(text, suffix=Path(source).suffix)
    except TranscriptError as error:
        raise TranscriptError(Path(source), ": ", *error.args) from error
