"""What counts as the same word: three named levels of normalization, and tokens.

`verbatim` composes characters (NFC) and changes nothing else. `relaxed` forgives width, case,
punctuation and symbols. `language` adds what a language's own convention forgives: for English the
rules of Whisper's normalizer, for Chinese the script (traditional or simplified). Every figure
carries the `label` of the rules behind it. Knows nothing of segments or speakers.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from whisper_normalizer.english import EnglishTextNormalizer  # type: ignore[import-untyped]

CJK = (
    "\u2e80-\u2fdf\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U000323af"
)
"""Scripts written without blanks, as the inside of a character class: Han and kana."""

_VARIATION_SELECTOR = re.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_TOKEN = re.compile(rf"[{CJK}]{_VARIATION_SELECTOR.pattern}?|[^\s{CJK}]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LATIN_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_ENGLISH_GLUE = frozenset(
    ["the", "and", "of", "to", "it", "that", "you", "was", "for", "with", "are", "this", "have"]
)
_MIN_GLUE_SHARE = 0.1


class Level(StrEnum):
    """How much difference between two texts is forgiven."""

    VERBATIM = "verbatim"
    RELAXED = "relaxed"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True)
class TextRules:
    """One level of normalization, bound to a language where the level needs one.

    Attributes:
        level: how much is forgiven.
        language: code such as `en` or `zh`, or None when not known; only `language` looks at it.
    """

    level: Level
    language: str | None = None

    @property
    def label(self) -> str:
        """Name and content of the rules, to be shown beside every figure made with them."""
        match self.level:
            case Level.VERBATIM:
                return "verbatim (NFC)"
            case Level.RELAXED:
                return "relaxed (NFKC, case folded, punctuation dropped)"
            case Level.LANGUAGE:
                return f"language ({_language_label(self.language)})"

    def apply(self, text: str) -> str:
        """Return the text with everything gone that the level forgives."""
        match self.level:
            case Level.VERBATIM:
                return unicodedata.normalize("NFC", text)
            case Level.RELAXED:
                return relaxed(text)
            case Level.LANGUAGE:
                return _for_language(text, self.language)

    def words(self, text: str) -> list[str]:
        """Return the tokens that a word error rate counts.

        Han and kana count by the character and everything else by blanks, so that the rate is a
        mixed error rate on code-switched speech.
        """
        return tokenize(self.apply(text))


def tokenize(text: str) -> list[str]:
    """Split text into single Han or kana characters and runs of anything else but blanks."""
    return _TOKEN.findall(text)


def relaxed(text: str) -> str:
    """Fold width and case, and drop punctuation, symbols and characters without a glyph."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(map(_kept, folded))


def guess_language(texts: Iterable[str]) -> str | None:
    """Return `ja`, `zh` or `en` where the writing gives it away, else None.

    Kana mean Japanese and Han without kana Chinese, when they make up at least a third of the
    tokens. Latin text passes as English only by its share of function words: the English rules
    delete hesitations such as "um", which are words elsewhere.
    """
    tokens = [token for text in texts for token in tokenize(text.lower())]
    kana = sum(bool(_KANA.match(token)) for token in tokens)
    han = sum(bool(_HAN.match(token)) for token in tokens)
    if 3 * (kana + han) >= len(tokens) > 0:
        return "ja" if 10 * kana > han else "zh"
    words = [word for token in tokens for word in _LATIN_WORD.findall(token)]
    glue = sum(word in _ENGLISH_GLUE for word in words)
    return "en" if words and glue >= _MIN_GLUE_SHARE * len(words) else None


@cache
def _kept(character: str) -> str:
    """Return the character, or nothing for one that the relaxed rules drop."""
    category = unicodedata.category(character)
    unseen = category in ("Cc", "Cf") and not character.isspace()
    dropped = category[0] in "PS" or unseen or _VARIATION_SELECTOR.match(character)
    return "" if dropped else character


def _for_language(text: str, language: str | None) -> str:
    match language:
        case "en":
            return str(_english()(text))
        case "zh":
            return _simplified()(relaxed(text))
        case _:
            return relaxed(text)


def _language_label(language: str | None) -> str:
    match language:
        case "en":
            return "en: Whisper's English rules"
        case "zh" if _has_opencc():
            return "zh: relaxed, traditional to simplified"
        case "zh":
            return "zh: relaxed, script as written since opencc is not installed"
        case None:
            return "unknown: relaxed"
        case _:
            return f"{language}: relaxed"


@cache
def _english() -> Callable[[str], str]:
    """Build Whisper's English rules, which read their spelling table from the package."""
    rules: Callable[[str], str] = EnglishTextNormalizer()
    return rules


@cache
def _simplified() -> Callable[[str], str]:
    """Return the conversion to simplified script, or the identity without the optional package.

    `t2s` maps characters only; the regional tables would also swap words, an unfair gain.
    """
    try:
        from opencc import OpenCC
    except ImportError:
        return str
    convert: Callable[[str], str] = OpenCC("t2s").convert
    return convert


def _has_opencc() -> bool:
    return _simplified() is not str
