"""Options of the test run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--retake-screenshot`, which renews the README's picture of the page."""
    parser.addoption("--retake-screenshot", action="store_true", help="renew assets/screenshot.png")
