"""Clips a second on a GPU: batches in bf16 against one by one on the plain path in fp32.

`python -m tests.batch.throughput` takes random weights of the published size, 28 s of noise a clip
and 190 forced tokens, as the command `evaluate` runs them: 16 clips of them unbatched and all 256
in batches. `--gpus N` shares the same 256 clips among N processes instead, and compares with one.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import soundfile

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.engine.checkpoints import SYNTHETIC

CLIPS = 256
UNBATCHED_CLIPS = 16
CLIP_S = 28
TOKENS = 190
BATCH = 64
SHARED_BATCH = 16
"""Parts of the run are a few batches long: small enough for every process to get some."""

COMMON = ("--model", SYNTHETIC, "--max-new-tokens", str(TOKENS), "--no-speech-gate")
PLAIN = ("--precision", "fp32", "--decode", "reference", "--batch-size", "1")
TABLES = ("clips.csv", "clips.parquet")


def write_clips(folder: Path, count: int) -> Path:
    """Write recordings of noise, each its own."""
    folder.mkdir()
    for number in range(count):
        noise = np.random.default_rng(number).normal(0, 0.1, CLIP_S * SAMPLE_RATE_HZ)
        soundfile.write(folder / f"{number:03}.wav", noise.astype(np.float32), SAMPLE_RATE_HZ)
    return folder


def evaluate(clips: Path, out: Path, *options: str, processes: int = 1) -> float:
    """Run the command and return its clips a second: the slowest process ends a shared run."""
    start = (sys.executable, "-m")
    if processes > 1:
        start += ("torch.distributed.run", "--nproc-per-node", str(processes), "-m")
    command = (*start, "moss_demo", "evaluate", str(clips), "--out", str(out), *COMMON, *options)
    done = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True)
    shares = re.findall(r"(\d+) clips in ([\d.]+) s", done.stderr)
    rows = sum(int(count) for count, _ in shares)
    seconds = max(float(taken) for _, taken in shares)
    tokens = pq.read_table(out / "clips.parquet", columns=["tokens"])["tokens"].to_pylist()
    assert set(tokens) == {TOKENS}, "a clip got another number of tokens than was forced"
    print(f"{out.name}: {rows} clips in {seconds:.2f} s, {rows / seconds:.3f} clips/s", flush=True)
    return rows / seconds


def compare_batches(folder: Path) -> None:
    """Print the gain of batches in bf16 over the plain path in fp32."""
    few = write_clips(folder / "few", UNBATCHED_CLIPS)
    many = write_clips(folder / "many", CLIPS)
    plain = evaluate(few, folder / "fp32, reference, one by one", *PLAIN)
    batched = evaluate(
        many,
        folder / f"bf16, batches of {BATCH}",
        "--precision",
        "bf16",
        "--batch-size",
        str(BATCH),
    )
    print(f"ratio {batched / plain:.0f}")


def compare_gpus(folder: Path, gpus: int) -> None:
    """Print the gain of several GPUs over one and whether both wrote the same tables."""
    clips = write_clips(folder / "clips", CLIPS)
    options = ("--precision", "bf16", "--batch-size", str(SHARED_BATCH))
    alone = evaluate(clips, folder / "one GPU", *options)
    shared = evaluate(clips, folder / f"{gpus} GPUs", *options, processes=gpus)
    for table in TABLES:
        one, other = (folder / name / table for name in ("one GPU", f"{gpus} GPUs"))
        print(f"{table}: {'identical' if one.read_bytes() == other.read_bytes() else 'DIFFERENT'}")
    print(f"scaling {shared / alone:.2f}")


def main() -> None:
    """Measure in a temporary folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=1, metavar="N", help="processes to share among")
    gpus = parser.parse_args().gpus
    with TemporaryDirectory() as folder:
        if gpus > 1:
            compare_gpus(Path(folder), gpus)
        else:
            compare_batches(Path(folder))


if __name__ == "__main__":
    main()
