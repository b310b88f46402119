"""The Triton kernel behind `mixing`: gathers, resamples and adds utterances. Needs CUDA."""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]  # Triton ships no types
def add_utterances(  # type: ignore[no-untyped-def]
    pool,
    offset,
    start,
    length,
    rate,
    gain,
    out,
    samples,
    utterances,
    BLOCK: tl.constexpr,  # noqa: N803
):
    """Fill one block of `BLOCK` output samples of one window.

    The plan tensors have the shape (windows, utterances); `out` has (windows, samples).
    """
    row = tl.program_id(0)
    first = tl.program_id(1) * BLOCK
    place = first + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for item in range(utterances):
        at = row * utterances + item
        begin = tl.load(start + at)
        long = tl.load(length + at)
        if (long > 0) & (first + BLOCK > begin) & (first < begin + long):
            inside = place - begin
            heard = (inside >= 0) & (inside < long)
            exact = inside.to(tl.float32) * tl.load(rate + at)
            left = tl.floor(exact)
            source = pool + tl.load(offset + at) + left.to(tl.int64)
            before = tl.load(source, mask=heard, other=0).to(tl.float32)
            after = tl.load(source + 1, mask=heard, other=0).to(tl.float32)
            total += (before + (after - before) * (exact - left)) * tl.load(gain + at)
    tl.store(out + row * samples + place, total / 32768.0, mask=place < samples)
