"""The editor of the view in Chromium, answered by the real rules of revision."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from moss_demo.domain.editing import Revisions
from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.transcript import Transcript
from moss_demo.errors import EditError
from moss_demo.ui.revising import carry_out
from moss_demo.ui.timeline import Timeline, timeline_update

from .viewer import RECORDING_S, TALK, lane, rows

pytestmark = pytest.mark.browser

RUN = Run(
    "talk.wav", "0" * 16, RECORDING_S, TALK, finished=Finished(1.0, "", (), StopReason.END_OF_TEXT)
)


def build_page(recording: Path) -> gr.Blocks:
    """Lay out a player and a view that can be edited, without any model."""

    def shown(revisions: Revisions, problem: str = "") -> Any:
        run = replace(RUN, segments=revisions.present.segments)
        return timeline_update(run, number=1, names={}, revisions=revisions, problem=problem)

    def revise(revisions: Revisions, event: gr.EventData) -> tuple[Revisions, Any]:
        try:
            revisions = carry_out(revisions, event.asked, RECORDING_S)
        except EditError as error:
            return revisions, shown(revisions, str(error))
        return revisions, shown(revisions)

    start = Revisions(Transcript(TALK))
    with gr.Blocks(title="Editor") as page:
        state = gr.State(start)
        gr.Audio(str(recording), type="filepath", elem_id="player", interactive=True)
        timeline = Timeline(audio_id="player", elem_id="timeline")
        page.load(lambda: shown(start), None, timeline, show_progress="hidden")
        timeline.revise(revise, state, [state, timeline], show_progress="hidden")
    return page


@pytest.fixture(scope="module")
def address(serve: Callable[[gr.Blocks], str], recording: Path) -> str:
    """The address of the served page."""
    return serve(build_page(recording))


@pytest.fixture
def editor(quiet_page: Page, address: str) -> Page:
    """The page with a finished run in it."""
    quiet_page.goto(address)
    expect(rows(quiet_page)).to_have_count(len(TALK))
    return quiet_page


def open_form(page: Page, index: int) -> Locator:
    """Open the editor of a row by its pencil."""
    rows(page).nth(index).hover()
    rows(page).nth(index).get_by_role("button", name="Edit segment").click()
    return page.get_by_role("form", name="Edit segment")


def test_text_speaker_and_times_are_changed_and_taken_back(editor: Page) -> None:
    """What is saved shows at once in rows and lanes; undo and redo walk between the states."""
    form = open_form(editor, 1)
    expect(form.get_by_label("Start", exact=True)).to_have_value("6.00")
    form.get_by_label("Start", exact=True).fill("0:07.5")
    form.get_by_label("Speaker").select_option("S03")
    form.get_by_label("Text").fill("The budget is ready.")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    row = rows(editor).nth(1)
    expect(row.locator(".tl-text")).to_have_text("The budget is ready.")
    expect(row.locator(".tl-label")).to_have_text("S03")
    expect(row.locator(".tl-time")).to_have_text("0:07")
    expect(row.locator(".tl-badge")).to_have_text("edited")
    expect(lane(editor, "S03")).to_have_attribute("data-blocks", "2")
    expect(row.locator(".tl-time")).to_be_focused()
    editor.get_by_role("button", name="Undo").click()
    expect(row.locator(".tl-text")).to_have_text("The budget is not ready.")
    expect(editor.get_by_role("button", name="Undo")).to_be_disabled()
    editor.get_by_role("button", name="Redo").click()
    expect(row.locator(".tl-text")).to_have_text("The budget is ready.")


def test_what_cannot_be_is_said_in_the_form_and_nothing_typed_is_lost(editor: Page) -> None:
    """The sentence stands where the person looks; mending it saves."""
    form = open_form(editor, 2)
    form.get_by_label("End", exact=True).fill("3")
    form.get_by_label("Text").fill("Then the other thing.")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_have_text(
        "The end, 3 s, lies before the start, 12 s; correct one of them."
    )
    expect(form.get_by_label("Text")).to_have_value("Then the other thing.")
    form.get_by_label("End", exact=True).fill("19")
    form.get_by_label("Text").press("Enter")
    expect(rows(editor).nth(2).locator(".tl-text")).to_have_text("Then the other thing.")


def test_the_keyboard_alone_is_enough(editor: Page) -> None:
    """A key opens the segment in focus, Escape leaves it, and the undo chord takes back."""
    editor.keyboard.press("j")
    editor.keyboard.press("j")
    editor.keyboard.press("e")
    text = editor.get_by_label("Text")
    expect(text).to_be_focused()
    editor.keyboard.type("Budget. ")
    editor.keyboard.press("Escape")
    expect(text).to_have_count(0)
    expect(rows(editor).nth(1).locator(".tl-time")).to_be_focused()
    editor.keyboard.press("Tab")
    editor.keyboard.press("Enter")
    editor.keyboard.press("End")
    editor.keyboard.type(" Really j k?")
    editor.keyboard.press("Enter")
    changed = rows(editor).nth(1).locator(".tl-text")
    expect(changed).to_have_text("The budget is not ready. Really j k?")
    editor.keyboard.press("Control+z")
    expect(changed).to_have_text("The budget is not ready.")
    editor.keyboard.press("Control+Shift+z")
    expect(changed).to_have_text("The budget is not ready. Really j k?")


def test_segments_are_split_merged_deleted_and_given_to_somebody_new(editor: Page) -> None:
    """The other buttons of the form each do their one thing."""
    form = open_form(editor, 0)
    form.get_by_label("Text").evaluate("node => node.setSelectionRange(8, 8)")
    form.get_by_role("button", name="Split").click()
    expect(rows(editor)).to_have_count(7)
    expect(rows(editor).nth(1).locator(".tl-text")).to_have_text("begin with the budget?")
    open_form(editor, 0).get_by_role("button", name="Merge").click()
    expect(rows(editor)).to_have_count(6)
    open_form(editor, 5).get_by_role("button", name="Delete").click()
    expect(rows(editor)).to_have_count(5)
    form = open_form(editor, 3)
    form.get_by_label("Speaker").select_option("New speaker")
    form.get_by_role("button", name="Save").click()
    expect(rows(editor).nth(3).locator(".tl-label")).to_have_text("S04")


def test_a_change_leaves_the_reader_where_they_were(editor: Page) -> None:
    """Zoom, place in the list and the words looked for survive an edit."""
    editor.get_by_label("Find in transcript").fill("budget")
    ticks = editor.locator(".tl-tick")
    expect(ticks.first).to_be_visible()
    whole = ticks.all_inner_texts()
    editor.get_by_label("Zoom in").click()
    expect(ticks).not_to_have_text(whole)
    zoomed = ticks.all_inner_texts()
    form = open_form(editor, 5)
    form.get_by_label("Text").fill("Fine with me, and the budget too.")
    form.get_by_role("button", name="Save").click()
    expect(editor.locator(".tl-hits")).to_have_text("1 / 4")
    expect(ticks).to_have_text(zoomed)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_form_passes_the_accessibility_check(editor: Page, scheme: Any) -> None:
    """Axe finds nothing to mend in the form, with a refusal in it, in either mode."""
    editor.emulate_media(color_scheme=scheme)
    form = open_form(editor, 1)
    form.get_by_label("Text").fill("")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("needs words")
    found = Axe().run(editor, context="#timeline").response["violations"]
    assert [f"{v['id']}: {node['html']}" for v in found for node in v["nodes"]] == []
