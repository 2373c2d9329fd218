"""The kernel's files under a root that can be another machine's: bounded reads, and nothing raised for what is absent.

The names are relative to the root (`sys/devices/system/node`), so that a message about one names no place of a disk.
"""

from __future__ import annotations

import re
from pathlib import Path

# The mount table of a busy container host is the largest file read; anything larger is not what it claims to be.
_MOST_BYTES = 2**20
# More than any kernel is built for.
_MOST_LISTED = 2**16
_NUMBER = re.compile(r"-?\d{1,19}", re.ASCII)
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)


class Tree:
    """`/sys` and `/proc` under `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def text(self, name: str) -> str | None:
        """The stripped text of a file, undecodable bytes replaced; None where it cannot be read or is too long."""
        try:
            with (self._root / name).open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError):
            return None
        return data.decode(errors="replace").strip() if len(data) <= _MOST_BYTES else None

    def number(self, name: str) -> int | None:
        """The one integer of a file; None where it holds anything else."""
        text = self.text(name)
        return int(text) if text is not None and _NUMBER.fullmatch(text) else None

    def listed(self, name: str) -> tuple[int, ...] | None:
        """The members of a list like `0-3,8`; None where it cannot be read as one."""
        text = self.text(name)
        return None if text is None else parse_list(text)

    def names(self, name: str) -> list[str]:
        """What a directory holds, sorted; empty where there is none."""
        try:
            return sorted(entry.name for entry in (self._root / name).iterdir())
        except OSError:
            return []


def parse_list(text: str) -> tuple[int, ...] | None:
    """The members of a kernel list like `0-3,8`, ascending as written; "" has none. None where it is malformed."""
    members: list[int] = []
    for part in text.split(",") if text else []:
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            return None
        first = int(match[1])
        last = int(match[2] or first)
        if not 0 <= last - first < _MOST_LISTED - len(members):
            return None
        members.extend(range(first, last + 1))
    return tuple(members)
