"""The whole page in Chromium with the embedded checkpoint: what a visitor does and gets."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from playwright.sync_api import Browser, Locator, Page, expect

from moss_demo.domain.parser import parse
from moss_demo.serving.context import AppContext, build_context
from moss_demo.settings import Settings
from moss_demo.ui.samples import list_samples
from moss_demo.ui.tensor_question import DONE

from .served import new_page, serving
from .viewer import SLOWLY

pytestmark = pytest.mark.browser

SHORTEST, *_, LONGEST = list_samples()
REFERENCE = parse(SHORTEST.path.with_suffix(".txt").read_text(encoding="utf-8"))

RAW_TEXT = re.compile(r"^\[\d+\.\d\d\]\[S01\].+\[\d+\.\d\d\]$")

SCREENSHOT = Path(__file__).parents[2] / "assets" / "screenshot.png"
MEDIA = """() => {
  for (const node of document.querySelectorAll("#recording #waveform *")) {
    const media = node.shadowRoot && node.shadowRoot.querySelector("audio");
    if (media) return media;
  }
  return null;
}"""
WATCH = """() => {
  window.seen = [];
  const [timeline, status] = ["timeline", "status"].map((id) => document.getElementById(id));
  const look = () => seen.push([timeline.querySelectorAll(".tl-row").length, status.textContent]);
  const watch = new MutationObserver(look);
  const all = { subtree: true, childList: true, characterData: true };
  for (const node of [timeline, status]) watch.observe(node, all);
}"""
"""Notes what the page shows as it changes, however seldom the test gets to look."""


@pytest.fixture(scope="module")
def app() -> AppContext:
    """The server side, as on a host that changed nothing."""
    return build_context(Settings(), "cpu")


@pytest.fixture(scope="module")
def address(app: AppContext) -> Iterator[str]:
    """The address of the served page."""
    with serving(app) as served:
        yield served


def _upload(page: Page, path: Path) -> None:
    page.locator("#recording input[type=file]").set_input_files(path)
    expect(page.locator("#status")).not_to_contain_text("Upload or record")


def _choose(page: Page, label: str) -> None:
    page.get_by_role("button", name=label).first.click()
    expect(page.locator("#status")).to_contain_text("Ready")


def _stopped(app: AppContext) -> float:
    """Return how many runs of the page were stopped before their end."""
    counted = r'moss_demo_requests_total\{door="page",outcome="stopped"\} (\S+)'
    return sum(map(float, re.findall(counted, app.metrics.text().decode())))


def _start(page: Page) -> None:
    page.locator("#start").click()
    expect(page.locator("#stop")).to_be_enabled()


def _wait_for_end(page: Page) -> None:
    expect(page.locator("#start")).to_be_enabled()


def _rows(page: Page) -> Locator:
    return page.locator("#timeline .tl-row")


def _rename(page: Page, speaker: str, name: str) -> None:
    page.locator(f'#timeline .tl-lane[data-speaker="{speaker}"]').get_by_role("button").click()
    page.get_by_label(f"Name of {speaker}").fill(name)
    page.keyboard.press("Enter")


def _download(page: Page, fmt: str) -> str:
    with page.expect_download() as started:
        page.locator(f"#download-{fmt}").click()
    return Path(started.value.path()).read_text(encoding="utf-8")


def test_a_sample_streams_into_a_transcript_that_can_be_played_renamed_and_taken_away(
    opened: Page,
) -> None:
    """The main job from upload to download."""
    _upload(opened, SHORTEST.path)
    opened.evaluate(WATCH)
    _start(opened)
    _wait_for_end(opened)
    expect(opened.locator("#status")).to_contain_text("Done in")
    streamed = re.compile(r"Transcribing.* tokens/s")
    counts = [count for count, status in opened.evaluate("seen") if streamed.search(status)]
    assert any(1 < count < _rows(opened).count() for count in counts)
    assert abs(_rows(opened).count() - len(REFERENCE.segments)) <= 1
    expect(opened.locator("#timeline .tl-lane")).to_have_count(len(REFERENCE.speakers))
    expect(opened.locator("#figures")).to_contain_text("Time to first token")

    opened.wait_for_function(f"() => ({MEDIA})()?.readyState > 0")
    opened.evaluate(f"() => {{ ({MEDIA})().playbackRate = {SLOWLY} }}")
    _rows(opened).nth(3).click()
    opened.wait_for_function(f"() => ({MEDIA})().currentTime > 1")
    expect(_rows(opened).nth(3)).to_have_attribute("aria-current", "true")

    _rename(opened, "S01", "Alice")
    expect(opened.locator("#timeline .tl-row", has_text="Alice").first).to_be_visible()
    expect(opened.get_by_label("Name of S01")).to_have_count(0)
    opened.get_by_role("tab", name="Downloads").click()
    expect(opened.locator("#download-notes")).to_contain_text("Alice, S02")
    srt = _download(opened, "srt")
    assert srt.startswith("1\n00:00:")
    assert "Alice: " in srt

    _rows(opened).nth(3).hover()
    _rows(opened).nth(3).get_by_role("button", name="Edit segment").click()
    opened.get_by_label("Text", exact=True).fill("Quite another thing.")
    opened.get_by_role("button", name="Save", exact=True).click()
    expect(_rows(opened).nth(3)).to_contain_text("Quite another thing.")
    assert "Quite another thing." in _download(opened, "vtt")
    assert "Quite another thing." not in _download(opened, "raw")

    opened.get_by_role("tab", name="Raw text").click()
    expect(opened.locator("#raw textarea")).to_have_value(RAW_TEXT)
    opened.get_by_role("tab", name="Charts").click()
    with opened.expect_download() as saved:
        opened.locator("#charts-file").click()
    assert "<script" in Path(saved.value.path()).read_text(encoding="utf-8")
    bars = opened.locator("#timeline-plot .bars .point path")
    expect(bars).to_have_count(_rows(opened).count())  # plotly loads on first use
    assert all(box["width"] > 1 for bar in bars.all() if (box := bar.bounding_box()))


def test_what_was_trimmed_in_the_player_is_what_gets_transcribed(opened: Page) -> None:
    """The player's own scissors count: its sound, its length and its clicks."""
    _choose(opened, SHORTEST.label)
    player = opened.locator("#recording")
    expect(player.locator("time").last).to_have_text("0:25")  # the sound is there, and can be cut
    player.get_by_label("Trim audio to selection").click()
    player.get_by_role("button", name="Trim", exact=True).click()
    expect(opened.locator("#status")).not_to_contain_text("Ready: 0:25")
    expect(opened.locator("#status")).to_contain_text("Ready: 0:06")
    opened.locator("#start").click()
    expect(opened.locator("#status")).to_contain_text("Done in")
    assert 0 < _rows(opened).count() < len(REFERENCE.segments) / 2


def test_stop_keeps_what_was_written_and_the_next_run_works(opened: Page) -> None:
    """A stopped run leaves its partial transcript and its files; then the same page runs again."""
    _choose(opened, LONGEST.label)
    _start(opened)
    expect(_rows(opened).first).to_be_visible()
    opened.locator("#stop").click()
    expect(opened.locator("#status")).to_contain_text("Stopped at")
    expect(opened.locator("#notices")).to_contain_text("stopped")
    assert _rows(opened).count() >= 1
    expect(opened.locator("#start")).to_be_enabled()
    opened.get_by_role("tab", name="Downloads").click()
    assert "-->" in _download(opened, "vtt")
    _start(opened)
    expect(opened.locator("#download-vtt")).to_be_disabled()
    expect(opened.locator("#download-vtt")).to_have_css("opacity", "0.45")  # and looks it
    opened.locator("#stop").click()
    expect(opened.locator("#start")).to_be_enabled()
    _choose(opened, SHORTEST.label)
    _start(opened)
    _wait_for_end(opened)
    expect(opened.locator("#status")).to_contain_text("Done in")
    expect(opened.locator("#download-vtt")).to_be_enabled()


def test_a_closed_tab_stops_its_run(opened: Page, app: AppContext) -> None:
    """Nobody waits for a visitor who has left: the device is free long before the run's end."""
    opened.get_by_role("button", name=LONGEST.label).first.click()
    expect(opened.locator("#status")).to_contain_text("Ready")
    _start(opened)
    expect(_rows(opened).first).to_be_visible()
    stopped = _stopped(app)
    opened.close()
    while _stopped(app) == stopped or app.pool.is_busy:
        threading.Event().wait(0.1)
    assert _stopped(app) == stopped + 1


def test_a_tab_closed_while_it_waits_holds_up_nobody(
    opened: Page, browser: Browser, address: str
) -> None:
    """A visitor who leaves the queue leaves it for good: the next one starts without them."""
    waiting, third = new_page(browser), new_page(browser)
    for page, label in ((opened, LONGEST.label), (waiting, LONGEST.label), (third, SHORTEST.label)):
        if page is not opened:
            page.goto(address)
        _choose(page, label)
    _start(opened)
    expect(_rows(opened).first).to_be_visible()
    _start(waiting)
    waiting.close()
    opened.locator("#stop").click()
    expect(opened.locator("#status")).to_contain_text("Stopped at")
    _start(third)
    _wait_for_end(third)
    expect(third.locator("#status")).to_contain_text("Done in")
    assert abs(_rows(third).count() - len(REFERENCE.segments)) <= 1
    third.close()


def test_two_visitors_get_their_own_transcripts(
    opened: Page, browser: Browser, address: str
) -> None:
    """Runs wait for each other; Stop, names and results stay with their visitor."""
    other = new_page(browser)
    other.goto(address)
    expect(other.locator("#timeline .tl-hint")).not_to_be_empty()
    _choose(opened, LONGEST.label)
    _choose(other, SHORTEST.label)
    other.locator("#start").click()
    expect(other.locator("#status")).to_contain_text("Done in")
    _wait_for_end(other)
    _rename(other, "S01", "Ann")
    written = _rows(other).count()
    _start(opened)
    expect(_rows(opened).first).to_be_visible()
    _start(other)
    expect(other.locator("#status")).to_contain_text("Waiting")
    other.locator("#stop").click()
    expect(other.locator("#status")).to_contain_text("Stopped before it began")
    expect(other.locator("#start")).to_be_enabled()
    # What was there before is still there, with all its names.
    _rename(other, "S02", "Ben")
    other.get_by_role("tab", name="Downloads").click()
    expect(other.locator("#download-notes")).to_contain_text("Ann, Ben")
    assert {"Ann", "Ben"} <= set(re.findall(r"^(\w+): ", _download(other, "srt"), re.MULTILINE))
    _wait_for_end(opened)
    expect(opened.locator("#status")).to_contain_text("Done in")
    expect(_rows(other)).to_have_count(written)
    other.close()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.wav", b"", "empty"),
        ("noise.wav", b"\x13\x37" * 4_000, "audio"),
        ("page.mp3", b"<html><img src=x onerror=alert(1)></html>", "audio"),
    ],
)
def test_a_broken_file_gets_one_sentence_and_leaves_the_page_working(
    page: Page, address: str, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """The cause is named at once, and the recording that was there before is still there.

    The player writes its own failure to decode to the console, so this page may be loud.
    """
    page.goto(address)
    page.get_by_role("button", name=SHORTEST.label).first.click()
    expect(page.locator("#status")).to_contain_text("Ready")
    path = tmp_path / name
    path.write_bytes(content)
    page.locator("#recording").get_by_label("Clear").click()
    expect(page.locator("#status")).to_contain_text("Upload or record")
    page.locator("#recording input[type=file]").set_input_files(path)
    expect(page.locator("#status")).to_contain_text(message, ignore_case=True)
    expect(page.get_by_test_id("toast-body").first).to_be_visible()
    expect(page.locator("#start")).to_be_enabled()
    expect(page.locator("#stop")).to_be_disabled()


def test_a_wrong_budget_is_named_where_the_person_looks(opened: Page) -> None:
    """The field's own sentence, not the toolkit's; an empty field works."""
    opened.get_by_role("button", name=SHORTEST.label).first.click()
    expect(opened.locator("#status")).to_contain_text("Ready")
    opened.get_by_text("More settings").click()
    budget = opened.get_by_label("Token budget")
    expect(budget).to_have_value("")
    budget.fill("1.5")
    opened.locator("#start").click()
    expect(opened.locator("#status")).to_contain_text("token budget must be a whole number")
    budget.fill("3")
    opened.locator("#start").click()
    expect(opened.locator("#status")).to_contain_text("Cut off by the token budget")
    _wait_for_end(opened)
    expect(opened.locator("#timeline .tl-hint")).not_to_contain_text("No speech")


def test_decode_path_and_encoder_are_chosen_on_the_page(opened: Page) -> None:
    """A compilation is waited for in plain words, and what it took stands beside the run."""
    opened.get_by_role("button", name=SHORTEST.label).first.click()
    expect(opened.locator("#status")).to_contain_text("Ready")
    opened.get_by_text("More settings").click()
    opened.get_by_text("What these choices mean").click()
    expect(opened.locator("details[open]")).to_contain_text("reduce-overhead is rejected")
    for label, choice in (("Decode path", "Fast"), ("Encoder", "Compiled, autotuned")):
        opened.get_by_label(label, exact=True).first.click()
        opened.get_by_role("option", name=choice).click()
    opened.get_by_label("Token budget").fill("30")
    opened.locator("#start").click()
    expect(opened.locator("#status")).to_contain_text("Compiling the encoder")
    _wait_for_end(opened)
    expect(opened.locator("#figures")).to_contain_text("Compile")
    expect(opened.locator("#engine")).to_contain_text("fast decode path")
    expect(opened.locator("#engine")).to_contain_text("compiled (max-autotune-no-cudagraphs)")


def test_starting_without_a_recording_is_answered(opened: Page) -> None:
    """The first click of a newcomer gets a sentence."""
    opened.locator("#start").click()
    expect(opened.locator("#status")).to_contain_text("no recording yet")
    expect(opened.locator("#start")).to_be_enabled()


def test_a_video_in_a_container_no_audio_player_knows_is_played_and_transcribed(
    opened: Page, tmp_path: Path
) -> None:
    """Any container works: the player gets a copy it can play, the model the sound itself."""
    video = tmp_path / "talk.mkv"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "color=c=blue:s=64x64:d=60", "-i",
         str(LONGEST.path), "-shortest", "-c:a", "ac3", str(video)],
        check=True,
    )  # fmt: skip
    with opened.expect_file_chooser() as chooser:
        opened.get_by_role("button", name="Open a video or any other file").click()
    chooser.value.set_files(video)
    expect(opened.locator("#status")).to_contain_text("Ready")
    expect(opened.locator("#recording #waveform")).to_be_visible()
    _start(opened)
    expect(_rows(opened).nth(1)).to_be_visible()
    opened.locator("#stop").click()
    expect(opened.locator("#status")).to_contain_text("Stopped at")


def test_silence_ends_as_no_speech(opened: Page, tmp_path: Path) -> None:
    """A silent recording says so beside an empty transcript."""
    path = tmp_path / "silence.wav"
    soundfile.write(path, np.zeros(32_000, dtype=np.float32), 16_000)
    _upload(opened, path)
    opened.locator("#start").click()
    expect(opened.locator("#status")).to_contain_text("No speech found")
    _wait_for_end(opened)
    expect(opened.locator("#notices")).to_contain_text("no speech", ignore_case=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_the_page_fits_its_window(opened: Page, scheme: str, size: tuple[int, int]) -> None:
    """Nothing is cut off sideways on a desk or in a hand, in either theme."""
    opened.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened.set_viewport_size({"width": size[0], "height": size[1]})
    expect(opened.locator("#start")).to_be_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_two_precisions_are_compared_on_one_recording(opened: Page) -> None:
    """Both sides stream in, then verdict, words and figures, and when asked the numbers."""
    opened.get_by_role("tab", name="Compare").click()
    opened.get_by_role("button", name=SHORTEST.label).last.click()
    expect(opened.locator("#compare-recording #waveform")).to_be_visible()
    opened.locator("#compare-start").click()
    expect(opened.locator("#compare-stop")).to_be_enabled()
    expect(opened.locator("#compare-start")).to_be_enabled()
    expect(opened.locator("#compare-status")).to_have_text(re.compile("Compared: (pass|fail)"))
    expect(opened.locator("#verdict")).to_contain_text("Words safe")
    for side in "ab":
        rows = opened.locator(f"#timeline-{side} .tl-row")
        assert abs(rows.count() - len(REFERENCE.segments)) <= 2
    expect(opened.locator("#diff li").first).to_be_visible()
    opened.get_by_role("tab", name="Figures").last.click()
    expect(opened.locator("#compare-figures")).to_contain_text("RTF")
    opened.get_by_role("tab", name="Numbers").click()
    opened.locator("#tensors-start").click()
    expect(opened.locator("#tensors-status")).to_have_text(DONE)
    expect(opened.locator("#tensors")).to_contain_text("teacher-forced logits")
    expect(opened.locator("#weight-lines")).to_contain_text("Neither side")

    opened.locator("#compare-recording").get_by_label("Clear").click()
    opened.locator("#compare-start").click()
    expect(opened.locator("#compare-status")).to_contain_text("no recording yet")
    expect(opened.locator("#verdict")).to_contain_text("Words safe")
    expect(opened.locator("#tensors")).to_contain_text("teacher-forced logits")


def test_the_system_tab_says_what_runs_here(opened: Page) -> None:
    """Versions and checkpoints are listed when the tab is opened."""
    opened.get_by_role("tab", name="System").click()
    expect(opened.locator("#system-table")).to_contain_text("transformers")
    expect(opened.locator("#system-table")).to_contain_text("ships with the project")


def test_the_endpoint_streams_to_programs(address: str) -> None:
    """`/transcribe` takes a file and gives the transcript so far, each value longer in lines."""
    client = Client(address, verbose=False)
    job = client.submit(handle_file(str(SHORTEST.path)), api_name="/transcribe")
    values = list(job)
    assert len({len(value.splitlines()) for value in values}) > 2
    assert values[-1] == job.result()
    final = parse(values[-1].replace("\n", ""))
    assert abs(len(final.segments) - len(REFERENCE.segments)) <= 1
    client.close()


def test_the_endpoint_is_the_only_public_one(address: str) -> None:
    """Helpers of the page are private."""
    client = Client(address, verbose=False)
    described = client.view_api(return_format="dict")
    assert isinstance(described, dict)
    assert list(described["named_endpoints"]) == ["/transcribe"]
    assert not described["unnamed_endpoints"]
    client.close()


def test_the_endpoint_refuses_what_the_page_refuses(address: str, tmp_path: Path) -> None:
    """Programs get the same sentence, and a path is no checkpoint."""
    client = Client(address, verbose=False)
    with pytest.raises(AppError, match="does not offer"):
        client.predict(handle_file(str(SHORTEST.path)), str(tmp_path), api_name="/transcribe")
    client.close()


def test_the_readmes_picture_can_be_taken_again(
    opened: Page, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """A finished run at desktop size; `--retake-screenshot` puts it into the README."""
    opened.set_viewport_size({"width": 1440, "height": 1000})
    opened.get_by_role("button", name=list_samples()[1].label).first.click()
    expect(opened.locator("#recording #waveform")).to_be_visible()
    _start(opened)
    _wait_for_end(opened)
    picture = tmp_path / "page.png"
    opened.screenshot(path=picture, animations="disabled")
    assert picture.stat().st_size > 20_000
    if pytestconfig.getoption("--retake-screenshot"):
        shutil.copy(picture, SCREENSHOT)
