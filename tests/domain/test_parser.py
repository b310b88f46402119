"""The parser against the rule set's vectors, their neighbours and laws that hold for any input."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moss_demo.domain.parser import TranscriptParser, parse
from moss_demo.domain.transcript import Segment, SegmentFlag, Transcript
from moss_demo.domain.wrapping import Unwrapper

VECTOR_FILE = Path(__file__).parents[1] / "data" / "parser.jsonl"
VECTORS = [json.loads(line) for line in VECTOR_FILE.read_text(encoding="utf-8").splitlines()]

PIECES = [
    "[0.00]", "[1.5]", "[1.50]", "[2.0]", "[2]", "[3]", "[2024]", "[-0.5]", "[-5]", "[.5]", "[2.]",
    "[00:01:02]", "[1:02,5]", "[12345678]", "[ 0.48 ]", "[S01]", "[S02]", "[s1]", "[ S003 ]",
    "[S12345]", "[1.0-2.0]", "[3 - 5]", "[laughter]", "[", "]", "[[", "[]", "[1.", "[S0", "[-",
    "[1,200]", "hello", "你好", "مرحبا", "👏🏽", "a", ".", " ", "\n", "<|im_end|>", "<|", "|>", "<",
    "assistant", "\n[", "<think>", "</think>", "\ufeff", "\u2028", "\x00", "}", "-->", "S01]",
]  # fmt: skip
SOUPS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
TEXTS = st.one_of(SOUPS, st.text(max_size=60), st.lists(st.one_of(SOUPS, st.text())).map("".join))
DURATIONS = st.one_of(st.none(), st.floats(0, 3000))


def read(transcript: Transcript) -> list[dict[str, Any]]:
    """Return the segments in the form of the vectors."""
    return [
        {"start": s.start, "end": s.end, "speaker": s.speaker, "text": s.text}
        for s in transcript.segments
    ]


def spoken(text: str, duration_s: float | None = None) -> list[tuple[Any, ...]]:
    """Return times, speaker and text of each segment."""
    return [(s.start, s.end, s.speaker, s.text) for s in parse(text, duration_s).segments]


def stream(chunks: list[Any], duration_s: float | None = None) -> tuple[tuple[Segment, ...], bool]:
    """Return the segments of a stream, and whether it was complete."""
    parser = TranscriptParser(duration_s)
    segments: tuple[Segment, ...] = ()
    for chunk in chunks:
        segments += parser.feed(chunk)
    segments += parser.close()
    return segments, parser.complete


def cut(text: Any, cuts: list[int]) -> list[Any]:
    """Return the pieces of a text or of bytes, cut at the given places."""
    places = sorted(place % (len(text) + 1) for place in cuts)
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def is_subsequence(short: str, long: str) -> bool:
    """Tell whether the characters of one text stand in the other in the same order."""
    letters = iter(long)
    return all(letter in letters for letter in short)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors(vector: dict[str, Any]) -> None:
    """Every form of output that models and servers are known to write is read as agreed."""
    transcript = parse(vector["input"], vector.get("duration"))
    assert read(transcript) == vector["expected"]
    assert transcript.complete is vector["complete"]
    assert transcript.raw == vector["input"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors_streamed(vector: dict[str, Any]) -> None:
    """The same forms streamed character by character, byte by byte or as given are read alike."""
    whole = parse(vector["input"], vector.get("duration"))
    pieces: list[list[Any]] = [list(vector["input"])]
    pieces.append([bytes([byte]) for byte in vector["input"].encode()])
    pieces.append(vector.get("chunks", []) or [vector["input"]])
    pieces.append(
        [bytes.fromhex(chunk) for chunk in vector.get("byte_chunks_hex", [])] or [vector["input"]]
    )
    for chunks in pieces:
        assert stream(chunks, vector.get("duration")) == (whole.segments, whole.complete)


@given(TEXTS, st.lists(st.integers(0, 1000), max_size=12), DURATIONS)
@settings(max_examples=400)
def test_any_split_equals_the_whole(text: str, cuts: list[int], duration_s: float | None) -> None:
    """Where a stream is cut never changes what is read."""
    whole = parse(text, duration_s)
    assert stream(cut(text, cuts), duration_s) == (whole.segments, whole.complete)
    assert stream(list(text), duration_s) == (whole.segments, whole.complete)


@given(st.one_of(TEXTS.map(lambda text: text.encode("utf-8", "replace")), st.binary(max_size=40)),
       st.lists(st.integers(0, 1000), max_size=12))  # fmt: skip
def test_bytes_may_be_cut_inside_a_character(data: bytes, cuts: list[int]) -> None:
    """Bytes give what their text gives, also when a piece ends inside a character."""
    whole = parse(data.decode("utf-8", "replace"))
    assert stream(cut(data, cuts)) == (whole.segments, whole.complete)


@given(TEXTS, DURATIONS)
@settings(max_examples=400)
def test_no_letter_is_lost(text: str, duration_s: float | None) -> None:
    """All characters outside markers are in the segments, in order, and nothing is made up.

    Outside means: what remains of the unwrapped text without the brackets that have the form of
    a stamp, a label or a span, without a fragment of one at the very end, and without blanks.
    """
    unwrapper = Unwrapper()
    clean = unwrapper.feed(text) + unwrapper.close()[0]
    body = re.sub(r"\[[0-9Ss.,:\-\s]*\Z", "", clean)
    outside = re.sub(r"\[\s*[0-9Ss.][0-9.,:\-\s]*\]|\[\s*-[0-9.\s-]+\]", "", body)
    texts = "".join("".join(segment.text.split()) for segment in parse(text, duration_s).segments)
    assert is_subsequence("".join(outside.split()), texts)
    assert is_subsequence(texts, clean)


@given(TEXTS, DURATIONS)
def test_times_never_run_backwards(text: str, duration_s: float | None) -> None:
    """A start is never negative, an end never before its start, and no segment is empty."""
    for segment in parse(text, duration_s).segments:
        assert segment.text
        assert segment.text == segment.text.strip()
        assert segment.start is None or segment.start >= 0
        assert segment.end is None or segment.end >= (segment.start or 0)


@given(SOUPS, st.lists(st.integers(0, 1000), max_size=6))
def test_the_open_segment_becomes_the_next_one(text: str, cuts: list[int]) -> None:
    """What a live view shows as being written is the beginning of what is handed out next."""
    parser = TranscriptParser()
    shown: Segment | None = None
    for chunk in [*cut(text, cuts), None]:
        done = parser.close() if chunk is None else parser.feed(chunk)
        if shown is not None and done:
            assert (done[0].start, done[0].speaker) == (shown.start, shown.speaker)
            assert done[0].text.startswith(shown.text)
        shown = parser.open_segment if done or shown is None else (parser.open_segment or shown)
    assert parser.open_segment is None


def test_a_segment_is_handed_out_when_the_next_has_begun() -> None:
    """A live view gets a segment once later text cannot change it, and not before."""
    parser = TranscriptParser()
    assert parser.feed("[0.0][S01]hello[1.0]") == ()
    assert parser.open_segment == Segment(0.0, None, "S01", "hello")
    assert parser.feed("[1.0]") == ()
    assert parser.feed("[S02]") == (Segment(0.0, 1.0, "S01", "hello"),)
    assert parser.open_segment is None
    assert parser.feed("bye [1") == ()
    assert parser.open_segment == Segment(1.0, None, "S02", "bye")
    assert parser.feed("2] men") == ()
    assert parser.open_segment == Segment(1.0, None, "S02", "bye [12] men")
    assert parser.close() == (Segment(1.0, None, "S02", "bye [12] men", (SegmentFlag.OPEN_END,)),)
    assert parser.close() == ()


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "[" * 200_000,
        "[1.0]" * 40_000,
        "[0." + "1" * 200_000,
        "[1" + " " * 200_000 + "]",
        "[1-2]" * 40_000,
        "<" * 200_000,
        "<|im_" * 40_000,
        "<think>" + "x" * 200_000,
        "[0.0][S01]x[1.0]" + " " * 200_000,
    ],
    ids=lambda text: text[:12].strip(),
)
def test_long_degenerate_text_takes_linear_work(text: str) -> None:
    """A run that writes one character for ever does not hang the view that follows it."""
    segments, _ = stream(list(text))
    assert segments == parse(text).segments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # what follows a run of stamps decides
        ("[0.0][S01]a[1.0][S02]b[2.0]", [(0.0, 1.0, "S01", "a"), (1.0, 2.0, "S02", "b")]),
        ("[0.0][S01]a[1.0][S01]b[2.0]", [(0.0, 1.0, "S01", "a"), (1.0, 2.0, "S01", "b")]),
        ("[0.0][S01]see [12][4.0][5.0][S02]ok[6.0]",
         [(0.0, 4.0, "S01", "see [12]"), (5.0, 6.0, "S02", "ok")]),
        ("[0.0][S01]rows [1][2] here[4.0]", [(0.0, 4.0, "S01", "rows [1][2] here")]),
        ("[0.0]rows [3][3] here[4.0]", [(0.0, 3.0, None, "rows"), (3.0, 4.0, None, "here")]),
        ("[0.0]a[2.0][1.0] b[4.0]", [(0.0, 4.0, None, "a[2.0][1.0] b")]),
        ("[20.0]from [1.5][2.5] on[24.0]", [(20.0, 24.0, None, "from [1.5][2.5] on")]),
        ("[0.0]a[1.5][1.5][1.5]b[2.0]", [(0.0, 1.5, None, "a"), (1.5, 2.0, None, "b")]),
        ("[0.0]a[1.5][1.5][3] men[2.0]", [(0.0, 1.5, None, "a"), (1.5, 2.0, None, "[3] men")]),
        ("[0.0][5] men[2.0]", [(0.0, 2.0, None, "[5] men")]),
        ("[0.0][S01]said [2024][3.0][S02]b[4.0]",
         [(0.0, 3.0, "S01", "said [2024]"), (3.0, 4.0, "S02", "b")]),
        ("[0:01.5][S01]clock[0:03]", [(1.5, 3.0, "S01", "clock")]),
        ("[0:01.5][S01]at [0:75] o'clock[0:03]", [(1.5, 3.0, "S01", "at [0:75] o'clock")]),
        # labels
        ("[0.0][s01]a[1.0]", [(0.0, 1.0, "S01", "a")]),
        ("[0.0][S00]a[1.0]", [(0.0, 1.0, "S00", "a")]),
        ("[0.0][S]a[1.0]", [(0.0, 1.0, None, "[S]a")]),
        ("[0.0][SPEAKER_01]a[1.0]", [(0.0, 1.0, None, "[SPEAKER_01]a")]),
        ("[0.0][S01][1.0][S02]b[2.0]", [(1.0, 2.0, "S02", "b")]),
        ("[0.0]a[S01]b[2.0]", [(0.0, None, None, "a"), (None, 2.0, "S01", "b")]),
        ("[S01]a[1.0]", [(None, 1.0, "S01", "a")]),
        # spans
        ("[1-2][S1]see [3-5] and[3.5-4][S2]b",
         [(1.0, 2.0, "S01", "see [3-5] and"), (3.5, 4.0, "S02", "b")]),
        ("[00:01-00:03][S01]a", [(1.0, 3.0, "S01", "a")]),
        ("[1-2][S01]only [2.4] km", [(1.0, 2.0, "S01", "only [2.4] km")]),
        ("[0.0][S01]a[1.0][1.5-2][S02]b", [(0.0, 1.0, "S01", "a"), (1.5, 2.0, "S02", "b")]),
        ("[1-2]", [(None, None, None, "[1-2]")]),
        # values
        ("[10][S01]see item [3]", [(10.0, None, "S01", "see item [3]")]),
        ("[10.0][S01]see [3] items[3.0]", [(10.0, 10.0, "S01", "see [3] items")]),
        ("[0.0][S01]minus [-5]", [(0.0, None, "S01", "minus [-5]")]),
        ("[0,5][S01]a[1.5]", [(None, None, None, "[0,5]"), (None, 1.5, "S01", "a")]),
        ("[０.５][S01]a[1.5]", [(None, None, None, "[０.５]"), (None, 1.5, "S01", "a")]),
        ("[0.0][S01]a[0.0]", [(0.0, 0.0, "S01", "a")]),
        # what wraps the answer
        ("assistant[0.5][S01]a[1.0]", [(0.5, 1.0, "S01", "a")]),
        ("assistant manager", [(None, None, None, "assistant manager")]),
        ("assistant", [(None, None, None, "assistant")]),
        ("<think>[0.5][S01]a[1.0]", [(None, None, None, "<think>"), (0.5, 1.0, "S01", "a")]),
        ("<|im_start|>assistant\n<think>\n\n</think>\n[0.5][S01]a[1.0]", [(0.5, 1.0, "S01", "a")]),
        ("[0.<|x|>5][S01]a <|not a token|> b[1.0]", [(0.5, 1.0, "S01", "a <|not a token|> b")]),
        # cut output
        ("[0.0][S01]a[1.0][laugh", [(0.0, None, "S01", "a[1.0][laugh")]),
        ("[0.0][S01]a[1.0][2.", [(0.0, 1.0, "S01", "a")]),
        ("[0][S01]a[1][2][S", [(0.0, 1.0, "S01", "a")]),
        ("[0.0][S01]a[00:0", [(0.0, None, "S01", "a")]),
        ("[0.0][S01]a[12345678", [(0.0, None, "S01", "a[12345678")]),
        ("[0.0][S01]a[1.0]<|im_e", [(0.0, 1.0, "S01", "a")]),
        ("[0.0][S01]a <", [(0.0, None, "S01", "a <")]),
        ("[0.0][S01]a <|b<|im_end|>", [(0.0, None, "S01", "a <|b")]),
    ],
)  # fmt: skip
def test_neighbours(text: str, expected: list[tuple[Any, ...]]) -> None:
    """One step beside the agreed forms, each rule still gives what a reader would say."""
    assert spoken(text) == expected


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", False),
        ("[0.0][S01]a[1.0]", True),
        ("[0.0][S01]a[1.0] \n", True),
        ("[0.0][S01]a[1.0][", False),
        ("[0.0][S01]a[1.0][2.0]", False),
        ("[0.0][S01]a[1.0][1.0]", False),
        ("[0.0][S01]a[1.0][2.0][S02]", False),
        ("[0.0][S01]a[1.0]<|im_e", False),
        ("[1.0-2.0][S01]a", True),
        ("[1.0-2.0][S01]", False),
        ("[1.0-2.0][S01]a[2.5-", False),
    ],
)
def test_complete(text: str, complete: bool) -> None:
    """A text counts as complete only when an end closes it and nothing is pending."""
    assert parse(text).complete is complete


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("Sure:\n[0.5][S01]a[1.0]", [(SegmentFlag.PREAMBLE,), ()]),
        ("[5.0][S01]a[3.0]", [(SegmentFlag.END_BEFORE_START,)]),
        ("[-0.1][S01]a[-0.2]", [(SegmentFlag.NEGATIVE_START, SegmentFlag.END_BEFORE_START)]),
        ("[0.0][S01][S02]a[1.0]", [(SegmentFlag.LABEL_REPLACED,)]),
        ("[0.0][S01][S01]a[1.0]", [()]),
        ("[0.0][S01]a[S02]b", [(SegmentFlag.OPEN_END,), (SegmentFlag.OPEN_END,)]),
    ],
)
def test_flags(text: str, flags: list[tuple[SegmentFlag, ...]]) -> None:
    """Whatever could not be read as written is flagged on its segment."""
    assert [segment.flags for segment in parse(text).segments] == flags


def test_whole_numbers_beyond_the_recording_are_spoken() -> None:
    """With the length known, a year in brackets is never taken for a stamp."""
    text = "[1.0][S01]since [2024][S02]yes[3.0]"
    assert spoken(text, 30.0) == [
        (1.0, None, "S01", "since [2024]"),
        (None, 3.0, "S02", "yes"),
    ]
    assert spoken("[1][S01]a[30]", 29.6) == [(1.0, 30.0, "S01", "a")]
    assert spoken("[1.0][S01]a[4809.80]", 30.0) == [(1.0, 4809.8, "S01", "a")]


@given(st.text(alphabet="asitn<>think/|_ \n[", max_size=40))
def test_nothing_is_taken_from_plain_text(text: str) -> None:
    """Only a leading role, a closed thought and special tokens are ever removed."""
    unwrapper = Unwrapper()
    kept = unwrapper.feed(text) + unwrapper.close()[0]
    assert is_subsequence(kept, text)
    if "<" not in text and not text.lstrip().startswith("assistant"):
        assert kept == text.lstrip()
