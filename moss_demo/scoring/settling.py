"""Moves the gaps of an alignment to where segments and times say they belong.

Of "okay okay okay" against "okay okay" any word may be the lost one: each choice costs one edit.
The choice decides which segments answer each other, so a gap is slid, at equal cost and with the
same edits, to the place where most segment boundaries coincide and, among those, where the segments
are closest in time. Knows nothing of speakers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from moss_demo.scoring.streams import TokenStream
from moss_demo.scoring.text_errors import Alignment


def settle(reference: TokenStream, candidate: TokenStream, alignment: Alignment) -> Alignment:
    """Slide every deletion and every insertion to its best place; linear in the tokens."""
    settled = _slide_gaps(reference, candidate, alignment)
    return _slide_gaps(candidate, reference, settled.inverse()).inverse()


@dataclass(frozen=True, slots=True)
class _Side:
    """What sliding asks of one transcript."""

    tokens: tuple[str, ...]
    starts_ms: list[int | None]
    is_boundary: list[bool]
    boundaries_before: list[int]

    def boundaries_within(self, first: int, last: int) -> int:
        return self.boundaries_before[last + 1] - self.boundaries_before[first]


def _side(stream: TokenStream) -> _Side:
    is_boundary = [False] * (len(stream.tokens) + 1)
    for position in stream.offsets:
        is_boundary[position] = True
    before = [0, *accumulate(int(boundary) for boundary in is_boundary)]
    return _Side(stream.tokens, stream.token_starts_ms(), is_boundary, before)


@dataclass(frozen=True, slots=True)
class _Gap:
    """Tokens without a partner: `length` of them from `row` on, beside position `column`."""

    gapped: _Side
    other: _Side
    row: int
    length: int
    column: int

    def can_move(self, partners: Sequence[int], shift: int, step: int) -> bool:
        """Say whether the gap, moved by `shift`, moves one further for the same edits."""
        near = self.row + shift + (0 if step > 0 else self.length - 1)
        far = self.row + shift + (self.length if step > 0 else -1)
        column = self.column + shift + (0 if step > 0 else -1)
        if column < 0 or not 0 <= far < len(partners) or partners[far] != column:
            return False
        token = self.other.tokens[column]
        return (self.gapped.tokens[far] == token) == (self.gapped.tokens[near] == token)

    def gain(self, shift: int) -> tuple[int, int]:
        """Return what moving from `shift` to `shift + 1` wins: boundaries, nearness in ms."""
        row, column = self.row + shift, self.column + shift
        boundaries = (
            self._upright(row + 1, column + 1)
            - self._upright(row, column)
            + 2 * self._meets(row, column)
            - 2 * self._meets(row + self.length + 1, column + 1)
        )
        nearness = self._apart_ms(row + self.length, column) - self._apart_ms(row, column)
        return boundaries, nearness

    def shared(self, partners: Sequence[int], shift: int, step: int) -> int:
        """Return 1 where a gap moved up to another one counts a boundary that counts already.

        Both then lie beside one position of the other side, whose boundary is met only once.
        """
        edge = self.row + shift + (self.length if step > 0 else 0)
        end = edge if step > 0 else edge - 1
        while 0 <= end < len(partners) and partners[end] < 0:
            end += step
        first, last = (edge, end) if step > 0 else (end + 1, edge)
        own_row, column = self.row + shift, self.column + shift
        return int(
            first < last
            and self.other.is_boundary[column]
            and not self.gapped.is_boundary[edge]
            and self.gapped.boundaries_within(first, last) > 0
            and self.gapped.boundaries_within(own_row, own_row + self.length) > 0
        )

    def _upright(self, row: int, column: int) -> int:
        """Count boundaries that coincide along the gap itself, on both sides."""
        if not self.other.is_boundary[column]:
            return 0
        rows = self.gapped.boundaries_within(row, row + self.length)
        return rows + (rows > 0)

    def _meets(self, row: int, column: int) -> bool:
        return self.gapped.is_boundary[row] and self.other.is_boundary[column]

    def _apart_ms(self, row: int, column: int) -> int:
        one, two = self.gapped.starts_ms[row], self.other.starts_ms[column]
        return 0 if one is None or two is None else abs(one - two)


def _slide_gaps(gapped: TokenStream, other: TokenStream, alignment: Alignment) -> Alignment:
    partners = list(alignment.partners)
    if -1 not in partners:
        return alignment
    sides = _side(gapped), _side(other)
    row = 0
    while row < len(partners):
        if partners[row] >= 0:
            row += 1
            continue
        length = _run_length(partners, row)
        column = partners[row - 1] + 1 if row else 0
        shift = _best_shift(_Gap(*sides, row, length, column), partners)
        _move(partners, row, length, shift)
        row += length + max(shift, 0)
    return Alignment(tuple(partners), alignment.candidate_length)


def _run_length(partners: Sequence[int], row: int) -> int:
    end = row
    while end < len(partners) and partners[end] < 0:
        end += 1
    return end - row


def _best_shift(gap: _Gap, partners: Sequence[int]) -> int:
    best, best_shift = (0, 0), 0
    for step in (1, -1):
        boundaries = nearness = shift = 0
        while gap.can_move(partners, shift, step):
            more, nearer = gap.gain(shift if step > 0 else shift - 1)
            boundaries, nearness, shift = (
                boundaries + step * more,
                nearness + step * nearer,
                shift + step,
            )
            reached = (boundaries - gap.shared(partners, shift, step), nearness)
            if reached > best:
                best, best_shift = reached, shift
    return best_shift


def _move(partners: list[int], row: int, length: int, shift: int) -> None:
    """Move the gap at `row` by `shift`; the tokens it passes change sides."""
    if shift > 0:
        passed = partners[row + length : row + length + shift]
        partners[row : row + length + shift] = [*passed, *[-1] * length]
    elif shift < 0:
        passed = partners[row + shift : row]
        partners[row + shift : row + length] = [*[-1] * length, *passed]
