"""What an engine is when a choice is left open."""

import pytest

from moss_demo.engine.config import DecodePath, choose_decode
from moss_demo.errors import RequestError


def test_the_fast_path_is_taken_where_it_can_do_the_work() -> None:
    """On a GPU and greedy; sampling and CPUs take the reference, and a wish is a wish."""
    assert choose_decode(None, "cuda:0") is DecodePath.FAST
    assert choose_decode(None, "cuda:0", samples=True) is DecodePath.REFERENCE
    assert choose_decode(None, "cpu") is DecodePath.REFERENCE
    assert choose_decode("fast", "cpu") is DecodePath.FAST
    assert choose_decode("reference", "cuda:0") is DecodePath.REFERENCE


def test_an_unknown_path_is_refused_with_the_known_ones() -> None:
    """A spelling mistake is answered with what exists."""
    with pytest.raises(RequestError, match="'quick' is no decode path; use reference or fast"):
        choose_decode("quick", "cpu")
