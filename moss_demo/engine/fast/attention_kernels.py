"""Triton kernels of attention with its rotary embedding, launched by `triton_ops`.

All tensors are contiguous. Names in lower case without a type are addresses or sizes; those with
`constexpr` are compiled in. A head is `2 * half` wide.
"""

import triton
import triton.language as tl

from moss_demo.engine.fast.product_kernels import await_inputs


@triton.jit  # type: ignore[untyped-decorator]  # Triton ships no types
def rotate_and_store(  # type: ignore[no-untyped-def]
    qkv,
    q_norm,
    k_norm,
    cosines,
    sines,
    positions,
    queries,
    keys,
    values,
    eps,
    count,
    capacity,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    half: tl.constexpr,
):
    """Handle one head of one token; the first `heads` are queries, then keys, then values."""
    token, head = tl.program_id(0), tl.program_id(1)
    lane = tl.arange(0, half)
    source = qkv + (token * (heads + 2 * kv_heads) + head) * 2 * half + lane
    first, second = tl.load(source), tl.load(source + half)
    position = tl.load(positions + token)
    slot = (token // count).to(tl.int64) * capacity + position
    if head >= heads + kv_heads:
        place = values + (slot * kv_heads + head - heads - kv_heads) * 2 * half + lane
        tl.store(place, first)
        tl.store(place + half, second)
    else:
        if head < heads:
            weight = q_norm
            place = queries + (token.to(tl.int64) * heads + head) * 2 * half + lane
        else:
            weight = k_norm
            place = keys + (slot * kv_heads + head - heads) * 2 * half + lane
        squares = tl.sum(_square(first) + _square(second))
        scale = tl.rsqrt(squares / (2 * half) + eps)
        first, second = _rotate(first, second, scale, weight, cosines, sines, position, half)
        tl.store(place, first)
        tl.store(place + half, second)


@triton.jit  # type: ignore[untyped-decorator]
def attend_share(  # type: ignore[no-untyped-def]
    qkv,
    q_norm,
    k_norm,
    cosines,
    sines,
    positions,
    keys,
    values,
    partial,
    largest,
    total,
    eps,
    scale,
    capacity,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    splits: tl.constexpr,
    group: tl.constexpr,
    block: tl.constexpr,
    half: tl.constexpr,
    early: tl.constexpr,
):
    """Attend from the query heads of one key head to one share of the positions of its row.

    Queries are normed and rotated in each program. The one whose share holds the newest position
    does the same with its key, writes key and value and attends to them from registers.
    """
    await_inputs(early)
    row, kv_head = tl.program_id(0) // kv_heads, tl.program_id(0) % kv_heads
    split = tl.program_id(1)
    width: tl.constexpr = 2 * half
    member, lane, whole = tl.arange(0, group), tl.arange(0, half), tl.arange(0, width)
    real = member < heads // kv_heads
    head = kv_head * (heads // kv_heads) + member
    position = tl.load(positions + row).to(tl.int32)
    fresh = qkv + row * (heads + 2 * kv_heads) * width
    source = fresh + head[:, None] * width + lane
    first = tl.load(source, mask=real[:, None], other=0.0)
    second = tl.load(source + half, mask=real[:, None], other=0.0)
    squares = tl.sum(_square(first) + _square(second), axis=1)
    factor = tl.rsqrt(squares / width + eps)[:, None]
    first, second = _rotate(first, second, factor, q_norm, cosines, sines, position, half)
    share = tl.cdiv(tl.cdiv(position + 1, splits), block) * block
    begin = split * share
    end = tl.minimum(begin + share, position)
    base = (row.to(tl.int64) * capacity * kv_heads + kv_head) * width
    best = tl.full([group], float("-inf"), tl.float32)
    weight_sum = tl.zeros([group], tl.float32)
    mixed = tl.zeros([group, width], tl.float32)
    for start in range(begin, end, block):
        at = start + tl.arange(0, block)
        inside = at < end
        place = base + at.to(tl.int64)[:, None] * (kv_heads * width)
        key = tl.load(keys + place + lane, mask=inside[:, None], other=0.0)
        score = tl.dot(first, tl.trans(key), input_precision="ieee")
        key = tl.load(keys + place + half + lane, mask=inside[:, None], other=0.0)
        score = tl.dot(second, tl.trans(key), score, input_precision="ieee") * scale
        score = tl.where(inside[None, :], score, float("-inf"))
        newest = tl.maximum(best, tl.max(score, axis=1))
        shrink = tl.exp(best - newest)
        weight = tl.exp(score - newest[:, None])
        value = tl.load(values + place + whole, mask=inside[:, None], other=0.0)
        mixed = mixed * shrink[:, None]
        mixed += tl.dot(weight.to(value.dtype), value, input_precision="ieee")
        weight_sum = weight_sum * shrink + tl.sum(weight, axis=1)
        best = newest
    if (begin <= position) & (position < begin + share):
        own = fresh + (heads + kv_head) * width + lane
        own_first, own_second = tl.load(own), tl.load(own + half)
        own_factor = tl.rsqrt(tl.sum(_square(own_first) + _square(own_second)) / width + eps)
        own_first, own_second = _rotate(
            own_first, own_second, own_factor, k_norm, cosines, sines, position, half
        )
        own_value = tl.load(fresh + (heads + kv_heads + kv_head) * width + whole)
        slot = base + position.to(tl.int64) * (kv_heads * width)
        tl.store(keys + slot + lane, own_first)
        tl.store(keys + slot + half + lane, own_second)
        tl.store(values + slot + whole, own_value)
        own_score = tl.sum(first.to(tl.float32) * own_first.to(tl.float32)[None, :], axis=1)
        own_score += tl.sum(second.to(tl.float32) * own_second.to(tl.float32)[None, :], axis=1)
        own_score *= scale
        own_best = tl.maximum(best, own_score)
        kept, own_weight = tl.exp(best - own_best), tl.exp(own_score - own_best)
        mixed = mixed * kept[:, None] + own_weight[:, None] * own_value.to(tl.float32)[None, :]
        weight_sum = weight_sum * kept + own_weight
        best = own_best
    out = (row * heads + head) * splits + split
    tl.store(partial + out[:, None] * width + whole, mixed, mask=real[:, None])
    tl.store(largest + out, best, mask=real)
    tl.store(total + out, weight_sum, mask=real)


@triton.jit  # type: ignore[untyped-decorator]
def join_shares(  # type: ignore[no-untyped-def]
    partial,
    largest,
    total,
    out,
    splits: tl.constexpr,
    width: tl.constexpr,
    early: tl.constexpr,
):
    """Join the shares of one query head; an empty share has the maximum -inf and counts nothing."""
    await_inputs(early)
    head = tl.program_id(0)
    split, lane = tl.arange(0, splits), tl.arange(0, width)
    best = tl.load(largest + head * splits + split)
    weight = tl.exp(best - tl.max(best))
    share = tl.load(partial + (head * splits + split)[:, None] * width + lane)
    mixed = tl.sum(share * weight[:, None], axis=0)
    whole = tl.sum(tl.load(total + head * splits + split) * weight)
    tl.store(out + head * width + lane, (mixed / whole).to(out.dtype.element_ty))


@triton.jit
def _square(value):  # type: ignore[no-untyped-def]
    return value.to(tl.float32) * value.to(tl.float32)


@triton.jit  # type: ignore[untyped-decorator]
def _rotate(  # type: ignore[no-untyped-def]
    first, second, factor, norm, cosines, sines, position, half: tl.constexpr
):
    """Norm and rotate halves of heads; the last axis of each is `half` wide."""
    lane = tl.arange(0, half)
    wide_first = (first.to(tl.float32) * factor).to(first.dtype).to(tl.float32)
    wide_second = (second.to(tl.float32) * factor).to(first.dtype).to(tl.float32)
    wide_first *= tl.load(norm + lane).to(tl.float32)
    wide_second *= tl.load(norm + half + lane).to(tl.float32)
    cosine = tl.load(cosines + position * half + lane)
    sine = tl.load(sines + position * half + lane)
    turned_first = (wide_first * cosine - wide_second * sine).to(first.dtype)
    turned_second = (wide_second * cosine + wide_first * sine).to(first.dtype)
    return turned_first, turned_second
