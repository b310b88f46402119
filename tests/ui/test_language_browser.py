"""The page in Chinese and English in Chromium."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from moss_demo.domain.diagnostics import DiagnosticKind, diagnose
from moss_demo.domain.events import Finished, Run, Started, StopReason
from moss_demo.domain.figures import run_figures
from moss_demo.domain.parser import parse
from moss_demo.engine.info import EngineInfo
from moss_demo.scoring.verdict import Reason
from moss_demo.serving.context import build_context
from moss_demo.settings import Settings
from moss_demo.ui import present
from moss_demo.ui.present_comparison import GATE_SENTENCES, REASON_SENTENCES
from moss_demo.ui.samples import list_samples

from .served import await_charts, new_page, serving, upload
from .test_language import english_left

pytestmark = pytest.mark.browser

CHARTS = ("图表", "同一时间轴")
"""The inner tabs that hold them."""

WORDS_LEFT = """() => {
  const found = new Set();
  const note = (holder, text) => {
    const owner = holder.closest("[translate]");
    if (owner && owner.getAttribute("translate") === "no") return;
    if (holder.matches("script, style, textarea") || !holder.checkVisibility()) return;
    if (text && text.trim()) found.add(text.trim());
  };
  const walker = document.createTreeWalker(
    document.querySelector(".gradio-container"), NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) note(node.parentElement, node.data);
    else for (const name of ["aria-label", "title", "placeholder"]) {
      note(node, node.getAttribute(name));
    }
  }
  return [...found];
}"""
"""Everything a visitor reads or hears, but for what is marked as data."""

SHOW = """async (sentences) => {
  const list = document.createElement("ul");
  list.append(...sentences.map((sentence) => {
    const item = document.createElement("li");
    item.textContent = sentence;
    return item;
  }));
  document.querySelector(".gradio-container").append(list);
  await new Promise((done) => setTimeout(done));
  const shown = [...list.children].map((item) => item.textContent);
  list.remove();
  return shown;
}"""

A = "[0.50][S01]good morning everyone[2.10][2.60][S02]shall we begin[4.20]"
B = "[0.50][S01]good morning all of you[2.10][2.90][S03]shall we begin[4.20]"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the served page."""
    context = build_context(Settings(), "cpu")
    with serving(context) as served:
        yield served


@pytest.fixture
def chinese_page(browser: Browser, address: str) -> Iterator[Page]:
    """The page as a browser set to Chinese opens it."""
    page = new_page(browser, locale="zh-CN")
    page.goto(address)
    expect(page.get_by_role("button", name="English")).to_be_visible()  # our script is at work
    expect(page.locator("footer")).to_contain_text("通过 API")  # the last words of the page
    yield page
    page.close()


def left(page: Page) -> list[str]:
    """Return what still stands in English."""
    return [text for text in page.evaluate(WORDS_LEFT) if english_left(text)]


def test_the_transcribe_tab_is_chinese_throughout(chinese_page: Page) -> None:
    """From the empty page over a run to its files and charts no English text is left."""
    page = chinese_page
    page.get_by_text("更多设置").click()
    expect(page.get_by_label("提示词")).to_have_value("检查点自带")
    assert left(page) == []
    page.get_by_role("button", name="两人对话").first.click()
    expect(page.locator("#status")).to_contain_text("就绪")
    page.locator("#start").click()
    expect(page.locator("#timeline .tl-row").first).to_be_visible()
    assert left(page) == []
    expect(page.locator("#start")).to_be_enabled()
    expect(page.locator("#status")).to_contain_text("完成")
    for tab in ("下载", "图表", "原始文本", "数据"):
        page.get_by_role("tab", name=tab).first.click()
        if tab in CHARTS:
            await_charts(page)
        assert left(page) == []
    expect(page.locator("#timeline .tl-text").first).to_have_text(re.compile("^[a-z ]+$"))


def test_the_compare_tab_is_chinese_throughout(chinese_page: Page, tmp_path: Path) -> None:
    """Verdict, reasons, words and figures of two saved transcripts read in Chinese."""
    page = chinese_page
    page.get_by_role("tab", name="对比").click()
    for side, text in (("a", A), ("b", B)):
        path = tmp_path / f"{side}.txt"
        path.write_text(text, encoding="utf-8")
        upload(page, f"#saved-{side}", path)
    page.locator("#compare-start").click()
    expect(page.locator("#compare-status")).to_have_text("对比完成：未通过")
    expect(page.locator("#verdict-notices")).to_contain_text("写出的文字不同")
    for tab in ("文字", "同一时间轴", "数据", "下载"):
        page.get_by_role("tab", name=tab).last.click()
        if tab in CHARTS:
            await_charts(page)
        assert [text for text in left(page) if not re.search(r"[ab]?\.txt|cpWER", text)] == []


def test_the_switch_changes_the_page_at_once_and_for_good(page: Page, address: str) -> None:
    """An English browser starts in English; the choice needs no reload and outlives one."""
    page.goto(address)
    expect(page.locator("#start")).to_have_text("Transcribe")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_role("button", name=list_samples()[0].label).first.click()
    expect(page.locator("#status")).to_contain_text("Ready")
    page.get_by_role("button", name="中文").click()
    expect(page.locator("#start")).to_have_text("转写")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page.locator("#status")).to_contain_text("就绪")
    expect(page.get_by_label("精度").first).to_have_value("默认")
    page.reload()
    expect(page.locator("#start")).to_have_text("转写")
    page.get_by_role("button", name="English").click()
    expect(page.locator("#start")).to_have_text("Transcribe")
    expect(page.get_by_label("Precision").first).to_have_value("Default")
    page.get_by_label("Precision").first.click()
    page.get_by_role("option", name="bf16").click()
    expect(page.get_by_label("Precision").first).to_have_value("bf16")


def test_a_chinese_browser_can_read_english(chinese_page: Page) -> None:
    """Gradio's own words, which follow the browser, switch too."""
    expect(chinese_page.get_by_text("将音频拖放到此处")).to_be_visible()
    chinese_page.get_by_role("button", name="English").click()
    expect(chinese_page.get_by_text("Drop Audio Here")).to_be_visible()


def _run(raw: str, stop: StopReason | None, speech: tuple[tuple[float, float], ...] | None) -> Run:
    transcript = parse(raw, 60.0)
    finished = None if stop is None else Finished(2.0, raw, (1, 2), stop, transcript.complete)
    started = Started(0.1, 60.0, 200, 170, 3, speech)
    return Run(
        "talk.wav", "0" * 16, 60.0, transcript.segments, None, raw, (1, 2), started, 0.3, 1.0,
        finished,
    )  # fmt: skip


def _runs() -> Iterator[Run]:
    """Yield runs that between them have every kind of thing to remark on."""
    end, speech = StopReason.END_OF_TEXT, ((0.0, 59.0),)
    yield _run("", StopReason.NO_SPEECH, ())
    yield _run("[0.50][S01]good", None, speech)
    yield _run("[0.50][S01]good", StopReason.LENGTH, speech)
    yield _run("", end, speech)
    yield _run("[0.0][1.0]", end, ())
    yield _run("[0.50][S01]good mor", end, speech)
    yield _run("[0.50][S01]good[1.70][2.30]", end, None)
    yield _run("[0.50][S01]loop[1.70]" * 12 + "[5.00][S02]" + "!" * 90 + "[6.00]", end, speech)
    for gap in (0, 1):
        raw = "".join(f"[{n}.50][S01]same words[{n}.90]" for n in range(1, 4 + 9 * gap))
        yield _run(raw + f"[8.0][S02]{'and so on ' * 40}[9.0]", end, speech)
    yield _run("[0.5][S01]past[99.0][3.0][S01]back[2.0][-1.0][S01]early[1.0]", end, speech)
    yield _run("[0.5][S01]quiet[1.0]", end, ((30.0, 31.0),))
    yield _run("plain words alone", end, speech)
    yield _run("[S01]no times[S02]at all", end, speech)
    yield _run("well [0.5][S01]one[1.0][1.5][S01][S02]two[2.0]three[2.5]", end, speech)
    yield _run("[0.5]nobody[1.0]", end, speech)
    yield _run("[S01]late[0.5][S02]early[1.0][1.5][S01]on time[2.0]", end, speech)


def test_every_sentence_about_a_run_has_chinese(chinese_page: Page) -> None:
    """Warnings, progress, figures and verdicts read in Chinese, whatever stands in them."""
    info = EngineInfo("tiny", "local", "native", 1, 4, 1, "cpu", "fp32", "reference", "sdpa", 0.5)
    runs = list(_runs())
    found = [one for run in runs for one in diagnose(run)]
    assert {one.kind for one in found} == set(DiagnosticKind)
    sentences = [one.message for one in found] + [one.kind.value for one in found]
    for run in runs:
        sentences += [present.status_line(run), present.stopped_line(run)]
        sentences += [cell for row in run_figures(run, None) for cell in row]
    sentences += [present.engine_line(info), *GATE_SENTENCES.values(), *REASON_SENTENCES.values()]
    sentences += [reason.value for reason in Reason]
    sentences = [sentence.replace("_", " ") for sentence in sentences]
    shown = chinese_page.evaluate(SHOW, sentences)
    quoted = re.compile(r"“[^”]*”")
    assert [text for text in shown if english_left(quoted.sub("", text))] == []
