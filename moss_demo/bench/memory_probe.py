"""A process that samples the memory of another one: `python -m moss_demo.bench.memory_probe`.

It stands alone, since a thread beside the work would wait for the interpreter's lock. Every 50 ms
it prints one line of JSON: the monotonic clock, then what it saw. It ends with its standard input.
"""

import json
import sys
import threading
from pathlib import Path
from time import monotonic

from moss_demo.bench.nvml import MemoryReading, open_gpu

INTERVAL_S = 0.05


def sample(pid: int, uuid: str | None) -> None:
    """Print readings of process `pid` until standard input is closed.

    Args:
        pid: the process.
        uuid: the GPU it uses, or None to read its resident size.
    """
    ended = threading.Event()
    threading.Thread(target=_wait_for_end, args=(ended,), daemon=True).start()
    gpu = open_gpu(uuid)
    over = False
    while not over:  # the last sample is taken after the work has ended
        over = ended.wait(INTERVAL_S)
        if uuid is None:
            reading = MemoryReading(resident_bytes(pid), None, None)
        elif gpu is None:
            reading = MemoryReading(None, None, None)
        else:
            reading = gpu.memory(pid)
        line = [monotonic(), reading.own_bytes, reading.only_bytes, reading.device_bytes]
        print(json.dumps(line), flush=True)


def resident_bytes(pid: int) -> int | None:
    """Return the resident size of a process on Linux, None where that cannot be read."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    return None


def _wait_for_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    sample(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
