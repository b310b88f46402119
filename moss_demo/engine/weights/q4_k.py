"""Our own quantizer for GGUF's Q4_K blocks: 256 weights in 144 bytes. Knows no model.

A block is eight groups of 32 weights. Weight = d * scale * q - dmin * offset, with q in 4 bits, a
6-bit scale and a 6-bit offset a group, and d and dmin in fp16 (the format is described in ggml's
`ggml-common.h`, block_q4_K). What to store is the quantizer's choice; this one searches the scale
of each group by weighted least squares.
"""

import torch
from torch import Tensor

GROUP = 32
GROUPS = 8
BLOCK = GROUP * GROUPS
BLOCK_BYTES = 144
LARGEST_Q = 15
LARGEST_SCALE = 63
BLOCKS_AT_A_TIME = 256
"""Few enough for the search to stay in a processor's cache."""

CANDIDATES = tuple(-1.0 + 0.1 * step for step in range(21))
"""By how much the number of steps between least and largest weight is varied in the search."""


def quantize_q4_k(rows: Tensor) -> Tensor:
    """Quantize rows of fp32 weights.

    Args:
        rows: shape (rows, columns), columns a multiple of `BLOCK`; a GPU makes it quick.

    Returns:
        The bytes of the blocks, uint8, shape (rows, columns / 256 * 144).
    """
    blocks = rows.reshape(-1, BLOCK)
    at_a_time = BLOCKS_AT_A_TIME if rows.device.type == "cpu" else len(blocks)
    packed = [_quantize_blocks(part) for part in blocks.split(at_a_time)]
    return torch.cat(packed).reshape(rows.shape[0], -1)


def _quantize_blocks(weights: Tensor) -> Tensor:
    groups = weights.unflatten(1, (GROUPS, GROUP))
    scales, offsets = _search_scales(groups)
    d, scale_codes = _six_bits(scales)
    d_min, offset_codes = _six_bits(offsets)
    step = d * scale_codes  # (blocks, groups)
    shifted = groups + (d_min * offset_codes).unsqueeze(-1)
    codes = torch.where(step.unsqueeze(-1) > 0, shifted / step.unsqueeze(-1), 0)
    codes = codes.round().clamp(0, LARGEST_Q).to(torch.uint8)
    return torch.cat(
        [
            d.half().view(torch.uint8),
            d_min.half().view(torch.uint8),
            _pack_codes(scale_codes.to(torch.uint8), offset_codes.to(torch.uint8)),
            _pack_nibbles(codes),
        ],
        dim=1,
    )


def _search_scales(groups: Tensor) -> tuple[Tensor, Tensor]:
    """Choose scale and offset (both at least 0) of each group of shape (…, GROUP).

    For every candidate grid the weights are rounded, and scale and offset are then fitted to the
    codes by least squares in which large weights count more; the grid with the least error wins.
    A group that no grid can tell apart keeps the plain grid from its least to its largest weight.
    """
    importance = groups.square().mean(-1, keepdim=True).sqrt() + groups.abs()
    least = groups.amin(-1).clamp(max=0)
    width = groups.amax(-1) - least
    weighted_sum, importance_sum = (importance * groups).sum(-1), importance.sum(-1)
    shifted = groups - least.unsqueeze(-1)
    scale, offset, best = width / LARGEST_Q, -least, torch.full_like(least, torch.inf)
    for candidate in CANDIDATES:
        grid = torch.where(width > 0, (LARGEST_Q + candidate) / width, 0)
        codes = (shifted * grid.unsqueeze(-1)).round_().clamp_(0, LARGEST_Q)
        weighted = importance * codes
        first, second = weighted.sum(-1), (weighted * codes).sum(-1)
        product = weighted.mul_(groups).sum(-1)
        determinant = importance_sum * second - first.square()
        fit_scale = (importance_sum * product - weighted_sum * first) / determinant
        fit_offset = (first * product - second * weighted_sum) / determinant
        fit_scale = torch.where(fit_offset >= 0, fit_scale, product / second)
        fit_offset = fit_offset.clamp(min=0)
        error = (  # without the square of the weights, which every grid shares
            fit_scale * (fit_scale * second - 2 * fit_offset * first - 2 * product)
            + fit_offset * (fit_offset * importance_sum + 2 * weighted_sum)
        )
        wins = (determinant > 0) & (fit_scale > 0) & (error < best)
        best = torch.where(wins, error, best)
        scale, offset = torch.where(wins, fit_scale, scale), torch.where(wins, fit_offset, offset)
    return scale, offset


def _six_bits(values: Tensor) -> tuple[Tensor, Tensor]:
    """Return the block's factor as fp16 holds it, shape (blocks, 1), and 6-bit codes of values."""
    factor = (values.amax(-1, keepdim=True) / LARGEST_SCALE).half().float()
    codes = torch.where(factor > 0, values / factor, 0).round().clamp(0, LARGEST_SCALE)
    return factor, codes


def _pack_codes(scales: Tensor, offsets: Tensor) -> Tensor:
    """Pack eight scales and eight offsets of 6 bits into 12 bytes a block.

    Bytes 0 to 3 hold scales 0 to 3 and bytes 4 to 7 offsets 0 to 3, each with the two high bits of
    scale or offset 4 to 7 on top; bytes 8 to 11 hold the low four bits of those.
    """
    low_scales, high_scales = scales.chunk(2, dim=1)
    low_offsets, high_offsets = offsets.chunk(2, dim=1)
    return torch.cat(
        [
            low_scales | (high_scales >> 4) << 6,
            low_offsets | (high_offsets >> 4) << 6,
            (high_scales & 15) | (high_offsets & 15) << 4,
        ],
        dim=1,
    )


def _pack_nibbles(codes: Tensor) -> Tensor:
    """Pack codes (blocks, GROUPS, GROUP): even groups in low nibbles, the next one in high ones."""
    low, high = codes[:, 0::2], codes[:, 1::2]
    return (low | high << 4).flatten(1)
