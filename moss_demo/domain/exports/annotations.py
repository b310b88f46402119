"""Writes annotations for scoring and labelling tools: RTTM, UEM, STM, SegLST, TextGrid, Audacity.

The file field is the recording's name without its extension, the channel is 1, and unlabelled
speech has the speaker `unknown`. Knows nothing of subtitles or tables.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from moss_demo.domain.exports.cleaning import (
    UNKNOWN_SPEAKER,
    json_text,
    session_id,
    token,
)
from moss_demo.domain.exports.times import (
    Turn,
    assign_lanes,
    by_start,
    seconds_text,
)

_STM_MARKUP = re.compile(r"[{}()<>/]")


def rttm(turns: Sequence[Turn], name: str) -> str:
    """Return SPEAKER lines of ten fields by start.

    Overlapping turns of one speaker are merged, since scorers would count them twice; turns
    without length are left out, since no scorer takes them (`without_length` counts them).
    """
    spans: dict[str, list[list[int]]] = defaultdict(list)
    for turn in by_start(turns):
        if turn.end_ms == turn.start_ms:
            continue
        own = spans[token(_speaker(turn))]
        if own and turn.start_ms < own[-1][1]:
            own[-1][1] = max(own[-1][1], turn.end_ms)
        else:
            own.append([turn.start_ms, turn.end_ms])
    merged = sorted(
        (start, index, end, speaker)
        for index, (speaker, own) in enumerate(spans.items())
        for start, end in own
    )
    return "".join(
        f"SPEAKER {session_id(name)} 1 {seconds_text(start)} {seconds_text(end - start)} "
        f"<NA> <NA> {speaker} <NA> <NA>\n"
        for start, _, end, speaker in merged
    )


def without_length(turns: Sequence[Turn]) -> int:
    """Return how many turns an RTTM leaves out."""
    return sum(1 for turn in turns if turn.end_ms == turn.start_ms)


def uem(name: str, limit_ms: int) -> str:
    """Return the scored region: the whole recording."""
    return f"{session_id(name)} 1 0.000 {seconds_text(limit_ms)}\n"


def stm(turns: Sequence[Turn], name: str) -> str:
    """Return one line a turn by start; what scorers read as markup in words becomes a blank."""
    lines = []
    for turn in by_start(turns):
        words = " ".join(_STM_MARKUP.sub(" ", turn.line).split())
        fields = (
            session_id(name),
            "1",
            token(_speaker(turn)),
            seconds_text(turn.start_ms),
            seconds_text(turn.end_ms),
            words,
        )
        lines.append(" ".join(fields).rstrip() + "\n")
    return "".join(lines)


def seglst(turns: Sequence[Turn], name: str) -> str:
    """Return a JSON list in emission order; `flags` and `filled` say what is not as written."""
    return json_text(
        [
            {
                "session_id": session_id(name),
                "speaker": _speaker(turn),
                "start_time": turn.start_ms / 1000,
                "end_time": turn.end_ms / 1000,
                "words": turn.text,
                "flags": list(turn.flags),
                "filled": turn.filled,
            }
            for turn in turns
        ]
    )


def audacity(turns: Sequence[Turn]) -> str:
    """Return a label track: start, end and label between tabs; equal times make a point label."""
    return "".join(
        f"{seconds_text(turn.start_ms)}000\t{seconds_text(turn.end_ms)}000\t{turn.caption}\n"
        for turn in by_start(turns)
    )


def textgrid(turns: Sequence[Turn], limit_ms: int) -> str:
    """Return a long-form TextGrid with a tier a speaker and more where one overlaps themselves.

    A turn without length is drawn one millisecond long.
    """
    end_ms = max([1, limit_ms, *(turn.end_ms for turn in turns)])
    tiers = _tiers(turns, end_ms) or {"speech": []}
    lines = [
        'File type = "ooTextFile"',
        'Object class = "TextGrid"',
        "",
        "xmin = 0.000",
        f"xmax = {seconds_text(end_ms)}",
        "tiers? <exists>",
        f"size = {len(tiers)}",
        "item []:",
    ]
    for number, (tier, spans) in enumerate(tiers.items(), 1):
        intervals = _contiguous(spans, end_ms)
        lines += [
            f"    item [{number}]:",
            '        class = "IntervalTier"',
            f"        name = {_quoted(tier)}",
            "        xmin = 0.000",
            f"        xmax = {seconds_text(end_ms)}",
            f"        intervals: size = {len(intervals)}",
        ]
        for index, (start, end, text) in enumerate(intervals, 1):
            lines += [
                f"        intervals [{index}]:",
                f"            xmin = {seconds_text(start)}",
                f"            xmax = {seconds_text(end)}",
                f"            text = {_quoted(text)}",
            ]
    return "\n".join(lines) + "\n"


def _tiers(turns: Sequence[Turn], end_ms: int) -> dict[str, list[tuple[int, int, str]]]:
    """Return the spans of each tier; within one they do not overlap."""
    spoken: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for turn in turns:
        start = min(turn.start_ms, end_ms - 1)
        spoken[_speaker(turn)].append((start, max(start + 1, turn.end_ms), turn.line))
    tiers: dict[str, list[tuple[int, int, str]]] = {}
    for speaker, spans in spoken.items():
        spans.sort(key=lambda span: span[0])
        lanes = assign_lanes([(start, end) for start, end, _ in spans])
        names: list[str] = []
        for lane in range(max(lanes) + 1):
            name = speaker if lane == 0 else f"{speaker} ({lane + 1})"
            while name in tiers or (lane and name in spoken):
                name += "'"
            names.append(name)
            tiers[name] = []
        for lane, span in zip(lanes, spans, strict=True):
            tiers[names[lane]].append(span)
    return tiers


def _contiguous(spans: list[tuple[int, int, str]], end_ms: int) -> list[tuple[int, int, str]]:
    """Return the spans with empty ones in the gaps, from 0 to the end."""
    intervals, reached = [], 0
    for start, end, text in spans:
        if start > reached:
            intervals.append((reached, start, ""))
        intervals.append((start, end, text))
        reached = end
    if reached < end_ms:
        intervals.append((reached, end_ms, ""))
    return intervals


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _speaker(turn: Turn) -> str:
    return turn.name or UNKNOWN_SPEAKER
