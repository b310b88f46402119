"""The transcript behind the golden export files; run as a module to write them anew.

Holds what breaks exports: CJK, right-to-left text, braces, arrows, markup characters, quotes,
overlap, segments without length, unknown times, unlabelled speech, commas and formulas.
"""

from pathlib import Path

from moss_demo.domain.events import Finished, PhaseTimes, Run, Started, StopReason
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.parser import parse

FOLDER = Path(__file__).parents[1] / "data" / "exports"

RAW = (
    "Sure, here it is:\n"
    "[0.52][S01]大家早上好，我们开始吧。[1.7396][1.7396][S02]مرحبا بكم، شكرا.[3.50]"
    '[2.00][S01]mind the {braces} & <b>tags</b> --> "quoted", \\N and \\an8[4.0]'
    "[4.10]who said this?[5.00]"
    "[5.00][S03]=SUM(A1:A2), really[6.2]"
    "[6.50][S03]hm[6.50]"
    "[6.40][S01]first line\nsecond line\n\nlast[8.00]"
    "[7.00][S01]talking over myself[9.00]"
    "[9.50][S02]I never finished[S03]nor did I[11.00]"
    "[59.9996][S02]the end of it[70.00]<|im_end|>"
)
DURATION_S = 62.5
NAMES = {"S01": "Alice Smith", "S03": "O'Neil, R&D [lead]"}


def sample_run() -> Run:
    """Return a finished run of the transcript."""
    transcript = parse(RAW, DURATION_S)
    token_ids = (58, 15, 13, 151645)
    return Run(
        clip_name="Weekly talk.mp3",
        clip_digest="0123456789abcdef",
        duration_s=DURATION_S,
        segments=transcript.segments,
        raw=RAW,
        token_ids=token_ids,
        started=Started(0.25, DURATION_S, 912, 781, 600, ((0.4, 11.2), (59.8, 62.0))),
        first_token_at=0.5,
        last_token_at=2.0,
        finished=Finished(
            2.5,
            RAW,
            token_ids,
            StopReason.END_OF_TEXT,
            transcript.complete,
            PhaseTimes(0.0625, 0.03125, 0.125, 0.25, 1.5),
            123_456_789,
            "peak resident set",
        ),
    )


def written(fmt: ExportFormat) -> str:
    """Return the sample in a format."""
    run = sample_run()
    return export(
        run.transcript,
        fmt,
        name=run.clip_name,
        duration_s=run.duration_s,
        run=run,
        names=NAMES,
        figures={"load_s": 1.5},
    )


def path_of(fmt: ExportFormat) -> Path:
    """Return where the golden file of a format lies."""
    return FOLDER / f"sample.{fmt.extension}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in ExportFormat:
        path_of(each).write_text(written(each), encoding="utf-8", newline="")
