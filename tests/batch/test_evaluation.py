"""Runs of many recordings: killed, shared and resumed, they end with the same bytes."""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]
TABLES = ("clips.csv", "clips.parquet", "summary.csv", "takes.csv")
SEEDS = ("1", "2")


@pytest.fixture(scope="module")
def runs(turns: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One undisturbed run, named 0, and one a seed that was killed until it came through."""
    out = tmp_path_factory.mktemp("runs")
    done = subprocess.run(
        [sys.executable, "tests/batch/killing.py", str(turns), str(out), "0", *SEEDS],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    undisturbed, *killed = map(int, done.stdout.split())
    assert undisturbed == 0
    assert sum(killed) >= len(SEEDS)
    return out


def _bytes(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in TABLES}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_killed_at_any_file_operation_ends_with_the_same_tables(
    runs: Path, seed: str
) -> None:
    """SIGKILL again and again, and the tables are byte for byte those of a calm run."""
    assert _bytes(runs / seed) == _bytes(runs / "0")
    assert not list((runs / seed).rglob("*.draft"))


def test_two_processes_share_a_run(runs: Path, turns: Path, tmp_path: Path) -> None:
    """Two workers of torchrun: every part is done once, and the tables are the same."""
    out = tmp_path / "out"
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words = ["-m", "moss_demo", "evaluate", str(turns), "--out", str(out), "--batch-size", "1"]
    done = subprocess.run(
        [sys.executable, *command, *words, "--device", "cpu"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert _bytes(out) == _bytes(runs / "0")
    timings = pq.read_table(out / "timings.parquet").to_pydict()
    assert timings["line"] == list(range(1, 10))
    by_part = set(zip(timings["part"], timings["worker"], strict=True))
    assert len(by_part) == len({part for part, _ in by_part})
