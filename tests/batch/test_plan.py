"""Plans: every usable row in exactly one batch, long ones first, within the limits."""

from hypothesis import given
from hypothesis import strategies as st

from moss_demo.batch.plan import PART_BATCHES, Limits, make_plan, read_plan, write_plan

LENGTHS = st.lists(st.one_of(st.none(), st.floats(0.1, 4_000)), max_size=60)


@given(LENGTHS, st.integers(1, 9), st.integers(1, 10_000), st.randoms())
def test_every_row_is_planned_once(durations, rows, memory, draw) -> None:
    """Parts cover the manifest in order; batches hold each usable row once and keep the limits."""
    usable = [draw.random() < 0.9 for _ in durations]
    plan = make_plan("d", durations, usable, Limits(rows, memory), lambda s: int(s) + 1)
    assert [(p.first, p.stop) for p in plan.parts] == [
        (first, min(first + rows * PART_BATCHES, len(durations)))
        for first in range(0, len(durations), rows * PART_BATCHES)
    ]
    for part in plan.parts:
        planned = [index for batch in part.batches for index in batch]
        assert sorted(planned) == [i for i in range(part.first, part.stop) if usable[i]]
        known = [d for i in planned if (d := durations[i]) is not None]
        assert known == sorted(known, reverse=True)
        for batch in part.batches:
            lengths = [durations[index] for index in batch]
            assert len(batch) == 1 or None not in lengths
            cost = (int(max(length or 0 for length in lengths)) + 1) * len(batch)
            assert len(batch) == 1 or (len(batch) <= rows and cost <= memory)


@given(LENGTHS)
def test_a_plan_survives_its_file(durations) -> None:
    """What is recorded is what was planned."""
    plan = make_plan("d", durations, [True] * len(durations), Limits(3, 900), lambda s: int(s) + 1)
    assert read_plan(write_plan(plan)) == plan
