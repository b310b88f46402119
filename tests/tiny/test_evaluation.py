from pathlib import Path

import numpy as np
import pytest
import soundfile

from moss_demo.errors import MossDemoError
from moss_demo.tiny import builtin
from moss_demo.tiny.__main__ import build_parser
from moss_demo.tiny.evaluation import judge, measure, table_row
from moss_demo.tiny.heldout import Clip, joined_digits, read_pack, write_pack
from moss_demo.tiny.rows import ROWS, build_clips
from moss_demo.tiny.samples import Utterance, raw_transcript, render
from moss_demo.tiny.scripts import CONVERSATIONS, Conversation, Turn
from moss_demo.tiny.utterances import Spoken, trimmed

ROW = {row.name: row for row in ROWS}


@pytest.mark.parametrize("name", ["known", "unheard", "meetings", "classic", "long"])
def test_a_perfect_transcript_gets_perfect_figures(name: str) -> None:
    """Clips of every committed row can be answered without an error."""
    clips = build_clips(ROW[name], 3)
    figures, _ = measure(
        clips, lambda _: [(raw_transcript(clip.utterances), True) for clip in clips]
    )
    assert figures.words.errors == 0
    assert figures.attributed == figures.heard == figures.words.reference_length
    assert figures.well_formed == 3
    assert max(figures.stamps.errors_ms) <= 10  # the grid
    least_s = 30 if name == "long" else 5
    assert all(len(clip.samples) / 16_000 > least_s for clip in clips)


def test_rows_are_the_same_for_everyone() -> None:
    """The same row and count give the same clips at every call."""
    first, second = (build_clips(ROW["unheard"], 2) for _ in range(2))
    assert np.array_equal(first[1].samples, second[1].samples)
    assert first[1].utterances == second[1].utterances


def test_swapped_labels_are_no_error_but_one_label_for_two_is() -> None:
    """Speakers are judged up to the best one-to-one renaming."""
    said = (Utterance(0, 1, 1, "yes i agree"), Utterance(1, 2, 2, "no way"))
    clip = Clip(np.zeros(32_000, np.float32), said)
    swapped = judge(clip, "[0.00][S02]yes i agree[1.00][1.00][S01]no way[2.00]", True)
    assert (swapped.heard, swapped.attributed) == (5, 5)
    merged = judge(clip, "[0.00][S01]yes i agree[1.00][1.00][S01]no way[2.00]", True)
    assert (merged.heard, merged.attributed) == (5, 3)


def test_invented_text_on_silence_counts_against_the_row() -> None:
    """A clip without speech wants an empty transcript and nothing else."""
    clips = build_clips(ROW["empty"], 3)
    figures, _ = measure(clips, lambda _: [("", True), ("[0.00][S01]so[1.00]", True), ("", True)])
    assert (figures.empty, figures.well_formed) == (2, 3)
    assert "empty 66.7" in table_row(ROW["empty"], figures)


def test_a_row_of_people_asks_for_its_recordings(tmp_path) -> None:
    """Without the recordings the message says how to give them."""
    with pytest.raises(MossDemoError, match="--human"):
        build_clips(ROW["read"], 1, human=tmp_path)


def test_a_pack_keeps_utterances_in_place(tmp_path) -> None:
    """Opus shifts nothing: an utterance read back lies where it was written."""
    draw = np.random.default_rng(1)
    sounds = [(draw.normal(0, 3_000, 8_000)).astype(np.int16) for _ in range(3)]
    rows = [Spoken("known:a", f"text {n}", 8_000) for n in range(3)]
    write_pack(tmp_path, "pack", list(zip(sounds, rows, strict=True)))
    back = read_pack(tmp_path, "pack")
    assert [row.text for _, row in back] == ["text 0", "text 1", "text 2"]
    likeness = np.corrcoef(back[1][0].astype(float), sounds[1].astype(float))[0, 1]
    assert likeness > 0.6


def test_digits_of_one_person_make_strings() -> None:
    """Strings are joined within a speaker and say what they hold."""
    digits = ("one", "two", "three")
    recorded = [(np.full(4_000, 99, np.int16), Spoken("digits:x", word, 4_000)) for word in digits]
    strings = joined_digits(recorded, each=5)
    assert len(strings) == 5
    assert all(set(row.text.split()) <= set(digits) for _, row in strings)
    assert all(len(sound) >= 4_000 * len(row.text.split()) for sound, row in strings)


def test_trimming_keeps_the_speech_and_a_breath() -> None:
    """Silence at both ends goes, 20 and 30 ms of it stay."""
    sound = np.zeros(32_000, np.int16)
    sound[8_000:16_000] = 5_000
    cut = trimmed(sound)
    assert cut is not None
    assert len(cut) == 8_000 + 320 + 480
    assert trimmed(np.zeros(400, np.int16)) is None


def test_samples_carry_the_turns_of_their_script() -> None:
    """The reference follows the script, in the words that the checkpoint writes."""
    script = Conversation(
        "x", (("A", "v"), ("B", "w")), (Turn("A", "Hello, Ben!", 0.0), Turn("B", "Yes?", -0.2)), 1
    )
    tone = np.full(16_000, 0.1, np.float32)
    samples, said = render(script, lambda *_: tone)
    assert [u.text for u in said] == ["hello ben", "yes"]
    assert said[1].start == pytest.approx(said[0].end - 0.2, abs=1e-3)
    assert len(samples) / 16_000 == pytest.approx(said[1].end + 0.4, abs=1e-3)


def test_the_scripts_are_what_the_page_promises() -> None:
    """Two speakers, four with an overlap, and a long one."""
    assert [len(c.voices) for c in CONVERSATIONS] == [2, 4, 3]
    assert any(turn.gap_s < 0 for turn in CONVERSATIONS[1].turns)


def test_every_command_parses() -> None:
    """The command line knows what the card tells people to type."""
    parser = build_parser()
    assert parser.parse_args(["evaluate", "assets/moss-td-tiny"]).clips == 100
    arguments = parser.parse_args(["train", "--data", "d", "--out", "o"])
    assert arguments.seconds == 1000.0


def test_the_built_in_set_comes_out_of_the_recipe(tmp_path, monkeypatch) -> None:
    """A clip that is written anew is the one that ships."""
    shipped = Path(__file__).parents[2] / "assets" / "evaluate"
    monkeypatch.setattr(builtin, "CLIPS", {"classic": 1})
    builtin.write_builtin(tmp_path)
    (line,) = (tmp_path / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    assert line in (shipped / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    here, there = (
        soundfile.read(folder / "classic-1.opus", dtype="float32")[0]
        for folder in (tmp_path, shipped)
    )
    assert len(here) == len(there)
    assert np.corrcoef(here, there)[0, 1] > 0.99
