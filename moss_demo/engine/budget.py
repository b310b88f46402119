"""Whether a recording fits a checkpoint and how many tokens it may write. Pure arithmetic."""

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


def longest_duration_s(context_tokens: int) -> float:
    """Estimate the longest recording a context can hold, in seconds.

    Twelve and a half audio tokens a second, a time marker with one token a digit every five
    seconds, about a hundred tokens of instruction and `RESERVED_TOKENS` for the transcript.
    """
    room = context_tokens - RESERVED_TOKENS - 100
    duration_s = room / AUDIO_TOKENS_PER_S
    for _ in range(4):
        digits = len(str(int(duration_s)))
        duration_s = room / (AUDIO_TOKENS_PER_S + digits / MARKER_S)
    return max(duration_s, 1 / SAMPLE_RATE_HZ)
