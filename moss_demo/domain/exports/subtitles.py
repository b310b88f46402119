"""Writes subtitles: SubRip, WebVTT and Advanced SubStation Alpha.

Cues are sorted by start and every one is visible; overlapping speech stays overlapping.
"""

import re
from collections.abc import Sequence

from moss_demo.domain.exports.times import Turn, assign_lanes, clock, visible

_ARROW = re.compile(r"-{2,}>")
_SRT_TAG = re.compile(r"<|\{(?=\\)")
_WORD_JOINER = "\u2060"

_ASS_COLOURS = ("FFFFFF", "7FE3FF", "A8F0A8", "FFC58A", "D6A8FF", "8A9BFF", "F0E68C", "C8C8C8")
_ASS_HEADER = """\
[Script Info]
ScriptType: v4.00+
PlayResX: 1920
PlayResY: 1080
WrapStyle: 0
ScaledBorderAndShadow: yes

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, \
Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, \
Alignment, MarginL, MarginR, MarginV, Encoding
"""
_ASS_STYLE = (
    "Style: {name},Arial,54,&H00{colour},&H000000FF,&H00000000,&H80000000,"
    "0,0,0,0,100,100,0,0,1,3,1,2,60,60,{margin},1\n"
)
_ASS_MARGIN = 40
_ASS_LANE_HEIGHT = 70


def srt(turns: Sequence[Turn], limit_ms: int) -> str:
    """Return SubRip cues with the speaker in front of the words.

    `-->` inside words becomes `->`; what a player may take for a tag, and drop with all up to the
    next bracket, gets a word joiner (U+2060) behind its bracket, since SubRip has no escape.
    """
    cues = []
    for number, (start_ms, end_ms, turn) in enumerate(visible(turns, limit_ms), 1):
        words = _ARROW.sub("->", turn.caption)
        words = _SRT_TAG.sub(rf"\g<0>{_WORD_JOINER}", words)
        cues.append(f"{number}\n{clock(start_ms, ',')} --> {clock(end_ms, ',')}\n{words}\n")
    return "\n".join(cues)


def vtt(turns: Sequence[Turn], limit_ms: int) -> str:
    """Return WebVTT cues with the speaker as their voice."""
    cues = ["WEBVTT\n"]
    for start_ms, end_ms, turn in visible(turns, limit_ms):
        words = turn.line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        if turn.speaker is not None:
            words = f"<v {_vtt_annotation(turn.name)}>{words}</v>"
        cues.append(f"{clock(start_ms)} --> {clock(end_ms)}\n{words}\n")
    return "\n".join(cues)


def ass(turns: Sequence[Turn], limit_ms: int) -> str:
    """Return SubStation events, one style and colour a speaker, overlaps raised in lanes."""
    cues = visible(turns, limit_ms)
    names = list(dict.fromkeys(_ass_name(turn) for _, _, turn in cues))
    styles = [
        _ASS_STYLE.format(
            name=name or "Default",
            colour=_ASS_COLOURS[index % len(_ASS_COLOURS)],
            margin=_ASS_MARGIN,
        )
        for index, name in enumerate(names or [""])
    ]
    lines = [
        _ASS_HEADER,
        *styles,
        "\n[Events]\n",
        "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n",
    ]
    spans = [_ass_span(start_ms, end_ms) for start_ms, end_ms, _ in cues]
    for (start, end), lane, (_, _, turn) in zip(spans, assign_lanes(spans), cues, strict=True):
        name = _ass_name(turn)
        margin = _ASS_MARGIN + lane * _ASS_LANE_HEIGHT if lane else 0
        lines.append(
            f"Dialogue: 0,{_ass_clock(start)},{_ass_clock(end)},{name or 'Default'},{name},"
            f"0,0,{margin},,{_ass_text(turn.line)}\n"
        )
    return "".join(lines)


def _vtt_annotation(name: str) -> str:
    """Return a name without what ends or escapes an annotation; look-alikes take the place."""
    return name.replace("&", "＆").replace("<", "＜").replace(">", "＞")


def _ass_name(turn: Turn) -> str:
    """Return a name without the comma that would end its field, or nothing."""
    return turn.name.replace(",", "，")


def _ass_text(text: str) -> str:
    """Keep braces and backslashes visible instead of commanding the renderer."""
    text = text.replace("\\", f"\\{_WORD_JOINER}")
    return text.replace("{", r"\{").replace("}", r"\}")


def _ass_span(start_ms: int, end_ms: int) -> tuple[int, int]:
    """Return centiseconds, rounded half up, at least one long."""
    start = (start_ms + 5) // 10
    return start, max(start + 1, (end_ms + 5) // 10)


def _ass_clock(centiseconds: int) -> str:
    seconds, centiseconds = divmod(centiseconds, 100)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}.{centiseconds:02d}"
