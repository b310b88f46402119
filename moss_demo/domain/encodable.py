"""Text that can be written anywhere."""


def encodable(text: str) -> str:
    """Return text with `?` for each lone surrogate: Python and JSON hold them, UTF-8 does not."""
    return text.encode("utf-8", "replace").decode("utf-8")
