"""Text comes out in pieces that add up to the whole, never inside a character."""

import random

import pytest

from moss_demo.engine.detokenizer import Detokenizer
from moss_demo.engine.loading import Loaded

TEXTS = (
    "[0.48][S01]welcome everyone[1.66]",
    "[0.00][S01]大家早上好，👏 Zoë’s naïve café[2.00]",
    " leading and trailing blanks ",
    "a\nb\t c",
    "",
)


def _pieces(tiny: Loaded, ids: list[int]) -> list[str]:
    end = tiny.processor.tokenizer.eos_token_id
    detokenizer = Detokenizer(tiny.processor.tokenizer, frozenset({end}))
    return [*(detokenizer.push(i) for i in ids), detokenizer.flush()]


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_add_up_to_the_text(tiny: Loaded, text: str) -> None:
    """Multi-byte characters spread over tokens come out whole and once."""
    ids = tiny.processor.tokenizer(text)["input_ids"]
    pieces = _pieces(tiny, ids)
    assert "".join(pieces) == text
    assert all("\ufffd" not in piece for piece in pieces)


def test_any_tokens_give_the_same_text_as_decoding_them_at_once(tiny: Loaded) -> None:
    """Random tokens, broken characters included, lose nothing against the library's decoder."""
    tokenizer, rng = tiny.processor.tokenizer, random.Random(7)
    end = tokenizer.eos_token_id
    for _ in range(300):
        ids = [i for i in rng.choices(range(len(tokenizer)), k=rng.randint(1, 40)) if i != end]
        whole = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
        assert "".join(_pieces(tiny, ids)).replace("\ufffd", "") == whole.replace("\ufffd", "")


def test_the_end_token_has_no_text(tiny: Loaded) -> None:
    """The end of the transcript is not spelled out."""
    tokenizer = tiny.processor.tokenizer
    ids = [*tokenizer("done")["input_ids"], tokenizer.eos_token_id]
    assert "".join(_pieces(tiny, ids)) == "done"
