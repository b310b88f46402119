"""Both languages of the page, as far as no browser is needed."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from moss_demo.serving.context import ASSETS, build_context
from moss_demo.settings import Settings
from moss_demo.ui.app import build_app
from moss_demo.ui.language import chinese

NAMES = re.compile(
    r"\b(OpenMOSS-Team|MOSS-Transcribe-Diarize|Gradio|tiny|cpu|sdpa|fp32|bf16|fp16|GB|MiB|RTF|JSON|API|OpenAI|SubRip"
    r"|Markdown|int8|synthetic|WebVTT|SubStation|Alpha|RTTM|UEM|STM|SegLST|Praat|TextGrid|Audacity|CSV|PNG|English)\b",
    re.ASCII,
)
"""What has the same name in every language."""

FILES = sorted((ASSETS / "zh").glob("*.json"))


def english_left(text: str) -> bool:
    """Tell whether a text has words of English that are no names."""
    return re.search(r"[A-Za-z]{2,}", NAMES.sub("", text)) is not None


def labels() -> Iterator[str]:
    """Yield every text that the layout of the page holds, hidden rows left out."""
    config: dict[str, Any] = build_app(build_context(Settings(), "cpu")).config  # type: ignore[assignment]
    by_id = {component["id"]: component for component in config["components"]}

    def walk(node: dict[str, Any]) -> Iterator[str]:
        component = by_id.get(node["id"], {"props": {}, "type": "column"})
        props = component["props"]
        if component["type"] == "row" and props.get("visible") is False:
            return
        names = ["label", "info", "placeholder"]
        if component["type"] in ("button", "markdown", "html"):
            names.append("value")
        yield from (props[name] for name in names if isinstance(props.get(name), str))
        yield from re.findall(r'<p class="no[a-z]+">([^<]+)', props.get("html_template") or "")
        yield from (choice[0] for choice in props.get("choices") or ())
        yield from props.get("headers") or ()
        for child in node.get("children") or ():
            yield from walk(child)

    yield from walk(config["layout"])


def test_every_text_has_both_languages() -> None:
    """No entry is empty or left in English, and what varies stands in both forms."""
    for source, target in chinese().items():
        assert source == source.strip()
        assert target.strip(), source
        wanted, given = (set(re.findall(r"\{(\w+\*?)\}", text)) for text in (source, target))
        assert given <= wanted, source
        assert not english_left(source) or source != target or "*" in source, source


def test_no_text_is_translated_twice() -> None:
    """Files do not overrule each other, nor does a line within one file."""
    seen: dict[str, str] = {}
    for path in FILES:
        pairs = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=list)
        for source, _ in pairs:
            assert source not in seen, f"{source!r} stands in {seen[source]} and {path.name}"
            seen[source] = path.name


def test_every_label_of_the_page_has_chinese() -> None:
    """A label, hint, choice or heading that somebody adds is missed here first."""
    shapes = [
        re.compile(re.sub(r"\\\{\w+\\?\*?\\\}", ".*?", re.escape(source))) for source in chinese()
    ]
    missing = set()
    for label in labels():
        plain = re.sub(r"<[^>]*>|[*#]", "", label)
        for line in filter(None, plain.splitlines()):
            sentences = re.split(r"(?<=[.!?…])\s+", line.strip())
            for piece in sentences:
                if english_left(piece) and not any(s.fullmatch(piece) for s in shapes):
                    missing.add(piece)
    assert not missing, "add these to assets/zh"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_are_tidy(path: Any) -> None:
    """Chinese sentences end with Chinese marks."""
    for source, target in json.loads(path.read_text(encoding="utf-8")).items():
        assert not re.search(r"[\u4e00-\u9fff][,;?!]|[\u4e00-\u9fff]\.$", target), source
