"""Whoever speaks is heard, at any level, and nothing else counts as speech."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from moss_demo.domain.audio import AudioClip
from moss_demo.engine import speech_network
from moss_demo.engine.speech import SpeechGate, speech_frames
from moss_demo.engine.speech_network import CONTEXT_SAMPLES, load_speech_network
from moss_demo.errors import CheckpointError
from tests.engine.recordings import RATE_HZ, spoken

TIME_S = np.arange(10 * RATE_HZ) / RATE_HZ


@pytest.fixture(scope="module")
def gate() -> SpeechGate:
    """One gate for all tests, as an engine has one for all runs."""
    return SpeechGate()


def clip(samples: NDArray[np.floating]) -> AudioClip:
    """Wrap samples."""
    return AudioClip("test", np.asarray(samples, np.float32))


def quiet(seconds: float) -> NDArray[np.float32]:
    """Return digital silence."""
    return np.zeros(round(seconds * RATE_HZ), np.float32)


def tone(*frequencies_hz: float) -> NDArray[np.float64]:
    """Return ten seconds of pure tones."""
    return sum((np.sin(2 * np.pi * f * TIME_S) for f in frequencies_hz), np.zeros_like(TIME_S)) / 9


def coloured(exponent: float) -> NDArray[np.float64]:
    """Return ten seconds of noise whose power falls with the frequency to the exponent."""
    noise = np.fft.rfft(np.random.default_rng(7).standard_normal(len(TIME_S)))
    shaped = np.fft.irfft(noise / np.arange(1, len(noise) + 1) ** (exponent / 2))
    return shaped / np.abs(shaped).max() / 2


def keypad() -> NDArray[np.float64]:
    """Return dialling tones with pauses."""
    keys = zip([697, 770, 852, 941] * 4, [1209, 1336, 1477, 1209] * 4, strict=True)
    return np.concatenate([np.append(tone(*key)[:3_200], quiet(0.1)) for key in keys])


SILENT = {
    "silence": np.zeros(10 * RATE_HZ),
    "last bit": np.random.default_rng(1).integers(-1, 2, 10 * RATE_HZ) / 32_768,
    "white noise": coloured(0),
    "pink noise": coloured(1),
    "brown noise": coloured(2),
    "50 Hz": tone(50),
    "1 kHz": tone(1_000),
    "mains hum": tone(60, 120, 180, 240, 300),
    "buzz": tone(*range(50, 650, 50)),
    "chord": tone(220, 277, 330, 440),
    "keypad": keypad(),
    "beeps": np.where(TIME_S % 0.7 < 0.25, tone(300, 900, 1_500, 2_100), 0.0),
    "chirp": np.sin(2 * np.pi * (50 * TIME_S + 100 * TIME_S**2)) / 3,
    "clicks": np.where(np.arange(10 * RATE_HZ) % 9_001 == 0, 0.8, 0.0),
    "offset": np.full(10 * RATE_HZ, 0.4),
}


@pytest.mark.parametrize("level", [1.0, 0.01, 0.001])
@pytest.mark.parametrize("name", SILENT)
def test_what_nobody_says_is_no_speech(gate: SpeechGate, name: str, level: float) -> None:
    """Silence, tones and noise stay what they are when their level is raised."""
    assert gate.find_speech(clip(SILENT[name] * level)) == ()


@pytest.mark.parametrize("level_db", [6, 0, -20, -40, -60])
def test_speech_is_found_at_any_level(gate: SpeechGate, level_db: int) -> None:
    """A microphone that is far too low, or clips, still lets every turn through."""
    samples = spoken() / np.abs(spoken()).max() * 10 ** (level_db / 20)
    found = gate.find_speech(clip(np.round(np.clip(samples, -1, 1) * 32_768) / 32_768))
    covered_s = sum(end - start for start, end in found)
    assert 0.3 < found[0][0] < 0.7
    assert covered_s > 4.5


def test_an_offset_and_a_click_do_not_hide_quiet_speech(gate: SpeechGate) -> None:
    """The level is that of the sound and not of its flaws."""
    samples = spoken() * np.float32(0.003) + np.float32(0.3)
    samples[50_000] = 0.99
    assert sum(end - start for start, end in gate.find_speech(clip(samples))) > 4.5


@pytest.mark.parametrize("snr_db", [20, 5, 0])
def test_speech_in_noise_is_found(gate: SpeechGate, snr_db: int) -> None:
    """A noisy room is no reason to send nothing to the model."""
    noise = np.random.default_rng(2).standard_normal(len(spoken())) * spoken().std()
    found = gate.find_speech(clip(spoken() + noise * 10 ** (-snr_db / 20)))
    assert sum(end - start for start, end in found) > 4.0


@pytest.mark.parametrize("around_s", [0.0, 0.5, 2.0, 30.0])
def test_one_short_word_in_silence_is_found(gate: SpeechGate, around_s: float) -> None:
    """A quarter of a second of one word is let through, wherever it stands."""
    word = spoken()[9_600:13_600]
    samples = np.concatenate([quiet(around_s), word, quiet(around_s)])
    found = gate.find_speech(clip(samples))
    assert len(found) == 1
    assert found[0][0] == pytest.approx(around_s, abs=0.2)
    assert found[0][1] == pytest.approx(around_s + 0.25, abs=0.25)


def test_where_speech_ends_is_known(gate: SpeechGate) -> None:
    """The truncation diagnostic relies on the end, however long the silence after it."""
    spans = gate.find_speech(clip(np.concatenate([quiet(3), spoken(), quiet(120)])))
    assert spans[0][0] == pytest.approx(3.5, abs=0.2)
    assert spans[-1][1] == pytest.approx(9.0, abs=0.3)


def test_long_clips_are_judged_as_short_ones(gate: SpeechGate) -> None:
    """Where a batch ends leaves no trace."""
    turn = np.concatenate([spoken(), quiet(10)])
    spans = gate.find_speech(clip(np.tile(turn, 8)))
    ends_s = {round(end % 16, 1) for _, end in spans if end % 16 > 5}
    assert len([1 for start, _ in spans if start % 16 < 1]) == 8
    assert max(ends_s) - min(ends_s) < 0.2


def test_spans_lie_within_the_clip(gate: SpeechGate) -> None:
    """The last frame is filled up, and its filling is not part of the recording."""
    for length in (1_600, 1_999, 50_001):
        audio = clip(spoken()[9_600 : 9_600 + length])
        spans = gate.find_speech(audio)
        assert all(0 <= start < end <= audio.duration_s for start, end in spans)


def test_runs_of_several_threads_do_not_mix(gate: SpeechGate) -> None:
    """One gate serves all devices at once."""
    clips = [clip(np.roll(spoken(), 4_000 * shift)) for shift in range(6)]
    alone = [gate.find_speech(audio) for audio in clips]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(SpeechGate().find_speech, clips)) == alone


def test_the_package_of_the_weights_is_never_imported(gate: SpeechGate) -> None:
    """Its import would leave the whole process with a single thread."""
    threads = torch.get_num_threads()
    gate.find_speech(clip(spoken()))
    assert "silero_vad" not in sys.modules
    assert torch.get_num_threads() == threads


def test_missing_weights_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the person learns what to install or to switch off."""
    monkeypatch.setattr(speech_network, "_PACKAGE", "no_such_package")
    with pytest.raises(
        CheckpointError, match=r"install silero-vad .* or switch the speech gate off"
    ):
        SpeechGate().find_speech(clip(spoken()))


def test_the_network_gives_the_same_in_parts() -> None:
    """The state that it returns is all that it remembers."""
    network = load_speech_network()
    samples = torch.from_numpy(spoken()[: CONTEXT_SAMPLES + 40 * 512].copy())
    whole, _ = network(samples)
    first, state = network(samples[: CONTEXT_SAMPLES + 15 * 512])
    second, _ = network(samples[15 * 512 :], state)
    assert torch.allclose(torch.cat([first, second]), whole, atol=1e-5)


@given(st.lists(st.floats(0, 1, width=32), max_size=200))
def test_runs_are_sorted_and_disjoint(probabilities: list[float]) -> None:
    """Whatever the network says, spans are well formed and hold what is certain."""
    runs = speech_frames(np.array(probabilities, np.float32))
    flat = [edge for run in runs for edge in run]
    assert flat == sorted(set(flat))
    assert not flat or (flat[0] >= 0 and flat[-1] <= len(probabilities))
    certain = [max(probabilities[i : i + 4]) for i in range(len(probabilities) - 3)
               if min(probabilities[i : i + 4]) >= 0.4]  # fmt: skip
    assert bool(runs) == bool(certain)


def test_pauses_within_speech_are_bridged() -> None:
    """A breath does not end a turn, half a second does."""
    word, breath, pause = [0.9] * 10, [0.0] * 8, [0.0] * 16
    frames = np.array([0.0] * 10 + word + breath + word + pause + word + [0.0] * 10, np.float32)
    assert speech_frames(frames) == [(7, 41), (51, 67)]
