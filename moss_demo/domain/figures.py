"""The figures of a run as a person reads them: what the page and the command line both show."""

from moss_demo.domain.events import Run

NOT_AVAILABLE = "n/a"


def run_figures(
    run: Run, load_s: float | None, compile_s: float | None = None
) -> tuple[tuple[str, str], ...]:
    """Return label and value of each figure, in reading order.

    Args:
        run: finished, stopped or still running.
        load_s: seconds it took to load the checkpoint, or None when it was resident.
        compile_s: seconds it took to compile the encoder, or None when nothing was to compile.
    """
    compiled = () if compile_s is None else (("Compile", _seconds(compile_s)),)
    finished = run.finished
    return (
        ("Audio", clock(run.duration_s)),
        ("Load", _seconds(load_s) if load_s is not None else "resident"),
        *compiled,
        ("Time to first token", _seconds(run.first_token_at)),
        ("Run", _seconds(finished.at if finished else None)),
        ("RTF", NOT_AVAILABLE if run.rtf is None else f"{run.rtf:.3f}"),
        ("Tokens", f"{len(run.token_ids):,}"),
        ("Tokens/s", NOT_AVAILABLE if run.tokens_per_s is None else f"{run.tokens_per_s:.1f}"),
        ("Peak memory", _memory(run)),
    )


def clock(seconds: float) -> str:
    """Write seconds as `m:ss`, or `h:mm:ss` from an hour on."""
    whole = int(seconds + 0.5)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _seconds(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.2f} s"


def _memory(run: Run) -> str:
    if run.finished is None or run.finished.peak_memory_bytes is None:
        return NOT_AVAILABLE
    return f"{run.finished.peak_memory_bytes / 2**20:,.0f} MiB ({run.finished.memory_source})"
