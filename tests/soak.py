"""Sends many mixed requests from many clients to the app and looks for what goes wrong or grows.

`python -m tests.soak` starts the real app on the loopback address with `tiny`: 200 requests from 20
clients, good and broken, cancelled half-way and read slowly, through the API and through the page's
endpoint. Every transcript must be that of its own recording. Between rounds, when nothing runs, the
server's memory, files and threads are counted. Prints tables; ends with 0 or 1.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import httpx
import soundfile

from moss_demo.domain.events import Finished
from moss_demo.domain.parser import parse
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.pool import EnginePool

ROOT = Path(__file__).parents[1]
SAMPLES = sorted((ROOT / "assets" / "samples").glob("*.flac"))
CLIP_S = 4.0
CLIPS_PER_SAMPLE = 2
ROUNDS = 5
MEMORY_GROWTH = 0.05
"""What memory may grow by after the first round; files and threads may not grow at all."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A recording, and what the engine writes when it is alone."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """How one request went.

    Attributes:
        kind: name of the request.
        seconds: from the request to its end.
        wrong: what should not be, or None.
    """

    kind: str
    seconds: float
    wrong: str | None


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the server's process holds."""

    resident_mib: float
    files: int
    threads: int


def cut_clips(folder: Path) -> list[Clip]:
    """Cut recordings that all say something else, and transcribe each alone."""
    pool, config = EnginePool(), EngineConfig("tiny", "cpu", Precision.FP32)
    clips = []
    for sample in SAMPLES:
        sound, rate = soundfile.read(sample)
        for number in range(CLIPS_PER_SAMPLE):
            path = folder / f"{sample.stem}-{number}.wav"
            begin = int(rate * CLIP_S * number * 1.5)
            soundfile.write(path, sound[begin : begin + int(rate * CLIP_S)], rate)
            last = list(pool.stream(config, Request(read_audio(path))))[-1]
            assert isinstance(last, Finished)
            clips.append(Clip(path, " ".join(s.text for s in parse(last.text).segments)))
    assert len({clip.text for clip in clips}) == len(clips)
    return clips


def whole(web: httpx.Client, clip: Clip) -> str | None:
    """Ask for JSON."""
    answer = _post(web, clip.path.name, clip.path.read_bytes())
    return _differs(answer.json().get("text"), clip)


def streamed(web: httpx.Client, clip: Clip, pause_s: float = 0.0) -> str | None:
    """Read the stream to its end."""
    with _stream(web, clip) as lines:
        events = []
        for line in lines:
            events += [json.loads(line[6:])] if line.startswith("data: ") else []
            time.sleep(pause_s)
    deltas = "".join(e["delta"] for e in events if e["type"] == "transcript.text.delta")
    return _differs(deltas, clip) or _differs(events[-1].get("text"), clip)


def read_slowly(web: httpx.Client, clip: Clip) -> str | None:
    """Read the stream at the pace of a bad connection."""
    return streamed(web, clip, 0.2)


def cancelled(web: httpx.Client, clip: Clip) -> str | None:
    """Leave after the first word."""
    with _stream(web, clip) as lines:
        return None if any(line.startswith("data: ") for line in lines) else "no word came"


def broken(web: httpx.Client, clip: Clip) -> str | None:
    """Send what is no recording."""
    answer = _post(web, clip.path.name, b"RIFF" + clip.path.read_bytes()[40:60])
    return None if answer.status_code == 400 else f"status {answer.status_code}"


def refused(web: httpx.Client, clip: Clip) -> str | None:
    """Ask for a checkpoint that is not offered."""
    answer = _post(web, clip.path.name, clip.path.read_bytes(), model="whisper-1")
    return None if answer.status_code == 404 else f"status {answer.status_code}"


def from_the_page(web: httpx.Client, clip: Clip) -> str | None:
    """Use the page's own endpoint, as its client does."""
    files = {"files": (clip.path.name, clip.path.read_bytes())}
    path = web.post("gradio_api/upload", files=files).raise_for_status().json()[0]
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    body = {"data": [file, "tiny", "auto", "default", "", ""]}
    event = web.post("gradio_api/call/transcribe", json=body).raise_for_status().json()
    told = web.get(f"gradio_api/call/transcribe/{event['event_id']}").text
    last = told.split("event: complete\ndata: ")[-1].splitlines()[0]
    text = parse(json.loads(last)[0].replace("\n", ""))
    return _differs(" ".join(segment.text for segment in text.segments), clip)


KINDS: dict[Callable[[httpx.Client, Clip], str | None], int] = {
    whole: 8, streamed: 4, from_the_page: 3, read_slowly: 2, cancelled: 3, broken: 2, refused: 2,
}  # fmt: skip
"""Requests by how often they are made."""


@contextmanager
def running_app(folder: Path) -> Iterator[tuple[str, int]]:
    """Start the app as a host does; yield its address and the process that serves."""
    command = [sys.executable, str(ROOT / "app.py"), "--device", "cpu"]
    environment = {**os.environ, "GRADIO_TEMP_DIR": str(folder / "files")}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True
    ) as supervisor:
        try:
            assert supervisor.stdout is not None
            address = supervisor.stdout.readline().removeprefix("Open ").strip()
            while httpx.get(f"{address}health", timeout=60).status_code != 200:
                time.sleep(0.5)
            children = Path(f"/proc/{supervisor.pid}/task/{supervisor.pid}/children")
            yield address, int(children.read_text(encoding="ascii").split()[0])
        finally:
            supervisor.terminate()


def make_requests(
    address: str, clips: Sequence[Clip], count: int, clients: int, seed: int
) -> list[Answer]:
    """Make `count` requests, `clients` at a time."""
    chance = random.Random(seed)
    wanted = chance.choices(list(KINDS), list(KINDS.values()), k=count)
    chosen = [(kind, chance.choice(clips)) for kind in wanted]

    def make(request: tuple[Callable[[httpx.Client, Clip], str | None], Clip]) -> Answer:
        kind, clip = request
        started_at = time.perf_counter()
        try:
            with httpx.Client(base_url=address, timeout=600) as web:
                wrong = kind(web, clip)
        except Exception as error:
            wrong = f"{type(error).__name__}: {error}"
        return Answer(kind.__name__, time.perf_counter() - started_at, wrong)

    with ThreadPoolExecutor(clients) as threads:
        return list(threads.map(make, chosen))


def footprint(address: str, pid: int) -> Footprint:
    """Wait until nothing runs and idle threads have gone, then count."""
    while httpx.get(f"{address}health", timeout=60).json()["in_line"]:
        time.sleep(0.2)
    time.sleep(12.0)
    httpx.post(f"{address}v1/audio/transcriptions", files={"file": b""}, timeout=60)
    time.sleep(0.5)  # a new task makes the pool let go of threads that were idle for ten seconds
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    values = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    files = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return Footprint(int(values["VmRSS"].split()[0]) / 1024, files, int(values["Threads"]))


def report(answers: Sequence[Answer], held: Sequence[Footprint]) -> bool:
    """Print both tables; tell whether everything was right and nothing grew."""
    print("| request | sent | wrong | median s | p95 s |\n|---|---|---|---|---|")
    for kind in KINDS:
        times = [a.seconds for a in answers if a.kind == kind.__name__]
        wrong = [a.wrong for a in answers if a.kind == kind.__name__ and a.wrong]
        if len(times) > 1:
            p95 = quantiles(times, n=20)[-1]
            name = kind.__name__.replace("_", " ")
            print(f"| {name} | {len(times)} | {len(wrong)} | {median(times):.1f} | {p95:.1f} |")
        for sentence in wrong:
            print(f"wrong: {kind.__name__}: {sentence}", file=sys.stderr)
    print("\n| after round | memory MiB | files | threads |\n|---|---|---|---|")
    for number, one in enumerate(held, 1):
        print(f"| {number} | {one.resident_mib:.0f} | {one.files} | {one.threads} |")
    first, last = held[0], held[-1]
    grown = last.resident_mib / first.resident_mib - 1
    print(f"\nmemory {grown:+.1%} after the first round")
    return (
        not any(answer.wrong for answer in answers)
        and grown <= MEMORY_GROWTH
        and last.files <= first.files
        and last.threads <= first.threads
    )


def main(words: Sequence[str] | None = None) -> int:
    """Run the soak and print its verdict."""
    parser = argparse.ArgumentParser(description="Load the app and look for what breaks or grows.")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args(words)
    with TemporaryDirectory() as name, running_app(folder := Path(name)) as (address, pid):
        clips = cut_clips(folder)
        answers: list[Answer] = []
        held = []
        for number in range(arguments.rounds):
            count = arguments.requests // arguments.rounds
            answers += make_requests(address, clips, count, arguments.clients, seed=number)
            held.append(footprint(address, pid))
    passed = report(answers, held)
    print("PASS" if passed else "FAIL")
    return 0 if passed else 1


def _post(web: httpx.Client, name: str, content: bytes, model: str = "tiny") -> httpx.Response:
    return web.post(
        "v1/audio/transcriptions", data={"model": model}, files={"file": (name, content)}
    )


@contextmanager
def _stream(web: httpx.Client, clip: Clip) -> Iterator[Iterator[str]]:
    form = {"model": "tiny", "stream": "true"}
    files = {"file": (clip.path.name, clip.path.read_bytes())}
    with web.stream("POST", "v1/audio/transcriptions", data=form, files=files) as answer:
        yield answer.iter_lines()


def _differs(text: str | None, clip: Clip) -> str | None:
    return None if text == clip.text else f"{clip.path.name}: {text!r} is not {clip.text!r}"


if __name__ == "__main__":
    sys.exit(main())
