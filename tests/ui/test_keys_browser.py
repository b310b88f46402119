"""The page's shortcuts in Chromium: they work where nobody types and rest where somebody does."""

import pytest
from playwright.sync_api import Page, expect

from moss_demo.ui.timeline import TimelineStatus

from .viewer import MEDIA, TALK, Script, expect_time, rows

pytestmark = pytest.mark.browser

PAUSED = f"() => ({MEDIA})().paused"
PLAYING = f"() => !({MEDIA})().paused"


def show(page: Page, viewer: Script) -> None:
    """Show a finished run, and wait until it is there."""
    viewer.show(TALK, status=TimelineStatus.DONE)
    expect(rows(page)).to_have_count(len(TALK))


def test_play_and_seek_without_a_mouse(quiet_page: Page, viewer: Script) -> None:
    """Space plays and pauses, arrows go five seconds back or forth and never before the start."""
    show(quiet_page, viewer)
    quiet_page.evaluate("() => document.activeElement.blur()")
    quiet_page.keyboard.press("Space")
    quiet_page.wait_for_function(PLAYING)
    quiet_page.keyboard.press("Space")
    quiet_page.wait_for_function(PAUSED)
    quiet_page.evaluate(f"() => {{ ({MEDIA})().currentTime = 22 }}")
    quiet_page.wait_for_function("() => document.querySelector('.tl-playing')")
    quiet_page.keyboard.press("ArrowRight")
    expect_time(quiet_page, 27.0)
    expect(rows(quiet_page).nth(4)).to_have_attribute("aria-current", "true")
    for _ in range(6):
        quiet_page.keyboard.press("ArrowLeft")
    expect_time(quiet_page, 0.0)


def test_j_and_k_walk_the_segments(quiet_page: Page, viewer: Script) -> None:
    """They move focus and player together, do not start it, and stop at both ends."""
    show(quiet_page, viewer)
    for key, index, start in (("j", 0, 1), ("j", 1, 6), ("j", 2, 12), ("k", 1, 6), ("J", 2, 12)):
        quiet_page.keyboard.press(key)
        expect(rows(quiet_page).nth(index).locator(".tl-time")).to_be_focused()
        expect_time(quiet_page, start)
    assert quiet_page.evaluate(PAUSED)
    quiet_page.keyboard.press("End")
    quiet_page.keyboard.press("j")
    expect(rows(quiet_page).last.locator(".tl-time")).to_be_focused()


def test_space_pauses_the_segment_that_plays(quiet_page: Page, viewer: Script) -> None:
    """After a click on a row the same key that always pauses pauses, and plays on from there."""
    show(quiet_page, viewer)
    rows(quiet_page).nth(5).click()
    expect(rows(quiet_page).nth(5)).to_have_attribute("aria-current", "true")
    quiet_page.evaluate(f"() => {{ ({MEDIA})().currentTime = 40 }}")
    quiet_page.keyboard.press("Space")
    quiet_page.wait_for_function(PAUSED)
    expect_time(quiet_page, 40.0)


def test_keys_rest_while_somebody_types(quiet_page: Page, viewer: Script) -> None:
    """Letters, blanks and arrows belong to the field, and a button keeps its space bar."""
    show(quiet_page, viewer)
    quiet_page.keyboard.press("/")
    box = quiet_page.get_by_label("Find in transcript")
    expect(box).to_be_focused()
    quiet_page.keyboard.type("j k? /")
    expect(box).to_have_value("j k? /")
    expect(quiet_page.locator(".tl-help")).to_be_hidden()
    quiet_page.get_by_label("Zoom in").focus()
    quiet_page.keyboard.press("Space")
    expect(quiet_page.get_by_label("Zoom out")).to_be_enabled()
    assert quiet_page.evaluate(PAUSED)
    quiet_page.keyboard.press("Control+k")
    expect(quiet_page.get_by_label("Zoom in")).to_be_focused()


def test_the_list_of_keys_opens_and_can_switch_them_off(quiet_page: Page, viewer: Script) -> None:
    """A question mark lists them; who needs the letters for something else keeps them."""
    show(quiet_page, viewer)
    quiet_page.keyboard.press("?")
    dialog = quiet_page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_contain_text("Next or previous segment")
    quiet_page.keyboard.press("j")
    expect(rows(quiet_page).first.locator(".tl-time")).not_to_be_focused()
    quiet_page.get_by_label("Use these keys").uncheck()
    quiet_page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    quiet_page.keyboard.press("j")
    quiet_page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    quiet_page.get_by_role("button", name="Keyboard shortcuts").click()
    quiet_page.get_by_label("Use these keys").check()
    quiet_page.get_by_role("button", name="Close").click()
    quiet_page.keyboard.press("j")
    expect(rows(quiet_page).first.locator(".tl-time")).to_be_focused()
