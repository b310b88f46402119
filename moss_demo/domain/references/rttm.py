"""RTTM: who spoke when, without words (the ten columns of NIST's Rich Transcription)."""

from moss_demo.domain.references.turns import number, one_recording, reading_error, turn
from moss_demo.domain.transcript import Transcript


def is_rttm(text: str) -> bool:
    """Say whether the first line that is no comment is a speaker line."""
    lines = (line for line in text.split("\n") if line.strip() and not line.startswith(";"))
    fields = next(lines, "").split()
    return len(fields) >= 8 and fields[0] in ("SPEAKER", "SPKR-INFO")


def read_rttm(text: str) -> Transcript:
    """Read the `SPEAKER` lines; other types of line carry no turn and are skipped.

    Raises:
        TranscriptError: a line lacks columns or holds no numbers, or several recordings are mixed.
    """
    names, segments = [], []
    for line, written in enumerate(text.split("\n"), 1):
        fields = written.split()
        if not fields or fields[0].startswith(";") or fields[0] != "SPEAKER":
            continue
        if len(fields) < 8:
            raise reading_error(
                f"an RTTM speaker line has ten columns, this one {len(fields)}.", line
            )
        start, length = number(fields[3], line, "onset"), number(fields[4], line, "duration")
        if length < 0:
            raise reading_error(f"the duration {length:g} is negative.", line)
        names.append(fields[1])
        speaker = None if fields[7] == "<NA>" else fields[7]
        # Sums of decimal columns carry float dust: 0.1 + 0.2 must end at 0.3.
        segments.append(turn(start, round(start + length, 6), speaker, "", f"Line {line}"))
    one_recording(names, "RTTM")
    return Transcript(tuple(segments))
