"""Options of the whole test run."""

import logging
import os
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


_FIRST_PORT, _PORTS = 7860, 100
"""Where Gradio looks for a free port, and how many it tries."""


def pytest_configure() -> None:
    """Import what the app imports, when the app does; format no traces of compilations.

    Every process of the run serves from ports of its own: Gradio closes the probe that found one
    free before it listens there, and of two at once the second would get nothing.

    A shell starts jobs in its background with Ctrl+C ignored, and every program that a test starts
    would inherit that.
    """
    hide_torchao()
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.environ.setdefault("GRADIO_SERVER_PORT", str(_FIRST_PORT + worker * _PORTS))
    logging.getLogger("torch.__trace").propagate = False
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--retake-screenshot`, which renews the README's picture of the page."""
    parser.addoption("--retake-screenshot", action="store_true", help="renew assets/screenshot.png")


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    """Pass over the warnings of others that only a served page provokes."""
    for line in _FOREIGN_WARNINGS:
        config.addinivalue_line("filterwarnings", line)
