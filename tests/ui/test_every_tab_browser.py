"""Every tab with something in it, in both themes: what axe finds, and what moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from moss_demo.serving.context import build_context
from moss_demo.settings import Settings
from moss_demo.ui.samples import list_samples

from ..batch.turns import cut_turns, write_archive
from ..engine.loopback import always, loopback
from .served import await_charts, serving, upload

pytestmark = pytest.mark.browser

HEARD = "[0.00][S01]so that the next meeting[1.20]"
PARTS = {
    "Transcribe": ("Downloads", "Charts", "Raw text", "History", "Figures"),
    "Compare": ("One axis", "Figures", "Numbers", "Words"),
    "Evaluate": ("Corpus", "Charts", "Recordings"),
    "Benchmark": ("Charts", "Side by side", "Origin", "Tables"),
    "System": (),
}
"""Inner tabs by tab, but for buttons that one of them has already; the last one is left open."""


GRADIOS_OWN = [["#waveform"], ["#evaluate-uploads .icon-button"]]
"""What this project cannot mend: the waveform's scroller, and a button within a button."""


SETTLED = "() => document.getAnimations().every((one) => one.playState !== 'running')"
MOVING = """() => [...document.querySelectorAll("*")].flatMap((node) =>
  ["", "::before", "::after"].filter((part) => {
    const style = getComputedStyle(node, part || null);
    const slow = (list) => list.split(",").some((duration) => parseFloat(duration) > 0.01);
    return style.scrollBehavior === "smooth" || slow(style.transitionDuration)
      || (style.animationName !== "none" && slow(style.animationDuration));
  }).map((part) => node.tagName + "." + node.getAttribute("class") + part))"""
"""Everything whose style would move it, asked for or not."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A host that has a server elsewhere, which hears the same in every recording."""
    with (
        loopback(always(HEARD)) as elsewhere,
        serving(build_context(Settings(remotes=(elsewhere.server,)), "cpu")) as served,
    ):
        yield served


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Recordings with references, and one that is not there."""
    return write_archive(tmp_path, [*cut_turns(tmp_path, 2), {"audio": "gone.wav"}])


def fill(page: Page, archive: Path) -> None:
    """Leave a transcript, a verdict and an evaluation; a report is there by itself."""
    page.get_by_role("button", name=list_samples()[0].label).first.click()
    expect(page.locator("#status")).to_contain_text("Ready")
    page.locator("#start").click()
    expect(page.locator("#stop")).to_be_enabled()
    page.get_by_role("tab", name="Evaluate").click()
    page.locator("#evaluate-checkpoint input").click()
    page.get_by_role("option", name="loopback (remote)").click()
    upload(page, "#evaluate-uploads", archive)
    page.locator("#evaluate-start").click()
    expect(page.locator("#evaluate-status")).to_contain_text("WER")
    page.get_by_role("tab", name="Transcribe").click()
    expect(page.locator("#start")).to_be_enabled()
    page.get_by_text("More settings").click()
    page.get_by_text("What these choices mean").first.click()
    page.locator("#timeline .tl-row").first.hover()
    page.get_by_role("button", name="Edit segment").first.click()
    page.get_by_label("Text", exact=True).fill("Quite another thing.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#timeline .tl-text").first).to_have_text("Quite another thing.")
    page.get_by_role("tab", name="History").click()
    page.locator("#history .against button").click()
    expect(page.locator("#compare-status")).to_contain_text("Compared: fail")


def found_by_axe(page: Page, *rules: str) -> list[str]:
    """Return what axe finds in what is visible, by WCAG 2 A and AA and its best practices."""
    context = {"include": ["body"], "exclude": GRADIOS_OWN}
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = Axe().run(page, context, options).response["violations"]
    return [f"{v['id']}: {node['html'][:300]}" for v in found for node in v["nodes"]]


def visits(page: Page) -> Iterator[str]:
    """Open every part of every tab in turn and name it, once it is drawn."""
    for tab, parts in PARTS.items():
        page.get_by_role("tab", name=tab, exact=True).click()
        for part in parts:
            page.get_by_role("tab", name=part, exact=True).locator("visible=true").click()
            if part in ("Charts", "One axis"):
                await_charts(page)
            expect(page.locator(".empty").locator("visible=true")).to_have_count(0)
            yield f"{tab}, {part}"
        if not parts:
            yield tab


def test_every_tab_can_be_read_and_stands_still(
    quiet_page: Page, address: str, archive: Path
) -> None:
    """Axe finds nothing to mend in either theme, and nothing moves for those who asked for that.

    The second theme can differ by its colours alone.
    """
    quiet_page.emulate_media(reduced_motion="reduce", color_scheme="light")
    quiet_page.goto(address)
    fill(quiet_page, archive)
    found: list[str] = []
    for place in visits(quiet_page):
        quiet_page.wait_for_function(SETTLED)  # or axe reads colours on their way
        found += [f"{place}: {finding}" for finding in found_by_axe(quiet_page)]
    found += [f"moves: {node}" for node in quiet_page.evaluate(MOVING)]
    quiet_page.emulate_media(color_scheme="dark")
    expect(quiet_page.locator("body.dark")).to_be_visible()
    for place in visits(quiet_page):
        quiet_page.wait_for_function(SETTLED)
        found += [f"{place}, dark: {f}" for f in found_by_axe(quiet_page, "color-contrast")]
    assert not found, "\n".join(found)
