"""WebVTT subtitles with voices, read by hand since the common readers lose `<v Name>`."""

import html
import re
from collections.abc import Iterator
from dataclasses import replace

from moss_demo.domain.references.labels import split_labels
from moss_demo.domain.references.turns import clock_s, reading_error, turn
from moss_demo.domain.transcript import Segment, Transcript

_TIMING = re.compile(r"\s*(\S+)\s+-->\s+(\S+)(?:\s.*)?")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]*)>")
_TAG = re.compile(r"<[^<>]*>")


def is_vtt(text: str) -> bool:
    """Say whether the text begins with the signature."""
    return re.match(r"WEBVTT(?:\s|$)", text) is not None


def read_vtt(text: str) -> Transcript:
    """Read every cue; several voices in one cue become several segments with its times.

    Raises:
        TranscriptError: the signature is missing or a timing cannot be read.
    """
    if not is_vtt(text):
        raise reading_error("the first line of WebVTT is WEBVTT.", 1)
    segments = [segment for block in _blocks(text) for segment in _read_block(block)]
    if any(segment.speaker for segment in segments):
        return Transcript(tuple(segments))
    labelled = split_labels([segment.text for segment in segments])
    return Transcript(
        tuple(
            replace(segment, speaker=speaker, text=words.strip())
            for segment, (speaker, words) in zip(segments, labelled, strict=True)
        )
    )


def _blocks(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yield runs of lines without a blank one, with their line numbers; the header is one."""
    block: list[tuple[int, str]] = []
    for line, written in enumerate([*text.split("\n"), ""], 1):
        if written.strip():
            block.append((line, written))
        elif block:
            yield block
            block = []


def _read_block(block: list[tuple[int, str]]) -> Iterator[Segment]:
    """Yield a cue's segments; header, notes, styles and regions have no timing and yield none."""
    timing = next((i for i, (_, written) in enumerate(block[:2]) if "-->" in written), None)
    if timing is None or block[0][1].startswith("NOTE"):
        return
    line, written = block[timing]
    match = _TIMING.fullmatch(written)
    if match is None:
        raise reading_error("a timing is HH:MM:SS.mmm --> HH:MM:SS.mmm.", line)
    start, end = clock_s(match[1], line), clock_s(match[2], line)
    payload = "\n".join(written for _, written in block[timing + 1 :])
    parts = _VOICE.split(payload)
    for speaker, words in zip([None, *parts[1::2]], parts[::2], strict=True):
        spoken = html.unescape(_TAG.sub("", words))
        if spoken.strip() or (speaker is not None):
            name = None if speaker is None else html.unescape(speaker)
            yield turn(start, end, name, spoken, f"Line {line}")
