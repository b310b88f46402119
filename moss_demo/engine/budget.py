"""Whether a recording fits a checkpoint and how many tokens it may write. Pure arithmetic."""

from math import ceil

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.domain.request import Request
from moss_demo.errors import RequestError

RESERVED_TOKENS = 1_024
"""Positions that the prompt must leave for the transcript."""

TOKENS_PER_S = 20
EXTRA_TOKENS = 256
"""Default budget: dense speech takes 8 to 14 tokens a second, markup included; the rest is room,
small enough that a loop on a short clip ends soon."""

AUDIO_TOKENS_PER_S = 12.5
MARKER_S = 5
INSTRUCTION_TOKENS = 100


def plan_budget(
    request: Request, *, prompt_tokens: int, context_tokens: int, checkpoint: str
) -> int:
    """Choose the token budget, or refuse a recording that leaves no room for its transcript.

    What was asked for is clamped to what the context leaves.

    Args:
        request: clip and options.
        prompt_tokens: length of the prompt with its audio positions.
        context_tokens: positions of the checkpoint.
        checkpoint: its name, for the message.

    Returns:
        The most tokens the run may write.

    Raises:
        RequestError: prompt and `RESERVED_TOKENS` exceed the context.
    """
    room = context_tokens - prompt_tokens
    if room < RESERVED_TOKENS:
        longest_min = longest_duration_s(context_tokens) / 60
        raise RequestError(
            f"The recording lasts {request.clip.duration_s / 60:.1f} minutes; {checkpoint} holds "
            f"about {longest_min:.0f} minutes ({context_tokens:,} positions). Cut the recording or "
            "choose a checkpoint with a longer context."
        )
    wanted = request.options.max_new_tokens
    if wanted is None:
        wanted = int(request.clip.duration_s * TOKENS_PER_S) + EXTRA_TOKENS
    return min(wanted, room)


def expected_positions(prompt_tokens: int, max_new_tokens: int) -> int:
    """Guess where a transcript will end: dense speech writes about 5 tokens for 8 of its prompt."""
    return prompt_tokens + min(max_new_tokens, 5 * prompt_tokens // 8 + EXTRA_TOKENS)


def expected_prompt_tokens(duration_s: float) -> int:
    """Estimate the prompt of a recording: audio, time markers and a hundred tokens of words."""
    digits = len(str(int(duration_s)))
    return ceil(duration_s * (AUDIO_TOKENS_PER_S + digits / MARKER_S)) + INSTRUCTION_TOKENS


def longest_duration_s(context_tokens: int) -> float:
    """Estimate the longest recording a context can hold, in seconds.

    Twelve and a half audio tokens a second, a time marker with one token a digit every five
    seconds, about a hundred tokens of instruction and `RESERVED_TOKENS` for the transcript.
    """
    room = context_tokens - RESERVED_TOKENS - INSTRUCTION_TOKENS
    duration_s = room / AUDIO_TOKENS_PER_S
    for _ in range(4):
        digits = len(str(int(duration_s)))
        duration_s = room / (AUDIO_TOKENS_PER_S + digits / MARKER_S)
    return max(duration_s, 1 / SAMPLE_RATE_HZ)
