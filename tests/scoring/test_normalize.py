"""Levels of normalization: what each forgives and what it must not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.scoring.normalize import Level, TextRules, guess_language, relaxed, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("go ahead  please", ["go", "ahead", "please"]),
        ("我们用 API 返回结果", [*"我们用", "API", *"返回结果"]),
        ("我们用API返回结果", [*"我们用", "API", *"返回结果"]),
        ("カタカナとひらがな", [*"カタカナとひらがな"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("好，走", ["好", "，", "走"]),
        ("葛\U000e0100飾", ["葛\U000e0100", "飾"]),
        (" \n\t ", []),
    ],
)
def test_han_and_kana_count_by_character_and_the_rest_by_blanks(
    text: str, tokens: list[str]
) -> None:
    """A Chinese sentence is not one word, and a Korean one is not cut into syllables."""
    assert tokenize(text) == tokens


def test_verbatim_joins_composed_and_decomposed_forms_only() -> None:
    """The same letter in two encodings is equal; case and full width are not."""
    rules = TextRules(Level.VERBATIM)
    assert rules.apply("cafe\u0301") == rules.apply("caf\u00e9")
    assert rules.apply("Ａ") != rules.apply("A") != rules.apply("a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good Morning, everyone!", "good morning everyone"),
        ("ＡＰＩ，１２％", "api12"),
        ("[laughter] go", "laughter go"),
        ("Straße", "strasse"),
        ("yes ❤️ 👏🏽", "yes  "),
        ("a\u200bb\ufeff", "ab"),
        ("can't", "cant"),
    ],
)
def test_relaxed_forgives_width_case_and_punctuation(text: str, expected: str) -> None:
    """Brackets go and the word inside stays."""
    assert relaxed(text) == expected


def test_english_rules_are_those_of_the_leaderboards() -> None:
    """Contractions, numbers and titles are spelled out; bracketed text and hesitations go."""
    rules = TextRules(Level.LANGUAGE, "en")
    text = "I'm gonna pay twenty-five dollars, Mr. Smith! (laughs)"
    assert rules.words(text) == ["i", "am", "going", "to", "pay", "$25", "mister", "smith"]
    assert "Whisper" in rules.label


def test_chinese_rules_forgive_the_script_and_no_word() -> None:
    """Traditional and simplified characters agree; another word for the same thing does not."""
    rules = TextRules(Level.LANGUAGE, "zh")
    assert rules.words("軟體會議。") == [*"软体会议"]
    assert "simplified" in rules.label


def test_other_languages_fall_back_to_relaxed_and_say_so() -> None:
    """German "um" is a word and survives."""
    rules = TextRules(Level.LANGUAGE, "de")
    assert rules.words("Um zehn Uhr.") == ["um", "zehn", "uhr"]
    assert rules.label == "language (de: relaxed)"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("and that is how the story of the river ended", "en"),
        ("um zehn Uhr gehen wir in die Stadt und essen etwas", None),
        ("我们开始吧 API", "zh"),
        ("これは日本語の文です", "ja"),
        ("seven three", None),
        ("", None),
    ],
)
def test_a_language_is_guessed_only_where_the_writing_tells(
    text: str, language: str | None
) -> None:
    """No English rule is let loose on a text that may be of another language."""
    assert guess_language([text]) == language


@given(st.text())
def test_relaxed_text_is_a_fixed_point(text: str) -> None:
    """Relaxing twice changes nothing more, so that figures do not depend on who relaxed first."""
    assert tokenize(relaxed(relaxed(text))) == tokenize(relaxed(text))
