import numpy as np
import pytest
from tokenizers import Tokenizer

from moss_demo.tiny.layout import NO_LABEL, Layout, Piece, audio_tokens
from moss_demo.tiny.vocabulary import build_processor


@pytest.mark.parametrize("samples", [1_700, 79_999, 16_000 * 31, 16_000 * 67 + 5])
def test_prompts_equal_the_processors(tokenizer: Tokenizer, samples: int) -> None:
    """Training sees the very prompt that transformers builds from sound."""
    processor = build_processor(tokenizer)
    inputs = processor.apply_transcription_request(
        [np.zeros(samples, np.float32)], processor_kwargs={"return_tensors": "pt"}
    )
    assert inputs["input_ids"][0].tolist() == Layout(tokenizer).prompt(samples).ids


def test_keywords_stand_where_the_template_puts_them(tokenizer: Tokenizer) -> None:
    """A prompt with keywords equals the processor's for the same keywords."""
    processor = build_processor(tokenizer)
    inputs = processor.apply_transcription_request(
        [np.zeros(16_000, np.float32)],
        keywords=["budget", "demo"],
        processor_kwargs={"return_tensors": "pt"},
    )
    prompt = Layout(tokenizer).prompt(16_000, ("budget", "demo"))
    assert inputs["input_ids"][0].tolist() == prompt.ids


def test_a_target_reads_as_markup(tokenizer: Tokenizer) -> None:
    """Decoded, the target is the model's raw form with stamps on the grid of 0.02 s."""
    layout = Layout(tokenizer)
    pieces = [
        Piece(0.313, 1.5, 1, layout.words("yes i agree")),
        Piece(12.0, 13.449, 2, layout.words("no")),
    ]
    text = tokenizer.decode(layout.target(pieces).ids)
    assert text == "[0.32][S01]yes i agree[1.50][12.00][S02]no[13.44]"


def test_classes_stand_at_the_digits_and_words_of_a_segment(tokenizer: Tokenizer) -> None:
    """The speaker loss looks where the speaker must be known and nowhere else."""
    layout = Layout(tokenizer)
    words = layout.words("no")
    target = layout.target([Piece(0.0, 1.0, 3, words, 7)])
    assert len(target.ids) == len(target.speaker_classes)
    assert target.speaker_classes.count(7) == 3 + len(words) + 1
    assert target.speaker_classes[-1] == NO_LABEL


def test_an_empty_window_ends_at_once(tokenizer: Tokenizer) -> None:
    """Without speech the right answer is the end token alone."""
    layout = Layout(tokenizer)
    assert layout.target([]).ids == [layout.end_id]


@pytest.mark.parametrize(("samples", "count"), [(480_000, 375), (480_001, 376), (16_000, 13)])
def test_audio_tokens_round_up_chunk_by_chunk(samples: int, count: int) -> None:
    """The count of audio positions follows the processor's rule."""
    assert audio_tokens(samples) == count
