"""Text that is safe to print: a trace's or a catalog's words may not steer a terminal or break a table."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """`text` with every control, format, surrogate and line-breaking character replaced by a visible stand-in."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if _steers(character) else character for character in text)


def _steers(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in ("Zl", "Zp")
