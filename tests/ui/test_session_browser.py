"""What a visit keeps, in Chromium: its runs, its names, and nothing of anybody else's."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import fields
from typing import ClassVar

import pytest
from playwright.sync_api import Browser, Page, expect

from moss_demo.domain.events import TextDelta
from moss_demo.domain.request import Request
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.in_turn import TurnEvent
from moss_demo.errors import DeviceError
from moss_demo.serving.context import AppContext, build_context
from moss_demo.serving.metrics import Door
from moss_demo.settings import Settings
from moss_demo.ui.samples import list_samples

from .served import new_page, serving

pytestmark = pytest.mark.browser

SHORTEST, *_, LONGEST = [sample.label for sample in list_samples()]

BREAKS_AFTER = 60


class BreakingContext(AppContext):
    """A server whose device gives up midway while `breaks` holds something."""

    breaks: ClassVar[list[bool]] = []

    def transcribe(
        self,
        config: EngineConfig,
        open_request: Callable[[], Request],
        audio_s: float | None,
        door: Door,
    ) -> Generator[TurnEvent, None, None]:
        """Stream like any server, then fail if it was asked to."""
        seen = 0
        for event in AppContext.transcribe(self, config, open_request, audio_s, door):
            yield event
            seen += isinstance(event, TextDelta)
            if self.breaks and seen > BREAKS_AFTER:
                raise DeviceError("The device gave up; run again.")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the served page."""
    plain = build_context(Settings(), "cpu")
    context = BreakingContext(**{f.name: getattr(plain, f.name) for f in fields(plain)})
    with serving(context) as served:
        yield served


def transcribe(page: Page) -> None:
    """Run the shortest sample to its end."""
    page.get_by_role("button", name=SHORTEST).first.click()
    expect(page.locator("#status")).to_contain_text("Ready")
    page.locator("#start").click()
    expect(page.locator("#stop")).to_be_enabled()
    expect(page.locator("#start")).to_be_enabled()


def rename(page: Page, name: str) -> None:
    """Give the first speaker a name."""
    page.locator('#timeline .tl-lane[data-speaker="S01"]').get_by_role("button").click()
    page.get_by_label("Name of S01").fill(name)
    page.keyboard.press("Enter")


def edit(page: Page) -> None:
    """Write another text into the first segment."""
    page.locator("#timeline .tl-row").first.hover()
    page.get_by_role("button", name="Edit segment").first.click()
    page.get_by_label("Text", exact=True).fill("An edit of mine.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#timeline .tl-text").first).to_have_text("An edit of mine.")


def test_runs_are_listed_opened_again_compared_and_deleted(
    opened: Page, browser: Browser, address: str
) -> None:
    """A visit finds its earlier transcripts with their names, edits and sound; nobody else does."""
    transcribe(opened)
    rename(opened, "Ann")
    edit(opened)
    transcribe(opened)
    expect(opened.locator("#timeline .tl-text").first).not_to_have_text("An edit of mine.")

    opened.get_by_role("tab", name="History").click()
    rows = opened.locator("#history tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_have_attribute("aria-current", "true")
    expect(rows.nth(1)).to_contain_text("edited")
    opened.locator("#recording").get_by_label("Clear").click()
    rows.nth(1).get_by_role("button", name="Open").click()
    expect(opened.locator("#timeline .tl-text").first).to_have_text("An edit of mine.")
    expect(opened.locator("#timeline .tl-row", has_text="Ann").first).to_be_visible()
    expect(opened.locator("#recording #waveform")).to_be_visible()
    opened.get_by_role("button", name="Undo", exact=True).click()
    expect(opened.locator("#timeline .tl-text").first).not_to_have_text("An edit of mine.")
    opened.get_by_role("button", name="Redo", exact=True).click()
    expect(opened.locator("#timeline .tl-text").first).to_have_text("An edit of mine.")

    other = new_page(browser)
    other.goto(address)
    other.get_by_role("tab", name="History").click()
    expect(other.locator("#history .none")).to_be_visible()
    expect(other.locator("#history tbody tr")).to_have_count(0)
    other.close()

    rows.nth(0).get_by_role("button", name="Delete").click()
    rows.nth(0).get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(1)
    opened.locator("#history").get_by_label("Reference").select_option("1")
    opened.locator("#history").get_by_label("Candidate").select_option("1 edited")
    opened.locator("#history .against button").click()
    expect(opened.locator("#compare-status")).to_have_text("Compared: fail")
    expect(opened.locator("#diff ins")).to_have_text(["An", "edit", "of", "mine."])

    opened.get_by_role("tab", name="Transcribe").click()
    rows.nth(0).get_by_role("button", name="Delete").click()
    rows.nth(0).get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(0)
    expect(opened.locator("#timeline .tl-row")).to_have_count(0)
    expect(opened.locator("#timeline .tl-hint")).to_contain_text("Each speaker")


def test_a_run_that_fails_midway_keeps_its_words_and_names(opened: Page) -> None:
    """The error is said, what was written stays, and so do names given while it streamed."""
    BreakingContext.breaks.append(True)
    try:
        opened.get_by_role("button", name=SHORTEST).first.click()
        expect(opened.locator("#status")).to_contain_text("Ready")
        opened.locator("#start").click()
        expect(opened.locator("#timeline .tl-lane").first).to_be_visible()
        rename(opened, "Ann")
        expect(opened.locator("#start")).to_be_enabled()
    finally:
        BreakingContext.breaks.clear()
    expect(opened.locator("#status")).to_contain_text("The device gave up")
    expect(opened.locator("#timeline .tl-summary")).to_contain_text("Ended by an error")
    expect(opened.locator("#timeline .tl-row", has_text="Ann").first).to_be_visible()
    opened.get_by_role("tab", name="Downloads").click()
    expect(opened.locator("#download-notes")).to_contain_text("Ann")
    opened.get_by_role("tab", name="History").click()
    expect(opened.locator("#history tbody tr")).to_contain_text("failed")


def test_a_comparison_that_runs_is_not_mixed_with_one_that_is_handed_over(opened: Page) -> None:
    """It is refused in a sentence, and the running one goes on and can be stopped."""
    transcribe(opened)
    edit(opened)
    opened.get_by_role("tab", name="Compare").click()
    opened.get_by_role("button", name=LONGEST).last.click()
    expect(opened.locator("#compare-recording #waveform")).to_be_visible()
    opened.locator("#compare-start").click()
    expect(opened.locator("#timeline-a .tl-row").first).to_be_visible()
    opened.get_by_role("tab", name="Transcribe").click()
    opened.get_by_role("tab", name="History").click()
    opened.locator("#history").get_by_label("Candidate").select_option("1 edited")
    opened.locator("#history .against button").click()
    expect(opened.get_by_test_id("toast-body").first).to_contain_text("A run is in progress")
    opened.locator("#compare-stop").click()
    expect(opened.locator("#compare-status")).to_contain_text("Stopped")
    expect(opened.locator("#compare-start")).to_be_enabled()
    expect(opened.locator("#title-a")).not_to_contain_text("saved")


def test_two_speakers_of_one_name_are_warned_of(opened: Page) -> None:
    """The name is kept, since two people may share one; the person is told what it costs."""
    transcribe(opened)
    rename(opened, "s02")
    expect(opened.get_by_test_id("toast-body").first).to_contain_text("cannot tell them apart")
