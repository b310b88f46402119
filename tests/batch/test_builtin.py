"""The built-in set gives the figure that its page and the model card promise."""

import re
from pathlib import Path

import pytest
import torch

from moss_demo.batch.evaluation import evaluate
from moss_demo.batch.opening import Evaluation
from moss_demo.batch.reading import Task
from moss_demo.batch.rows import ClipRow
from moss_demo.batch.runner import Answered
from moss_demo.batch.sources import BUILTIN, open_manifest
from moss_demo.batch.transcriber import LocalTranscriber
from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.config import DecodePath, EngineConfig, Precision
from moss_demo.engine.engine import Engine
from moss_demo.engine.loading import load

ASSETS = Path(__file__).parents[2] / "assets"
PAGE = (ASSETS / "evaluate" / "README.md").read_text(encoding="utf-8")
CARD = (ASSETS / "moss-td-tiny" / "README.md").read_text(encoding="utf-8")
PROMISED = {
    name: (int(words), int(errors))
    for name, words, errors in re.findall(
        r"^\| `?([\w.-]+)`? \| [\d.]+ \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE
    )
}
TRIED = ("classic-3.opus", "unheard-2.opus", "known-1.opus")
"""The shortest clip of three rows."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ClipRow]:
    """Those clips, transcribed and measured as a newcomer does it."""
    listed, sources = open_manifest(Path(BUILTIN))
    chosen = [entry for entry in listed.entries if entry.audio in TRIED]
    config = EngineConfig("tiny", "cpu", Precision.FP32, DecodePath.FAST)
    checkpoint = find_checkpoint("tiny")
    engine = Engine(config, checkpoint, load(checkpoint, torch.float32, "cpu"), 0.0)
    wanted = Evaluation(chosen, sources, Task(), tmp_path_factory.mktemp("runs") / "builtin")
    rows: list[ClipRow] = []

    def keep(event: object) -> None:
        rows.extend(event.clips if isinstance(event, Answered) else ())

    evaluate(wanted, LocalTranscriber(engine), keep, lambda: False)
    return {row.audio: row for row in rows}


@pytest.mark.parametrize("name", TRIED)
def test_a_clip_has_the_errors_that_its_page_lists(measured: dict[str, ClipRow], name: str) -> None:
    """The same words and, but for what another processor rounds, the same errors."""
    row, (words, errors) = measured[name], PROMISED[name]
    assert row.words == words
    found = (row.substitutions or 0) + (row.deletions or 0) + (row.insertions or 0)
    assert abs(found - errors) <= 1
    assert row.cpwer == row.wer


def test_the_figure_of_the_set_is_that_of_its_clips() -> None:
    """Page and card name the pooled rate of the twenty clips, all of which are there."""
    listed, sources = open_manifest(Path(BUILTIN))
    clips = [entry.audio for entry in listed.entries]
    assert len(clips) == 20
    assert all(sources.audio(entry).is_file() for entry in listed.entries)
    assert [name for name in PROMISED if name != "all"] == clips
    words, errors = PROMISED["all"]
    assert words == sum(PROMISED[name][0] for name in clips)
    assert errors == sum(PROMISED[name][1] for name in clips)
    rate = f"{100 * errors / words:.2f}"
    assert f"| {rate} |" in PAGE
    assert f"| built-in set | 20 | {words:,} | {rate} (" in CARD
