"""Raw values of repeated runs, and what must hold before any of them is a figure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from moss_demo.bench.report import Quantity, Series
from moss_demo.domain.events import Run, StopReason
from moss_demo.errors import RequestError


@dataclass(slots=True)
class Samples:
    """What repeated runs of one request gave.

    Attributes:
        forced: whether the number of tokens is fixed, so that no run ends by itself.
        raw: values by quantity, in the order of the runs.
        last: the run added last.
        repeats: whether all runs wrote the same; only forced ones may go on when they did not.
    """

    forced: bool
    raw: dict[Quantity, list[float]] = field(default_factory=dict)
    last: Run | None = None
    repeats: bool = True

    def add(self, run: Run, allocated_bytes: int | None = None) -> None:
        """Keep the figures of a run.

        Raises:
            RequestError: it was cut off, or it wrote something else than the run before.
        """
        self.check(run)
        finished = run.finished
        assert finished is not None  # `check` has looked
        phases = finished.phases
        self._keep(Quantity.REQUEST_S, finished.at)
        self._keep(Quantity.FIRST_TOKEN_S, run.first_token_at)
        self._keep(Quantity.FEATURES_S, phases.features_s)
        self._keep(Quantity.ENCODER_S, phases.encoder_s)
        self._keep(Quantity.PREFILL_S, phases.prefill_s)
        self._keep(Quantity.DECODE_S, phases.decode_s)
        self._keep(Quantity.TOKEN_MS, 1e3 / run.tokens_per_s if run.tokens_per_s else None)
        self._keep(Quantity.TOKENS, len(run.token_ids))
        self._keep(Quantity.ALLOCATED_BYTES, allocated_bytes)

    def check(self, run: Run) -> None:
        """Refuse a run that no time should be taken of, and remember a good one.

        Raises:
            RequestError: it was cut off, or it wrote something else than the run before.
        """
        if run.finished is None:
            raise RequestError("A run did not end, so it is not timed; measure again.")
        if run.finished.stop is StopReason.LENGTH and not self.forced:
            raise RequestError(
                f"The transcript of {run.clip_name} was cut off by its token budget, so it is not "
                "timed; choose another recording."
            )
        if self.last is not None and self.last.token_ids != run.token_ids:
            self.repeats = False
        if not (self.repeats or self.forced):
            raise RequestError(
                f"Repeated runs of {run.clip_name} wrote different transcripts, so they are not "
                "timed; compare the two in the Compare tab."
            )
        self.last = run

    def series(self) -> dict[Quantity, Series]:
        """Return the values so far, fixed."""
        return {quantity: tuple(values) for quantity, values in self.raw.items()}

    def labels(self) -> dict[str, str]:
        """Return what a reader must know of the runs."""
        return {} if self.repeats else {"repeats": "repeated runs wrote different tokens"}

    def _keep(self, quantity: Quantity, value: float | None) -> None:
        if value is not None:
            self.raw.setdefault(quantity, []).append(float(value))


def same_tokens(first: Run | None, second: Run | None) -> str:
    """Say whether two variants wrote the same."""
    if first is None or second is None:
        return "n/a"
    if first.token_ids == second.token_ids:
        return "same tokens"
    pairs: Sequence[tuple[int, int]] = list(zip(first.token_ids, second.token_ids, strict=False))
    equal = next((n for n, (a, b) in enumerate(pairs) if a != b), len(pairs))
    return f"tokens part after {equal}"
