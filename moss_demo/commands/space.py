"""`space`: the folder to push to a Hugging Face Space, for a GPU of its own or for ZeroGPU."""

import argparse
import re
import shutil
from pathlib import Path

from moss_demo.errors import RequestError

ROOT = Path(__file__).parents[2]

FILES = ("app.py", "README.md", "LICENSE", "NOTICE", "SECURITY.md", "requirements.txt")
FOLDERS = ("assets", "moss_demo")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyi", "tiny", "heldout", "text")
"""What the app does not use: the recipe behind the embedded checkpoint and its material."""

ZERO_GPU_TORCH = "torch==2.11.0"
"""The newest of the versions that ZeroGPU supports, 2.8.0 to 2.11.0."""

ZERO_GPU_PACKAGES = ("spaces>=0.51,<0.52",)
ZERO_GPU_FRONT_MATTER = {"python_version": '"3.12.12"', "suggested_hardware": "zero-a10g"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="OUT", help="folder to write, new or empty")
    parser.add_argument(
        "--zero-gpu", action="store_true", help="for ZeroGPU, with the torch that it supports"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the folder and say how to push it."""
    folder: Path = arguments.folder
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise RequestError(folder, " is not empty; name a new folder.")
    try:
        write_space(folder, zero_gpu=arguments.zero_gpu)
    except OSError as error:
        raise RequestError(folder, f" cannot be written ({error.strerror}).") from error
    print(f"hf upload YOU/YOUR-SPACE {folder} . --repo-type=space")
    return 0


def write_space(folder: Path, *, zero_gpu: bool) -> None:
    """Copy what the app needs, without tests, and name the packages of the target.

    Args:
        folder: new or empty.
        zero_gpu: for a Space that borrows a GPU for each run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    if zero_gpu:
        requirements, readme = folder / "requirements.txt", folder / "README.md"
        requirements.write_text(_packages(requirements.read_text("utf-8")), encoding="utf-8")
        readme.write_text(_front_matter(readme.read_text("utf-8")), encoding="utf-8")


def _packages(requirements: str) -> str:
    """Return the packages of a Space on ZeroGPU."""
    pinned = re.sub(r"^torch==.*$", ZERO_GPU_TORCH, requirements, flags=re.MULTILINE)
    return "\n".join([pinned.rstrip(), *ZERO_GPU_PACKAGES, ""])


def _front_matter(readme: str) -> str:
    """Return the page that configures a Space on ZeroGPU."""
    for key, value in ZERO_GPU_FRONT_MATTER.items():
        readme = re.sub(rf"^{key}: .*$", f"{key}: {value}", readme, count=1, flags=re.MULTILINE)
    return readme
