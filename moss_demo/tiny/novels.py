"""Phrases of Jane Austen's six novels, as the R package `janeaustenr` carries them.

People who read aloud read books: their sentences are longer and their words older than a meeting's.
The novels are in the public domain. Knows R's storage of a list of strings; knows no voices.
"""

import re
import zlib
from pathlib import Path

from moss_demo.errors import MossDemoError
from moss_demo.tiny.human import plain_words

SHORTEST, LONGEST = 3, 28
"""Words of a phrase. The longest take a voice about ten seconds."""

_BLOCK = re.compile(rb"\x78\x9c")  # how zlib begins at R's level of compression
_STRINGS = b"X\n\x00\x00\x00\x03"  # R's binary format, version 3
_HEAD_BYTES = 23  # versions, encoding, type of the vector
_MISSING = 0xFFFFFFFF
_PAUSES = re.compile(r"(?:[.!?;:]|--|\u2014)[\"'_)\u201d]*(?:\s+|$)|--|\u2014")


def read_novels(path: Path) -> tuple[str, ...]:
    """Return the phrases of `Rdata.rdb` in lower case without punctuation, each once.

    Raises:
        MossDemoError: the file holds no text.
    """
    phrases: dict[str, None] = {}
    for lines in _books(path.read_bytes()):
        for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
            phrases.update(dict.fromkeys(_phrases(" ".join(paragraph.split()))))
    if not phrases:
        raise MossDemoError(f"{path} holds no text; fetch the parts of the recipe again.")
    return tuple(phrases)


def _books(stored: bytes) -> list[list[str]]:
    """Read every list of strings of a lazy-load database: blocks of zlib after a length each."""
    books: list[list[str]] = []
    for match in _BLOCK.finditer(stored):
        length = int.from_bytes(stored[max(0, match.start() - 4) : match.start()], "big")
        try:
            block = zlib.decompressobj().decompress(stored[match.start() :])
        except zlib.error:
            continue  # the two bytes stood inside another block
        if len(block) == length and block.startswith(_STRINGS):
            books.append(_strings(block))
    return books


def _strings(block: bytes) -> list[str]:
    """Read a serialized vector of strings: a flag word and a length before each."""
    count = int.from_bytes(block[_HEAD_BYTES + 4 : _HEAD_BYTES + 8], "big")
    at, lines = _HEAD_BYTES + 8, list[str]()
    for _ in range(count):
        length = int.from_bytes(block[at + 4 : at + 8], "big")
        length = 0 if length == _MISSING else length
        lines.append(block[at + 8 : at + 8 + length].decode("utf-8"))
        at += 8 + length
    return lines


def _phrases(paragraph: str) -> list[str]:
    """Cut a paragraph where a reader pauses, the longest sentences at their commas."""
    found: list[str] = []
    for sentence in _PAUSES.split(re.sub(r"\b(Mr|Mrs|Dr|St)\.", r"\1", paragraph)):
        whole = sentence.strip()
        parts = [whole] if len(whole.split()) <= LONGEST else _joined(whole.split(","))
        for part in parts:
            plain = plain_words(part.replace("_", "").strip("'\u2018\u2019 "))
            if plain and SHORTEST <= len(plain.split()) <= LONGEST:
                found.append(plain)
    return found


def _joined(parts: list[str]) -> list[str]:
    """Join neighbours as long as they stay under the longest phrase."""
    joined: list[str] = []
    for part in parts:
        if joined and len((joined[-1] + part).split()) <= LONGEST:
            joined[-1] += " " + part
        else:
            joined.append(part)
    return joined
