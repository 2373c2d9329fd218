"""Text that is safe to print: a trace's or a catalog's words may not steer a terminal or break a table."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """`text` with every control, format and surrogate character replaced by a visible stand-in."""
    return "".join(
        character if unicodedata.category(character)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for character in text
    )
