"""A short form of the soak: many clients at once, each with its own answer."""

import pytest

from tests import soak


def test_mixed_requests_from_many_clients_get_their_own_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Good and broken, cancelled and slow: no wrong transcript, none lost or swapped."""
    assert soak.main(["--requests", "16", "--clients", "8", "--rounds", "1"]) == 0
    table = capsys.readouterr().out
    assert "| streamed |" in table
    assert table.endswith("PASS\n")
