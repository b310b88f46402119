"""Error counts that add up. Knows nothing of text, speakers or how the counts were found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Edits that turn a reference into a hypothesis.

    A corpus figure is `sum(counts, ErrorCounts())` and its rate: a ratio of sums, never a mean of
    rates.

    Attributes:
        substitutions: tokens replaced by another one.
        deletions: reference tokens that are missing.
        insertions: tokens that the reference does not hold.
        reference_length: tokens of the reference.
    """

    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0
    reference_length: int = 0

    @property
    def errors(self) -> int:
        """All edits together."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float | None:
        """Edits by reference tokens, above 1 when much is inserted; None for no reference."""
        return self.errors / self.reference_length if self.reference_length else None

    def __add__(self, other: "ErrorCounts") -> "ErrorCounts":
        """Pool two counts."""
        return ErrorCounts(
            self.substitutions + other.substitutions,
            self.deletions + other.deletions,
            self.insertions + other.insertions,
            self.reference_length + other.reference_length,
        )
