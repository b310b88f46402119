"""Reads the recordings of a batch and their references on threads, a batch ahead of the device."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from moss_demo.batch.manifest import Entry
from moss_demo.batch.sources import Sources
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.domain.transcript import Transcript
from moss_demo.engine.audio_files import read_audio
from moss_demo.errors import MossDemoError
from moss_demo.scoring.normalize import Level

READERS = 4
"""Threads that read recordings and look for speech in them."""

Prepare = Callable[[Request], Request]


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of every recording.

    Attributes:
        prompt: instruction text, or None for the checkpoint's own.
        hotwords: names and terms.
        options: how to decode.
        speech_gate: answer recordings without speech at once.
        level: what counts as the same word.
        max_duration_s: longer recordings are refused, None for no limit.
    """

    prompt: str | None = None
    hotwords: tuple[str, ...] = ()
    options: DecodeOptions = DecodeOptions()  # noqa: RUF009  # a frozen value
    speech_gate: bool = True
    level: Level = Level.LANGUAGE
    max_duration_s: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """An entry whose recording was read, or why it cannot be used.

    Attributes:
        entry: what the manifest says.
        request: the sound and what is asked; None where something is wrong.
        reference: the truth, where there is one.
        error: what is wrong.
    """

    entry: Entry
    request: Request | None = None
    reference: Transcript | None = None
    error: MossDemoError | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """Knows where recordings lie and what is asked of them."""

    sources: Sources
    task: Task
    prepare: Prepare

    def read(self, entry: Entry) -> Recording:
        """Read a recording and its reference; what is wrong with either becomes its error."""
        try:
            reference = self.sources.reference(entry)
            path, task = self.sources.audio(entry), self.task
            clip = read_audio(path, max_duration_s=task.max_duration_s)
            gate = task.speech_gate
            request = Request(clip, task.prompt, task.hotwords, task.options, speech_gate=gate)
            return Recording(entry, self.prepare(request), reference)
        except MossDemoError as error:
            return Recording(entry, error=error)

    def read_ahead(
        self, batches: Sequence[Sequence[Entry]]
    ) -> Generator[list[Recording], None, None]:
        """Yield each batch once it is read; the next one is being read meanwhile."""
        following: list[Future[Recording]] = []
        readers = ThreadPoolExecutor(READERS)
        try:
            for batch in (*batches, ()):
                current = following
                following = [readers.submit(self.read, entry) for entry in batch]
                if current:
                    yield [future.result() for future in current]
        finally:
            readers.shutdown(cancel_futures=True)
