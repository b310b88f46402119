"""Text of a growing list of tokens, piece by piece. Knows nothing of markup."""

from transformers import PreTrainedTokenizerBase

REPLACEMENT = "\ufffd"
HELD_TOKENS = 8
"""Tokens that may be held back for an unfinished character: four bytes are four tokens at most,
and what is still no character after twice that never will be."""


class Detokenizer:
    """Decodes tokens as they come; the pieces concatenate to the decoded whole.

    A character whose bytes are spread over tokens comes out with its last byte. Special tokens are
    kept as text: the parser knows what to do with them.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, end_ids: frozenset[int]) -> None:
        """Decode with `tokenizer`; tokens in `end_ids` have no text."""
        self._tokenizer = tokenizer
        self._end_ids = end_ids
        self._context: list[int] = []
        self._pending: list[int] = []

    def push(self, token_id: int) -> str:
        """Take one token and return the text that is now certain, possibly nothing."""
        if token_id in self._end_ids:
            return self.flush()
        self._pending.append(token_id)
        text = self._new_text()
        if text.endswith(REPLACEMENT) and len(self._pending) < HELD_TOKENS:
            return ""
        return self._commit(text)

    def flush(self) -> str:
        """Return what is held back, unfinished characters as U+FFFD."""
        return self._commit(self._new_text()) if self._pending else ""

    def _new_text(self) -> str:
        """Decode after the last committed tokens, which decide about blanks between pieces."""
        whole = self._decode(self._context + self._pending)
        return whole[len(self._decode(self._context)) :]

    def _commit(self, text: str) -> str:
        self._context, self._pending = self._pending[-HELD_TOKENS:], []
        return text

    def _decode(self, ids: list[int]) -> str:
        text = self._tokenizer.decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return str(text)
