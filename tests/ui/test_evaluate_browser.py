"""The Evaluate tab in Chromium: a zip goes up, figures come back, and a row opens in Compare."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from moss_demo.batch.evaluation import AnyEvent, evaluate_here
from moss_demo.batch.runner import Answered
from moss_demo.errors import DeviceError
from moss_demo.serving.context import build_context
from moss_demo.settings import Settings
from tests.batch.turns import cut_turns, write_archive
from tests.engine.loopback import always, loopback
from tests.ui.served import serving, upload

pytestmark = pytest.mark.browser

HEARD = "[0.00][S01]so that the <b>next</b> meeting[1.20]"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A host whose first choice is a server that hears the same in every recording."""
    with (
        loopback(always(HEARD)) as elsewhere,
        serving(build_context(Settings(remotes=(elsewhere.server,)), "cpu")) as served,
    ):
        yield served


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A zip with a manifest and four recordings; one row has a mistyped name."""
    return write_archive(tmp_path, [*cut_turns(tmp_path, 4), {"audio": "gone.wav"}])


def _open(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("tab", name="Evaluate").click()
    page.locator("#evaluate-checkpoint input").click()
    page.get_by_role("option", name="loopback (remote)").click()


def test_a_zip_becomes_figures_and_a_row_opens_beside_its_reference(
    quiet_page: Page, address: str, archive: Path
) -> None:
    """Upload, progress, table worst first, figures, downloads, and the click into Compare."""
    page = quiet_page
    _open(page, address)
    upload(page, "#evaluate-uploads", archive)
    page.locator("#evaluate-start").click()
    status = page.locator("#evaluate-status")
    expect(status).to_contain_text("6 recordings, 0:09 · WER")
    expect(status).to_contain_text("1 failed")
    rows = page.locator("#evaluate-table [role=row][aria-rowindex]")
    expect(rows.nth(1)).to_contain_text("gone.wav")
    page.get_by_role("tab", name="Corpus").click()
    expect(page.locator("#evaluate-tables")).to_contain_text("cpWER")
    page.get_by_role("tab", name="Downloads").last.click()
    with page.expect_download() as started:
        page.locator("#evaluate-clips-csv").click()
    assert "gone.wav" in Path(started.value.path()).read_text(encoding="utf-8")

    page.get_by_role("tab", name="Recordings").click()
    rows.nth(1).get_by_text("gone.wav", exact=True).click()
    expect(page.locator(".toast-body")).to_be_visible()
    expect(page.get_by_role("tab", name="Evaluate")).to_have_attribute("aria-selected", "true")
    page.locator("#evaluate-table").get_by_text("02.flac").first.click()
    expect(page.locator("#compare-status")).to_contain_text("Compared: fail")
    expect(page.locator("#title-a")).to_contain_text("02.reference.json")
    expect(page.locator("#timeline-b .tl-row")).to_contain_text("<b>next</b>")
    expect(page.locator("#diff")).to_contain_text("meeting")

    page.get_by_role("tab", name="Evaluate").click()
    page.locator("#evaluate-uploads").get_by_label("Clear").click()
    page.locator("#evaluate-start").click()
    expect(status).to_contain_text("nothing to evaluate yet")
    expect(rows.nth(1)).to_contain_text("gone.wav")


def test_nothing_to_evaluate_is_said_and_the_page_goes_on(quiet_page: Page, address: str) -> None:
    """A press without an upload ends in a sentence, and the button works again."""
    quiet_page.goto(address)
    quiet_page.get_by_role("tab", name="Evaluate").click()
    quiet_page.locator("#evaluate-start").click()
    expect(quiet_page.locator("#evaluate-status")).to_contain_text("nothing to evaluate yet")
    expect(quiet_page.locator("#evaluate-start")).to_be_enabled()


def test_what_was_done_before_the_device_failed_can_be_taken_away(
    quiet_page: Page, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status says what went wrong; tables and files hold the rows until then."""

    def broken(*order: Any) -> Iterator[AnyEvent]:
        for event in evaluate_here(*order):
            yield event
            if isinstance(event, Answered):
                raise DeviceError("cuda:0 was lost.")

    monkeypatch.setattr("moss_demo.ui.evaluation.evaluate_here", broken)
    quiet_page.goto(address)
    quiet_page.get_by_role("tab", name="Evaluate").click()
    quiet_page.locator("#evaluate-what").get_by_label("The built-in set").check()
    quiet_page.locator("#evaluate-start").click()
    expect(quiet_page.locator("#evaluate-status")).to_contain_text("cuda:0 was lost.")
    expect(quiet_page.locator("#evaluate-start")).to_be_enabled()
    expect(quiet_page.locator("#evaluate-status")).to_contain_text("cuda:0 was lost.")
    quiet_page.get_by_role("tab", name="Downloads").last.click()
    with quiet_page.expect_download() as started:
        quiet_page.locator("#evaluate-clips-csv").click()
    assert len(Path(started.value.path()).read_text(encoding="utf-8").splitlines()) > 1


def test_a_name_in_an_archive_is_no_markup(quiet_page: Page, address: str, tmp_path: Path) -> None:
    """The toast that refuses it shows letters, and asks no other server for a picture."""
    name = "../<img src=http://other.invalid/x><b>bold</b>.wav"
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as packed:
        packed.writestr(name, b"x")
    quiet_page.goto(address)
    quiet_page.get_by_role("tab", name="Evaluate").click()
    upload(quiet_page, "#evaluate-uploads", tmp_path / "bad.zip")
    quiet_page.locator("#evaluate-start").click()
    expect(quiet_page.locator(".toast-body")).to_contain_text(name)
