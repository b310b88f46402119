"""Blocks of any kind become one mono waveform that later stages can trust."""

import librosa
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from moss_demo.engine.sound_source import Block, UnreadableError
from moss_demo.engine.waveform import TooLongError, collect, repair
from tests.engine.recordings import RATE_HZ, spoken


def columns(*channels: NDArray[np.float32], rate_hz: int = RATE_HZ) -> Block:
    """Put channels side by side."""
    return Block(np.stack(channels, axis=1).astype(np.float32), rate_hz)


def level(samples: NDArray[np.float32]) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 22_050, 44_100, 48_000, 192_000])
def test_resampling_in_blocks_is_resampling_at_once(rate_hz: int) -> None:
    """Where a block ends leaves no trace: the result is librosa's for the whole."""
    noise = np.random.default_rng(1).standard_normal(rate_hz + 17).astype(np.float32) / 10
    blocks = [Block(part[:, np.newaxis], rate_hz) for part in np.array_split(noise, 13)]
    whole = librosa.resample(noise, orig_sr=rate_hz, target_sr=RATE_HZ, res_type="soxr_hq")
    pieces = collect(blocks).samples
    assert abs(len(whole) - len(pieces)) <= 1
    assert np.array_equal(pieces, whole[: len(pieces)])


def test_speakers_on_different_sides_are_both_heard() -> None:
    """Down-mixing takes the left and the right channel."""
    half = len(spoken()) // 2
    left, right = spoken().copy(), spoken().copy()
    left[half:], right[:half] = 0.0, 0.0
    assert np.allclose(collect([columns(left, right)]).samples, spoken() / 2)


def test_silent_channels_do_not_weaken_the_others() -> None:
    """Speech in the centre of six channels keeps its level."""
    nothing = np.zeros_like(spoken())
    surround = columns(nothing, nothing, spoken(), nothing, nothing, nothing)
    assert np.allclose(collect([surround]).samples, spoken(), atol=1e-6)


@pytest.mark.parametrize("scale", [-1.0, -0.9, -0.8])
def test_opposite_channels_are_noticed(scale: float) -> None:
    """A microphone wired the wrong way round would make the mean silent."""
    waveform = collect([columns(spoken(), scale * spoken())])
    assert waveform.cancels
    assert waveform.loudest_channel == 0
    alone = collect([columns(spoken(), scale * spoken())], channel=waveform.loudest_channel)
    assert np.array_equal(alone.samples, spoken())


@pytest.mark.parametrize("offset", [0.0, 0.4])
def test_opposite_channels_are_noticed_behind_an_offset(offset: float) -> None:
    """A constant part is no sound and does not hide that the sound cancels."""
    assert collect([columns(spoken() + offset, offset - spoken())]).cancels


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_independent_channels_never_count_as_opposite(channels: int, seed: int) -> None:
    """Ordinary stereo and microphone arrays are mixed."""
    noise = np.random.default_rng(seed).standard_normal((4_000, channels)).astype(np.float32)
    assert not collect([Block(noise, RATE_HZ)]).cancels


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3_000), st.integers(1, 6), st.sampled_from([8_000, 16_000, 44_100])
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=50)
def test_any_blocks_give_finite_samples_of_the_right_length(
    shapes: list[tuple[int, int, int]], seed: int
) -> None:
    """Streams that change rate or channels, with any garbage in them, stay usable."""
    rng = np.random.default_rng(seed)
    garbage = np.array([np.nan, np.inf, -np.inf, 3e38, -1e20], np.float32)
    blocks, duration_s = [], 0.0
    for length, channels, rate_hz in shapes:
        samples = rng.uniform(-1, 1, (length, channels)).astype(np.float32)
        hit = rng.random(samples.shape) < 0.01
        samples[hit] = rng.choice(garbage, int(hit.sum()))
        blocks.append(Block(samples, rate_hz))
        duration_s += length / rate_hz
    waveform = collect(blocks)
    assert np.isfinite(waveform.samples).all()
    assert abs(waveform.duration_s - duration_s) <= (len(shapes) + 1) / RATE_HZ
    assert waveform.seen == sum(block.samples.size for block in blocks)


def test_what_is_no_number_becomes_zero_and_is_counted() -> None:
    """A few broken samples cost themselves only."""
    samples = spoken().copy()
    samples[[10, 20, 30]] = np.nan, np.inf, -np.inf
    waveform = collect([columns(samples)])
    assert waveform.unusable == 3
    samples[[10, 20, 30]] = 0.0
    assert np.array_equal(waveform.samples, samples)


def test_the_limit_stops_an_endless_stream() -> None:
    """Nothing beyond the limit is read, so that no amount of silence fills the memory."""
    taken = []

    def endless() -> object:
        while True:
            taken.append(1)
            yield columns(np.zeros(RATE_HZ, np.float32))

    with pytest.raises(TooLongError):
        collect(endless(), limit_s=10)  # type: ignore[arg-type]  # an iterator of blocks
    assert len(taken) == 11


@pytest.mark.parametrize("rate_hz", [0, -1, 7, 4_000_000_000])
def test_absurd_rates_allocate_nothing(rate_hz: int) -> None:
    """A rate out of a broken header is refused before anything is resampled."""
    with pytest.raises(UnreadableError):
        collect([columns(np.zeros(100, np.float32), rate_hz=rate_hz)])


def test_no_blocks_are_an_empty_waveform() -> None:
    """A file without samples is told apart from a silent one."""
    waveform = collect([])
    assert (waveform.seen, len(waveform.samples), waveform.peak) == (0, 0, 0.0)


def test_samples_far_above_full_scale_are_scaled_and_never_wrapped() -> None:
    """Integer samples in a float file keep their shape."""
    samples, warnings = repair(spoken() * np.float32(32_768))
    assert np.abs(samples).max() == pytest.approx(1.0)
    assert np.allclose(samples / level(samples), spoken() / level(spoken()), atol=1e-4)
    assert len(warnings) == 1
    assert "scaled down" in warnings[0]


def test_a_constant_offset_is_removed() -> None:
    """A cheap sound card's offset neither eats the range nor counts as level."""
    samples, warnings = repair(spoken() * np.float32(0.5) + np.float32(0.4))
    assert abs(float(samples.mean())) < 1e-4
    assert warnings == ("A constant offset of +0.40 was removed.",)


def test_a_quiet_recording_is_kept_and_named() -> None:
    """The model sees the samples as they are; the person learns why it may go wrong."""
    quiet = spoken() * np.float32(1e-3 / np.abs(spoken()).max())
    samples, warnings = repair(quiet.copy())
    assert np.array_equal(samples, quiet)
    assert warnings == ("The recording is very quiet (peak -60 dBFS); the transcript may suffer.",)


def test_sound_and_digital_silence_pass_untouched() -> None:
    """No warning where there is nothing to say; silence is for the speech gate to name."""
    for samples in (spoken(), np.zeros(RATE_HZ, np.float32)):
        same, warnings = repair(samples.copy())
        assert np.array_equal(same, samples)
        assert warnings == ()
