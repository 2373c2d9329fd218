"""What is wrong with a catalog, said for a person: the field, the value found, what is wrong, what to do.

Names and values come from an untrusted file, so they are shortened and escaped before they are shown.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NamedTuple

_SHOWN_CHARACTERS = 60


class Finding(NamedTuple):
    """One thing to say about one field; `str()` of it is the sentence."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def shown(value: object) -> str:
    """A JSON value as it may be printed: short, on one line, without control characters."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = ascii(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."


def shown_name(name: str) -> str:
    """A key as it may stand in a path: bare where harmless, quoted and escaped otherwise."""
    if name.isascii() and name.isprintable() and 0 < len(name) <= _SHOWN_CHARACTERS and "'" not in name:
        return name
    return shown(name)


def near_misses(name: str, known: Sequence[str]) -> list[str]:
    """The known names that a person may have meant, at most three: those it begins, else the most alike, best first."""
    longer = [other for other in known if other.startswith(name)] if name else []
    return longer[:3] or difflib.get_close_matches(name, known, n=3, cutoff=0.5)
