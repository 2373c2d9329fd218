"""The recipe for a trace of one's own is code that runs, and what it writes replays as it should."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from conftest import ROOT
from running import fakbench

TEXT = (ROOT / "docs" / "making-a-trace.md").read_text(encoding="utf-8")


def requests() -> Iterator[tuple[int, list[int], int, str, str]]:
    """Two turns of a chat, and the same prompt once more under another adapter."""
    first = list(range(100))
    yield 0, first, 20, "a", ""
    yield 1000, [*first, *range(200, 230)], 5, "a", ""
    yield 2000, first, 20, "b", "adapter-7"


def test_the_recipe_writes_a_trace_that_replays(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)  # noqa: S102  (our own documentation)
    names["write_trace"](requests(), tmp_path / "own.jsonl")

    ran = fakbench("replay", tmp_path / "own.jsonl", "--now", "0", "--format", "json")
    assert (ran.code, ran.err) == (0, "")
    tokens = orjson.loads(ran.out)["arms"]["tiered"]["tokens"]
    # Six whole blocks of the first turn come back; its partial one does not, and another adapter shares nothing.
    assert tokens["hit"]["hbm"] == 96
    assert tokens["cold"] == 100 + 34 + 100
