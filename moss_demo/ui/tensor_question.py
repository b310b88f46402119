"""How far the numbers of two engines are apart, asked after both have made a transcript."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.pool import Compiling, EnginePool, Loading, Preparing, Ready, Waiting, Working
from moss_demo.engine.tensor_probe import compare_tensors
from moss_demo.engine.worker import Emit, IsStopped, stream_from_worker
from moss_demo.scoring.tensor_parity import StageParity
from moss_demo.ui import present
from moss_demo.ui.comparison import Comparison, SideChoice

Stages = tuple[StageParity, ...]

DONE = "Compared number by number."


@dataclass(frozen=True, slots=True)
class TensorQuestion:
    """Everything that is needed to ask.

    Attributes:
        engines: A and B.
        tokens: what A wrote.
        recording: the file both heard.
    """

    engines: tuple[EngineConfig, EngineConfig]
    tokens: tuple[int, ...]
    recording: str


def question_of(
    choices: tuple[SideChoice, SideChoice], state: Comparison, recording: str | None
) -> TensorQuestion | None:
    """Return the question that a comparison allows; None unless two engines have finished."""
    a, b = choices
    if not (isinstance(a, EngineConfig) and isinstance(b, EngineConfig)):
        return None
    if recording is None or state.verdict is None:
        return None
    return TensorQuestion((a, b), state.sides[0].run.token_ids, recording)


def answer(
    question: TensorQuestion, pool: EnginePool, max_duration_s: float
) -> Generator[tuple[str, Stages | None], None, None]:
    """Yield a line while engines are waited for, loaded and run, and the stages at the end.

    Raises:
        MossDemoError: the recording is gone, or an engine cannot be loaded.
    """
    yield "Reading the recording…", None
    request = Request(read_audio(Path(question.recording), max_duration_s=max_duration_s))

    def work(emit: Emit[Preparing | Working | Stages], is_stopped: IsStopped) -> None:
        emit(compare_tensors(pool, question.engines, request, question.tokens, emit, is_stopped))

    line = ""
    events: Generator[Preparing | Working | Stages, None, None]
    events = stream_from_worker(work, idle=Working())
    with closing(events):
        for event in events:
            if isinstance(event, tuple):
                yield DONE, event
                continue
            line = line if isinstance(event, Working) else _line(event)
            yield line, None


def _line(event: Preparing) -> str:
    match event:
        case Waiting():
            return present.waiting_line(event.place)
        case Loading():
            return f"Loading {event.checkpoint}…"
        case Compiling():
            return present.compiling_line(event.chunks)
        case Ready():
            return f"Computing in {event.info.precision}…"
