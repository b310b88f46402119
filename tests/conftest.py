"""Options of the whole test run."""

import logging
import signal

import pytest
from hypothesis import settings

from moss_demo.engine.weights.packages import hide_torchao

_FOREIGN_WARNINGS = (
    # Gradio leaves event loops and a probe of its port open, and uses old options of pandas.
    "ignore:unclosed event loop:ResourceWarning",
    "ignore:unclosed <socket:ResourceWarning",
    "ignore::pandas.errors.Pandas4Warning",
    # Gradio's queue asks pandas for something that pandas 3 deprecates.
    "ignore:The copy keyword is deprecated",
    # The plugin behind pytest-playwright that knows the base address is older than this pytest.
    "ignore:Session-scoped fixtures defined as instance methods:pytest.PytestRemovedIn10Warning",
)


settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")  # a busy machine fails nothing


def pytest_configure() -> None:
    """Import what the app imports, when the app does; format no traces of compilations.

    A shell starts jobs in its background with Ctrl+C ignored, and every program that a test starts
    would inherit that.
    """
    hide_torchao()
    logging.getLogger("torch.__trace").propagate = False
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--retake-screenshot`, which renews the README's picture of the page."""
    parser.addoption("--retake-screenshot", action="store_true", help="renew assets/screenshot.png")


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Pass over the warnings of others that only a served page provokes."""
    for line in _FOREIGN_WARNINGS:
        config.addinivalue_line("filterwarnings", line)
