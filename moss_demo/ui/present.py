"""Pure presenters: what the page says about a run. No Gradio, no clock, no files."""

from collections.abc import Mapping

from moss_demo.domain.diagnostics import diagnose
from moss_demo.domain.events import Run, StopReason
from moss_demo.domain.exports import ExportFormat, export_notes
from moss_demo.domain.figures import clock
from moss_demo.engine.checkpoints import PUBLISHED, TINY
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.line import Place
from moss_demo.ui.lanes import speaker_name

TINY_NOTICE = (
    "tiny is the embedded demonstration checkpoint: English in lower case, best on the voices it "
    f"was trained with and on two minutes at most. For real recordings load {PUBLISHED.repo}."
)

IDLE = "Upload or record a conversation, or pick a sample, then press Transcribe."

BUSY = "A run is in progress; stop it or wait for its end first."
SOUND_GONE = "The recording of this run was deleted meanwhile; its transcript is still here."

NO_FIGURES = "Time, speed and memory of a run stand here."
DOWNLOADS = "The transcript in every format, with speakers named as in the view"
COMPARE_IDLE = (
    "Pick a recording and two sides, then press Compare: both run on the same sound, and B is "
    "judged by A. A saved transcript of any machine or engine can be a side."
)
COMPARE_STOPPED = "Stopped; what was written stays."
STARTING = "Starting…"
NOT_STARTED = "Stopped before it began."
OFFER = f"Load the published checkpoint ({PUBLISHED.size_bytes / 1e9:.1f} GB)"


def waiting_line(place: Place) -> str:
    """Say how many runs come before this one and about how long they take."""
    line = f"Waiting: {place.ahead} run{'' if place.ahead == 1 else 's'} before yours"
    return line if place.wait_s is None else f"{line} · about {clock(place.wait_s)} to go"


def compiling_line(chunks: int) -> str:
    """Say that the encoder is being compiled, and for what."""
    return f"Compiling the encoder for {chunks} × 30 s at a time…"


def ready_line(duration_s: float, warnings: tuple[str, ...]) -> str:
    """Say that a recording can be transcribed, how long it is and what is odd about it."""
    return " ".join([f"Ready: {clock(duration_s)} of sound. Press Transcribe.", *warnings])


def failed_line(message: str) -> str:
    """Say on the page why there is no result; the message is one of ours."""
    return f"⚠ {message}"


def status_line(run: Run) -> str:
    """Say in one line how far a run is, or how it ended."""
    if run.finished is None:
        speed = f" · {run.tokens_per_s:.0f} tokens/s" if run.tokens_per_s else ""
        return f"Transcribing · {clock(run.covered_s)} of {clock(run.duration_s)}{speed}"
    if run.finished.stop is StopReason.NO_SPEECH:
        return f"No speech found in {clock(run.duration_s)}"
    if run.finished.stop is StopReason.LENGTH:
        return f"Cut off by the token budget after {run.finished.at:.1f} s · {_counts(run)}"
    times = run.duration_s / run.finished.at
    return f"Done in {run.finished.at:.1f} s ({times:.1f}× real time) · {_counts(run)}"


def stopped_line(run: Run) -> str:
    """Say how far a stopped run came."""
    return f"Stopped at {clock(run.covered_s)} of {clock(run.duration_s)} · {_counts(run)}"


def engine_line(info: EngineInfo) -> str:
    """Name checkpoint, precision, device, decode path and encoder of a run."""
    revision = "" if info.revision == "local" else f" @ {info.revision[:8]}"
    return (
        f"{info.checkpoint}{revision} · {info.parameters / 1e6:,.1f} M parameters · "
        f"{info.precision} · {info.device} · {info.decode} decode path · "
        f"{info.attention} attention · encoder {info.encoder}"
    )


def warning_rows(
    run: Run, clip_warnings: tuple[str, ...], engine: EngineInfo | None = None
) -> list[dict[str, str]]:
    """List what a person should know about a run: its engine, the sound, and then the text."""
    problem = None if engine is None else engine.compile_problem
    rows = [] if problem is None else [{"kind": "encoder", "message": problem}]
    rows += [{"kind": "audio", "message": sentence} for sentence in clip_warnings]
    return rows + [{"kind": d.kind.value, "message": d.message} for d in diagnose(run)]


def download_line(done_bytes: int, total_bytes: int) -> str:
    """Say how far a download is."""
    share = done_bytes / total_bytes
    return f"Downloading {done_bytes / 1e6:,.0f} of {total_bytes / 1e6:,.0f} MB ({share:.0%})"


def download_notes(run: Run, names: Mapping[str, str]) -> str:
    """Say how speakers are named and what formats cannot hold as written, each remark once."""
    speakers = ", ".join(speaker_name(label, names) for label in run.transcript.speakers)
    remarks: dict[str, list[str]] = {}
    for fmt in ExportFormat:
        for note in export_notes(run.transcript, fmt, duration_s=run.duration_s):
            remarks.setdefault(note, []).append(fmt.value)
    lead = f"{DOWNLOADS}: {speakers}." if speakers else f"{DOWNLOADS}."
    return " ".join([lead, *(f"{', '.join(f)}: {note}" for note, f in remarks.items())])


def checkpoint_notice(checkpoint: str) -> str:
    """Return the notice that belongs to a checkpoint, empty for the published ones."""
    return TINY_NOTICE if checkpoint == TINY else ""


def transcript_lines(run: Run) -> str:
    """Write the transcript so far as `[start][Sxx]text[end]` lines, one a segment."""
    return "\n".join(segment.marked() for segment in run.transcript.segments)


def _counts(run: Run) -> str:
    transcript = run.transcript
    speakers = sum(speaker is not None for speaker in transcript.speakers)
    return (
        f"{speakers} speaker{'' if speakers == 1 else 's'} · "
        f"{len(transcript.segments)} segment{'' if len(transcript.segments) == 1 else 's'}"
    )


def namesake_line(name: str) -> str:
    """Warn that two speakers are shown under one name."""
    return f"Two speakers are called {name} now; files cannot tell them apart."
