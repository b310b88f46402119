"""Runs every check of the project: `python -m tests`. Stops at the first that fails.

Arguments are handed to pytest, so `python -m tests -k parser` narrows the last step.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKERS = ("-n", "2", "--dist", "loadfile")
"""Two at once: what a test waits for, a page above all, leaves half of two cores idle."""

LINT_IMPORTS = "from importlinter.cli import lint_imports_command as run; run()"
CHECKS = (
    ("-m", "ruff", "check", "."),
    ("-m", "ruff", "format", "--check", "."),
    ("-m", "mypy"),
    ("-c", LINT_IMPORTS),
    ("-m", "pytest", *WORKERS, *sys.argv[1:]),
)


def main() -> int:
    """Run the checks in order and return the first exit status that is not 0."""
    for stub in (ROOT / "moss_demo").rglob("*.pyi"):
        stub.unlink()  # Gradio writes them beside components, and mypy would believe a stale one
    for arguments in CHECKS:
        print(f"== {' '.join(arguments)}", flush=True)
        status = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
