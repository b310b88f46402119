"""The Benchmark tab in Chromium: a kept report, a measurement of one's own, and what is left."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from playwright.sync_api import Page, expect

from moss_demo.bench.comparing import report_title
from moss_demo.bench.history import open_history
from moss_demo.bench.report_json import read_report
from moss_demo.serving.context import build_context
from moss_demo.settings import Settings
from moss_demo.ui.samples import list_samples

from ..bench.reports import full_report
from .served import serving, upload

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The host's cache with one report in it."""
    folder = tmp_path_factory.mktemp("cache")
    open_history(folder).keep(full_report())
    return folder


@pytest.fixture(scope="module")
def address(cache: Path) -> Iterator[str]:
    """The address of the served page."""
    context = build_context(Settings(cache=cache), "cpu")
    with serving(context) as served:
        yield served


@pytest.fixture
def opened(quiet_page: Page, address: str) -> Page:
    """The page with the tab open."""
    quiet_page.goto(address)
    quiet_page.get_by_role("tab", name="Benchmark").click()
    expect(quiet_page.locator("#bench-tables-panel")).to_contain_text("Encoder alone")
    return quiet_page


@pytest.fixture
def own_recording(tmp_path: Path) -> Path:
    """Three seconds of a sample as a visitor's file."""
    samples, rate = soundfile.read(list_samples()[0].path)
    path = tmp_path / "mine.wav"
    soundfile.write(path, samples[: 3 * rate], rate)
    return path


def _choose(page: Page, *plans: str) -> None:
    for box in page.locator("#bench-plans").get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("name") in plans)


def test_a_kept_report_is_shown_with_figures_origin_and_published_ones(opened: Page) -> None:
    """Nothing has to be measured to see tables, charts and where they come from."""
    expect(opened.locator("#bench-report input")).to_have_value(report_title(full_report()))
    expect(opened.locator("#bench-tables-panel table")).to_have_count(6)
    expect(opened.locator("#bench-notices")).to_contain_text("batch 128")
    opened.get_by_role("tab", name="Charts").last.click()
    for name in ("latency", "speedup", "split", "batch", "memory"):
        plot = opened.locator(f"#bench-{name} .js-plotly-plot")
        expect(plot).to_be_visible()
    opened.get_by_role("tab", name="Origin").click()
    expect(opened.locator("#bench-origin-panel")).to_contain_text("580.1")
    opened.get_by_role("tab", name="Side by side").click()
    expect(opened.locator("#bench-comparison")).to_contain_text("H800 PCIe")


def test_an_own_recording_is_measured_compared_and_kept_from_others(
    opened: Page, own_recording: Path, cache: Path
) -> None:
    """Live rows, a report that downloads and compares, and nothing of it on disk."""
    _choose(opened, "batch")
    opened.get_by_role("checkbox", name="Two speakers").uncheck()
    upload(opened, "#bench-uploads", own_recording)
    opened.locator("#bench-start").click()
    expect(opened.locator("#bench-progress [role=progressbar]")).to_be_visible()
    expect(opened.locator("#bench-tables-panel")).not_to_contain_text("Error")
    expect(opened.locator("#bench-status")).to_contain_text("stays in this session")
    expect(opened.locator("#bench-progress [role=progressbar]")).to_have_count(0)
    expect(opened.locator("#bench-tables-panel")).to_contain_text("Batches")
    opened.get_by_role("tab", name="Downloads").last.click()
    with opened.expect_download() as started:
        opened.locator("#bench-json").click()
    report = read_report(Path(started.value.path()).read_text(encoding="utf-8"))
    assert {case.work.clip for case in report.cases} == {"mine.wav"}
    opened.get_by_role("tab", name="Side by side").click()
    opened.locator("#bench-other input").click()
    opened.get_by_role("option", name=report_title(full_report()), exact=True).click()
    expect(opened.locator("#bench-comparison")).to_contain_text("Two reports")
    assert len(list((cache / "reports").iterdir())) == 1

    _choose(opened)
    opened.locator("#bench-start").click()
    expect(opened.locator("#bench-status")).to_contain_text("No plan is chosen")
    expect(opened.locator("#bench-comparison")).to_contain_text("Two reports")

    _choose(opened, "e2e", "precision", "batch")
    opened.locator("#bench-start").click()
    expect(opened.locator("#bench-progress [role=progressbar]")).to_be_visible()
    expect(opened.locator("#bench-json")).to_be_disabled()
    opened.get_by_role("tab", name="System").click()
    opened.get_by_role("tab", name="Benchmark").click()
    expect(opened.locator("#bench-report input")).to_have_value("")
    opened.locator("#bench-stop").click()
    expect(opened.locator("#bench-start")).to_be_enabled()
    expect(opened.locator("#bench-status")).to_contain_text("Stopped")
