"""The timeline component in Chromium, fed by a scripted stream."""

from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from moss_demo.domain.transcript import Segment, SegmentFlag
from moss_demo.ui.timeline import TimelineStatus

from .viewer import (
    MEDIA,
    RECORDING_S,
    TALK,
    Script,
    expect_time,
    lane,
    open_page,
    rows,
)

pytestmark = pytest.mark.browser

HOSTILE = (
    "<img src=x onerror=\"window.pwned='img'\">",
    "${window.pwned='dollar'} {{window.pwned}} {{#each value}}",
    "back\\slash \\u0041 \\n `tick` \"double\" 'single'",
    "line\u2028para\u2029end \u202eright",
    "</script><script>window.pwned='script'</script>",
    "&lt;b&gt; &amp; ]]> <!-- -->",
)


def click_track(page: Page, speaker: str, seconds: float) -> None:
    """Click a lane at a time."""
    track = lane(page, speaker).locator("canvas")
    box = track.bounding_box()
    assert box is not None
    track.click(position={"x": box["width"] * seconds / RECORDING_S, "y": box["height"] / 2})


def test_says_what_will_appear(quiet_page: Page, viewer: Script) -> None:
    """Before a run the component explains itself, and during one it says that it listens."""
    expect(quiet_page.locator(".tl-hint")).to_contain_text("lane")
    viewer.show(())
    expect(quiet_page.locator(".tl-hint")).to_contain_text("Listening")
    viewer.show((), status=TimelineStatus.NO_SPEECH)
    expect(quiet_page.locator(".tl-hint")).to_contain_text("No speech")
    viewer.show((), status=TimelineStatus.DONE)
    expect(quiet_page.locator(".tl-hint")).to_contain_text("wrote no words")


def test_grows_row_by_row_and_lane_by_lane(quiet_page: Page, viewer: Script) -> None:
    """The stream arrives in steps, and each one shows before the next."""
    viewer.show(TALK[:1], replace(TALK[1], end=None, text="The bud"))
    expect(rows(quiet_page)).to_have_count(2)
    expect(quiet_page.locator(".tl-lane")).to_have_count(2)
    expect(quiet_page.locator(".tl-writing")).to_have_text("0:06S02The bud")
    viewer.show(TALK[:1], replace(TALK[1], end=None, text="The budget is"))
    expect(quiet_page.locator(".tl-writing .tl-text")).to_have_text("The budget is")
    viewer.show(TALK[:4])
    expect(rows(quiet_page)).to_have_count(4)
    expect(quiet_page.locator(".tl-writing")).to_have_count(0)
    expect(quiet_page.locator(".tl-lane .tl-label")).to_have_text(["S01", "S02", "Unlabelled"])
    viewer.show(TALK, status=TimelineStatus.DONE)
    expect(rows(quiet_page)).to_have_count(6)
    expect(quiet_page.locator(".tl-lane .tl-label")).to_have_text(
        ["S01", "S02", "S03", "Unlabelled"]
    )
    expect(lane(quiet_page, "S02")).to_have_attribute("data-blocks", "2")
    expect(quiet_page.locator(".tl-lane .tl-share")).to_have_text(["27%", "48%", "18%", "7%"])
    expect(quiet_page.locator(".tl-summary")).to_have_text("3 speakers · 6 segments")


def test_a_cut_off_segment_stays_when_a_run_is_stopped(quiet_page: Page, viewer: Script) -> None:
    """Stop keeps what was being written, without the caret."""
    cut = replace(TALK[1], end=None, text="The bud", flags=(SegmentFlag.OPEN_END,))
    viewer.show(TALK[:1], cut)
    viewer.show(TALK[:1], cut, status=TimelineStatus.STOPPED)
    expect(quiet_page.locator(".tl-summary")).to_have_text("Stopped · 2 speakers · 2 segments")
    expect(rows(quiet_page)).to_have_count(2)
    expect(rows(quiet_page).last.locator(".tl-badge")).to_have_text("open end")
    expect(quiet_page.locator(".tl-writing")).to_have_count(0)


def test_a_new_run_starts_over(quiet_page: Page, viewer: Script) -> None:
    """A second run replaces the first, also where its text begins alike and is longer."""
    viewer.show(TALK[:2], names={"S01": "Ann"}, status=TimelineStatus.DONE)
    expect(rows(quiet_page)).to_have_count(2)
    viewer.show(TALK[2:], number=2)
    expect(rows(quiet_page)).to_have_count(4)
    expect(rows(quiet_page).first).to_contain_text("S01Then the other thing")
    expect(quiet_page.locator(".tl-lane")).to_have_count(4)


def test_a_row_plays_and_is_highlighted(quiet_page: Page, viewer: Script) -> None:
    """A click on a row plays from its time and marks it in both views."""
    viewer.show(TALK, status=TimelineStatus.DONE)
    rows(quiet_page).nth(2).click()
    expect_time(quiet_page, 12.0)
    expect(rows(quiet_page).nth(2)).to_have_attribute("aria-current", "true")
    assert quiet_page.evaluate(f"() => ({MEDIA})().paused") is False
    quiet_page.evaluate(f"() => {{ ({MEDIA})().currentTime = 22 }}")
    expect(rows(quiet_page).nth(3)).to_have_attribute("aria-current", "true")
    expect(quiet_page.locator(".tl-playing")).to_have_count(1)
    expect(quiet_page.locator(".tl-head")).to_be_visible()


def test_a_block_plays_its_segment(quiet_page: Page, viewer: Script) -> None:
    """A click within a block plays from its start, beside it from the very spot."""
    viewer.show(TALK, status=TimelineStatus.DONE)
    click_track(quiet_page, "S02", 40.0)
    expect_time(quiet_page, 34.0)
    expect(rows(quiet_page).nth(5)).to_have_class("tl-row tl-playing")
    click_track(quiet_page, "S02", 15.0)
    expect_time(quiet_page, 15.0)


def test_the_browsers_own_player_works_too(
    quiet_page: Page, scripts: dict[str, tuple[Script, str]]
) -> None:
    """Long recordings have no waveform; clicks reach their player as well."""
    script, address = scripts["native"]
    open_page(quiet_page, address)
    script.show(TALK, status=TimelineStatus.DONE)
    rows(quiet_page).nth(4).click()
    expect_time(quiet_page, 25.0)
    expect(rows(quiet_page).nth(4)).to_have_attribute("aria-current", "true")
    script.end()


def test_keys_walk_the_rows_and_enter_plays(quiet_page: Page, viewer: Script) -> None:
    """The transcript is one tab stop: arrows, Home and End move in it and Enter plays."""
    viewer.show(TALK, status=TimelineStatus.DONE)
    expect(quiet_page.locator('.tl-time[tabindex="0"]')).to_have_count(1)
    rows(quiet_page).first.locator(".tl-time").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowDown", "ArrowUp"):
        quiet_page.keyboard.press(key)
    expect(rows(quiet_page).nth(1).locator(".tl-time")).to_be_focused()
    quiet_page.keyboard.press("Enter")
    expect_time(quiet_page, 6.0)
    quiet_page.keyboard.press("End")
    expect(rows(quiet_page).last.locator(".tl-time")).to_be_focused()
    quiet_page.keyboard.press("Home")
    expect(rows(quiet_page).first.locator(".tl-time")).to_be_focused()
    expect(quiet_page.locator('.tl-time[tabindex="0"]')).to_have_count(1)


def test_a_rename_shows_everywhere_and_reaches_python(quiet_page: Page, viewer: Script) -> None:
    """A new name shows in lanes and rows at once, survives the stream, and is heard in Python."""
    viewer.show(TALK[:3])
    lane(quiet_page, "S01").get_by_role("button").click()
    quiet_page.get_by_label("Name of S01").fill("  Ann <b>Lee</b> ")
    quiet_page.keyboard.press("Enter")
    expect(quiet_page.locator("#renamed textarea")).to_have_value("S01 is 'Ann <b>Lee</b>'")
    viewer.show(TALK, replace(TALK[0], start=51.0, end=None))
    expect(rows(quiet_page)).to_have_count(7)
    expect(lane(quiet_page, "S01").locator(".tl-label")).to_have_text("Ann <b>Lee</b>")
    expect(quiet_page.locator(".tl-row .tl-label", has_text="Ann <b>Lee</b>")).to_have_count(3)
    viewer.show(TALK, names={"S01": "Bob"}, status=TimelineStatus.DONE)
    expect(quiet_page.locator(".tl-row .tl-label", has_text="Bob")).to_have_count(2)
    assert viewer.renames == [("S01", "Ann <b>Lee</b>")]


def test_a_rename_can_be_taken_back(quiet_page: Page, viewer: Script) -> None:
    """Escape leaves the name, leaving the field keeps it, and an empty one gives the label."""
    viewer.show(TALK, names={"S02": "Bob"}, status=TimelineStatus.DONE)
    for typed, key in (("Eve", "Escape"), ("Ann", "Tab"), ("", "Enter")):
        lane(quiet_page, "S02").get_by_role("button").click()
        quiet_page.get_by_label("Name of S02").fill(typed)
        quiet_page.keyboard.press(key)
        expect(lane(quiet_page, "S02").locator(".tl-label")).to_have_text(
            {"Escape": "Bob", "Tab": "Ann", "Enter": "S02"}[key]
        )
    expect(quiet_page.locator("#renamed textarea")).to_have_value("S02 is ''")
    assert viewer.renames == [("S02", "Ann"), ("S02", "")]
    expect(lane(quiet_page, "").get_by_role("button")).to_have_count(0)


def test_find_counts_and_walks_the_hits(quiet_page: Page, viewer: Script) -> None:
    """Find counts every occurrence in any case, walks them, and goes on while text arrives."""
    viewer.show(TALK[:3])
    box = quiet_page.get_by_label("Find in transcript")
    hits = quiet_page.locator(".tl-hits")
    box.fill("BUDGET")
    expect(hits).to_have_text("1 / 3")
    box.press("Enter")
    expect(hits).to_have_text("2 / 3")
    box.press("Shift+Enter")
    quiet_page.get_by_label("Previous hit").click()
    expect(hits).to_have_text("3 / 3")
    viewer.show((*TALK, replace(TALK[0], start=52.0, end=53.0)), status=TimelineStatus.DONE)
    expect(hits).to_have_text("3 / 4")
    expect(quiet_page.locator(".tl-row.tl-hit")).to_have_count(4)
    assert quiet_page.evaluate("CSS.highlights.get('moss-find').size") == 4
    box.fill("(")
    expect(hits).to_have_text("No hits")
    box.press("Escape")
    expect(hits).to_be_empty()
    expect(quiet_page.locator(".tl-row.tl-hit")).to_have_count(0)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_shown_as_it_is(quiet_page: Page, viewer: Script, hostile: str) -> None:
    """Markup, templates and escapes in text, label or name are letters and never run."""
    spoken = Segment(1.0, 2.0, hostile, hostile)
    named = Segment(3.0, 4.0, "S09", hostile)
    viewer.show((spoken, named), replace(spoken, start=5.0, end=None), names={"S09": hostile})
    expect(rows(quiet_page)).to_have_count(3)
    for place in (".tl-text", ".tl-row .tl-label"):
        shown = quiet_page.locator(place).evaluate_all("nodes => nodes.map(n => n.textContent)")
        assert shown == [hostile] * 3
    assert quiet_page.locator(".tl-lane .tl-label").evaluate_all(
        "nodes => nodes.map(n => n.textContent)"
    ) == [hostile, hostile]
    quiet_page.get_by_label("Find in transcript").fill(hostile.splitlines()[0][:8])
    expect(quiet_page.locator(".tl-row.tl-hit")).to_have_count(2)
    assert quiet_page.evaluate("window.pwned") is None
    assert quiet_page.locator("#timeline :is(img, script, b[onerror])").count() == 0


def test_unknown_times_are_told_and_not_drawn(quiet_page: Page, viewer: Script) -> None:
    """Without times the rows show a dash, lanes stay empty, and the timeline says why."""
    viewer.show(
        tuple(replace(segment, start=None, end=None) for segment in TALK),
        status=TimelineStatus.DONE,
    )
    expect(rows(quiet_page).first.locator(".tl-time")).to_have_text("–")
    expect(quiet_page.locator(".tl-note")).to_contain_text("no times")
    expect(lane(quiet_page, "S01")).to_have_attribute("data-blocks", "0")
    expect(quiet_page.locator(".tl-ruler")).to_be_hidden()
    rows(quiet_page).first.click()
    assert quiet_page.evaluate(f"() => ({MEDIA})().currentTime") == 0


def test_irregular_segments_carry_badges(quiet_page: Page, viewer: Script) -> None:
    """What the parser flagged, and a stamp past the end, stand beside the text."""
    viewer.show(
        (
            replace(TALK[0], flags=(SegmentFlag.END_BEFORE_START, SegmentFlag.PREAMBLE)),
            replace(TALK[1], end=480.0),
            replace(TALK[2], start=470.0, end=480.0),
        ),
        status=TimelineStatus.DONE,
    )
    expect(rows(quiet_page).first.locator(".tl-badge")).to_have_text(
        ["end before start", "before markup"]
    )
    expect(quiet_page.locator(".tl-beyond")).to_have_text(["past the end", "past the end"])
    expect(quiet_page.locator(".tl-tick").last).to_have_text("0:50")


def test_zoom_shows_a_part_and_the_whole_again(quiet_page: Page, viewer: Script) -> None:
    """A dense timeline can be zoomed, moved along and shown whole again by keys alone."""
    viewer.show(TALK, status=TimelineStatus.DONE)
    expect(rows(quiet_page)).to_have_count(6)
    move = quiet_page.get_by_label("Move along the recording")
    expect(move).to_be_hidden()
    for _ in range(2):
        quiet_page.get_by_label("Zoom in").press("Enter")
    move.press("End")
    expect(quiet_page.locator(".tl-tick").first).to_have_text("0:46")
    quiet_page.get_by_label("Show the whole recording").press("Enter")
    expect(quiet_page.locator(".tl-tick").first).to_have_text("0:00")
    expect(move).to_be_hidden()


def test_the_list_follows_the_player_unless_told_not_to(quiet_page: Page, viewer: Script) -> None:
    """Follow playback keeps the playing row in view; without it the list stays put."""
    long = tuple(Segment(i * 0.5, i * 0.5 + 0.5, "S01", f"Sentence {i}.") for i in range(120))
    viewer.show(long, status=TimelineStatus.DONE)
    rows(quiet_page).first.click()
    quiet_page.evaluate(f"() => {{ ({MEDIA})().currentTime = 50.1 }}")
    expect(rows(quiet_page).nth(100)).to_be_in_viewport()
    quiet_page.get_by_label("Follow playback").uncheck()
    quiet_page.evaluate(f"() => {{ ({MEDIA})().currentTime = 10.1 }}")
    expect(rows(quiet_page).nth(20)).to_have_class("tl-row tl-playing")
    expect(rows(quiet_page).nth(20)).not_to_be_in_viewport()


def test_three_hours_stay_usable(quiet_page: Page, viewer: Script) -> None:
    """3,000 segments of 12 speakers arrive in 30 steps and can be walked, found and renamed."""
    many = tuple(
        Segment(3.6 * i, 3.6 * i + 3.2, f"S{i % 12 + 1:02}", f"This is sentence number {i}.")
        for i in range(3000)
    )
    for end in range(100, 3001, 100):
        viewer.show(many[:end], duration_s=10_800)
    viewer.show(many, duration_s=10_800, status=TimelineStatus.DONE)
    expect(quiet_page.locator(".tl-summary")).to_have_text("12 speakers · 3,000 segments")
    expect(rows(quiet_page)).to_have_count(3000)
    expect(quiet_page.locator(".tl-lane")).to_have_count(12)
    expect(lane(quiet_page, "S12")).to_have_attribute("data-blocks", "250")
    quiet_page.get_by_label("Find in transcript").fill("number 299")
    expect(quiet_page.locator(".tl-hits")).to_have_text("1 / 11")
    lane(quiet_page, "S01").get_by_role("button").click()
    quiet_page.get_by_label("Name of S01").fill("Ann")
    quiet_page.keyboard.press("Enter")
    expect(quiet_page.locator(".tl-row .tl-label", has_text="Ann")).to_have_count(250)
    rows(quiet_page).first.locator(".tl-time").focus()
    quiet_page.keyboard.press("End")
    expect(rows(quiet_page).last.locator(".tl-time")).to_be_in_viewport()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_passes_the_accessibility_check(quiet_page: Page, viewer: Script, scheme: Any) -> None:
    """Axe finds nothing to mend in the component, in either mode, filled or empty."""
    quiet_page.emulate_media(color_scheme=scheme)
    assert violations(quiet_page) == []
    viewer.show(
        (replace(TALK[0], flags=(SegmentFlag.OPEN_END,)), *TALK[1:]),
        replace(TALK[0], start=51.0, end=None),
    )
    expect(rows(quiet_page)).to_have_count(7)
    quiet_page.get_by_label("Find in transcript").fill("budget")
    rows(quiet_page).nth(1).click()
    expect(rows(quiet_page).nth(1)).to_have_attribute("aria-current", "true")
    lane(quiet_page, "S03").get_by_role("button").click()
    assert violations(quiet_page) == []


def violations(page: Page) -> list[str]:
    """Return what axe finds in the component by WCAG 2 A and AA and its best practices."""
    found = Axe().run(page, context="#timeline").response["violations"]
    return [f"{v['id']}: {node['html']}" for v in found for node in v["nodes"]]


def test_dark_mode_redraws_the_lanes(quiet_page: Page, viewer: Script) -> None:
    """Blocks take the colours of the mode, also when it changes under a finished transcript."""
    pixel = """() => {
      const canvas = document.querySelector('[data-speaker="S01"] canvas');
      if (!canvas) return "";
      const at = [Math.round(canvas.width * 3 / 60), Math.round(canvas.height / 2)];
      return [...canvas.getContext("2d").getImageData(...at, 1, 1).data].join();
    }"""
    quiet_page.emulate_media(color_scheme="light")
    viewer.show(TALK, status=TimelineStatus.DONE)
    quiet_page.wait_for_function(f"() => ({pixel})() === '42,89,219,255'")
    quiet_page.evaluate("document.body.classList.toggle('dark')")
    quiet_page.wait_for_function(f"() => ({pixel})() === '87,113,243,255'")


def test_fits_a_phone(quiet_page: Page, viewer: Script) -> None:
    """At 390 pixels nothing scrolls sideways and the words stand below time and speaker."""
    quiet_page.set_viewport_size({"width": 390, "height": 844})
    wordy = replace(TALK[1], text="supercalifragilistic" * 12, flags=tuple(SegmentFlag))
    viewer.show((TALK[0], wordy, *TALK[2:]), names={"S01": "A name of some length " * 3})
    expect(rows(quiet_page)).to_have_count(6)
    assert quiet_page.evaluate("document.documentElement.scrollWidth") == 390
    assert quiet_page.evaluate("document.querySelector('.tl-rows').scrollWidth") <= 390
    who = rows(quiet_page).first.locator(".tl-who").bounding_box()
    said = rows(quiet_page).first.locator(".tl-said").bounding_box()
    assert who is not None
    assert said is not None
    assert said["y"] >= who["y"] + who["height"] - 1


def test_stands_still_for_those_who_asked(quiet_page: Page, viewer: Script) -> None:
    """With reduced motion nothing blinks, pulses or glides."""
    quiet_page.emulate_media(reduced_motion="reduce")
    viewer.show(TALK[:1], replace(TALK[1], end=None))
    caret = quiet_page.locator(".tl-writing .tl-text")
    expect(caret).to_be_visible()
    moving = caret.evaluate("node => getComputedStyle(node, '::after').animationName")
    assert moving == "none"
