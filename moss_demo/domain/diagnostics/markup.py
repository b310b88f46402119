"""Finds segments that came without times or labels, or with text where none belongs."""

from collections.abc import Iterator

from moss_demo.domain.diagnostics.kinds import Diagnostic, DiagnosticKind
from moss_demo.domain.diagnostics.wording import count, excerpt, places
from moss_demo.domain.transcript import Segment, SegmentFlag


def unmarked(segments: tuple[Segment, ...]) -> Iterator[Diagnostic]:
    """Find what the markup leaves out; `segments` holds at least one."""
    labelled = any(segment.speaker is not None for segment in segments)
    timed = any(segment.start is not None or segment.end is not None for segment in segments)
    if not labelled and not timed:
        yield Diagnostic(
            DiagnosticKind.NO_MARKUP,
            "The model answered in plain text, without times and speakers. Run again with the "
            "default prompt, in Chinese or English.",
        )
        return
    if not timed:
        yield Diagnostic(
            DiagnosticKind.NO_TIMES,
            "The model wrote speakers but no times, so nothing can be placed on the timeline and "
            "exports spread the text over the recording. Run again with a prompt that asks for "
            "time stamps.",
        )
    else:
        yield from _missing_times(segments)
    yield from _missing_labels(segments, labelled)
    yield from _flagged(segments)


def _missing_times(segments: tuple[Segment, ...]) -> Iterator[Diagnostic]:
    *earlier, last = enumerate(segments)
    open_end = last[1].start is not None  # an open end of the text is another diagnostic
    found = tuple(
        index
        for index, segment in (earlier if open_end else [*earlier, last])
        if (segment.start is None or segment.end is None)
        and SegmentFlag.PREAMBLE not in segment.flags
    )
    if found:
        yield Diagnostic(
            DiagnosticKind.MISSING_TIMES,
            f"{count(found, 'segment lacks', 'segments lack')} a start or an end"
            f"{places(segments, found)}. Exports fill them in from their neighbours; set them by "
            "ear where they matter.",
            found,
        )


def _missing_labels(segments: tuple[Segment, ...], labelled: bool) -> Iterator[Diagnostic]:
    found = tuple(
        index
        for index, segment in enumerate(segments)
        if segment.speaker is None and SegmentFlag.PREAMBLE not in segment.flags
    )
    if not found:
        return
    if labelled:
        seen = f"{count(found, 'segment has', 'segments have')} no speaker label"
        seen += places(segments, found)
    else:
        seen = "No segment has a speaker label"
    yield Diagnostic(
        DiagnosticKind.MISSING_LABELS,
        f"{seen}. Recordings of one voice often come without; otherwise run again with the "
        "default prompt.",
        found,
    )


def _flagged(segments: tuple[Segment, ...]) -> Iterator[Diagnostic]:
    for index, segment in enumerate(segments):
        if SegmentFlag.PREAMBLE in segment.flags:
            yield Diagnostic(
                DiagnosticKind.PREAMBLE,
                f"The text begins with “{excerpt(segment.text)}” before the first stamp or label. "
                "It may be a remark of the model and not speech; it is kept without time and "
                "speaker.",
                (index,),
            )
    replaced = tuple(
        index for index, one in enumerate(segments) if SegmentFlag.LABEL_REPLACED in one.flags
    )
    if replaced:
        yield Diagnostic(
            DiagnosticKind.LABEL_REPLACED,
            f"{count(replaced, 'segment was', 'segments were')} written with several labels"
            f"{places(segments, replaced)}. The last one is shown; voices may overlap there, see "
            "the raw text for the others.",
            replaced,
        )
