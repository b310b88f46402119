"""What tests of the viewer share: a page with a player, and a script that says what arrives."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import gradio as gr
from playwright.sync_api import Locator, Page, expect

from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.transcript import Segment
from moss_demo.ui.timeline import Timeline, TimelineStatus, timeline_update

RECORDING_S = 60
"""Length of the recording that the viewer's tests play."""

TALK = (
    Segment(1.0, 5.0, "S01", "Shall we begin with the budget?"),
    Segment(6.0, 11.0, "S02", "The budget is not ready."),
    Segment(12.0, 20.0, "S01", "Then the other thing, and the budget later."),
    Segment(21.0, 24.0, None, "Who said that?"),
    Segment(25.0, 33.0, "S03", "会议从下周开始改到星期四。"),
    Segment(34.0, 50.0, "S02", "Fine with me."),
)
MEDIA = """() => {
  for (const node of document.querySelectorAll("#player #waveform *")) {
    const media = node.shadowRoot && node.shadowRoot.querySelector("audio");
    if (media) return media;
  }
  return document.querySelector("#player audio.standard-player:not(.hidden)");
}"""

SLOWLY = 0.1
"""How fast tests play: what is heard now must still be heard when it is looked at."""

WAVEFORM_READY = """() => {
  const [, length] = document.querySelectorAll("#player time");
  return !length || length.textContent !== "0:00";
}"""
"""A seek before the waveform was drawn was lost now and then on a busy machine."""


class Script:
    """Updates that a test hands to the page one by one; renames come back."""

    def __init__(self) -> None:
        """Start with nothing to say."""
        self.renames: list[tuple[str, str]] = []
        self._updates: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._playing = False

    def play(self) -> Iterator[dict[str, Any]]:
        """Yield each update when the test hands it over."""
        self._playing = True
        while (update := self._updates.get()) is not None:
            yield update
        self._playing = False

    def show(
        self,
        segments: tuple[Segment, ...],
        open_segment: Segment | None = None,
        *,
        number: int = 1,
        duration_s: float = RECORDING_S,
        names: Mapping[str, str] | None = None,
        status: TimelineStatus | None = None,
    ) -> None:
        """Hand over the state of a run."""
        run = Run("talk.wav", "0" * 16, duration_s, segments, open_segment)
        if status is TimelineStatus.DONE:
            run = replace(run, finished=Finished(1.0, "", (), StopReason.END_OF_TEXT))
        self._updates.put(timeline_update(run, number=number, names=names or {}, status=status))

    def end(self) -> None:
        """Let the generator return, so that nothing of a test reaches the next one."""
        if self._playing:
            self._updates.put(None)
        self.renames.clear()


def build_page(script: Script, recording: Path, **player: Any) -> gr.Blocks:
    """Lay out a player, a button that starts the script, and the component."""

    def note(event: gr.EventData) -> str:
        script.renames.append((event.speaker, event.name))
        return f"{event.speaker} is {event.name!r}"

    with gr.Blocks(title="Viewer") as page:
        with gr.Row():
            with gr.Column(scale=4):
                gr.Audio(
                    str(recording), type="filepath", elem_id="player", interactive=True, **player
                )
                start = gr.Button("Start", elem_id="start")
            with gr.Column(scale=8):
                timeline = Timeline(audio_id="player", elem_id="timeline")
                heard = gr.Textbox(label="Renamed", elem_id="renamed")
        start.click(script.play, None, timeline, show_progress="hidden", concurrency_limit=None)
        timeline.rename(note, None, heard, show_progress="hidden")
    return page


def open_page(page: Page, address: str) -> None:
    """Load the page until the component is drawn, then start the script."""
    page.goto(address)
    expect(page.locator("#timeline .tl-hint")).not_to_be_empty()
    page.wait_for_function(f"() => ({MEDIA})()?.readyState > 0")
    page.wait_for_function(WAVEFORM_READY)
    page.evaluate(f"() => {{ ({MEDIA})().playbackRate = {SLOWLY} }}")
    page.locator("#start").click()


def rows(page: Page) -> Locator:
    """Return the rows of the transcript."""
    return page.locator("#timeline .tl-row")


def lane(page: Page, speaker: str) -> Locator:
    """Return the lane of a label; an empty one is unlabelled speech."""
    return page.locator(f'#timeline .tl-lane[data-speaker="{speaker}"]')


def expect_time(page: Page, seconds: float) -> None:
    """Wait until the player stands at a time, or plays on from there."""
    page.wait_for_function(
        f"t => {{ const now = ({MEDIA})().currentTime; return now >= t - 0.05 && now < t + 5 }}",
        arg=seconds,
    )
