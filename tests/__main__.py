"""Runs every check of the project: `python -m tests`. Stops at the first that fails.

Arguments are handed to pytest, so `python -m tests -k parser` narrows the last step.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKERS = 2
"""Tests that run at once: what one waits for, a page above all, leaves cores idle."""

THREADS = max(1, (os.cpu_count() or 1) // WORKERS)

LINT_IMPORTS = "from importlinter.cli import lint_imports_command as run; run()"
CHECKS = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy"),
    ("-c", LINT_IMPORTS),
    ("-m", "pytest", "-n", str(WORKERS), "--dist", "loadfile", *sys.argv[1:]),
)


def main() -> int:
    """Run the checks in order and return the first exit status that is not 0."""
    for stub in (ROOT / "moss_demo").rglob("*.pyi"):
        stub.unlink()  # Gradio writes them beside components, and mypy would believe a stale one
    environment = {"OMP_NUM_THREADS": str(THREADS), **os.environ}
    for arguments in CHECKS:
        print(f"== {' '.join(arguments)}", flush=True)
        command = [sys.executable, *arguments]
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
