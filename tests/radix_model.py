"""A prefix tree without a tree: a table of the prefixes at which something ends, and a scan for every question.

What `policy.radix` does with nodes and tickets is here what follows from the prefixes alone: a prefix's edge is what it
adds to the longest shorter one, a leaf is a prefix that none extends, and the victim is the smallest of all of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Prefix = tuple[int, ...]


@dataclass
class Record:
    """One prefix at which something ends. A record that is not `cached` left the table, and stays out."""

    prefix: Prefix
    number: int
    stamp: int
    leases: int = 0
    for_lookup: bool = False
    cached: bool = True


def common(a: Prefix, b: Prefix) -> int:
    return next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


class ModelTree:
    """The improved tree. `kept` says of a prefix that its owner will not let it go to make room."""

    def __init__(self, max_tokens: int, kept: Callable[[Prefix], bool] = lambda _: False) -> None:
        self.max_tokens = max_tokens
        self.kept = kept
        self.clock = 0
        self.created = 0
        self.dropped: list[Prefix] = []
        self.root = Record((), 0, 0)
        self.table = {(): self.root}

    def below(self, prefix: Prefix) -> list[Record]:
        """The records that extend `prefix`, the shortest first."""
        longer = [r for r in self.table.values() if len(r.prefix) > len(prefix) and r.prefix[: len(prefix)] == prefix]
        return sorted(longer, key=lambda r: len(r.prefix))

    def edge_start(self, prefix: Prefix) -> int:
        return max(len(p) for p in self.table if len(p) < len(prefix) and prefix[: len(p)] == p)

    def children(self, prefix: Prefix) -> list[Record]:
        return [r for r in self.below(prefix) if self.edge_start(r.prefix) == len(prefix)]

    def tokens(self) -> int:
        return sum(len(p) - self.edge_start(p) for p in self.table if p)

    def leaves(self) -> list[Record]:
        return [r for p, r in self.table.items() if p and not self.below(p)]

    def match_len(self, tokens: Prefix) -> int:
        return max(common(tokens, p) for p in self.table)

    def lookup(self, tokens: Prefix) -> tuple[Record, int]:
        matched = self.match_len(tokens)
        split = tokens[:matched] not in self.table
        record = self._end_at(tokens[:matched])
        record.for_lookup |= split
        self._touch(tokens[:matched], -1)
        record.leases += 1
        return record, matched

    def insert(self, boundary: Record, suffix: Prefix) -> Record:
        boundary.for_lookup = False
        if not suffix:
            return boundary
        whole = boundary.prefix + suffix
        if boundary.cached:
            self._end_at(whole[: self.match_len(whole)]).for_lookup = False
            record = self._end_at(whole)
            record.for_lookup = False
            self._touch(whole, len(boundary.prefix))
        else:
            self.clock += 1
            self.created += 1
            record = Record(whole, self.created, self.clock, cached=False)
        record.leases += 1
        boundary.leases = max(boundary.leases - 1, 0)
        self.make_room()
        return record

    def done(self, record: Record) -> None:
        if record.leases == 0:
            return
        record.leases -= 1
        if record.leases or not record.cached:
            return
        children = self.children(record.prefix)
        if record.for_lookup and len(children) == 1:
            children[0].stamp = max(children[0].stamp, record.stamp)
            self._forget(record)
        self.make_room()

    def warm_insert(self, tokens: Prefix) -> int:
        matched = self.match_len(tokens)
        if matched == len(tokens):
            return 0
        self._end_at(tokens[:matched]).for_lookup = False
        self._end_at(tokens)
        self.make_room()
        return len(tokens) - matched

    def evict(self, wanted: int) -> int:
        before = self.tokens()
        while before - self.tokens() < wanted:
            able = [r for r in self.leaves() if not r.leases and not self.kept(r.prefix)]
            if not able:
                break
            victim = min(able, key=lambda r: (r.stamp, r.number))
            self.dropped.append(victim.prefix)
            self._forget(victim)
        return before - self.tokens()

    def make_room(self) -> None:
        if self.max_tokens:
            self.evict(self.tokens() - self.max_tokens)

    def evict_node(self, record: Record) -> int:
        if not record.cached or record is self.root:
            return 0
        before = self.tokens()
        for gone in [*reversed(self.below(record.prefix)), record]:
            if not gone.leases and not self.below(gone.prefix):
                self._forget(gone)
        freed = before - self.tokens()
        self.make_room()
        return freed

    def evict_prefix(self, tokens: Prefix) -> int:
        if not tokens or self.match_len(tokens) < len(tokens):
            return 0
        return self.evict_node(self.table.get(tokens) or self.below(tokens)[0])

    def _end_at(self, prefix: Prefix) -> Record:
        """The record of a prefix. A new one inside an edge is as recent as the edge, any other as what is warmed."""
        if prefix not in self.table:
            self.created += 1
            inside = self.below(prefix)
            self.table[prefix] = Record(prefix, self.created, inside[0].stamp if inside else 0)
        return self.table[prefix]

    def _touch(self, prefix: Prefix, above: int) -> None:
        self.clock += 1
        for cached, record in self.table.items():
            if len(cached) > above and prefix[: len(cached)] == cached:
                record.stamp = self.clock

    def _forget(self, record: Record) -> None:
        del self.table[record.prefix]
        record.cached = False
