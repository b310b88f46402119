"""The benchmark of the engine runs where there is no GPU."""

import pytest

from moss_demo.__main__ import main


def test_a_quick_run_prints_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Each kind of work has its row, with the raw values behind the median."""
    assert main(["bench-engine", "--quick", "--device", "cpu"]) == 0
    table = capsys.readouterr().out
    assert table.startswith("tiny · fp32 · cpu · sdpa")
    for row in (
        "RTF",
        "first token",
        "encoder",
        "decode",
        "fast against reference, 4 s clip",
        "reference, 35 s, prompt 560",
        "fast, 3 clips of 4 s",
        "encoder, 4 s: compiled against eager",
    ):
        assert row in table
    assert "12 tokens" in table  # forced: no end token cuts a run short
    assert all(line.endswith("]") for line in table.splitlines()[1:])
