"""Rules of pools one at a time, and the vectors about pools, for the tests."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from policy.pool_rules import SAFE_POOL, STRICT_POOL, PoolRules


def only(rule: str) -> PoolRules:
    """The original with one departure."""
    return replace(STRICT_POOL, **{rule: 1})


def without(rule: str) -> PoolRules:
    """Every departure but one."""
    return replace(SAFE_POOL, **{rule: 0})


def pool_vectors(shared: Path, quirk: str, ids: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """The inputs of every pool vector by id; the ids are those that the list of weaknesses names."""
    known = json.loads((shared / "conformance" / "quirks.json").read_text())
    assert ids == tuple(known[quirk]["open_examples"])
    rows = (json.loads(line) for line in (shared / "conformance" / "pool.jsonl").read_text().splitlines())
    return {row["id"]: row["in"] for row in rows}
