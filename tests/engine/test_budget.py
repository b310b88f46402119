"""The token budget follows the duration and a recording that cannot fit is refused."""

import numpy as np
import pytest

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.budget import longest_duration_s, plan_budget
from moss_demo.errors import RequestError


def _request(duration_s: float, max_new_tokens: int | None = None) -> Request:
    clip = AudioClip("clip", np.zeros(int(duration_s * 16_000), dtype=np.float32))
    return Request(clip, options=DecodeOptions(max_new_tokens))


def _plan(request: Request, prompt_tokens: int, context_tokens: int = 8_192) -> int:
    return plan_budget(
        request, prompt_tokens=prompt_tokens, context_tokens=context_tokens, checkpoint="tiny"
    )


def test_budget_grows_with_the_duration() -> None:
    """Twenty tokens a second and some room: enough for dense speech, an end for loops."""
    assert _plan(_request(10), 200) == 456
    assert _plan(_request(60), 900) == 1_456


def test_budget_never_exceeds_what_the_context_leaves() -> None:
    """A wish of a million tokens is clamped, not an error."""
    assert _plan(_request(10, 999_999), 200) == 8_192 - 200
    assert _plan(_request(10, 5), 200) == 5


def test_a_recording_without_room_for_its_transcript_is_refused_with_the_limit() -> None:
    """The message names the recording's length, the checkpoint and what it holds."""
    with pytest.raises(RequestError, match=r"10\.0 minutes.*tiny holds about 9 minutes.*8,192"):
        _plan(_request(600), 7_900)


def test_limits_of_the_two_checkpoints() -> None:
    """The embedded one holds about nine minutes, the published checkpoint about 160."""
    assert 8.5 < longest_duration_s(8_192) / 60 < 9.5
    assert 150 < longest_duration_s(131_072) / 60 < 170
