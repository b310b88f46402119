"""Transcripts for the scoring tests, in a line each."""

from hypothesis import strategies as st

from moss_demo.domain.transcript import Segment, Transcript

WORDS = ["yes", "no", "okay", "we", "should", "begin", "你", "好", "第", "Ja,", "[laughter]"]


def spoken(*turns: tuple[str | None, str]) -> Transcript:
    """Return turns of two seconds each, one after the other."""
    return Transcript(
        tuple(
            Segment(2.0 * index, 2.0 * index + 2, speaker, text)
            for index, (speaker, text) in enumerate(turns)
        )
    )


def timed(*turns: tuple[float | None, float | None, str | None, str]) -> Transcript:
    """Return turns with their own times."""
    return Transcript(tuple(Segment(*turn) for turn in turns))


@st.composite
def transcripts(draw: st.DrawFn, max_turns: int = 6, min_turns: int = 0) -> Transcript:
    """Draw turns of few speakers and few words, so that ties and repeats are common."""
    turns = draw(
        st.lists(
            st.tuples(
                st.integers(0, 3000),
                st.integers(1, 900),
                st.sampled_from(["S01", "S02", "S03", None]),
                st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
            ),
            min_size=min_turns,
            max_size=max_turns,
        )
    )
    return Transcript(
        tuple(
            Segment(start / 100, (start + length) / 100, speaker, text)
            for start, length, speaker, text in turns
        )
    )
