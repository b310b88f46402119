import zlib
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.errors import MossDemoError
from moss_demo.tiny import grammar
from moss_demo.tiny.corpus import SENTENCES
from moss_demo.tiny.human import MAX_RUN, Word, held_out_person, plain_words, spliced
from moss_demo.tiny.natural import Voice, plain, spoken_form
from moss_demo.tiny.novels import LONGEST, read_novels
from moss_demo.tiny.sentences import (
    MAX_WORDS,
    Chain,
    TestText,
    Text,
    dictionary_entries,
    dictionary_examples,
    held_out,
    meeting_sentences,
)
from moss_demo.tiny.voices import natural_voices, speaker_classes


def test_training_never_draws_a_test_sentence() -> None:
    """No source of training text yields a sentence that a test row may ask for."""
    train, test = meeting_sentences(SENTENCES)
    text, draw = Text(train[:400], test), Random(1)
    drawn = {text.sentence(draw) for _ in range(1_500)}
    assert not drawn & set(test)
    asked = TestText(test)
    assert not drawn & {asked.sentence(draw) for _ in range(300)}


def test_words_that_the_corpus_splits_are_joined() -> None:
    """A person says "gonna", so the checkpoint writes it, in training and in test."""
    train, test = meeting_sentences(SENTENCES)
    assert not any("gon na" in text for text in (*train, *test))


def test_a_chain_only_says_what_follows_in_real_sentences() -> None:
    """Any three words in a row of a made-up sentence occur in a real one."""
    real = ("i like the new design", "we like the old design", "i like it")
    chain, draw = Chain(real), Random(3)
    for _ in range(50):
        words = chain.sentence(draw).split()
        for at in range(len(words) - 2):
            assert any(" ".join(words[at : at + 3]) in text for text in real)


@given(st.integers())
def test_grammar_sentences_are_plain(seed: int) -> None:
    """A template leaves no slot, capital or mark behind."""
    text = grammar.sentence(Random(seed))
    assert plain_words(text) == text
    assert 1 <= len(text.split()) <= MAX_WORDS


def test_about_one_sentence_in_sixteen_is_held_out() -> None:
    """The split by digest is fixed and has the intended size."""
    draw = Random(5)
    share = sum(held_out(grammar.sentence(draw)) for _ in range(4_000)) / 4_000
    assert 0.03 < share < 0.1


def test_dictionary_examples_are_read_from_quotes(tmp_path) -> None:
    """Only quoted phrases of plain words with at least three words are kept."""
    line = '0001 | a thing; "the Bold, red cliffs"; "too short"; "room 12 is free"\n'
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text(line, encoding="latin-1")
    assert dictionary_examples(tmp_path) == ("the bold red cliffs",)


def test_dictionary_entries_are_words_with_their_meaning(tmp_path) -> None:
    """No examples, no remarks in brackets, no names, nothing with figures; the licence is none."""
    lines = (
        "  1 This software and database is | being provided to you\n"
        '00 03 n 01 tank_shell 0 001 @ 01 n 0000 | a shell (as fired) by a tank; "the shells"\n'
        "00 03 n 01 Paris 0 001 @ 01 n 0000 | the capital city of a country\n"
        "00 00 s 01 galore(ip) 0 001 & 01 a 0000 | in great numbers; existing in abundance\n"
        "00 03 n 01 hour 0 001 @ 01 n 0000 | a period of 60 minutes\n"
    )
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text(lines, encoding="latin-1")
    wanted = ("tank shell a shell by a tank", "galore in great numbers")
    assert dictionary_entries(tmp_path) == wanted


def a_recording(words: int) -> tuple[np.ndarray, list[Word]]:
    """Return words that are tones of their own, 0.3 s each with 0.1 s of silence after it."""
    at = np.arange(4_800) / 16_000
    tone = [np.sin(2 * np.pi * (200 + 20 * place) * at) * 9_000 for place in range(words)]
    sound = np.concatenate([np.pad(part, (0, 1_600)) for part in tone]).astype(np.int16)
    return sound, [
        Word(f" W{n}x,".replace(str(n), chr(97 + n)), 0.4 * n, 0.4 * n + 0.3) for n in range(words)
    ]


def test_spliced_utterances_say_what_they_are_made_of() -> None:
    """Whole words in new orders, each with its own sound; the same seed gives the same."""
    sound, words = a_recording(20)
    made = list(spliced("human:1", sound, words, 8, Random(1)))
    assert len({spoken.text for _, spoken in made}) == len(made) == 8
    for samples, spoken in made:
        said = spoken.text.split()
        assert len(samples) == spoken.samples
        assert len(samples) / 16_000 == pytest.approx(0.4 * len(said), abs=0.25)
        for place, word in enumerate(said):
            middle = samples[int((0.4 * place + 0.08) * 16_000) :][:2_400].astype(float)
            hz = np.abs(np.fft.rfft(middle)).argmax() * 16_000 / 2_400
            assert hz == pytest.approx(200 + 20 * (ord(word[1]) - 97), abs=8)
    again = list(spliced("human:1", sound, words, 8, Random(1)))
    assert [spoken for _, spoken in again] == [spoken for _, spoken in made]


def test_a_recording_of_few_words_is_not_spliced() -> None:
    """New orders of a handful of words teach nothing."""
    sound, words = a_recording(2 * MAX_RUN - 1)
    assert not list(spliced("human:1", sound, words, 8, Random(1)))


def test_sentences_get_the_tune_of_what_they_are() -> None:
    """Questions end in a question mark, and the pronoun is a capital letter."""
    assert spoken_form("what do i say") == "What do I say?"
    assert spoken_form("i'm sure") == "I'm sure."


def test_held_out_voices_take_no_part_in_training() -> None:
    """Neither alone nor in a blend does a held-out voice speak in training."""
    tables = ("af_heart", "af_nova", "am_adam", "bf_emma", "zf_xiaoyi", "bm_lewis")
    used = {table for voice in natural_voices(tables, 6) for table, _ in voice.parts}
    assert used == {"af_heart", "am_adam", "bf_emma", "zf_xiaoyi"}


def test_every_voice_has_its_own_class() -> None:
    """The speaker losses tell all voices apart, recorded people included."""
    classes = speaker_classes(("af_heart", "am_adam"), ["human:1"])
    assert len(set(classes.values())) == len(classes)
    assert "human:1" in classes


def test_a_blend_reads_english_as_its_larger_part_does() -> None:
    """British phonemes go with a mostly British voice."""
    assert Voice("x", (("af_heart", 0.35), ("bf_emma", 0.65))).british
    assert not plain("am_adam").british


def stored_strings(lines: list[str]) -> bytes:
    """Write a vector of strings as R's lazy-load database does."""
    block = b"X\n" + b"".join(n.to_bytes(4, "big") for n in (3, 0x40201, 0x30500, 5)) + b"UTF-8"
    block += (0x10).to_bytes(4, "big") + len(lines).to_bytes(4, "big")
    for line in lines:
        text = line.encode()
        block += (0x40009).to_bytes(4, "big") + len(text).to_bytes(4, "big") + text
    return len(block).to_bytes(4, "big") + zlib.compress(block)


def test_novels_are_cut_where_a_reader_pauses(tmp_path: Path) -> None:
    """Sentences across lines, titles written out, no chapter numbers, no emphasis marks."""
    path = tmp_path / "Rdata.rdb"
    book = [
        "Chapter 1",
        "",
        "It was a _very_ fine morning, and Mr. Dash",
        'walked on.  "How odd of him!" said she; nobody--not',
        "even his aunt--had asked him to.",
        "",
        "It was a very fine morning, and Mr. Dash walked on.",
    ]
    path.write_bytes(stored_strings(["a", "b"]) + stored_strings(book))
    assert read_novels(path) == (
        "it was a very fine morning and mister dash walked on",
        "how odd of him",
        "not even his aunt",
        "had asked him to",
    )


def test_long_sentences_of_novels_are_cut_at_commas(tmp_path: Path) -> None:
    """No phrase is longer than a voice says in one breath, and no word is lost in between."""
    path = tmp_path / "Rdata.rdb"
    parts = [f"{number} and so on and on".replace(str(number), "word") for number in range(9)]
    path.write_bytes(stored_strings([", ".join(parts) + "."]))
    phrases = read_novels(path)
    assert max(len(phrase.split()) for phrase in phrases) <= LONGEST
    assert {word for phrase in phrases for word in phrase.split()} == {"word", "and", "so", "on"}


def test_a_file_without_novels_is_named(tmp_path: Path) -> None:
    """The sentence says what to do."""
    path = tmp_path / "Rdata.rdb"
    path.write_bytes(b"nothing")
    with pytest.raises(MossDemoError, match="holds no text; fetch"):
        read_novels(path)


def test_about_one_person_in_twelve_is_held_out() -> None:
    """The split by name is fixed and has the intended size."""
    share = sum(held_out_person(f"human:{number}") for number in range(2_400)) / 2_400
    assert 0.06 < share < 0.11
