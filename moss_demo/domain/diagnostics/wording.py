"""Times, counts and places as they stand in a sentence. Knows nothing of diagnostics."""

from moss_demo.domain.transcript import Segment

_SHOWN_PLACES = 3
_SHOWN_CHARACTERS = 40


def clock(seconds: float) -> str:
    """Return a time to a tenth of a second: 0:07.5, 12:03.0 or 1:00:00.0."""
    minutes, tenths = divmod(int(max(0.0, seconds) * 10 + 0.5), 600)
    hours, minutes = divmod(minutes, 60)
    rest = f"{tenths // 10:02d}.{tenths % 10}"
    return f"{hours}:{minutes:02d}:{rest}" if hours else f"{minutes}:{rest}"


def count(indices: tuple[int, ...], one: str, more: str) -> str:
    """Return a count with its noun and verb, such as `1 segment has` or `3 segments have`."""
    return f"{len(indices):,} {one if len(indices) == 1 else more}"


def places(segments: tuple[Segment, ...], indices: tuple[int, ...]) -> str:
    """Return ` at 0:01.0, 0:05.0 and 7 more`, or nothing where no start is known."""
    starts = [segments[index].start for index in indices]
    known = [start for start in starts if start is not None]
    if not known:
        return ""
    shown = [clock(start) for start in known[:_SHOWN_PLACES]]
    more = len(known) - len(shown)
    if more:
        shown.append(f"{more:,} more")
    return " at " + (f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0])


def excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[: _SHOWN_CHARACTERS - 1]}…"
