"""A fleet's directive stream followed line by line: where every span is in every replica and pool."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from journal_walk import MOVES

# Of a span: holder and tier to bytes. A holder is a replica, or the first replica of a pool in a tier of its own.
Held = dict[tuple[int, str], dict[int, int]]


class FleetWalk:
    """Follows lines. Asserts that a span is in at most one private tier of each replica, and in each pool once.

    `pools` are (tier, replicas). `capacity_bytes` is one replica's, by tier; 0 is no bound.
    """

    def __init__(self, capacity_bytes: dict[str, int], pools: list[tuple[str, range]]) -> None:
        self.capacity_bytes = capacity_bytes
        self.pools = pools
        self.held: Held = {}
        self.size_bytes: dict[int, int] = {}

    def follow(self, lines: Iterable[bytes]) -> FleetWalk:
        last_us = None
        for row in map(json.loads, lines):
            if row.get("kind") == "span":
                self.size_bytes[row["span"]] = row["bytes"]
            elif "action" in row:
                assert last_us is None or last_us <= row["t_us"], row
                last_us = row["t_us"]
                self._do(row)
        return self

    def pool(self, replica: int, tier: str) -> range | None:
        return next((hosts for name, hosts in self.pools if name == tier and replica in hosts), None)

    def place(self, replica: int, tier: str) -> dict[int, int]:
        hosts = self.pool(replica, tier)
        return self.held.setdefault((hosts.start if hosts else replica, tier), {})

    def end_bytes(self, tier: str) -> int:
        return sum(sum(spans.values()) for (_, name), spans in self.held.items() if name == tier)

    def _do(self, row: dict[str, Any]) -> None:
        action, span, replica = row["action"], row["span"], row["replica"]
        if action == "fill":
            self._put(row, row["bytes"])
            return
        source = self.place(replica, row["from"])
        assert span in source, row
        if row["outcome"] == "fault":
            assert row["bytes"] == 0, row
            return
        if action == "dedupe":
            # It may be let go of because the replica has it in the tier named.
            assert span in self.place(replica, row["to"]), row
        if action != "compress_demote":
            assert row["bytes"] == source[span], row
        if action in ("dedupe", "evict", "drop") or action in MOVES:
            del source[span]
        if action == "copy":
            assert self.pool(replica, row["from"]), row
        if action in ("copy", "restore"):
            self._put(row, self.size_bytes[span])
        elif action in MOVES:
            self._put(row, row["bytes"])

    def _put(self, row: dict[str, Any], size_bytes: int) -> None:
        replica, tier, span = row["replica"], row["to"], row["span"]
        place = self.place(replica, tier)
        hosts = self.pool(replica, tier)
        if hosts:
            assert span not in place, row
        else:
            own = [name for name in self.capacity_bytes if not self.pool(replica, name)]
            assert not [name for name in own if span in self.place(replica, name)], row
        place[span] = size_bytes
        bound = self.capacity_bytes[tier] * (len(hosts) if hosts else 1)
        assert not bound or sum(place.values()) <= bound, row
