"""What a block is called in its file, for a person. Blocks that an `access` made are called as their span is."""

from __future__ import annotations

from typing import Any

from harness.readers.fields import shown


def is_span(name: object) -> bool:
    """Whether an `access` made the block of this name."""
    return isinstance(name, tuple) and len(name) == 2 and name[0] == "access"


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a text that is longer than `most`, for a table."""
    if len(text) <= most:
        return text
    end = most // 2 - 3
    return f"{text[: most - 3 - end]}...{text[-end:]}"


def shown_name(name: Any) -> str:
    """The name as a line of JSON."""
    return shown(name[1] if is_span(name) else name)
