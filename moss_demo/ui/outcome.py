"""What a session keeps of a run: values only, no samples and no model."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from moss_demo.domain.editing import Revisions
from moss_demo.domain.events import Run
from moss_demo.domain.stopping import with_every_word
from moss_demo.engine.info import EngineInfo
from moss_demo.ui.files import Downloads
from moss_demo.ui.recording import Recording
from moss_demo.ui.transcription import Snapshot


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a session.

    Attributes:
        run: finished, stopped or still running; its text as the model wrote it.
        engine: what ran, or None when the run ended before that was known.
        load_s: seconds of loading, or None when the engine was resident.
        clip_warnings: what the decoder had to say.
        number: counts the session's runs, so that the view knows when to start over.
        compile_s: seconds of compiling, or None when nothing was to compile.
        recording: what was transcribed, or None where only its file was known.
        failure: why the run broke off, or empty.
        names: names given to speakers, by label.
        revisions: the transcript as a person changed it, None until the run has ended.
        ended_at: when it ended, None until then.
        files: what can be downloaded, None until the run has ended.
    """

    run: Run
    engine: EngineInfo | None
    load_s: float | None
    clip_warnings: tuple[str, ...]
    number: int
    compile_s: float | None = None
    recording: Recording | None = None
    failure: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    revisions: Revisions | None = None
    ended_at: datetime | None = None
    files: Downloads | None = None

    @property
    def shown(self) -> Run:
        """The run with the transcript as it stands now."""
        if self.revisions is None:
            return self.run
        return replace(self.run, segments=self.revisions.present.segments, open_segment=None)

    @property
    def is_edited(self) -> bool:
        """Whether the transcript as it stands is another one than the model's."""
        return self.shown.transcript != self.run.transcript


def outcome_of(snapshot: Snapshot, number: int, recording: Recording | None) -> Outcome:
    """Return what is known of a run that goes on."""
    return Outcome(
        snapshot.run,
        snapshot.engine,
        snapshot.load_s,
        snapshot.clip_warnings,
        number,
        snapshot.compile_s,
        recording,
    )


def over(outcome: Outcome, names: Mapping[str, str], ended_at: datetime) -> Outcome:
    """Return the outcome of a run that has ended: nothing is held back, and it can be edited."""
    run = with_every_word(outcome.run)
    return replace(
        outcome, run=run, names=names, revisions=Revisions(run.transcript), ended_at=ended_at
    )
