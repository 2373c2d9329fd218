"""The prefix tree against what SGLang's own radix cache hit on a real trace, request by request."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from sglang_radix import SglangRadix

from policy.radix_node import RadixNode


def recorded(shared: Path, pages: int) -> list[int]:
    path = shared / "oracles" / f"sglang_radix.conversation.exact.lru.{pages}.jsonl.gz"
    return [json.loads(line)["hit"] for line in gzip.open(path)]


@pytest.mark.parametrize(("pages", "total"), [(1000, 6_621_696), (10_000, 31_522_816), (50_000, 52_463_616)])
def test_the_tree_hits_what_sglang_hits_in_every_request(shared: Path, pages: int, total: int) -> None:
    cache = SglangRadix(pages)
    hits = []
    with (shared / "traces" / "mooncake" / "conversation_trace.jsonl").open("rb") as file:
        for line in file:
            row = json.loads(line)
            hits.append(cache.serve(row["hash_ids"], row["input_length"]))
    assert sum(hits) == total
    assert hits == recorded(shared, pages)


def test_a_smaller_unit_of_eviction_would_be_seen(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is worth something only if a cache that differs in one rule does not agree."""
    used = RadixNode.may_go
    monkeypatch.setattr(RadixNode, "may_go", lambda node: used(node) and node.plen % 2 == 0)
    cache = SglangRadix(1000)
    with (shared / "traces" / "mooncake" / "conversation_trace.jsonl").open("rb") as file:
        rows = [json.loads(line) for line, _ in zip(file, range(2000), strict=False)]
    hits = [cache.serve(row["hash_ids"], row["input_length"]) for row in rows]
    assert hits != recorded(shared, 1000)[:2000]
