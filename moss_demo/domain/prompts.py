"""The published prompts and how hotwords are attached. Knows nothing of templates or tokens."""

from enum import StrEnum

from moss_demo.domain.encodable import encodable
from moss_demo.errors import RequestError

MAX_HOTWORDS = 200
MAX_PROMPT_CHARACTERS = 4_000


class PromptPreset(StrEnum):
    """Prompts the published model was trained with, by what the person picks."""

    DEFAULT = "default"
    CHINESE = "zh"
    ENGLISH = "en"
    SPEAKERS = "speakers"


PROMPT_TEXTS = {
    PromptPreset.CHINESE: (
        "请将音频转写为文本，每一段需以起始时间戳和说话人编号（[S01]、[S02]、[S03]…）开头，"
        "正文为对应的语音内容，并在段末标注结束时间戳，以清晰标明该段语音范围。"
    ),
    PromptPreset.ENGLISH: (
        "Transcribe the audio. For each segment, start with the timestamp and speaker ID "
        "([S01], [S02], [S03], ...), then the spoken text, and end with the segment timestamp."
    ),
    PromptPreset.SPEAKERS: (
        "Transcribe the audio as text using speaker labels such as [S01], [S02], and [S03]."
    ),
}
"""Texts as published with the model; the Chinese one is the default it was trained with."""

HOTWORD_LEADS = {True: " 热词提示：", False: " Hotwords: "}
"""What introduces hotwords in a Chinese (True) and in any other prompt."""


def resolve_prompt(choice: str | None) -> str | None:
    """Turn a preset's name or free text into the prompt of a request.

    Args:
        choice: a `PromptPreset` value, any other text, or nothing.

    Returns:
        The prompt, or None for the checkpoint's own default.

    Raises:
        RequestError: the text is longer than any real instruction.
    """
    text = encodable(choice or "").strip()
    if not text or text == PromptPreset.DEFAULT:
        return None
    if len(text) > MAX_PROMPT_CHARACTERS:
        raise RequestError(
            f"The prompt has {len(text):,} characters; shorten it to {MAX_PROMPT_CHARACTERS:,}."
        )
    return PROMPT_TEXTS[PromptPreset(text)] if text in set(PromptPreset) else text


def split_hotwords(text: str | None) -> tuple[str, ...]:
    """Split a list of hotwords at commas, semicolons and line breaks, each kept once.

    Raises:
        RequestError: there are more than any prompt can carry.
    """
    separated = encodable(text or "").translate(str.maketrans("，、;；\n\r", ",,,,,,"))
    words = tuple(dict.fromkeys(w for w in map(str.strip, separated.split(",")) if w))
    if len(words) > MAX_HOTWORDS:
        raise RequestError(f"{len(words)} hotwords are too many; keep the {MAX_HOTWORDS} rarest.")
    return words


def with_hotwords(prompt: str, hotwords: tuple[str, ...]) -> str:
    """Append hotwords to a prompt the way the published model saw them in training."""
    if not hotwords:
        return prompt
    is_chinese = any("\u4e00" <= character <= "\u9fff" for character in prompt)
    return prompt + HOTWORD_LEADS[is_chinese] + ", ".join(hotwords)
