"""Triton kernels of norms, products of one row and gates, launched by `triton_ops`.

All tensors are contiguous. Names in lower case without a type are addresses or sizes; those with
`constexpr` are compiled in. Matrices are in the type of the vectors, or int8 with a scale a row.
Where `early` is set, a kernel starts before the one in front of it has ended and reads its part of
the matrix meanwhile (programmatic dependent launch); it touches nothing else before `await_inputs`.
"""

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit  # type: ignore[untyped-decorator]  # Triton ships no types
def add_norm(  # type: ignore[no-untyped-def]
    hidden, delta, weight, total, normed, eps, width, block: tl.constexpr
):
    """Add and norm one row of `width` values."""
    row = tl.program_id(0) * width
    value = _add_norm_row(hidden + row, delta + row, weight, total + row, True, eps, width, block)
    column = tl.arange(0, block)
    tl.store(normed + row + column, value.to(normed.dtype.element_ty), mask=column < width)


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
    tl.store(out + row.to(tl.int64) * width + column, _gated(gate, up), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def matvec(  # type: ignore[no-untyped-def]
    vector,
    matrix,
    scales,
    out,
    outputs,
    inputs,
    rows: tl.constexpr,
    block: tl.constexpr,
    early: tl.constexpr,
):
    """Multiply `rows` rows of a matrix of shape (outputs, inputs) by a vector."""
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    weight = _load_rows(matrix, row, outputs, inputs, block)
    await_inputs(early)
    column = tl.arange(0, block)
    value = tl.load(vector + column, mask=column < inputs, other=0.0).to(tl.float32)
    sums = _product(weight, value, scales, row, outputs)
    tl.store(out + row, sums.to(out.dtype.element_ty), mask=row < outputs)


@triton.jit  # type: ignore[untyped-decorator]
def norm_matvec(  # type: ignore[no-untyped-def]
    hidden,
    delta,
    factor,
    matrix,
    scales,
    total,
    out,
    eps,
    outputs,
    inputs,
    rows: tl.constexpr,
    block: tl.constexpr,
    early: tl.constexpr,
):
    """Do what `add_norm` does with one row, in every program again, then as `matvec`."""
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    weight = _load_rows(matrix, row, outputs, inputs, block)
    await_inputs(early)
    is_first = tl.program_id(0) == 0
    value = _add_norm_row(hidden, delta, factor, total, is_first, eps, inputs, block)
    sums = _product(weight, value, scales, row, outputs)
    tl.store(out + row, sums.to(out.dtype.element_ty), mask=row < outputs)


@triton.jit  # type: ignore[untyped-decorator]
def norm_swiglu(  # type: ignore[no-untyped-def]
    hidden,
    delta,
    factor,
    matrix,
    scales,
    total,
    out,
    eps,
    outputs,
    inputs,
    rows: tl.constexpr,
    block: tl.constexpr,
    early: tl.constexpr,
):
    """As `norm_matvec` with the gates' matrix above the other one, then silu(gate) * up."""
    row = tl.program_id(0) * rows + tl.arange(0, rows)
    gate_weight = _load_rows(matrix, row, outputs, inputs, block)
    up_weight = _load_rows(matrix, row + outputs, 2 * outputs, inputs, block)
    await_inputs(early)
    is_first = tl.program_id(0) == 0
    value = _add_norm_row(hidden, delta, factor, total, is_first, eps, inputs, block)
    stored = out.dtype.element_ty
    gate = _product(gate_weight, value, scales, row, outputs).to(stored)
    up = _product(up_weight, value, scales, row + outputs, 2 * outputs).to(stored)
    tl.store(out + row, _gated(gate, up), mask=row < outputs)


@triton.jit  # type: ignore[untyped-decorator]
def await_inputs(early: tl.constexpr):  # type: ignore[no-untyped-def]
    """Let the next kernel start, and wait until every kernel before this one has ended."""
    if early:
        gdc_launch_dependents()
        gdc_wait()


@triton.jit  # type: ignore[untyped-decorator]
def _load_rows(matrix, row, outputs, inputs, block: tl.constexpr):  # type: ignore[no-untyped-def]
    column = tl.arange(0, block)
    inside = (row < outputs)[:, None] & (column < inputs)[None, :]
    return tl.load(matrix + row.to(tl.int64)[:, None] * inputs + column, mask=inside, other=0.0)


@triton.jit
def _product(weight, value, scales, row, outputs):  # type: ignore[no-untyped-def]
    sums = tl.sum(weight.to(tl.float32) * value[None, :], axis=1)
    if scales is not None:
        sums *= tl.load(scales + row, mask=row < outputs, other=0.0)
    return sums


@triton.jit  # type: ignore[untyped-decorator]
def _add_norm_row(  # type: ignore[no-untyped-def]
    hidden, delta, factor, total, stores, eps, width, block: tl.constexpr
):
    """Return the norm of one row in fp32; write its sum where `stores` is set."""
    column = tl.arange(0, block)
    inside = column < width
    value = tl.load(hidden + column, mask=inside, other=0.0)
    change = tl.load(delta + column, mask=inside, other=0.0)
    rounded = (value.to(tl.float32) + change.to(tl.float32)).to(value.dtype)
    if stores:
        tl.store(total + column, rounded, mask=inside)
    wide = rounded.to(tl.float32)
    scale = tl.rsqrt(tl.sum(wide * wide) / width + eps)
    unit = (wide * scale).to(value.dtype).to(tl.float32)
    weight = tl.load(factor + column, mask=inside, other=0.0).to(tl.float32)
    return (unit * weight).to(value.dtype).to(tl.float32)


@triton.jit
def _gated(gate, up):  # type: ignore[no-untyped-def]
    """Return silu(gate) * up, rounded as each step stores it."""
    wide = gate.to(tl.float32)
    active = (wide / (1.0 + tl.exp(-wide))).to(gate.dtype).to(tl.float32)
    return (active * up.to(tl.float32)).to(gate.dtype)
