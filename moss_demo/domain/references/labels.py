"""Speaker labels that stand in front of the words, in formats without a field for them."""

import re
from collections.abc import Sequence

from moss_demo.domain.markers import canonical_label

_GENERIC = r"(?:[Ss]\d{1,4}|SPEAKER[_ ]?\d{1,4})"
_GENERIC_PREFIX = re.compile(rf"\s*(?:\[({_GENERIC})\]:?|({_GENERIC})[:：])\s*", re.ASCII)
_NAME = r"[^\W\d_][^:：\n\[\]<>]{0,39}?"
_NAME_PREFIX = re.compile(rf"\s*(?:\[({_NAME})\]:?\s*|({_NAME})(?::\s+|：\s*))")
_MODEL_LABEL = re.compile(r"[Ss](\d{1,4})", re.ASCII)


def split_labels(texts: Sequence[str]) -> list[tuple[str | None, str]]:
    """Return label and words of each text.

    `[S01]`, `S01:` and `SPEAKER_00:` are labels wherever they stand in front. A free name such as
    `Alice:` is one only if every text, of at least two, begins with one: else it may be spoken.
    """
    named = [_NAME_PREFIX.match(text) for text in texts]
    if len(texts) < 2 or not all(named):
        named = [_GENERIC_PREFIX.match(text) for text in texts]
    return [
        (None, text) if match is None else (_canonical(match[1] or match[2]), text[match.end() :])
        for match, text in zip(named, texts, strict=True)
    ]


def _canonical(label: str) -> str:
    model = _MODEL_LABEL.fullmatch(label)
    return canonical_label(model[1]) if model else label
