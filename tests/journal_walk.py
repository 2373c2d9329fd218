"""A directive stream followed line by line, as an adapter would: where every span is, and whether it may be there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

MOVES = ("restore", "promote", "demote", "spill", "compress_demote")


def walk(lines: Iterable[bytes], capacity_bytes: dict[str, int]) -> dict[int, tuple[str, int]]:
    """Follow the stream; returns tier and bytes of each span that is left.

    Asserts that a span is in one tier at a time and leaves the one it is in, and that no tier ever holds more than its
    capacity (0 is no bound).
    """
    rows = [json.loads(line) for line in lines]
    size_bytes = {row["span"]: row["bytes"] for row in rows if row.get("kind") == "span"}
    held: dict[int, tuple[str, int]] = {}
    for row in rows:
        if "action" in row:
            follow(row, held, size_bytes)
            used = sum(size for tier, size in held.values() if tier == row["to"])
            bound = capacity_bytes.get(row["to"], 0)
            assert not bound or used <= bound, row
    return held


def follow(row: dict[str, Any], held: dict[int, tuple[str, int]], size_bytes: dict[int, int]) -> None:
    """Do to `held` what one row says was done."""
    span, action = row["span"], row["action"]
    if action == "fill":
        assert row["from"] == "", row
        assert span not in held, row
        held[span] = (row["to"], row["bytes"])
        return
    tier, held_bytes = held[span]
    assert tier == row["from"], row
    if row["outcome"] == "fault":
        assert row["bytes"] == 0, row
    elif action in ("evict", "drop"):
        assert (row["to"], row["bytes"]) == ("recompute", held_bytes), row
        del held[span]
    elif action == "compress_demote":
        held[span] = (row["to"], row["bytes"])
    elif action in MOVES:
        assert row["bytes"] == held_bytes, row
        # What comes back to HBM is whole again, however small it was kept.
        held[span] = (row["to"], size_bytes[span] if action == "restore" else held_bytes)
    else:
        assert action in ("attend", "stream"), row
        assert row["bytes"] == held_bytes, row
