"""Runs what only a CUDA machine can show: `python -m tests.on_gpu OUT [STEP…]`.

Continuous integration has no GPU, so this is run before a release. Every step is a command of its
own with a time limit; its output is kept as OUT/STEP.log, its reports beside it, and the last lines
are printed. A step that is late is interrupted, as Ctrl+C would, and keeps what it has measured.
"""

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parents[1]
SYNTHETIC = ("--model", "synthetic-0.9b")
GPU_TESTS = (
    "tests/engine/fast/test_gpu.py",
    "tests/engine/weights/test_gpu.py",
    "tests/engine/test_encoder_compile_gpu.py",
)
LAST_LINES = 12
GRACE_S = 30.0


@dataclass(frozen=True, slots=True)
class Step:
    """A command for `python -m` and the seconds it may take; `report` names a benchmark's file."""

    limit_s: float
    command: tuple[str, ...]
    report: str = ""


def _benchmark(limit_s: float, *plans: str) -> Step:
    report = f"{'-'.join(plans)}.json"
    return Step(limit_s, ("moss_demo", "benchmark", *plans, *SYNTHETIC), report)


STEPS = {
    "checks": Step(240, ("pytest", "-q", "--durations=8", "-m", "gpu", *GPU_TESTS)),
    "faults": Step(120, ("pytest", "-q", "tests/engine/test_faults.py", "-k", "lost or works")),
    "requests": _benchmark(540, "encoder", "e2e"),
    "precisions": _benchmark(420, "precision"),
    "batches": _benchmark(240, "batch"),
    "memory": _benchmark(240, "memory"),
    "throughput": Step(240, ("tests.batch.throughput",)),
    "scaling": Step(240, ("tests.batch.throughput", "--gpus", "2")),
    "soak": Step(420, ("tests.engine.soak", "--encoder-compile", "default")),
}
"""`scaling` needs two GPUs and is left out unless it is named."""


def run(name: str, step: Step, out: Path) -> int:
    """Run a step and print how it ended; returns its exit status."""
    command = [sys.executable, "-m", *step.command]
    if step.report:
        command += ["--json", str(out / step.report)]
    log, began = out / f"{name}.log", perf_counter()
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            process.wait(step.limit_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    print(f"== {name}: status {process.returncode}, {perf_counter() - began:.0f} s")
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    shown = [line for line in lines if not line.startswith("{")]  # the report is in its own file
    print("\n".join(line[:200] for line in shown[-LAST_LINES:]), flush=True)
    return process.returncode


def main(words: list[str]) -> int:
    """Run the steps that are named, else all but `scaling`."""
    if not words:
        print(__doc__, "Steps:", ", ".join(STEPS))
        return 2
    out = Path(words[0])
    out.mkdir(parents=True, exist_ok=True)
    names = words[1:] or [name for name in STEPS if name != "scaling"]
    statuses = [run(name, STEPS[name], out) for name in names]
    return max(map(abs, statuses))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
