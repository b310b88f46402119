"""Triton kernels of a decoder layer. `triton_ops` launches them and says what they are for.

All tensors are contiguous. Names in lower case without a type are addresses or sizes; those with
`constexpr` are compiled in. A head is `2 * half` wide.
"""

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]  # Triton ships no types
def add_norm(  # type: ignore[no-untyped-def]
    hidden, delta, weight, total, normed, eps, width, block: tl.constexpr
):
    """Add and norm one row of `width` values."""
    at = tl.program_id(0) * width + tl.arange(0, block)
    column = tl.arange(0, block)
    inside = column < width
    value = tl.load(hidden + at, mask=inside, other=0.0)
    change = tl.load(delta + at, mask=inside, other=0.0)
    rounded = (value.to(tl.float32) + change.to(tl.float32)).to(value.dtype)
    tl.store(total + at, rounded, mask=inside)
    wide = rounded.to(tl.float32)
    scale = tl.rsqrt(tl.sum(wide * wide) / width + eps)
    factor = tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    unit = (wide * scale).to(value.dtype).to(tl.float32)
    tl.store(normed + at, (unit * factor).to(value.dtype), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
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
        wide_first, wide_second = first.to(tl.float32), second.to(tl.float32)
        squares = tl.sum(wide_first * wide_first + wide_second * wide_second)
        scale = tl.rsqrt(squares / (2 * half) + eps)
        wide_first = (wide_first * scale).to(first.dtype).to(tl.float32)
        wide_second = (wide_second * scale).to(first.dtype).to(tl.float32)
        wide_first *= tl.load(weight + lane).to(tl.float32)
        wide_second *= tl.load(weight + half + lane).to(tl.float32)
        cosine = tl.load(cosines + position * half + lane)
        sine = tl.load(sines + position * half + lane)
        tl.store(place, (wide_first * cosine - wide_second * sine).to(first.dtype))
        tl.store(place + half, (wide_second * cosine + wide_first * sine).to(first.dtype))


@triton.jit  # type: ignore[untyped-decorator]
def attend_share(  # type: ignore[no-untyped-def]
    queries,
    keys,
    values,
    positions,
    partial,
    largest,
    total,
    scale,
    capacity,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    splits: tl.constexpr,
    group: tl.constexpr,
    block: tl.constexpr,
    width: tl.constexpr,
):
    """Attend from the query heads of one key head to one share of the positions of its row."""
    row, kv_head = tl.program_id(0) // kv_heads, tl.program_id(0) % kv_heads
    split = tl.program_id(1)
    member, lane = tl.arange(0, group), tl.arange(0, width)
    real = member < heads // kv_heads
    head = row * heads + kv_head * (heads // kv_heads) + member
    query = tl.load(queries + head[:, None] * width + lane, mask=real[:, None], other=0.0)
    used = tl.load(positions + row).to(tl.int32) + 1
    share = tl.cdiv(tl.cdiv(used, splits), block) * block
    begin = split * share
    end = tl.minimum(begin + share, used)
    base = (row.to(tl.int64) * capacity * kv_heads + kv_head) * width
    best = tl.full([group], float("-inf"), tl.float32)
    weight_sum = tl.zeros([group], tl.float32)
    mixed = tl.zeros([group, width], tl.float32)
    for start in range(begin, end, block):
        at = start + tl.arange(0, block)
        inside = at < end
        place = base + at.to(tl.int64)[:, None] * (kv_heads * width) + lane
        key = tl.load(keys + place, mask=inside[:, None], other=0.0)
        score = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
        score = tl.where(inside[None, :], score, float("-inf"))
        newest = tl.maximum(best, tl.max(score, axis=1))
        shrink = tl.exp(best - newest)
        weight = tl.exp(score - newest[:, None])
        value = tl.load(values + place, mask=inside[:, None], other=0.0)
        mixed = mixed * shrink[:, None]
        mixed += tl.dot(weight.to(value.dtype), value, input_precision="ieee")
        weight_sum = weight_sum * shrink + tl.sum(weight, axis=1)
        best = newest
    out = head * splits + split
    tl.store(partial + out[:, None] * width + lane, mixed, mask=real[:, None])
    tl.store(largest + out, best, mask=real)
    tl.store(total + out, weight_sum, mask=real)


@triton.jit  # type: ignore[untyped-decorator]
def join_shares(  # type: ignore[no-untyped-def]
    partial, largest, total, out, splits: tl.constexpr, width: tl.constexpr
):
    """Join the shares of one query head; an empty share has the maximum -inf and counts nothing."""
    head = tl.program_id(0)
    split, lane = tl.arange(0, splits), tl.arange(0, width)
    best = tl.load(largest + head * splits + split)
    weight = tl.exp(best - tl.max(best))
    share = tl.load(partial + (head * splits + split)[:, None] * width + lane)
    mixed = tl.sum(share * weight[:, None], axis=0)
    whole = tl.sum(tl.load(total + head * splits + split) * weight)
    tl.store(out + head * width + lane, (mixed / whole).to(out.dtype.element_ty))


@triton.jit  # type: ignore[untyped-decorator]
def silu_mul(  # type: ignore[no-untyped-def]
    gate_up, out, width, block: tl.constexpr
):
    """Handle one block of one row; a row of `gate_up` is twice as wide as one of `out`."""
    row = tl.program_id(0)
    column = tl.program_id(1) * block + tl.arange(0, block)
    inside = column < width
    source = gate_up + row.to(tl.int64) * 2 * width + column
    gate = tl.load(source, mask=inside, other=0.0)
    up = tl.load(source + width, mask=inside, other=0.0)
    wide = gate.to(tl.float32)
    active = (wide / (1.0 + tl.exp(-wide))).to(gate.dtype).to(tl.float32)
    product = (active * up.to(tl.float32)).to(gate.dtype)
    tl.store(out + row.to(tl.int64) * width + column, product, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def matvec(  # type: ignore[no-untyped-def]
    vector, matrix, out, outputs, inputs, rows: tl.constexpr, block: tl.constexpr
):
    """Multiply `rows` rows of a matrix of shape (outputs, inputs) by a vector."""
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    weight = _load_rows(matrix, row, outputs, inputs, block)
    column = tl.arange(0, block)
    value = tl.load(vector + column, mask=column < inputs, other=0.0).to(tl.float32)
    sums = tl.sum(weight.to(tl.float32) * value[None, :], axis=1)
    tl.store(out + row, sums.to(out.dtype.element_ty), mask=row < outputs)


@triton.jit  # type: ignore[untyped-decorator]
def norm_matvec(  # type: ignore[no-untyped-def]
    hidden,
    delta,
    factor,
    matrix,
    total,
    out,
    eps,
    outputs,
    inputs,
    rows: tl.constexpr,
    block: tl.constexpr,
):
    """Do what `add_norm` does with one row, in every program again, then as `matvec`."""
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    weight = _load_rows(matrix, row, outputs, inputs, block)
    value = _add_norm_row(hidden, delta, factor, total, eps, inputs, block)
    sums = tl.sum(weight.to(tl.float32) * value[None, :], axis=1)
    tl.store(out + row, sums.to(out.dtype.element_ty), mask=row < outputs)


@triton.jit  # type: ignore[untyped-decorator]
def norm_swiglu(  # type: ignore[no-untyped-def]
    hidden,
    delta,
    factor,
    matrix,
    total,
    out,
    eps,
    outputs,
    inputs,
    rows: tl.constexpr,
    block: tl.constexpr,
):
    """As `norm_matvec` with the gates' matrix above the other one, then silu(gate) * up."""
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    gate_weight = _load_rows(matrix, row, outputs, inputs, block)
    up_weight = _load_rows(matrix, row + outputs, 2 * outputs, inputs, block)
    value = _add_norm_row(hidden, delta, factor, total, eps, inputs, block)
    stored = out.dtype.element_ty
    gate = tl.sum(gate_weight.to(tl.float32) * value[None, :], axis=1).to(stored).to(tl.float32)
    up = tl.sum(up_weight.to(tl.float32) * value[None, :], axis=1).to(stored).to(tl.float32)
    active = (gate / (1.0 + tl.exp(-gate))).to(stored).to(tl.float32)
    tl.store(out + row, (active * up).to(stored), mask=row < outputs)


@triton.jit  # type: ignore[untyped-decorator]
def _load_rows(matrix, row, outputs, inputs, block: tl.constexpr):  # type: ignore[no-untyped-def]
    column = tl.arange(0, block)
    inside = (row < outputs)[:, None] & (column < inputs)[None, :]
    return tl.load(matrix + row.to(tl.int64)[:, None] * inputs + column, mask=inside, other=0.0)


@triton.jit  # type: ignore[untyped-decorator]
def _add_norm_row(  # type: ignore[no-untyped-def]
    hidden, delta, factor, total, eps, width, block: tl.constexpr
):
    column = tl.arange(0, block)
    inside = column < width
    value = tl.load(hidden + column, mask=inside, other=0.0)
    change = tl.load(delta + column, mask=inside, other=0.0)
    rounded = (value.to(tl.float32) + change.to(tl.float32)).to(value.dtype)
    if tl.program_id(0) == 0:
        tl.store(total + column, rounded, mask=inside)
    wide = rounded.to(tl.float32)
    scale = tl.rsqrt(tl.sum(wide * wide) / width + eps)
    unit = (wide * scale).to(value.dtype).to(tl.float32)
    weight = tl.load(factor + column, mask=inside, other=0.0).to(tl.float32)
    return (unit * weight).to(value.dtype).to(tl.float32)
