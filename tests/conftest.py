"""Options of the test run."""

import logging

import pytest

from moss_demo.engine.weights.packages import hide_torchao


def pytest_configure() -> None:
    """Import what the app imports, when the app does; format no traces of compilations."""
    hide_torchao()
    logging.getLogger("torch.__trace").propagate = False


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--retake-screenshot`, which renews the README's picture of the page."""
    parser.addoption("--retake-screenshot", action="store_true", help="renew assets/screenshot.png")
