"""A report that no machine made."""

import pytest

from moss_demo.bench.report import Report

from .reports import full_report


@pytest.fixture
def report() -> Report:
    """A complete report of a GPU."""
    return full_report()
